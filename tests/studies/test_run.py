"""Units leave files, are resumed, and are refused where they belong to another study."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import orjson
import pytest
from studies.blicket_learners import __main__ as entry
from studies.blicket_learners import machine_space, machines, run, train
from studies.blicket_learners.plan import (
    ImitatorUnit,
    LearnerUnit,
    QUnit,
    Scale,
    Unit,
    plan,
)
from studies.blicket_learners.run import (
    checkpoint_file,
    is_done,
    pending,
    policy_file,
    run_all,
    run_unit,
    unit_file,
)
from studies.blicket_learners.train import run_trials, train_imitators, train_learners

from trivium.agents.config import LengthConfig
from trivium.core.errors import UserError

STUDY = Path(__file__).parents[2] / "studies" / "blicket_learners"


def silent(text: str) -> None:
    """Drops what is reported."""


def q_unit(scale: Scale) -> QUnit:
    return next(unit for unit in plan(scale) if isinstance(unit, QUnit))


def shape(value: Any) -> Any:
    """The keys of a record at every depth; lists are of one shape."""
    if isinstance(value, dict):
        return {key: shape(part) for key, part in value.items()}
    if isinstance(value, list) and value:
        return [shape(value[0])]
    return None


def stored_tasks(path: Path) -> list[dict[str, Any]]:
    tasks: list[dict[str, Any]] = orjson.loads(path.read_bytes())["tasks"]
    return tasks


@pytest.mark.slow
@pytest.mark.usefixtures("quick_compilation")
def test_a_study_from_start_to_report(
    tiny: Scale, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One unit of each kind through the command: files as the stored ones, then the report."""
    # A known and an unseen form, with as many objects as in training and with more: every
    # further pair is compiled anew and goes the same way.
    monkeypatch.setattr(train, "TESTED_FORMS", ("disjunctive", "parity"))
    monkeypatch.setattr(train, "TESTED_OBJECTS", (3, 4))
    monkeypatch.setattr(entry, "QUICK", tiny)
    for module in (machine_space, machines):
        monkeypatch.setattr(module, "TESTED", 8)
    machine_space.test_sets.cache_clear()
    chosen = {
        "cloning-30_paper_a2c-lstm_8_type": "cloning-30_paper_a2c-lstm_256_type",
        "paper_a2c-lstm_8_type": "paper_a2c-lstm_256_type",
        "paper_a2c-lstm_8_typeonly": "paper_a2c-lstm_256_typeonly",
        "machines_lstm": "machines_lstm",
        "machines_equivariant": "machines_equivariant",
        "machines_observers": "machines_observers",
        "untrained": "untrained",
        "paper_a2c-lstm_8_quiz": "paper_a2c-lstm_256_quiz",
        "paper_a2c-lstm_8_quiz_tasks": "paper_a2c-lstm_256_quiz_tasks",
        "transfer_ppo-lstm_one_form": "transfer_ppo-lstm_one_form",
        "q_fixed": "q_fixed",
        "q_drawn": "q_drawn",
    }
    command = ["--quick", "--out", str(tmp_path)]
    assert entry.main([*command, "--match", ",".join(chosen)]) == 0
    assert capsys.readouterr().out.count("finished after") == len(chosen)
    assert not (tmp_path / "tables.md").exists()  # some units alone are no study
    for name, like in chosen.items():
        made, stored = (
            orjson.loads((folder / "data" / f"{file}.json").read_bytes())
            for folder, file in ((tmp_path, name), (STUDY, like))
        )
        assert made["finished"]
        if name != "untrained":  # its keys are the names of agents
            # Records of the first commit do not name it, and some lack what is new.
            assert shape(stored).items() <= shape(made).items()
    forced, *others = stored_tasks(tmp_path / "data" / "paper_a2c-lstm_8_quiz_tasks.json")
    assert forced["task"]["forced"] == 5
    assert np.min(forced["tests"]) >= 5  # its own seeds, and no other task's
    assert all(np.min(other["tests"]) < 5 for other in others)
    assert entry.main([*command, "--match", ",".join(chosen)]) == 0
    assert "finished" not in capsys.readouterr().out  # nothing is left to do
    assert entry.main([*command, "--report_only"]) == 0
    tables = (tmp_path / "tables.md").read_text(encoding="utf-8")
    drawn = {path.name for path in (tmp_path / "figures").glob("*.svg")}
    parts = ("fig3a", "fig3b", "fig3c", "fig3d", "table1", "overhypotheses", "machines")
    assert drawn == {f"{part}.svg" for part in parts}
    assert "**This study is too short to judge" in tables
    assert "too short to judge |" in tables
    assert "(p " not in tables
    assert all(f"](figures/{name})" in tables for name in drawn)
    assert "| the paper | 70 | 292 | - |" in tables
    assert "Not run." not in tables
    machine_space.test_sets.cache_clear()
    missing = {unit.name for unit in plan(tiny)} - set(chosen)
    listed = tables.split("## Units")[0]
    assert all(f"`{name}`" in listed for name in missing)
    assert not any(f"`{name}`" in listed for name in chosen)


def test_a_unit_finished_meanwhile_is_left_alone(tiny: Scale, tmp_path: Path) -> None:
    """Two processes on one folder: the later must not put half a result over a whole one."""
    unit = q_unit(tiny)
    assert "finished after" in run_unit(unit, tmp_path)
    written = unit_file(tmp_path, unit).read_bytes()
    assert "by another process" in run_unit(unit, tmp_path)
    assert unit_file(tmp_path, unit).read_bytes() == written


def test_units_of_another_scale_are_refused(tiny: Scale, tmp_path: Path) -> None:
    """A quick study's units have the names of the full one's, and must not pass for them."""
    unit = q_unit(tiny)
    run_unit(unit, tmp_path)
    assert is_done(tmp_path, unit)
    with pytest.raises(UserError, match=r"q_fixed.json: trials differs .* with --out"):
        is_done(tmp_path, replace(unit, trials=3))
    longer = replace(unit, config=replace(unit.config, most_episodes=70_000))
    with pytest.raises(UserError, match="config differs"):
        pending([longer], tmp_path)


@pytest.mark.parametrize(
    "kind", ["paper_a2c-lstm_256_quiz", "cloning-30_random", "transfer_ppo-lstm_", "machines_obs"]
)
def test_stored_units_with_other_seeds_are_refused(kind: str) -> None:
    unit = next(unit for unit in plan(Scale()) if unit.name.startswith(kind))
    assert not isinstance(unit, QUnit)
    assert is_done(STUDY, unit)
    with pytest.raises(UserError, match="seeds differs"):
        is_done(STUDY, replace(unit, seeds=7))


def test_stored_units_of_another_length_are_refused(tmp_path: Path) -> None:
    units: dict[str, Any] = {unit.name: unit for unit in plan(Scale())}
    longer = replace(units["paper_a2c-lstm_256_quiz"], length=LengthConfig(4_000_000, 40))
    with pytest.raises(UserError, match="asked_steps differs"):
        is_done(STUDY, longer)
    more = replace(units["cloning-1_random"], episodes=400_000)
    with pytest.raises(UserError, match="episodes differs"):
        is_done(STUDY, more)
    # Records of the first commit do not all say how long they should be: the curve does.
    transfer = units["transfer_ppo-lstm_two_forms"]
    assert is_done(STUDY, transfer)
    assert not is_done(STUDY, replace(transfer, length=LengthConfig(8_000_000, 20)))
    stored = orjson.loads(unit_file(STUDY, transfer).read_bytes())
    (tmp_path / "data").mkdir()
    for record, done in (
        (stored, True),
        (stored | {"steps": stored["steps"][:-1]}, False),
        (stored | {"steps": stored["steps"][:-1], "converged": [900_000] * 8}, True),
        (stored | {"finished": False}, False),
    ):
        unit_file(tmp_path, transfer).write_bytes(orjson.dumps(record))
        assert is_done(tmp_path, transfer) == done


def test_every_stored_unit_is_whole_and_none_is_missing() -> None:
    assert [unit.name for unit in plan(Scale()) if not is_done(STUDY, unit)] == []


def test_files_that_no_unit_has_are_refused(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "q_fixed_old.json").write_text("{}", encoding="utf-8")
    assert entry.main(["--report_only", "--out", str(tmp_path)]) == 2


@pytest.mark.slow
def test_makers_without_policies_are_trained_again(tiny: Scale, tmp_path: Path) -> None:
    """Their records are part of the data, their policies are not."""
    units: list[Unit] = plan(tiny, ["table1"])
    maker = next(unit for unit in units if unit.name == "paper_a2c-lstm_8_type")
    assert isinstance(maker, LearnerUnit)
    assert "finished after" in run_unit(maker, tmp_path, tell=silent)
    wanted = ["cloning-1_paper_a2c-lstm_8_type"]
    assert [unit.name for unit in pending(units, tmp_path, wanted)] == wanted
    policy_file(tmp_path, maker.name, 1).unlink()
    assert [unit.name for unit in pending(units, tmp_path, wanted)] == [maker.name, *wanted]
    assert "finished after" in run_unit(maker, tmp_path, tell=silent)
    assert policy_file(tmp_path, maker.name, 1).exists()


def test_imitators_wait_for_their_agents_and_one_failure_ends_nothing(
    tiny: Scale, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    def pretend(unit: Unit, out: Path, deadline: float | None) -> str:
        order.append(unit.name)
        if unit.name.startswith("transfer"):
            raise ValueError("no space")
        return unit.name

    monkeypatch.setattr(run, "run_unit", pretend)
    units = [*reversed(plan(tiny, ["table1"])), *plan(tiny, ["overhypotheses"])]
    said: list[str] = []
    failed = run_all(units, tmp_path, workers=1, deadline=None, tell=said.append)
    assert sorted(order) == sorted(unit.name for unit in units)
    assert failed == ["transfer_ppo-lstm_one_form"]
    assert f"{failed[0]}: failed: ValueError: no space" in said
    for unit in units:
        if isinstance(unit, ImitatorUnit) and unit.maker:
            assert order.index(unit.data) < order.index(unit.name)


@pytest.mark.slow
def test_units_are_shared_by_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    command = ["--quick", "--only", "qlearning", "--match", "q_*", "--out", str(tmp_path)]
    assert entry.main([*command, "--workers", "2"]) == 0
    out = capfd.readouterr().out
    assert out.count("finished after") == 2


def test_units_are_run_in_the_order_of_the_patterns(
    tiny: Scale, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(entry, "QUICK", tiny)
    run_unit(q_unit(tiny), tmp_path)
    command = ["--quick", "--dry_run", "--out", str(tmp_path)]
    assert entry.main([*command, "--match", "transfer_*,q_*,paper_*_type,*_one_form"]) == 0
    names = ["transfer_ppo-lstm_one_form", "q_drawn", "paper_a2c-lstm_8_type"]
    assert capsys.readouterr().out.split() == [*names, "paper_ppo-lstm_8_type"]
    assert not (tmp_path / "tables.md").exists()


def test_a_time_limit_ends_without_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--quick", "--only", "qlearning", "--out", str(tmp_path)]
    assert entry.main([*command, "--seconds", "5"]) == 0
    assert capsys.readouterr().out == "q_fixed: no time left\nq_drawn: no time left\n"
    assert not list(tmp_path.iterdir())


def test_data_of_agents_need_the_agents(tiny: Scale, tmp_path: Path) -> None:
    """Random play must not stand in for policies that are not there."""
    units: list[Unit] = plan(tiny)
    unit = next(unit for unit in units if unit.name == "cloning-1_paper_a2c-lstm_8_type")
    assert isinstance(unit, ImitatorUnit)
    with pytest.raises(UserError, match=r"_type_0\.eqx is missing: run .* part table1"):
        train_imitators(unit, tmp_path, None, silent)


def test_trials_are_those_that_0_1_stored() -> None:
    record = run_trials(q_unit(Scale()))
    stored = orjson.loads((STUDY / "data" / "q_fixed.json").read_bytes())
    assert {**record, "seconds_here": stored["seconds_here"]} == stored


def test_transfer_accuracy_is_the_share_of_right_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rewards of +1 and -1 per object, two seeds on two machines."""
    reward = np.array([[4.0, 2.0], [0.0, -4.0]])
    played = SimpleNamespace(reward=reward, tests=np.array([[1.0, 2.0], [3.0, 4.0]]))
    monkeypatch.setattr(train, "_play_greedily", lambda *arguments: played)
    record = train._transferred(None, "disjunctive", 4)
    assert record["accuracy"] == [0.875, 0.25]
    assert record["perfect"] == [0.5, 0.0]
    assert record["tests"] == [1.5, 3.5]
    assert record["machines"] == 15


@pytest.mark.slow
@pytest.mark.usefixtures("quick_compilation")
def test_imitators_out_of_time_are_resumed(tiny: Scale, tmp_path: Path) -> None:
    imitation = replace(tiny.imitation, model="cloning", epochs=2)
    unit = ImitatorUnit("cloning-30", imitation, "ideal", None, episodes=60, rollouts=5, seeds=1)
    record = train_imitators(unit, tmp_path, 0.0, silent)
    assert record["epochs"] == 1
    assert not record["finished"]
    assert record["data_reward"] == 3.0  # the ideal observer earns all
    assert "finished after" in run_unit(unit, tmp_path, tell=silent)
    assert not checkpoint_file(tmp_path, unit).exists()
    whole = train_imitators(unit, tmp_path / "whole", None, silent)
    stored = orjson.loads(unit_file(tmp_path, unit).read_bytes())
    assert stored["validation_loss"] == whole["validation_loss"]
    assert is_done(tmp_path, unit)


@pytest.mark.slow
def test_a_unit_out_of_time_is_resumed_from_its_checkpoint(tiny: Scale, tmp_path: Path) -> None:
    unit = next(unit for unit in plan(tiny) if unit.name == "paper_a2c-mlp_8_quiz")
    assert isinstance(unit, LearnerUnit)
    whole = train_learners(unit, tmp_path / "whole", None, silent)
    half = train_learners(unit, tmp_path / "half", 0.0, silent)
    assert (half["finished"], len(half["tasks"][0]["steps"])) == (False, 1)
    assert checkpoint_file(tmp_path / "half", unit).exists()
    assert "finished after" in run_unit(unit, tmp_path / "half", tell=silent)
    rest = orjson.loads(unit_file(tmp_path / "half", unit).read_bytes())
    assert rest["tasks"] == orjson.loads(orjson.dumps(whole["tasks"]))
    assert not checkpoint_file(tmp_path / "half", unit).exists()
    assert "no time left" in run_unit(unit, tmp_path, time.time() + 29)
    assert not is_done(tmp_path, unit)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--only", "fig9"], "unknown part 'fig9'"),
        (["--only", ","], "--only names no part"),
        (["--seeds", "0"], "seeds must be at least 1"),
        (["--seeds", "soon"], "--seeds: must be a whole number, got 'soon'"),
        (["--seconds", "soon"], "--seconds: must be a number, got 'soon'"),
        (["--report_only"], "holds no study"),
        (["--wrong"], "--wrong"),
    ],
)
def test_bad_input_ends_in_one_sentence(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert entry.main([*words, "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1
    assert not out.exists()


def test_the_usage_names_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        entry.main(["--help"])
    assert capsys.readouterr().out.startswith("usage: python -m studies.blicket_learners [flags]")
