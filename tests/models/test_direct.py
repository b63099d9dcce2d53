"""The direct lane against a real server: faults, resuming, errors, both protocols."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from models.server import Server, Speaker, some_faults

from trivium.cli import main
from trivium.registry import get_benchmark

NHOP = get_benchmark("nhop_implicit")


def speaker(solver: str = "oracle", items: int = 50, trials: int = 1) -> Speaker:
    made = NHOP.generate(NHOP.spec_type(), 3, 0, items)
    return Speaker(NHOP, NHOP.view_type(), solver, made, trials)


def ask(server: Server, out: Path, *flags: str, items: int = 50) -> int:
    words = ["eval", "nhop_implicit", "--model", "vllm/m", "--engine", "direct", "--seed", "3"]
    words += ["--base_url", server.url, "--items", str(items), "--out", str(out)]
    return main([*words, "--retry_backoff", "0.01", *flags])


def rows(out: Path) -> list[dict[str, object]]:
    return [orjson.loads(line) for line in (out / "records.jsonl").read_bytes().splitlines()]


def test_an_oracle_behind_the_endpoint_is_perfect(tmp_path: Path) -> None:
    with Server(speaker()) as server:
        assert ask(server, tmp_path) == 0
    summary = orjson.loads((tmp_path / "summary.json").read_bytes())
    assert summary["metrics"]["em"]["value"] == 1.0
    assert summary["answered"] == 50


def test_two_thousand_items_with_every_fault_are_each_answered_once(tmp_path: Path) -> None:
    # 5% of the calls go wrong in each of six ways: three calls in ten.
    with Server(speaker(items=2000), some_faults(5), slow=0.5) as server:
        assert ask(server, tmp_path, "--concurrency", "200", "--yes", items=2000) == 0
    found = rows(tmp_path)
    assert [row["index"] for row in found] == list(range(2000))
    assert all(row["kind"] == "right" for row in found)
    assert set(server.answered.values()) == {1}
    assert sum(server.asked.values()) > 2400
