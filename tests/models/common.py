"""Helpers for tests of models: a task, commands that evaluate a model on it, and their records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from tests.models.server import Server, SolverModel
from trivium.benchmarks import load_task

NHOP = load_task("nhop_implicit")
SEED = 3


def eval_words(
    server: Server, out: Path, *flags: str, backend: str = "direct", items: int = 50
) -> list[str]:
    """A command that evaluates the server's model on the first items of the seed."""
    words = f"eval nhop_implicit --model vllm/m --backend {backend} --seed {SEED} --items {items}"
    return [*words.split(), "--base_url", server.url, "--out", str(out), *flags]


def oracle(items: int = 50, trials: int = 1) -> SolverModel:
    """A model that answers these items correctly."""
    return SolverModel(NHOP, "oracle", NHOP.items(items, SEED), trials)


def prompts(items: int = 50) -> list[str]:
    """The prompts of these items."""
    return [item.prompt for item in NHOP.items(items, SEED)]


def records(out: Path) -> list[dict[str, Any]]:
    """The records in a folder."""
    return [orjson.loads(line) for line in (out / "records.jsonl").read_bytes().splitlines()]


def same_for_all(out: Path) -> list[dict[str, Any]]:
    """The records without solver, usage, time and stop reason."""
    own = {"solver": None, "usage": None, "seconds": None, "stop_reason": None}
    return [row | own for row in records(out)]


def count_records(out: Path) -> int:
    """The number of records in a folder that is being written."""
    return sum(path.read_bytes().count(b"\n") for path in out.rglob("records.jsonl"))


def summary(out: Path) -> dict[str, Any]:
    """The summary in a folder."""
    read: dict[str, Any] = orjson.loads((out / "summary.json").read_bytes())
    return read
