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
    MachinesUnit,
    ObserversUnit,
    QUnit,
    Scale,
    TransferUnit,
    UntrainedUnit,
    plan,
)
from studies.blicket_learners.run import unit_file

from trivium.core.errors import UserError

STUDY = Path(__file__).parents[2] / "studies" / "blicket_learners"


def test_the_full_plan_has_what_the_paper_has() -> None:
    units = plan(Scale())
    assert Counter(type(unit) for unit in units) == {
        LearnerUnit: 27,
        ImitatorUnit: 36,
        TransferUnit: 6,
        QUnit: 2,
        MachinesUnit: 7,
        ObserversUnit: 1,
        UntrainedUnit: 1,
    }
    parts = Counter(part for unit in units for part in unit.parts)
    assert parts == {
        "fig3a": 16,
        "fig3b": 11,
        "fig3c": 7,
        "fig3d": 5,
        "table1": 40,
        "qlearning": 2,
        "overhypotheses": 6,
        "machines": 8,
    }
    assert all(unit.seeds == 8 for unit in units if not isinstance(unit, QUnit))
    assert all(unit.trials == 100 for unit in units if isinstance(unit, QUnit))


@pytest.mark.parametrize(
    ("name", "steps", "points", "tasks"),
    [
        ("paper_a2c-mlp_256_quiz", 3_000_000, 40, 1),
        ("paper_ppo-lnlstm_512_quiz", 3_000_000, 40, 1),
        ("paper_ppo-lstm_256_quiz_tasks", 3_000_000, 40, 8),
        ("paper_a2c-lstm_256_type", 3_000_000, 40, 2),
        ("paper_ppo-lnlstm_256_typeonly", 3_000_000, 40, 2),
        ("large_ppo-transformer_128_quiz", 1_638_400, 40, 14),
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
    for structure in ("type", "typeonly"):
        assert tasks[f"paper_ppo-lstm_256_{structure}"] == [
            (f"quiz-{structure}", "none", 0),
            (f"quiz-{structure}", "both_loo", 0),
        ]


def test_imitators_are_four_on_nine_datasets() -> None:
    units = [unit for unit in plan(Scale()) if isinstance(unit, ImitatorUnit)]
    ours = {unit.data: unit.episodes for unit in units if unit.label != "authors-transformer"}
    assert ours == {
        "random": 300_000,
        "random+5": 300_000,
        "random+10": 300_000,
        "random+15": 300_000,
        "paper_a2c-lstm_256_type": 50_000,
        "paper_ppo-lstm_256_type": 50_000,
        "paper_a2c-lnlstm_256_type": 50_000,
        "paper_ppo-lnlstm_256_type": 50_000,
        "ideal": 50_000,
    }
    labels = ("authors-transformer", "cloning-1", "cloning-30", "decision-transformer")
    assert Counter(unit.label for unit in units) == dict.fromkeys(labels, 9)
    authors = [unit for unit in units if unit.label == "authors-transformer"]
    assert {(one.episodes, one.target, one.greedy) for one in authors} == {(10_000, 3.0, True)}
    networks = {(one.config.reading, one.config.bounded, one.config.window) for one in authors}
    assert networks == {("bits", True, 30)}
    assert {unit.config.window for unit in units if unit.label == "cloning-1"} == {1}
    # One network for all rows of the decision transformer.
    configs = {unit.config for unit in units if unit.label == "decision-transformer"}
    assert len(configs) == 1


def test_the_quick_plan_is_small() -> None:
    units = plan(QUICK)
    assert len(units) == 38
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


def test_a_part_that_is_not_there_is_named() -> None:
    with pytest.raises(UserError, match="unknown part 'fig9'; there are fig3a, fig3b"):
        plan(QUICK, ["fig3a", "fig9"])
    with pytest.raises(UserError, match="seeds must be at least 1, got 0"):
        replace(QUICK, seeds=0)
