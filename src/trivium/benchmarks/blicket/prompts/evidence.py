"""The evidence of a prompt: what was seen on each machine, read from text, and what it implies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from trivium.benchmarks.blicket.inference.hypotheses import Space, make_space
from trivium.benchmarks.blicket.inference.observer import (
    Trial,
    family_probability,
    hierarchical_prior,
    update,
)
from trivium.benchmarks.blicket.inference.support import Support, support_of
from trivium.benchmarks.blicket.names import PATTERNS, mentions
from trivium.benchmarks.blicket.prompts.matched import NAMED_KINDS, POSSIBLE_KINDS
from trivium.core.errors import require

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


def forms_of(machines: Sequence[Machine], kinds: tuple[str, ...] = NAMED_KINDS) -> list[str | None]:
    """The form of each machine as its tests show it; None where more than one is possible."""
    found = []
    for machine in machines:
        support = support_of(len(machine.objects), kinds)
        forms = support.forms(_possible(machine, support))
        found.append(forms[0] if len(forms) == 1 else None)
    return found


def _possible(machine: Machine, support: Support) -> int:
    left = support.possible(machine.trials)
    require(left > 0, f"no machine does what is seen on the {machine.pattern} one")
    return left


def ideal_answer(
    machines: Sequence[Machine],
    kinds: tuple[str, ...] = NAMED_KINDS,
    stated: Mapping[str, str] | None = None,
) -> PromptAnswer:
    """The exact observer's answer: what follows from the evidence, and no more.

    `kinds` are the forms that it takes for possible; `stated` names the pattern of each form, where
    a prompt says so instead of showing it.
    """
    *known, form = forms_of(machines, kinds)
    new = machines[-1]
    support = support_of(len(new.objects), kinds)
    sure, maybe = support.answer(_possible(new, support))
    pairs = zip(machines, known, strict=False)
    alike = [machine.pattern for machine, each in pairs if each == form]
    decided = None not in (*known, form) and len(alike) == 1
    like = alike[0] if decided else UNSURE
    if stated:
        like = stated.get(str(form), UNSURE)
    return PromptAnswer(_members(new, sure), _members(new, maybe), like)


def _members(machine: Machine, objects: int) -> tuple[str, ...]:
    return tuple(sorted(name for bit, name in enumerate(machine.objects) if objects >> bit & 1))


def form_beliefs(
    machines: Sequence[Machine], kinds: tuple[str, ...] = NAMED_KINDS
) -> list[dict[str, float]]:
    """What the ideal observer believes about the new machine's form: at first, after each test.

    It learns from the other machines what to expect of a new one, so that it predicts the effect
    of given against not given hypotheses: how soon the form of the new machine is certain.
    """
    *others, new = machines
    learned = [(_machines_of(len(each.objects), kinds), each.trials) for each in others]
    space = hierarchical_prior(_machines_of(len(new.objects), kinds), learned)
    belief = space.belief
    found = [family_probability(space, belief)]
    for placed, light in new.tests:
        on = sum(1 << new.objects.index(name) for name in placed)
        belief = update(space, belief, on, light)
        found.append(family_probability(space, belief))
    return found


@lru_cache(maxsize=32)
def _machines_of(objects: int, kinds: tuple[str, ...]) -> Space:
    """Every machine of these kinds, all kinds equally likely."""
    space = make_space(objects, kinds)
    members = space.family_members
    weights = members.T @ (1 / members.sum(axis=1))
    return Space(space.hypotheses, tuple(map(float, weights)), objects)


class Page(NamedTuple):
    """What a prompt shows and says."""

    machines: tuple[Machine, ...]  # the new one last; a pattern that is not given is empty
    known: tuple[str, ...]  # the patterns that the new machine may be like
    kinds: tuple[str, ...] = NAMED_KINDS  # of machines that are possible, as far as it says
    stated: Mapping[str, str] = {}  # the pattern of each form, where it says so


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
    kinds = NAMED_KINDS if _KINDS.search(prompt) else POSSIBLE_KINDS
    said = _PREAMBLE.search(prompt)
    stated = {"conjunctive": said[1], "disjunctive": said[2]} if said else {}
    return Page(tuple(machines), tuple(known), kinds, stated)


def _read_tests(paragraph: str) -> tuple[Test, ...]:
    tests = []
    for sentence in _SENTENCE.split(paragraph):
        placed, dark = tuple(mentions(sentence)), _DARK.search(sentence)
        if placed and (dark or _LIT.search(sentence)):
            tests.append((placed, dark is None))
    return tuple(tests)
