"""Plans of sweeps: grids, older spellings, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trivium.benchmarks import get_benchmark
from trivium.cli import main
from trivium.core.errors import UserError
from trivium.core.records import RECORDS
from trivium.evaluation.cost import cost_of_run
from trivium.evaluation.plan import find_config, plan_sweep, read_sweep, shipped_configs

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
    run = plan_sweep(SEED_STYLE)
    assert run.benchmarks == ("nhop_explicit",)
    assert len(run.evaluations) == 3 * 2 * 3 * 2  # hops, L, seeds; a baseline and a model
    assert run.label == "hard"
    first, second = run.evaluations[:2]
    assert (first.items.count, first.trials, first.items.seed) == (60, 2, 7)
    spec = first.task.spec
    assert (spec.hops, spec.L, spec.k, spec.context_chains) == (4, 2, 6, 8)
    assert spec.path_collision_stress
    assert spec.block_head_balance
    assert spec.alias_heads_per_block
    assert (first.solver, second.solver) == ("first_rank_head", "openai/gpt-4.1-mini")
    assert (first.is_model, second.is_model) == (False, True)
    assert (first.settings.temp, first.settings.max_output_tokens) == (None, None)
    assert (second.settings.temp, second.settings.max_output_tokens) == (0.0, 16)
    assert first.folder == "results/hops4_L2_seed7_first_rank_head"


def test_commas_in_text_are_a_list_of_numbers() -> None:
    run = plan_sweep({"approach": "implicit", "hops": "4,5", "m_list": "4, 8", "seeds": "7,13"})
    found = {(one.task.spec.hops, one.task.spec.m, one.items.seed) for one in run.evaluations}
    assert found == {(hops, m, seed) for hops in (4, 5) for m in (4, 8) for seed in (7, 13)}


def test_a_sweep_has_a_hundred_items_of_the_public_seed_unless_it_says_otherwise() -> None:
    items = [one.items for one in plan_sweep({"benchmark": "nhop_implicit"}).evaluations]
    assert {(one.seed, one.start, one.count) for one in items} == {(7, 0, 100)}


def test_no_solver_named_means_all_of_them() -> None:
    run = plan_sweep({"benchmark": "nhop_implicit", "seed": 1})
    names = [one.solver for one in run.evaluations]
    assert sorted(names) == [
        "last_line",
        "literal_chain",
        "most_frequent_token",
        "oracle",
        "pointer_f_n1",
        "random_candidate",
    ]


def test_a_run_is_a_config_of_itself() -> None:
    run = plan_sweep(SEED_STYLE)
    again = plan_sweep(json.loads(json.dumps({**run.config, "command": "trivium sweep x"})))
    assert again == run


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hopz": [4]}, "unknown key 'hopz'; did you mean hops"),
        ({"benchmark": "nhop_implicit"}, "repeats benchmark"),
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
def test_errors_name_the_key_and_what_is_allowed(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        plan_sweep({"approach": "implicit", "items": 5, **changes})


def test_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"approach": "implicit", "hopz": 3}')
    with pytest.raises(UserError, match=r"mine\.json: unknown key 'hopz'"):
        read_sweep(str(path))
    path.write_text("{")
    with pytest.raises(UserError, match=r"mine\.json"):
        read_sweep(str(path))
    with pytest.raises(UserError, match="no file and no config 'nowhere'; there are"):
        find_config("nowhere")


def test_every_shipped_config_has_a_label_a_floor_and_a_ceiling() -> None:
    runs = {name: read_sweep(name) for name in shipped_configs()}
    assert set(runs) == {
        "implicit_small",
        "explicit_easy",
        "explicit_hard",
        "variables_renderers",
        "variables_noise",
        "blicket_conditions",
    }
    for run in runs.values():
        assert run.label
        solvers = get_benchmark(run.benchmarks[0]).solvers
        assert {solvers[one.solver].role for one in run.evaluations} >= {"floor", "ceiling"}


def test_a_config_can_be_estimated(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", "implicit_small"]) == 0
    assert "a model, if one were named: 1,200 requests, about" in capsys.readouterr().out
    assert main(["estimate", "implicit_small", "--items", "3"]) == 0
    assert "a model, if one were named: 150 requests, about" in capsys.readouterr().out


def test_flags_override_a_config(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(SEED_STYLE))
    run = read_sweep(str(path), {"items": 2, "models": ["a/b", "c/d"], "label": "quick"})
    assert {one.items.count for one in run.evaluations} == {2}
    assert run.label == "quick"
    assert {one.solver for one in run.models} == {"a/b", "c/d"}
    assert plan_sweep(run.config) == run, "the run is a config of itself"


def test_recorded_attempts_cost_nothing(tmp_path: Path) -> None:
    run = plan_sweep({**SEED_STYLE, "hops": 4, "Ls": 2, "seeds": [7, 13]})
    assert cost_of_run(run).requests == 240

    def left(*, errors: bool = True) -> int:
        return cost_of_run(
            run, [len(one.recorded_keys(tmp_path, errors=errors)) for one in run.evaluations]
        ).requests

    assert left() == 240

    def record(seed: int, count: int, failed: int = 0) -> None:
        path = tmp_path / f"results/one_seed{seed}_openai_gpt-4.1-mini" / RECORDS
        path.parent.mkdir(parents=True)
        rows: list[dict[str, Any]] = [
            {
                "id": f"SYN-{n // 2:06d}",
                "index": n // 2,
                "trial": n % 2,
                "kind": "failed" if n < failed else "right",
                "benchmark": "nhop_explicit",
                "solver": "openai/gpt-4.1-mini",
                "answer": None,
                "scores": {},
                "floor": 0.0,
                "groups": {},
            }
            for n in range(count)
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    record(7, 120)
    assert left() == 120
    record(13, 100, failed=30)
    assert left() == 20
    assert left(errors=False) == 50
