"""What reports say about audits: one sentence for every preset, and the stored verdicts."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import orjson
import pytest

from trivium.auditing import stored as audits
from trivium.auditing.stored import audit_sentence, audit_verdict, presets_with_shortcuts
from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.core.task import Task


@pytest.mark.parametrize("preset", ["paper", "three-objects", "demonstrations-given"])
def test_games_of_one_space_say_that_a_table_wins_them(preset: str) -> None:
    game = get_benchmark("blicket_game")
    task = Task(game, game.presets[preset], game.view_type())
    assert audit_verdict(task) == "caught"
    said = audit_sentence(task)
    assert "one fixed space, so a table of recorded games wins" in said
    assert "use the preset mixed for scores" in said
    assert "original" not in said


def test_ladders_that_keep_the_leaks_of_the_original_say_so_with_the_strongest_cue() -> None:
    nhop = get_benchmark("nhop_explicit")
    said = audit_sentence(Task(nhop, nhop.presets["explicit-easy"], nhop.view_type()))
    assert said.startswith("Audit: these items keep the shortcuts of the original on purpose")
    assert "against 0.167 by chance" in said


def test_every_leaky_preset_is_named_as_one_with_shortcuts() -> None:
    for name in benchmark_names():
        benchmark = get_benchmark(name)
        assert set(benchmark.leaky_presets) <= set(presets_with_shortcuts(benchmark))


def test_an_audit_that_is_kept_replaces_that_of_the_same_items(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nhop = get_benchmark("nhop_implicit")
    monkeypatch.setattr(audits, "audits_path", lambda _: tmp_path / "audits.json")
    cue = {"name": "last line", "value": 0.2, "chance": 0.125}
    task = Task(nhop, nhop.default_spec, nhop.view_type())
    sentences = []
    for verdict in ("caught", "passed"):
        found = {"verdict": verdict, "cues": [cue], "strongest": "last line", "items": 100}
        audits.keep_audit(task, SimpleNamespace(to_dict=found.copy))  # type: ignore[arg-type]
        sentences.append(audit_sentence(task))
    cue_words = "last line (0.200 against 0.125 by chance)"
    assert sentences == [
        f"Audit: these items have shortcuts, such as {cue_words}.",
        "Audit: passed. None of 1 cues beats chance on 100 fresh items, learned probes among them; "
        f"the nearest is {cue_words}.",
    ]
    assert audit_verdict(task) == "passed"
    kept = audits.stored_audit(task)
    assert kept is not None
    assert (kept["tried"], kept["strongest"]) == (1, cue)
    stored = orjson.loads((tmp_path / "audits.json").read_bytes())
    assert [len(views) for views in stored.values()] == [1]
    audits._stored.cache_clear()
