"""The parameters of a blicket game, and how it is presented."""

from __future__ import annotations

from dataclasses import dataclass

from trivium.benchmarks.blicket.inference import hypotheses as blicket
from trivium.benchmarks.blicket.inference.hypotheses import CONJUNCTIVE, DEFAULT_SIX, DISJUNCTIVE
from trivium.core.benchmark import CONTROL, Diagnostic
from trivium.core.errors import require

MAX_TESTS = 100
PAPER_RULES = (CONJUNCTIVE, DISJUNCTIVE)


@dataclass(frozen=True)
class GameSpec:
    """A machine that works in one of several ways, and a number of tests to find out which."""

    objects: int = 3  # named A, B, C, ...
    # how the machine may work: conjunctive, disjunctive, threshold-2, parity, inhibitor
    rules: tuple[str, ...] = PAPER_RULES
    # machines such as conjunctive:AB instead of all those of the rules
    hypotheses: tuple[str, ...] = ()
    tests: int = 4  # how many tests may be made
    noise: float = 0.0  # the probability that the light is wrong

    def __post_init__(self) -> None:
        most = blicket.MAX_OBJECTS
        require(2 <= self.objects <= most, f"objects must be in 2..{most}, got {self.objects}")
        require(0 <= self.tests <= MAX_TESTS, f"tests must be in 0..{MAX_TESTS}, got {self.tests}")
        require(0 <= self.noise < 0.5, f"noise must be at least 0 and below 0.5, got {self.noise}")
        for name in ("rules", "hypotheses"):
            values = getattr(self, name)
            require(len(set(values)) == len(values), f"{name} must differ, got {values}")
        count = len(self.hypotheses) or sum(
            len(blicket.machines(self.objects, rule)) for rule in self.rules
        )
        require(count >= 2, f"there must be at least two possible machines, got {count}")
        require(
            not self.hypotheses or self.rules == PAPER_RULES,
            f"give rules or hypotheses, not both; got rules {', '.join(self.rules)} too",
        )
        for text in self.hypotheses:
            machine = blicket.parse(text)
            require(machine.noise == 0, f"hypotheses carry no noise of their own, got {text!r}")
            require(
                machine.objects <= self.objects,
                f"{text} needs objects of at least {machine.objects}, got {self.objects}",
            )


@dataclass(frozen=True)
class GameView:
    """How a blicket game is presented."""

    story: bool = True  # begin with what blickets are, or give only the rules


# As many tests as the optimal explorer needs in the worst case, so that certainty can be reached.
PRESETS = {
    "paper": GameSpec(hypotheses=DEFAULT_SIX, tests=3),
    "three-objects": GameSpec(tests=4),
    "four-objects": GameSpec(objects=4, tests=5),
    "five-rules": GameSpec(rules=(*PAPER_RULES, "threshold-2", "parity", "inhibitor"), tests=6),
}
DIAGNOSTICS = {
    "control": CONTROL,
    "no_story": Diagnostic("only the rules, without what blickets are", view={"story": False}),
    "six": Diagnostic(
        "only the paper's six machines",
        spec={"rules": PAPER_RULES, "hypotheses": DEFAULT_SIX, "tests": 3},
    ),
}
