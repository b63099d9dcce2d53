"""What reports say about audits: one sentence for every preset, and the stored verdicts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import orjson
import pytest

from trivium.auditing import stored as audits
from trivium.auditing.results import Audit, Cue
from trivium.auditing.stored import audit_sentence, audit_verdict, presets_with_shortcuts
from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.cli import main
from trivium.commands import audit as command
from trivium.core.task import Task


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the stored audits of nhop."""
    path = tmp_path / "audits.json"
    shutil.copy(audits.audits_path(get_benchmark("nhop_implicit")), path)
    for module in (audits, command):
        monkeypatch.setattr(module, "audits_path", lambda _: path)
    audits._stored.cache_clear()
    yield path
    audits._stored.cache_clear()


CLEAN = Cue("last line", "the answer is there", 0.2, 0.1, 0.3, 0.125, 100)
LEAK = replace(CLEAN, low=0.15)


def test_a_pass_from_few_items_is_not_stored(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = path.read_bytes()
    assert main(["audit", "nhop_implicit", "--items", "100", "--keep"]) == 2
    said = capsys.readouterr()
    assert "PASSED" in said.out
    assert "nothing is stored: a pass needs at least 3434 items, got 100" in said.err
    found = Audit((CLEAN,), 3433, 0.99, needed=100)  # enough, but fewer than the stored one has
    monkeypatch.setattr(command, "audit", lambda task, **options: found)
    assert main(["audit", "nhop_implicit", "--keep"]) == 2
    assert "a pass needs at least 3434 items, got 3433" in capsys.readouterr().err
    found = Audit((), 3434, 0.99)
    assert main(["audit", "nhop_implicit", "--keep"]) == 2
    assert "nothing is stored: there was nothing to guess" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_an_audit_that_is_kept_says_where_and_what_it_replaced(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    leaky, clean = Audit((LEAK,), 300, 0.99, needed=4000), Audit((CLEAN,), 20_000, 0.99)
    audits_made = iter([leaky, replace(clean, needed=30_000), clean])
    monkeypatch.setattr(command, "audit", lambda task, **options: next(audits_made))
    lines = []
    for words in (["--keep"], ["--keep", "--json"], ["--keep", "--hops", "3"]):
        main(["audit", "nhop_implicit", *words])
        said = capsys.readouterr()
        lines.append((said.err if "--json" in words else said.out).splitlines()[-1])
    assert lines == [
        f"{path} now holds: caught on 300 items in place of passed on 3,434",
        f"{path} now holds: passed on 20,000 items in place of caught on 300",
        f"{path} now holds: passed on 20,000 items",
    ]


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
        found["needed"] = 100
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
