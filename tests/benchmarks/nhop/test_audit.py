"""The audit passes what the controls protect, and catches each cue that they are there for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.benchmarks.nhop.examples import ladder
from trivium.benchmarks.nhop import EXPLICIT, IMPLICIT
from trivium.benchmarks.nhop.generate import generate
from trivium.benchmarks.nhop.spec import ExplicitSpec, ImplicitSpec

HARD = EXPLICIT.presets["explicit-hard"]
EASY = EXPLICIT.presets["explicit-easy"]


def test_the_audit_passes_hard_ladders_and_bags() -> None:
    assert EXPLICIT.audit(HARD, seed=0).passed
    assert IMPLICIT.audit(ImplicitSpec(), seed=0).passed


def test_the_pointer_is_audited_on_bags_only() -> None:
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
    """The original's generator broke ties by token name, which gave distractors small numbers."""
    from trivium.benchmarks.nhop import audit

    def leaky(spec: ExplicitSpec, seed: int, start: int = 0, count: int = 1):  # type: ignore[no-untyped-def]
        for made in generate(spec, seed, start, count):
            last = made.blocks[-1]
            right = made.candidates.index(made.answer)
            lines = [
                line if number == right else [line[0], line[1], f"E_{number:04d}"]
                for number, line in enumerate(last.lines)
            ]
            yield made._replace(blocks=[*made.blocks[:-1], last._replace(lines=lines)])

    monkeypatch.setattr(audit, "generate", leaky)
    assert "tail_number@f4" in caught(HARD)


def test_features_of_a_hand_made_block() -> None:
    """Every column of the features of block f4 of the ladder, in plain numbers."""
    from trivium.benchmarks.nhop.audit import FEATURES, _features

    row = ladder() | {"alias_map_f4": {"H1": "D_0420", "H2": "D_0901"}}
    item = EXPLICIT.from_row(row, 0)
    right, wrong = (dict(zip(FEATURES, own, strict=True)) for own in _features(item, 1))
    assert right == {
        "position": 0,
        "head_count_above": 1,
        "tail_count_above": 0,
        "head_in_block_above": 1,
        "tail_in_block_below": 1,
        "head_count": 2,
        "tail_count": 2,
        "head_number": 901,
        "tail_number": 73,
        "alias_number": 2,
        "distance_to_question": 2,
    }
    assert wrong == {
        "position": 1,
        "head_count_above": 0,
        "tail_count_above": 0,
        "head_in_block_above": 0,
        "tail_in_block_below": 0,
        "head_count": 1,
        "tail_count": 1,
        "head_number": 420,
        "tail_number": 199,
        "alias_number": 1,
        "distance_to_question": 0,
    }


def test_an_audit_says_how_much_it_tried() -> None:
    """Five shortcuts on ladders, and 12 probes for each of 3 blocks."""
    audit = EXPLICIT.audit(EASY, 0, 200)
    assert (audit.items, audit.needed) == (200, 4539)
    assert audit.level == pytest.approx(1 - 0.01 / (5 + 36))
    assert len(audit.cues) + audit.notes[0].count("@") == 41
    assert {cue.chance for cue in audit.cues} == {1 / 6}
    bags = IMPLICIT.audit(ImplicitSpec(), 0, 200)
    assert bags.needed == 3290
    assert bags.level == pytest.approx(1 - 0.01 / (3 + 12))
