"""Probes: does anything on the surface of an item give its answer away?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

LEVEL = 0.99  # of all cues of an audit together
GAIN = 0.03  # the advantage over chance that an audit must be able to see


@dataclass(frozen=True)
class Probe:
    """What an attacker tries to guess in one item from the surface of its prompt.

    Candidates are named as the prompt prints them, so that the audit can find where they are
    mentioned. A question about the item itself has one candidate, such as "valid", which is
    right or not.
    """

    name: str  # "answer", "validity", "control", ...: the same for all items
    candidates: Sequence[str]
    right: Sequence[bool]  # which of them belong to the answer
    # role to name, such as the target's: its lines and nearness to it are probed, so leave it
    # out where they are evidence (such as two variables in one correlated set)
    marked: Mapping[str, str] = field(default_factory=dict)
    # more surface features than the audit finds in the text by itself
    # (one number a candidate); the names must be the same in all items of a probe
    candidate_features: Mapping[str, Sequence[float]] = field(default_factory=dict)
    item_features: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Cue:
    """One shortcut that was tried: what it reaches, and what it would reach by chance."""

    name: str  # such as "answer: parity of its number"
    about: str
    value: float  # hit rate, accuracy, within-item AUC, or the headline metric of a solver
    low: float  # the interval ends above chance if and only if the cue is caught
    high: float
    chance: float
    n: int  # items that could be judged
    p: float = 1.0  # one-sided, on the test items
    confirmed: bool = False  # whether value and interval come from the fresh items

    @property
    def caught(self) -> bool:
        """Whether the cue beats chance."""
        return self.low > self.chance


Verdict = Literal["passed", "caught", "incomplete"]


@dataclass(frozen=True)
class Audit:
    """All shortcuts tried on fresh items."""

    cues: tuple[Cue, ...]
    items: int  # of the test and of the confirmation each; the training has more
    level: float  # how often an audit of clean items raises no false alarm
    notes: tuple[str, ...] = ()
    needed: int = 0  # items that show a cue of a few points over chance
    learned: bool = True  # whether the learned probe was tried
    floor: str = ""  # the best strategy that does not read the item
    floor_value: float = 0.0
    keeps_leaks: bool = False  # a preset that has the leaks of an original on purpose

    @property
    def passed(self) -> bool:
        """Whether everything was tried and no cue beats chance."""
        return self.verdict == "passed"

    @property
    def verdict(self) -> Verdict:
        """What the audit concludes; without the learned probe it never passes anything."""
        if any(cue.caught for cue in self.cues):
            return "caught"
        return "passed" if self.learned and self.cues else "incomplete"

    @property
    def strongest(self) -> Cue | None:
        """The caught cue that is farthest above chance, else the nearest to being caught."""
        caught = [cue for cue in self.cues if cue.caught]
        if caught:
            return max(caught, key=lambda cue: cue.value - cue.chance)
        return min(self.cues, key=lambda cue: cue.p, default=None)

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it, the strongest cues first."""
        cues = sorted(self.cues, key=lambda cue: (not cue.caught, cue.chance - cue.value))
        strongest = self.strongest
        return {
            "verdict": self.verdict,
            "items": self.items,
            "needed": self.needed,
            "level": self.level,
            "floor": {"name": self.floor, "value": self.floor_value},
            "learned_probe": self.learned,
            "keeps_leaks_on_purpose": self.keeps_leaks,
            "strongest": None if strongest is None else strongest.name,
            "cues": [asdict(cue) | {"caught": cue.caught} for cue in cues],
            "notes": list(self.notes),
        }
