"""Thresholds of stub models of known skill, through both backends."""

from __future__ import annotations

import csv
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log

from tests.models.common import count_records, records
from tests.models.skilled import Skill, skilled_server
from trivium.cli import main
from trivium.models.inspect.samples import log_files

VALUES, ITEMS, SEED = (3, 4, 5, 6, 8, 10), 250, 3
SKILLS = {"weak": Skill(3.8), "fair": Skill(5.2), "strong": Skill(7.4)}
WORDS = f"threshold nhop_implicit --vary hops --values 3,4,5,6,8,10 --seed {SEED}"


@pytest.fixture
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.commands.threshold.write_report", lambda folder, **options: folder)


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


def scores(folder: Path) -> dict[str, list[tuple[str, object]]]:
    paths = sorted((folder / "results").iterdir())
    return {path.name: [(row["id"], row["scores"]) for row in records(path)] for path in paths}


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_inspect_makes_the_same_decisions_as_the_direct_backend(
    tmp_path: Path,
) -> None:
    with skilled_server(SKILLS, VALUES, 50, SEED) as server:
        words = [*WORDS.split(), "--model", "vllm/fair", "--model", "vllm/weak"]
        words += ["--base_url", server.url, "--max_items", "50", "--width", "0.01"]
        for backend in ("direct", "inspect"):
            assert main([*words, "--backend", backend, "--out", str(tmp_path / backend)]) == 0
    assert rows(tmp_path / "inspect") == rows(tmp_path / "direct")
    assert scores(tmp_path / "inspect") == scores(tmp_path / "direct")
    samples: Counter[str] = Counter()
    for log in (read_eval_log(str(path)) for path in log_files(tmp_path / "inspect")):
        samples[log.eval.model] += len(log.samples or [])
    assert samples == {"endpoint/vllm/fair": 50, "endpoint/vllm/weak": 50}


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_a_search_on_inspect_that_was_killed_resumes_and_ends_the_same(tmp_path: Path) -> None:
    with skilled_server(SKILLS, VALUES, 80, SEED) as server:
        words = [*WORDS.split(), "--model", "vllm/fair", "--base_url", server.url]
        words += ["--max_items", "75", "--width", "0.01", "--backend", "inspect", "--out"]
        assert main([*words, str(tmp_path / "whole")]) == 0
        server.latency, once = 0.1, sum(server.asked.values())
        cut = tmp_path / "cut"
        words += [str(cut), "--concurrency", "4"]
        run = subprocess.Popen([sys.executable, "-m", "trivium", *words])
        while sum(count_records(path.parent) for path in cut.rglob("records.jsonl")) < 40:
            time.sleep(0.02)
        run.send_signal(signal.SIGKILL)
        assert run.wait() == -signal.SIGKILL
        server.latency = 0.0
        assert main(words) == 0
        assert sum(server.asked.values()) - once <= 75 + 4, "only what was under way is repeated"
    assert rows(cut) == rows(tmp_path / "whole")
    assert scores(cut) == scores(tmp_path / "whole")


@pytest.mark.usefixtures("no_report")
def test_a_game_on_inspect_has_the_threshold_of_the_same_player(tmp_path: Path) -> None:
    words = "threshold blicket_game --preset three-objects --vary tests --values 5,4"
    words += f" --max_items 50 --seed 3 --out {tmp_path} --solver optimal"
    assert main([*words.split(), "--model", "trivium/optimal"]) == 0
    by_solver: dict[str, list[dict[str, str]]] = {}
    for row in rows(tmp_path):
        by_solver.setdefault(row.pop("solver"), []).append(row)
    assert by_solver["optimal"] == by_solver["trivium/optimal"]


@pytest.mark.usefixtures("no_report")
@pytest.mark.parametrize("backend", ["direct", pytest.param("inspect", marks=pytest.mark.slow)])
def test_failed_calls_are_made_again_by_the_same_command(tmp_path: Path, backend: str) -> None:
    server = skilled_server(SKILLS, VALUES, 60, SEED)
    broken = True
    server.fault = lambda prompt, nth: "400" if broken and len(prompt) % 7 == 0 else None
    with server:
        words = [*WORDS.split(), "--model", "vllm/fair", "--base_url", server.url]
        words += ["--max_items", "50", "--out", str(tmp_path), "--max_retries", "0"]
        words += ["--backend", backend]
        assert main(words) == 1
        asked, found = sum(server.asked.values()), rows(tmp_path)
        assert asked == int(found[0]["items"]) + kinds(tmp_path).count("failed"), "each once"
        assert main([*words, "--no_retry_errors"]) == 1
        assert (sum(server.asked.values()), rows(tmp_path)) == (asked, found), "same decisions"
        broken = False
        assert main(words) == 0
    assert "failed" not in kinds(tmp_path)


def kinds(folder: Path) -> list[str]:
    return [row["kind"] for path in (folder / "results").iterdir() for row in records(path)]


def test_it_asks_before_paying(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with skilled_server(SKILLS, VALUES, 1, SEED) as server:
        words = [*WORDS.split(), "--model", "vllm/fair", "--base_url", server.url]
        assert main([*words, "--out", str(tmp_path), "--confirm_above", "100"]) == 2
        assert not server.asked
    assert "This would send" in capsys.readouterr().err
