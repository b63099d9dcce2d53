"""A player that follows a table of recorded games and reads only how many objects there are.

The games are those of another seed, played by the best next test. After the same tests and lights,
the table makes the test that was most frequent, or gives the most frequent answer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from typing import NamedTuple

from trivium.benchmarks.blicket.game.answer import write_answer, write_test
from trivium.benchmarks.blicket.game.generate import GameAnswer, GameItem, Tests, generate
from trivium.benchmarks.blicket.game.render import read_conversation
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.benchmarks.blicket.inference.budget import budget_planner
from trivium.benchmarks.blicket.inference.hypotheses import letters
from trivium.core.benchmark import Turn
from trivium.core.streams import stream_key

GAMES = 2_000
SEED = stream_key("recorded games") % 2**32
Seen = tuple[int, Tests]  # the number of objects, and the tests so far


class Table(NamedTuple):
    """How often each test and each answer followed."""

    tests: dict[Seen, Counter[str]]
    answers: dict[Seen, Counter[GameAnswer]]


def record(item: GameItem) -> Tests:
    """The tests of a game in which every test divides the possible machines most evenly."""
    planner = budget_planner(item.space)
    # The machines of a mixed game are equally likely and all different, so places are kept.
    place = planner.machines.firsts.tolist().index(item.space.hypotheses.index(item.machine))
    tests: list[tuple[str, bool]] = []
    possible = planner.every
    while len(tests) < item.spec.tests and possible.bit_count() > 1:
        placed = planner.tests(possible)[0]
        light = bool(planner.lit[placed] >> place & 1)
        possible &= planner.lit[placed] if light else ~planner.lit[placed]
        tests.append((letters(placed), light))
    return tuple(tests)


@cache
def recorded() -> Table:
    """The table, learned when it is first used."""
    table = Table(defaultdict(Counter), defaultdict(Counter))
    for item in generate(GameSpec(mixed=True), SEED, 0, GAMES):
        tests, answer = record(item), GameAnswer.of(item.machine)
        for made in range(len(tests) + 1):
            seen = (item.spec.objects, tests[:made])
            table.answers[seen][answer] += 1
            if made < len(tests):
                table.tests[seen][tests[made][0]] += 1
    return table


def reply(turn: Turn) -> str:
    """The move of the table; without one, the answer that was most frequent until then."""
    seen, table = read_conversation(turn.messages), recorded()
    key = (seen.spec.objects, seen.tests)
    if seen.left > 0 and key in table.tests:
        return write_test(table.tests[key].most_common(1)[0][0])
    for made in range(len(seen.tests), -1, -1):
        known = (seen.spec.objects, seen.tests[:made])
        if known in table.answers:
            return write_answer(table.answers[known].most_common(1)[0][0])
    return write_answer(GameAnswer("A", "disjunctive"))
