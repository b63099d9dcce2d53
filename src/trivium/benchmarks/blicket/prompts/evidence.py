"""The evidence of a prompt: reading the tests of each machine, and what follows from them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from trivium.benchmarks.blicket.inference import support
from trivium.benchmarks.blicket.inference.hypotheses import CONJUNCTIVE, DISJUNCTIVE
from trivium.benchmarks.blicket.inference.observer import Trial
from trivium.benchmarks.blicket.names import PATTERNS, mentions
from trivium.core.errors import require

UNSURE = "unsure"
Test = tuple[tuple[str, ...], bool]  # the objects on the machine, and whether it lit up


class Machine(NamedTuple):
    """A machine, its objects and its tests."""

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
    """An answer about the new machine; names in alphabetical order."""

    blickets: tuple[str, ...]
    maybe: tuple[str, ...] = ()
    like: str | None = None  # a machine's pattern, "unsure", or None if the reply does not say


def forms_of(machines: Sequence[Machine]) -> list[str | None]:
    """The form of each machine according to its tests; None if both are possible."""
    found = []
    for machine in machines:
        forms = support.forms(machine.trials, len(machine.objects))
        fit = f"the tests of the {machine.pattern} machine fit no possible machine"
        require(len(forms) > 0, fit)
        found.append(forms[0] if len(forms) == 1 else None)
    return found


def ideal_answer(
    machines: Sequence[Machine],
    named: bool = True,
    stated: Mapping[str, str] | None = None,
) -> PromptAnswer:
    """The ideal observer's answer: what follows from the evidence, and no more.

    If the prompt names the kinds, machines are disjunctive or conjunctive; otherwise they may
    need any number of their blickets, or an odd number. `stated` is the pattern of each form, if
    the prompt states it.
    """
    *known, form = forms_of(machines)
    new = machines[-1]
    trials, objects = new.trials, len(new.objects)
    possible = support.of_any_kind(trials, objects)
    if named:
        possible = support.of_rule(trials, objects, DISJUNCTIVE)
        possible |= support.of_rule(trials, objects, CONJUNCTIVE)
    sure, maybe = support.answer(possible, objects)
    pairs = zip(machines, known, strict=False)
    alike = [machine.pattern for machine, each in pairs if each == form]
    decided = None not in (*known, form) and len(alike) == 1
    like = alike[0] if decided else UNSURE
    if stated:
        like = stated.get(str(form), UNSURE)
    return PromptAnswer(members(new.objects, sure), members(new.objects, maybe), like)


def proven(machine: Machine) -> set[str]:
    """The objects that light the machine up alone, or without which all others leave it dark."""
    every = set(machine.objects)
    parts = [set(placed) if light else every - set(placed) for placed, light in machine.tests]
    return {name for part in parts if len(part) == 1 for name in part}


def members(names: Sequence[str], objects: int) -> tuple[str, ...]:
    """The names of a set of objects, sorted."""
    return tuple(sorted(name for bit, name in enumerate(names) if objects >> bit & 1))


class Page(NamedTuple):
    """The content of a prompt."""

    machines: tuple[Machine, ...]  # the new one last; a pattern that is not given is empty
    known: tuple[str, ...]  # the patterns that the new machine may be like
    named: bool = True  # whether the prompt names the kinds of machines
    stated: Mapping[str, str] = {}  # the pattern of each form, if the prompt states it


_PATTERN = re.compile(rf"\b({'|'.join(PATTERNS)})\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
_DARK = re.compile(
    r"\b(?:(?:do|does|did) not (?:light up|turn on)|stays dark|light off|stayed off)\b",
    re.IGNORECASE,
)
_LIT = re.compile(r"\b(?:lights? up|turned on|light on)\b", re.IGNORECASE)
_KINDS = re.compile(
    r"at least one of|just one of|a single blicket|needs? one blicket|Sometimes 1, 2 or 3"
)
_PREAMBLE = re.compile(
    r"\bA (\w+) machine needs (?:two|all of its) blickets.{0,60}?"
    r"\ba (\w+) machine needs one blicket"
)


@lru_cache(maxsize=2048)  # an audit asks one solver after another about the same items
def read_page(prompt: str) -> Page:
    """The content of a prompt, which is the paper's or generated."""
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
    found = _PREAMBLE.search(prompt)
    stated = {"conjunctive": found[1], "disjunctive": found[2]} if found else {}
    return Page(tuple(machines), tuple(known), _KINDS.search(prompt) is not None, stated)


def _read_tests(paragraph: str) -> tuple[Test, ...]:
    tests = []
    for sentence in _SENTENCE.split(paragraph):
        placed, dark = tuple(mentions(sentence)), _DARK.search(sentence)
        if placed and (dark or _LIT.search(sentence)):
            tests.append((placed, dark is None))
    return tuple(tests)
