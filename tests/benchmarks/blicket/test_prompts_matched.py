"""Matched evidence: one key for all kinds of machines, counts that say nothing, new structures."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.benchmarks.blicket.beliefs import possible
from trivium.benchmarks import load_task
from trivium.benchmarks.blicket.inference import support
from trivium.benchmarks.blicket.inference.hypotheses import make_space
from trivium.benchmarks.blicket.inference.observer import posterior
from trivium.benchmarks.blicket.prompts import PROMPTS, matched, solvers
from trivium.benchmarks.blicket.prompts.audit import machine_structure
from trivium.benchmarks.blicket.prompts.evidence import ideal_answer, read_page
from trivium.benchmarks.blicket.prompts.generate import PromptItem
from trivium.benchmarks.blicket.prompts.spec import PromptSpec, PromptView
from trivium.core.dialogue import attempt
from trivium.core.errors import UserError
from trivium.core.streams import Stream
from trivium.thresholds.search import make_axis

FOUR = PROMPTS.presets["four-conditions"]
VIEWS = [PromptView(), PromptView("two_shot"), PromptView(reply="lines")]
HABITS = [name for name, each in PROMPTS.solvers.items() if each.role == "shortcut"]
CELLS = list(itertools.product(("given", "not_given"), ("disjunctive", "conjunctive")))


def keys(item: PromptItem) -> set[tuple[frozenset[str], frozenset[str]]]:
    """The answers about objects in every space of kinds with disjunctive and conjunctive machines.

    By plain enumeration: the other kinds are parity and at least 2, 3 or 4 blickets.
    """
    names, tests = item.new.objects, item.new.tests
    on = np.array([[name in placed for name in names] for placed, _ in tests], dtype=int)
    lit = np.array([light for _, light in tests])[:, None]
    sets = np.array(list(itertools.product((0, 1), repeat=len(names)))[1:])
    number, size = on @ sets.T, sets.sum(axis=1)
    fits = {
        "disjunctive": ((number > 0) == lit).all(axis=0),
        "conjunctive": ((number == size) == lit).all(axis=0) & (size >= 2),
        "parity": ((number % 2 == 1) == lit).all(axis=0),
        **{f"at least {k}": ((number >= k) == lit).all(axis=0) & (size >= k) for k in (2, 3, 4)},
    }
    assert fits[item.form].any()
    assert not (fits["disjunctive"].any() and fits["conjunctive"].any())
    found = set()
    others = list(fits)[2:]
    for count in range(len(others) + 1):
        for more in itertools.combinations(others, count):
            kinds = ("disjunctive", "conjunctive", *more)
            left = sets[np.any([fits[kind] for kind in kinds], axis=0)]
            sure = frozenset(np.array(names)[left.all(axis=0)].tolist())
            found.add((sure, frozenset(np.array(names)[left.any(axis=0)].tolist()) - sure))
    return found


def changed_keys(cell: tuple[str, str], count: int) -> int:
    """How many items of a cell have another key in some space of kinds."""
    spec = PromptSpec(*cell)  # type: ignore[arg-type]
    changed = 0
    for item in PROMPTS.generate(spec, 31, 0, count):
        answer = frozenset(item.answer.blickets), frozenset(item.answer.maybe)
        forms = [{form for form, _ in possible(machine)} for machine in item.machines[:2]]
        if item.hypotheses == "given":
            assert item.answer.like == item.known[forms.index({item.form})]
        else:
            # Kinds that come on top leave open what these two leave open.
            assert forms == [{"conjunctive", "disjunctive"}] * 2
            assert item.answer.like == "unsure"
        changed += keys(item) != {answer}
    return changed


@pytest.mark.parametrize("cell", CELLS)
def test_the_key_is_the_same_whatever_kinds_are_possible(cell: tuple[str, str]) -> None:
    assert changed_keys(cell, 60) == 0


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS)
def test_the_key_is_the_same_in_a_thousand_items(cell: tuple[str, str]) -> None:
    assert changed_keys(cell, 1000) == 0


LADDER = [
    (3, 16, 3),
    (4, 16, 5),
    (5, 16, 7),
    (6, 14, 10),
    (6, 18, 11),
    (7, 16, 15),
    (8, 16, 16),
    (9, 14, 14),
    (9, 16, 16),
    (9, 20, 20),
    (11, 16, 16),
    (12, 18, 18),
]


@pytest.mark.parametrize(("objects", "tests", "shown"), LADDER)
def test_every_rung_has_one_key(objects: int, tests: int, shown: int) -> None:
    for item in PROMPTS.generate(replace(FOUR, objects=objects, tests=tests), 1, 0, 12):
        assert len(item.new.tests) == len({frozenset(on) for on, _ in item.new.tests}) == shown
        assert keys(item) == {(frozenset(item.answer.blickets), frozenset(item.answer.maybe))}
        assert ideal_answer(item.machines, item.named) == item.answer


def test_a_ladder_for_thresholds() -> None:
    """Objects from the paper's number to twelve, and all tests, with a floor below the ceiling."""
    task = load_task("blicket_prompts")
    objects = make_axis(task, "objects").values
    assert (objects[0], objects[-1]) == (3, 12)
    assert {5, 10} < set(objects)
    assert list(objects) == sorted(objects)
    assert make_axis(task, "tests").values == (16, 20)
    assert not PROMPTS.easier_with_more


@pytest.mark.parametrize(("objects", "tests"), [(9, 14), (10, 16), (12, 18)])
def test_both_kinds_have_the_same_lights_and_sizes(objects: int, tests: int) -> None:
    """Exactly half of the tests are lit, and a size is as frequent as its complement."""
    sizes: dict[str, Counter[int]] = defaultdict(Counter)
    for item in PROMPTS.generate(PromptSpec(objects=objects, tests=tests), 12, 0, 200):
        assert sum(light for _, light in item.new.tests) == tests / 2
        own = Counter(len(placed) for placed, _ in item.new.tests)
        assert all(own[size] == own[objects - size] for size in range(1, objects))
        sizes[item.form] += own
    for size in range(1, objects):
        # 1,400 tests of each kind or more: a difference of 110 is four deviations or more.
        assert abs(sizes["disjunctive"][size] - sizes["conjunctive"][size]) < 110


DESIGNS = st.sampled_from([(objects, tests) for objects, tests, _ in LADDER])


@given(DESIGNS, st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_counts_and_sizes_are_the_same_for_all_answers(sizes: tuple[int, int], key: int) -> None:
    """Tests are drawn for several answers, and these are equal in all that can be counted."""
    objects = sizes[0]
    count = 3 if objects < 6 else 4
    design, stream = matched.design(*sizes), Stream(key)
    found = matched._lit(design, stream.choice(matched._parts(design)), stream)
    if found is None:
        return  # they are drawn again
    assert len(found) == (2 if objects == 3 else 3 if objects < 6 or sizes[1] == 14 else 6)
    assert len({sum(sure >> number & 1 for sure in found) for number in range(1, count)}) == 1
    seen = set()
    for sure, lit in found.items():
        parts = [placed % 2**count for placed in lit]
        assert len(set(lit)) == len(lit) == design.deciding
        assert sum({part for part in parts if part.bit_count() == 1} | {1}) == sure
        often = tuple(sum(placed >> number & 1 for placed in lit) for number in range(objects))
        beside = tuple(
            sum(part.bit_count() for part in parts if part >> number & 1) for number in range(count)
        )
        lit_sizes = tuple(sorted(placed.bit_count() for placed in lit))
        assert objects == 3 or len(set(lit_sizes)) == 1
        seen.add((often, beside if count == 4 else (), lit_sizes))
    assert len(seen) == 1


@given(DESIGNS, st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_the_other_tests_do_not_depend_on_the_answer(sizes: tuple[int, int], key: int) -> None:
    """They are drawn first: all closed objects are ruled out, and no open one is."""
    objects, tests = sizes
    count = 3 if objects < 6 else 4
    shared = matched._shared(matched.design(objects, tests), Stream(key))
    lit = [placed for placed, light in shared if light]
    assert lit[0] == 1
    assert [placed.bit_count() for placed in lit[1:]] == ([objects - 1] if objects > 3 else [])
    assert all(placed % 2**count == 2**count - 1 for placed in lit[1:])
    ruled_out = 0
    for placed, light in shared:
        ruled_out |= 0 if light else placed
    assert ruled_out == 2**objects - 2**count
    drawn, (sure, maybe) = matched.new_machine(objects, tests, "disjunctive", Stream(key))
    masks = {(sum(1 << number for number in placed), light) for placed, light in drawn}
    assert masks >= set(shared)
    assert sure | maybe == 2**count - 1


def test_counts_and_sizes_do_not_tell_the_answer() -> None:
    """Within one item's counts, all answers are equally frequent: 2,400 items, chi-square."""
    table: dict[Any, Counter[int]] = defaultdict(Counter)
    stream = Stream(77)
    for _ in range(2400):
        tests, (sure, _) = matched.new_machine(10, 18, "disjunctive", stream)
        lit = [sum(1 << n for n in placed if n < 4) for placed, light in tests if light]
        beside = [sum(p.bit_count() for p in lit if p >> n & 1) for n in range(4)]
        table[*[sum(p >> n & 1 for p in lit) for n in range(4)], *beside][sure] += 1
    assert len(table) == 10  # the counts of the open objects are drawn too
    assert all(len(own) == 6 for own in table.values())
    chi = sum(
        (seen - own.total() / 6) ** 2 / (own.total() / 6)
        for own in table.values()
        for seen in own.values()
    )
    assert chi < 86.7  # 50 degrees of freedom: one in 1,000


def _last_mentions(tests: matched.Printed) -> tuple[int, ...]:
    """The open objects but the first, in the order of their last mentions."""
    printed = [number for placed, _ in tests for number in placed]
    return tuple(sorted((1, 2, 3), key=printed[::-1].index))


def test_the_places_of_objects_do_not_tell_who_was_with_whom() -> None:
    """In a random order, the ranks of their last mentions depend on the answer; in ours not."""
    stream = Stream(79)
    design = matched.design(10, 16)
    shared = matched._shared(design, stream)
    lit = matched._lit(design, matched._parts(design)[0], stream)
    assert lit is not None
    shown = [shared + [(placed, True) for placed in each] for each in lit.values()]

    def differences(order: Callable[[int], matched.Printed | None]) -> float:
        """The chi-square of answers by orders of last mentions."""
        found = []
        for right in range(len(shown)):
            drawn = [tests for tests in map(order, [right] * 400) if tests]
            found.append(Counter(map(_last_mentions, drawn)))
        table = np.array([[own[ranks] for ranks in permutations((1, 2, 3))] for own in found])
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        return float(((table - expected) ** 2 / expected).sum())

    def at_random(right: int) -> matched.Printed:
        return [
            (stream.shuffled([n for n in range(10) if placed >> n & 1]), light)
            for placed, light in stream.shuffled(shown[right])
        ]

    assert len(shown) == 6
    assert differences(at_random) > 52.6  # 25 degrees of freedom: one in 1,000
    assert differences(lambda right: matched._printed(shown, right, design, stream)) < 52.6


@pytest.mark.parametrize(
    ("role", "forms"),
    [
        ("conjunctive", ["conjunctive"]),
        ("disjunctive", ["disjunctive"]),
        ("open", ["disjunctive", "conjunctive"]),
    ],
)
def test_the_examples_do_not_differ_in_counts_and_sizes(role: str, forms: list[str]) -> None:
    """Each object has as many tests of each size whatever the role; who was with whom decides."""
    for number in range(20):
        tests = matched.example(role, Stream(number))
        assert support.forms(tests, 6) == forms
        assert [(placed.bit_count(), light) for placed, light in tests] == [
            (4, True),
            (4, True),
            (2, False),
            (2, False),
        ]
        often = [
            [sum(p >> n & 1 for p, lit in tests if lit == on) for n in range(6)] for on in (1, 0)
        ]
        assert often == [[2, 2, 1, 1, 1, 1], [1, 1, 0, 0, 1, 1]]


def test_another_seed_has_other_machines() -> None:
    """Of 300 new machines, at most 5 are known from 1,500 of another seed, up to renaming."""
    known = {machine_structure(item.new) for item in PROMPTS.generate(FOUR, 1, 0, 1500)}
    new = [machine_structure(item.new) for item in PROMPTS.generate(FOUR, 2, 0, 300)]
    assert len(known) > 1450
    assert sum(each in known for each in new) <= 5


def test_habits_stay_at_the_floor() -> None:
    """400 items: three deviations of .02 over the floor."""
    items = list(PROMPTS.generate(FOUR, 2, 0, 400))
    pages = [read_page(PROMPTS.render(item, PromptView())) for item in items]
    floor = PROMPTS.floor(FOUR, PromptView()).value
    for name in [*HABITS, "counts_only"]:
        answers = [getattr(solvers, name)(page, Stream(n)) for n, page in enumerate(pages)]
        scores = [PROMPTS.score(*pair)["correct"] for pair in zip(items, answers, strict=True)]
        reached = float(np.mean(np.array(scores, dtype=float)))
        assert reached <= floor + 0.06, name
    assert reached > floor - 0.06  # the floor's own strategy


@pytest.mark.parametrize("stimuli", ["paper", "paper_two_shot"])
def test_counting_is_enough_for_the_papers_evidence(stimuli: Any) -> None:
    """So the floor is 1: counts of objects find the blickets, counts of lights the structure."""
    spec = PromptSpec(stimuli=stimuli)
    for item in PROMPTS.generate(spec, 2, 0, 4):
        page = read_page(PROMPTS.render(item, PromptView()))
        counted = solvers.most_often_lit(page, Stream(1))
        lights = [sum(light for _, light in machine.tests) for machine in page.machines]
        more_lights = lights[2] > 2
        first_like = (lights[0] > lights[1]) == more_lights
        like = page.known[0 if first_like else 1] if item.hypotheses == "given" else "unsure"
        if page.stated:
            like = page.stated["disjunctive" if more_lights else "conjunctive"]
        assert PROMPTS.score(item, replace(counted, like=like))["correct"] == 1.0
    assert PROMPTS.floor(spec, PromptView()).value == 1.0


@pytest.mark.parametrize(
    ("objects", "tests", "left"),
    [(3, 16, 2), (4, 16, 3), (5, 16, 3), (6, 16, 6), (9, 14, 3), (10, 16, 6), (12, 18, 6)],
)
def test_floors_in_numbers(objects: int, tests: int, left: int) -> None:
    """By hand: one of the answers that counts leave, and a coin for the structure where given.

    In two-shot the preamble names the kinds, so a single test decides the structure.
    """
    spec, view = PromptSpec(objects=objects, tests=tests), PromptView()
    assert PROMPTS.floor(spec, view).value == pytest.approx(0.75 / left)
    assert PROMPTS.floor(spec, view).others["structure"] == 0.75
    assert PROMPTS.floor(spec, PromptView("two_shot")).value == pytest.approx(1 / left)
    given = replace(spec, hypotheses="given")
    assert PROMPTS.floor(given, view).value == pytest.approx(0.5 / left)


def test_three_objects_by_hand() -> None:
    """Two objects were alone on the machine and the third beside one of them, or the mirror."""
    for item in PROMPTS.generate(PROMPTS.presets["three-objects"], 3, 0, 40):
        sure, (third,) = set(item.answer.blickets), item.answer.maybe
        parts = [set(placed) for placed, _ in item.new.tests]
        if item.form == "conjunctive":
            parts = [set(item.new.objects) - part for part in parts]
        assert {frozenset(part) for part in parts if len(part) == 1} == {
            frozenset({n}) for n in sure
        }
        assert [len(part) for part in parts if third in part] == [2]
        assert {light for _, light in item.new.tests} == {item.form == "disjunctive"}


def test_small_machines_have_known_shortcuts() -> None:
    """With three open objects, how many are beside each one tells the answer; with four not."""
    items = list(PROMPTS.generate(PROMPTS.presets["five-objects"], 2, 0, 200))
    pages = [read_page(PROMPTS.render(item, PromptView())) for item in items]
    found = [solvers.apart(page, Stream(n)) for n, page in enumerate(pages)]
    right = [set(f.blickets) == set(i.answer.blickets) for f, i in zip(found, items, strict=True)]
    assert sum(right) > 120  # where one object or none is apart
    assert PROMPTS.leaky_presets == {"three-objects", "five-objects"}


def test_the_fast_inference_agrees_with_the_observer() -> None:
    rules = ("disjunctive", "conjunctive", "parity", "threshold-2", "threshold-3")
    space = make_space(4, rules)
    for trials in itertools.combinations([(p, light) for p in range(1, 16) for light in (0, 1)], 2):
        tests = [(placed, bool(light)) for placed, light in trials]
        left = support.of_any_kind(tests, 4)
        assert bool(left) == any(
            all(fires[placed] == light for placed, light in tests) for fires in space.fires
        )
        if left:
            chances = posterior(space, tests) @ space.blickets
            sure, maybe = support.answer(left, 4)
            assert [sure >> n & 1 for n in range(4)] == [int(c > 1 - 1e-9) for c in chances]
            assert [maybe >> n & 1 for n in range(4)] == [int(0 < c < 1 - 1e-9) for c in chances]


@pytest.mark.parametrize("view", VIEWS, ids=["freeform", "two_shot", "lines"])
@pytest.mark.parametrize("preset", list(PROMPTS.presets))
def test_the_ideal_observer_reads_only_the_text(preset: str, view: PromptView) -> None:
    for item in PROMPTS.generate(PROMPTS.presets[preset], 9, 0, 40):
        assert attempt(PROMPTS, item, PROMPTS.solvers["ideal_observer"], view).kind == "right"


def test_not_given_says_nothing_about_kinds() -> None:
    words = ("at least one", "just one", "single", "all of", "every one", "two or more", "at once")
    for item, view in itertools.product(PROMPTS.generate(FOUR, 4, 0, 24), VIEWS):
        text = PROMPTS.render(item, view)
        said = any(word in text for word in words)
        assert said == (item.hypotheses == "given")
        assert read_page(text).named == item.named


def test_cells_come_in_random_order_inside_blocks() -> None:
    cells = [(item.hypotheses, item.form) for item in PROMPTS.generate(FOUR, 4, 0, 800)]
    blocks = [tuple(cells[n : n + 4]) for n in range(0, 800, 4)]
    assert all(len(set(block)) == 4 for block in blocks)
    assert len(set(blocks)) == 24  # 200 draws of 24 orders: one is missing with probability 0.005


def test_items_without_a_spec_have_a_floor() -> None:
    item = next(iter(PROMPTS.generate(FOUR, 1)))
    assert 0 < PROMPTS.item_floor(item._replace(origin=None), PromptView()).value < 0.02


def test_canonical_sees_through_names_and_orders_and_no_further() -> None:
    for item in PROMPTS.generate(FOUR, 8, 0, 20):
        other = PROMPTS.reshuffle(item, 2)
        assert PROMPTS.canonical(other) == PROMPTS.canonical(item)
        placed, light = item.new.tests[0]
        changed = item.new._replace(tests=((placed, not light), *item.new.tests[1:]))
        machines = (*item.machines[:2], changed)
        assert PROMPTS.canonical(item._replace(machines=machines)) != PROMPTS.canonical(item)


def test_probes_name_the_right_candidates() -> None:
    """The object that one test proves is no candidate, and two-shot states the structure."""
    seen: dict[str, int] = defaultdict(int)
    for item in PROMPTS.generate(FOUR, 8, 0, 40):
        for probe in PROMPTS.probes(item, PromptView()):
            seen[probe.name] += 1
            right = {n for n, ok in zip(probe.candidates, probe.right, strict=True) if ok}
            if probe.name == "structure":
                assert right == {item.answer.like}
            else:
                assert right == set(item.answer.blickets) & set(probe.candidates)
                assert len(probe.candidates) == 3
                assert set(probe.candidates) - right <= set(item.answer.maybe)
            for values in probe.candidate_features.values():
                assert len(values) == len(probe.candidates)
        two_shot = PROMPTS.probes(item, PromptView("two_shot"))
        assert "structure" not in [probe.name for probe in two_shot]
        other = [
            each._replace(tests=tuple((placed, not light) for placed, light in each.tests))
            for each in item.machines
        ]
        inverted = item._replace(machines=tuple(other))
        assert PROMPTS.surface(item, PromptView()) == PROMPTS.surface(inverted, PromptView())
    assert seen["structure"] == 20
    assert seen["blicket"] >= 35  # the others have no object that must be beside the proven one


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"objects": 2}, r"objects must be in 3\.\.12, got 2"),
        ({"objects": 13}, r"objects must be in 3\.\.12, got 13"),
        ({"tests": 13}, "tests must be 14, 16, 18 or 20, got 13"),
    ],
)
def test_wrong_specs_are_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        PromptSpec(**fields)
    with pytest.raises(UserError, match="sentences must be at least 1"):
        PromptView(sentences=0)


def test_the_line_that_is_asked_for_is_strict() -> None:
    view = PromptView(reply="lines")
    for item in PROMPTS.generate(FOUR, 3, 0, 8):
        sure, maybe = item.answer.blickets, item.answer.maybe
        reply = (
            f"ANSWER: blickets: {', '.join(sure) or 'none'}; maybe: {', '.join(maybe) or 'none'}; "
            f"machine: {item.answer.like}"
        )
        assert PROMPTS.parse(item, [reply], view) == item.answer
        assert PROMPTS.strict(item, [reply], view)


def test_variants() -> None:
    assert PROMPTS.variant([]) == (FOUR, PromptView())
    two_shot = PromptView("two_shot")
    assert PROMPTS.variant(["paper", "two_shot"]) == (
        PromptSpec(stimuli="paper_two_shot"),
        two_shot,
    )
    assert PROMPTS.variant(["paper"]) == (PromptSpec(stimuli="paper"), PromptView())
    with pytest.raises(UserError, match="unknown variant 'three'"):
        PROMPTS.variant(["three"])


def test_a_matched_row_with_another_maybe_is_refused() -> None:
    items: list[PromptItem] = [*PROMPTS.generate(FOUR, 3, 0, 12)]
    item = next(each for each in items if each.answer.maybe)
    row = orjson.loads(orjson.dumps(PROMPTS.to_row(item)))
    assert PROMPTS.from_row(row, 0) == item
    with pytest.raises(UserError, match="maybe is"):
        PROMPTS.from_row({**row, "maybe": []}, 0)
