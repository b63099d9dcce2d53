"""Config files on the command line: one file serves generate, eval, sweep and the others."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from trivium.benchmarks import by_alias
from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import UserError, require
from trivium.core.spec import read_mapping
from trivium.evaluation.plan import read_keys

# Keys that hold several values for a sweep and one for other commands.
SINGULAR = {"seeds": "seed", "solvers": "solver", "models": "model"}


def benchmark_of(values: Mapping[str, Any]) -> str | None:
    """The benchmark that a config names, if it names one."""
    name = values.get("benchmark", values.get("approach"))
    return by_alias(name) if isinstance(name, str) else None


def read_config(
    path: str, benchmark: AnyBenchmark, flags: Mapping[str, Any], given: Container[str]
) -> dict[str, Any]:
    """The fields and flags that a file sets, without those that a flag overrides."""
    values = read_mapping(path)
    named = benchmark_of(values) or benchmark.name
    require(named == benchmark.name, f"{path} is about {named}, not about {benchmark.name}")
    try:
        lists, single, grid = read_keys(benchmark, values)
    except UserError as problem:
        raise UserError(f"{path}: {problem}") from None
    if "solver" in given or "model" in given:  # which exclude each other
        lists = {key: own for key, own in lists.items() if key not in ("solvers", "models")}
    found = {key: value for key, value in single.items() if key in flags}
    for key, several in {**lists, **grid}.items():
        name = key if key in grid or key in flags else SINGULAR.get(key, key)
        if name in given or not (key in grid or name in {*flags, "preset"}):
            continue
        if isinstance(flags.get(name), tuple):
            found[name] = tuple(several)
        elif several or key in grid:  # a sweep may list no solvers
            hint = f"as a sweep may have; choose one with --{name}"
            require(len(several) == 1, f"{path}: {key} has {len(several)} values, {hint}")
            found[name] = several[0]
    return {key: value for key, value in found.items() if key not in given}
