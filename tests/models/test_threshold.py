"""Thresholds of stub models of known skill, through both backends."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.models.common import records
from tests.models.skilled import Skill, skilled_server
from trivium.cli import main

VALUES, ITEMS, SEED = (3, 4, 5, 6, 8, 10), 250, 3
SKILLS = {"weak": Skill(3.8), "fair": Skill(5.2), "strong": Skill(7.4)}
WORDS = f"threshold nhop_implicit --vary hops --values 3,4,5,6,8,10 --seed {SEED}"


def rows(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "thresholds.csv").read_text().splitlines()))


def test_three_stub_models_through_the_direct_backend(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = [word for name in SKILLS for word in ("--model", f"vllm/{name}")]
    with skilled_server(SKILLS, VALUES, ITEMS, SEED) as server:
        words = [*WORDS.split(), *models, "--base_url", server.url, "--backend", "direct"]
        words += ["--max_items", "250", "--out", str(tmp_path / "run")]
        assert main(words) == 0
        calls = sum(server.asked.values())
        found = rows(tmp_path / "run")
        assert calls == sum(int(row["items"]) for row in found)
        assert main(words) == 0, "nothing is left to ask"
        assert sum(server.asked.values()) == calls
        assert rows(tmp_path / "run") == found
    # All three hold with a probability of about 0.95 ** 3; the seed is one where they do.
    for row in found:
        truth = SKILLS[row["solver"].partition("/")[2]].threshold
        assert float(row["low"] or 0) <= truth <= float(row["high"] or 99), row
        assert row["fits"] == "yes"
        print(row["solver"], truth, row["threshold"], row["low"], row["high"], row["items"])
    page = (tmp_path / "run" / "report.html").read_text()
    assert 'id="thresholds"' in page
    shown = capsys.readouterr().out
    assert all(f"vllm/{name}" in shown for name in SKILLS)


def test_inspect_is_asked_batch_by_batch_and_agrees_with_the_direct_backend(tmp_path: Path) -> None:
    with skilled_server(SKILLS, VALUES, 60, SEED) as server:
        words = [*WORDS.split(), "--model", "vllm/fair", "--base_url", server.url]
        words += ["--max_items", "50", "--width", "0.01"]
        for backend in ("direct", "inspect"):
            assert main([*words, "--backend", backend, "--out", str(tmp_path / backend)]) == 0
    assert rows(tmp_path / "inspect") == rows(tmp_path / "direct")
    for path in (tmp_path / "direct" / "results").iterdir():
        scores = [
            [(row["id"], row["scores"]) for row in records(folder)]
            for folder in (path, tmp_path / "inspect" / "results" / path.name)
        ]
        assert scores[0] == scores[1]


def test_failed_calls_are_made_again_by_the_same_command(tmp_path: Path) -> None:
    server = skilled_server(SKILLS, VALUES, 60, SEED)
    broken = True
    server.fault = lambda prompt, nth: "400" if broken and len(prompt) % 7 == 0 else None
    with server:
        words = [*WORDS.split(), "--model", "vllm/fair", "--base_url", server.url]
        words += ["--max_items", "50", "--out", str(tmp_path), "--max_retries", "0"]
        assert main(words) == 1
        broken = False
        assert main(words) == 0
    kinds = [row["kind"] for folder in (tmp_path / "results").iterdir() for row in records(folder)]
    assert "error" not in kinds


def test_it_asks_before_paying(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with skilled_server(SKILLS, VALUES, 1, SEED) as server:
        words = [*WORDS.split(), "--model", "vllm/fair", "--base_url", server.url]
        assert main([*words, "--out", str(tmp_path), "--confirm_above", "100"]) == 2
        assert not server.asked
    assert "This would send" in capsys.readouterr().err
