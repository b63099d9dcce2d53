"""Evidence in which counting fails: tests with equal counts and different answers.

Exchanging two objects between two tests with the same light changes neither how often an object
was on the machine nor how often the machine lit up with it. A group holds tests that such exchanges
turn into one another. An item draws a group, then one of the group's answers, all equally likely,
then tests with that answer: counts reveal the group, and nothing else.

Sets of objects are bit masks, as in `inference`.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from functools import cache

from trivium.benchmarks.blicket.inference.hypotheses import CONJUNCTIVE, DISJUNCTIVE, PARITY
from trivium.benchmarks.blicket.inference.observer import Trial
from trivium.benchmarks.blicket.inference.support import support_of
from trivium.core.streams import Stream, stream_key

Tests = tuple[Trial, ...]
Answer = tuple[int, int]  # the objects that must be blickets, and those that may be
# The possible kinds of machines: those that the prompt names, or more if it names none.
NAMED_KINDS = (DISJUNCTIVE, CONJUNCTIVE)
POSSIBLE_KINDS = (DISJUNCTIVE, CONJUNCTIVE, PARITY)
GROUPS = 16
EXCHANGES = 1500  # tried in each group
# The minimum number of answers of a group, by the number of objects.
MIN_ANSWERS = {3: 1, 4: 4, 5: 6, 6: 13, 7: 21, 8: 21}
EXAMPLE_OBJECTS = 6  # of each of the first two machines; with fewer, the counts reveal the form


@cache
def answers(
    objects: int, trials: int, form: str, kinds: tuple[str, ...], number: int
) -> tuple[tuple[Answer, tuple[Tests, ...]], ...]:
    """The answers of a group of tests of a machine of this form, each with its tests."""
    everything = (1 << objects) - 1
    named, kind = support_of(objects, NAMED_KINDS), support_of(objects, kinds)
    found: dict[Answer, list[Tests]] = defaultdict(list)
    for of_disjunctive in _group(objects, trials, number):
        tests = of_disjunctive
        if form == CONJUNCTIVE:
            # De Morgan: complementing both the placements and the lights turns a disjunctive
            # machine into a conjunctive one.
            tests = tuple((everything ^ placed, not light) for placed, light in of_disjunctive)
        if named.forms(named.possible(tests)) == [form]:
            found[kind.answer(kind.possible(tests))].append(tests)
    return tuple((answer, tuple(found[answer])) for answer in sorted(found))


@cache
def _group(objects: int, trials: int, number: int) -> tuple[Tests, ...]:
    """Tests of a disjunctive machine, all with the same counts, in a fixed order."""
    for attempt in itertools.count():
        stream = Stream(stream_key("matched evidence", objects, trials, number, attempt))
        group = _exchange(objects, trials, stream)
        named = support_of(objects, NAMED_KINDS)
        possible = (named.possible(tests) for tests in group)
        found = {named.answer(left) for left in possible if named.forms(left) == [DISJUNCTIVE]}
        # Very few or many tests have fewer answers, so the minimum falls with the attempts.
        if len(found) >= max(1, MIN_ANSWERS[objects] - attempt // 8):
            return group
    raise AssertionError


def _exchange(objects: int, trials: int, stream: Stream) -> tuple[Tests, ...]:
    """Random tests of a disjunctive machine, and those reached from them by exchanges.

    One or two objects are ruled out by dark tests of one object. The others may be blickets; which
    of them must be depends on which were on the machine together.
    """
    ruled_out = 2 if objects > 5 else 1
    others = (1 << objects - ruled_out) - 1
    dark = [1 << objects - number for number in range(1, ruled_out + 1)]
    lit: list[int] = []
    while not lit:
        lit = _deal(objects, trials - ruled_out, dark, stream)
        if not all(placed & others for placed in lit):
            lit = []
    found = {tuple(sorted(lit)): None}
    for _ in range(EXCHANGES):
        first, second = stream.below(len(lit)), stream.below(len(lit))
        give, take = lit[first] & ~lit[second], lit[second] & ~lit[first]
        # With four objects, there are too few tests of one size for enough different items.
        one_size = objects == 4 or lit[first].bit_count() == lit[second].bit_count()
        if not give or not take or not one_size:
            continue
        swap = _pick(give, stream) | _pick(take, stream)
        one, other = lit[first] ^ swap, lit[second] ^ swap
        if one & others and other & others and one not in lit and other not in lit:
            lit[first], lit[second] = one, other
            found[tuple(sorted(lit))] = None
    darkness = [(placed, False) for placed in dark]
    return tuple(tuple([(placed, True) for placed in each] + darkness) for each in sorted(found))


def _deal(objects: int, count: int, dark: list[int], stream: Stream) -> list[int]:
    """Different lit tests in which all objects occur equally often, or nearly; [] on failure."""
    # With one size, counts by size are equal too; five objects are too few for it.
    options = (3,) if objects > 5 else (2, 3) if objects > 3 else (1, 2)
    sizes = [stream.choice(options) for _ in range(count)]
    total = sum(sizes) + sum(placed.bit_count() for placed in dark)
    more = set(stream.sample(range(objects), total % objects))  # objects that occur once more
    cards = []
    for number in range(objects):
        often = total // objects + (number in more)
        often -= sum(placed >> number & 1 for placed in dark)
        cards += [1 << number] * often
    stream.shuffle(cards)
    dealt, start = [], 0
    for size in sizes:
        placed = 0
        for card in cards[start : start + size]:
            placed |= card
        if placed.bit_count() != size or placed in dealt:
            return []
        dealt.append(placed)
        start += size
    return dealt


def _pick(objects: int, stream: Stream) -> int:
    """A random object of a set."""
    options = [1 << number for number in range(objects.bit_length()) if objects >> number & 1]
    return options[stream.below(len(options))]


@cache
def example_machines() -> tuple[dict[str, tuple[Tests, ...]], ...]:
    """Groups of tests with equal counts that prove a conjunctive or disjunctive form, or neither.

    Objects 0 and 1 are in all three lit tests, and 2 and 3 in none of the three dark ones. A
    conjunctive machine needs 0 and 1, which a dark test with both rules out; a disjunctive machine
    lights up because of 2 or 3, which a lit test with neither rules out.
    """
    lit = _by_counts([0b11 | part for part in range(4, 64, 4)], True, 0b1100)
    dark = _by_counts([part for part in range(1, 64) if not part & 0b1100], False, 0b11)
    groups = []
    for (lit_counts, by_hit), (dark_counts, by_cover) in itertools.product(lit, dark):
        in_all_lit = [number for number, sizes in enumerate(lit_counts) if len(sizes) == 3]
        in_no_dark = [number for number, sizes in enumerate(dark_counts) if not sizes]
        if (in_all_lit, in_no_dark) == ([0, 1], [2, 3]):
            groups.append(
                {
                    CONJUNCTIVE: _joined(by_hit[False], by_cover[False]),
                    DISJUNCTIVE: _joined(by_hit[True], by_cover[True]),
                    "open": _joined(by_hit[True], by_cover[False]),
                }
            )
    return tuple(groups)


Counts = tuple[tuple[int, ...], ...]  # for each object, the sizes of the tests that it is in


def _by_counts(
    options: list[int], light: bool, part: int
) -> list[tuple[Counts, dict[bool, list[Tests]]]]:
    """Triples of tests with one light, grouped by counts and by whether they cover the part.

    Lit tests cover it if each has an object of the part, dark tests if one of them has all of it.
    Only counts that occur with both are returned.
    """
    found: dict[Counts, dict[bool, list[Tests]]] = defaultdict(lambda: defaultdict(list))
    for chosen in itertools.combinations(options, 3):
        counts = tuple(
            tuple(sorted(placed.bit_count() for placed in chosen if placed >> number & 1))
            for number in range(EXAMPLE_OBJECTS)
        )
        hit = all(placed & part for placed in chosen)
        full = any(placed & part == part for placed in chosen)
        found[counts][hit if light else full].append(tuple((placed, light) for placed in chosen))
    return [(counts, by) for counts, by in sorted(found.items()) if len(by) == 2]


def _joined(lit: list[Tests], dark: list[Tests]) -> tuple[Tests, ...]:
    return tuple(one + other for one in lit for other in dark)
