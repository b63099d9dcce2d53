"""Probes: does anything on the surface of an item give its answer away?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trivium.core.statistics import items_to_see, proportion

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEVEL = 0.99  # of all cues of an audit together
GAIN = 0.03  # the advantage over chance that an audit must be able to see
FOLDS = 5


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
    items: int  # of the test and of the confirmation each; the training has twice as many
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


def cue_level(cues: int) -> float:
    """The level of each interval that keeps all of them together at LEVEL (Bonferroni)."""
    return 1 - (1 - LEVEL) / max(1, cues)


def items_needed(chance: float, cues: int) -> int:
    """Items on which a cue that is GAIN over chance is caught with 95% probability."""
    return items_to_see(chance, GAIN, level=(1 + cue_level(cues)) / 2)


def cue_of_hits(name: str, about: str, hits: Sequence[bool], chance: float, level: float) -> Cue:
    """A cue that found the answer in these items and missed it in the others."""
    found = proportion(float(np.sum(hits)), len(hits), level)
    low, high = float(found.low or 0), float(found.high or 0)
    return Cue(name, about, float(found.value or 0), low, high, chance, len(hits))


def probe_choice(features: Floats, gold: Ints, seed: int = 0) -> NDArray[np.bool_]:
    """Whether a cross-validated linear choice rule picks the gold candidate of each item.

    `features` has one row of numbers for each candidate of each item: (items, candidates,
    features). The rule is a conditional logit, fitted on the other folds.
    """
    items, candidates, _ = features.shape
    spread = features.std(axis=(0, 1))
    centred = (features - features.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1)
    generator = np.random.default_rng(seed)
    fold = generator.permutation(items) % FOLDS
    # Ties must be broken at random, or the order of candidates would be a cue of its own.
    noise = generator.random((items, candidates)) * 1e-9
    hits = np.zeros(items, dtype=np.bool_)
    for held_out in range(FOLDS):
        train, test = fold != held_out, fold == held_out
        weights = fit_choice(centred[train], gold[train])
        picked = (centred[test] @ weights + noise[test]).argmax(axis=1)
        hits[test] = picked == gold[test]
    return hits


def feature_cues(
    about: Mapping[str, str], features: Floats, gold: Ints, level: float, pattern: str
) -> tuple[list[Cue], list[str]]:
    """A cue for each feature by itself and for all together, and the names of constant ones.

    `about` describes the features in their order and, last, all of them together; a cue is
    named by its feature put into `pattern`.
    """
    cues, constant = [], []
    for number, (feature, text) in enumerate(about.items()):
        together = number == features.shape[2]
        columns = features if together else features[:, :, number : number + 1]
        name = pattern.format(feature)
        if (columns == columns[:, :1]).all():
            constant.append(name)
        else:
            hits = probe_choice(columns, gold)
            cues.append(cue_of_hits(name, text, list(hits), 1 / features.shape[1], level))
    return cues, constant


def fit_choice(features: Floats, gold: Ints, ridge: float = 1.0, steps: int = 12) -> Floats:
    """The weights of a conditional logit with a small ridge, by Newton's method."""
    items, _, size = features.shape
    weights = np.zeros(size)
    chosen = features[np.arange(items), gold].sum(axis=0)
    for _ in range(steps):
        scores = features @ weights
        scores -= scores.max(axis=1, keepdims=True)
        shares = np.exp(scores)
        shares /= shares.sum(axis=1, keepdims=True)
        means = np.einsum("ik,ikf->if", shares, features)
        gradient = chosen - means.sum(axis=0) - ridge * weights
        second = np.einsum("ik,ikf,ikg->fg", shares, features, features, optimize=True)
        second -= means.T @ means
        weights = weights + np.linalg.solve(second + ridge * np.eye(size), gradient)
    return weights
