"""Evidence that is drawn anew for every item, in which counts leave several answers.

The new machine, if it is disjunctive (a conjunctive machine is its mirror image, with placements
and lights complemented). Some objects are *open*: they were never on the machine when it stayed
dark. An open object must be a blicket if it was once the only open object of a lit test, and may
be one otherwise. The other objects are *closed*.

The first open object lights the machine alone, which rules out every machine that needs more than
one blicket, so the key does not depend on which kinds are thought possible. The other lit tests
are one of all objects but a closed one, and those that decide: they have one more object than are
closed, and are drawn for several answers at once, so that each object is in as many of them
whichever of these answers is right; and each open object but the first must be a blicket in equally
many answers. All other tests are drawn before the answer too.

With six objects or more, four are open, and each of them is beside as many other open ones with
every answer as well. So no count of an object, of its tests, their sizes and the open objects
beside it, depends on the answer: only the objects that were together in one test decide. With fewer
objects three are open; then the counts of tests are equal, but those of the objects beside each one
tell the answer.

From nine objects on, both kinds of machine have the same numbers of lights and the same sizes of
tests: the test of one object comes with that of all but one, two dark tests have complementary
sizes, and each lit test that decides comes with a dark one of the complementary size. Fewer objects
have too few closed ones for that (a dark test must be larger than half of the machine).

The order of the tests is drawn for all of these answers too. In a random order, an object that was
apart from the others is more often the first or the last to be mentioned than they are, so which
objects were together shows in the ranks of their places. The ranks that an item has are drawn from
those that some orders of the tests have with every answer. The test of all objects but one comes
last, because objects with the same last line were together.

Sets of objects are bit masks, as in `inference`.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import comb
from typing import NamedTuple

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
TRIES = 10  # of tests with given counts, which may be impossible
ORDERS = 384  # of tests, from which one is drawn
EXAMPLE_OBJECTS = 6  # of each of the first two machines


class Design(NamedTuple):
    """The size of a new machine."""

    objects: int
    open: int  # objects that single tests leave open
    deciding: int  # lit tests that decide

    @property
    def closed(self) -> int:
        return self.objects - self.open

    @property
    def matched(self) -> bool:
        """Whether both kinds of machine have the same lights and sizes."""
        return self.closed > self.open

    def fill(self, part: int) -> int:
        """How many closed objects a deciding test with this part of the open ones has."""
        return max(0, self.closed + 1 - part.bit_count())


def design(objects: int, tests: int) -> Design:
    """The design of a machine with at most this number of tests."""
    if objects < 6:
        return Design(objects, 3, 2)
    return Design(objects, 4, min(tests // 2 - 2, 6 if objects < 9 else 8))


def new_machine(objects: int, tests: int, form: str, stream: Stream) -> tuple[Printed, Answer]:
    """The tests of a machine of this form as printed, and the answer that follows from them."""
    size = design(objects, tests)
    shared = _shared(size, stream)
    printed = None
    while printed is None:
        # Tests for every answer, so that no answer makes counts more likely than another one does.
        found = _lit(size, stream.choice(_parts(size)), stream)
        if found is not None:
            shown = [shared + [(placed, True) for placed in found[sure]] for sure in sorted(found)]
            if form != DISJUNCTIVE:
                shown = [_mirror(each, objects) for each in shown]
            right = stream.below(len(shown))
            printed = _printed(shown, right, size, stream)
            sure = sorted(found)[right]
    return printed, (sure, (1 << size.open) - 1 & ~sure)


def _printed(shown: Sequence[Tests], right: int, size: Design, stream: Stream) -> Printed | None:
    """The right tests in an order in which the open objects have ranks that all answers allow.

    The first open object is left out, since a test of it alone shows that it is a blicket.
    """
    words = word_block(stream.below(2**32), 0, ORDERS + size.objects, len(shown[right]))
    sizes = [placed.bit_count() for placed, _ in shown[right]]
    if size.objects - 1 in sizes and size.closed:
        # This test has all open objects, so sharing the line of a last mention says nothing.
        words[:ORDERS, sizes.index(size.objects - 1)] = np.iinfo(words.dtype).max
    orders = words[:ORDERS].argsort(axis=1, kind="stable")
    places = words[ORDERS:].astype(np.int64) >> 20  # of each object within each test
    ranks = _ranks(orders, places[1 : size.open], shown)
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


_EARLY, _LATE = np.int32(-1), np.int32(1 << 30)


def _ranks(orders: Ints, places: Ints, shown: Sequence[Tests]) -> Ints:
    """The ranks of the open objects by first, last and mean mention, coded as [answer, order].

    Each bit of a code says which of two objects comes first by its first, second, last but one,
    last or mean mention, when the tests for an answer are printed in an order.
    """
    placed = np.array([[placed for placed, _ in tests] for tests in shown]).T
    there = (placed[:, :, None] >> np.arange(1, len(places) + 1) & 1) > 0  # (test, answer, object)
    summed, count = there.transpose(2, 1, 0).astype(np.float64), there.sum(axis=0)[..., None]
    means = []
    # A mention's position is in names from the start, times 4096. A line has words besides its
    # names, in all as long as five names in two_shot, and as two in freeform.
    for words in (5, 2):
        lengths = np.array([placed.bit_count() + words for placed, _ in shown[0]])
        begins = np.empty_like(orders)
        ends = lengths[orders].cumsum(axis=1)
        np.put_along_axis(begins, orders, ends - lengths[orders], axis=1)
        within = (places * lengths).T[:, :, None]
        at = ((begins.T << 12)[:, None] + within).astype(np.int32)  # (test, object, order)
        means.append((summed @ at.transpose(1, 0, 2)).transpose(1, 0, 2) / count)
    # A test without the object comes after all others, or before them.
    after = np.where(there, _EARLY, _LATE)[..., None]
    before = np.where(there, _LATE, _EARLY)[..., None]
    shape = *there.shape[1:], len(orders)
    first, second, early, later = (np.full(shape, _LATE) for _ in range(4))  # last two: scratch
    last, last_but_one, late, earlier = (np.full(shape, _EARLY) for _ in range(4))
    for test in np.flatnonzero(there.any(axis=(1, 2))).tolist():  # all at once exceed the cache
        np.maximum(at[test], after[test], out=early)
        np.minimum(at[test], before[test], out=late)
        np.minimum(second, np.maximum(first, early, out=later), out=second)
        np.minimum(first, early, out=first)
        np.maximum(last_but_one, np.minimum(last, late, out=earlier), out=last_but_one)
        np.maximum(last, late, out=last)
    code = np.zeros(first.shape[::2], dtype=np.int32)
    for values in (first, second, last_but_one, last, *means):
        for a, b in itertools.combinations(range(len(places)), 2):
            code <<= 1
            code |= values[:, a] < values[:, b]
    return code


def _shared(size: Design, stream: Stream) -> Tests:
    """The tests that do not depend on the answer: one or two lit ones and all dark ones."""
    every, count = (1 << size.objects) - 1, size.deciding + 2
    while True:
        lit = [1]
        if size.closed:
            lit.append(every & ~(1 << size.open + stream.below(size.closed)))
        if size.matched:
            first = size.open + stream.below(size.closed - size.open + 1)
            sizes = [first, size.objects - first, *[size.open - 1] * size.deciding]
            dark = [stream.choice(_closed_sets(size, each)) for each in sizes]
        else:
            sets = [each for n in range(1, size.closed + 1) for each in _closed_sets(size, n)]
            dark = stream.sample(sets, min(count, len(sets)))
        tests = [(placed, True) for placed in lit] + [(placed, False) for placed in dark]
        if len(set(dark)) == len(dark) and _excludes_parity(tests, size):
            return tests


def _excludes_parity(tests: Tests, size: Design) -> bool:
    """Whether a machine that needs an odd number of blickets has open objects only, in both forms.

    Then it has all objects that must be blickets, and the answer is the same with such machines.
    """
    others = support.with_any_of(size.objects, (1 << size.objects) - (1 << size.open))
    both = tests, _mirror(tests, size.objects)
    return not any(support.of_rule(shown, size.objects, PARITY) & others for shown in both)


def _lit(
    size: Design, by_answer: Mapping[int, list[Parts]], stream: Stream
) -> dict[int, list[int]] | None:
    """Deciding tests for each answer, with equal counts; None if none are found for one of them."""
    model = stream.choice(by_answer[stream.choice(sorted(by_answer))])
    drawn = [stream.choice(_closed_sets(size, size.fill(part))) for part in model]
    closed = range(size.open, size.objects)
    counts = {number: sum(placed >> number & 1 for placed in drawn) for number in closed}
    found: dict[int, list[int]] = {}
    for sure, choices in by_answer.items():
        for _ in range(TRIES):
            parts = stream.shuffled(stream.choice(choices))
            placed = _fill(parts, [*map(size.fill, parts)], counts, stream)
            if len(set(placed)) == len(model):
                found[sure] = placed
                break
        else:
            return None
    return found


def _fill(
    parts: Sequence[int], sizes: Sequence[int], counts: dict[int, int], stream: Stream
) -> list[int]:
    """Deciding tests: the open objects `parts`, each with a number of closed ones from `sizes`.

    Every closed object is in as many tests as `counts` says; [] if the draw gets stuck.
    """
    left, placed = dict(counts), []
    for tests_left, part, size in zip(range(len(parts), 0, -1), parts, sizes, strict=True):
        chosen = [number for number, count in left.items() if count == tests_left]  # in all of them
        optional = [number for number, count in left.items() if 0 < count < tests_left]
        missing = size - len(chosen)
        if not 0 <= missing <= len(optional):
            return []
        chosen += stream.sample(optional, missing)
        for number in chosen:
            left[number] -= 1
        placed.append(part | sum(1 << number for number in chosen))
    return placed


@cache
def _closed_sets(size: Design, count: int) -> list[int]:
    """All sets of this many closed objects."""
    bits = [1 << number for number in range(size.open, size.objects)]
    return [sum(chosen) for chosen in itertools.combinations(bits, count)]


def _counts(parts: Sequence[int], opened: int) -> Parts:
    """For each open object, how many sets have it and, if four are open, their other objects."""
    with_each = [[part for part in parts if part >> number & 1] for number in range(opened)]
    beside = [sum(part.bit_count() - 1 for part in having) for having in with_each]
    return (*map(len, with_each), *(beside if opened > 3 else ()))


@cache
def _parts(size: Design) -> list[dict[int, list[Parts]]]:
    """Groups of answers that counts cannot tell apart; for each, the open objects of its tests.

    Only the largest groups. The first open object is not in all deciding tests: it alone might then
    be the blicket of a machine of either form.
    """
    found: dict[Parts, dict[int, list[Parts]]] = defaultdict(lambda: defaultdict(list))
    # Without closed objects, a test of the first open object alone would be there twice.
    some = [part for part in range(1, (1 << size.open) - 1) if size.closed or part > 1]
    # Tests differ: a part is used as often as closed objects can complete it differently.
    limits = {part: comb(size.closed, size.fill(part)) for part in some}
    for chosen in itertools.combinations_with_replacement(some, size.deciding):
        alone = {part for part in chosen if part & part - 1 == 0}
        if all(chosen.count(part) <= limits[part] for part in chosen):
            sure = sum(alone | {1})  # the objects that must be blickets: the answer
            found[_counts(chosen, size.open)][sure].append(chosen)

    def is_balanced(answers: Iterable[int]) -> bool:
        return len({sum(sure >> n & 1 for sure in answers) for n in range(1, size.open)}) == 1

    kept = [
        found[key] for key in sorted(found) if key[0] < size.deciding and is_balanced(found[key])
    ]
    most = max(map(len, kept))
    return [answers for answers in kept if len(answers) == most]


def answers_left(size: Design, parts: Sequence[int] = ()) -> list[int]:
    """Every answer that counts of the open objects allow: the set that must be blickets.

    `parts` are the open objects of each deciding test; without them, the answers of some item.
    """
    counts = _counts(parts, size.open)
    for answers in _parts(size):
        (model, *_), *_ = answers.values()
        if not parts or _counts(model, size.open) == counts:
            return sorted(answers)
    return []


def _mirror(tests: Tests, objects: int) -> Tests:
    """De Morgan: a disjunctive machine becomes a conjunctive one with the same blickets."""
    return [((1 << objects) - 1 & ~placed, not light) for placed, light in tests]


def example(role: str, stream: Stream) -> Tests:
    """The tests of an example machine that proves its form, or with the role "open" neither form.

    Objects 0 and 1 are in both lit tests, and 2 and 3 in no dark one. A conjunctive machine needs
    0 and 1, which a dark test with both rules out; a disjunctive machine lights up because of 2 or
    3, which a lit test with neither rules out. Every object is in as many lit and dark tests
    whatever the role is, and all lit tests have one size, as have all dark ones.
    """
    lit = _halves([2, 3], role == CONJUNCTIVE, stream)
    dark = _halves([0, 1], role == DISJUNCTIVE, stream)
    return [(0b11 | part, True) for part in lit] + [(part, False) for part in dark]


def _halves(pair: list[int], together: bool, stream: Stream) -> list[int]:
    """Two sets of a pair of objects and objects 4 and 5, with the pair together or apart."""
    (a, b), (c, d) = pair, stream.shuffled([4, 5])
    sets = ((a, b), (c, d)) if together else ((a, c), (b, d))
    return [1 << first | 1 << second for first, second in sets]
