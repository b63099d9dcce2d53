"""What shortcuts can and cannot do: baselines at chance, the audit, every control's own cue."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trivium.benchmarks.nhop import EXPLICIT, IMPLICIT
from trivium.benchmarks.nhop.item import generate
from trivium.benchmarks.nhop.spec import ExplicitSpec, ImplicitSpec, NhopView
from trivium.core.dialogue import attempt
from trivium.core.statistics import wilson

HARD = EXPLICIT.presets["explicit-hard"]
EASY = EXPLICIT.presets["explicit-easy"]


SIZES = [4, 8, 16]


@pytest.mark.parametrize("m", SIZES)
def test_the_pointer_is_at_chance_on_bags(m: int) -> None:
    """99% intervals for all sizes together; a lean of 1.2 points would be caught."""
    spec = ImplicitSpec(m=m)
    pointer = IMPLICIT.solvers["pointer_f_n1"]
    hits = [
        attempt(IMPLICIT, item, pointer, NhopView()).scores["em"]
        for item in generate(spec, 20, 0, 10_000)
    ]
    found = wilson(sum(map(float, filter(None, hits))), len(hits), level=1 - 0.01 / len(SIZES))
    assert found.low is not None
    assert found.high is not None
    assert found.low <= 1 / m <= found.high


@pytest.mark.parametrize("hop", [2, 3, 4])
@pytest.mark.parametrize("solver", ["oracle", "pointer_f_n1", "random_candidate"])
def test_an_ablated_hop_leaves_every_solver_at_chance(hop: int, solver: str) -> None:
    spec = ImplicitSpec(hops=6, ablate_inner=True, ablate_hop=hop)
    hits = sum(
        attempt(IMPLICIT, item, IMPLICIT.solvers[solver], NhopView()).kind == "right"
        for item in generate(spec, 21, 0, 3000)
    )
    found = wilson(hits, 3000, level=0.999)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= 1 / spec.m <= found.high


def test_the_audit_passes_hard_ladders_and_bags() -> None:
    assert EXPLICIT.audit(HARD, seed=0).passed
    assert IMPLICIT.audit(ImplicitSpec(), seed=0).passed


def test_the_pointer_is_audited_on_bags_alone() -> None:
    """On ladders it names a token that is never an answer: a cue that cannot be caught is none."""
    audits = [EXPLICIT.audit(HARD, 0, 100), IMPLICIT.audit(ImplicitSpec(), 0, 100)]
    tried = [{cue.name for cue in audit.cues} for audit in audits]
    assert ["pointer_f_n1" in names for names in tried] == [False, True]
    assert "pointer_f_n1" in EXPLICIT.solvers


def caught(spec: ExplicitSpec) -> set[str]:
    return {cue.name for cue in EXPLICIT.audit(spec, seed=0, items=600).cues if cue.caught}


def test_the_audit_catches_easy_ladders() -> None:
    assert {"first_rank_head", "elimination"} <= caught(EASY)


def test_each_control_off_is_caught_by_the_cue_it_was_there_for() -> None:
    assert "head_in_block_above@f4" in caught(replace(HARD, path_collision_stress=False))
    assert "head_count_above@f2" in caught(replace(HARD, block_head_balance=False))
    assert caught(replace(HARD, alias_heads_per_block=False)) == {"literal_chain"}


@pytest.mark.parametrize("L", [1, 2, 4, 5])
def test_the_audit_passes_hard_ladders_of_other_depths(L: int) -> None:
    audit = EXPLICIT.audit(replace(HARD, hops=5, L=L), seed=1, items=800)
    assert audit.passed, [cue for cue in audit.cues if cue.caught]


def test_a_leak_of_token_numbers_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seed's generator broke ties by token name, which gave distractors small numbers."""
    from trivium.benchmarks.nhop import audit, item

    def leaky(spec: ExplicitSpec, seed: int, start: int = 0, count: int = 1):  # type: ignore[no-untyped-def]
        for made in generate(spec, seed, start, count):
            last = made.blocks[-1]
            place = made.candidates.index(made.answer)
            lines = [
                line if number == place else [line[0], line[1], f"E_{number:04d}"]
                for number, line in enumerate(last.lines)
            ]
            yield made._replace(blocks=[*made.blocks[:-1], last._replace(lines=lines)])

    monkeypatch.setattr(audit, "generate", leaky)
    assert "tail_number@f4" in caught(HARD)
    assert item.generate is generate
