"""The parameters of a blicket prompt, its view and its presets."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal

from trivium.core.benchmark import Diagnostic
from trivium.core.errors import require

MAX_OBJECTS = 10  # with 14 objects of the first two machines, all colours and shapes
MIN_OBJECTS_MATCHED = 7  # fewer leave one answer for each way of counting
DEFAULT_TESTS = 12


@dataclass(frozen=True)
class PromptSpec:
    """Two example machines, and a new one to explain."""

    # whether the prompt names the kinds of machines, and the first two machines demonstrate them
    hypotheses: Literal["given", "not_given", "both"] = "both"
    form: Literal["disjunctive", "conjunctive", "both"] = "both"  # how the new machine works
    # of the new machine. From 7 on, its evidence is matched: counts are the same for all answers.
    # With 3 to 6 it is the paper's, where counting is enough: every object, every pair and all
    # together; the first two machines then have as many objects
    objects: int = 3
    # the tests of the first two machines. balanced: the same sets whether hypotheses are given or
    # not, so that only the lights differ; paper: the paper's sets
    placements: Literal["balanced", "paper"] = "balanced"
    # paper: its four prompts, word for word; paper_two_shot: the two-shot prompts, which are scored
    # by their text, since the preamble names the kinds of machines in all conditions
    stimuli: Literal["generated", "paper", "paper_two_shot"] = "generated"
    tests: int | None = None  # of the new machine, from 7 objects: an even number, usually 12

    def __post_init__(self) -> None:
        valid = 3 <= self.objects <= MAX_OBJECTS
        require(valid, f"objects must be in 3..{MAX_OBJECTS}, got {self.objects}")
        if self.tests is not None:
            require(self.matched, f"tests goes with {MIN_OBJECTS_MATCHED} objects or more")
            low = 2 * ((self.objects - 1) // 2) + 4
            valid = low <= self.tests <= low + 4 and self.tests % 2 == 0
            allowed = f"even and in {low}..{low + 4} for {self.objects} objects"
            require(valid, f"tests must be {allowed}, got {self.tests}")
        if self.stimuli != "generated":
            require(self.placements == "balanced", "placements goes with stimuli generated")
            require(self.objects == 3, f"the paper's stimuli have objects = 3, got {self.objects}")

    @property
    def matched(self) -> bool:
        """Whether the evidence is matched."""
        return self.objects >= MIN_OBJECTS_MATCHED and self.stimuli == "generated"

    @property
    def test_count(self) -> int:
        """The number of tests of the new machine, if matched."""
        return self.tests or DEFAULT_TESTS

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
        valid = self.sentences is None or self.sentences >= 1
        require(valid, f"sentences must be at least 1, got {self.sentences}")


CONDITIONS = {
    "given-disjunctive": ("given", "disjunctive"),
    "given-conjunctive": ("given", "conjunctive"),
    "not-given-disjunctive": ("not_given", "disjunctive"),
    "not-given-conjunctive": ("not_given", "conjunctive"),
}
# A ladder: the paper's evidence for three objects, where counting is enough, then more objects.
# Eight objects and 12 tests are the least with which two seeds share hardly any new machines.
PRESETS = {
    "paper-evidence": PromptSpec(),
    "seven-objects": PromptSpec(objects=7, tests=10),
    "four-conditions": PromptSpec(objects=8),
    "fourteen-tests": PromptSpec(objects=8, tests=14),
}
# Counting solves the first one, and a table of structures the second one.
LEAKY_PRESETS = frozenset({"paper-evidence", "seven-objects"})
DIAGNOSTICS = {
    name: Diagnostic(
        f"hypotheses {hypotheses.replace('_', ' ')}, {form} machine",
        spec={"hypotheses": hypotheses, "form": form},
    )
    for name, (hypotheses, form) in CONDITIONS.items()
}
