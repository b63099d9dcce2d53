"""Records for tests: attempts of built-in solvers, and made-up ones with known scores."""

from __future__ import annotations

import gzip
import re
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from trivium.benchmarks.nhop import IMPLICIT
from trivium.benchmarks.nhop.spec import ImplicitSpec, NhopView
from trivium.core.dialogue import attempt
from trivium.core.files import dump_line
from trivium.report.results import BenchmarkResults, read_results

Row = dict[str, Any]


def attempts(spec: ImplicitSpec, solver: str, *, seed: int = 1, items: int = 12) -> list[Row]:
    """Records of a built-in solver of nhop_implicit."""
    return [
        asdict(attempt(IMPLICIT, item, IMPLICIT.solvers[solver], NhopView()))
        for item in IMPLICIT.generate(spec, seed, 0, items)
    ]


def scored(
    solver: str, scores: Sequence[float | None], name: str = "item", **fields: Any
) -> list[Row]:
    """Made-up records of nhop_implicit with these headline scores; None is a failed call."""
    return [
        {
            "benchmark": "nhop_implicit",
            "id": f"{name}-{number}",
            "trial": 0,
            "solver": solver,
            "reply": None if score is None else "E_0001",
            "answer": None if score is None else score,
            "scores": {} if score is None else {"correct": score},
            "kind": "failed" if score is None else "right" if score == 1 else "other",
            "floor": 0.125,
            "groups": {"steps": 5, "m": 8},
            "digest": f"{name}-{number} {fields.get('seed')} {fields.get('spec')}",
            **({"seed": 0, "index": number} if "spec" in fields else {}),
            **fields,
        }
        for number, score in enumerate(scores)
    ]


def write_records(folder: Path, rows: Sequence[Row]) -> Path:
    """The folder, with these rows as its records."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "records.jsonl").write_bytes(b"".join(map(dump_line, rows)))
    return folder


def page_items(page: str) -> dict[str, Any]:
    """The list of a page's item browser, and the texts and attempts in its compressed parts."""
    (data,) = re.findall(r'id="data-items">(.*?)</script>', page, re.DOTALL)
    found: dict[str, Any] = {**orjson.loads(data), "texts": [], "attempts": []}
    for part in re.findall(r'id="part-\d+">(.*?)</script>', page):
        content = orjson.loads(gzip.decompress(b64decode(part)))
        start = len(found["texts"])
        found["texts"] += content["texts"]
        for attempt_ in content["attempts"]:
            attempt_["turns"] = [[side, start + text] for side, text in attempt_["turns"]]
            attempt_["marks"] = [start + text for text in attempt_["marks"]]
            found["attempts"].append(attempt_)
    return found


def results_of(folder: Path, rows: Sequence[Row]) -> BenchmarkResults:
    """The results of rows that all belong to one benchmark."""
    (results,) = read_results([write_records(folder, rows)]).values()
    return results
