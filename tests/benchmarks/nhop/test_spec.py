"""The limits of every field, and what follows from a spec, in plain numbers."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from trivium.benchmarks.nhop import EXPLICIT, IMPLICIT
from trivium.benchmarks.nhop.generate import layout
from trivium.benchmarks.nhop.spec import ExplicitSpec, ImplicitSpec
from trivium.core.errors import UserError

HARD: dict[str, Any] = {
    "path_collision_stress": True,
    "block_head_balance": True,
    "alias_heads_per_block": True,
}


@pytest.mark.parametrize(
    "fields",
    [
        {"hops": 3},
        {"hops": 200},
        {"m": 4, "M": 4},
        {"m": 1000, "M": 1000},
        {"M": 10, "m": 10, "id_width": 1},
        {"id_width": 9},
        {"hops": 4, "ablate_inner": True},
        {"hops": 4, "ablate_inner": True, "ablate_hop": 2},
        {"hops": 6, "ablate_inner": True, "ablate_hop": 4},
    ],
)
def test_bags_at_the_limits(fields: dict[str, Any]) -> None:
    ImplicitSpec(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"hops": 2}, "hops must be in 3..200, got 2"),
        ({"hops": 201}, "hops must be in 3..200, got 201"),
        ({"m": 3}, "m must be in 4..1000, got 3"),
        ({"m": 1001, "M": 2000}, "m must be in 4..1000, got 1001"),
        ({"m": 8, "M": 7}, "M must be at least m=8, got 7"),
        ({"M": 11, "id_width": 1}, "M must be in 1..10 to fit id_width 1, got 11"),
        ({"id_width": 0}, "id_width must be in 1..9, got 0"),
        ({"id_width": 10}, "id_width must be in 1..9, got 10"),
        ({"ablate_hop": 2}, "ablate_hop needs ablate_inner"),
        ({"hops": 3, "ablate_inner": True}, "ablate_inner needs hops of at least 4, got 3"),
        ({"ablate_inner": True, "ablate_hop": 1}, "ablate_hop must be in 2..3, got 1"),
        ({"ablate_inner": True, "ablate_hop": 4}, "ablate_hop must be in 2..3, got 4"),
    ],
)
def test_bags_past_the_limits_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as problem:
        ImplicitSpec(**fields)
    assert str(problem.value) == message


@pytest.mark.parametrize(
    "fields",
    [
        {"hops": 3, "L": 3},
        {"L": 1},
        {"k": 2},
        {"k": 1000, "M": 2005},
        {"k0": 2, "k1": 3, "k2": 4},
        {"context_chains": 0},
        {"context_chains": 1000, "M": 1011},
        {"M": 17},
        {"M": 12, "path_collision_stress": True},
        {"M": 12, "block_head_balance": True},
        {"M": 7, **HARD},
        {"context_chains": 5, **HARD},
        {"budget_lines": 33},
        {"budget_lines": 64, **HARD},
        {"facts_until": "ladder"},
        {"budget_tokens": 900},
        {"alias_prefix": "xyz"},
    ],
)
def test_ladders_at_the_limits(fields: dict[str, Any]) -> None:
    ExplicitSpec(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"L": 4, "facts_until": "ladder"}, "facts_until ladder needs L below hops=4, got 4"),
        (
            {"budget_lines": 90, "budget_tokens": 900},
            "give budget_lines or budget_tokens, not both",
        ),
        ({"L": 0}, "L must be in 1..4, got 0"),
        ({"L": 5}, "L must be in 1..4, got 5"),
        ({"k": 1}, "k must be in 2..1000, got 1"),
        ({"k0": 1}, "k0 must be in 2..1000, got 1"),
        ({"k2": 1001}, "k2 must be in 2..1000, got 1001"),
        ({"context_chains": -1}, "context_chains must be in 0..1000, got -1"),
        ({"context_chains": 1001, "M": 9000}, "context_chains must be in 0..1000, got 1001"),
        ({"M": 16}, "M must be at least 17 for these chains and blocks, got 16"),
        (
            {"M": 11, "path_collision_stress": True},
            "M must be at least 12 for these chains and blocks, got 11",
        ),
        (
            {"M": 11, "block_head_balance": True},
            "M must be at least 12 for these chains and blocks, got 11",
        ),
        ({"M": 6, **HARD}, "M must be at least 7 for these chains and blocks, got 6"),
        ({"alias_prefix": "H1"}, "alias_prefix must be letters A-Z, got 'H1'"),
        ({"alias_prefix": ""}, "alias_prefix must be letters A-Z, got ''"),
        ({"budget_lines": 32}, "budget_lines must be at least 33 for these blocks, got 32"),
        ({"budget_lines": 2034}, "budget_lines must be at most 2033 for these blocks, got 2034"),
        (
            {"budget_lines": 63, **HARD},
            "budget_lines must be at least 64 for these blocks, got 63",
        ),
        (
            {"context_chains": 4, **HARD},
            "block_head_balance needs context_chains of at least 5 (one for each wrong candidate), "
            "got 4",
        ),
        (
            {"k1": 5, "path_collision_stress": True},
            "path_collision_stress needs blocks of one size, got (6, 5, 6)",
        ),
    ],
)
def test_ladders_past_the_limits_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as problem:
        ExplicitSpec(**fields)
    assert str(problem.value) == message


@pytest.mark.parametrize("extra", [{"context_chains": 8}, {"chain_only_ordered": True}])
def test_a_budget_decides_the_contexts_itself(extra: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="budget_lines picks the context chains itself"):
        ExplicitSpec(budget_lines=80, **extra)


@pytest.mark.parametrize("name", EXPLICIT.presets)
def test_every_preset_has_a_sanity_check(name: str) -> None:
    """Only the facts of the right chain, in order."""
    spec = replace(EXPLICIT.presets[name], chain_only_ordered=True)
    (item,) = EXPLICIT.generate(spec, 1)
    assert [line[1] for line in item.facts] == [f"f{hop}" for hop in range(1, spec.fact_hops + 1)]
    assert EXPLICIT.gold(item).token == item.answer


def test_what_follows_from_a_bag() -> None:
    assert ImplicitSpec().relations == (1, 2, 3, 4)
    assert ImplicitSpec(ablate_inner=True).relations == (1, 3, 4)
    assert ImplicitSpec(hops=6, ablate_inner=True, ablate_hop=4).relations == (1, 2, 3, 5)


def test_what_follows_from_a_ladder() -> None:
    spec = ExplicitSpec(hops=6, L=5, k0=2, k1=3, k2=4)
    assert spec.blocks == (2, 3, 4, 5, 6)
    assert spec.block_sizes == (4, 4, 2, 3, 4)
    assert (spec.fact_hops, spec.contexts, spec.decoys) == (4, 6, 0)
    assert ExplicitSpec(L=1).fact_hops == 3
    assert ExplicitSpec(block_head_balance=True).decoys == 5
    assert ExplicitSpec(block_head_balance=True, L=1).decoys == 0
    assert ExplicitSpec(**HARD).decoys == 0
    assert ExplicitSpec(chain_only_ordered=True).contexts == 0
    # The whole prompt: 13 lines around 2 facts and 18 candidates leave 47: 23 contexts and a half.
    assert ExplicitSpec(budget_lines=80).filling == (23, 1)
    assert ExplicitSpec(facts_until="ladder").fact_hops == 1


def test_diagnostics_switch_one_control_each() -> None:
    found = {
        name: [key for key, value in variant.spec.items() if value is True]
        for name, variant in EXPLICIT.diagnostics.items()
    }
    assert found["control"] == []
    assert found["all"] == found["unanswerable"] == list(HARD)
    assert [found[name] for name in ("path", "bal", "alias")] == [[control] for control in HARD]
    assert EXPLICIT.diagnostics["unanswerable"].spec["answerable"] == "mixed"
    assert list(EXPLICIT.presets) == ["explicit-easy", "explicit-hard", "explicit-ladder"]


def test_names_in_the_original_configs() -> None:
    assert EXPLICIT.field_aliases == {"Ls": "L", "n": "hops", "contexts": "context_chains"}
    assert IMPLICIT.field_aliases == {"m_list": "m", "n": "hops"}


def test_the_tokens_needed_suffice_for_every_layer() -> None:
    specs = [*EXPLICIT.presets.values()]
    switches = ("path_collision_stress", "block_head_balance", "chain_only_ordered")
    sizes: list[dict[str, Any]] = [
        {"hops": 3, "L": 3},
        {"hops": 5, "L": 1},
        {"hops": 5, "L": 2, "k": 9, "context_chains": 8},
        {"hops": 6, "L": 4, "facts_until": "ladder"},
        {"hops": 4, "L": 4, "context_chains": 40},
        {"hops": 5, "L": 3, "budget_lines": 72},
    ]
    for fields, values in product(sizes, product((False, True), repeat=3)):
        if "budget_lines" not in fields or not values[2]:
            specs.append(ExplicitSpec(**fields, **dict(zip(switches, values, strict=True))))
    specs += [ExplicitSpec(k0=4, k1=7, k2=5), ExplicitSpec(L=2, k2=8, context_chains=0)]
    assert [spec for spec in specs if spec.tokens_needed < max(layout(spec).widths)] == []
    assert ExplicitSpec().tokens_needed == max(layout(ExplicitSpec()).widths) == 17
