"""Laws of every n-hop item, over all legal specs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.benchmarks.nhop.examples import explicit_specs, implicit_specs
from trivium.benchmarks.nhop import EXPLICIT, IMPLICIT
from trivium.benchmarks.nhop.generate import generate
from trivium.benchmarks.nhop.item import derive, layer_letters, true_chain
from trivium.benchmarks.nhop.render import render
from trivium.benchmarks.nhop.spec import (
    EXPLICIT_PRESETS,
    ExplicitSpec,
    ImplicitSpec,
    NhopView,
    Spec,
)
from trivium.core.dialogue import attempt
from trivium.core.text import approximate_tokens

SEEDS = st.integers(0, 2**40)
INDEXES = st.integers(0, 2**40) | st.sampled_from([9, 99, 999_999, 10**6])


HARD = {
    "path_collision_stress": True,
    "block_head_balance": True,
    "alias_heads_per_block": True,
}


def test_another_order_has_the_same_lines() -> None:
    (item,) = generate(EXPLICIT.presets["explicit-hard"], 1)
    assert EXPLICIT.reshuffle(item, 0) is item
    one, two = EXPLICIT.reshuffle(item, 1), EXPLICIT.reshuffle(item, 2)
    assert one != two
    for other in (one, two):
        assert other.facts != item.facts
        assert sorted(map(list, other.facts)) == sorted(map(list, item.facts))
        for before, after in zip(item.blocks, other.blocks, strict=True):
            assert sorted(map(list, after.lines)) == sorted(map(list, before.lines))
            assert after.aliases == before.aliases
        assert [b.lines for b in other.blocks] != [b.lines for b in item.blocks]
        assert other._replace(facts=item.facts, blocks=item.blocks) == item


def test_names_of_layers() -> None:
    names = [layer_letters(layer) for layer in (0, 25, 26, 51, 52, 701, 702)]
    assert names == ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]


def test_items_of_one_batch_and_of_two() -> None:
    """A batch holds 1024 items; ids have six digits and more where they need them."""
    spec = ImplicitSpec(hops=3, m=4)
    whole = list(generate(spec, 1, 999_990, 1040))
    assert [whole[place].id for place in (0, 9, 10)] == ["IMP-999990", "IMP-999999", "IMP-1000000"]
    assert whole[1030:] == list(generate(spec, 1, 1_001_020, 10))


@given(st.one_of(implicit_specs(), explicit_specs()), SEEDS, INDEXES)
def test_printed_hops_are_bijections_between_their_layers(
    spec: Spec, seed: int, index: int
) -> None:
    (item,) = generate(spec, seed, index)
    forward: dict[tuple[str, str], str] = {}
    backward: dict[tuple[str, str], str] = {}
    for head, function, tail in item.triples():
        hop = int(function[1:])
        assert head.startswith(layer_letters(hop - 1) + "_")
        assert tail.startswith(layer_letters(hop) + "_")
        assert all(int(token.split("_")[1]) < spec.M for token in (head, tail))
        assert forward.setdefault((function, head), tail) == tail
        assert backward.setdefault((function, tail), head) == head


@given(implicit_specs(), SEEDS, INDEXES)
def test_a_bag_holds_m_disjoint_chains_balanced_over_relations(
    spec: ImplicitSpec, seed: int, index: int
) -> None:
    (item,) = generate(spec, seed, index)
    relations = Counter(function for _, function, _ in item.facts)
    assert relations == {f"f{hop}": spec.m for hop in spec.relations}
    chains: dict[str, int] = {}
    for head, _, tail in sorted(item.facts, key=lambda line: int(line[1][1:])):
        chain = chains.setdefault(head, len(chains))
        assert chains.setdefault(tail, chain) == chain
    expected = [] if spec.ablate_inner else [item.answer]
    assert derive(item) == expected
    assert item.answer in item.candidates
    assert len(item.candidates) == spec.m


@given(explicit_specs(), SEEDS, INDEXES)
def test_a_ladder_has_one_answer_and_keeps_its_controls(
    spec: ExplicitSpec, seed: int, index: int
) -> None:
    (item,) = generate(spec, seed, index)
    assert derive(item) == [item.answer]
    chain = true_chain(item)
    counts = Counter(function for _, function, _ in item.facts)
    balanced = {f"f{hop}": 1 + spec.contexts for hop in range(1, spec.fact_hops + 1)}
    if spec.decoys and not spec.chain_only_ordered:
        balanced[f"f{spec.hops - 1}"] = balanced.get(f"f{spec.hops - 1}", 0) + spec.decoys
    assert counts == balanced
    assert [len(block.lines) for block in item.blocks] == list(spec.block_sizes)
    for number, block in enumerate(item.blocks):
        hop = spec.blocks[number]
        heads, tails = zip(*block.resolved(), strict=True)
        assert len(set(heads)) == len(heads)
        assert len(set(tails)) == len(tails)
        assert block.resolved().count((chain[hop - 1], chain[hop])) == 1
        if spec.path_collision_stress and number:
            before = item.blocks[number - 1].resolved()
            assert {tail for _, tail in before} == set(heads)
        if spec.block_head_balance and not spec.chain_only_ordered:
            above = item.token_counts(number)
            assert len({above[head] for head in heads}) == 1
        if spec.alias_heads_per_block:
            assert [line[0] for line in block.lines] != list(heads)
            assert sorted(block.aliases.values()) == sorted(heads)
    if spec.chain_only_ordered:
        assert [list(fact) for fact in item.facts] == [
            [chain[hop - 1], f"f{hop}", chain[hop]] for hop in range(1, spec.fact_hops + 1)
        ]


@given(explicit_specs(), SEEDS, st.sampled_from(["direct", "steps", "free"]))
def test_the_oracle_solves_every_legal_ladder_from_its_text(
    spec: ExplicitSpec, seed: int, mode: str
) -> None:
    for item in generate(spec, seed, 0, 3):
        row = attempt(EXPLICIT, item, EXPLICIT.solvers["oracle"], NhopView(mode), trial=1)  # type: ignore[arg-type]
        assert row.scores["correct"] == 1


@given(implicit_specs().filter(lambda spec: not spec.ablate_inner), SEEDS)
def test_the_oracle_solves_every_legal_bag_from_its_text(spec: ImplicitSpec, seed: int) -> None:
    for item in generate(spec, seed, 0, 3):
        assert (
            attempt(IMPLICIT, item, IMPLICIT.solvers["oracle"], NhopView()).scores["correct"] == 1
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["explicit-easy", "explicit-hard", "implicit"])
def test_the_oracle_is_perfect_on_ten_thousand_items(name: str) -> None:
    benchmark = IMPLICIT if name == "implicit" else EXPLICIT
    spec = benchmark.presets[name]
    oracle = benchmark.solvers["oracle"]
    hits = sum(
        attempt(benchmark, item, oracle, NhopView()).kind == "right"
        for item in generate(spec, 2026, 0, 10_000)
    )
    assert hits == 10_000


def test_items_share_no_facts_beyond_chance() -> None:
    """Items draw their own bijections: f1 of a token differs from item to item."""
    images: dict[str, set[str]] = {}
    for item in generate(ImplicitSpec(M=64), 1, 0, 400):
        for head, function, tail in item.facts:
            if function == "f1":
                images.setdefault(head, set()).add(tail)
    # 50 draws from 64 tokens for each head: about 35 different ones, never fewer than 15.
    assert min(map(len, images.values())) > 15


def test_tokens_positions_and_aliases_are_uniform() -> None:
    """Chi-square tests, each with a one in a million chance of a false alarm."""
    spec = ExplicitSpec(
        M=16, k=4, L=2, context_chains=4, alias_heads_per_block=True, block_head_balance=True,
        path_collision_stress=True,
    )  # fmt: skip
    numbers: Counter[int] = Counter()
    positions: Counter[int] = Counter()
    aliases: Counter[str] = Counter()
    items = 8000
    for item in generate(spec, 3, 0, items):
        numbers[int(item.answer.split("_")[1])] += 1
        positions[item.candidates.index(item.answer)] += 1
        aliases[item.blocks[-1].lines[item.candidates.index(item.answer)][0]] += 1
    # Upper 1e-6 points of the chi-square law with 15 and 3 degrees of freedom.
    for counts, kinds, limit in ((numbers, 16, 59.5), (positions, 4, 30.7), (aliases, 4, 30.7)):
        expected = items / kinds
        assert len(counts) == kinds
        assert sum((seen - expected) ** 2 / expected for seen in counts.values()) < limit


def test_every_pairing_of_chains_is_equally_likely() -> None:
    """With M = m every layer is a permutation; each of its 24 orders must be as common."""
    orders: Counter[tuple[int, ...]] = Counter()
    items = 12_000
    for item in generate(ImplicitSpec(hops=3, m=4, M=4), 5, 0, items):
        step = {head: tail for head, function, tail in item.facts if function == "f1"}
        orders[tuple(int(step[head].split("_")[1]) for head in sorted(step))] += 1
    counts = np.array(list(orders.values()))
    expected = items / 24
    assert len(orders) == 24
    assert ((counts - expected) ** 2 / expected).sum() < 73.5  # chi-square, 23 df, 1e-6


@pytest.mark.parametrize("controls", [{}, HARD])
@pytest.mark.parametrize("facts_until", ["n-2", "ladder"])
def test_length_can_be_matched_over_depths(controls: dict[str, Any], facts_until: str) -> None:
    """A budget counts every printed line, and tokens to within the last line."""
    for hops in (4, 6, 8):
        for L in range(1, hops if facts_until == "ladder" else hops + 1):
            fields = {**controls, "hops": hops, "L": L, "facts_until": facts_until}
            spec = ExplicitSpec(**fields, budget_lines=200)
            (item,) = generate(spec, 0)
            assert render(item, NhopView()).count("\n") + 1 == 200
            (item,) = generate(ExplicitSpec(**fields, budget_tokens=3000), 0)
            assert 3000 - 15 < approximate_tokens(render(item, NhopView())) <= 3000
            assert derive(item) == [item.answer]


def test_facts_can_stop_where_the_ladder_begins() -> None:
    """Then every hop of a block is printed in that block alone."""
    for item in generate(EXPLICIT_PRESETS["explicit-ladder"], 3, 0, 20):
        assert {function for _, function, _ in item.facts} == {"f1"}
        assert [block.function for block in item.blocks] == ["f2", "f3", "f4"]
        assert derive(item) == [item.answer]
