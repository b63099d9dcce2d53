"""Replies chosen for variety, with what the answer contract reads in each (null: no answer)."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.replies import with_windows_line_ends
from trivium.benchmarks import get_benchmark
from trivium.core.reading import split_reasoning
from trivium.core.spec import spec_from_dict

FOLDER = Path(__file__).parent


def read(case: dict[str, Any]) -> Any:
    """The answer in a reply, as the corpus writes it: a token, or fields in any order."""
    stored = json.loads((FOLDER / "items.json").read_text(encoding="utf-8"))[case["item"]]
    benchmark = get_benchmark(stored["benchmark"])
    item = benchmark.from_row(stored["row"], 0)
    view = spec_from_dict(benchmark.view_type, case["view"])
    answer = benchmark.parse(item, [split_reasoning(case["reply"]).visible], view)
    if answer is None or hasattr(answer, "token"):
        return answer and answer.token
    fields = asdict(answer)
    return {name: sorted(own) if isinstance(own, tuple) else own for name, own in fields.items()}


@pytest.mark.parametrize("name", ["nhop", "identifying_variables"])
def test_every_reply_of_the_corpus_is_read_as_noted(name: str) -> None:
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    cases += map(with_windows_line_ends, cases[:])
    assert [(case["reply"], read(case)) for case in cases] == [
        (case["reply"], case["meaning"]) for case in cases
    ]
