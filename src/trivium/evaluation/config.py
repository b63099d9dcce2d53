"""A sweep's config file: a grid of spec and view fields, seeds, solvers and models.

Every key is a field of the benchmark's spec or view (a value, or a list that is an axis of
the grid), or one of the keys below. Some keys have older spellings that mean the same.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import typing
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any

from trivium.benchmarks import get_benchmark
from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import UserError, require
from trivium.core.spec import read_mapping, spec_from_dict
from trivium.evaluation.plan import APPROACHES, Cell, Plan, chosen_solvers

SPELLINGS = {
    "approach": "benchmark",
    "Ls": "L",
    "m_list": "m",
    "n": "hops",
    "contexts": "context_chains",
    "seed": "seeds",
    "baseline": "solvers",
    "solver": "solvers",
    "model": "models",
}
LISTS = {"seeds": int, "solvers": str, "models": str, "switches": str, "preset": str}
OWN = {
    "benchmark": str,
    "label": str,
    "items": int,
    "order_trials": int,
    "temp": float,
    "max_output_tokens": int,
}
DEFAULT_ITEMS = 100
DERIVED = {"kind", "command", "settings"}


def shipped() -> dict[str, Path]:
    """The configs that come with Trivium, by name."""
    folder = Path(str(files("trivium") / "configs"))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def find_config(name: str) -> Path:
    """A file, or a shipped config of this name."""
    path = Path(name)
    if path.suffix or path.exists():
        return path
    configs = shipped()
    require(name in configs, f"no file and no config {name!r}; there are {', '.join(configs)}")
    return configs[name]


def read_sweep(name: str, instead: Mapping[str, Any] | None = None) -> Plan:
    """The plan in a config file, or a sentence that names the file and the key.

    What is given `instead` takes the place of what the file says.
    """
    path = find_config(name)
    try:
        return sweep_plan({**_respelled(read_mapping(path)), **(instead or {})})
    except UserError as problem:
        if str(problem).startswith(str(path)):
            raise
        raise UserError(f"{path}: {problem}") from None


def sweep_plan(values: Mapping[str, Any]) -> Plan:
    """The plan that these keys ask for."""
    # A run's own run.json is a config too; what it derived is derived again.
    asked = _respelled({key: value for key, value in values.items() if key not in DERIVED})
    require("benchmark" in asked, "benchmark is missing: which one is swept?")
    name = _checked(asked["benchmark"], str, "benchmark")
    name = APPROACHES.get(name, name)
    benchmark = get_benchmark(name)
    lists = {key: _listed(asked.pop(key), kind, key) for key, kind in LISTS.items() if key in asked}
    own = {key: _checked(asked.pop(key), kind, key) for key, kind in OWN.items() if key in asked}
    grid = {key: _axis(benchmark, key, value) for key, value in asked.items()}
    for switch in lists.get("switches", ()):
        grid[_switch(benchmark, switch)] = [True]
    solvers = chosen_solvers(name, lists.get("solvers"))
    seeds = lists.get("seeds", [0])
    # A bare name is one of the provider that the older configs were written for.
    models = [name if "/" in name else f"openai/{name}" for name in lists.get("models", [])]
    require(bool(seeds), "seeds is empty: name at least one")
    large = [seed for seed in seeds if abs(seed) >= 2**63]
    require(not large, f"seeds must fit into 64 bits, got {large}")
    who: list[dict[str, Any]] = [{"solver": solver} for solver in solvers]
    who += [{"model": model} for model in models]
    cells = tuple(
        dataclasses.replace(setting, seed=seed, **one)
        for setting in _settings(benchmark, grid, lists.get("preset"))
        for seed in seeds
        for one in who
    )
    config = {
        **own,
        "benchmark": name,
        "items": own.get("items", DEFAULT_ITEMS),
        "order_trials": own.get("order_trials", 1),
        "seeds": seeds,
        "solvers": list(solvers),
        **({"models": models} if models else {}),
        **({"preset": lists["preset"]} if "preset" in lists else {}),
        **grid,
    }
    return Plan(
        "sweep",
        name,
        cells,
        config["items"],
        config["order_trials"],
        own.get("label"),
        own.get("temp"),
        own.get("max_output_tokens"),
        config,
    )


def _respelled(values: Mapping[str, Any]) -> dict[str, Any]:
    asked: dict[str, Any] = {}
    for key, value in values.items():
        name = SPELLINGS.get(key, key)
        require(name not in asked, f"{key} says again what {name} said before")
        if value is not None:
            asked[name] = value
    return asked


def _settings(
    benchmark: AnyBenchmark, grid: Mapping[str, list[Any]], presets: list[str] | None
) -> Iterator[Cell]:
    """Every spec and view of the grid, without a seed and a solver yet."""
    told = {field.name for field in dataclasses.fields(benchmark.view_type)}
    named = {} if presets is None else {"preset": presets}
    axes = {**named, **grid}
    for values in itertools.product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        fields = {key: value for key, value in chosen.items() if len(axes[key]) > 1}
        base = benchmark.spec_type()
        if presets is not None:
            preset = chosen.pop("preset")
            known = ", ".join(benchmark.presets)
            require(preset in benchmark.presets, f"unknown preset {preset!r}; there are {known}")
            base = benchmark.presets[preset]
        spec = {key: value for key, value in chosen.items() if key not in told}
        view = {key: value for key, value in chosen.items() if key in told}
        yield Cell(
            setting=" ".join(f"{key}={plain(value)}" for key, value in fields.items()) or "one",
            fields={key: plain(value) for key, value in fields.items()},
            spec=spec_from_dict(benchmark.spec_type, spec, base=base),
            view=spec_from_dict(benchmark.view_type, view),
            seed=0,
        )


def plain(value: Any) -> Any:
    """A field's value as it stands in a name or a table."""
    return "+".join(map(str, value)) if isinstance(value, (list, tuple)) else value


def _axis(benchmark: AnyBenchmark, key: str, value: Any) -> list[Any]:
    """The values that a field takes; a list is an axis unless the field itself holds a list."""
    hints = {**_hints(benchmark.spec_type), **_hints(benchmark.view_type)}
    near = get_close_matches(key, [*hints, *LISTS, *OWN], n=1)
    hint = (
        f"did you mean {near[0]}?" if near else f"allowed are {', '.join([*LISTS, *OWN, *hints])}"
    )
    require(key in hints, f"unknown key {key!r}; {hint}")
    if isinstance(value, str) and re.fullmatch(r"\d+(,\s*\d+)+", value):
        return [int(part) for part in value.split(",")]
    holds_list = typing.get_origin(hints[key]) is tuple
    if isinstance(value, list) and not (holds_list and not any(isinstance(v, list) for v in value)):
        require(bool(value), f"{key} is empty: name at least one value")
        return value
    return [value]


def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _switch(benchmark: AnyBenchmark, name: str) -> str:
    switches = [key for key, hint in _hints(benchmark.spec_type).items() if hint is bool]
    key = name.lstrip("-").replace("-", "_")
    require(key in switches, f"unknown switch {name!r}; there are {', '.join(switches)}")
    return key


def _listed(value: Any, kind: type, key: str) -> list[Any]:
    if isinstance(value, str) and kind is int:
        value = [int(part) if part.strip().isdigit() else part for part in value.split(",")]
    values = value if isinstance(value, list) else [value]
    return [_checked(part, kind, key) for part in values]


def _checked(value: Any, kind: type, key: str) -> Any:
    if kind is float and type(value) is int:
        return float(value)
    names = {int: "a whole number", float: "a number", str: "text"}
    require(type(value) is kind, f"{key} must be {names[kind]}, got {value!r}")
    return value
