"""Data out and data in: tables, records in results, trajectories from elsewhere, episodes."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import orjson
import pytest

from tests.benchmarks.blicket.games import game_of
from tests.people.client import PAPER, make_study
from tests.people.test_study import Direct
from trivium.benchmarks import register_environments
from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.benchmarks.blicket.game.world import Game
from trivium.benchmarks.blicket.people.trajectories import read_trajectories
from trivium.cli import main
from trivium.core.errors import UserError
from trivium.core.records import read_records
from trivium.core.results import summarise
from trivium.people.export import export_study
from trivium.people.study import reopen_study
from trivium.report.charts import series_styles
from trivium.report.compare import read_scores
from trivium.report.overview import overview
from trivium.report.results import read_results

# Ten children, as a lab may have written them down.
CHILDREN = """\
participant,age,machine,tests,blickets,form,unsure,preset
child-01,4,conjunctive:AB,A:0 B:0 C:0 AB:1,AB,striped,,demonstrations-given
child-02,4,conjunctive:AB,ABC:1 AB:1,AB,striped,,demonstrations-given
child-03,5,conjunctive:AC,A:0 C:0 AC:1 B:0,AC,striped,,demonstrations-given
child-04,5,conjunctive:BC,ABC:1 BC:1 B:0,BC,striped,,demonstrations-given
child-05,6,disjunctive:A,A:1 B:0 C:0,A,dotted,,demonstrations-given
child-06,6,disjunctive:B,A:0 B:1 AB:1,B,dotted,,demonstrations-given
child-07,4,disjunctive:C,ABC:1 C:1 C:1,C,unsure,A,demonstrations-given
child-08,5,disjunctive:C,A:0 B:0,C,striped,,demonstrations-given
child-09,5,conjunctive:BC,-:0 A:0 BC:1,BC,unsure,,demonstrations-not-given
child-10,6,disjunctive:A,AB:1 A:1,none,unsure,,demonstrations-not-given
"""


def test_trajectories_of_ten_children_become_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "children.csv").write_text(CHILDREN)
    out = tmp_path / "runs"
    words = ["import", "trajectories", str(tmp_path / "children.csv"), "--out", str(out)]
    assert main(words) == 0
    assert "blicket_game, people: 8 items, 10 answered" in capsys.readouterr().out
    rows = [orjson.loads(line) for line in (out / "records.jsonl").read_bytes().splitlines()]
    right = [row["kind"] == "right" for row in rows]
    assert right == [True] * 6 + [False, False, True, False]
    assert rows[0]["reply"][-1] == "ANSWER: blickets A, B; form striped"
    assert rows[6]["scores"]["repeats"] == pytest.approx(1 / 3)
    assert rows[6]["kind"] == "unsure:form"
    assert {row["groups"]["age"] for row in rows} == {"4", "5", "6"}
    results = read_results([out])["blicket_game"]
    assert results.settings == ["demonstrations-given", "demonstrations-not-given"]
    assert results.solvers == ["people"]
    assert results.by_solver["people"].metrics["correct"].n == 10


def test_imported_games_are_compared_on_the_same_items_and_imitated(tmp_path: Path) -> None:
    lines = [
        f"c{number},disjunctive:{'ABC'[number % 3]},A:{int(number % 3 == 0)},A,disjunctive"
        for number in range(12)
    ]
    lines[0] = lines[0].replace("A:1", "A:1 A:1 B:0 C:0 ABC:1")  # more tests than the preset's
    text = "\n".join(["participant,machine,tests,blickets,form", *lines])
    (tmp_path / "rows.csv").write_text(text)
    people, program = tmp_path / "people", tmp_path / "program"
    words = ["import", "trajectories", str(tmp_path / "rows.csv"), "--out", str(people)]
    assert main(words) == 0
    words = ["eval", "blicket_game", "--preset", "paper", "--seed", "7", "--items", "200"]
    assert main([*words, "--tests", "5", "--solver", "optimal", "--out", str(program)]) == 0
    digests = {row["digest"] for _, row in read_records(people / "records.jsonl")}
    assert digests <= {row["digest"] for _, row in read_records(program / "records.jsonl")}
    pytest.importorskip("jax")
    from trivium.agents.datasets import read_dataset

    spec, episodes = read_dataset(people)
    assert (len(episodes.action), spec.objects) == (12, 3)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("a b,conjunctive:AB,A:0,A,disjunctive", "participant must be a name"),
        ("a,conjunctive:AB,A:1,A,disjunctive", "test 1 says A:1, but conjunctive:AB gives 0"),
        ("a,conjunctive:AB,A,A,disjunctive", "tests must be like A:0 AB:1, got 'A'"),
        (
            "a,conjunctive:ABC,A:0,A,disjunctive",
            "machine 'conjunctive:ABC' is not one of the preset's",
        ),
        ("a,conjunctive:AB,A:0,A,", "form is missing"),
        ("a,conjunctive:AB,A:0,A,magic", "the answer cannot be read"),
    ],
)
def test_trajectories_that_cannot_be_true_are_refused(
    tmp_path: Path, row: str, problem: str
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"participant,machine,tests,blickets,form\n{row}\n")
    with pytest.raises(UserError, match=problem) as raised:
        list(read_trajectories(path))
    assert "rows.csv" in str(raised.value)


def test_unsure_objects_are_refused_where_nobody_is_asked_about_them(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(
        "participant,machine,tests,blickets,unsure,form\na,disjunctive:A,A:1,A,B,disjunctive\n"
    )
    with pytest.raises(UserError, match="unsure objects go with demonstrations"):
        list(read_trajectories(path))


def test_every_column_is_in_the_dictionary(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    Direct(study, "one").complete()
    export_study(study, tmp_path / "out")
    with (tmp_path / "out/dictionary.csv").open(newline="") as file:
        known = {(row["file"], row["column"]) for row in csv.DictReader(file)}
    for name in study.experiment.tables:
        with (tmp_path / "out" / name).open(newline="") as file:
            assert {(name, column) for column in next(csv.reader(file))} <= known
    with (tmp_path / "out/tests.csv").open(newline="") as file:
        row = next(csv.DictReader(file))
    assert (row["objects"], row["kind"], row["test"]) == ("A", "single", "1")


def test_people_are_one_row_of_results_and_each_of_them_a_cluster(tmp_path: Path) -> None:
    study = make_study(tmp_path, PAPER.read_text().replace("cap = 25", "items = 5"))
    for number in range(4):
        person = Direct(study, str(number))
        session = person.to_the_machine()
        while session.stage != "done":
            while session.stage in ("example", "new"):
                session = person.take("next")
            session = person.answer(person.take("finish"), "A", "unsure")
    export_study(study, tmp_path / "people")
    rows = [
        orjson.loads(line) for line in (tmp_path / "people/records.jsonl").read_bytes().splitlines()
    ]
    assert len(rows) == 20
    summary = summarise(rows, GAME.metrics)
    assert (summary.solver, summary.metrics["objects"].n) == ("people", 4)
    assert [one.solver for one in read_scores([tmp_path / "people"])] == ["people"]
    again = summarise([{**row, "trial": 1} for row in rows], GAME.metrics)
    assert "majority_correct" not in again.metrics  # items that come up again are no trials


def test_people_have_a_role_and_a_colour_of_their_own(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    Direct(study, "one").complete()
    export_study(study, tmp_path / "people")
    condition = study.experiment.condition(str(study.store.participants()[0].condition))
    words = ["eval", "blicket_game", "--preset", condition.preset, "--items", "2"]
    words += ["--solver", "optimal", "--out", str(tmp_path / "optimal")]
    assert main(words) == 0
    results = read_results([tmp_path / "people", tmp_path / "optimal"])["blicket_game"]
    assert (results.role("people"), results.role("openai/x")) == ("person", "model")
    assert results.models == ["people"]
    assert series_styles([results])["people"].colour == "person"
    roles = {
        row.name: row.about
        for table in overview(results, series_styles([results]))
        for row in table.rows
    }
    assert roles == {"people": "person", "optimal": "ceiling"}


def test_games_of_people_as_a_minari_dataset(tmp_path: Path) -> None:
    minari = pytest.importorskip("minari")
    conditions = PAPER.read_text().split("[[conditions]]")
    study = make_study(tmp_path, f"{conditions[0]}[[conditions]]{conditions[1]}")
    for name in ("one", "two"):
        Direct(study, name).complete()
    folder = str(tmp_path / "experiment.study")
    words = ["serve", "export", folder, "--out", str(tmp_path / "out"), "--minari", "people/x-v0"]
    assert main(words) == 0
    before = os.environ.get("MINARI_DATASETS_PATH")
    os.environ["MINARI_DATASETS_PATH"] = str(tmp_path / "out")
    try:
        episodes = list(minari.load_dataset("people/x-v0").iterate_episodes())
    finally:
        os.environ.pop("MINARI_DATASETS_PATH")
        if before is not None:
            os.environ["MINARI_DATASETS_PATH"] = before
    assert len(episodes) == 2
    assert episodes[0].actions.tolist()[6] == [1, 0, 0, 0]  # A alone, after the demonstrations
    assert len(episodes[0].actions) == 6 + 2 + 1 + 3 + 1
    sessions = [study.session(one) for one in study.store.participants()]
    scores = [one.now.dialogue.scores for one in sessions]
    for episode, own in zip(episodes, scores, strict=True):
        objects, form = (2 * float(own[name] or 0) - 1 for name in ("objects", "form"))
        assert episode.rewards.sum() == pytest.approx(3 * objects + 0.5 * form)


def test_games_with_noise_are_no_minari_dataset(tmp_path: Path) -> None:
    """The environment that would play them again has no noise."""
    pytest.importorskip("gymnasium")
    from trivium.benchmarks.blicket.people.episodes import write_episodes

    games = [Game(game_of("conjunctive:AB", GameSpec(tests=4, noise=noise))) for noise in (0, 0.1)]
    with pytest.raises(UserError, match="games with noise cannot be replayed"):
        write_episodes(games, "people/x-v0", tmp_path)
    assert not list(tmp_path.iterdir())


def test_deleting_by_code_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = make_study(tmp_path)
    Direct(study, "one").complete()
    code = study.store.participants()[0].code
    folder = str(tmp_path / "experiment.study")
    assert main(["serve", "delete", folder, code]) == 0
    assert main(["serve", "delete", folder, code]) == 2
    assert "no participant has the code" in capsys.readouterr().err
    assert reopen_study(tmp_path / "experiment.study").store.participants() == []


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "name one experiment file, or give --demo"),
        (["nothing.toml"], "nothing.toml: No such file"),
        (["nothing.toml", "--port", "70000"], "port must be in 0..65535"),
        (["export", "nowhere", "--out", "x"], "there is no study in this folder"),
    ],
)
def test_what_is_wrong_on_the_command_line(
    words: list[str],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["serve", *words]) == 2
    assert problem in capsys.readouterr().err


# Background jobs of a shell ignore SIGINT.
IN_BACKGROUND = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
IN_BACKGROUND += "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"


@pytest.mark.parametrize("before", [[], ["-c", IN_BACKGROUND]])
def test_a_demo_is_served_and_ends_with_the_process(before: list[str]) -> None:
    process = subprocess.Popen(
        [sys.executable, *before, "-m", "trivium", "serve", "--demo", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    folder = process.stdout.readline().removeprefix("study in ").strip()
    url = process.stdout.readline().removeprefix("participants: ").strip()
    with urllib.request.urlopen(url, timeout=20) as page:
        assert b"<main" in page.read()
    process.terminate()
    process.wait(20)
    process.stdout.close()
    assert not Path(folder).exists()


NAMES = (("BlicketGiven-v0", "given"), ("BlicketNotGiven-v0", "not_given"))


@pytest.mark.parametrize(("name", "kind"), NAMES)
def test_environments_with_demonstrations(name: str, kind: str) -> None:
    gymnasium = pytest.importorskip("gymnasium")
    register_environments()  # trivium may have been imported before gymnasium
    checker = pytest.importorskip("gymnasium.utils.env_checker")
    env = gymnasium.make(f"trivium:trivium/{name}", render_mode="ansi")
    checker.check_env(env.unwrapped, skip_render_check=True)
    orders = set()
    for seed in range(8):
        first, info = env.reset(seed=seed)
        orders.add(info["examples"])
        shown = [first, *(env.step([1, 1, 1, 1])[0] for _ in range(6))]
        assert [(one[4], one[5]) for one in shown] == [(0, 0)] + [(1, 0)] * 3 + [(0, 1)] * 3
        # the tests of the paper's appendix: two machines, three tests each
        lights = {"conjunctive": (0, 0, 1), "disjunctive": (1, 0, 1), "open": (0, 0, 1)}
        expected = [light for rule in info["examples"] for light in lights[rule]]
        assert [one[3] for one in shown[1:]] == expected
        assert "example machine 2" in env.render()
        assert env.step([1, 1, 1, 0])[0].tolist() == [1, 1, 1, 1, 0, 0, 0]  # the new machine
        env.step([0, 0, 0, 1])
        conjunctive = info["hypothesis"].startswith("conjunctive")
        for letter in "ABC":
            blicket = letter in info["hypothesis"].split(":")[1]
            assert env.step([int(blicket)] * 3 + [0])[1] == 1.0
        like = (
            info["examples"].index("conjunctive" if conjunctive else "disjunctive")
            if kind == "given"
            else 2
        )
        _, reward, over, _, _ = env.step([like & 1, like >> 1, 0, 0])
        assert (reward, over) == (0.5, True)
    both = {("conjunctive", "disjunctive"), ("disjunctive", "conjunctive")}
    assert orders == (both if kind == "given" else {("open", "open")})


@pytest.mark.parametrize(("name", "kind"), NAMES)
def test_batched_environments_with_demonstrations_are_the_same(name: str, kind: str) -> None:
    gymnasium = pytest.importorskip("gymnasium")
    register_environments()  # trivium may have been imported before gymnasium
    single = [gymnasium.make(f"trivium:trivium/{name}") for _ in range(5)]
    batch = gymnasium.make_vec(
        f"trivium:trivium/{name}", num_envs=5, vectorization_mode="vector_entry_point"
    )
    one = [env.reset(seed=7 + number)[0] for number, env in enumerate(single)]
    seen, _ = batch.reset(seed=7)
    rng = np.random.default_rng(3)
    for _ in range(12):  # the quiz bit from the tenth step on
        assert np.array(one).tolist() == seen.tolist()
        actions = rng.integers(0, 2, (5, 4)) * [1, 1, 1, 0]
        one = [env.step(action)[0] for env, action in zip(single, actions, strict=True)]
        seen = batch.step(actions)[0]


def test_the_observer_answers_rightly_after_demonstrations() -> None:
    pytest.importorskip("gymnasium")
    from trivium.benchmarks.blicket.world.policies import get_policy
    from trivium.benchmarks.blicket.world.recording import play
    from trivium.benchmarks.blicket.world.spec import BlicketSpec

    for _, kind in NAMES:
        spec = BlicketSpec("quiz-type", demonstrations=kind)  # type: ignore[arg-type]
        played = list(play(spec, get_policy("information_gain"), 1, 20))
        assert {episode.total for episode in played} == {3.5} == {spec.maximum}
