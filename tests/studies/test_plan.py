"""What the study trains, in numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from studies.blicket_learners.plan import (
    QUICK,
    ImitatorUnit,
    LearnerUnit,
    QUnit,
    Scale,
    TransferUnit,
    plan,
)
from studies.blicket_learners.run import stages, unit_file

from trivium.core.errors import UserError

STUDY = Path(__file__).parents[2] / "studies" / "blicket_learners"


def test_the_full_plan_has_what_the_paper_has() -> None:
    units = plan(Scale())
    assert Counter(type(unit) for unit in units) == {
        LearnerUnit: 23,
        ImitatorUnit: 16,
        TransferUnit: 6,
        QUnit: 2,
    }
    parts = Counter(part for unit in units for part in unit.parts)
    assert parts == {
        "fig3a": 15,
        "fig3b": 11,
        "fig3c": 7,
        "fig3d": 4,
        "table1": 20,
        "qlearning": 2,
        "overhypotheses": 6,
    }
    assert all(unit.seeds == 8 for unit in units if not isinstance(unit, QUnit))
    assert all(unit.trials == 100 for unit in units if isinstance(unit, QUnit))


@pytest.mark.parametrize(
    ("name", "steps", "points", "tasks"),
    [
        ("paper_a2c-mlp_256_quiz", 3_000_000, 40, 1),
        ("paper_ppo-lnlstm_512_quiz", 1_500_000, 40, 1),
        ("paper_ppo-lstm_256_quiz_tasks", 1_000_000, 40, 8),
        ("paper_a2c-lstm_256_type", 1_000_000, 40, 2),
        ("large_ppo-transformer_128_quiz", 1_500_000, 40, 14),
        ("transfer_ppo-lstm_two_forms", 4_000_000, 20, None),
    ],
)
def test_learners_are_trained_as_long_as_the_findings_say(
    name: str, steps: int, points: int, tasks: int | None
) -> None:
    (unit,) = (unit for unit in plan(Scale()) if unit.name == name)
    assert isinstance(unit, LearnerUnit | TransferUnit)
    assert (unit.length.steps, unit.length.points) == (steps, points)
    assert tasks is None or len(unit.tasks) == tasks  # type: ignore[union-attr]


def test_the_tasks_are_the_papers_and_both_together_where_that_is_cheap() -> None:
    tasks = {
        unit.name: [(task.reward_structure, task.split, task.forced) for task in unit.tasks]
        for unit in plan(Scale())
        if isinstance(unit, LearnerUnit)
    }
    splits = [
        "conjunctive_train",
        "disjunctive_train",
        "conjunctive_loo",
        "disjunctive_loo",
        "both_loo",
    ]
    forced = [("quiz", "none", steps) for steps in (5, 10, 15)]
    held_out = [("quiz", split, 0) for split in splits]
    assert tasks["paper_a2c-lstm_256_quiz_tasks"] == [*forced, *held_out]
    assert tasks["large_ppo-lstm_256_quiz"] == [
        ("quiz", "none", 0),
        *forced,
        *held_out,
        *(("quiz", split, 5) for split in splits),
    ]
    assert tasks["paper_ppo-lstm_256_type"] == [
        ("quiz-type", "none", 0),
        ("quiz-type", "both_loo", 0),
    ]


def test_imitators_of_random_data_see_more_episodes() -> None:
    units = [unit for unit in plan(Scale()) if isinstance(unit, ImitatorUnit)]
    episodes = {unit.data: unit.episodes for unit in units}
    assert episodes == {
        "random": 300_000,
        "random+5": 300_000,
        "random+10": 300_000,
        "random+15": 300_000,
        "paper_a2c-lstm_256_type": 50_000,
        "paper_ppo-lstm_256_type": 50_000,
        "paper_a2c-lnlstm_256_type": 50_000,
        "paper_ppo-lnlstm_256_type": 50_000,
    }
    assert Counter(unit.config.model for unit in units) == {"cloning": 8, "decision-transformer": 8}


def test_the_quick_plan_is_small() -> None:
    units = plan(QUICK)
    assert len(units) == 17
    assert (
        max(unit.length.steps for unit in units if isinstance(unit, LearnerUnit | TransferUnit))
        == 160_000
    )
    assert {unit.seeds for unit in units if not isinstance(unit, QUnit)} == {2}


def test_the_stored_data_are_of_the_full_plan() -> None:
    planned = {unit_file(STUDY, unit) for unit in plan(Scale())}
    stored = set((STUDY / "data").glob("*.json"))
    assert len(stored) > 30
    assert stored <= planned


def test_a_part_brings_what_it_needs() -> None:
    units = plan(QUICK, ["table1"])
    made = {unit.name for unit in units if isinstance(unit, LearnerUnit) and unit.keep}
    needed = {unit.data for unit in units if isinstance(unit, ImitatorUnit) and unit.maker}
    assert needed == made == {"paper_a2c-lstm_32_type", "paper_ppo-lstm_32_type"}
    first, later = stages(list(reversed(units)))
    assert {type(unit) for unit in first} == {LearnerUnit}
    assert {type(unit) for unit in later} == {ImitatorUnit}


def test_a_part_that_is_not_there_is_named() -> None:
    with pytest.raises(UserError, match="unknown part 'fig9'; there are fig3a, fig3b"):
        plan(QUICK, ["fig3a", "fig9"])
    with pytest.raises(UserError, match="seeds must be at least 1, got 0"):
        replace(QUICK, seeds=0)
