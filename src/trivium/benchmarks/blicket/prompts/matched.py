"""Evidence that is drawn anew for every item, in which counts say nothing about the answer.

The new machine, if it is disjunctive (a conjunctive machine is its mirror image, with placements
and lights complemented). Four objects are *open*: they were never on the machine when it stayed
dark. An open object must be a blicket if it was once the only open object of a lit test, and may
be one otherwise.

The first open object lights the machine alone, which rules out every machine that needs more than
one blicket, so the key does not depend on which kinds are thought possible. To have the same
numbers of lights and the same sizes of tests for both kinds, a test of one object comes with a lit
test of all objects but one, two dark tests have complementary sizes, and the other tests come in
pairs, one lit and one dark, whose sizes are complementary.

The lit tests of the pairs have one size. They are drawn for three or more answers at once, so that
each object is in as many of them, and each open object is beside as many other open ones, whichever
of these answers is right; and each open object but the first must be a blicket in equally many of
them. All other tests are drawn before the answer too. So no count of an object, of its tests, their
sizes and the open objects beside it, depends on the answer: only the objects that were together in
one test decide.

The order of the tests is drawn for all of these answers too. In a random order, an object that was
apart from the others is more often the first or the last to be mentioned than they are, so which
objects were together shows in the ranks of their places. The ranks that an item has are drawn from
those that some orders of the tests have with every answer.

Sets of objects are bit masks, as in `inference`.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.blicket.inference import support
from trivium.benchmarks.blicket.inference.hypotheses import CONJUNCTIVE, DISJUNCTIVE, PARITY
from trivium.benchmarks.blicket.inference.observer import Trial
from trivium.core.streams import Stream, word_block

Tests = list[Trial]
Printed = list[tuple[list[int], bool]]  # the objects of each test in printed order, and the light
Ints = NDArray[np.int64]
Answer = tuple[int, int]  # the objects that must be blickets, and those that may be
Parts = tuple[int, ...]  # sets of objects, one for each lit test
OPEN = 4  # objects that single tests leave open
MIN_ANSWERS = 3  # that have the same counts
LIT_SIZE = 6  # objects of a lit test that decides
TRIES = 10  # of tests with given counts, which may be impossible
ORDERS = 96  # of tests, from which one is drawn
EXAMPLE_OBJECTS = 7  # of each of the first two machines
EXAMPLE_LIT = 4  # lit tests of each; with three, a table of structures knows half of them


def new_machine(objects: int, tests: int, form: str, stream: Stream) -> tuple[Printed, Answer]:
    """The tests of a machine of this form as printed, and the answer that follows from them."""
    pairs = tests // 2 - 2
    shared = _shared(objects, pairs, stream)
    by_answer = stream.choice([*_parts(pairs).values()])
    printed = None
    while printed is None:
        # Tests for every answer, so that no answer makes counts more likely than another one does.
        found = _lit(objects, by_answer, stream)
        if found is not None:
            shown = [shared + [(placed, True) for placed in found[sure]] for sure in sorted(found)]
            if form != DISJUNCTIVE:
                shown = [_mirror(each, objects) for each in shown]
            right = stream.below(len(shown))
            printed = _printed(shown, right, objects, stream)
            sure = sorted(found)[right]
    return printed, (sure, (1 << OPEN) - 1 & ~sure)


def _printed(shown: Sequence[Tests], right: int, objects: int, stream: Stream) -> Printed | None:
    """The right tests in an order in which the open objects have ranks that all answers allow.

    The first open object is left out, since a test of it alone shows that it is a blicket.
    """
    words = word_block(stream.below(2**32), 0, ORDERS + objects, len(shown[right]))
    orders = words[:ORDERS].argsort(axis=1, kind="stable")
    places = words[ORDERS:].astype(np.int64) >> 20  # of each object within each test
    ranks = _ranks(orders, places[1:OPEN], shown)
    shared = [*set.intersection(*map(set, ranks.tolist()))]
    if not shared:
        return None
    chosen = orders[(ranks[right] == stream.choice(sorted(shared))).argmax()].tolist()
    return [
        (sorted(_numbers(shown[right][at][0]), key=places[:, at].__getitem__), shown[right][at][1])
        for at in chosen
    ]


def _numbers(placed: int) -> list[int]:
    return [number for number in range(placed.bit_length()) if placed >> number & 1]


def _ranks(orders: Ints, places: Ints, shown: Sequence[Tests]) -> Ints:
    """A number for the ranks of the unclear objects by first, last and mean mention.

    For the tests of each answer, in each order of them.
    """
    # About as long as a test is in a text, in fives of characters.
    lengths = np.array([3 * placed.bit_count() + 7 for placed, _ in shown[0]])
    begins = np.empty_like(orders)
    ends = lengths[orders].cumsum(axis=1)
    np.put_along_axis(begins, orders, ends - lengths[orders], axis=1)
    at = (begins << 12) + (places * lengths)[:, None]
    placed = np.array([[placed for placed, _ in tests] for tests in shown])
    there = (placed[:, None] >> np.arange(1, OPEN)[:, None] & 1)[:, :, None] > 0
    first = np.where(there, at, 1 << 30).min(axis=3)
    last = np.where(there, at, -1).max(axis=3)
    mean = np.where(there, at, 0).sum(axis=3) / there.sum(axis=3)
    code = np.zeros(first.shape[::2], dtype=np.int64)
    for values in (first, last, mean):
        for one, two in itertools.combinations(range(OPEN - 1), 2):
            code = 2 * code + (values[:, one] < values[:, two])
    return code


def _shared(objects: int, pairs: int, stream: Stream) -> Tests:
    """The tests that do not depend on the answer: two lit ones and all dark ones."""
    every, closed = (1 << objects) - 1, objects - OPEN
    while True:
        one = OPEN + stream.below(2 * closed - objects + 1)
        sizes = [one, objects - one, *[objects - LIT_SIZE] * pairs]
        dark = [stream.choice(_closed_sets(objects, each)) for each in sizes]
        lit = [1, every & ~(1 << OPEN + stream.below(closed))]
        tests = [(placed, True) for placed in lit] + [(placed, False) for placed in dark]
        if len(set(dark)) == len(dark) and _excludes_parity(tests, objects):
            return tests


def _excludes_parity(tests: Tests, objects: int) -> bool:
    """Whether a machine that needs an odd number of blickets has open objects only, in both forms.

    Then it has all objects that must be blickets, and the answer is the same with such machines.
    """
    closed = (1 << objects) - (1 << OPEN)
    others = support.with_any_of(objects, closed)
    both = tests, _mirror(tests, objects)
    return not any(support.of_rule(shown, objects, PARITY) & others for shown in both)


def _lit(
    objects: int, by_answer: dict[int, list[Parts]], stream: Stream
) -> dict[int, list[int]] | None:
    """Lit tests for every answer with the same counts; None if an answer has none."""
    model = stream.choice(by_answer[stream.choice(sorted(by_answer))])
    drawn = [stream.choice(_closed_sets(objects, LIT_SIZE - part.bit_count())) for part in model]
    closed = range(OPEN, objects)
    counts = {number: sum(placed >> number & 1 for placed in drawn) for number in closed}
    found: dict[int, list[int]] = {}
    for sure, choices in by_answer.items():
        for _ in range(TRIES):
            placed = _fill(stream.shuffled(stream.choice(choices)), counts, stream)
            if len(set(placed)) == len(model):
                found[sure] = placed
                break
        else:
            return None
    return found


def _fill(parts: Sequence[int], counts: dict[int, int], stream: Stream) -> list[int]:
    """Lit tests with these open objects and these counts of the others; [] if stuck."""
    left, placed = dict(counts), []
    for tests, part in zip(range(len(parts), 0, -1), parts, strict=True):
        chosen = [number for number, count in left.items() if count == tests]
        free = [number for number, count in left.items() if 0 < count < tests]
        more = LIT_SIZE - part.bit_count() - len(chosen)
        if not 0 <= more <= len(free):
            return []
        chosen += stream.sample(free, more)
        for number in chosen:
            left[number] -= 1
        placed.append(part | sum(1 << number for number in chosen))
    return placed


@cache
def _closed_sets(objects: int, size: int) -> list[int]:
    """All sets of this size without open objects."""
    bits = [1 << number for number in range(OPEN, objects)]
    return [sum(chosen) for chosen in itertools.combinations(bits, size)]


def _counts(parts: Parts) -> Parts:
    """In how many sets each open object is, and how many others are beside it in all."""
    with_each = [[part for part in parts if part >> number & 1] for number in range(OPEN)]
    beside = (sum(part.bit_count() - 1 for part in own) for own in with_each)
    return (*map(len, with_each), *beside)


@cache
def _parts(tests: int) -> dict[Parts, dict[int, list[Parts]]]:
    """The open objects of lit tests for each of some answers, in groups with the same counts.

    The first open object is not in all tests: it alone might then be the blicket of a machine of
    either form.
    """
    found: dict[Parts, dict[int, list[Parts]]] = defaultdict(lambda: defaultdict(list))
    for chosen in itertools.combinations_with_replacement(range(1, 1 << OPEN), tests):
        alone = {part for part in chosen if part & part - 1 == 0}
        found[_counts(chosen)][sum(alone | {1})].append(chosen)

    def is_balanced(answers: Sequence[int]) -> bool:
        often = {sum(sure >> number & 1 for sure in answers) for number in range(1, OPEN)}
        return len(answers) >= MIN_ANSWERS and len(often) == 1

    return {
        key: found[key] for key in sorted(found) if key[0] < tests and is_balanced([*found[key]])
    }


def share_by_counts(tests: int) -> float:
    """How often a guess among the answers that counts leave is right."""
    return fmean(1 / len(answers) for answers in _parts(tests // 2 - 2).values())


def answers_left(parts: Sequence[int]) -> list[int]:
    """The sets that may be those that must be blickets, according to counts of the open objects."""
    return sorted(_parts(len(parts)).get(_counts(tuple(parts)), ()))


def _mirror(tests: Tests, objects: int) -> Tests:
    """De Morgan: a disjunctive machine becomes a conjunctive one with the same blickets."""
    return [((1 << objects) - 1 & ~placed, not light) for placed, light in tests]


def example(role: str, stream: Stream) -> Tests:
    """The tests of an example machine that proves its form, or with the role "open" neither form.

    Objects 0 and 1 are in all lit tests, and 2 and 3 in no dark one. A conjunctive machine needs
    0 and 1, which a dark test with both rules out; a disjunctive machine lights up because of 2 or
    3, which a lit test with neither rules out. Counts of objects and sizes of tests
    do not depend on the role.
    """
    hit, missed = _draw_half(stream)
    lit = stream.choice(missed if role == CONJUNCTIVE else hit)
    hit, missed = _draw_half(stream)
    mirrored = stream.choice(missed if role == DISJUNCTIVE else hit)
    swapped = [part >> 2 & 0b11 | (part & 0b11) << 2 | part & ~0b1111 for part in mirrored]
    return [(part, True) for part in lit] + _mirror([(p, True) for p in swapped], EXAMPLE_OBJECTS)


Half = tuple[list[Parts], list[Parts]]


def _draw_half(stream: Stream) -> Half:
    """A group of lit tests with equal counts; a group with more tests is likelier."""
    groups, weights = _halves()
    at = stream.below(weights[-1])
    return next(group for group, until in zip(groups, weights, strict=True) if at < until)


@cache
def _halves() -> tuple[list[Half], list[int]]:
    """Lit tests with the same counts, in groups: those that all have 2 or 3, and the others."""
    found: dict[tuple[tuple[int, ...], ...], Half] = defaultdict(lambda: ([], []))
    lit = [0b11 | part for part in range(4, (1 << EXAMPLE_OBJECTS) - 4, 4)]
    for chosen in itertools.combinations(lit, EXAMPLE_LIT):
        numbers = range(2, EXAMPLE_OBJECTS)
        counts = tuple(sum(part >> number & 1 for part in chosen) for number in numbers)
        if min(counts) > 0 and max(counts) < EXAMPLE_LIT:
            sizes = tuple(sorted(part.bit_count() for part in chosen))
            found[counts, sizes][any(not part & 0b1100 for part in chosen)].append(chosen)
    groups = [found[key] for key in sorted(found) if all(found[key])]
    return groups, list(itertools.accumulate(len(hit) + len(missed) for hit, missed in groups))
