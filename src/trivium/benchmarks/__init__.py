"""The registry of benchmarks: to add one, add a line here.

Other packages register theirs with an entry point in the group `trivium.benchmarks`. A project
without a package lists its files in `trivium.toml` in the working folder:

    [benchmarks]
    kth_largest = "kth_largest.py:BENCHMARK"
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

import orjson

from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import UserError, import_extra, require, require_known
from trivium.core.files import open_output
from trivium.core.spec import read_mapping, spec_from_dict
from trivium.core.task import PresentedItem, Task
from trivium.core.text import one_line

BENCHMARKS = {
    "nhop_explicit": "trivium.benchmarks.nhop:EXPLICIT",
    "nhop_implicit": "trivium.benchmarks.nhop:IMPLICIT",
    "identifying_variables": "trivium.benchmarks.variables:VARIABLES",
    "blicket_prompts": "trivium.benchmarks.blicket.prompts:PROMPTS",
    "blicket_game": "trivium.benchmarks.blicket.game:GAME",
}
ALIASES = {"explicit": "nhop_explicit", "implicit": "nhop_implicit"}  # in configs and folders
# Packages of benchmarks that add to the library what their extension.toml declares.
EXTENSIONS = ("trivium.benchmarks.blicket",)
PROJECT_FILE = "trivium.toml"


def benchmark_names() -> tuple[str, ...]:
    """The names of all benchmarks, none of which is imported."""
    return tuple(_locations())


def get_benchmark(name: str) -> AnyBenchmark:
    """The benchmark of this name; UserError with the known names for an unknown one."""
    locations = _locations()
    require_known(name, locations, f"benchmark {name!r}")
    return _import_benchmark(name, locations[name])


def by_alias(name: str) -> str:
    """The full name of a benchmark's alias; other names unchanged."""
    return ALIASES.get(name, name)


def load_task(
    name: str, preset: str | None = None, fields: Mapping[str, Any] | None = None
) -> Task:
    """The task of a name such as NAME or NAME.variant, with fields that override its preset."""
    first, *parts = name.split(".")
    benchmark = get_benchmark(first)
    spec, view = benchmark.variant(parts)
    if preset is not None:
        spec = find_preset(benchmark, preset)
    return change_task(Task(benchmark, spec, view), fields or {})


def recorded_task(row: Mapping[str, Any]) -> Task:
    """The task whose benchmark, spec and view a record or a manifest holds."""
    benchmark = get_benchmark(row["benchmark"])
    spec = spec_from_dict(benchmark.spec_type, row["spec"])
    return Task(benchmark, spec, spec_from_dict(benchmark.view_type, row.get("view") or {}))


def recorded_item(row: Mapping[str, Any]) -> PresentedItem:
    """The item of a record or of an origin, generated again; recent ones are cached."""
    origin = [row["benchmark"], row["spec"], row.get("view"), row["seed"], row["index"]]
    return _generated(orjson.dumps(origin), row.get("trial", 0), row.get("order"))


@lru_cache(maxsize=4096)
def _generated(origin: bytes, trial: int, order: int | None) -> PresentedItem:
    name, spec, view, seed, index = orjson.loads(origin)
    task = recorded_task({"benchmark": name, "spec": spec, "view": view})
    item = next(task.benchmark.generate(task.spec, seed, index))
    return PresentedItem(task, item, trial, -1 if order is None else order)


def find_preset(benchmark: AnyBenchmark, preset: str) -> Any:
    """The spec of a preset; UserError with the known presets for an unknown one."""
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
        require_known(key, allowed, f"key {key!r}", where or benchmark.name)
    spec = {key: value for key, value in values.items() if key in spec_fields}
    view = {key: value for key, value in values.items() if key in view_fields}
    return Task(
        benchmark,
        spec_from_dict(benchmark.spec_type, spec, base=task.spec, where=where),
        spec_from_dict(benchmark.view_type, view, base=task.view, where=where),
    )


def declared(what: str) -> dict[str, Any]:
    """All commands, functions, imports or environments that the extensions declare."""
    return {name: path for one in EXTENSIONS for name, path in extension(one)[what].items()}


@cache
def extension(package: str) -> dict[str, Any]:
    """What a package of benchmarks declares, which takes no import of it."""
    return read_mapping(Path(__file__).parent / package.rpartition(".")[2] / "extension.toml")


def register_environments() -> None:
    """Register every environment with Gymnasium, which has no plug-ins."""
    registration = import_extra("gymnasium.envs.registration", "gym")
    text = {"trivium/Text-v0": {"entry_point": "trivium.adapters.text_env:TextEnv"}}
    for name, options in {**text, **declared("environments")}.items():
        if name not in registration.registry:
            registration.register(name, **options)


def import_project_benchmarks() -> None:
    """Import the project's files, so that a worker process knows their classes.

    One that cannot be imported is an error only where it is used.
    """
    for name in _project_benchmarks():
        with suppress(UserError):
            get_benchmark(name)


def _locations() -> dict[str, str]:
    """The location of every benchmark, as module:attribute or file.py:attribute."""
    # Built-in benchmarks come first and cannot be replaced.
    return {**BENCHMARKS, **_installed_benchmarks(), **_project_benchmarks(), **BENCHMARKS}


@cache
def _installed_benchmarks() -> dict[str, str]:
    return {point.name: point.value for point in entry_points(group="trivium.benchmarks")}


def list_in_project(name: str, location: str) -> None:
    """Append a benchmark to the project file."""
    path = Path(PROJECT_FILE)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    line = f'{name} = "{location}"\n'
    header = "" if "benchmarks" in (read_mapping(path) if text else {}) else "[benchmarks]\n"
    last_table = [word for word in text.splitlines() if word.startswith("[")][-1:]
    require(
        bool(header) or last_table == ["[benchmarks]"],
        f"{path}: add the line {line.strip()} to its table [benchmarks]",
    )
    with open_output(path, "ab") as file:
        separator = "" if not text or text.endswith("\n") else "\n"
        file.write(f"{separator}{header}{line}".encode())


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
    except Exception as problem:  # a file of one's own may raise anything
        if name in BENCHMARKS:
            raise
        why = one_line(f"{type(problem).__name__}: {problem}")
        raise UserError(f"benchmark {name!r} cannot be loaded from {location}: {why}") from None
    return benchmark


def _import_file(path: Path) -> ModuleType:
    """The module in a file, under the file's name."""
    found = importlib.util.spec_from_file_location(path.stem, path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules.setdefault(path.stem, module)
    found.loader.exec_module(module)
    return module
