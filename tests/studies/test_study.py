"""The study's plan, its files, its report; and training from the command line."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import jax
import numpy as np
import orjson
import pytest
from studies.blicket_learners import transfer
from studies.blicket_learners.imitators import run_imitators
from studies.blicket_learners.learners import run_learners
from studies.blicket_learners.paper_values import FORM_PLATEAUS, PAPER_TABLE, ideal_reward
from studies.blicket_learners.plan import (
    PARTS,
    QUICK,
    ImitatorUnit,
    LearnerUnit,
    QUnit,
    Scale,
    TransferUnit,
    plan,
)
from studies.blicket_learners.report import write_report
from studies.blicket_learners.runner import in_order, is_done, pending, run_task, unit_file

from trivium.agents import progress
from trivium.agents.configuration import LengthConfig, TaskConfig, large_batch, paper
from trivium.agents.trained import TrainingJob, train
from trivium.agents.training import segment_all
from trivium.benchmarks.blicket.inference.hypotheses import Hypothesis, lights, split
from trivium.cli import main
from trivium.core.errors import UserError

TINY = replace(
    QUICK,
    widths=(8,),
    points=2,
    alone_steps=600,
    wider_steps=600,
    task_steps=600,
    large_steps=1_100,
    transfer_steps=1_100,
    large_environments=4,
    random_episodes=60,
    agent_episodes=60,
    rollouts=5,
    trials=2,
    imitation=replace(QUICK.imitation, width=8, layers=1, epochs=1),
)


@pytest.fixture
def soon_compiled() -> Iterator[None]:
    """Programs that run for a moment are compiled without optimisations: half of the time."""
    config: Any = jax.config  # its methods have no types
    config.update("jax_disable_most_optimizations", True)
    yield
    config.update("jax_disable_most_optimizations", False)


def test_the_full_plan_has_what_the_paper_has() -> None:
    units = plan(Scale())
    assert len({unit.name for unit in units}) == len(units)
    alone = {
        (unit.agent.name, unit.agent.width)
        for unit in units
        if isinstance(unit, LearnerUnit) and unit.preset == "paper" and "fig3a" in unit.parts
    }
    policies = [
        f"{kind}-{policy}" for kind in ("a2c", "ppo") for policy in ("mlp", "lstm", "lnlstm")
    ]
    assert alone == {(policy, width) for policy in policies for width in (256, 512)}
    rows = [unit for unit in units if isinstance(unit, ImitatorUnit)]
    assert len(rows) == sum(map(len, PAPER_TABLE.values())) == 16
    assert all(unit.seeds >= 8 for unit in units if not isinstance(unit, QUnit))
    # Table 2 is read from stored replies: nothing is run for it.
    assert {part for unit in units for part in unit.parts} == set(PARTS) - {"table2"}


def test_a_part_brings_what_it_needs() -> None:
    units = plan(TINY, ["table1"])
    made = {unit.name for unit in units if isinstance(unit, LearnerUnit)}
    needed = {unit.data for unit in units if isinstance(unit, ImitatorUnit)}
    assert {data for data in needed if not data.startswith("random")} <= made
    first, later = in_order(pending(units, Path("nowhere")))
    assert not any(isinstance(task.unit, ImitatorUnit) for task in first)
    assert all(isinstance(task.unit, ImitatorUnit) for task in later)


@pytest.mark.usefixtures("soon_compiled")
def test_units_leave_files_and_the_report_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A known and an unseen form, with as many objects as in training and with more: every
    # further pair is compiled anew and goes the same way.
    monkeypatch.setattr(transfer, "TESTED_FORMS", ("disjunctive", "parity"))
    monkeypatch.setattr(transfer, "TESTED_OBJECTS", (3, 4))
    units = plan(TINY)
    # One unit of each kind, the learner and an imitator of its trajectories among them.
    chosen = [
        next(unit for unit in units if unit.name == "paper_a2c-lstm_8_type"),
        next(unit for unit in units if unit.name == "cloning_paper_a2c-lstm_8_type"),
        next(unit for unit in units if unit.name == "paper_a2c-lstm_8_quiz"),
        next(unit for unit in units if unit.name == "paper_a2c-lstm_8_quiz_tasks"),
        next(unit for unit in units if isinstance(unit, TransferUnit)),
        *[unit for unit in units if isinstance(unit, QUnit)],
    ]
    for task in pending(chosen, tmp_path):
        assert "done" in run_task(task, lambda text: None)
    assert pending(chosen, tmp_path) == []
    for unit in chosen:
        assert orjson.loads(unit_file(tmp_path, unit).read_bytes())["finished"]
    report = write_report(tmp_path, PARTS, "trivium study", units).read_text(encoding="utf-8")
    for part in PARTS:
        drawn = part not in ("qlearning", "table2")
        assert (tmp_path / f"{part}.png").exists() == drawn, part
    assert "| the paper | 70 | 292 | - |" in report
    assert "Not run." not in report
    missing = {unit.name for unit in units} - {unit.name for unit in chosen}
    assert all(f"`{name}`" in report for name in missing)
    assert not any(f"`{unit.name}`" in report for unit in chosen)


def test_a_unit_done_meanwhile_is_left_alone(tmp_path: Path) -> None:
    """Two processes on one folder: the later must not put half a result over a whole one."""
    unit = next(unit for unit in plan(TINY) if isinstance(unit, QUnit))
    (task,) = pending([unit], tmp_path)
    assert "done after" in run_task(task)
    written = unit_file(tmp_path, unit).read_bytes()
    assert "by another process" in run_task(task)
    assert unit_file(tmp_path, unit).read_bytes() == written


def test_units_of_another_scale_are_refused(tmp_path: Path) -> None:
    """A quick study's units have the names of the full one's, and must not pass for them."""
    unit = next(unit for unit in plan(TINY) if isinstance(unit, QUnit))
    (task,) = pending([unit], tmp_path)
    run_task(task)
    assert is_done(tmp_path, unit)
    with pytest.raises(UserError, match="trials differs"):
        is_done(tmp_path, replace(unit, trials=3))
    longer = replace(unit, config=replace(unit.config, most_episodes=70_000))
    with pytest.raises(UserError, match="config differs"):
        pending([longer], tmp_path)


def test_data_of_agents_need_the_agents(tmp_path: Path) -> None:
    """Random play must not stand in for policies that are not there."""
    name = "paper_a2c-lstm_8_type"
    unit = ImitatorUnit("cloning", TINY.imitation, name, episodes=60, rollouts=5, seeds=1)
    with pytest.raises(UserError, match="is missing: run the study's part fig3d first"):
        run_imitators(unit, None, tmp_path, None, lambda text: None)


@pytest.mark.usefixtures("soon_compiled")
def test_imitators_out_of_time_are_not_finished(tmp_path: Path) -> None:
    imitation = replace(TINY.imitation, model="cloning", epochs=2)
    unit = ImitatorUnit("cloning_random", imitation, "random", episodes=60, rollouts=5, seeds=1)
    record = run_imitators(unit, None, tmp_path, 0.0, lambda text: None)
    assert record["epochs"] == 1
    assert not record["finished"]


def test_table_2_needs_no_learners(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The stored replies are scored with nothing run, and all but the misprint agree."""
    assert main(["study", "--only", "table2", "--out", str(tmp_path)]) == 0
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "11 of 12 replies" in report
    assert "| 1/1, 1 wrong, structure - | 1/2, 1 wrong, structure - |" in report
    assert not (tmp_path / "data").exists()


def test_the_plateaus_of_the_form_are_exact() -> None:
    """The best share of forms told rightly, by trying every sequence of tests."""
    for name, plateaus in FORM_PLATEAUS.items():
        trained = split(name)[0].hypotheses
        found = [most_forms(trained, tests) / len(trained) for tests in range(len(plateaus))]
        assert found == pytest.approx(list(plateaus.values()))


def most_forms(left: tuple[Hypothesis, ...], tests: int) -> int:
    """How many of these machines' forms can be told rightly after so many more tests."""
    if tests == 0 or not left:
        forms = [machine.form for machine in left]
        return max((forms.count(form) for form in forms), default=0)
    return max(
        sum(
            most_forms(tuple(one for one in left if lights(one, placed) == light), tests - 1)
            for light in (0.0, 1.0)
        )
        for placed in range(8)
    )


def test_the_ideal_observer_of_random_data() -> None:
    """More tests earn more, and with no forced step it is what brute force says."""
    values = [ideal_reward(data) for data in ("random", "random+5", "random+10", "random+15")]
    numbers = [value for value in values if value is not None]
    assert len(numbers) == 4
    assert numbers == sorted(numbers)
    assert numbers[-1] < 3
    # All sequences of up to two tests, and at most 3 for the eighth of the episodes that have more.
    after = [_reward_after(tests) for tests in range(3)]
    shortest = sum(reward / 2 ** (tests + 1) for tests, reward in enumerate(after))
    assert shortest <= numbers[0] <= shortest + 3 / 8
    assert ideal_reward("ppo-lstm") is None


def _reward_after(tests: int) -> float:
    """The best expected reward after so many random tests of the six machines, by brute force."""
    six = split("none")[0].hypotheses
    total = 0.0
    for sets in product(range(8), repeat=tests):
        seen: dict[tuple[float, ...], list[Hypothesis]] = {}
        for one in six:
            seen.setdefault(tuple(lights(one, placed) for placed in sets), []).append(one)
        for alike in seen.values():
            for bit in range(3):
                yes = sum((one.blickets >> bit) & 1 for one in alike)
                total += abs(2 * yes - len(alike))
    return total / len(six) / 8.0**tests


def test_a_unit_out_of_time_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    unit = next(unit for unit in plan(TINY) if unit.name == "paper_a2c-mlp_8_quiz")
    assert isinstance(unit, LearnerUnit)
    whole = run_learners(unit, tmp_path / "whole", None, lambda text: None)
    part = run_learners(unit, tmp_path / "parts", 0.0, lambda text: None)
    assert (part["finished"], len(part["tasks"][0]["steps"])) == (False, 1)
    rest = run_learners(unit, tmp_path / "parts", None, lambda text: None)
    assert rest["finished"]
    assert rest["tasks"] == whole["tasks"]
    late = pending([unit], tmp_path, deadline=time.time())
    assert "no time left" in run_task(late[0], lambda text: None)
    assert not is_done(tmp_path, unit)


def test_ctrl_c_loses_no_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken off while a segment is computed: gone on with, all is as if it had not been."""
    job = TrainingJob(paper("a2c-mlp", 8), TaskConfig(), LengthConfig(steps=300, points=3))
    whole = train(job, tmp_path / "whole", lambda report: None)
    calls = []

    def broken_off(*arguments: Any) -> Any:
        calls.append(segment_all(*arguments))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return calls[-1]

    monkeypatch.setattr(progress, "segment_all", broken_off)
    with pytest.raises(KeyboardInterrupt):
        train(job, tmp_path / "parts", lambda report: None)
    parts = train(job, tmp_path / "parts", lambda report: None)
    assert [int(point.steps[0]) for point in parts.curve] == [100, 200, 300]
    jax.tree.map(np.testing.assert_array_equal, parts.runs.policy, whole.runs.policy)


def test_training_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "agent"
    words = ["train", "a2c-lstm", "--width", "8", "--trunk", "4", "--steps", "400", "--points", "2"]
    assert main([*words, "--out", str(folder)]) == 0
    policy = (folder / "policy_0.npz").read_bytes()
    assert main([*words, "--out", str(folder)]) == 0  # nothing is left to do
    assert (folder / "policy_0.npz").read_bytes() == policy
    assert main([*words, "--width", "9", "--out", str(folder)]) == 2
    assert "holds another training" in capsys.readouterr().err
    game = [
        "eval",
        "blicket_game",
        "--preset",
        "paper",
        "--items",
        "6",
        "--out",
        str(tmp_path / "g"),
    ]
    assert main([*game, "--solver", f"agent:{folder}"]) == 0
    summary = orjson.loads((tmp_path / "g" / "summary.json").read_bytes())
    assert (summary["answered"], summary["violations"]) == (6, 0)
    rollout = ["rollout", str(folder), "--episodes", "5", "--out", str(tmp_path / "minari")]
    assert main(rollout) == 0
    assert "5 episodes" in capsys.readouterr().out
    for name, said in (("../up-v0", "such as blicket/mine-v0"), ("mine", "such as blicket/mine")):
        assert main([*rollout, "--dataset", name]) == 2
        assert said in capsys.readouterr().err
    assert main(rollout) == 2
    assert "already" in capsys.readouterr().err


def test_training_is_as_long_as_was_asked_for() -> None:
    """Few steps in large batches: the curve has fewer points, not the training more steps."""
    batch = large_batch("ppo-lstm").batch
    for steps, made in ((20_000, 16_384), (100, 8_192), (1_500_000, 1_638_400)):
        length = LengthConfig(steps=steps, points=40)
        assert length.looks(batch) * length.updates(batch) * batch == made


def test_rollouts_are_what_the_environment_says(tmp_path: Path) -> None:
    """Recorded actions, replayed in the Gymnasium environment, earn what was recorded."""
    from trivium.agents.trained import load_trained
    from trivium.agents.trajectories import agent_episodes
    from trivium.benchmarks.blicket.world.env import BlicketEnv

    folder = tmp_path / "agent"
    words = ["train", "a2c-mlp", "--width", "8", "--steps", "100", "--points", "1", "--forced", "2"]
    assert main([*words, "--out", str(folder)]) == 0
    for episode in agent_episodes(load_trained(folder), 4, seed=3, greedy=False):
        world = BlicketEnv(
            reward_structure="quiz", quiz_disabled_steps=1, hypotheses=[episode.hypothesis]
        )
        seen = [world.reset()[0]]
        earned = []
        for action in episode.actions:
            observation, reward, done, *_ = world.step(action)
            seen.append(observation)
            earned.append(reward)
        assert done
        np.testing.assert_array_equal(np.array(seen), episode.observations)
        np.testing.assert_array_equal(earned, episode.rewards)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["train", "dqn"], "unknown agent 'dqn'"),
        (["train", "a2c-lstm", "--preset", "huge"], "unknown preset 'huge'"),
        (["train", "a2c-lstm"], "--out is missing"),
        (["train", "a2c-lstm", "--width", "0", "--out", "x"], "width must be at least 1"),
        (["train", "a2c-lstm", "--trunk", "0", "--out", "x"], "trunk must be of at least 1"),
        (["train", "a2c-lstm", "--split", "odd", "--out", "x"], "split must be one of none"),
        (["train", "a2c-lstm", "--policy", "mlp", "--out", "x"], "say train a2c-mlp"),
        (["rollout", "nowhere", "--out", "x"], "holds no training"),
        (["study", "--only", "fig9"], "unknown part 'fig9'"),
        (["eval", "blicket_game", "--solver", "agent:nowhere", "--out", "x"], "holds no training"),
    ],
)
def test_bad_input_ends_in_one_sentence(
    words: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    message = capsys.readouterr().err
    assert said in message
    assert "Traceback" not in message
    assert not (tmp_path / "x").exists()  # nothing is claimed for what cannot be


def test_the_usage_names_what_is_trained(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["train", "ppo-lstm"], ["rollout", "runs"]):
        with pytest.raises(SystemExit):
            main([*words, "--help"])
        assert capsys.readouterr().out.startswith(f"usage: trivium {' '.join(words)} [-h]")
