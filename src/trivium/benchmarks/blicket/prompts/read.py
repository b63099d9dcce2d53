"""The page read back: machines, objects and lights, in the paper's words or in ours."""

from __future__ import annotations

import re
from typing import NamedTuple

from trivium.benchmarks.blicket.prompts.item import Machine, Seen
from trivium.benchmarks.blicket.prompts.phrases import PATTERNS, mentions

_PATTERN = re.compile(rf"\b({'|'.join(PATTERNS)})\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_DARK = re.compile(r"\b(?:do|does|did) not (?:light up|turn on)|\bstays dark", re.IGNORECASE)
_LIT = re.compile(r"\b(?:lights? up|turned on)\b", re.IGNORECASE)


class Page(NamedTuple):
    """What a prompt shows."""

    machines: tuple[Machine, ...]
    known: tuple[str, ...]  # the patterns that the new machine may be like


def read_page(prompt: str) -> Page:
    """The machines of a prompt, the new one last; a pattern that is not told is empty."""
    machines: list[Machine] = []
    for paragraph in prompt.split("\n\n"):
        tests = _tests(paragraph)
        named = _PATTERN.search(paragraph)
        pattern = named[1].lower() if named else ""
        if tests:
            names = tuple(dict.fromkeys(mentions(paragraph)))
            machines.append(Machine(pattern, names, tests))
        elif paragraph.startswith("Output:") and machines and not machines[-1].pattern:
            machines[-1] = machines[-1]._replace(pattern=pattern)
    new = machines[-1].pattern if machines else ""
    told = [machine.pattern for machine in machines] + _PATTERN.findall(prompt.lower())
    known = dict.fromkeys(pattern for pattern in told if pattern not in ("", new))
    return Page(tuple(machines), tuple(known))


def _tests(paragraph: str) -> tuple[Seen, ...]:
    tests = []
    for sentence in _SENTENCE.split(paragraph):
        placed = tuple(mentions(sentence))
        dark = _DARK.search(sentence)
        if placed and (dark or _LIT.search(sentence)):
            tests.append((placed, dark is None))
    return tuple(tests)
