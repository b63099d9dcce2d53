"""Which benchmarks there are; a new one is one line here, or an entry point of its own package."""

from __future__ import annotations

import importlib
from difflib import get_close_matches
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import require

BENCHMARKS = {
    "nhop_explicit": "trivium.benchmarks.nhop:EXPLICIT",
    "nhop_implicit": "trivium.benchmarks.nhop:IMPLICIT",
    "identifying_variables": "trivium.benchmarks.variables:VARIABLES",
    "blicket_prompts": "trivium.benchmarks.blicket.prompts:PROMPTS",
    "blicket_game": "trivium.benchmarks.blicket.game:GAME",
}
ENTRY_POINTS = "trivium.benchmarks"  # where other packages add theirs


@cache
def _places() -> dict[str, str]:
    others = {point.name: point.value for point in entry_points(group=ENTRY_POINTS)}
    return others | BENCHMARKS


def benchmark_names() -> tuple[str, ...]:
    """All names, without importing any benchmark."""
    return tuple(_places())


def get_benchmark(name: str) -> AnyBenchmark:
    """The benchmark of this name, or a sentence that says which there are."""
    places = _places()
    near = get_close_matches(name, places, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(places)}"
    require(name in places, f"unknown benchmark {name!r}; {hint}")
    module, attribute = places[name].split(":")
    benchmark: AnyBenchmark = getattr(importlib.import_module(module), attribute)
    return benchmark


def named_benchmark(name: str) -> tuple[AnyBenchmark, Any, Any]:
    """A benchmark with the spec and view that a full name such as NAME.part.part stands for."""
    short, *parts = name.split(".")
    benchmark = get_benchmark(short)
    spec, view = benchmark.variant(parts)
    return benchmark, spec, view
