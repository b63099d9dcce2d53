"""The flags of a command: its own, and the fields of a benchmark's spec and view."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Generic, NoReturn, TypeVar

from trivium.benchmarks import benchmark_names, by_alias, change_task, get_benchmark, load_task
from trivium.commands.parser import Offers, Parser, changed, leaves
from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import UserError, require
from trivium.core.spec import read_mapping
from trivium.core.task import Task
from trivium.evaluation.plan import read_keys

F = TypeVar("F")
# Keys of a config that hold several values for a sweep and one for other commands.
SINGULAR = {"seeds": "seed", "solvers": "solver", "models": "model"}


@dataclasses.dataclass(frozen=True)
class Start:
    """What the flags below change."""

    preset: str | None = None  # a named spec; other flags change it
    config: str | None = None  # a TOML or JSON file with fields of spec and view
    approach: str | None = None  # the benchmark, if it is not the first argument


@dataclasses.dataclass(frozen=True)
class Asked(Generic[F]):
    """A parsed command line."""

    command: str  # the whole command line
    flags: F
    given: Mapping[str, str]  # how fields were given, by flag or in a file

    def refuse(self, names: Iterable[str], why: str, *, in_files: bool = False) -> None:
        """Refuse flags that would be ignored; a config file may set them for other commands."""
        for name in names:
            found = self.given.get(name, "")
            require(not found or not (in_files or found.startswith("--")), f"{found} {why}")


@dataclasses.dataclass(frozen=True)
class BenchmarkFlags(Asked[F]):
    """A parsed command line that names a benchmark."""

    task: Task

    def refuse_item_flags(self) -> None:
        """Refuse flags about generating items where items are read from files."""
        names = ("preset", "items", "seed", "start", *leaves(self.task.spec))
        self.refuse(names, "goes with generated items, not with --in", in_files=True)


def ask(
    command: str, defaults: F, args: Sequence[str], about: str | None, offers: Offers | None = None
) -> Asked[F]:
    """The parsed command line of a command without a benchmark."""
    parser = Parser(command, about, offers)
    parser.add(defaults)
    values = parser.parse(args)
    given = {key: f"--{key}" for key in values}
    return Asked(f"{command} {shlex.join(args)}", changed(defaults, values), given)


def read_flags(command: str, defaults: F, args: Sequence[str], about: str | None) -> F:
    """The flags of a command without a benchmark."""
    return ask(f"trivium {command}", defaults, args, about).flags


def refuse_without(
    metavar: str, choices: Mapping[str, str], command: str, args: Sequence[str], about: str | None
) -> NoReturn:
    """Refuse a command line without its first argument, or print help that lists the choices."""
    parser = Parser(f"trivium {command}", about)
    heading = f"{metavar}, one of (with one of them, --help lists its flags)"
    parser.list_choices(metavar, {heading: choices})
    parser.parse([word for word in args if word in ("-h", "--help")])
    raise UserError(f"{metavar} is missing: name one of {', '.join(choices)} first")


def read_start(args: Sequence[str]) -> tuple[list[str], list[str], Start]:
    """The first argument if it is no flag, the other arguments, and their Start."""
    count = 1 if args and not args[0].startswith("-") else 0
    parser = Parser("", "")
    parser.add(Start())
    found, _ = parser.parse_known_args(args[count:])
    return [*args[:count]], [*args[count:]], Start(**vars(found))


def read_benchmark_flags(
    command: str, kind: type[F], args: Sequence[str], about: str | None, names: Sequence[str] = ()
) -> BenchmarkFlags[F]:
    """The parsed command line of a command with a benchmark: NAME, its fields and other flags."""
    named, rest, start = read_start(args)
    name = next(iter(named), start.approach)
    if name is None and start.config is not None:
        name = benchmark_of(read_mapping(start.config))
    if name is None:
        titles = {known: get_benchmark(known).title for known in names or benchmark_names()}
        refuse_without("NAME", titles, command, args, about)
    name = name if "." in name else by_alias(name)
    task = load_task(name, start.preset)
    benchmark = task.benchmark
    offers: Offers = {
        "approach": benchmark_names(),
        "preset": benchmark.presets,
        "solver": benchmark.solvers,
        "solvers": benchmark.solvers,
        "variants": benchmark.diagnostics,
    }
    about = f"{name}: {benchmark.title}.\n\n{about}"
    parser = Parser(" ".join(["trivium", command, *named]), about, offers)
    parser.add(_with_dataset_size(kind(), task))
    parser.add(Start(), parser.group(Start))
    for part in (task.spec, task.view):
        parser.add(part, parser.group(part), benchmark.field_aliases)
    values = parser.parse(rest)
    given = {key: f"--{key}" for key in values}
    if start.config is not None:
        held = _read_config(start.config, benchmark, leaves(kind()), values)
        task = load_task(name, start.preset or held.get("preset"))
        given = {**{key: f"{key} in {start.config}" for key in held}, **given}
        values = {**held, **values}
    fields = {*leaves(task.spec), *leaves(task.view)} & values.keys()
    task = change_task(task, {key: values[key] for key in fields}, where=start.config or "")
    flags = changed(kind(), values)
    flags = flags if "items" in values else _with_dataset_size(flags, task)
    return BenchmarkFlags(f"trivium {command} {shlex.join(args)}", flags, given, task)


def _with_dataset_size(flags: F, task: Task) -> F:
    """The flags with the number of items in the spec's dataset, if it has a fixed size."""
    size = task.benchmark.dataset_size(task.spec)
    if size is None or not isinstance(getattr(flags, "items", None), int):
        return flags
    return dataclasses.replace(flags, items=size)  # type: ignore[type-var]


def benchmark_of(values: Mapping[str, Any]) -> str | None:
    """The benchmark that a config names, if it names one."""
    name = values.get("benchmark", values.get("approach"))
    return by_alias(name) if isinstance(name, str) else None


def _read_config(
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
