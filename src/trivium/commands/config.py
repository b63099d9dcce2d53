"""Config files on the command line: one file serves generate, eval, sweep and the others."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from trivium.benchmarks import by_alias
from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import UserError, require
from trivium.core.spec import read_mapping
from trivium.evaluation.plan import DERIVED, LISTS, VALUES, axis, respelled, switch

# What a sweep has several of and another command one of.
SINGULAR = {"seeds": "seed", "solvers": "solver", "models": "model"}


@dataclasses.dataclass(frozen=True)
class Config:
    """What a file says about one command's flags; a flag on the command line wins."""

    path: str
    values: Mapping[str, Any]  # keys in the spelling of sweeps
    preset: str | None
    fields: Mapping[str, Any]  # of spec and view
    words: tuple[str, ...]  # flags of the command itself
    given: Mapping[str, str]  # the fields that are set, and where

    @property
    def benchmark(self) -> str | None:
        """The name of the benchmark in the file, if it has one."""
        return benchmark_of(self.values)


def benchmark_of(values: Mapping[str, Any]) -> str | None:
    """The benchmark that a config names."""
    name = values.get("benchmark", values.get("approach"))
    return by_alias(name) if isinstance(name, str) else None


def read_config(
    path: str, benchmark: AnyBenchmark, flags_type: type[Any], given: Mapping[str, str]
) -> Config:
    """The part of a file that a command uses; keys of sweeps that it has no use for are skipped."""
    values = {k: v for k, v in respelled(benchmark, read_mapping(path)).items() if k not in DERIVED}
    named = benchmark_of(values)
    require(
        named in (None, benchmark.name),
        f"{path} is about {named}, not about {benchmark.name}",
    )
    known = {
        field.name
        for kind in (benchmark.spec_type, benchmark.view_type)
        for field in dataclasses.fields(kind)
    }
    fields: dict[str, Any] = {}
    for key, value in values.items():
        if key in known and key not in given:
            fields[key] = _one(axis(benchmark, key, value), key, f"--{key}", path)
        elif key not in {*known, *LISTS, *VALUES}:
            try:
                axis(benchmark, key, value)  # refuses it, with a list of what is allowed
            except UserError as problem:
                raise UserError(f"{path}: {problem}") from None
    for name in values.get("switches", ()):
        fields.setdefault(switch(benchmark, name), True)
    preset = values.get("preset")
    if isinstance(preset, list):
        preset = None if "preset" in given else _one(preset, "preset", "--preset", path)
    words = tuple(_words(values, flags_type, given, path))
    set_by = [*fields, *(word[2:] for word in words if word.startswith("--"))]
    return Config(path, values, preset, fields, words, {key: f"{key} in {path}" for key in set_by})


def _words(
    values: Mapping[str, Any], flags_type: type[Any], given: Mapping[str, str], path: str
) -> Iterator[str]:
    """The keys of a sweep as flags of a command that has them."""
    own = set(_leaves(flags_type))
    # A solver and a model exclude each other: the one on the command line is meant.
    skipped = {"solvers", "models"} if {"solver", "model"} & set(given) else set()
    for key in ("seeds", "solvers", "models", *VALUES):
        flag = SINGULAR.get(key, key)
        if key not in values or key in skipped or {key, flag} & set(given):
            continue
        parts = values[key] if isinstance(values[key], list) else [values[key]]
        if not parts and key in ("solvers", "models"):
            continue  # none of these, as a sweep may say
        if flag in own and flag != "benchmark":
            yield from (f"--{flag}", str(_one(parts, key, f"--{flag}", path)))
        elif key == "models" and "models" in own:
            yield from (word for part in parts for word in ("--model", str(part)))
        elif key in own:
            yield from (f"--{key}", ",".join(map(str, parts)))


def _leaves(kind: type[Any]) -> Iterator[str]:
    """The names of all flags of a dataclass of dataclasses."""
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        if dataclasses.is_dataclass(hints[field.name]):
            yield from _leaves(hints[field.name])
        else:
            yield field.name


def _one(values: list[Any], key: str, flag: str, path: str) -> Any:
    require(
        len(values) == 1,
        f"{path}: {key} has {len(values)} values, as a sweep may have; choose one with {flag}",
    )
    return values[0]
