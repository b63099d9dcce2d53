"""Evidence that is drawn anew for every item.

The new machine, if it is disjunctive (a conjunctive machine is its mirror image, with placements
and lights complemented). Some objects are *open*: they were never on the machine when it stayed
dark. An open object must be a blicket if it was once the only open object of a lit test, and may
be one otherwise. One open object lights the machine alone, which rules out every machine that
needs more than one blicket, so the key does not depend on which kinds are thought possible. To
have the same numbers of lights and the same sizes of tests for both kinds, a test of one object
comes with a lit test of all objects but one, and two dark tests have complementary sizes; the
other tests come in pairs, one lit and one dark, whose sizes are complementary.

Every open object is in the same number of lit tests for all answers. Evidence in which pair counts
find the answer (the objects most often beside ruled-out ones, or least often beside open ones) is
mostly drawn again, so that such habits are right about as often as guesses.

Sets of objects are bit masks, as in `inference`.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from functools import cache

from trivium.benchmarks.blicket.inference import support
from trivium.benchmarks.blicket.inference.hypotheses import CONJUNCTIVE, DISJUNCTIVE
from trivium.benchmarks.blicket.inference.observer import Trial
from trivium.core.streams import Stream

Tests = list[Trial]
Answer = tuple[int, int]  # the objects that must be blickets, and those that may be
TRIES = 20  # of a pair of tests that differs from the others
# The share of evidence that is kept for each habit that is right, by the number of open objects.
# With three, pair counts determine the answer, and a lower share would leave hardly any.
KEPT = {3: 0.7, 4: 0.25}
EXAMPLE_OBJECTS = 7  # of each of the first two machines


def open_objects(objects: int) -> int:
    """How many objects single tests leave open."""
    return (objects - 1) // 2


def new_machine(objects: int, tests: int, form: str, stream: Stream) -> tuple[Tests, Answer]:
    """The tests of a machine of this form, in no order, and the answer that follows from them."""
    count = open_objects(objects)
    opened = (1 << count) - 1
    sure = 1 | stream.below(1 << count - 1) << 1
    while True:
        found = _draw(objects, tests, sure, stream)
        if found is None or stream.random() > _kept(found, objects, sure):
            continue
        if _decides(found, objects, sure):
            answer = sure, opened & ~sure
            return (found if form == DISJUNCTIVE else _mirror(found, objects)), answer


def _draw(objects: int, tests: int, sure: int, stream: Stream) -> Tests | None:
    """Tests of a disjunctive machine with this answer; None if the draw is of no use."""
    count = open_objects(objects)
    closed, opened = range(count, objects), (1 << count) - 1
    lit = [1, (1 << objects) - 1 & ~(1 << stream.below(objects))]
    size = count + stream.below(objects - 2 * count + 1)
    dark = [_sample(closed, size, stream), _sample(closed, objects - size, stream)]
    parts = stream.choice(_parts(count, tests // 2 - 2)[sure])
    # Every size can hold any number of open objects, so it says nothing about them.
    smallest, largest = max(2, count), min(objects - 2, objects - count + 1)
    for part in parts:
        for _ in range(TRIES):
            size = smallest + stream.below(largest - smallest + 1)
            shining = part | _sample(closed, size - part.bit_count(), stream)
            unlit = _sample(closed, objects - size, stream)
            if shining not in lit and unlit not in dark:
                break
        lit.append(shining)
        dark.append(unlit)
    ruled_out = 0
    for placed in dark:
        ruled_out |= placed
    # If the first object were in all lit tests, it alone might be the blicket of either kind.
    varied = not all(placed & 1 for placed in lit)
    if len({*lit, *dark}) < tests or ruled_out | opened != (1 << objects) - 1 or not varied:
        return None
    return [(placed, True) for placed in lit] + [(placed, False) for placed in dark]


@cache
def _parts(count: int, tests: int) -> dict[int, list[tuple[int, ...]]]:
    """For every answer, the sets of open objects that lit tests may have.

    Each open object is in the same number of tests for all answers (the first object in its own
    number), so counts reveal nothing. Of all such numbers, those with most choices are taken.
    """
    answers = [1 | rest << 1 for rest in range(1 << count - 1)]
    found: dict[tuple[int, int], dict[int, list[tuple[int, ...]]]] = defaultdict(
        lambda: {sure: [] for sure in answers}
    )
    for chosen in itertools.combinations_with_replacement(range(1, 1 << count), tests):
        first, *often = (sum(part >> number & 1 for part in chosen) for number in range(count))
        if len(set(often)) == 1:
            alone = {part for part in chosen if part & part - 1 == 0}
            found[first, often[0]][sum(alone | {1})].append(chosen)
    return max(found.values(), key=lambda by_answer: min(map(len, by_answer.values())))


def _decides(tests: Tests, objects: int, sure: int) -> bool:
    """Whether machines that need an odd number of blickets leave the answer as it is.

    Both for these tests and for their mirror image, so that it does not depend on the form.
    """
    wanted = sure, (1 << open_objects(objects)) - 1 & ~sure
    for form, shown in ((DISJUNCTIVE, tests), (CONJUNCTIVE, _mirror(tests, objects))):
        odd = support.of_parity(shown, objects)
        if odd and support.answer(odd | support.of_form(shown, objects, form), objects) != wanted:
            return False
    return True


def _sample(numbers: range, size: int, stream: Stream) -> int:
    return sum(1 << number for number in stream.sample(numbers, size))


def _mirror(tests: Tests, objects: int) -> Tests:
    """De Morgan: a disjunctive machine becomes a conjunctive one with the same blickets."""
    return [((1 << objects) - 1 & ~placed, not light) for placed, light in tests]


def _kept(tests: Tests, objects: int, sure: int) -> float:
    """The probability of keeping evidence, which falls with the number of habits that are right."""
    return float(
        KEPT[open_objects(objects)] ** sum(answer == sure for answer in _habits(tests, objects))
    )


def _habits(tests: Tests, objects: int) -> list[int]:
    """What habits call blickets, from counts and pair counts of the tests with the rarer light."""
    rows = _counts(tests, objects)
    beside = [sizes - often - others for often, sizes, others in rows]
    apart = [-others for _, _, others in rows]
    return [_highest(beside), _high(beside), _highest(apart), _high(apart)]


def _counts(tests: Tests, objects: int) -> list[tuple[int, int, int]]:
    """For each open object but the first: lit tests, their sizes, and open objects beside it.

    The test of one object is left out.
    """
    opened = (1 << open_objects(objects)) - 1
    lit = [placed for placed, light in tests if light and placed & placed - 1]
    rows = []
    for number in range(1, opened.bit_length()):
        own = [placed for placed in lit if placed >> number & 1]
        others = sum((placed & opened).bit_count() - 1 for placed in own)
        rows.append((len(own) or 1, sum(placed.bit_count() for placed in own), others))
    return rows


def _highest(values: Sequence[float]) -> int:
    """The first object, and those with the highest value."""
    return 1 | sum(2 << number for number, value in enumerate(values) if value == max(values))


def _high(values: Sequence[float]) -> int:
    """The first object, and those with a value above the mean."""
    mean = sum(values) / max(1, len(values))
    return 1 | sum(2 << number for number, value in enumerate(values) if value > mean + 1e-9)


COUNT_RULES = (
    "most often lit",
    "often lit",
    "in the smallest tests",
    "in small tests",
    "all",
    "one",
)


def count_rules(tests: Tests, objects: int) -> dict[str, int]:
    """What each count rule calls blickets of a disjunctive machine."""
    rows = _counts(tests, objects)
    often = [often for often, _, _ in rows]
    small = [-sizes / often for often, sizes, _ in rows]
    answers = _highest(often), _high(often), _highest(small), _high(small)
    opened = (1 << open_objects(objects)) - 1
    return dict(zip(COUNT_RULES, (*answers, opened, 1), strict=True))


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


Triple = tuple[int, int, int]
Half = tuple[list[Triple], list[Triple]]


def _draw_half(stream: Stream) -> Half:
    """A group of lit tests with equal counts; a group with more tests is likelier."""
    groups, weights = _halves()
    at = stream.below(weights[-1])
    return next(group for group, until in zip(groups, weights, strict=True) if at < until)


@cache
def _halves() -> tuple[list[Half], list[int]]:
    """Triples of lit tests with the same counts: those that all have 2 or 3, and the others."""
    found: dict[tuple[tuple[int, ...], ...], Half] = defaultdict(lambda: ([], []))
    lit = [0b11 | part for part in range(4, (1 << EXAMPLE_OBJECTS) - 4, 4)]
    for chosen in itertools.combinations(lit, 3):
        numbers = range(2, EXAMPLE_OBJECTS)
        counts = tuple(sum(part >> number & 1 for part in chosen) for number in numbers)
        if min(counts) > 0 and max(counts) < 3:
            sizes = tuple(sorted(part.bit_count() for part in chosen))
            found[counts, sizes][any(not part & 0b1100 for part in chosen)].append(chosen)
    groups = [found[key] for key in sorted(found) if all(found[key])]
    return groups, list(itertools.accumulate(len(hit) + len(missed) for hit, missed in groups))
