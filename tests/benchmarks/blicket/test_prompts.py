"""Blicket prompts: views, orders, names, solvers and files."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import orjson
import pytest

from trivium.benchmarks.blicket.prompts import PROMPTS
from trivium.benchmarks.blicket.prompts.evidence import (
    Machine,
    Page,
    PromptAnswer,
    read_page,
)
from trivium.benchmarks.blicket.prompts.generate import generate
from trivium.benchmarks.blicket.prompts.phrases import VOICES
from trivium.benchmarks.blicket.prompts.solvers import one_cause, random_answer
from trivium.benchmarks.blicket.prompts.spec import PromptSpec, PromptView
from trivium.core.dialogue import attempt
from trivium.core.errors import UserError
from trivium.core.streams import Stream, stream_key

VIEWS = [PromptView(), PromptView("two_shot"), PromptView(reply="lines")]


def test_the_prompt_can_be_read_back() -> None:
    for item in generate(PromptSpec(), 2, 0, 40):
        page = read_page(PROMPTS.render(item, PromptView()))
        assert page.machines == item.machines
        assert page.known == item.known
        page = read_page(PROMPTS.render(item, PromptView("two_shot")))
        assert [machine[1:] for machine in page.machines] == [each[1:] for each in item.machines]
        assert set(page.known) == set(item.known)


def test_the_examples_of_two_shot_say_what_is_known() -> None:
    for item in generate(PromptSpec(), 5, 0, 20):
        text = PROMPTS.render(item, PromptView("two_shot"))
        examples = re.findall(r"^Output: .*[.] (.*[.])$", text, re.MULTILINE)
        unsure = "It cannot be known which machine this one behaves like."
        like = [f"This machine behaves like the {pattern} machine." for pattern in item.known]
        assert examples == (like if item.hypotheses == "given" else [unsure] * 2)


def test_cells_take_turns_and_voices_are_drawn() -> None:
    items = list(generate(PromptSpec(), 4, 0, 400))
    cells = Counter((item.hypotheses, item.form) for item in items)
    assert set(cells.values()) == {100}
    voices = Counter(item.voice for item in items)
    # 400 draws from three: below 90 of one has probability 4e-6.
    assert len(voices) == len(VOICES)
    assert min(voices.values()) >= 90
    assert len({item.machines for item in items}) == 400


def test_other_trials_change_only_orders() -> None:
    item = next(generate(PromptSpec(), 1))
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
    paper = next(generate(PromptSpec(stimuli="paper"), 1))
    assert PROMPTS.reshuffle(paper, 3) == paper


def test_all_names_in_an_item_differ() -> None:
    for item in generate(PromptSpec(), 3, 0, 20):
        assert len(set(item.objects)) == 22
        assert {len(name) for name in item.objects} == {4}  # so lines show only how many there are
        assert len({machine.pattern for machine in item.machines}) == 3


def test_random_answers_are_uniform() -> None:
    """Each of 7 sets 300 times of 2100 (deviation 16.0), each structure 700 times (21.6)."""
    machine = Machine("plain", ("red cube", "blue cone", "pink dome"), ((("red cube",), True),))
    page = Page((machine,), ("dotted", "wavy"))
    answers = [random_answer(page, Stream(stream_key(number))) for number in range(2100)]
    sets = Counter(answer.blickets for answer in answers)
    structures = Counter(answer.like for answer in answers)
    assert len(sets) == 7
    assert all(abs(count - 300) < 80 for count in sets.values())
    assert all(abs(structures[like] - 700) < 108 for like in ("dotted", "wavy", "unsure"))


def row_of(spec: PromptSpec | None = None) -> dict[str, Any]:
    item = next(generate(spec or PromptSpec("given", "disjunctive"), 3))
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
        ({"objects": ["red <b>"]}, "shapes, as cube"),
        ({"objects": "red cube"}, "shapes, as cube"),
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
    row = row_of(PromptSpec("not_given", "disjunctive"))
    row["machines"][2]["tests"] = [
        test for test in row["machines"][2]["tests"] if len(test["placed"]) == 1 and test["light"]
    ]
    (proven,) = row["machines"][2]["tests"][0]["placed"]
    row |= {"blickets": [proven], "maybe": sorted({*row["machines"][2]["objects"]} - {proven})}
    item = PROMPTS.from_row(row, 0)
    assert item.answer.blickets == (proven,)
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
