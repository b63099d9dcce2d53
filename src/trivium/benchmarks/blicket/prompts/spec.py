"""The parameters of a blicket prompt, its view and its presets."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal

from trivium.core.benchmark import Diagnostic
from trivium.core.errors import require

MAX_OBJECTS = 8
MAX_OBJECTS_FULL = 6  # three machines of six objects need 18 different colours and shapes
# The default number of tests of the new machine, by its number of objects. With these, all of 7 or
# 8 objects occur equally often.
TRIALS = {3: 5, 4: 6, 5: 8, 6: 10, 7: 13, 8: 12}


@dataclass(frozen=True)
class PromptSpec:
    """Two example machines, and a new one to explain."""

    # whether the prompt names the kinds of machines, and the first two machines demonstrate them
    hypotheses: Literal["given", "not_given", "both"] = "both"
    form: Literal["disjunctive", "conjunctive", "both"] = "both"  # how the new machine works
    objects: int = 3  # of the new machine; with full evidence also of the first two
    # the tests of the first two machines. balanced: the same sets whether hypotheses are given or
    # not, so that only the lights differ; paper: the paper's sets
    placements: Literal["balanced", "paper"] = "balanced"
    # paper: its four prompts, word for word; paper_two_shot: the two-shot prompts, which are scored
    # by their text, since the preamble names the kinds of machines in all conditions
    stimuli: Literal["generated", "paper", "paper_two_shot"] = "generated"
    # the tests of the new machine. matched: from 4 objects, counts reveal nothing about the answer;
    # full: every object, every pair and all together, as in the paper, where counting is enough
    evidence: Literal["matched", "full"] = "matched"
    trials: int | None = None  # the number of tests of the new machine, if matched

    def __post_init__(self) -> None:
        limit = MAX_OBJECTS if self.evidence == "matched" else MAX_OBJECTS_FULL
        valid = 3 <= self.objects <= limit
        require(valid, f"objects must be in 3..{limit}, got {self.objects}")
        if self.trials is not None:
            require(self.evidence == "matched", "trials goes with evidence matched")
            valid = self.objects <= self.trials <= 2 * self.objects
            allowed = f"{self.objects}..{2 * self.objects} for {self.objects} objects"
            require(valid, f"trials must be in {allowed}, got {self.trials}")
        if self.stimuli != "generated":
            require(self.placements == "balanced", "placements goes with stimuli generated")
            require(self.objects == 3, f"the paper's stimuli have objects = 3, got {self.objects}")

    @property
    def tests(self) -> int:
        """The number of tests of the new machine, if matched."""
        return self.trials or TRIALS[self.objects]

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
    # free after the paper's stimuli and after solved examples
    reply: Literal["auto", "free", "lines"] = "auto"
    sentences: int | None = None  # read only the first sentences of a free reply (the paper: 2)

    def __post_init__(self) -> None:
        valid = self.sentences is None or self.sentences >= 1
        require(valid, f"sentences must be at least 1, got {self.sentences}")


CONDITIONS = {
    "given-disjunctive": ("given", "disjunctive"),
    "given-conjunctive": ("given", "conjunctive"),
    "not-given-disjunctive": ("not_given", "disjunctive"),
    "not-given-conjunctive": ("not_given", "conjunctive"),
}
# Seven is the smallest number of objects with which counting stays within five points of the floor.
PRESETS = {
    "four-conditions": PromptSpec(objects=7),
    **{
        name: PromptSpec(hypotheses, form, objects=7)  # type: ignore[arg-type]
        for name, (hypotheses, form) in CONDITIONS.items()
    },
    "paper-evidence": PromptSpec(evidence="full"),  # keeps the paper's leak: counting is enough
}
DIAGNOSTICS = {
    name: Diagnostic(
        f"hypotheses {hypotheses.replace('_', ' ')}, {form} machine",
        spec={"hypotheses": hypotheses, "form": form},
    )
    for name, (hypotheses, form) in CONDITIONS.items()
}
