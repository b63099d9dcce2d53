"""The result of an audit: the shortcuts that were tried, and those that beat chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

ENGINE = 3  # of the audit's features and rules: `make audits` repeats audits of another one
LEVEL = 0.99  # of all cues of an audit together
MAX_ITEMS = 20_000  # of an audit, even if more are needed
GAIN = 0.03  # the advantage over chance that an audit must detect


@dataclass(frozen=True)
class Cue:
    """A shortcut that was tried: its score, and its score by chance."""

    name: str  # such as "answer: parity of its name"
    about: str
    value: float  # hit rate, accuracy, within-item AUC, or the headline metric of a solver
    low: float  # above chance if and only if the cue is caught
    high: float
    chance: float
    n: int  # items that were scored
    p: float = 1.0  # one-sided, on the test items
    confirmed: bool = False  # whether value and interval are those of the confirmation

    @property
    def caught(self) -> bool:
        """Whether the cue beats chance."""
        return self.low > self.chance


@dataclass(frozen=True, repr=False)
class Audit:
    """All shortcuts tried on fresh items."""

    cues: tuple[Cue, ...]
    items: int  # in the test and in the confirmation; the training has more
    level: float  # the probability that an audit of clean items raises no false alarm
    notes: tuple[str, ...] = ()
    needed: int = 0  # items needed to detect GAIN over chance
    floor: str = ""  # the best strategy that does not read the item
    floor_value: float = 0.0
    keeps_leaks: bool = False  # a preset that has shortcuts on purpose
    view: Mapping[str, Any] = field(default_factory=dict)  # how the items were presented

    def __str__(self) -> str:
        tried, strongest = len(self.cues), self.strongest
        if strongest is None:
            return "NO VERDICT: there was nothing to guess"
        if self.passed:
            return f"PASSED: none of {tried} cues beats chance on {self.items:,} items"
        caught = sum(cue.caught for cue in self.cues)
        reach = f"{strongest.value:.3f} [{strongest.low:.3f}, {strongest.high:.3f}]"
        on_purpose = ", and this preset keeps its leaks on purpose" if self.keeps_leaks else ""
        return (
            f"CAUGHT: {caught} of {tried} cues beat chance, confirmed on fresh items; the strongest"
            f" is {strongest.name}: {reach} against {strongest.chance:.3f}{on_purpose}"
        )

    def __repr__(self) -> str:
        return f"<audit {self}>"

    @property
    def passed(self) -> bool:
        """Whether no cue beats chance."""
        return self.verdict == "passed"

    @property
    def verdict(self) -> Literal["passed", "caught", "incomplete"]:
        """The conclusion, which is "incomplete" where there was nothing to guess."""
        if any(cue.caught for cue in self.cues):
            return "caught"
        return "passed" if self.cues else "incomplete"

    @property
    def strongest(self) -> Cue | None:
        """The caught cue that is farthest above chance, or the one nearest to being caught."""
        caught = [cue for cue in self.cues if cue.caught]
        if caught:
            return max(caught, key=lambda cue: cue.value - cue.chance)
        return min(self.cues, key=lambda cue: cue.p, default=None)

    def to_dict(self) -> dict[str, Any]:
        """The content of the JSON output, with the strongest cues first."""
        cues = sorted(self.cues, key=lambda cue: (not cue.caught, cue.chance - cue.value))
        strongest = self.strongest
        return {
            "verdict": self.verdict,
            "items": self.items,
            "needed": self.needed,
            "level": self.level,
            "floor": {"name": self.floor, "value": self.floor_value},
            "view": dict(self.view),
            "keeps_leaks_on_purpose": self.keeps_leaks,
            "strongest": None if strongest is None else strongest.name,
            "cues": [asdict(cue) | {"caught": cue.caught} for cue in cues],
            "notes": list(self.notes),
        }
