"""The evidence of a prompt: what was seen on each machine, read from text, and what it implies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from trivium.benchmarks.blicket.inference import observer
from trivium.benchmarks.blicket.inference.hypotheses import Space, make_space
from trivium.benchmarks.blicket.inference.observer import CERTAIN, Trial
from trivium.benchmarks.blicket.prompts.matched import KINDS_OPEN, KINDS_TOLD
from trivium.benchmarks.blicket.prompts.phrases import PATTERNS, mentions

UNSURE = "unsure"
Test = tuple[tuple[str, ...], bool]  # the objects that were placed, and whether it lit


class Machine(NamedTuple):
    """A machine, its objects and what was seen on it."""

    pattern: str
    objects: tuple[str, ...]
    tests: tuple[Test, ...]

    @property
    def trials(self) -> tuple[Trial, ...]:
        """The tests as trials of the ideal observer, sorted."""
        bit = {name: 1 << number for number, name in enumerate(self.objects)}
        return tuple(sorted((sum(bit[name] for name in on), light) for on, light in self.tests))


@dataclass(frozen=True, slots=True)
class PromptAnswer:
    """What is said about the new machine; names in alphabetical order."""

    blickets: tuple[str, ...]
    maybe: tuple[str, ...] = ()
    like: str | None = None  # a machine's pattern, "unsure", or None where nothing was said


@lru_cache(maxsize=32)
def machines_of(objects: int, kinds: tuple[str, ...]) -> Space:
    """Every machine of these kinds, all kinds equally likely."""
    space = make_space(objects, kinds)
    members = space.family_members
    weights = members.T @ (1 / members.sum(axis=1))
    return Space(space.hypotheses, tuple(map(float, weights)), objects)


def judge(
    machines: Sequence[Machine], kinds: tuple[str, ...] = KINDS_TOLD
) -> tuple[list[str | None], dict[str, float]]:
    """The form of each machine (None: open), and each new object's probability to be a blicket.

    Each machine is judged by its own tests, with a prior over kinds learned from the others.
    """
    forms, chances = _judge(tuple((len(each.objects), each.trials) for each in machines), kinds)
    return list(forms), dict(zip(machines[-1].objects, chances, strict=True))


# The same evidence recurs under other names all the time, so a cache saves most of the work.
@lru_cache(maxsize=4096)
def _judge(
    seen: tuple[tuple[int, tuple[Trial, ...]], ...], kinds: tuple[str, ...]
) -> tuple[tuple[str | None, ...], tuple[float, ...]]:
    evidence = [(machines_of(objects, kinds), trials) for objects, trials in seen]
    forms: list[str | None] = []
    for number, (space, trials) in enumerate(evidence):
        others = evidence[:number] + evidence[number + 1 :]
        expected = observer.hierarchical_prior(space, others)
        belief = observer.posterior(expected, trials)
        shares = observer.family_probability(expected, belief)
        forms.append(next((form for form, share in shares.items() if share >= CERTAIN), None))
    # The new machine is the last, so the last belief is about it.
    return tuple(forms), tuple(map(float, observer.blicket_probability(expected, belief)))


def ideal_answer(
    machines: Sequence[Machine],
    kinds: tuple[str, ...] = KINDS_TOLD,
    told: Mapping[str, str] | None = None,
) -> PromptAnswer:
    """The exact observer's answer: what follows from the evidence, and no more.

    `kinds` are the forms that it takes for possible; `told` names the pattern of each form, where
    a prompt says so instead of showing it.
    """
    (*known, form), chances = judge(machines, kinds)
    sure = sorted(name for name, chance in chances.items() if chance >= CERTAIN)
    maybe = sorted(name for name, chance in chances.items() if 1 - CERTAIN < chance < CERTAIN)
    if told:
        return PromptAnswer(tuple(sure), tuple(maybe), told.get(str(form), UNSURE))
    pairs = zip(machines, known, strict=False)
    alike = [machine.pattern for machine, each in pairs if each == form]
    decided = None not in (*known, form) and len(alike) == 1
    return PromptAnswer(tuple(sure), tuple(maybe), alike[0] if decided else UNSURE)


class Page(NamedTuple):
    """What a prompt shows and says."""

    machines: tuple[Machine, ...]  # the new one last; a pattern that is not given is empty
    known: tuple[str, ...]  # the patterns that the new machine may be like
    kinds: tuple[str, ...] = KINDS_TOLD  # of machines that are possible, as far as it says
    told: Mapping[str, str] = {}  # the pattern of each form, where it says so


_PATTERN = re.compile(rf"\b({'|'.join(PATTERNS)})\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_DARK = re.compile(r"\b(?:do|does|did) not (?:light up|turn on)|\bstays dark", re.IGNORECASE)
_LIT = re.compile(r"\b(?:lights? up|turned on)\b", re.IGNORECASE)


_KINDS = re.compile(
    r"at least one of|just one of|a single blicket|needs? one blicket|Sometimes 1, 2 or 3"
)
_PREAMBLE = re.compile(
    r"\bA (\w+) machine needs (?:two|all of its) blickets.{0,60}?"
    r"\ba (\w+) machine needs one blicket"
)


def read_page(prompt: str) -> Page:
    """The machines in a prompt, in the paper's words or in ours."""
    machines: list[Machine] = []
    for paragraph in prompt.split("\n\n"):
        tests = _read_tests(paragraph)
        named = _PATTERN.search(paragraph)
        pattern = named[1].lower() if named else ""
        if tests:
            names = tuple(dict.fromkeys(mentions(paragraph)))
            machines.append(Machine(pattern, names, tests))
        elif paragraph.startswith("Output:") and machines and not machines[-1].pattern:
            machines[-1] = machines[-1]._replace(pattern=pattern)
    new = machines[-1].pattern if machines else ""
    patterns = [machine.pattern for machine in machines] + _PATTERN.findall(prompt.lower())
    known = dict.fromkeys(pattern for pattern in patterns if pattern not in ("", new))
    kinds = KINDS_TOLD if _KINDS.search(prompt) else KINDS_OPEN
    said = _PREAMBLE.search(prompt)
    told = {"conjunctive": said[1], "disjunctive": said[2]} if said else {}
    return Page(tuple(machines), tuple(known), kinds, told)


def _read_tests(paragraph: str) -> tuple[Test, ...]:
    tests = []
    for sentence in _SENTENCE.split(paragraph):
        placed, dark = tuple(mentions(sentence)), _DARK.search(sentence)
        if placed and (dark or _LIT.search(sentence)):
            tests.append((placed, dark is None))
    return tuple(tests)
