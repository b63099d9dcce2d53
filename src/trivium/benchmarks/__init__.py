"""Which benchmarks there are, by name; a new one is one line here.

Other packages add theirs with an entry point in the group `trivium.benchmarks`. A project without
a package names its files in `trivium.toml` in the working folder:

    [benchmarks]
    kth_largest = "kth_largest.py:BENCHMARK"
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import UserError, import_extra, require, require_known
from trivium.core.spec import read_mapping, spec_from_dict
from trivium.core.task import Task

BENCHMARKS = {
    "nhop_explicit": "trivium.benchmarks.nhop:EXPLICIT",
    "nhop_implicit": "trivium.benchmarks.nhop:IMPLICIT",
    "identifying_variables": "trivium.benchmarks.variables:VARIABLES",
    "blicket_prompts": "trivium.benchmarks.blicket.prompts:PROMPTS",
    "blicket_game": "trivium.benchmarks.blicket.game:GAME",
}
# Packages of benchmarks that declare more than items: commands, imports and environments.
EXTENSIONS = ("trivium.benchmarks.blicket",)
ENTRY_POINTS = "trivium.benchmarks"  # the group in which other packages add theirs
PROJECT_FILE = "trivium.toml"


def benchmark_names() -> tuple[str, ...]:
    """All names, without importing any benchmark."""
    return tuple(_locations())


def get_benchmark(name: str) -> AnyBenchmark:
    """The benchmark of this name; UserError with what there is for an unknown one."""
    locations = _locations()
    require_known(name, locations, f"benchmark {name!r}")
    return _import_benchmark(name, locations[name])


def by_alias(name: str) -> str:
    """The name of the benchmark that a short name stands for; other names as they are."""
    if name in _locations():
        return name
    for known in BENCHMARKS:  # a short name is rare, so its benchmark is looked for one by one
        if name in get_benchmark(known).aliases:
            return known
    return name


def load_task(
    name: str, preset: str | None = None, fields: Mapping[str, Any] | None = None
) -> Task:
    """The task of a (full) name, with fields of spec and view laid over its preset."""
    short, *parts = name.split(".")
    benchmark = get_benchmark(short)
    spec, view = benchmark.variant(parts)
    if preset is not None:
        spec = find_preset(benchmark, preset)
    return change_task(Task(benchmark, spec, view), fields or {})


def find_preset(benchmark: AnyBenchmark, preset: str) -> Any:
    """The spec of a preset; UserError with what there is for an unknown one."""
    require_known(preset, benchmark.presets, f"preset {preset!r} of {benchmark.name}")
    return benchmark.presets[preset]


def change_task(task: Task, fields: Mapping[str, Any], where: str = "") -> Task:
    """The task with other values for some fields of its spec and view."""
    benchmark = task.benchmark
    spec_fields = {field.name for field in dataclasses.fields(benchmark.spec_type)}
    view_fields = {field.name for field in dataclasses.fields(benchmark.view_type)}
    values = {benchmark.field_aliases.get(key, key): value for key, value in fields.items()}
    allowed = sorted(spec_fields | view_fields)
    for key in values:
        require(
            key in allowed,
            f"{where or benchmark.name}: unknown key {key!r}; allowed are {', '.join(allowed)}",
        )
    spec = {key: value for key, value in values.items() if key in spec_fields}
    view = {key: value for key, value in values.items() if key in view_fields}
    return Task(
        benchmark,
        spec_from_dict(benchmark.spec_type, spec, base=task.spec, where=where),
        spec_from_dict(benchmark.view_type, view, base=task.view, where=where),
    )


def declared(what: str) -> dict[str, Any]:
    """All COMMANDS, IMPORTS or ENVIRONMENTS that the extensions declare."""
    found: dict[str, Any] = {}
    for package in EXTENSIONS:
        found |= getattr(importlib.import_module(package), what)
    return found


def register_environments() -> None:
    """Register every environment with Gymnasium, which does not look for plug-ins itself."""
    registration = import_extra("gymnasium.envs.registration", "gym")
    text = {"trivium/Text-v0": {"entry_point": "trivium.adapters.text_env:TextEnv"}}
    for name, options in {**text, **declared("ENVIRONMENTS")}.items():
        if name not in registration.registry:
            registration.register(name, **options)


def import_project_benchmarks() -> None:
    """Import the files of the project, whose classes a worker process needs to know."""
    for name in _project_benchmarks():
        get_benchmark(name)


def _locations() -> dict[str, str]:
    """Where every benchmark is, as module:attribute or file.py:attribute."""
    return {**BENCHMARKS, **_installed_benchmarks(), **_project_benchmarks(), **BENCHMARKS}


@cache
def _installed_benchmarks() -> dict[str, str]:
    return {point.name: point.value for point in entry_points(group=ENTRY_POINTS)}


def _project_benchmarks() -> dict[str, str]:
    path = Path(PROJECT_FILE)
    if not path.is_file():
        return {}
    table = read_mapping(path).get("benchmarks", {})
    valid = isinstance(table, dict) and all(isinstance(value, str) for value in table.values())
    require(valid, f"{path}: benchmarks must be a table of NAME = 'file.py:ATTRIBUTE'")
    return dict(table)


@cache
def _import_benchmark(name: str, location: str) -> AnyBenchmark:
    module_name, _, attribute = location.rpartition(":")
    try:
        module = (
            _import_file(Path(module_name))
            if module_name.endswith(".py")
            else importlib.import_module(module_name)
        )
        benchmark: AnyBenchmark = getattr(module, attribute)
    except (ImportError, OSError, AttributeError) as problem:
        if name in BENCHMARKS:
            raise
        raise UserError(f"benchmark {name!r} cannot be loaded from {location}: {problem}") from None
    return benchmark


def _import_file(path: Path) -> ModuleType:
    """The module in a file, imported under the name of the file."""
    found = importlib.util.spec_from_file_location(path.stem, path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules.setdefault(path.stem, module)
    found.loader.exec_module(module)
    return module
