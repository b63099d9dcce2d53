"""The parameters of a blicket prompt, and how it is presented."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal

from trivium.core.benchmark import Diagnostic
from trivium.core.errors import require

MAX_OBJECTS = 6  # three machines of six objects are 18 different colours and shapes


@dataclass(frozen=True)
class PromptSpec:
    """Two machines to learn from, and a new one to explain."""

    # whether the first two machines show how machines can work; both: cell after cell
    hypotheses: Literal["given", "not_given", "both"] = "both"
    # how the new machine works; both: cell after cell
    form: Literal["disjunctive", "conjunctive", "both"] = "both"
    objects: int = 3  # on each machine
    # what is placed on the first two machines. balanced: the same sets whether hypotheses are
    # given or not, so that only the lights differ; paper: the paper's sets
    placements: Literal["balanced", "paper"] = "balanced"
    stimuli: Literal["generated", "paper"] = "generated"  # paper: its four prompts, word for word

    def __post_init__(self) -> None:
        valid = 3 <= self.objects <= MAX_OBJECTS
        require(valid, f"objects must be in 3..{MAX_OBJECTS}, got {self.objects}")
        if self.stimuli == "paper":
            require(self.objects == 3, f"the paper's stimuli have objects = 3, got {self.objects}")
            require(
                self.placements == "balanced",
                "placements goes with stimuli generated: the paper's prompts have their own",
            )

    @property
    def cells(self) -> list[tuple[str, str]]:
        """The cells of the design, hypotheses and form, that items are drawn from in turn."""
        hypotheses = ("given", "not_given") if self.hypotheses == "both" else (self.hypotheses,)
        forms = ("disjunctive", "conjunctive") if self.form == "both" else (self.form,)
        return list(itertools.product(hypotheses, forms))


@dataclass(frozen=True)
class PromptView:
    """How a blicket prompt is presented and its reply is read."""

    prompt: Literal["freeform", "two_shot"] = "freeform"  # a story, or two solved examples
    reply: Literal["free", "lines"] = "free"  # in any words, or ending in two lines of a fixed form
    sentences: int | None = None  # read only so many first sentences of a reply (the paper: 2)

    def __post_init__(self) -> None:
        valid = self.sentences is None or self.sentences >= 1
        require(valid, f"sentences must be at least 1, got {self.sentences}")


PRESETS = {
    "given-disjunctive": PromptSpec("given", "disjunctive"),
    "given-conjunctive": PromptSpec("given", "conjunctive"),
    "not-given-disjunctive": PromptSpec("not_given", "disjunctive"),
    "not-given-conjunctive": PromptSpec("not_given", "conjunctive"),
}
DIAGNOSTICS = {
    name: Diagnostic(
        f"hypotheses {preset.hypotheses.replace('_', ' ')}, {preset.form} machine",
        spec={"hypotheses": preset.hypotheses, "form": preset.form},
    )
    for name, preset in PRESETS.items()
}
