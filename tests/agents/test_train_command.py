"""Training from the command line: folders, interrupts, rollouts, and bad input."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.agents import learners
from trivium.agents.config import LengthConfig, TaskConfig, large_batch, paper
from trivium.agents.datasets import read_dataset
from trivium.agents.folders import agent_episodes, load_agent, train_policies
from trivium.agents.learners import segment_all
from trivium.benchmarks.blicket.inference.hypotheses import lights, mask_of, parse
from trivium.benchmarks.blicket.world.env import BlicketEnv
from trivium.benchmarks.blicket.world.policies import get_policy
from trivium.benchmarks.blicket.world.recording import FOLDER, play, write_dataset
from trivium.benchmarks.blicket.world.spec import BlicketSpec
from trivium.cli import main
from trivium.core.errors import UserError

WORDS = ["train", "a2c-mlp", "--width", "8", "--steps", "300", "--points", "3", "--forced", "2"]
JOB = (paper("a2c-mlp", 8), TaskConfig(forced=2), LengthConfig(steps=300, points=3))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training from the command line."""
    path = tmp_path_factory.mktemp("trained") / "agent"
    assert main([*WORDS, "--out", str(path)]) == 0
    return path


def test_ctrl_c_loses_no_point(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A training interrupted during a segment and resumed equals an uninterrupted one."""
    calls = []

    def interrupted(*arguments: Any) -> Any:
        calls.append(segment_all(*arguments))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return calls[-1]

    monkeypatch.setattr(learners, "segment_all", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train_policies(*JOB, tmp_path)
    assert not (tmp_path / "agent_0.eqx").exists()
    reports: list[str] = []
    train_policies(*JOB, tmp_path, tell=reports.append)
    assert [text.split(" steps")[0] for text in reports] == ["200", "300"]
    for name in ("agent_0.eqx", "curve.json", "agent.json"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_a_finished_training_is_not_trained_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = (folder / "agent_0.eqx").read_bytes()
    assert main([*WORDS, "--out", str(folder)]) == 0
    assert "300 steps, greedy reward" in capsys.readouterr().out
    assert (folder / "agent_0.eqx").read_bytes() == policy
    assert main([*WORDS, "--width", "9", "--out", str(folder)]) == 2
    assert "holds another training" in capsys.readouterr().err


def test_commands_that_are_suggested_have_quoted_paths(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy, data = (tmp_path / name for name in ("my agent", "my data"))
    shutil.copytree(folder, copy)
    assert main([*WORDS, "--out", str(copy)]) == 0
    evaluate, rollout = map(shlex.split, capsys.readouterr().out.splitlines()[-2:])
    assert f"agent:{copy}" in evaluate
    assert rollout[:3] == ["trivium", "rollout", str(copy)]
    assert main([*rollout[1:-4], "--episodes", "2", "--out", str(data)]) == 0
    assert shlex.split(capsys.readouterr().out)[-4:-2] == [f"{FOLDER}={data}", "python"]


def test_an_agent_plays_the_game(folder: Path, tmp_path: Path) -> None:
    game = ["eval", "blicket_game", "--preset", "paper", "--items", "6"]
    assert main([*game, "--out", str(tmp_path / "g"), "--solver", f"agent:{folder}"]) == 0
    summary = orjson.loads((tmp_path / "g" / "summary.json").read_bytes())
    assert (summary["answered"], summary["no_answers"]) == (6, 0)


def test_rollouts_from_the_command_line(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rollout = ["rollout", str(folder), "--episodes", "5", "--out", str(tmp_path / "minari")]
    assert main(rollout) == 0
    forced, free, *_ = capsys.readouterr().out.splitlines()
    for text, prefix in ((forced, ""), (free, "without forced steps: ")):
        pattern = rf"{prefix}5 episodes, \d+ steps, mean return -?\d\.\d+, sd \d\.\d+; "
        assert re.fullmatch(pattern + r"all answers right in \d+\.0%", text)
    for name in ("../up-v0", "mine"):
        assert main([*rollout, "--dataset", name]) == 2
        assert "such as blicket/mine-v0" in capsys.readouterr().err
    assert main(rollout) == 2
    assert "already" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "seed"), [([], 0), (["--seed", "4"], 4)])
def test_a_rollout_stores_the_episodes_of_its_seed(
    words: list[str], seed: int, folder: Path, tmp_path: Path
) -> None:
    rollout = ["rollout", str(folder), "--episodes", "5", "--dataset", "mine-v0", *words]
    assert main([*rollout, "--out", str(tmp_path)]) == 0
    _, stored = read_dataset(tmp_path / "mine-v0")
    played = agent_episodes(load_agent(folder), 5, seed, greedy=False)
    assert stored.lengths.tolist() == [len(episode.actions) for episode in played]
    for number, episode in enumerate(played):
        actions = stored.action[number, : len(episode.actions)]
        np.testing.assert_array_equal(actions, episode.actions)


def test_training_is_as_long_as_was_asked_for() -> None:
    """Few steps in large batches: the curve has fewer points, not the training more steps."""
    batch = large_batch("ppo-lstm").batch
    for steps, trained in ((20_000, 16_384), (100, 8_192), (1_500_000, 1_515_520)):
        length = LengthConfig(steps=steps, points=40)
        assert length.curve_points(batch) * length.updates(batch) * batch == trained


@given(st.integers(1, 10**8), st.integers(1, 100), st.sampled_from([20, 512, 8192]))
def test_training_ends_within_half_a_point_of_the_steps(
    steps: int, points: int, batch: int
) -> None:
    length = LengthConfig(steps=steps, points=points)
    point = length.updates(batch) * batch
    trained = point * length.curve_points(batch)
    assert abs(trained - steps) <= point / 2 or trained == point == batch
    assert length.curve_points(batch) <= 1.5 * points + 1


@pytest.mark.parametrize("greedy", [False, True])
def test_rollouts_are_what_the_environment_says(folder: Path, greedy: bool) -> None:
    """Recorded actions, replayed in the Gymnasium environment, have the recorded rewards."""
    check_episodes(load_agent(folder), greedy, reward_structure="quiz", quiz_disabled_steps=1)


def check_episodes(agent: Any, greedy: bool, **options: Any) -> None:
    for episode in agent_episodes(agent, 4, seed=3, greedy=greedy):
        world = BlicketEnv(**options | {"hypotheses": [episode.hypothesis]})
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
    ("words", "expected"),
    [
        (["train", "dqn"], "unknown agent 'dqn'"),
        (["train", "cloning", "--out", "x"], "--data is missing"),
        (["train", "cloning", "--data", "nowhere", "--out", "x"], "nowhere does not exist"),
        (["train", "cloning", "--data", ".", "--out", "x"], "neither a Minari dataset"),
        (
            ["train", "cloning", "--model", "decision-transformer", "--out", "x"],
            "use trivium train decis",
        ),
        (["train", "q-learning", "--noise", "0.1", "--out", "x"], "without noise"),
        (["train", "q-learning", "--reward", "both", "--out", "x"], "has no reward both"),
        (["train", "a2c-lstm", "--objects", "4", "--out", "x"], "needs hypotheses or rules"),
        (
            ["train", "a2c-lstm", "--rules", "parity", "--split", "both_loo", "--out", "x"],
            "exclude",
        ),
        (["train", "a2c-lstm", "--preset", "huge"], "unknown preset 'huge'"),
        (["train", "a2c-lstm"], "--out is missing"),
        (["train", "a2c-rim", "--active", "9", "--out", "x"], "at least active = 9"),
        (["train", "a2c-lstm", "--width", "0", "--out", "x"], "width must be in 1..4096, got 0"),
        (
            ["train", "a2c-lstm", "--trunk", "0", "--out", "x"],
            "trunk needs sizes in 1..4096, got (0,)",
        ),
        (["train", "a2c-lstm", "--split", "odd", "--out", "x"], "split must be one of none"),
        (["train", "a2c-lstm", "--policy", "mlp", "--out", "x"], "use trivium train a2c-mlp"),
        (["rollout", "nowhere", "--out", "x"], "holds no training"),
        (["eval", "blicket_game", "--solver", "agent:nowhere", "--out", "x"], "holds no training"),
        (["eval", "blicket_game", "--solver", "agent:a:b", "--out", "x"], "must be a whole number"),
        (["eval", "nhop_explicit", "--solver", "agent:a", "--out", "x"], "only blicket_game"),
    ],
)
def test_bad_input_ends_in_one_sentence(
    words: list[str],
    expected: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    message = capsys.readouterr().err
    assert expected in message
    assert "Traceback" not in message
    assert not (tmp_path / "x").exists()


@pytest.mark.slow
def test_any_machines_can_be_trained_on(tmp_path: Path) -> None:
    """Four objects, two rules, noise, a penalty and the question about the form."""
    words = ["train", "a2c-mlp", "--width", "4", "--steps", "60", "--points", "1"]
    task = ["--rules", "parity", "inhibitor", "--objects", "4", "--noise", "0.1"]
    more = ["--step_penalty", "0.5", "--reward_structure", "quiz-type"]
    assert main([*words, *task, *more, "--out", str(tmp_path / "a")]) == 0
    agent = load_agent(tmp_path / "a")
    assert (agent.spec.objects, agent.spec.width, agent.spec.maximum) == (4, 6, 4.0)
    assert len(agent.spec.hypotheses) == 11 + 50
    assert all(name.endswith("~0.1") for name in agent.spec.hypotheses)
    (episode,) = agent_episodes(agent, 1, seed=0, greedy=False)
    assert -0.5 in episode.rewards.tolist()  # the step that enters the quiz
    assert agent_episodes(agent, 1, seed=0, greedy=False)[0].hypothesis == episode.hypothesis
    baseline = [*words, "--reward_structure", "baseline", "--out", str(tmp_path / "b")]
    assert main(baseline) == 0
    check_episodes(load_agent(tmp_path / "b"), False, reward_structure="baseline")


def test_a_table_is_trained_and_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With one machine Q-learning is perfect soon, and its greedy episodes earn all."""
    out = tmp_path / "q"
    words = ["train", "q-learning", "--hypotheses", "disjunctive:B", "--seeds", "2"]
    assert main([*words, "--out", str(out)]) == 0
    assert "2 of 2 tables perfect" in capsys.readouterr().out
    agent = load_agent(out, 1)
    check_episodes(agent, True, reward_structure="quiz")
    (episode,) = agent_episodes(agent, 1, seed=0, greedy=True)
    assert episode.total == 3.0
    assert main(["rollout", str(out), "--episodes", "2", "--out", str(tmp_path / "m")]) == 0
    assert main([*words, "--seed", "5", "--out", str(out)]) == 2
    assert "holds another training" in capsys.readouterr().err
    assert main(["rollout", str(out), "--policy", "2", "--out", str(tmp_path / "n")]) == 2
    assert "holds agents 0..1" in capsys.readouterr().err
    game = ["eval", "blicket_game", "--preset", "paper", "--out", str(tmp_path / "g")]
    assert main([*game, "--items", "6", "--solver", f"agent:{out}"]) == 0
    for line in (tmp_path / "g" / "records.jsonl").read_bytes().splitlines():
        answer = orjson.loads(line)["answer"]  # it knows one machine, and says that it is this one
        assert (answer["blickets"], answer["form"]) == ("B", "disjunctive")


def test_an_imitator_of_a_dataset_is_trained_and_played(tmp_path: Path) -> None:
    """Recorded ideal episodes, copied by a cloner that reads the whole episode."""
    record = ["record", "--policy", "optimal", "--episodes", "40", "--hypotheses", "disjunctive:B"]
    record += ["disjunctive:C", "--reward_structure", "quiz"]
    assert main([*record, "--out", str(tmp_path)]) == 0
    data, out = tmp_path / "blicket" / "quiz-optimal-v0", tmp_path / "bc"
    words = ["train", "cloning", "--data", str(data), "--epochs", "40", "--batch", "4"]
    words += ["--learning_rate", "0.01", "--width", "16", "--layers", "1", "--dropout", "0"]
    assert main([*words, "--out", str(out)]) == 0
    agent = load_agent(out)
    assert agent.name == "cloning"
    assert [one.total for one in agent_episodes(agent, 6, seed=0, greedy=True)] == [3.0] * 6
    check_episodes(agent, False, reward_structure="quiz")
    game = ["eval", "blicket_game", "--preset", "three-objects", "--hypotheses", "disjunctive:B"]
    game += ["disjunctive:C", "--items", "6"]
    correct: dict[str, dict[str, float]] = {}
    for solver in ("constant_answer", f"agent:{out}"):
        run = tmp_path / solver.partition(":")[0]
        assert main([*game, "--solver", solver, "--out", str(run)]) == 0
        rows = map(orjson.loads, (run / "records.jsonl").read_bytes().splitlines())
        correct[run.name] = {row["id"]: row["scores"]["correct"] for row in rows}
    assert set(correct["agent"].values()) == {1.0}
    assert correct["agent"].keys() == correct["constant_answer"].keys()  # on the same items
    model = (out / "agent_0.eqx").read_bytes()
    assert main([*words, "--out", str(out)]) == 0  # finished: nothing is trained again
    assert (out / "agent_0.eqx").read_bytes() == model


def test_the_longest_episodes_with_demonstrations_can_be_imitated(tmp_path: Path) -> None:
    spec = BlicketSpec("quiz-type", quiz_disabled_steps=20, demonstrations="given")
    episodes = list(play(spec, get_policy("random_actions"), seed=1, episodes=2))
    write_dataset("longest-v0", spec, episodes, "random", tmp_path)
    _, found = read_dataset(tmp_path / "longest-v0")
    assert found.lengths.tolist() == [6 + 22 + 4] * 2  # shown, explored, asked


def test_games_are_imitated_as_episodes_of_the_quiz(tmp_path: Path) -> None:
    """For every kind of player: each episode, replayed in the environment, has its rewards."""
    game = ["eval", "blicket_game", "--preset", "paper", "--items", "8"]
    assert main([*game, "--solver", "posterior", "--out", str(tmp_path / "g")]) == 0
    lines = (tmp_path / "g" / "records.jsonl").read_bytes().splitlines()
    rows = [orjson.loads(line) for line in lines]
    spec, episodes = read_dataset(tmp_path / "g")
    assert (spec.reward_structure, len(episodes.lengths)) == ("quiz-type", 8)
    for number, row in enumerate(rows):
        form = row["groups"]["form"]
        blickets = row["gold"].split("blickets ")[1].split(";")[0].replace(", ", "")
        world = BlicketEnv(reward_structure="quiz-type")
        world.reset(options={"hypothesis": f"{form}:{blickets}"})
        length = int(episodes.lengths[number])
        seen, total = world.reset(options={"hypothesis": f"{form}:{blickets}"})[0], 0.0
        for step in range(length):
            np.testing.assert_array_equal(seen, episodes.observation[number, step])
            seen, reward, done, *_ = world.step(episodes.action[number, step].astype(int))
            assert reward == episodes.reward[number, step]
            total += float(reward)
        assert done
        assert (total == 3.5) == (row["scores"]["correct"] == 1.0)
    words = ["train", "decision-transformer", "--data", str(tmp_path / "g"), "--epochs", "1"]
    words += ["--width", "8", "--layers", "1", "--target", "3.0"]
    assert main([*words, "--out", str(tmp_path / "dt")]) == 0
    assert len(agent_episodes(load_agent(tmp_path / "dt"), 2, seed=0, greedy=False)) == 2


def test_lights_of_noisy_games_are_imitated_as_they_were_seen(tmp_path: Path) -> None:
    game = ["eval", "blicket_game", "--preset", "three-objects", "--noise", "0.3", "--items", "12"]
    assert main([*game, "--solver", "posterior", "--out", str(tmp_path)]) == 0
    _, episodes = read_dataset(tmp_path)
    file, wrong = tmp_path / "records.jsonl", 0
    rows = [orjson.loads(line) for line in file.read_bytes().splitlines()]
    for number, row in enumerate(rows):
        tests = row["answer"]["tests"]
        seen = episodes.observation[number, 1 : len(tests) + 1, 3]
        assert seen.tolist() == [float(light) for _, light in tests]
        blickets = row["gold"].split("blickets ")[1].split(";")[0].replace(", ", "")
        machine = parse(f"{row['groups']['form']}:{blickets}")
        wrong += sum(light != (lights(machine, mask_of(placed)) > 0.5) for placed, light in tests)
    assert wrong > 0  # noise did invert some of them
    rows[3]["gold"] = "ANSWER: blickets D; form parity"
    file.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    with pytest.raises(UserError, match="names no machine of this game"):
        read_dataset(tmp_path)


def test_the_usage_names_what_is_trained(capsys: pytest.CaptureFixture[str]) -> None:
    for words, usage in (
        (["train", "ppo-lstm"], "train ppo-lstm"),
        (["rollout", "runs"], "rollout FOLDER"),
    ):
        with pytest.raises(SystemExit):
            main([*words, "--help"])
        assert capsys.readouterr().out.startswith(f"usage: trivium {usage} [flags]")
