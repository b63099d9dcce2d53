"""A sweep's grid from flags: `--hops 4,5,6 --L 2,3` in place of the keys of a file."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from types import NoneType
from typing import Any

from trivium.benchmarks import benchmark_names, by_alias, get_benchmark
from trivium.commands.config import benchmark_of
from trivium.commands.flags import peek
from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import require
from trivium.core.spec import read_mapping
from trivium.evaluation.plan import SPELLINGS, find_config

# Keys of a sweep that are lists, besides the fields of spec and view.
KEYS: dict[str, Any] = {"preset": str, "seeds": int, "solvers": str, "order_trials": int}


def split_grid(args: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """The words that are no part of a grid, a config or a benchmark first; and the grid's keys."""
    words = _name_first(list(args))
    benchmark = swept_benchmark(words[0]) if words and not words[0].startswith("-") else None
    if benchmark is None:
        return words, {}
    hints = grid_fields(benchmark)
    spellings = {**SPELLINGS, **benchmark.field_aliases}
    left, grid = words[:1], {}
    position = 1
    while position < len(words):
        flag, equals, value = words[position].partition("=")
        position += 1
        name = flag.removeprefix("--").replace("-", "_")
        off = name.startswith("no_") and name[3:] in hints
        key = spellings.get(name, name[3:] if off else name)
        if not flag.startswith("--") or key not in hints:
            left.append(words[position - 1])
            continue
        texts = [value] if equals else []
        while not equals and position < len(words) and not words[position].startswith("--"):
            texts.append(words[position])
            position += 1
        require(key not in grid, f"--{name} repeats {key}")
        grid[key] = [False] if off else _values(",".join(texts), hints[key], flag)
    if "order_trials" in grid:
        require(len(grid["order_trials"]) == 1, "--order_trials takes one number")
        return left, grid | {"order_trials": grid["order_trials"][0]}
    return left, grid


def _name_first(words: list[str]) -> list[str]:
    """The words with what `--approach` or `--config` names as the first of them."""
    for flag in ("approach", "config"):
        name = peek(words, flag)
        if name is not None:
            place = next(i for i, word in enumerate(words) if word.split("=")[0] == f"--{flag}")
            del words[place : place + (1 if "=" in words[place] else 2)]
            if flag == "config" and words and not words[0].startswith("-"):
                own, about = by_alias(words.pop(0)), benchmark_of(read_mapping(find_config(name)))
                require(own == about, f"{name} is about {about}, not about {own}")
            return [name, *words]
    return words


def swept_benchmark(name: str) -> AnyBenchmark | None:
    """The benchmark of this name, or the one that a config of this name is about."""
    known = by_alias(name)
    if known not in benchmark_names():
        known = benchmark_of(read_mapping(find_config(name))) or ""
    return get_benchmark(known) if known in benchmark_names() else None


def grid_fields(benchmark: AnyBenchmark) -> dict[str, Any]:
    """Everything that can be an axis of a sweep of this benchmark, with its type."""
    fields = (benchmark.spec_type, benchmark.view_type)
    return {**KEYS, **{key: hint for kind in fields for key, hint in _hints(kind).items()}}


def _hints(kind: type[Any]) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _values(text: str, hint: Any, flag: str) -> list[Any]:
    """The values that a flag lists, separated by commas; a list's parts are joined by +."""
    if not text and hint is bool:
        return [True]
    require(bool(text), f"{flag} needs a value")
    parts = [part.strip() for part in text.split(",") if part.strip()]
    require(bool(parts), f"{flag} needs a value, got {text!r}")
    if typing.get_origin(hint) is tuple:
        inner = typing.get_args(hint)[0]
        return [[_value(one, inner) for one in part.split("+")] for part in parts]
    return [_value(part, hint) for part in parts]


def _value(text: str, hint: Any) -> Any:
    """The text as a value of this type; text that is none stays, and the spec refuses it."""
    kinds = {hint, *typing.get_args(hint)} - {NoneType}
    if bool in kinds and text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        if kind in kinds:
            try:
                return kind(text)
            except ValueError:
                continue
    return text
