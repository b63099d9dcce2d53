"""The parameters of a blicket prompt, its view and its presets."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal

from trivium.core.benchmark import Diagnostic
from trivium.core.errors import require, require_range

MIN_OBJECTS = 3  # as in the paper
MAX_OBJECTS = 12  # with six objects of each example, all shapes
TESTS = (14, 16, 18, 20)  # with fewer, no three answers have the same counts


@dataclass(frozen=True)
class PromptSpec:
    """Two example machines, and a new one to explain."""

    # whether the prompt names the kinds of machines, and the first two machines demonstrate them
    hypotheses: Literal["given", "not_given", "both"] = "both"
    form: Literal["disjunctive", "conjunctive", "both"] = "both"  # how the new machine works
    objects: int = 10  # of the new machine
    tests: int = 16  # of a new machine with nine objects or more; a smaller one has fewer
    # paper: its four prompts, word for word; paper_two_shot: the two-shot prompts, which are scored
    # by their text, since the preamble names the kinds of machines in all conditions
    stimuli: Literal["generated", "paper", "paper_two_shot"] = "generated"

    def __post_init__(self) -> None:
        require_range(self, MIN_OBJECTS, MAX_OBJECTS, "objects")
        require(self.tests in TESTS, f"tests must be 14, 16, 18 or 20, got {self.tests}")

    @property
    def matched(self) -> bool:
        """Whether the evidence is generated, in which counts leave several answers."""
        return self.stimuli == "generated"

    @property
    def cells(self) -> list[tuple[str, str]]:
        """The cells of the design, hypotheses and form; every block of items has each once."""
        hypotheses = ("given", "not_given") if self.hypotheses == "both" else (self.hypotheses,)
        forms = ("disjunctive", "conjunctive") if self.form == "both" else (self.form,)
        return list(itertools.product(hypotheses, forms))


@dataclass(frozen=True)
class PromptView:
    """How a blicket prompt is presented, and how its reply is read."""

    prompt: Literal["freeform", "two_shot"] = "freeform"  # a story, or two solved examples
    # free: in any words; lines: ending with an ANSWER line; auto: lines after a generated story,
    # free after the paper's stimuli and after solved examples, unless these ask for steps
    reply: Literal["auto", "free", "lines"] = "auto"
    sentences: int | None = None  # read only the first sentences of a free reply (the paper: 2)
    # whether the prompt ends with a request to think step by step
    reasoning: Literal["free", "chain_of_thought"] = "free"

    def __post_init__(self) -> None:
        require_range(self, 1, None, "sentences")


PRESETS = {
    "three-objects": PromptSpec(objects=3),
    "five-objects": PromptSpec(objects=5),
    "four-conditions": PromptSpec(),
    "twelve-objects": PromptSpec(objects=12, tests=18),
}
DIAGNOSTICS = {
    f"{hypotheses}-{form}".replace("_", "-"): Diagnostic(
        f"hypotheses {hypotheses.replace('_', ' ')}, {form} machine",
        spec={"hypotheses": hypotheses, "form": form},
    )
    for hypotheses, form in PromptSpec().cells
}
