"""The tables of an export, rules of exclusion, and the planned analysis."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import orjson
import pytest

from tests.people.client import GAME, PAPER, make_study
from tests.people.test_study import ARMS, Direct
from trivium.cli import main
from trivium.core.errors import UserError
from trivium.core.statistics import Estimate
from trivium.people.analysis import contrast
from trivium.people.experiment import read_experiment
from trivium.people.export import export_study
from trivium.people.steps import Step
from trivium.people.store import Event
from trivium.people.study import Study
from trivium.report.experiments import experiment_section

QUESTIONS = """
[exclude]
failed_attention = 0
fast_screens = 1
page_left = 2
[[questions]]
id = "age"
text = "How old are you?"
options = ["child", "adult"]
cap = 1
[[questions]]
id = "colour"
text = "Please choose red."
at = "end"
options = ["red", "blue"]
right = "red"
"""
BASE = "title = 'x'\npractice = false\ncheck = false\nminimum_seconds = { instructions = 2 }\n"


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / name).open(newline="") as file:
        return list(csv.DictReader(file))


def timed(study: Study, key: str, steps: list[tuple[str, object]], seconds: float = 3.0) -> None:
    """Take these steps, each after the same time on its screen."""
    for number, (kind, value) in enumerate(steps):
        study.take_step(key, number, Step(kind, value, seconds=seconds))


START: list[tuple[str, object]] = [("consent", True), ("questions", {"age": "child"})]
GAME_STEPS: list[tuple[str, object]] = [
    *[("next", None)] * 5,
    ("toggle", "A"),
    ("press", None),
    ("toggle", "B"),
    ("press", None),
    ("finish", None),
    ("object", "yes"),
    ("object", "no"),
    ("object", "no"),
]


def test_tables_have_a_row_for_everything_with_onset_and_reaction_time(tmp_path: Path) -> None:
    study = make_study(tmp_path, f"{BASE}{GAME}preset = 'paper'\n{QUESTIONS}")
    form = study.experiment.conditions[0].task.spec.form_answers[0]
    end: list[tuple[str, object]] = [("form", form), ("questions", {"colour": "blue"})]
    timed(study, "one", [*START, *GAME_STEPS, *end])
    with study.store.transaction():
        study.store.add_events(1, [Event("p", 1, "sound", "on", None)])
    export_study(study, tmp_path / "out")
    (person,) = table(tmp_path / "out", "participants.csv")
    assert (person["age"], person["colour"], person["stage"]) == ("child", "blue", "done")
    assert (person["source"], person["sound"]) == ("person", "on")
    assert (person["failed_attention"], person["excluded"]) == ("1", "failed_attention")
    (trial,) = table(tmp_path / "out", "trials.csv")
    item = study.experiment.items(study.experiment.conditions[0], 0)[0].content
    assert (trial["machine"], trial["object_order"]) == (item.truth, item.listing)
    assert (float(trial["onset"]), float(trial["seconds"])) == (6 * 3.0, 10 * 3.0)
    tests = table(tmp_path / "out", "tests.csv")
    assert [(one["objects"], one["onset"], one["seconds"]) for one in tests] == [
        ("A", "21.0", "6.0"),
        ("AB", "27.0", "6.0"),
    ]
    objects = table(tmp_path / "out", "objects.csv")
    assert [one["object"] for one in objects] == list(item.listing)
    assert [one["seconds"] for one in objects] == ["3.0"] * 3
    for one, said in zip(objects, ("yes", "no", "no"), strict=True):
        assert int(one["correct"]) == ((one["blicket"] == "1") == (said == "yes"))
    screens = table(tmp_path / "out", "screens.csv")
    names = [one["screen"] for one in screens]
    before = ["consent", "questions", *["instructions"] * 4]
    assert names == [*before, "new", "explore", *["object"] * 3, "form", "questions"]
    assert float(screens[7]["seconds"]) == 15.0
    record = orjson.loads((tmp_path / "out/left_out.jsonl").read_bytes())
    assert record["groups"]["excluded"] == "failed_attention"
    assert not (tmp_path / "out/records.jsonl").read_bytes()


def test_an_attention_check_between_two_items_marks_who_fails_it(tmp_path: Path) -> None:
    text = "[[conditions]]\nname = 'a'\nbenchmark = 'nhop_implicit'\nitems = 2\n"
    asked = QUESTIONS.replace("cap = 1", "").replace('"end"', '"middle"')
    study = make_study(tmp_path, f"{BASE}{text}{asked}")
    start = [*START, *[("next", None)] * 2, ("reply", "E_0001")]
    for key, colour in (("wrong", "blue"), ("right", "red")):
        timed(study, key, [*start, ("questions", {"colour": colour}), ("reply", "E_0001")])
    export_study(study, tmp_path / "out")
    wrong, right = table(tmp_path / "out", "participants.csv")
    assert (wrong["stage"], wrong["excluded"]) == ("done", "failed_attention")
    assert (right["stage"], right["excluded"]) == ("done", "no")
    trials = table(tmp_path / "out", "trials.csv")
    assert [one["excluded"] for one in trials] == ["failed_attention"] * 2 + ["no"] * 2
    for name, person in (("left_out.jsonl", wrong), ("records.jsonl", right)):
        rows = map(orjson.loads, (tmp_path / "out" / name).read_bytes().splitlines())
        assert [row["solver"] for row in rows] == [person["participant"]] * 2
    screens = [one["screen"] for one in table(tmp_path / "out", "screens.csv")]
    assert screens[:7] == [
        "consent",
        "questions",
        *["instructions"] * 2,
        "text",
        "questions",
        "text",
    ]


def test_watched_tests_have_times_too(tmp_path: Path) -> None:
    study = make_study(tmp_path, ARMS)
    for number in range(6):
        Direct(study, str(number)).complete()
    export_study(study, tmp_path / "out")
    tests = table(tmp_path / "out", "tests.csv")
    assert {one["condition"] for one in tests} == {"chose", "saw a program", "saw a person"}
    people = {one["participant"]: one for one in table(tmp_path / "out", "participants.csv")}
    partners = [one["partner"] for one in people.values() if one["arm"] == "yoked"]
    assert all(people[one]["condition"] == "chose" for one in partners)


def test_rules_of_exclusion_mark_and_never_drop(tmp_path: Path) -> None:
    study = make_study(
        tmp_path, f"{BASE}{GAME}preset = 'paper'\n{QUESTIONS.replace('cap = 1', '')}"
    )
    form = study.experiment.conditions[0].task.spec.form_answers[0]
    end: list[tuple[str, object]] = [("form", form), ("questions", {"colour": "red"})]
    timed(study, "slow", [*START, *GAME_STEPS, *end])
    timed(study, "fast", [*START, *GAME_STEPS, *end], seconds=0.5)
    with study.store.transaction():
        study.store.add_events(1, [Event("p", n, "hidden", "", None) for n in range(3)])
        # Closing the page at the end is not leaving it.
        study.store.add_events(2, [Event("p", n, "hidden", "", 1e9) for n in range(3)])
    export_study(study, tmp_path / "out")
    people = table(tmp_path / "out", "participants.csv")
    assert [one["excluded"] for one in people] == ["page_left", "fast_screens"]
    assert people[1]["fast_screens"] == "4"
    assert len(table(tmp_path / "out", "trials.csv")) == 2
    analysis = orjson.loads((tmp_path / "out/run.json").read_bytes())["analysis"]
    assert analysis["excluded"] == {"page_left": 1, "fast_screens": 1}
    (cell,) = analysis["cells"]
    assert (cell["completed"], cell["excluded"], cell["score"]["n"]) == (2, 2, 0)


def test_groups_have_quotas_in_every_condition(tmp_path: Path) -> None:
    other = GAME.replace("'a'", "'b'")
    study = make_study(tmp_path, f"{BASE}{GAME}preset = 'paper'\n{other}{QUESTIONS}")
    for number, age in enumerate(["child", "child", "child", "adult"]):
        study.take_step(str(number), 0, Step("consent", True))
        study.take_step(str(number), 1, Step("questions", {"age": age}))
    found = [(one.stage, one.condition) for one in study.store.participants()]
    assert {condition for _, condition in found[:2]} == {"a", "b"}  # one child in each
    assert found[2] == ("full", None)
    assert found[3][0] == "instructions"
    # The answer is kept, so that another one does not get a place.
    session, _ = study.take_step("2", 2, Step("retry", None))
    assert (session.stage, session.answers) == ("full", {"age": "child"})


def test_the_analysis_of_the_two_by_two_is_that_of_five_lines_of_pandas(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    study = make_study(tmp_path, PAPER.read_text().replace("cap = 25", "cap = 6"))
    for number in range(24):
        person = Direct(study, str(number))
        session = person.to_the_machine()
        item = session.now.item.content
        right = number % 5 < (4 if session.condition and "not" in session.condition.name else 2)
        form = (
            item.spec.form_answers[-1]
            if item.spec.demonstrations == "not_given"
            else next(name for name, rule in item.examples.items() if item.truth.startswith(rule))
        )
        blickets = item.truth.split(":")[1] if right else ""
        person.answer(person.take("finish"), blickets, form)
    export_study(study, tmp_path / "out")
    reported = orjson.loads((tmp_path / "out/run.json").read_bytes())["analysis"]["effects"]

    polars = pytest.importorskip("polars")
    for name in study.experiment.tables:
        assert len(polars.read_csv(tmp_path / "out" / name)) == len(
            pandas.read_csv(tmp_path / "out" / name)
        )
    t = pandas.read_csv(tmp_path / "out/trials.csv").query("excluded == 'no'")
    c = t.groupby(["hypotheses", "structure"]).correct.agg(["sum", "count"])
    p, m = (c["sum"] + 0.5) / (c["count"] + 1), c["sum"] / c["count"]
    sign = [
        1 if one in (("given", "disjunctive"), ("not given", "conjunctive")) else -1
        for one in c.index
    ]
    middle, half = (p * sign).sum(), 1.959964 * math.sqrt((p * (1 - p) / (c["count"] + 1)).sum())

    found = reported["hypotheses x structure"]
    assert found["n"] == 24
    assert found["value"] == pytest.approx((m * sign).sum())
    assert (found["low"], found["high"]) == pytest.approx((middle - half, middle + half), abs=1e-6)
    assert set(reported) == {"hypotheses", "structure", "hypotheses x structure"}
    words = ["eval", "blicket_game", "--preset", "demonstrations-given", "--seed", "7", "--items"]
    assert main([*words, "120", "--solver", "optimal", "--out", str(tmp_path / "out/o")]) == 0
    assert main(["report", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out/report.html").read_text()
    text = str(Estimate(**found))
    assert f"The interaction hypotheses x structure on correct is {text}." in page
    assert "24 of 24 people have completed; 0 of them are excluded" in page
    assert "<dt>participants</dt><dd>people</dd>" in page
    assert "<dt>models</dt>" not in page
    assert "The same items, other solvers" in page
    manifest = orjson.loads((tmp_path / "out/run.json").read_bytes())
    others = experiment_section(manifest, tmp_path / "out").tables[-1]
    assert [solver for solver, *_ in others.rows] == ["people", "optimal"]
    assert "What participants read" in page


def test_a_contrast_of_means_is_welch_s() -> None:
    found = contrast([[1.0, 2.0, 4.0], [2.0, 2.5, 6.0, 7.0]], [1, -1])
    assert found.value == pytest.approx(-2.0416667)
    # scipy.stats.ttest_ind(..., equal_var=False).confidence_interval()
    assert (found.low, found.high) == pytest.approx((-5.9919007, 1.9085674), abs=1e-5)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "[[questions]]\nid = 'kind'\ntext = 't'\nkind = 'text'",
            "named like a column of data: kind",
        ),
        ("[[questions]]\nid = 'machines'\ntext = 't'\nkind = 'text'", "the name of a group"),
        ("factors = { form = 'a' }", "named like a column of data: form"),
        ("[exclude]\nslow = 1", "unknown key 'slow'"),
        ("[completion]\ndone = 'javascript:alert(1)'", "done must be an address"),
        ("[[questions]]\nid = 'q'\ntext = 't'\noptions = ['a', 'b']\nright = 'c'", "right of 'q'"),
        ("[[questions]]\nid = 'q'\ntext = 't'\nkind = 'text'\ncap = 3", "cap of 'q' must be"),
    ],
)
def test_mistakes_are_refused_at_the_start(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "x.toml").write_text(f"title = 'x'\n{GAME}{text}")
    with pytest.raises(UserError, match=problem):
        read_experiment(tmp_path / "x.toml")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("minimum_seconds = { explor = 1 }", "unknown screen 'explor'; did you mean explore"),
        ("balance = ['machin']", "unknown field 'machin' of the items; did you mean machine"),
        ("measure = 'x'", "measure must be one of correct"),
        ("[pay]\ndone = -1", "done must be in 0..9999"),
    ],
)
def test_mistakes_in_the_first_lines(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "x.toml").write_text(f"title = 'x'\n{text}\n{GAME}")
    with pytest.raises(UserError, match=problem):
        read_experiment(tmp_path / "x.toml")
