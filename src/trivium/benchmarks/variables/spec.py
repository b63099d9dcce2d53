"""The parameters of identifying-variables items, and how they are presented."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

from trivium.core.benchmark import CONTROL, Diagnostic
from trivium.core.errors import require
from trivium.core.spec import spec_from_dict

MAX_VARS = 30  # sets of variables are bits of one number
UNOBSERVED = 0.8  # a variable that lost a larger share of its observations is unobserved
MAX_PARENTS = 3
MIN_LOST = 0.2  # the smallest share that a thinned variable loses
MIN_SNR, MAX_SNR = -100, 200  # in dB; beyond these everything or nothing is noise
Renderer = Literal["language-corrset", "corrset", "language-tabular", "markdown", "csv", "json"]
RENDERERS = get_args(Renderer)


@dataclass(frozen=True)
class VariablesSpec:
    """Variables of a random causal graph, some of them hardly observed, and hypotheses."""

    # control: equally many items with each number of control variables, all targets plausible;
    # hypotheses: half of the targets plausible; none: a coin flip for each item
    balance: Literal["control", "hypotheses", "none"] = "control"
    size: int = 500  # items of the dataset, the default number in commands
    min_vars: int = 10  # smallest number of variables
    max_vars: int = 10  # largest number of variables; in the original design uniform in between
    graph: Literal["forest", "dag"] = "forest"  # dag: a child may have several parents
    max_parents: int = MAX_PARENTS  # largest number of parents of a child, in a dag
    max_hyps: int = 3  # largest number of hypotheses in the list; matched items have them in pairs
    # the share of variables to thin out is uniform in 0 .. this; matched items: observed variables
    # lose a fifth of this, and there are unobserved ones unless it is 0
    thinned: float = 1.0
    observations: int = 20  # rows of the table; prose reports the first half of them
    snr: float | None = None  # signal-to-noise ratio of the table in dB (default: no noise)
    # matched: neither a structure nor a single variable gives the answer away;
    # original: the distribution of the original evaluation, with its leaks
    design: Literal["matched", "original"] = "matched"
    # the number of control variables of every valid target (default: balanced or drawn); all
    # variables of matched items are then observed, or set sizes would give the others away
    controls: int | None = None

    def __post_init__(self) -> None:
        require(self.size >= 1, f"size must be at least 1, got {self.size}")
        require(self.min_vars >= 2, f"min_vars must be at least 2, got {self.min_vars}")
        require(
            self.min_vars <= self.max_vars <= MAX_VARS,
            f"max_vars must be in min_vars={self.min_vars}..{MAX_VARS}, got {self.max_vars}",
        )
        require(1 <= self.max_parents <= 8, f"max_parents must be in 1..8, got {self.max_parents}")
        require(
            self.graph == "dag" or self.max_parents == MAX_PARENTS,
            f"max_parents goes with graph dag, got {self.max_parents} with {self.graph}",
        )
        require(1 <= self.max_hyps <= 16, f"max_hyps must be in 1..16, got {self.max_hyps}")
        require(0 <= self.thinned <= 1, f"thinned must be in 0..1, got {self.thinned}")
        require(
            10 <= self.observations <= 1000 and self.observations % 10 == 0,
            f"observations must be a multiple of 10 in 10..1000, got {self.observations}",
        )
        require(
            self.snr is None or MIN_SNR <= self.snr <= MAX_SNR,
            f"snr must be in {MIN_SNR}..{MAX_SNR} dB, got {self.snr}",
        )
        require(
            self.controls is None or 0 <= self.controls <= self.max_controls,
            f"controls must be in 0..{self.max_controls} with max_vars {self.max_vars}, "
            f"got {self.controls}",
        )
        if self.design == "original":
            self._check_original()
        else:
            self._check_matched()

    def _check_original(self) -> None:
        require(
            self.controls is None or self.balance == "control",
            f"controls of the original design goes with balance control, got {self.balance}",
        )
        require(
            self.balance != "control" or self.min_vars == self.max_vars,
            "balance control of the original design needs min_vars equal to max_vars, "
            f"got {self.min_vars} and {self.max_vars}",
        )

    def _check_matched(self) -> None:
        require(
            self.graph == "forest",
            f"graph {self.graph} needs design original, got {self.design}",
        )
        require(
            self.max_hyps >= 2, f"max_hyps of matched items must be in 2..16, got {self.max_hyps}"
        )
        # Two sets need four observed variables, and two trees of hypotheses this many.
        least = max(4, 2 * (self.max_hyps // 2) + 2)
        require(
            self.min_vars >= least,
            f"min_vars of matched items must be at least {least} with max_hyps {self.max_hyps}, "
            f"got {self.min_vars}",
        )
        require(
            self.observations >= 20,
            f"observations of matched items must be at least 20, got {self.observations}",
        )

    @property
    def max_controls(self) -> int:
        """The largest number of control variables."""
        # Matched: one of two equal sets is the target's, and two of its variables are the target.
        return self.max_vars - 2 if self.design == "original" else self.max_vars // 2 - 2

    @property
    def strata(self) -> int:
        """The number of balanced kinds; a block of this many items has each kind once."""
        numbers = self.max_controls + 1 if self.controls is None else 1
        return {"control": numbers, "hypotheses": 2, "none": 1}[self.balance]

    @property
    def parents(self) -> int:
        """The largest number of parents of a variable."""
        return self.max_parents if self.graph == "dag" else 1


@dataclass(frozen=True)
class VariablesView:
    """How an item is presented and answered."""

    renderer: Renderer = "language-corrset"
    # the decision trees of the perfect answer: not shown, as pseudocode (true), or in sentences
    show_tree: Literal["none", "pseudocode", "language", True, False] = "none"
    # the answer as an ANSWER line, or in the original's brackets, read as the original reads them
    answer_form: Literal["line", "original"] = "line"
    # the prompt leaves reasoning open, asks for the answer alone, or for steps before it
    reasoning: Literal["free", "direct", "chain_of_thought"] = "free"

    def __post_init__(self) -> None:
        if isinstance(self.show_tree, bool):
            object.__setattr__(self, "show_tree", "pseudocode" if self.show_tree else "none")


def view_of(renderer: str) -> VariablesView:
    """The view of one renderer, with defaults otherwise."""
    return spec_from_dict(VariablesView, {"renderer": renderer})


CTRL = VariablesSpec(min_vars=14, max_vars=20, max_hyps=12)
HYPOTHESES = replace(CTRL, balance="hypotheses")
ORIGINAL_CTRL = VariablesSpec(design="original")
ORIGINAL_HYPOTHESES = VariablesSpec(balance="hypotheses", min_vars=2, design="original")
PRESETS = {
    "balanced-ctrl": CTRL,
    "balanced-ctrl-large": replace(CTRL, size=5000),
    "balanced-hypotheses": HYPOTHESES,
    "balanced-hypotheses-large": replace(HYPOTHESES, size=5000),
    # The original evaluation's distribution, with its leaks.
    "original-ctrl": ORIGINAL_CTRL,
    "original-ctrl-large": replace(ORIGINAL_CTRL, size=5000),
    "original-hypotheses": ORIGINAL_HYPOTHESES,
    "original-hypotheses-large": replace(ORIGINAL_HYPOTHESES, size=5000),
}
DIAGNOSTICS = {
    "control": CONTROL,
    "tree": Diagnostic("the decision trees as pseudocode", view={"show_tree": "pseudocode"}),
    "tree_language": Diagnostic("the decision trees in sentences", view={"show_tree": "language"}),
    "direct": Diagnostic("the answer alone", view={"reasoning": "direct"}),
    "chain_of_thought": Diagnostic("steps first", view={"reasoning": "chain_of_thought"}),
    **{name: Diagnostic(f"presented as {name}", view={"renderer": name}) for name in RENDERERS},
}
