"""Plans: `eval`, `run`, `sweep` and `diagnose` as lists of evaluations.

A sweep's config (a TOML or JSON file) has fields of the benchmark's spec and view, where a list
is an axis of the grid, and the keys below.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
import typing
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from trivium.benchmarks import (
    benchmark_names,
    by_alias,
    change_task,
    find_preset,
    get_benchmark,
    load_task,
)
from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import located, require, require_known
from trivium.core.spec import changed_fields, coerce, read_mapping
from trivium.core.streams import DEFAULT_SEED
from trivium.core.task import Task
from trivium.core.text import file_name
from trivium.evaluation.evaluation import Evaluation, Items, Run, find_solver
from trivium.models.providers import full_model_name
from trivium.models.settings import Settings, is_model

RESULTS = "results"  # the folder of a sweep's evaluations
DEFAULT_ITEMS = 100
REQUESTS = 300  # of a main run to each model, about, where the number of items is not given
# Other names of a sweep's keys, besides the benchmark's field_aliases.
SPELLINGS = {
    "approach": "benchmark",
    "seed": "seeds",
    "baseline": "solvers",
    "solver": "solvers",
    "model": "models",
}
LISTS = {"seeds": int, "solvers": str, "models": str, "switches": str, "preset": str}
SHAPING = {"temp": float, "max_output_tokens": int, "reasoning_effort": str}  # of Settings
VALUES = {"benchmark": str, "label": str, "items": int, "order_trials": int, "repeats": int}
VALUES |= SHAPING
MAX_CELLS = 20_000  # evaluations of a sweep, each with a folder of its own
# Keys of run.json that are not keys of a sweep.
DERIVED = {"kind", "command", "settings", "trivium", "versions"}


def plan_main_run(
    names: Sequence[str],
    *,
    seed: int,
    items: int | None,
    presets: Sequence[str] = (),
    models: Sequence[str] = (),
    settings: Settings | None = None,
) -> Run:
    """Every preset of these benchmarks with every solver and model.

    A full name such as NAME.part is run instead of the presets. `presets` selects some of them.
    Without `items`, each benchmark's own number, or as many as take a model about 300 requests.
    """
    require(items is None or items >= 1, f"items must be at least 1, got {items}")
    models = [full_model_name(name) for name in models]
    known = [preset for name in names for preset in load_task(name).benchmark.presets]
    for preset in presets:
        require_known(preset, known, f"preset {preset!r}")
    chosen: list[tuple[str, Task]] = []
    for name in names:
        task, variant = load_task(name), name.partition(".")[2]
        specs = {variant: task.spec} if variant else task.benchmark.presets
        chosen += [
            (preset, Task(task.benchmark, spec, task.view))
            for preset, spec in specs.items()
            if preset in presets or variant or not presets
        ]
    if models and items is None:
        requests = sum(task.benchmark.max_turns(task.item(0).original) for _, task in chosen)
        items = max(1, round(REQUESTS / requests))
    evaluations: list[Evaluation] = []
    for preset, task in chosen:
        preset_items = Items(seed, 0, items or task.benchmark.default_items)
        evaluations += evaluations_of(
            Evaluation(task, preset_items, settings=settings or Settings(), setting=preset),
            [*task.benchmark.solvers, *models],
            f"{task.benchmark.name}/{preset}",
        )
    plan = {"benchmarks": list(names), "items": items, "models": list(models)}
    plan |= {"presets": list(presets)} if presets else {}
    return Run("run", tuple(evaluations), {"kind": "run", "seed": seed}, plan=plan)


def plan_diagnosis(
    task: Task,
    *,
    variants: Sequence[str],
    seed: int,
    items: int,
    trials: int = 1,
    solvers: Sequence[str] | None = None,
    models: Sequence[str] = (),
    settings: Settings | None = None,
    label: str | None = None,
) -> Run:
    """Every variant with every solver, or with the one solver that it names."""
    models = [full_model_name(name) for name in models]
    known = task.benchmark.diagnostics
    chosen = chosen_solvers(task.benchmark, solvers)
    evaluations: list[Evaluation] = []
    for name in variants or known:
        require_known(name, known, f"variant {name!r}")
        variant = known[name]
        changed = change_task(task, {**variant.spec, **variant.view})
        evaluations += evaluations_of(
            Evaluation(
                changed,
                Items(seed, 0, items),
                trials=trials,
                settings=settings or Settings(),
                setting=name,
                fields={"variant": name},
            ),
            [variant.solver] if variant.solver else [*chosen, *models],
        )
    config = {
        "kind": "diag",
        "benchmark": task.benchmark.name,
        "label": label,
        "items": items,
        "order_trials": trials,
        "seeds": [seed],
        "solvers": list(chosen),
        "models": list(models),
        "variants": list(variants or known),
        "spec": changed_fields(task.spec),
        "view": changed_fields(task.view),
        "settings": _setting_names(evaluations),
    }
    return Run("diag", tuple(evaluations), config, label)


def read_sweep(
    name: str, overrides: Mapping[str, Any] | None = None, settings: Settings | None = None
) -> Run:
    """The run of a config or a benchmark, updated with `overrides`."""
    benchmark_name = by_alias(name)
    if benchmark_name in benchmark_names():
        return plan_sweep({"benchmark": benchmark_name, **(overrides or {})}, settings)
    path = find_config(name)
    values, benchmark = read_mapping(path), config_benchmark(path)
    with located(path):
        return plan_sweep({**respelled(benchmark, values), **(overrides or {})}, settings)


def named_benchmark(values: Mapping[str, Any]) -> str | None:
    """The benchmark that a config names, if it names one."""
    name = values.get("benchmark", values.get("approach"))
    return None if name is None else by_alias(coerce(name, str, "benchmark"))


def config_benchmark(path: Path) -> AnyBenchmark:
    """The benchmark of a config for a sweep."""
    values = read_mapping(path)
    with located(path):
        return _sweep_benchmark(values)


def plan_sweep(values: Mapping[str, Any], settings: Settings | None = None) -> Run:
    """The run of a grid; `settings` are a model's where the keys set none."""
    benchmark = _sweep_benchmark(values)
    lists, single, grid = read_keys(benchmark, values)
    solvers = chosen_solvers(benchmark, lists.get("solvers"))
    models = [full_model_name(name) for name in lists.get("models", [])]
    seeds = lists.get("seeds", [DEFAULT_SEED])
    require(bool(seeds), "seeds is empty: name at least one")
    large = [seed for seed in seeds if abs(seed) >= 2**63]
    require(not large, f"seeds must fit into 64 bits, got {large}")
    items, trials = single.get("items", DEFAULT_ITEMS), single.get("order_trials", 1)
    repeats = single.get("repeats", 1)
    shaping = {key: single[key] for key in SHAPING if key in single}
    settings = dataclasses.replace(settings or Settings(), **shaping)
    axes = [*grid.values(), lists.get("preset", [None]), seeds, [*solvers, *models]]
    cells = math.prod(map(len, axes))
    require(cells <= MAX_CELLS, f"the grid has {cells:,} evaluations; {MAX_CELLS:,} are possible")
    evaluations = [
        evaluation
        for name, fields, task in _settings(benchmark, grid, lists.get("preset"))
        for seed in seeds
        for evaluation in evaluations_of(
            Evaluation(
                task,
                Items(seed, 0, items),
                trials=trials,
                settings=settings,
                setting=name,
                fields=fields,
                repeats=repeats,
            ),
            [*solvers, *models],
        )
    ]
    config = {
        "kind": "sweep",
        **single,
        "benchmark": benchmark.name,
        "items": items,
        "order_trials": trials,
        "repeats": repeats,
        "seeds": seeds,
        "solvers": list(solvers),
        **({"models": models} if models else {}),
        **({"preset": lists["preset"]} if "preset" in lists else {}),
        **grid,
        "settings": _setting_names(evaluations),
    }
    return Run("sweep", tuple(evaluations), config, single.get("label"))


def read_keys(
    benchmark: AnyBenchmark, values: Mapping[str, Any]
) -> tuple[dict[str, list[Any]], dict[str, Any], dict[str, list[Any]]]:
    """The checked keys of a config: those of LISTS, those of VALUES, and the axes of the grid."""
    # A run.json is a config too.
    asked = respelled(benchmark, {key: values[key] for key in values if key not in DERIVED})
    lists = {
        key: [coerce(part, kind, key) for part in _as_list(asked.pop(key))]
        for key, kind in LISTS.items()
        if key in asked
    }
    single = {key: coerce(asked.pop(key), VALUES[key], key) for key in VALUES if key in asked}
    grid = {key: _axis(benchmark, key, value) for key, value in asked.items()}
    hints = typing.get_type_hints(benchmark.spec_type)
    for name in lists.pop("switches", ()):  # such as --path_collision_stress
        key = name.lstrip("-").replace("-", "_")
        require_known(key, [key for key, hint in hints.items() if hint is bool], f"switch {name!r}")
        grid.setdefault(key, [True])
    return lists, single, grid


def shipped_configs() -> dict[str, Path]:
    """The paths of Trivium's own configs by name."""
    folder = Path(str(files("trivium") / "configs"))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def is_config(name: str) -> bool:
    """Whether a name is that of a file or of a shipped config, and not of a benchmark."""
    return name in shipped_configs() or name.endswith((".toml", ".json"))


def find_config(name: str) -> Path:
    """The path of a file or of a shipped config."""
    path = Path(name)
    if path.suffix or path.exists():
        return path
    configs = shipped_configs()
    require(name in configs, f"no file and no config {name!r}; there are {', '.join(configs)}")
    return configs[name]


def chosen_solvers(benchmark: AnyBenchmark, names: Sequence[str] | None) -> tuple[str, ...]:
    """These solvers, which must exist; all built-in ones for None."""
    for name in names or ():
        find_solver(benchmark, name)
    return tuple(benchmark.solvers) if names is None else tuple(names)


def slug(text: str) -> str:
    """The text as the name of a file."""
    return file_name(text.replace("=", ""), "+").strip("._") or "cell"


def plain(value: Any) -> Any:
    """A field's value in a name or a table, with lists joined by +."""
    return "+".join(map(str, value)) if isinstance(value, (list, tuple)) else value


def evaluations_of(
    evaluation: Evaluation, solvers: Sequence[str], folder: str | None = None
) -> list[Evaluation]:
    """The same evaluation of every solver, each in its own folder within `folder`.

    Without `folder`, the setting and the seed are part of the names of their folders.
    """
    tag = slug(f"{evaluation.setting} seed{evaluation.items.seed}")
    return [
        dataclasses.replace(
            evaluation,
            solver=solver,
            settings=evaluation.settings if is_model(solver) else Settings(),
            folder=f"{folder}/{file_name(solver)}"
            if folder
            else f"{RESULTS}/{slug(f'{tag} {solver}')}",
        )
        for solver in solvers
    ]


def _setting_names(evaluations: Sequence[Evaluation]) -> list[str | None]:
    return list(dict.fromkeys(evaluation.setting for evaluation in evaluations))


def _settings(
    benchmark: AnyBenchmark, grid: Mapping[str, list[Any]], presets: list[str] | None
) -> Iterator[tuple[str, dict[str, Any], Task]]:
    """The name, the fields and the task of every point of the grid."""
    axes = {**({} if presets is None else {"preset": presets}), **grid}
    for values in itertools.product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        fields = {key: plain(value) for key, value in chosen.items() if len(axes[key]) > 1}
        name = " ".join(f"{key}={value}" for key, value in fields.items()) or "one"
        preset = chosen.pop("preset", None)
        spec = benchmark.default_spec if preset is None else find_preset(benchmark, preset)
        task = change_task(Task(benchmark, spec, benchmark.view_type()), chosen)
        yield name, fields, task


def _sweep_benchmark(values: Mapping[str, Any]) -> AnyBenchmark:
    name = named_benchmark(values)
    require(name is not None, "benchmark is missing: which one is swept?")
    return get_benchmark(str(name))


def respelled(benchmark: AnyBenchmark, values: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a sweep without aliases and without null values."""
    spellings = {**SPELLINGS, **benchmark.field_aliases}
    asked: dict[str, Any] = {}
    for key, value in values.items():
        name = spellings.get(key, key)
        require(name not in asked, f"{key} repeats {name}")
        if value is not None:
            asked[name] = value
    return asked


def _axis(benchmark: AnyBenchmark, key: str, value: Any) -> list[Any]:
    """The values of a field; a list is an axis unless the field itself holds a list."""
    hints = {
        **typing.get_type_hints(benchmark.spec_type),
        **typing.get_type_hints(benchmark.view_type),
    }
    if key not in hints:
        require_known(key, [*LISTS, *VALUES, *hints], f"key {key!r}")
    holds_list = typing.get_origin(hints[key]) is tuple
    if holds_list and isinstance(value, list) and not any(isinstance(v, list) for v in value):
        return [value]
    values = _as_list(value)
    require(bool(values), f"{key} is empty: name at least one value")
    return values


def _as_list(value: Any) -> list[Any]:
    """A list as it is, the numbers in a text such as "4,8", or a list of one value."""
    if isinstance(value, str) and re.fullmatch(r"\d+(,\s*\d+)*", value):
        return [int(part) for part in value.split(",")]
    return value if isinstance(value, list) else [value]
