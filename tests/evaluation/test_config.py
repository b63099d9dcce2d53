"""Configs of sweeps: grids, older spellings, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from trivium.evaluation.config import find_config, read_sweep, shipped, sweep_plan

from trivium.benchmarks import get_benchmark
from trivium.cli import main
from trivium.core.errors import UserError
from trivium.evaluation.plan import Plan

SEED_STYLE = {
    "approach": "explicit",
    "items": 60,
    "hops": [4, 5, 6],
    "Ls": [2, 3],
    "k": 6,
    "contexts": 8,
    "seeds": [7, 13, 23],
    "M": 256,
    "id_width": 3,
    "model": "gpt-4.1-mini",
    "temp": 0,
    "max_output_tokens": 16,
    "order_trials": 2,
    "baseline": "first_rank_head",
    "switches": ["path_collision_stress", "--block_head_balance", "alias_heads_per_block"],
    "label": "hard",
}


def test_the_older_keys_mean_what_they_meant() -> None:
    plan = sweep_plan(SEED_STYLE)
    assert plan.benchmark == "nhop_explicit"
    assert plan.approach == "explicit"
    assert len(plan.cells) == 3 * 2 * 3 * 2  # hops, L, seeds; a baseline and a model
    assert (plan.items, plan.trials, plan.label) == (60, 2, "hard")
    assert (plan.temp, plan.max_output_tokens) == (0.0, 16)
    first = plan.cells[0]
    assert (first.spec.hops, first.spec.L, first.spec.k, first.spec.contexts) == (4, 2, 6, 8)
    assert first.spec.path_collision_stress
    assert first.spec.block_head_balance
    assert first.spec.alias_heads_per_block
    assert (first.solver, first.model, first.seed) == ("first_rank_head", None, 7)
    assert plan.cells[1].model == "openai/gpt-4.1-mini"


def test_commas_in_text_are_a_list_of_numbers() -> None:
    plan = sweep_plan({"approach": "implicit", "hops": "4,5", "m_list": "4, 8", "seeds": "7,13"})
    assert {(cell.spec.hops, cell.spec.m, cell.seed) for cell in plan.cells} == {
        (hops, m, seed) for hops in (4, 5) for m in (4, 8) for seed in (7, 13)
    }


def test_no_solver_named_means_all_of_them() -> None:
    plan = sweep_plan({"benchmark": "nhop_implicit", "seed": 1})
    assert [cell.solver for cell in plan.cells] == list(get_benchmark("nhop_implicit").solvers)


def test_a_run_is_a_config_of_itself() -> None:
    plan = sweep_plan(SEED_STYLE)
    again = sweep_plan(json.loads(json.dumps({**plan.manifest(), "command": "trivium sweep x"})))
    assert again.manifest() == plan.manifest()
    assert again.cells == plan.cells


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hopz": [4]}, "unknown key 'hopz'; did you mean hops"),
        ({"benchmark": "nhop_implicit"}, "says again what benchmark said"),
        ({"approach": "sideways"}, "unknown benchmark 'sideways'"),
        ({"items": 0}, "items must be at least 1, got 0"),
        ({"items": "many"}, "items must be a whole number, got 'many'"),
        ({"items": True}, "items must be a whole number, got True"),
        ({"order_trials": 0}, "order_trials must be at least 1, got 0"),
        ({"seeds": []}, "seeds is empty"),
        ({"hops": []}, "hops is empty"),
        ({"seeds": [7, 7]}, "a value is named twice"),
        ({"hops": [2]}, r"hops must be in 3\.\.200, got 2"),
        ({"hops": ["4"]}, "hops must be a whole number, got '4'"),
        ({"baseline": "wizard"}, "unknown solver 'wizard'"),
        ({"switches": ["fast"]}, "unknown switch 'fast'"),
        ({"preset": "medium"}, "unknown preset 'medium'"),
        ({"temp": "hot"}, "temp must be a number, got 'hot'"),
    ],
)
def test_what_is_wrong_is_said(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        sweep_plan({"approach": "implicit", "items": 5, **changes})


def test_a_file_names_itself_in_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"approach": "implicit", "hopz": 3}')
    with pytest.raises(UserError, match=r"mine\.json: unknown key 'hopz'"):
        read_sweep(str(path))
    path.write_text("{")
    with pytest.raises(UserError, match=r"mine\.json"):
        read_sweep(str(path))
    with pytest.raises(UserError, match="no file and no config 'nowhere'; there are"):
        find_config("nowhere")


def _plans() -> list[tuple[str, Plan]]:
    return [(name, read_sweep(name)) for name in shipped()]


def test_every_shipped_config_is_a_plan_with_a_label() -> None:
    plans = _plans()
    assert {name for name, _ in plans} == {
        "implicit_small",
        "explicit_easy",
        "explicit_hard",
        "variables_renderers",
        "variables_noise",
        "blicket_conditions",
    }
    for _, plan in plans:
        assert plan.label
        assert {
            get_benchmark(plan.benchmark).solvers[str(cell.solver)].role for cell in plan.cells
        } >= {
            "floor",
            "ceiling",
        }


def test_a_config_can_be_estimated(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", "implicit_small"]) == 0
    assert capsys.readouterr().out.startswith("implicit_small: 1,200 requests, about")
    assert main(["estimate", "implicit_small", "--items", "3"]) == 2
    assert "a config stands alone, got --items 3" in capsys.readouterr().err


def test_flags_take_the_place_of_what_a_config_says(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(SEED_STYLE))
    plan = read_sweep(str(path), {"items": 2, "models": ["a/b", "c/d"], "label": "quick"})
    assert (plan.items, plan.label) == (2, "quick")
    assert {cell.model for cell in plan.cells if cell.model} == {"a/b", "c/d"}
    assert sweep_plan(plan.manifest()).cells == plan.cells, "the run is a config of itself"


def test_what_is_held_already_costs_nothing() -> None:
    plan = sweep_plan({**SEED_STYLE, "hops": 4, "Ls": 2, "seeds": [7, 13]})
    tags = [cell.tag for cell in plan.cells if cell.model]
    assert plan.cost().requests == 240
    assert plan.cost({tags[0]: 120}).requests == 120
    assert plan.cost({tags[0]: 120, tags[1]: 100}).requests == 20
    assert plan.cost(dict.fromkeys(tags, 500)).requests == 0
