"""How a blicket machine may work: forms, hypotheses, spaces of hypotheses, and holdout splits.

Sets of objects are bit masks: A is 1, B is 2, C is 4, AC is 5.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import UserError, require

LETTERS = "ABCDEFGH"
MAX_OBJECTS = len(LETTERS)
FORMS = ("conjunctive", "disjunctive", "threshold", "parity", "inhibitor")
CONJUNCTIVE, DISJUNCTIVE, THRESHOLD, PARITY, INHIBITOR = FORMS
_TEXT = re.compile(
    r"(?P<form>[a-z]+)(-(?P<threshold>[1-9]))?:(?P<blickets>[A-H]+)"
    r"(-(?P<inhibitors>[A-H]+))?(~(?P<noise>0?\.\d+))?"
)


def letters(mask: int) -> str:
    """The objects of a set as letters, such as `AC`."""
    return "".join(letter for bit, letter in enumerate(LETTERS) if mask >> bit & 1)


def mask_of(objects: str) -> int:
    """The set of objects with these letters."""
    valid = len(set(objects)) == len(objects) and set(objects) <= set(LETTERS)
    require(valid, f"objects must be different letters from {LETTERS}, got {objects!r}")
    return sum(1 << LETTERS.index(letter) for letter in objects)


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One way a machine may work: a form, its blickets, and how often the light is wrong."""

    form: str  # one of FORMS
    blickets: int
    threshold: int = 0  # the number of blickets that a threshold machine needs
    inhibitors: int = 0  # objects that keep an inhibitor machine dark
    noise: float = 0.0  # the probability that the light is inverted

    def __post_init__(self) -> None:
        form, count = self.form, self.blickets.bit_count()
        require(form in FORMS, f"form must be one of {', '.join(FORMS)}, got {form!r}")
        for name in ("blickets", "inhibitors"):
            value = getattr(self, name)
            valid = 0 <= value < 1 << MAX_OBJECTS
            require(valid, f"{name} must be a set of at most {MAX_OBJECTS} objects, got {value}")
        require(count > 0, "blickets must hold at least one object, got none")
        if form == THRESHOLD:
            valid = 1 <= self.threshold <= count
            require(valid, f"threshold must be in 1..{count}, got {self.threshold}")
        else:
            require(self.threshold == 0, f"a {form} machine has no threshold")
        if form == INHIBITOR:
            require(self.inhibitors > 0, "inhibitors must hold at least one object, got none")
            both = letters(self.blickets & self.inhibitors)
            require(not both, f"{both} cannot be a blicket and an inhibitor")
        else:
            require(self.inhibitors == 0, f"a {form} machine has no inhibitors")
        require(0 <= self.noise < 0.5, f"noise must be at least 0 and below 0.5, got {self.noise}")

    def __str__(self) -> str:
        inhibitors = f"-{letters(self.inhibitors)}" if self.inhibitors else ""
        return f"{self.rule}:{letters(self.blickets)}{inhibitors}{self._noise_suffix}"

    @property
    def rule(self) -> str:
        """The form with its number: `conjunctive`, `threshold-2`."""
        return f"{self.form}-{self.threshold}" if self.threshold else self.form

    @property
    def family(self) -> str:
        """Everything but the objects: `conjunctive`, `parity~0.1`."""
        return f"{self.rule}{self._noise_suffix}"

    @property
    def _noise_suffix(self) -> str:
        return f"~{np.format_float_positional(self.noise, trim='-')}" if self.noise else ""

    @property
    def objects(self) -> int:
        """The minimum number of objects of its space."""
        return (self.blickets | self.inhibitors).bit_length()


def parse(text: str) -> Hypothesis:
    """The hypothesis that a text such as `conjunctive:AB` or `inhibitor:A-C~0.1` names."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise UserError(
            f"a hypothesis is written conjunctive:AB, disjunctive:C, threshold-2:ABC, parity:AB or "
            f"inhibitor:A-C, followed by ~0.1 for noise; got {text!r}"
        )
    part = match.groupdict(default="")
    return Hypothesis(
        form=part["form"],
        blickets=mask_of(part["blickets"]),
        threshold=int(part["threshold"] or 0),
        inhibitors=mask_of(part["inhibitors"]),
        noise=float(part["noise"] or 0),
    )


def fires(hypothesis: Hypothesis, placed: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each of these sets activates the machine, without noise."""
    blickets_on: NDArray[np.uint8] = np.bitwise_count(placed & hypothesis.blickets)
    lit: NDArray[np.bool_] = blickets_on > 0
    if hypothesis.form == CONJUNCTIVE:
        lit = blickets_on == hypothesis.blickets.bit_count()
    elif hypothesis.form == THRESHOLD:
        lit = blickets_on >= hypothesis.threshold
    elif hypothesis.form == PARITY:
        lit = blickets_on % 2 == 1
    elif hypothesis.form == INHIBITOR:
        lit = lit & (placed & hypothesis.inhibitors == 0)
    return lit


def lights(hypothesis: Hypothesis, placed: int) -> float:
    """The probability that this set activates the machine."""
    return 1.0 - hypothesis.noise if fires(hypothesis, np.array(placed)) else hypothesis.noise


@dataclass(frozen=True)
class Space:
    """The possible hypotheses with a prior; a placement is a set of objects on the machine."""

    hypotheses: tuple[Hypothesis, ...]
    prior: tuple[float, ...] = ()  # a weight for each hypothesis; uniform if empty
    objects: int = 3

    def __post_init__(self) -> None:
        check_objects(self.objects)
        require(len(self.hypotheses) > 0, "hypotheses must hold at least one, got none")
        different = len(set(self.hypotheses)) == len(self.hypotheses)
        require(different, "hypotheses must be different from one another")
        for hypothesis in self.hypotheses:
            fits = hypothesis.objects <= self.objects
            require(fits, f"{hypothesis} needs {hypothesis.objects} objects, got {self.objects}")

    def __iter__(self) -> Iterator[Hypothesis]:
        return iter(self.hypotheses)

    def __len__(self) -> int:
        return len(self.hypotheses)

    @cached_property
    def belief(self) -> NDArray[np.float64]:
        """The prior as probabilities."""
        weights = np.array(self.prior or [1.0] * len(self))
        return np.asarray(weights / weights.sum())

    @cached_property
    def fires(self) -> NDArray[np.bool_]:
        """Whether the machine lights up without noise: [hypothesis, placement]."""
        placements = np.arange(1 << self.objects)
        return np.array([fires(hypothesis, placements) for hypothesis in self])

    @cached_property
    def likelihood(self) -> NDArray[np.float64]:
        """The probability of light: [hypothesis, placement]."""
        noise = np.array([hypothesis.noise for hypothesis in self])[:, None]
        return np.where(self.fires, 1.0 - noise, noise)

    @cached_property
    def blickets(self) -> NDArray[np.bool_]:
        """Which objects are blickets: [hypothesis, object]."""
        sets = np.array([hypothesis.blickets for hypothesis in self])
        return (sets[:, None] >> np.arange(self.objects) & 1).astype(np.bool_)

    @cached_property
    def equivalence(self) -> NDArray[np.intp]:
        """A number for each hypothesis, the same for those that no test distinguishes."""
        return np.unique(self.likelihood, axis=0, return_inverse=True)[1].reshape(-1)

    def equivalents(self, hypothesis: Hypothesis) -> NDArray[np.bool_]:
        """Which hypotheses no test distinguishes from this one."""
        number = self.equivalence[self.hypotheses.index(hypothesis)]
        return np.asarray(self.equivalence == number)

    @cached_property
    def noisy(self) -> bool:
        """Whether any hypothesis has noise."""
        return any(hypothesis.noise > 0 for hypothesis in self)


def check_objects(objects: int) -> None:
    """Raise an error unless there are letters for this many objects."""
    valid = 1 <= objects <= MAX_OBJECTS
    require(valid, f"objects must be in 1..{MAX_OBJECTS}, got {objects}")


_RULE = re.compile(
    r"(?P<form>[a-z]+)(-(?P<threshold>[1-9]))?"
    r"(:(?P<blickets>[1-8](,[1-8])*)(-(?P<inhibitors>[1-8](,[1-8])*))?)?"
)


def machines(objects: int, rule: str, noise: float = 0.0) -> tuple[Hypothesis, ...]:
    """All machines of one rule, such as `conjunctive`, or of a rule with these numbers of blickets.

    `disjunctive:1,3` has one or three blickets, `inhibitor:2-1` two and one inhibitor. Without
    numbers, machines that behave like one of another rule are left out: with a single blicket all
    rules are the same, so conjunctive and parity machines have two or more, and a threshold machine
    has more blickets than it needs.
    """
    found = _RULE.fullmatch(rule)
    form, number = (found["form"], found["threshold"]) if found else ("", None)
    sizes, inhibiting = (found["blickets"], found["inhibitors"]) if found else (None, None)
    require(
        form in FORMS
        and (form == THRESHOLD) == bool(number)
        and (form == INHIBITOR and bool(sizes)) == bool(inhibiting),
        "rule must be conjunctive, disjunctive, threshold-2 (or another number), parity, "
        "inhibitor, or one of them with its numbers of blickets and inhibitors, such as "
        f"disjunctive:1,3 or inhibitor:2-1; got {rule!r}",
    )
    threshold = int(number or 0)
    min_size = {CONJUNCTIVE: 2, PARITY: 2, THRESHOLD: threshold + 1}.get(form, 1)
    blickets = _sets(objects, sizes, min_size)
    if form != INHIBITOR:
        return tuple(Hypothesis(form, each, threshold, 0, noise) for each in blickets)
    pairs = itertools.product(blickets, _sets(objects, inhibiting, 1))
    return tuple(Hypothesis(form, one, 0, other, noise) for one, other in pairs if not one & other)


def _sets(objects: int, sizes: str | None, min_size: int) -> list[int]:
    """All sets of these sizes, or of at least `min_size` objects, by size, then by letters."""
    return [
        sum(1 << bit for bit in chosen)
        for size in range(1, objects + 1)
        if (size >= min_size if sizes is None else str(size) in sizes)
        for chosen in itertools.combinations(range(objects), size)
    ]


def make_space(
    objects: int = 3, rules: Sequence[str] = (CONJUNCTIVE, DISJUNCTIVE), noise: float = 0.0
) -> Space:
    """All machines of these rules, all equally likely."""
    check_objects(objects)
    found = (each for rule in rules for each in machines(objects, rule, noise))
    return Space(tuple(dict.fromkeys(found)), objects=objects)


def space_of(texts: Iterable[str | Hypothesis], objects: int | None = None) -> Space:
    """The space of these hypotheses, all equally likely."""
    found = tuple(parse(text) if isinstance(text, str) else text for text in texts)
    needed = max((hypothesis.objects for hypothesis in found), default=3)
    return Space(found, objects=max(needed, 3) if objects is None else objects)


CONJUNCTIVE_THREE = ("conjunctive:AB", "conjunctive:AC", "conjunctive:BC")
DISJUNCTIVE_THREE = ("disjunctive:A", "disjunctive:B", "disjunctive:C")
DEFAULT_SIX = CONJUNCTIVE_THREE + DISJUNCTIVE_THREE  # the paper's default space
ALL_ELEVEN = tuple(map(str, make_space()))  # every conjunctive and disjunctive machine of three
SPLITS = {  # machines to train on, machines to test on
    "none": (DEFAULT_SIX, DEFAULT_SIX),
    "conjunctive_train": (CONJUNCTIVE_THREE, DISJUNCTIVE_THREE),
    "disjunctive_train": (DISJUNCTIVE_THREE, CONJUNCTIVE_THREE),
    "conjunctive_loo": (CONJUNCTIVE_THREE[:2], CONJUNCTIVE_THREE[2:]),
    "disjunctive_loo": (DISJUNCTIVE_THREE[:2], DISJUNCTIVE_THREE[2:]),
    "both_loo": (
        CONJUNCTIVE_THREE[:2] + DISJUNCTIVE_THREE[:2],
        CONJUNCTIVE_THREE[2:] + DISJUNCTIVE_THREE[2:],
    ),
}


@cache
def split(name: str) -> tuple[Space, Space]:
    """The machines to train on and those to test on."""
    require(name in SPLITS, f"split must be one of {', '.join(SPLITS)}, got {name!r}")
    train, test = SPLITS[name]
    return space_of(train), space_of(test)


# The tests of the two example machines shown before a new one (Appendix C of the paper).
OPEN = "open"  # tests that fit one blicket as well as two
# The numbers of the objects on the machine, and the light.
EXAMPLE_TESTS: dict[str, tuple[tuple[tuple[int, ...], bool], ...]] = {
    CONJUNCTIVE: (((0,), False), ((2,), False), ((0, 2), True)),
    DISJUNCTIVE: (((1,), True), ((0,), False), ((0, 1), True)),
    OPEN: (((0,), False), ((1,), False), ((0, 2), True)),
}


def rules_shown(given: bool, swapped: bool = False) -> tuple[str, str]:
    """The kinds of tests of the first and the second example machine."""
    if not given:
        return OPEN, OPEN
    return (DISJUNCTIVE, CONJUNCTIVE) if swapped else (CONJUNCTIVE, DISJUNCTIVE)
