"""The parameters of identifying-variables items, and how they are presented."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

from trivium.benchmarks.variables.layouts import LATENT, layouts
from trivium.benchmarks.variables.prompt_file import read_prompt_file
from trivium.core.benchmark import CONTROL, Diagnostic
from trivium.core.errors import require, require_range
from trivium.core.spec import spec_from_dict

DATASET = 500  # items of each preset
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

    # hypotheses: half of the targets valid; control: also equally many valid ones with each number
    # of control variables (original design: all targets plausible); none: a coin for each item
    balance: Literal["control", "hypotheses", "none"] = "control"
    min_vars: int = 15  # smallest number of variables
    max_vars: int = 21  # largest number of variables; in the original design uniform in between
    graph: Literal["forest", "dag"] = "forest"  # dag: a child may have several parents
    max_parents: int = MAX_PARENTS  # largest number of parents of a child, in a dag
    max_hyps: int = 16  # largest number of hypotheses in the list
    # the share of variables to thin out is uniform in 0 .. this; matched items: observed variables
    # lose a fifth of this
    thinned: float = 1.0
    observations: int = 20  # rows of the table; prose reports the first half of them
    snr: float | None = None  # signal-to-noise ratio of the table in dB (default: no noise)
    # matched: neither a structure nor a single variable gives the answer away;
    # original: the distribution of the original evaluation, with its leaks
    design: Literal["matched", "original"] = "matched"

    def __post_init__(self) -> None:
        require_range(self, 2, None, "min_vars")
        require(
            self.min_vars <= self.max_vars <= MAX_VARS,
            f"max_vars must be in min_vars={self.min_vars}..{MAX_VARS}, got {self.max_vars}",
        )
        require_range(self, 1, 8, "max_parents")
        require(
            self.graph == "dag" or self.max_parents == MAX_PARENTS,
            f"max_parents goes with graph dag, got {self.max_parents} with {self.graph}",
        )
        require_range(self, 1, 16, "max_hyps")
        require_range(self, 0, 1, "thinned")
        require(
            10 <= self.observations <= 1000 and self.observations % 10 == 0,
            f"observations must be a multiple of 10 in 10..1000, got {self.observations}",
        )
        require(
            self.snr is None or MIN_SNR <= self.snr <= MAX_SNR,
            f"snr must be in {MIN_SNR}..{MAX_SNR} dB, got {self.snr}",
        )
        if self.design == "original":
            require(
                self.balance != "control" or self.min_vars == self.max_vars,
                "balance control of the original design needs min_vars equal to max_vars, "
                f"got {self.min_vars} and {self.max_vars}",
            )
        else:
            self._check_matched()

    def _check_matched(self) -> None:
        if self.graph == "dag":
            limit = MAX_VARS - LATENT
            require(self.max_parents == MAX_PARENTS, "max_parents goes with design original")
            require(
                self.max_vars <= limit,
                f"max_vars of a matched dag must be at most {limit}, got {self.max_vars}",
            )
        require(
            self.observations >= 20,
            f"observations of matched items must be at least 20, got {self.observations}",
        )
        layouts(self)  # refuses numbers of variables that no item has

    @property
    def parents(self) -> int:
        """The largest number of parents of a variable."""
        return self.max_parents if self.graph == "dag" else 1


@dataclass(frozen=True)
class VariablesView:
    """How an item is presented and answered."""

    renderer: Renderer = "language-corrset"
    # the decision trees of the perfect answer: not shown, as pseudocode, or in sentences
    show_tree: Literal["none", "pseudocode", "language"] = "none"
    # standard: ends with an ANSWER line; original: the structure, the answer in brackets and the
    # parser of the original evaluation
    wording: Literal["standard", "original"] = "standard"
    # a .py, .toml or .json file with the texts of a prompt (SAMPLE_MESSAGE, TASK_DESCRIPTION), such
    # as the original's own; implies --wording original
    prompt_file: str | None = None
    # the prompt leaves reasoning open, asks for the answer alone, or for steps before it
    reasoning: Literal["free", "direct", "chain_of_thought"] = "free"

    def __post_init__(self) -> None:
        if self.prompt_file is not None:
            require(
                self.reasoning == "free",
                f"reasoning {self.reasoning} does not go with a prompt_file, which says itself "
                "how to answer",
            )
            object.__setattr__(self, "prompt_file", read_prompt_file(self.prompt_file))
            object.__setattr__(self, "wording", "original")

    @property
    def shows_table(self) -> bool:
        """Whether observations are a table, and not the sets of correlated variables."""
        return not self.renderer.endswith("corrset")


def view_of(renderer: str) -> VariablesView:
    """The view of one renderer, with defaults otherwise."""
    return spec_from_dict(VariablesView, {"renderer": renderer})


ORIGINAL = VariablesSpec(min_vars=10, max_vars=10, max_hyps=3, design="original")
PRESETS = {
    "balanced-ctrl": VariablesSpec(),
    "balanced-hypotheses": VariablesSpec(balance="hypotheses"),
    # The original evaluation's distribution, with its leaks.
    "original-ctrl": ORIGINAL,
    "original-hypotheses": replace(ORIGINAL, balance="hypotheses", min_vars=2),
}
DIAGNOSTICS = {
    "control": CONTROL,
    "tree": Diagnostic("the decision trees as pseudocode", view={"show_tree": "pseudocode"}),
    "tree_language": Diagnostic("the decision trees in sentences", view={"show_tree": "language"}),
    "direct": Diagnostic("the answer alone", view={"reasoning": "direct"}),
    "chain_of_thought": Diagnostic("steps first", view={"reasoning": "chain_of_thought"}),
    **{
        name: Diagnostic(f"presented as {name}", view={"renderer": name})
        for name in RENDERERS
        if name != VariablesView().renderer  # that is `control`
    },
}
