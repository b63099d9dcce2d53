"""Blicket prompts with the paper's evidence: what it decides and what it leaves open; files."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import Any

import orjson
import pytest

from tests.benchmarks.blicket.beliefs import possible
from trivium.benchmarks.blicket.names import mentions
from trivium.benchmarks.blicket.prompts import PROMPTS
from trivium.benchmarks.blicket.prompts.evidence import (
    Machine,
    Page,
    PromptAnswer,
    forms_of,
    read_page,
)
from trivium.benchmarks.blicket.prompts.generate import generate
from trivium.benchmarks.blicket.prompts.phrases import VOICES
from trivium.benchmarks.blicket.prompts.solvers import one_cause, random_answer
from trivium.benchmarks.blicket.prompts.spec import PromptSpec, PromptView
from trivium.core.dialogue import attempt
from trivium.core.errors import UserError
from trivium.core.streams import Stream, stream_key


def full(*fields: Any, **named: Any) -> PromptSpec:
    """A spec with the paper's evidence."""
    return PromptSpec(*fields, **named)


SPECS = [
    full(objects=objects, placements=placements)
    for objects in range(3, 7)
    for placements in ("balanced", "paper")
]
VIEWS = [PromptView(), PromptView("two_shot"), PromptView(reply="lines")]


def ids(spec: PromptSpec) -> str:
    return f"{spec.objects}-{spec.placements}"


@pytest.mark.parametrize("spec", SPECS, ids=ids)
def test_the_evidence_decides_what_it_should_and_leaves_open_what_it_should(
    spec: PromptSpec,
) -> None:
    for item in generate(spec, 5, 0, 60):
        first, second, new = (possible(machine) for machine in item.machines)
        assert new == [(item.form, set(item.answer.blickets))]
        assert len(item.answer.blickets) == {"disjunctive": 1, "conjunctive": 2}[item.form]
        assert item.answer.maybe == ()
        forms = [{form for form, _ in left} for left in (first, second)]
        exact = forms_of(item.machines)
        if item.hypotheses == "given":
            assert sorted(map(sorted, forms)) == [["conjunctive"], ["disjunctive"]]
            assert item.answer.like == item.known[forms.index({item.form})]
            assert exact == [min(forms[0]), min(forms[1]), item.form]
        else:
            assert forms == [{"conjunctive", "disjunctive"}] * 2
            assert item.answer.like == "unsure"
            assert exact == [None, None, item.form]


@pytest.mark.parametrize("view", VIEWS, ids=["freeform", "two_shot", "lines"])
@pytest.mark.parametrize("objects", [3, 5])
def test_the_ideal_observer_is_right_and_unsure_exactly_where_it_must_be(
    view: PromptView, objects: int
) -> None:
    solver = PROMPTS.solvers["ideal_observer"]
    for item in generate(full(objects=objects), 9, 0, 80):
        row = attempt(PROMPTS, item, solver, view)
        assert row.kind == "right"
        assert row.scores["correct"] == 1.0
        assert (row.answer.like == "unsure") == (item.hypotheses == "not_given")


@pytest.mark.parametrize("spec", SPECS, ids=ids)
def test_the_prompt_can_be_read_back(spec: PromptSpec) -> None:
    for item in generate(spec, 2, 0, 40):
        page = read_page(PROMPTS.render(item, PromptView()))
        assert page.machines == item.machines
        assert page.known == item.known
        page = read_page(PROMPTS.render(item, PromptView("two_shot")))
        assert [machine[1:] for machine in page.machines] == [each[1:] for each in item.machines]
        assert set(page.known) == set(item.known)


def test_the_examples_of_two_shot_say_what_is_known() -> None:
    for item in generate(full(), 5, 0, 20):
        text = PROMPTS.render(item, PromptView("two_shot"))
        examples = re.findall(r"^Output: .*[.] (.*[.])$", text, re.MULTILINE)
        unsure = "It cannot be known which machine this one behaves like."
        like = [f"This machine behaves like the {pattern} machine." for pattern in item.known]
        assert examples == (like if item.hypotheses == "given" else [unsure] * 2)


def test_cells_take_turns_and_voices_are_drawn() -> None:
    items = list(generate(full(), 4, 0, 400))
    cells = Counter((item.hypotheses, item.form) for item in items)
    assert set(cells.values()) == {100}
    voices = Counter(item.voice for item in items)
    # 400 draws from three: below 90 of one has probability 4e-6.
    assert len(voices) == len(VOICES)
    assert min(voices.values()) >= 90
    assert len({item.machines for item in items}) == 400


def test_every_new_object_is_named_equally_often() -> None:
    for spec in SPECS:
        for item in generate(spec, 1, 0, 8):
            text = PROMPTS.render(item, PromptView()).split("\n\n")[3]
            counts = Counter(mentions(text))
            assert set(counts) == set(item.new.objects)
            assert len(set(counts.values())) == 1


def test_every_order_is_drawn() -> None:
    """600 items: a half is 300 (deviation 12.2), a third 200 (11.5), a quarter 150 (10.6)."""
    found: dict[str, Counter[Any]] = defaultdict(Counter)
    for item in generate(full("given", "conjunctive"), 7, 0, 600):
        first, new = item.machines[0], item.new
        lights = [light for _, light in first.tests]
        found["conjunctive first"][lights.count(True) == 1] += 1
        most = Counter(name for placed, _ in first.tests for name in placed).most_common(1)[0][0]
        found["object in most tests"][first.objects.index(most)] += 1
        together = next(placed for placed, _ in first.tests if len(placed) == 2)
        found["most placed comes first"][together[0] == most] += 1
        for machine in (first, new):
            sizes = [len(placed) for placed, _ in machine.tests]
            found[f"first pair of {len(sizes)}"][sizes.index(2)] += 1
            left, right = machine.tests[sizes.index(2)][0]
            in_order = machine.objects.index(left) < machine.objects.index(right)
            found[f"pair of {len(sizes)} in order"][in_order] += 1
        found["first blicket"][new.objects.index(item.answer.blickets[0])] += 1
    halves = "conjunctive first", "pair of 4 in order", "pair of 7 in order"
    for name in (*halves, "most placed comes first"):
        assert abs(found[name][True] - 300) < 61
    for name in ("object in most tests", "first blicket"):
        assert all(abs(found[name][position] - 200) < 58 for position in range(3))
    # The first of two pairs among four tests: 1/2, 1/3, 1/6; of three among seven: 3/7, 2/7, ...
    assert all(abs(found["first pair of 4"][n] - (300, 200, 100)[n]) < 61 for n in range(3))
    assert all(abs(found["first pair of 7"][n] - (257, 171, 103)[n]) < 61 for n in range(3))


def test_other_trials_change_only_orders() -> None:
    item = next(generate(full(objects=4), 1))
    assert PROMPTS.reshuffle(item, 0) == item
    others = [PROMPTS.reshuffle(item, trial) for trial in range(1, 6)]
    for number, machine in enumerate(item.machines):
        versions = [other.machines[number] for other in others]
        assert len({each.objects for each in versions}) > 1
        assert len({each.tests for each in versions}) > 1
        for each in versions:
            assert sorted(each.objects) == sorted(machine.objects)
            assert sorted(each.tests) == sorted(machine.tests)
    assert all(other._replace(machines=item.machines) == item for other in others)
    paper = next(generate(full(stimuli="paper"), 1))
    assert PROMPTS.reshuffle(paper, 3) == paper


def test_all_names_in_an_item_differ() -> None:
    for item in generate(full(objects=6), 3, 0, 20):
        colours, shapes = zip(*(name.split() for name in item.objects), strict=True)
        assert len(set(colours)) == len(set(shapes)) == 18
        assert len({machine.pattern for machine in item.machines}) == 3


def test_random_answers_are_uniform() -> None:
    """Each of 7 sets 300 times of 2100 (deviation 16.0), each structure 700 times (21.6)."""
    sets, structures = Counter[Any](), Counter[Any]()
    for number, item in enumerate(generate(full(), 6, 0, 2100)):
        answer = random_answer(Page(item.machines, item.known), Stream(stream_key(number)))
        sets[tuple(name in answer.blickets for name in item.new.objects)] += 1
        structures[[*item.known, "unsure"].index(str(answer.like))] += 1
    assert len(sets) == 7
    assert all(abs(count - 300) < 80 for count in sets.values())
    assert all(abs(structures[n] - 700) < 108 for n in range(3))


def test_one_cause_is_right_only_about_disjunctive_machines() -> None:
    solver = PROMPTS.solvers["one_cause"]
    for item in generate(full(), 8, 0, 80):
        row = attempt(PROMPTS, item, solver, PromptView())
        assert (row.kind == "right") == (item.form == "disjunctive")


def test_everything_lit_names_too_many() -> None:
    solver, structures = PROMPTS.solvers["everything_lit"], Counter[int]()
    for item in generate(full(), 8, 0, 40):
        row = attempt(PROMPTS, item, solver, PromptView())
        assert set(row.answer.blickets) == set(item.new.objects)
        assert row.kind.startswith("too-many-blickets")
        structures[item.known.index(row.answer.like)] += 1
    assert min(structures[0], structures[1]) >= 8  # 40 draws of two: fewer have probability 9e-5


def row_of(spec: PromptSpec | None = None) -> dict[str, Any]:
    item = next(generate(spec or full("given", "disjunctive"), 3))
    row: dict[str, Any] = orjson.loads(orjson.dumps(PROMPTS.to_row(item)))
    return row


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("id", 3, "id must be text"),
        ("blickets", [], "but the tests show"),
        ("like", "unsure", "but the tests show"),
        ("hypotheses", "not_given", "but the tests show 'given'"),
        ("form", "conjunctive", "but the tests show 'disjunctive'"),
        ("voice", 99, "voice must be in 0..2"),
        ("voice", True, "voice must be in 0..2"),
        ("machines", [], "machines must be a list of three"),
        ("paper", True, "machines of the paper's prompt"),
    ],
)
def test_a_broken_row_is_refused(key: str, value: Any, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        PROMPTS.from_row({**row_of(), key: value}, 0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"pattern": "<b>"}, "pattern must be one of"),
        ({"objects": ["red <b>"]}, "colours and shapes"),
        ({"objects": "red cube"}, "colours and shapes"),
        ({"tests": []}, "tests must be a list"),
        ({"tests": [{"placed": [], "light": True}]}, "some of its objects"),
        ({"tests": [3]}, "some of its objects"),
    ],
)
def test_a_broken_machine_is_refused(change: dict[str, Any], sentence: str) -> None:
    row = row_of()
    row["machines"][2] |= change
    with pytest.raises(UserError, match=sentence):
        PROMPTS.from_row(row, 0)


def test_evidence_that_contradicts_itself_is_refused() -> None:
    row = row_of()
    test = row["machines"][2]["tests"][0]
    row["machines"][2]["tests"].append({**test, "light": not test["light"]})
    with pytest.raises(UserError):
        PROMPTS.from_row(row, 0)


def test_two_machines_of_one_form_are_refused() -> None:
    row = row_of()
    first, second, new = row["machines"]
    copied = dict(zip(first["objects"], second["objects"], strict=True))
    second["tests"] = [
        {"placed": [copied[name] for name in test["placed"]], "light": test["light"]}
        for test in first["tests"]
    ]
    with pytest.raises(UserError, match="must differ in form or leave it open"):
        PROMPTS.from_row({**row, "machines": [first, second, new]}, 0)


def test_evidence_from_elsewhere_may_leave_blickets_open() -> None:
    """One dark object says little: the others may be blickets, and every solver copes."""
    row = row_of(full("not_given", "disjunctive"))
    row["machines"][2]["tests"] = [
        test for test in row["machines"][2]["tests"] if len(test["placed"]) == 1 and test["light"]
    ]
    item = PROMPTS.from_row(row, 0)
    assert len(item.answer.blickets) == 1
    assert len(item.answer.maybe) == 2
    assert attempt(PROMPTS, item, PROMPTS.solvers["ideal_observer"], PromptView()).kind == "right"
    for solver in PROMPTS.solvers.values():
        assert attempt(PROMPTS, item, solver, PromptView("two_shot")).kind != "no-answer"


def test_one_cause_is_unsure_where_two_machines_light_with_one_object() -> None:
    machines = tuple(
        Machine(pattern, (name,), (((name,), True),))
        for pattern, name in (("dotted", "red cube"), ("wavy", "blue cube"), ("plain", "pink cube"))
    )
    answer = one_cause(Page(machines, ("dotted", "wavy")), Stream(1))
    assert answer == PromptAnswer(("pink cube",), (), "unsure")
    dark = machines[1]._replace(tests=((("blue cube",), False),))
    answer = one_cause(Page((machines[0], dark, machines[2]), ("dotted", "wavy")), Stream(1))
    assert answer.like == "dotted"


def test_a_generated_story_asks_for_an_answer_line_and_the_papers_stimuli_do_not() -> None:
    story = next(iter(PROMPTS.generate(PromptSpec(), 7, 0, 1)))
    for view, asked in [
        (PromptView(), True),
        (PromptView(reply="free"), False),
        (PromptView("two_shot"), False),
        (PromptView("two_shot", reply="lines"), True),
    ]:
        assert ("\nANSWER: blickets: <" in PROMPTS.render(story, view)) == asked
        assert (PROMPTS.strict(story, ["It is hard to say."], view) is None) != asked
    paper = next(iter(PROMPTS.generate(PromptSpec(stimuli="paper"), 7, 0, 1)))
    assert "ANSWER" not in PROMPTS.render(paper, PromptView())
