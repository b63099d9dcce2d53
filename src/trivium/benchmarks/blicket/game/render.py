"""Writing the opening of a blicket game, and reading a conversation back."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal, NamedTuple

from trivium.benchmarks.blicket.game.answer import write_answer, write_test
from trivium.benchmarks.blicket.game.generate import (
    EXAMPLE_OBJECTS,
    Example,
    GameAnswer,
    GameItem,
    Tests,
)
from trivium.benchmarks.blicket.game.spec import EXAMPLES, UNSURE, GameSpec, GameView
from trivium.benchmarks.blicket.inference.hypotheses import (
    CONJUNCTIVE,
    DEFAULT_SIX,
    DISJUNCTIVE,
    FORMS,
    Hypothesis,
    machines,
)
from trivium.benchmarks.blicket.names import article
from trivium.core.text import listed

STORY = (
    "There is a machine that lights up because of blickets. Some objects are blickets, and you "
    "cannot see which."
)
TO_DO = " Find out how the machine works by putting objects on it."
RULES = {
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
STRIPED, DOTTED = EXAMPLES
NEW_MACHINE = (
    f"Now there is a new machine. It works like the {STRIPED} machine or like the {DOTTED} machine."
)
FORM_ANSWERS = (
    f"where form is {STRIPED}, {DOTTED} or {UNSURE}: which machine the new one works like. Objects "
    f"that you are not sure about may be named as {UNSURE}."
)
SHOWN = "Another player made these tests, and you make none:"
LIGHTS = ("stays dark", "lights up")
EQUALLY_LIKELY = (
    "The machine works in one of these ways, and every possible machine is equally likely:"
)
# The sets of all machines of a rule (see hypotheses.machines), or of those with these sizes.
ANY = "any {least} or more of the objects"
ANY_INHIBITOR = "any objects, with any others as inhibitors, at least one of each"
SIZED = "any {sizes} of the objects"
SIZED_INHIBITOR = "any {sizes} of the objects, with any {others} of the others as inhibitors"


def render(item: GameItem, view: GameView, shown: Tests | None = None) -> str:
    """The opening: the objects, how the machine may work, and how to reply.

    `shown` are tests of another player, in place of the player's own.
    """
    spec = item.spec
    tests = f"{spec.tests} {'test' if spec.tests == 1 else 'tests'}"
    noise = f" The light is wrong in {spec.noise:.12g} of all tests." if spec.noise else ""
    listing = f"Objects: {' '.join(item.listing)}"
    if spec.demonstrations == "none":
        lines = [_rule_line(rule, spec) for rule in spec.possible_rules]
        lines += [INHIBITED] * ("inhibitor" in spec.possible_rules)
        kinds = [listing, "\n".join([EQUALLY_LIKELY, *lines])]
        answers = [write_answer(GameAnswer("AB"[: spec.objects], spec.possible_rules[0]))]
    else:
        kinds = [*map(_example_text, item.example_machines), NEW_MACHINE, listing]
        answers = [write_answer(GameAnswer("A", STRIPED, unsure="B")), FORM_ANSWERS]
    if "inhibitor" in spec.possible_rules:
        answers.append(write_answer(GameAnswer("A", "inhibitor", "B")))
    story = STORY
    if shown is None:
        story += TO_DO
        ending = (
            f"You may make up to {tests}.{noise} In each turn, think as long as you like, then end "
            "with a line of its own:\n"
            f"{write_test('AB')}\n"
            "to put A and B on the machine, and nothing else, and see whether it lights up; or, "
            "once, to end the game:\n"
        )
    else:
        seen = [seen_text(number, *test) for number, test in enumerate(shown, start=1)]
        kinds.append("\n".join([f"{SHOWN}{noise}", *seen]))
        ending = "Think as long as you like, then end with a line of its own:\n"
    return "\n\n".join([story] * view.story + [*kinds, ending + "\n".join(answers)])


def seen_text(number: int, placed: str, light: bool) -> str:
    """What a player reads after a test."""
    return f"Test {number}: {' '.join(placed) or 'nothing'}. The machine {LIGHTS[light]}."


@lru_cache(maxsize=1024)
def _rule_line(rule: str, spec: GameSpec) -> str:
    """A line such as "- disjunctive: lights up when ...; its blickets are one of A, B, C."."""
    matching = [machine for machine in spec.space if machine.rule == rule]
    form, _, number = rule.partition("-")
    sizes, others = _sizes(matching, "blickets"), _sizes(matching, "inhibitors")
    sized = f"{rule}:{','.join(sizes)}" + f"-{','.join(others)}" * (others != ["0"])
    if set(matching) == set(machines(spec.objects, rule, spec.noise)):
        sets = ANY_INHIBITOR if rule == "inhibitor" else ANY.format(least=sizes[0])
    elif set(matching) == set(machines(spec.objects, sized, spec.noise)):
        text = SIZED_INHIBITOR if rule == "inhibitor" else SIZED
        sets = text.format(sizes=listed(sizes, "or"), others=listed(others, "or"))
    else:
        sets = f"one of {', '.join(str(replace(each, noise=0)).split(':')[1] for each in matching)}"
    return f"- {rule}: {RULES[form].format(number=number)}; its blickets are {sets}."


def _sizes(listed: Sequence[Hypothesis], name: str) -> list[str]:
    """The numbers of blickets or inhibitors of these machines, in order."""
    return sorted({str(getattr(machine, name).bit_count()) for machine in listed})


def _example_text(example: Example) -> str:
    """The tests of one example machine, a line each."""
    lines = [
        f"- {' and '.join(f'the {name}' for name in placed)}: it {LIGHTS[light]}"
        for placed, light in example.tests
    ]
    first, second, third = map(article, EXAMPLE_OBJECTS[example.name])
    opening = f"Here is the {example.name} machine, with {first}, {second} and {third}:"
    return "\n".join([opening, *lines])


class Conversation(NamedTuple):
    """What a player has seen so far."""

    spec: GameSpec
    tests: Tests
    examples: Mapping[str, str] = {}  # the rule that each example machine demonstrates

    @property
    def left(self) -> int:
        """The number of tests left."""
        return self.spec.tests - len(self.tests)


_OBJECTS = re.compile(r"^Objects: ([A-H ]+)$", re.MULTILINE)
_RULE = re.compile(
    rf"^- ((?:{'|'.join(FORMS)})(?:-\d)?): .*; its blickets are (?:one of (.*)|any (.*))\.$",
    re.MULTILINE,
)
_SIZED = re.compile(r"([\d, or]+) of the objects(?:, with any ([\d, or]+) of the others .*)?")
_TESTS = re.compile(r"up to (\d+) tests?\.")
_NOISE = re.compile(r"The light is wrong in (\S+) of all tests\.")
_SEEN = re.compile(
    r"^Test \d+: ([A-H ]+|nothing)\. The machine (lights up|stays dark)\.", re.MULTILINE
)


def read_conversation(messages: Sequence[str]) -> Conversation:
    """The conversation in messages: the opening, then replies and responses in turn."""
    found = [seen for message in messages[::2] for seen in _SEEN.finditer(message)]
    tests = [
        ("" if seen[1] == "nothing" else seen[1].replace(" ", ""), seen[2] == "lights up")
        for seen in found
    ]
    spec, examples = _read_opening(messages[0])
    if SHOWN in messages[0]:
        spec = replace(spec, tests=len(tests))
    return Conversation(spec, tuple(tests), examples)


@lru_cache(maxsize=1024)
def _read_opening(opening: str) -> tuple[GameSpec, Mapping[str, str]]:
    """The spec, and the rules that example machines demonstrate."""
    objects, limit, noise = (part.search(opening) for part in (_OBJECTS, _TESTS, _NOISE))
    assert objects is not None
    count = len(objects[1].split())
    tests, wrong = int(limit[1]) if limit else 0, float(noise[1]) if noise else 0.0
    spec = GameSpec(objects=count, tests=tests, noise=wrong)
    if NEW_MACHINE in opening:
        known = {
            name: rule
            for name, rule in itertools.product(EXAMPLES, (CONJUNCTIVE, DISJUNCTIVE))
            if _example_text(Example.of(name, rule)) in opening
        }
        kind: Literal["given", "not_given"] = "given" if known else "not_given"
        return replace(spec, hypotheses=DEFAULT_SIX, demonstrations=kind), known
    rules = [(_read_sizes(rule, sized), sets) for rule, sets, sized in _RULE.findall(opening)]
    if not any(sets for _, sets in rules):
        return replace(spec, rules=tuple(rule for rule, _ in rules)), {}
    listed: list[str] = []
    for rule, sets in rules:
        every = map(str, machines(count, rule))
        listed += [f"{rule}:{each}" for each in sets.split(", ")] if sets else every
    return replace(spec, hypotheses=tuple(listed)), {}


def _read_sizes(rule: str, text: str) -> str:
    """The rule with the numbers of blickets and inhibitors that its line states, if any."""
    found = _SIZED.fullmatch(text)
    if found is None or found[1].endswith("or more"):
        return rule
    sizes = "-".join(",".join(re.findall(r"\d", part)) for part in found.groups() if part)
    return f"{rule}:{sizes}"
