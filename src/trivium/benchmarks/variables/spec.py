"""What an identifying-variables item contains, and how it is presented."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from trivium.core.benchmark import CONTROL, Diagnostic
from trivium.core.errors import require
from trivium.core.spec import spec_from_dict

MAX_VARS = 30  # sets of variables are held as bits of one number
UNOBSERVED = 0.8  # a variable that has lost more of its observations than this is unobserved
MAX_PARENTS = 3
MIN_LOST = 0.2  # what a thinned variable loses at least
MIN_SNR, MAX_SNR = -100, 200  # in dB; beyond these everything or nothing is noise
Renderer = Literal["language-corrset", "corrset", "language-tabular", "markdown", "csv", "json"]
RENDERERS = get_args(Renderer)


@dataclass(frozen=True)
class VariablesSpec:
    """Variables of a random causal graph, some thinned out, and hypotheses about them."""

    # control: equally many items with each number of control variables, all targets plausible;
    # hypotheses: half of the targets plausible; none: a coin flip for each item
    balance: Literal["control", "hypotheses", "none"] = "control"
    size: int = 500  # items of the dataset, what commands use by default; any run is balanced
    min_vars: int = 10  # smallest number of variables
    max_vars: int = 10  # largest number of variables; uniform in between
    graph: Literal["forest", "dag"] = "forest"  # dag: a child may have several parents
    max_parents: int = MAX_PARENTS  # largest number of parents of a child, in a dag
    max_hyps: int = 3  # largest number of hypotheses in the list
    thinned: float = 1.0  # the share of variables to thin out is uniform in 0 .. this
    observations: int = 20  # rows of the table; prose reports the first half of them
    snr: float | None = None  # signal-to-noise ratio of the table in dB (default: no noise)

    def __post_init__(self) -> None:
        require(self.size >= 1, f"size must be at least 1, got {self.size}")
        require(self.min_vars >= 2, f"min_vars must be at least 2, got {self.min_vars}")
        require(
            self.min_vars <= self.max_vars <= MAX_VARS,
            f"max_vars must be in min_vars={self.min_vars}..{MAX_VARS}, got {self.max_vars}",
        )
        require(
            self.balance != "control" or self.min_vars == self.max_vars,
            "balance control needs min_vars equal to max_vars, "
            f"got {self.min_vars} and {self.max_vars}",
        )
        require(1 <= self.max_parents <= 8, f"max_parents must be in 1..8, got {self.max_parents}")
        require(
            self.graph == "dag" or self.max_parents == MAX_PARENTS,
            f"max_parents goes with graph dag, got {self.max_parents} with {self.graph}",
        )
        require(1 <= self.max_hyps <= 8, f"max_hyps must be in 1..8, got {self.max_hyps}")
        require(0 <= self.thinned <= 1, f"thinned must be in 0..1, got {self.thinned}")
        require(
            10 <= self.observations <= 1000 and self.observations % 10 == 0,
            f"observations must be a multiple of 10 in 10..1000, got {self.observations}",
        )
        require(
            self.snr is None or MIN_SNR <= self.snr <= MAX_SNR,
            f"snr must be in {MIN_SNR}..{MAX_SNR} dB, got {self.snr}",
        )

    @property
    def strata(self) -> int:
        """How many kinds of item are balanced; each occurs once in every run of this many items."""
        return {"control": self.max_vars - 1, "hypotheses": 2, "none": 1}[self.balance]

    @property
    def parents(self) -> int:
        """How many parents a variable can have."""
        return self.max_parents if self.graph == "dag" else 1


@dataclass(frozen=True)
class VariablesView:
    """How an item is presented, and which answer of a reply counts."""

    renderer: Renderer = "language-corrset"
    # the decision trees of the perfect answer: not shown, as pseudocode, or in sentences
    show_tree: Literal["none", "pseudocode", "language"] = "none"
    # which of several answers in a reply counts; original: the first, read as the original does
    answer_rule: Literal["last", "first", "original"] = "last"


def view_of(renderer: str) -> VariablesView:
    """The view of one renderer, with defaults otherwise."""
    return spec_from_dict(VariablesView, {"renderer": renderer})


PRESETS = {
    "balanced-ctrl": VariablesSpec(),
    "balanced-ctrl-large": VariablesSpec(size=5000),
    "balanced-hypotheses": VariablesSpec(balance="hypotheses", min_vars=2),
    "balanced-hypotheses-large": VariablesSpec(balance="hypotheses", min_vars=2, size=5000),
}
DIAGNOSTICS = {
    "control": CONTROL,
    "tree": Diagnostic("the decision trees as pseudocode", view={"show_tree": "pseudocode"}),
    "tree_language": Diagnostic("the decision trees in sentences", view={"show_tree": "language"}),
    **{name: Diagnostic(f"presented as {name}", view={"renderer": name}) for name in RENDERERS},
}
