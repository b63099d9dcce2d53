"""Executing runs: locks, resuming, refusals, and records that are never doubled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trivium.benchmarks import load_task
from trivium.cli import main
from trivium.core.errors import UserError
from trivium.core.files import locked
from trivium.core.records import read_records, recorded
from trivium.core.task import PresentedItem
from trivium.evaluation.evaluation import Evaluation, Items, Run, read_items
from trivium.evaluation.execute import execute
from trivium.evaluation.executors import Processes, Workers
from trivium.evaluation.plan import plan_main_run

EVAL = ["eval", "nhop_implicit", "--solver", "oracle", "--items", "5", "--out"]

MAIN_RUN = ["run", "--items", "1", "--benchmarks", "nhop_implicit", "--processes", "1", "--out"]


def plan(items: int = 6, **more: object) -> Run:
    task = load_task("nhop_implicit", fields={"hops": 4, "m": 4})
    return Run.of(Evaluation(task, Items(7, 0, items), "last_line", **more))  # type: ignore[arg-type]


def rows(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]


def test_every_command_that_records_takes_the_lock(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with locked(tmp_path / "busy"):
        for words in (
            [*EVAL, str(tmp_path / "busy")],
            [*MAIN_RUN, str(tmp_path / "busy")],
        ):
            assert main(words) == 2
            assert "another process is working there" in capsys.readouterr().err
    assert not (tmp_path / "busy" / "records.jsonl").exists()
    assert main([*EVAL, str(tmp_path / "busy")]) == 0


def test_a_folder_in_use_is_refused_before_anything_else_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*EVAL, str(tmp_path / "a")]) == 0
    assert main([*MAIN_RUN, str(tmp_path / "b")]) == 0
    more = [*EVAL, str(tmp_path / "a"), "--items", "8"]
    model = [*MAIN_RUN, str(tmp_path / "c"), "--model", "vllm/m"]
    for words, folder in ((more, "a"), ([*MAIN_RUN, str(tmp_path / "b")], "b"), (model, "c")):
        with locked(tmp_path / folder):
            capsys.readouterr()
            assert main(words) == 2
            (error,) = capsys.readouterr().err.splitlines()
            assert "another process is working there" in error


def test_what_is_recorded_is_not_attempted_again(tmp_path: Path) -> None:
    execute(plan(4), tmp_path)
    first = (tmp_path / "records.jsonl").read_bytes()
    execute(plan(6), tmp_path)
    assert (tmp_path / "records.jsonl").read_bytes().startswith(first)
    assert [row["id"] for row in rows(tmp_path)] == [f"IMP-{n:06d}" for n in range(6)]
    (summary,) = execute(plan(6), tmp_path)
    assert summary.items == 6


def test_a_few_attempts_start_no_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    submit = Processes._submit

    def counted(*words: Any) -> Any:
        started.append(1)
        return submit(*words)

    monkeypatch.setattr(Processes, "_submit", counted)
    with Workers(processes=2).open() as executor:
        execute(plan(250), tmp_path, executor=executor)
        assert not started
        execute(plan(501), tmp_path, executor=executor)
        assert len(started) == 3, "chunks of 250 items, the first of which is recorded"
    assert len(rows(tmp_path)) == 501


def test_an_incomplete_last_line_is_attempted_again(tmp_path: Path) -> None:
    execute(plan(4), tmp_path)
    path = tmp_path / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    execute(plan(4), tmp_path)
    assert [row["id"] for row in rows(tmp_path)] == [f"IMP-{n:06d}" for n in range(4)]


@pytest.mark.parametrize(
    ("other", "key"),
    [
        (Evaluation(load_task("nhop_implicit"), Items(7, 0, 4), "last_line"), "hops"),
        (
            Evaluation(
                load_task("nhop_implicit", fields={"hops": 4, "m": 4}), Items(8, 0, 4), "last_line"
            ),
            "seed",
        ),
        (
            Evaluation(
                load_task("nhop_implicit", fields={"hops": 4, "m": 4}), Items(7, 0, 4), "oracle"
            ),
            "solver",
        ),
    ],
)
def test_a_folder_of_another_evaluation_is_refused(
    tmp_path: Path, other: Evaluation, key: str
) -> None:
    execute(plan(4), tmp_path)
    before = (tmp_path / "records.jsonl").read_bytes()
    with pytest.raises(UserError, match=rf"holds another evaluation \({key} is"):
        execute(Run.of(other), tmp_path)
    assert (tmp_path / "records.jsonl").read_bytes() == before


def test_the_field_in_which_two_specs_differ_is_named(tmp_path: Path) -> None:
    """A game's rules come before its number of tests, and are the same, though a list on disk."""
    first, second = (
        Run.of(Evaluation(load_task("blicket_game", fields=fields), Items(7, 0, 1), "optimal"))
        for fields in ({"mixed": False, "tests": 4}, {"mixed": False, "tests": 3})
    )
    execute(first, tmp_path)
    with pytest.raises(UserError, match=r"\(tests is 4 there, 3 was asked for\)"):
        execute(second, tmp_path)


def test_a_second_record_of_an_attempt_is_refused(tmp_path: Path) -> None:
    execute(plan(3), tmp_path)
    path = tmp_path / "records.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines, lines[1]]))
    with pytest.raises(UserError, match="line 4: a second record of the same item and trial"):
        recorded(path)
    with pytest.raises(UserError, match="line 4: a second record of the same item and trial"):
        list(read_records(path))
    for words in (["report"], ["analyze"], ["compare"]):
        assert main([*words, str(tmp_path)]) == 2


def test_items_of_other_seeds_and_views_are_no_repeats(tmp_path: Path) -> None:
    for seed in (1, 2):
        execute(plan(3, trials=2), tmp_path / "one")
        run = Run.of(Evaluation(load_task("nhop_implicit"), Items(seed, 0, 3), "last_line"))
        execute(run, tmp_path / f"seed{seed}")
    files = [tmp_path / name / "records.jsonl" for name in ("one", "seed1", "seed2")]
    (tmp_path / "all.jsonl").write_text("".join(file.read_text() for file in files))
    assert len(list(read_records(tmp_path / "all.jsonl"))) == 6 + 3 + 3


def test_a_main_run_has_every_preset_and_solver() -> None:
    run = plan_main_run(["nhop_implicit", "blicket_game"], seed=3, items=2)
    folders = {one.folder for one in run.evaluations}
    assert len(folders) == len(run.evaluations)
    assert "nhop_implicit/implicit/oracle" in folders
    assert {one.items.count for one in run.evaluations} == {2}
    whole = plan_main_run(["blicket_game"], seed=3, items=None)
    assert {one.items.count for one in whole.evaluations} == {200}
    single = plan_main_run(["identifying_variables.csv.balanced-ctrl"], seed=3, items=2)
    assert {one.setting for one in single.evaluations} == {"csv.balanced-ctrl"}


def test_a_main_run_can_be_of_some_presets() -> None:
    names = ["nhop_explicit", "nhop_implicit", "blicket_game"]
    run = plan_main_run(names, seed=3, items=2, presets=["explicit-hard", "mixed"])
    assert {one.setting for one in run.evaluations} == {"explicit-hard", "mixed"}
    assert run.benchmarks == ("nhop_explicit", "blicket_game")
    with pytest.raises(UserError, match="unknown preset 'six'; there are explicit-easy, "):
        plan_main_run(names, seed=3, items=2, presets=["six"])


@pytest.mark.parametrize("seed", [0, 1])
def test_the_items_that_a_run_writes_are_those_that_it_records(seed: int, tmp_path: Path) -> None:
    task = load_task("nhop_implicit", fields={"hops": 4, "m": 4})
    run = Run.of(Evaluation(task, Items(seed, 0, 4), "oracle"))
    execute(run, tmp_path, write_items=True)
    (path,) = (tmp_path / "data").iterdir()
    written = read_items(task.benchmark, [path])
    assert written == [item.original for item in task.items(4, seed=seed)]
    assert [PresentedItem(task, item).digest for item in written] == [
        row["digest"] for row in rows(tmp_path)
    ]


def test_models_beside_programs_have_their_own_settings() -> None:
    from trivium.models.settings import Settings

    settings = Settings(temp=0.5, max_output_tokens=99)
    run = plan_main_run(["nhop_implicit"], seed=1, items=2, models=["openai/x"], settings=settings)
    manifests = {one.solver: one.manifest() for one in run.evaluations}
    assert manifests["openai/x"]["shaping"]["temp"] == 0.5
    assert manifests["openai/x"]["shaping"]["max_output_tokens"] == 99
    assert "shaping" not in manifests["oracle"]
