"""What each solver answers on hand-made items, and shortcuts at chance."""

from __future__ import annotations

from collections import Counter
from statistics import fmean

import pytest

from tests.benchmarks.nhop.examples import bag, ladder
from trivium.benchmarks.nhop import EXPLICIT, IMPLICIT, NhopExplicit, NhopImplicit
from trivium.benchmarks.nhop.generate import generate
from trivium.benchmarks.nhop.item import NhopItem
from trivium.benchmarks.nhop.spec import ImplicitSpec, NhopView
from trivium.core.dialogue import attempt
from trivium.core.statistics import proportion

LADDER = EXPLICIT.from_row(ladder(), 0)
BAG = IMPLICIT.from_row(bag(), 0)


def reply(item: NhopItem, solver: str, mode: str = "direct") -> object:
    benchmark = EXPLICIT if item.blocks else IMPLICIT
    return attempt(benchmark, item, benchmark.solvers[solver], NhopView(mode)).reply  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("solver", "on_bag", "on_ladder"),
    [
        ("oracle", "C_06", "F_0824"),
        ("pointer_f_n1", "C_03", "E_0073"),
        ("last_line", "C_06", "F_0824"),
        ("most_frequent_token", "C_03", "F_0199"),
    ],
)
def test_what_solvers_answer(solver: str, on_bag: str, on_ladder: str) -> None:
    assert reply(BAG, solver) == on_bag
    assert reply(LADDER, solver) == on_ladder


def test_heads_are_counted_above_the_last_block_only() -> None:
    """E_0073 is printed once above; E_0420 is not, though three times in all from here on."""
    assert reply(LADDER, "first_rank_head") == "F_0824"
    assert reply(LADDER, "elimination") == "F_0824"
    facts = [*LADDER.facts, ["D_0555", "f4", "E_0420"]]
    tied = LADDER._replace(facts=facts)
    assert reply(tied, "first_rank_head") == "F_0199"  # the first of a tie
    replies = {reply(tied._replace(id=str(number)), "elimination") for number in range(20)}
    assert replies == {"F_0199", "F_0824"}
    counts = tied.token_counts(2)
    assert (counts["E_0420"], counts["E_0073"], counts["C_0220"], counts["F_0824"]) == (1, 1, 2, 0)
    assert tied.token_counts(3)["E_0073"] == 2


def test_the_literal_reader_is_stopped_by_aliases() -> None:
    assert reply(LADDER, "literal_chain") == "F_0824"
    row = ladder() | {"alias_map_f4": {"H1": "D_0901", "H2": "D_0420"}}
    aliased = EXPLICIT.from_row(row, 0)
    assert reply(aliased, "oracle") == "F_0824"
    replies = Counter(reply(aliased._replace(id=str(n)), "literal_chain") for n in range(200))
    assert 60 < replies["F_0824"] < 140
    assert replies["F_0199"] == 200 - replies["F_0824"]


def test_steps_are_written_by_the_oracle_only() -> None:
    assert reply(BAG, "oracle", "steps") == "f1: B_05\nf2: C_06\nANSWER: C_06"
    assert reply(BAG, "oracle", "free") == "ANSWER: C_06"
    assert reply(BAG, "last_line", "steps") == "ANSWER: C_06"


@pytest.mark.parametrize("benchmark", [EXPLICIT, IMPLICIT], ids=lambda one: one.name)
def test_twins_in_plain_english(benchmark: NhopExplicit | NhopImplicit) -> None:
    """The oracle loses nothing, a literal matcher nearly all, and a guess nothing."""

    def correct(solver: str, surface: str) -> list[float]:
        view = NhopView(surface=surface)  # type: ignore[arg-type]
        spec = benchmark.spec_type()  # without aliases, which stop a literal matcher as well
        made = (
            attempt(benchmark, item, benchmark.solvers[solver], view)
            for item in benchmark.generate(spec, 8, 0, 150)
        )
        return [one.scores["correct"] or 0.0 for one in made]

    for solver, low, high in (("oracle", 0, 0), ("literal_chain", -1, -0.7), ("last_line", 0, 0)):
        difference = fmean(correct(solver, "relations")) - fmean(correct(solver, "symbols"))
        assert low <= difference <= high


@pytest.mark.parametrize("m", [4, 16])
def test_the_pointer_is_at_chance_on_bags(m: int) -> None:
    """99% intervals for all sizes together; a lean of four points would be caught."""
    pointer = IMPLICIT.solvers["pointer_f_n1"]
    hits = sum(
        attempt(IMPLICIT, item, pointer, NhopView()).kind == "right"
        for item in generate(ImplicitSpec(m=m), 20, 0, 2000)
    )
    found = proportion(hits, 2000, level=1 - 0.01 / 2)
    assert (found.low or 0) <= 1 / m <= (found.high or 1)


@pytest.mark.parametrize("hop", [2, 4])
@pytest.mark.parametrize("solver", ["oracle", "pointer_f_n1", "random_candidate"])
def test_an_ablated_hop_leaves_every_solver_at_chance(hop: int, solver: str) -> None:
    spec = ImplicitSpec(hops=6, ablate_inner=True, ablate_hop=hop)
    hits = sum(
        attempt(IMPLICIT, item, IMPLICIT.solvers[solver], NhopView()).kind == "right"
        for item in generate(spec, 21, 0, 600)
    )
    found = proportion(hits, 600, level=0.999)
    assert (found.low or 0) <= 1 / 8 <= (found.high or 1)
