"""What is in a blicket game, and how it is told."""

from __future__ import annotations

from dataclasses import dataclass

from trivium.benchmarks.blicket.inference.hypotheses import (
    CONJUNCTIVE,
    DEFAULT_SIX,
    DISJUNCTIVE,
    INHIBITOR,
    MAX_OBJECTS,
    PARITY,
    machines,
    parse,
)
from trivium.core.benchmark import CONTROL, Diagnostic
from trivium.core.errors import require

MAX_TESTS = 100


@dataclass(frozen=True)
class GameSpec:
    """A machine that works in one of several ways, and a number of tests to find out which."""

    objects: int = 3  # named A, B, C, ...
    # how the machine may work: conjunctive, disjunctive, threshold-2, parity, inhibitor
    rules: tuple[str, ...] = (CONJUNCTIVE, DISJUNCTIVE)
    # machines such as conjunctive:AB instead of all those of the rules
    hypotheses: tuple[str, ...] = ()
    tests: int = 4  # how many tests may be made
    noise: float = 0.0  # the probability that the light is wrong

    def __post_init__(self) -> None:
        require(
            2 <= self.objects <= MAX_OBJECTS,
            f"objects must be in 2..{MAX_OBJECTS}, got {self.objects}",
        )
        require(0 <= self.tests <= MAX_TESTS, f"tests must be in 0..{MAX_TESTS}, got {self.tests}")
        require(0 <= self.noise < 0.5, f"noise must be at least 0 and below 0.5, got {self.noise}")
        require(len(set(self.rules)) == len(self.rules), f"rules must differ, got {self.rules}")
        count = len(self.hypotheses) or sum(
            len(machines(self.objects, each)) for each in self.rules
        )
        require(count >= 2, f"there must be at least two possible machines, got {count}")
        require(
            len(set(self.hypotheses)) == len(self.hypotheses),
            f"hypotheses must differ, got {self.hypotheses}",
        )
        require(
            not self.hypotheses or self.rules == (CONJUNCTIVE, DISJUNCTIVE),
            f"hypotheses stand instead of rules, got rules {', '.join(self.rules)} too",
        )
        for text in self.hypotheses:
            machine = parse(text)
            require(machine.noise == 0, f"hypotheses carry no noise of their own, got {text!r}")
            require(
                machine.objects <= self.objects,
                f"{text} needs objects of at least {machine.objects}, got {self.objects}",
            )


@dataclass(frozen=True)
class GameView:
    """How a blicket game is told."""

    story: bool = True  # with a word on what blickets are, or the rules alone


# Tests are as many as the optimal explorer needs at worst, so that certainty is always in reach.
PRESETS = {
    "paper": GameSpec(hypotheses=DEFAULT_SIX, tests=3),
    "three-objects": GameSpec(tests=4),
    "four-objects": GameSpec(objects=4, tests=5),
    "five-rules": GameSpec(
        rules=(CONJUNCTIVE, DISJUNCTIVE, "threshold-2", PARITY, INHIBITOR), tests=6
    ),
}
DIAGNOSTICS = {
    "control": CONTROL,
    "no_story": Diagnostic("the rules alone, without a word on blickets", view={"story": False}),
    "six": Diagnostic(
        "the paper's six machines alone",
        spec={"rules": (CONJUNCTIVE, DISJUNCTIVE), "hypotheses": DEFAULT_SIX, "tests": 3},
    ),
}
