"""Fields of a spec that have an order, with values from easy to hard."""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import NoneType

from trivium.benchmarks import change_task
from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import UserError, require
from trivium.core.task import Task

MAX_LEVELS = 10  # where no values are named
WHOLE = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128)
SHARES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
EASIER_WITH_MORE = {"observations", "snr", "tests", "trials"}


@dataclass(frozen=True)
class Axis:
    """A field of the spec with values from easy to hard."""

    field: str
    values: tuple[float, ...]


def make_axes(task: Task, vary: str | Sequence[str] | Mapping[str, Sequence[object]]) -> list[Axis]:
    """One or two fields, each with the values that are given for it or with usual ones."""
    names = [vary] if isinstance(vary, str) else list(vary)
    require(1 <= len(names) <= 2, f"vary takes one field or two, got {', '.join(names) or 'none'}")
    values = vary if isinstance(vary, Mapping) else {}
    return [make_axis(task, name, [str(value) for value in values.get(name, ())]) for name in names]


def make_axis(task: Task, name: str, texts: Sequence[str] = ()) -> Axis:
    """The field of this name with these values, or with some that its spec allows."""
    benchmark = task.benchmark
    key = benchmark.field_aliases.get(name, name)
    kinds = ordered_fields(benchmark)
    require(
        key in kinds,
        f"vary must name a field of numbers, got {name!r}; {benchmark.name} has {', '.join(kinds)}",
    )
    if texts:
        values = [_number(text, kinds[key], name) for text in texts]
    else:
        values = _usual_values(task, key, kinds[key])
    for value in values:
        change_task(task, {key: value})  # refuses what the spec does
    return Axis(key, tuple(values))


def ordered_fields(benchmark: AnyBenchmark) -> dict[str, type]:
    """The fields of a spec that hold a number, and of which type."""
    found: dict[str, type] = {}
    for name, hint in typing.get_type_hints(benchmark.spec_type).items():
        kinds = ({hint, *typing.get_args(hint)} - {NoneType}) & {int, float}
        if kinds and hint is not bool:
            found[name] = float if float in kinds else int
    return found


def _number(text: str, kind: type, name: str) -> float:
    try:
        return kind(text)  # type: ignore[no-any-return]
    except ValueError:
        what = "whole numbers" if kind is int else "numbers"
        raise UserError(f"values of {name} must be {what}, got {text!r}") from None


def _usual_values(task: Task, key: str, kind: type) -> list[float]:
    """Some values that the spec allows, up to four times the present one, from easy to hard."""
    present = getattr(task.spec, key)
    require(present is not None, f"{key} has no value to start from: name some with --values")
    found: list[float] = []
    for value in WHOLE if kind is int else SHARES:
        try:
            change_task(task, {key: value})
        except UserError:
            continue
        if kind is float or value <= 4 * present:
            found.append(value)
    require(len(found) >= 2, f"{key} allows too few values here: name some with --values")
    step = (len(found) - 1) / (MAX_LEVELS - 1)
    if step > 1:
        found = [found[round(number * step)] for number in range(MAX_LEVELS)]
    found = [value for value in found if change_task(task, {key: value}).floor.value < 1]
    return found[::-1] if key in EASIER_WITH_MORE else found
