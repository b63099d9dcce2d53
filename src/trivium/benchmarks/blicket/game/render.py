"""The opening of a blicket game, and the conversation read back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from trivium.benchmarks.blicket.game.answer import write_answer, write_test
from trivium.benchmarks.blicket.game.item import GameAnswer, GameItem, game_space, rules_of
from trivium.benchmarks.blicket.game.spec import GameSpec, GameView
from trivium.benchmarks.blicket.inference.hypotheses import (
    FORMS,
    LETTERS,
    Hypothesis,
    letters,
    machines,
)

STORY = (
    "There is a machine that lights up because of blickets. Some objects are blickets, and you "
    "cannot see which. Find out how the machine works by putting objects on it."
)
LAWS = {
    "conjunctive": "lights up when all of its blickets are on it",
    "disjunctive": "lights up when at least one of its blickets is on it",
    "threshold": "lights up when at least {number} of its blickets are on it",
    "parity": "lights up when an odd number of its blickets is on it",
    "inhibitor": "lights up when at least one of its blickets is on it and none of its inhibitors",
}
INHIBITED = (
    "An inhibitor keeps the machine dark: if A is a blicket and B an inhibitor (A-B), A alone "
    "lights it up, and A with B does not."
)
# Which sets make up all machines of a rule that no other rule has too (see hypotheses.machines).
ANY = "any {least} or more of the objects"
ANY_INHIBITOR = "any objects, with any others as inhibitors, at least one of each"


def render(item: GameItem, view: GameView) -> str:
    """The opening: the objects, how the machine may work, and how to speak."""
    spec = item.spec
    tests = f"{spec.tests} {'test' if spec.tests == 1 else 'tests'}"
    noise = f" The light is wrong in {spec.noise:.12g} of all tests." if spec.noise else ""
    laws = "\n".join(laws_of(spec))
    example = GameAnswer("AB"[: spec.objects], rules_of(spec)[0])
    lines = [
        f"Objects: {' '.join(item.listing)}",
        f"The machine works in one of these ways, and every possible machine is equally likely:\n"
        f"{laws}",
        f"You may make up to {tests}.{noise} In each turn, say one line:\n"
        f"{write_test('AB')}\n"
        "to put A and B on the machine, and nothing else, and see whether it lights up; or, once, "
        "to end the game:\n"
        f"{write_answer(example)}",
    ]
    if "inhibitor" in rules_of(spec):
        lines[-1] += f"\n{write_answer(GameAnswer('A', 'inhibitor', 'B'))}"
    return "\n\n".join([STORY, *lines] if view.story else lines)


def laws_of(spec: GameSpec) -> list[str]:
    """A line for each way in which the machine may work, and one on what inhibitors do."""
    rules = rules_of(spec)
    return [_law(rule, spec) for rule in rules] + [INHIBITED] * ("inhibitor" in rules)


def _law(rule: str, spec: GameSpec) -> str:
    """A line such as "- disjunctive: lights up when ...; its blickets are one of A, B, C."."""
    own = [each for each in game_space(spec) if each.rule == rule]
    form, _, number = rule.partition("-")
    law = LAWS[form].format(number=number)
    return f"- {rule}: {law}; its blickets are {_sets(own, rule, spec.objects)}."


def _sets(own: Sequence[Hypothesis], rule: str, objects: int) -> str:
    every = machines(objects, rule, own[0].noise)
    if set(own) != set(every):
        named = [
            letters(each.blickets) + (f"-{letters(each.inhibitors)}" if each.inhibitors else "")
            for each in own
        ]
        return f"one of {', '.join(named)}"
    if rule == "inhibitor":
        return ANY_INHIBITOR
    return ANY.format(least=min(each.blickets.bit_count() for each in own))


class Conversation(NamedTuple):
    """What a player has seen so far."""

    spec: GameSpec
    tests: tuple[tuple[str, bool], ...]

    @property
    def left(self) -> int:
        """How many tests may still be made."""
        return self.spec.tests - len(self.tests)


_OBJECTS = re.compile(r"^Objects: ([A-H ]+)$", re.MULTILINE)
_LAW = re.compile(
    rf"^- ((?:{'|'.join(FORMS)})(?:-\d)?): .*; its blickets are (?:one of (.*)|any .*)\.$",
    re.MULTILINE,
)
_BUDGET = re.compile(r"up to (\d+) tests?\.(?: The light is wrong in (\S+) of all tests\.)?")
_SEEN = re.compile(r"^Test \d+: ([A-H ]+|nothing)\. The machine (lights up|stays dark)\.")


def read_conversation(messages: Sequence[str]) -> Conversation:
    """The game as a player sees it: the world's messages are the first and every second after."""
    tests = []
    for message in messages[2::2]:
        seen = _SEEN.match(message)
        if seen:
            placed = "" if seen[1] == "nothing" else seen[1].replace(" ", "")
            tests.append((placed, seen[2] == "lights up"))
    return Conversation(_read_opening(messages[0]), tuple(tests))


@lru_cache(maxsize=256)
def _read_opening(opening: str) -> GameSpec:
    objects, budget = _OBJECTS.search(opening), _BUDGET.search(opening)
    assert objects is not None
    assert budget is not None
    count = len(objects[1].split())
    assert set(objects[1].split()) == set(LETTERS[:count])
    rules, listed = [], []
    for rule, sets in _LAW.findall(opening):
        rules.append(rule)
        named = sets.split(", ") if sets else []
        own = [f"{rule}:{each}" for each in named] or [str(each) for each in machines(count, rule)]
        listed += own
    known = GameSpec(objects=count, tests=int(budget[1]), noise=float(budget[2] or 0))
    full = not any(sets for _, sets in _LAW.findall(opening))
    if full:
        return replace(known, rules=tuple(rules))
    return replace(known, hypotheses=tuple(listed))
