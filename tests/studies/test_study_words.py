"""The words of the study's report follow from its data, whatever they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from studies.blicket_learners.paper_values import Results
from studies.blicket_learners.report import write_report
from studies.blicket_learners.report_held_out import section_3c, section_3d
from studies.blicket_learners.report_imitators import section_table1
from studies.blicket_learners.report_learners import section_3a, section_3b
from studies.blicket_learners.report_transfer import section_transfer


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([-0.1, 0.0, 0.0], "Does not agree with the paper"),
        ([0.1, 1.0, 2.4], "Agrees with the paper"),
        ([0.1, 1.0, 0.9], "Agrees with the paper in part"),
    ],
)
def test_words_follow_the_data(values: list[float], said: str) -> None:
    """The verdict on forced exploration is worked out, not written down."""
    rewards = dict(
        zip(("random", "random+5", "random+10", "random+15"), [0.0, *values], strict=True)
    )
    played = {
        data: {"reward": [reward, reward + 0.01], "sd": [1.0, 1.0], "form": [0.5, 0.5]}
        for data, reward in rewards.items()
    }
    units = [
        {
            "config": {"model": "decision-transformer"},
            "data": data,
            "data_reward": 0.0,
            "episodes": 60,
            "epochs": 1,
            "validation_loss": [[2.77], [2.77]],
            "played": {"as collected": own, "no forced steps": own},
        }
        for data, own in played.items()
    ]
    text = "\n".join(section_table1(Results([], units, [], [])))
    assert f"{said}. More forced exploration" in text


def figures(reward: list[float], **others: list[float]) -> dict[str, list[float]]:
    """What a record says of the greedy policy, seed by seed."""
    return {"reward": reward, "tests": reward, "bits": reward, "form": reward, **others}


def record(
    reward: list[float], *, split: str = "none", forced: int = 0, **greedy: Any
) -> dict[str, Any]:
    """One task of a learner unit whose training and greedy rewards are the same."""
    seen = figures(reward)
    return {
        "task": {"reward_structure": "quiz", "split": split, "forced": forced},
        "steps": [10, 20],
        "converged": [-1] * len(reward),
        "reward": [[0.0, one] for one in reward],
        "greedy_reward": {"train": [[0.0, one] for one in reward]},
        "greedy": {"as trained": {"train": seen, "test": seen, **greedy}},
    }


def learner(
    tasks: list[dict[str, Any]], policy: str = "lstm", preset: str = "paper", width: int = 8
) -> dict[str, Any]:
    agent = {"algorithm": "ppo", "policy": policy, "width": width, "environments": 4}
    seeds = len(tasks[0]["converged"])
    return {"preset": preset, "agent": agent, "tasks": tasks, "seeds": seeds}


def told(section: Any, *units: dict[str, Any]) -> str:
    return "\n".join(section(Results(list(units), [], [], [])))


def test_memory_is_compared_with_every_agent_without() -> None:
    """The best of those without need not be the one whose interval reaches highest."""
    wide, narrow = record([-0.8, 1.6]), record([0.5, 0.5])
    text = told(
        section_3a,
        learner([record([1.0, 1.0])]),
        learner([wide], "mlp"),
        learner([narrow], "mlp", width=9),
    )
    assert "Does not agree with the paper: memory is needed. 0 of 1" in text


@pytest.mark.parametrize(("large", "said"), [(2.9, "in 1 of 1 cases"), (1.0, "in 0 of 1 cases")])
def test_the_large_batch_is_better_only_where_it_is(large: float, said: str) -> None:
    text = told(
        section_3a,
        learner([record([1.0, 1.1])]),
        learner([record([large, large + 0.1])], preset="large"),
    )
    assert said in text
    assert ("the algorithm is not the limit" in text) == (large > 2)


def test_forced_agents_that_test_enough_are_not_said_to_test_too_little() -> None:
    forced = record([3.0, 3.0], forced=5)
    forced["greedy"]["no forced steps"] = {"train": figures([0.5, 0.5], tests=[4.0, 5.0])}
    text = told(section_3b, learner([record([2.0, 2.1]), forced]))
    assert "Without force 0 of 1 test less than the ideal observer needs" in text


def test_only_who_has_seen_all_is_said_to_have_seen_enough() -> None:
    """Of two seeds one has told the machines held out apart; neither may be spoken for both."""
    free = record([0.0, 0.0], split="conjunctive_train")
    forced = record([1.0, 1.0], split="conjunctive_train", forced=5)
    forced["greedy"]["as trained"]["test"] = figures([1.0, 1.0], bits=[1.2, 2.585])
    text = told(section_3c, learner([free, forced]))
    assert "Of 2 runs 1 gain all 2.6" in text
    assert "The other 1 do not fail for want of exploring." in text
    alone = told(section_3c, learner([free]), learner([forced], width=9))
    assert "| undefined |" in alone  # the same agent never forced was not run


def test_the_step_from_which_the_form_is_told() -> None:
    task = record([1.0, 1.0])
    task["task"]["reward_structure"] = "quiz-type"
    task |= {"steps": [10, 20, 30], "form": [[0.9, 0.4, 0.8], [0.9, 0.5, 0.9]]}
    assert "the first from 30 steps on, the last from 30. 0 of 1" in told(
        section_3d, learner([task])
    )


@pytest.mark.parametrize(("data_reward", "copies"), [(1.0, True), (2.0, False)])
def test_a_copy_is_called_one_only_where_it_earns_the_same(
    data_reward: float, copies: bool
) -> None:
    own = {"reward": [1.0, 1.0], "sd": [1.0, 1.0], "form": [0.5, 0.5]}
    unit = {
        "config": {"model": "decision-transformer"},
        "data": "paper_a2c-lstm_8_type",
        "data_reward": data_reward,
        "episodes": 60,
        "played": {"as collected": own},
    }
    text = "\n".join(section_table1(Results([], [unit], [], [])))
    assert ("copies the agent" in text) == copies


def test_a_cloner_far_from_zero_has_learned_something() -> None:
    own = {"reward": [-2.0, 3.0], "sd": [1.0, 1.0], "form": [0.5, 0.5]}
    unit = {
        "config": {"model": "cloning"},
        "data": "random",
        "data_reward": 0.0,
        "episodes": 60,
        "played": {"as collected": own},
    }
    text = "\n".join(section_table1(Results([], [unit], [], [])))
    assert "0 of 1 rows are within 0.3 of zero" in text


def test_an_agent_that_never_begins_to_test() -> None:
    unit = {
        "agent": {"policy": "lstm"},
        "forms": ["disjunctive"],
        "steps": [1_000_000, 2_000_000],
        "reward": [[0.3, 0.3]],
        "tested": [
            {"form": form, "objects": objects, "machines": 3, "accuracy": [0.5]}
            for form in ("disjunctive", "parity")
            for objects in (3, 4, 5)
        ],
    }
    text = "\n".join(section_transfer(Results([], [], [], [unit])))
    assert "LSTM, 1 form (" in text
    assert "without any test, in all 2.0 million steps" in text


def test_few_seeds_are_no_ground_for_verdicts(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    unit = learner([record([1.0])]) | {"kind": "learner", "name": "x", "finished": True}
    unit |= {"device": "cpu"}
    (tmp_path / "data" / "x.json").write_bytes(orjson.dumps(unit))
    text = write_report(tmp_path, ["fig3a", "fig3b"], "trivium study", []).read_text()
    assert "Seeds: 1. With fewer than 8 the intervals are too narrow: no verdict holds." in text
    assert "Not run." in text


def test_an_empty_study_says_so(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    parts = ["fig3a", "fig3b", "fig3c", "fig3d", "table1", "qlearning", "overhypotheses"]
    text = write_report(tmp_path, parts, "trivium study", []).read_text()
    assert text.count("Not run.") == len(parts)
    assert not list(tmp_path.glob("*.png"))
