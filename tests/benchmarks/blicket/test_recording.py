"""Policies, their trajectories on disk, and the ceilings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from trivium.benchmarks.blicket.commands import record
from trivium.benchmarks.blicket.inference.ceilings import PAPER_SPACES, ceilings, exact_text
from trivium.benchmarks.blicket.inference.explore import EXPLORERS
from trivium.benchmarks.blicket.inference.hypotheses import ALL_ELEVEN
from trivium.benchmarks.blicket.world.env import BlicketEnv
from trivium.benchmarks.blicket.world.policies import Observer, get_policy
from trivium.benchmarks.blicket.world.recording import FOLDER, play, play_episode, write_dataset
from trivium.benchmarks.blicket.world.spec import BlicketSpec, Interface
from trivium.cli import main
from trivium.core.errors import UserError

QUIZ = BlicketSpec(reward_structure="quiz")


@pytest.mark.parametrize("interface", ["sets", "child"])
@pytest.mark.parametrize("explorer", ["information_gain", "optimal"])
def test_observers_earn_the_highest_reward(interface: Interface, explorer: str) -> None:
    spec = BlicketSpec(
        reward_structure="quiz-type", hypotheses=ALL_ELEVEN, interface=interface, max_steps=60
    )
    episodes = list(play(spec, get_policy(explorer), 1, 60))
    assert {episode.total for episode in episodes} == {3.5}
    assert max(len(episode.rewards) for episode in episodes) < 60, "they ask for the quiz"
    assert len({episode.hypothesis for episode in episodes}) > 8


def test_observers_make_as_few_tests_as_the_ceiling_says() -> None:
    """Machine by machine: the six cost 8/3 tests on average, and quiz steps come on top."""
    tests = {}
    for episode in play(QUIZ, get_policy("optimal"), 2, 80):
        tests[episode.hypothesis] = len(episode.rewards) - 4
    assert sum(tests.values()) / 6 == pytest.approx(8 / 3)


def test_random_actions_earn_nothing_on_average() -> None:
    """600 episodes, standard deviation sqrt(3) each: 5 standard errors are 0.354."""
    totals = [episode.total for episode in play(QUIZ, get_policy("random_actions"), 3, 600)]
    assert abs(np.mean(totals)) < 0.354


def test_an_observer_of_noisy_machines_stops_when_sure_enough() -> None:
    spec = BlicketSpec(
        reward_structure="quiz", hypotheses=tuple(f"{each}~0.1" for each in QUIZ.hypotheses)
    )
    episodes = list(play(spec, get_policy("information_gain"), 4, 150))
    assert np.mean([episode.total for episode in episodes]) > 2.5
    assert np.mean([len(episode.rewards) for episode in episodes]) > 4 + 8 / 3


def test_an_observer_asks_for_the_quiz_when_it_is_95_percent_sure() -> None:
    noisy = tuple(f"{each}~0.1" for each in QUIZ.hypotheses)
    spec = BlicketSpec(reward_structure="quiz", hypotheses=noisy)
    env = BlicketEnv(reward_structure="quiz", hypotheses=noisy)
    for seed in range(20):
        seen, _ = env.reset(seed=seed)
        observer = Observer(spec, EXPLORERS["information_gain"], np.random.default_rng(seed))
        sure = [1 / 6]
        while True:
            action = observer.act(seen)
            sure.append(observer.belief.max())
            seen, _, done, _, _ = env.step(action)
            assert not done
            if seen[-1]:
                break
        if len(sure) < 22:  # else there were no steps left
            assert sure[-1] >= 0.95 > sure[-2]


def test_one_at_a_time_tests_a_then_b_then_c() -> None:
    spec = BlicketSpec(reward_structure="quiz", hypotheses=QUIZ.hypotheses[:3])  # all dark alone
    episode = play_episode(spec, get_policy("one_at_a_time"), 1, 0)
    assert episode.actions[:4].tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0]]


def test_an_episode_depends_only_on_seed_and_index() -> None:
    policy = get_policy("random_actions")
    single = play_episode(QUIZ, policy, seed=5, index=7)
    in_order = list(play(QUIZ, policy, 5, 9))[7]
    assert single.hypothesis == in_order.hypothesis
    np.testing.assert_array_equal(single.observations, in_order.observations)
    np.testing.assert_array_equal(single.actions, in_order.actions)
    # Machines and actions change with the seed, and with the index.
    for pairs in ([(5, index) for index in range(8)], [(seed, 7) for seed in range(8)]):
        others = [play_episode(QUIZ, policy, *pair) for pair in pairs]
        assert len({each.seed for each in others}) == 8
        assert len({each.hypothesis for each in others}) > 1
        assert len({each.actions[0].tobytes() for each in others}) > 1


def test_a_dataset_holds_what_was_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER, raising=False)
    minari = pytest.importorskip("minari")
    spec = BlicketSpec(reward_structure="quiz", quiz_disabled_steps=3)
    episodes = list(play(spec, get_policy("random_actions"), 6, 12))
    write_dataset("blicket/test-v0", spec, episodes, "random_actions", tmp_path)
    assert FOLDER not in os.environ
    monkeypatch.setenv(FOLDER, "elsewhere")
    write_dataset("blicket/other-v0", spec, episodes[:1], "random_actions", tmp_path)
    assert os.environ[FOLDER] == "elsewhere"
    dataset = minari.MinariDataset(tmp_path / "blicket" / "test-v0" / "data")
    assert dataset.total_episodes == 12
    assert dataset.total_steps == sum(len(episode.rewards) for episode in episodes)
    for stored, played in zip(dataset, episodes, strict=True):
        np.testing.assert_array_equal(stored.observations, played.observations)
        np.testing.assert_array_equal(stored.actions, played.actions)
        np.testing.assert_array_equal(stored.rewards, played.rewards)
        assert stored.terminations.tolist() == [False] * (len(played.rewards) - 1) + [True]
        assert spec.hypotheses[stored.infos["machine"][0]] == played.hypothesis
    assert dataset.recover_environment().unwrapped.rules == spec
    kinds = {path.suffix for path in tmp_path.rglob("*") if path.is_file()}
    assert kinds == {".hdf5", ".json"}  # no pickles


def test_record_writes_a_dataset_that_minari_loads(tmp_path: Path) -> None:
    pytest.importorskip("minari")
    command = ["record", "--policy", "information_gain", "--episodes", "5", "--out", str(tmp_path)]
    assert main(command) == 0
    assert main(command) == 2  # there is one already
    name = "blicket/quiz-information-gain-v0"
    code = f"import minari; print(minari.load_dataset({name!r})[3].rewards.sum())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {FOLDER: str(tmp_path)},
    )
    assert done.stdout == "3.0\n", done.stderr


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--policy", "absent"], "policy must be one of"),
        (["--episodes", "0"], "episodes must be at least 1"),
        (["--reward_structure", "prize"], "--reward_structure: invalid choice: 'prize'"),
    ],
)
def test_bad_flags_of_record(
    flags: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["record", "--out", str(tmp_path), *flags]) == 2
    output = capsys.readouterr().err
    assert message in output
    assert output.count("\n") == 1


def test_ceilings_are_printed_and_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ceilings"]) == 0
    output = capsys.readouterr().out
    for figure in ("8/3 (2.667)", "39/11 (3.545)", "7/3 (2.333)", "21/11 (1.909)", "inf"):
        assert figure in output
    assert "until the machine is known" in output


def test_no_explorer_beats_the_best() -> None:
    for space in PAPER_SPACES.values():
        *explorers, best = ceilings(space, 4)
        fewest = next(each.tests for each in explorers if each.explorer == "optimal")
        for each in explorers:
            assert fewest is not None
            assert each.tests is not None
            assert each.tests >= fewest - 1e-9
            pairs = zip(each.rewards, best.rewards, strict=True)
            assert all(reached <= most + 1e-9 for reached, most in pairs)


def test_ceilings_of_a_chosen_space(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["parity:AB", "disjunctive:C"]
    assert main(["ceilings", "--hypotheses", *names, "--tests", "1"]) == 0
    assert "2 machines" in capsys.readouterr().out
    assert main(["ceilings", "--rules", "parity", "--hypotheses", *names]) == 2
    assert main(["ceilings", "--rules", "magic"]) == 2


def test_figures_are_fractions_where_they_are_small_ones() -> None:
    assert [exact_text(value) for value in (3.0, 8 / 3, float("inf"), 0.12345678, None)] == [
        *("3", "8/3 (2.667)", "inf", "0.123", "")
    ]
    with pytest.raises(UserError, match="policy must be one of"):
        get_policy("absent")


@pytest.mark.parametrize("name", ["foo", "../evil-v0", "/evil-v0", "a b-v0", "blicket/x-v"])
def test_a_dataset_needs_a_name_that_stays_in_its_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="dataset must be a name such as"):
        record.main(["--episodes", "1", "--out", str(tmp_path / "data"), "--dataset", name])
    assert list(tmp_path.iterdir()) == []


def test_a_dataset_is_not_written_into_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="out must be a folder"):
        record.main(["--episodes", "1", "--out", str(tmp_path / "file")])
