"""Steps, assignment, arms, and records that equal those of solvers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.people.client import GAME, PAPER, make_study, right_check
from trivium.benchmarks.blicket.people.rounds import GameRound
from trivium.core.dialogue import Dialogue, solve
from trivium.core.errors import UserError
from trivium.people.experiment import read_experiment
from trivium.people.export import attempts_of, export_study
from trivium.people.screens import screen
from trivium.people.session import Session, session_after
from trivium.people.steps import RefusedError, Step
from trivium.people.study import Study, open_study, reopen_study

ARMS = """
title = "arms"
pool = 12
[[conditions]]
name = "chose"
benchmark = "blicket_game"
preset = "paper"
cap = 2
[[conditions]]
name = "saw a program"
benchmark = "blicket_game"
preset = "paper"
arm = "passive"
shown_by = "one_at_a_time"
cap = 2
[[conditions]]
name = "saw a person"
benchmark = "blicket_game"
arm = "yoked"
yoked_to = "chose"
cap = 2
"""


def game_of(session: Session) -> GameRound:
    """The game in progress."""
    assert isinstance(session.now, GameRound)
    return session.now


class Direct:
    """A participant who talks to the study without a server."""

    def __init__(self, study: Study, key: str) -> None:
        self.study, self.key = study, key
        self.number = 0

    def take(self, kind: str, value: Any = None) -> Session:
        session, in_time = self.study.take_step(self.key, self.number, Step(kind, value))
        assert in_time
        self.number += 1
        return session

    def to_the_machine(self) -> Session:
        """Through everything before the first item; again for a participant who found no place."""
        full = self.number > 0
        session = self.take("retry") if full else self.take("consent", True)
        while session.stage not in ("explore", "watch", "text", "full"):
            if session.stage == "questions":
                asked = session.experiment.questions
                session = self.take("questions", {one.id: one.options[0] for one in asked})
            elif session.stage == "practice":
                self.take("toggle", "A")
                self.take("press")
                session = self.take("next")
            elif session.stage == "check":
                assert session.condition is not None
                session = self.take("check", right_check(session.experiment, session.condition))
            else:
                session = self.take("next")
        return session

    def answer(self, session: Session, blickets: str, form: str) -> Session:
        while session.stage == "object":
            asked = game_of(session).asked
            session = self.take("object", "yes" if asked in blickets else "no")
        return self.take("form", form)

    def complete(self) -> Session:
        """Take part with the tests A and AB and an answer."""
        session = self.to_the_machine()
        if session.stage == "watch":
            while session.stage == "watch":
                session = self.take("next")
        else:
            for letter in "AB":
                self.take("toggle", letter)
                self.take("press")
            session = self.take("finish")
        return self.answer(session, "A", session.now.item.content.spec.form_answers[0])


@pytest.mark.parametrize("solver", ["information_gain", "one_at_a_time", "constant_answer"])
def test_a_record_is_that_of_a_solver_with_the_same_moves(tmp_path: Path, solver: str) -> None:
    study = make_study(tmp_path)
    person = Direct(study, "one")
    session = person.to_the_machine()
    item = session.now.item
    expected = solve(item, item.task.benchmark.solvers[solver])
    assert isinstance(expected.reply, list)
    placed: set[str] = set()
    for reply in expected.reply[:-1]:
        wanted = set(re.findall(r"\b[A-Z]\b", reply))
        for letter in placed ^ wanted:
            person.take("toggle", letter)
        placed = wanted
        person.take("press")
    session = person.answer(person.take("finish"), expected.answer.blickets, expected.answer.form)
    participant = study.store.participants()[0]
    made = attempts_of(study, participant, session)[0]
    for name in ("reply", "answer", "scores", "kind", "spec", "seed", "index", "id", "floor"):
        assert getattr(made, name) == getattr(expected, name), name
    assert made.solver.startswith("person:")
    assert made.groups.items() >= expected.groups.items()
    assert made.groups["condition"] == participant.condition


def test_a_step_counts_once_however_often_it_is_sent(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    person = Direct(study, "one")
    session = person.to_the_machine()
    number = person.number
    for _ in range(3):
        session, in_time = study.take_step("one", number, Step("toggle", "A"))
        assert (game_of(session).placed, in_time) == ("A", True)
    session, in_time = study.take_step("one", number, Step("toggle", "B"))  # the other tab
    assert (game_of(session).placed, in_time) == ("A", False)
    session, in_time = study.take_step("one", number + 5, Step("press", None))
    assert (game_of(session).lit, in_time) == (None, False)
    assert len(study.store.steps(1)) == number + 1


def test_the_light_goes_out_when_an_object_is_moved(tmp_path: Path) -> None:
    person = Direct(make_study(tmp_path), "one")
    person.to_the_machine()
    person.take("toggle", "A")
    assert game_of(person.take("press")).lit is not None
    assert game_of(person.take("toggle", "B")).lit is None


def test_a_study_resumes_where_it_was(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    Direct(study, "one").to_the_machine()
    before = screen(study.session(study.store.find("key", "one")), None)
    again = open_study(tmp_path / "experiment.toml")  # the first one was never closed
    assert screen(again.session(again.store.find("key", "one")), None) == before
    (tmp_path / "experiment.toml").write_text(PAPER.read_text().replace("seed = 7", "seed = 8"))
    with pytest.raises(UserError, match="holds a study with another experiment file"):
        open_study(tmp_path / "experiment.toml")


STEPS = st.tuples(
    st.sampled_from(["consent", "questions", "next", "toggle", "press", "check", "finish"])
    | st.sampled_from(["object", "form", "reply", "retry", "nonsense"]),
    st.sampled_from([True, None, "A", "C", "yes", "no", "unsure", "striped", [0, 0], [0, 1]])
    | st.sampled_from([[1, 0], [1, 1], {"age": "7 to 10"}, {"age": 3}, 1, "\ud800"]),
)
PAPER_EXPERIMENT = read_experiment(PAPER)


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, max_size=120), st.sampled_from(range(4)))
def test_any_steps_either_move_on_or_change_nothing(
    steps: list[tuple[str, Any]], condition: int
) -> None:
    assigned = {"condition": PAPER_EXPERIMENT.conditions[condition].name, "slot": 0}
    session, taken = Session(PAPER_EXPERIMENT), []
    for kind, value in steps:
        step = Step(kind, value, assigned if kind == "questions" else {})
        before = screen(session, None)
        try:
            session.take(step)
            taken.append(step)
        except RefusedError:
            assert screen(session, None) == before
    again = session_after(PAPER_EXPERIMENT, taken)
    assert screen(again, None) == screen(session, None)


def test_conditions_fill_up_evenly_and_count_completions(tmp_path: Path) -> None:
    text = PAPER.read_text().replace("cap = 25", "cap = 3")
    study = make_study(tmp_path, text)
    for number in range(12):
        Direct(study, f"person {number}").complete()
        taken = [one.taken for one in study.progress()]
        assert max(taken) - min(taken) <= 1
    assert [one.completed for one in study.progress()] == [3, 3, 3, 3]
    assert Direct(study, "too late").to_the_machine().stage == "full"


def test_a_dropout_frees_the_place(tmp_path: Path) -> None:
    text = f"title = 'x'\n{GAME}preset = 'paper'\ncap = 1"
    study = make_study(tmp_path, text)
    Direct(study, "leaves").to_the_machine()
    waiting = Direct(study, "waits")
    assert waiting.to_the_machine().stage == "full"
    later = study.store.clock() + 61 * 60
    study.store.clock = lambda: later
    assert waiting.complete().stage == "done"
    assert [(one.completed, one.dropped) for one in study.progress()] == [(1, 1)]


def test_passive_and_yoked_participants_see_tests_instead_of_choosing(tmp_path: Path) -> None:
    study = make_study(tmp_path, ARMS)
    for number in range(6):
        assert Direct(study, str(number)).complete().stage == "done"
    found = {one.condition: study.session(one) for one in study.store.participants()}
    program, person = found["saw a program"], found["saw a person"]
    partner = study.store.find("id", person.assigned["partner"])
    chose = study.session(partner)
    assert [placed for placed, _ in game_of(program).game.tests] == ["A", "B", "C"]
    assert [placed for placed, _ in game_of(chose).game.tests] == ["A", "AB"]
    assert game_of(person).game.tests == game_of(chose).game.tests
    assert person.now.item.content == chose.now.item.content
    records = [attempts_of(study, one, study.session(one)) for one in study.store.participants()]
    assert {made.groups["arm"] for own in records for made in own} == {"active", "passive", "yoked"}


def test_a_failed_check_gives_a_second_chance_and_then_ends(tmp_path: Path) -> None:
    study = make_study(
        tmp_path,
        f"title = 'x'\npractice = false\n{GAME}",
    )
    person = Direct(study, "one")
    session = person.take("consent", True)
    for chance in range(2):
        while session.stage == "instructions":
            session = person.take("next")
        right = right_check(study.experiment, study.experiment.conditions[0])
        session = person.take("check", [1 - one for one in right])
        assert session.stage == ("instructions" if chance == 0 else "failed")


def test_deleting_a_participant_leaves_nothing(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    person = Direct(study, "one")
    person.complete()
    Direct(study, "two").complete()
    code = study.store.participants()[0].code
    name = study.person(study.store.participants()[0])
    study.delete(code.lower())
    with pytest.raises(UserError, match="no participant has the code"):
        study.delete(code)
    export_study(reopen_study(tmp_path / "experiment.study"), tmp_path / "out")
    for path in [*(tmp_path / "out").iterdir(), *(tmp_path / "experiment.study").iterdir()]:
        assert name.encode() not in path.read_bytes()
        assert code.encode() not in path.read_bytes()
    assert len((tmp_path / "out/records.jsonl").read_text().splitlines()) == 1


def test_what_was_said_of_objects_becomes_one_answer(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    person = Direct(study, "one")
    person.to_the_machine()
    session = person.take("finish")
    for word in ("yes", "unsure", "no"):
        session = person.take("object", word)
    session = person.take("form", "unsure")
    listing = session.now.item.content.listing
    assert session.now.dialogue.replies == [
        f"ANSWER: blickets {listing[0]}; form unsure; unsure {listing[1]}"
    ]
    assert isinstance(session.now.dialogue, Dialogue)
    assert session.finished[0].dialogue.scores["correct"] == 0


def test_a_value_that_the_screen_does_not_offer_is_refused(tmp_path: Path) -> None:
    question = "[[questions]]\nid = 'age'\ntext = 'How old?'\noptions = ['child', 'adult']\n"
    text = f"title = 'x'\npractice = false\ncheck = false\n{GAME}preset = 'paper'\n{question}"
    session = Session(make_study(tmp_path, text).experiment)

    def refuses(kind: str, value: Any) -> None:
        with pytest.raises(RefusedError, match="is not allowed here"):
            session.take(Step(kind, value))

    refuses("consent", 1)
    session.take(Step("consent", True))
    refuses("questions", {"age": "old"})
    session.take(Step("questions", {"age": "child"}, {"condition": "a", "slot": 0}))
    while session.stage != "explore":
        session.take(Step("next", None))
    refuses("toggle", "D")
    session.take(Step("finish", None))
    while session.stage == "object":
        refuses("object", "maybe")
        session.take(Step("object", "no"))
    refuses("form", "magic")
    assert session.stage == "form"


def test_steps_are_limited_at_every_item(tmp_path: Path) -> None:
    """A participant with several items is not stopped by the steps of the earlier ones."""
    study = make_study(
        tmp_path,
        f"title = 'x'\npractice = false\ncheck = false\n{GAME}items = 2",
    )
    session = Session(study.experiment)
    session.take(Step("consent", True, {"condition": "a", "slot": 0}))
    for item in range(2):
        while session.stage != "explore":
            session.take(Step("next", None))
        for _ in range(480):
            session.take(Step("toggle", "A"))
        if item == 0:
            session.take(Step("finish", None))
            while session.stage == "object":
                session.take(Step("object", "no"))
            session.take(Step("form", session.now.item.content.spec.form_answers[0]))
    toggles = [Step("toggle", "A")] * 1000
    with pytest.raises(RefusedError, match="too many steps"):
        list(map(session.take, toggles))
