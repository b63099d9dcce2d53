"""Flags from dataclasses: a command's own, and the fields of a benchmark's spec and view."""

from __future__ import annotations

import dataclasses
import io
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

import tyro

from trivium.benchmarks import (
    benchmark_names,
    by_alias,
    change_task,
    find_preset,
    get_benchmark,
    load_task,
)
from trivium.commands.config import benchmark_of, read_config
from trivium.commands.messages import Flag, about_lines, error_sentence, help_page
from trivium.core.errors import UserError, require
from trivium.core.spec import read_mapping
from trivium.core.task import Task
from trivium.evaluation.prices import Prices
from trivium.models.settings import ModelOptions

F = TypeVar("F")
# Options of models; whether to ask before sending is no matter where nothing is sent.
OF_MODELS = {
    field.name for kind in (ModelOptions, Prices) for field in dataclasses.fields(kind)
} - {"yes", "confirm_above"}
# language models, each as PROVIDER/MODEL; say --model once for each
Models = Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(name="model")]


@dataclass(frozen=True)
class BenchmarkFlags(Generic[F]):
    """What a command line that names a benchmark asks for."""

    task: Task
    flags: F
    given: Mapping[str, str]  # the fields that were spelled out, and the flag or file that did it

    def refuse_item_flags(self, *names: str) -> None:
        """Refuse flags about generating items where items are read from files."""
        fields = (field.name for field in dataclasses.fields(self.task.benchmark.spec_type))
        for name in ("preset", *names, *fields):
            require(
                name not in self.given,
                f"{self.given.get(name)} goes with generated items, not with --in",
            )

    def refuse_view_flags(self, command: str) -> None:
        """Refuse flags about presenting items where none is presented."""
        for field in dataclasses.fields(self.task.benchmark.view_type):
            flag = self.given.get(field.name, "")
            require(
                not flag.startswith("--"),  # a config file serves other commands too
                f"{flag} says how items are presented, and {command} presents none",
            )


def read_flags(
    command: str,
    flags_type: type[F],
    args: Sequence[str],
    about: str,
    default: F | None = None,
    *,
    program: str = "trivium",
) -> F:
    """A command's own flags; bad ones end in one sentence."""
    given = given_flags(args)
    flags: F = _parse(flags_type, args, f"{program} {command}", about, default)
    _check_values(flags, given)
    return flags


@dataclass(frozen=True)
class _Common:
    """What the flags below start from."""

    preset: str | None = None  # a named spec to start from; other flags change it
    config: str | None = None  # a TOML or JSON file with fields of spec and view


def read_benchmark_flags(
    command: str,
    flags_type: type[F],
    args: Sequence[str],
    about: str,
    names: Sequence[str] | None = None,
) -> BenchmarkFlags[F]:
    """NAME and flags: the command's own, --preset, --config, and the fields of spec and view."""
    if not args or args[0] in ("-h", "--help"):
        known = (get_benchmark(name) for name in names or benchmark_names())
        listed = [Flag((), benchmark.name, benchmark.title) for benchmark in known]
        lines = [f"usage: trivium {command} NAME [flags]", "", *about_lines(about)]
        lines += ["", "benchmarks:", *(line for one in listed for line in one.lines())]
        print("\n".join(lines))
        print(f"\ntrivium {command} NAME --help lists the flags of that benchmark.")
        raise SystemExit(0 if args else 2)
    name, *rest = respell(args, flags_type)
    given = given_flags(rest)
    preset, config = peek(rest, "preset"), peek(rest, "config")
    task = load_task(name, preset)
    benchmark = task.benchmark
    if config is not None:
        held = read_config(config, benchmark, flags_type, given)
        if preset is None and held.preset is not None:
            task = Task(benchmark, find_preset(benchmark, held.preset), task.view)
        task = change_task(task, held.fields, where=config)
        given, rest = {**held.given, **given}, [*held.words, *rest]
    combined = dataclasses.make_dataclass(
        "Flags",
        [
            ("flags", flags_type, dataclasses.field()),
            ("common", _Common, dataclasses.field()),
            ("spec", benchmark.spec_type, dataclasses.field()),
            ("view", benchmark.view_type, dataclasses.field()),
        ],
        frozen=True,
    )
    flags = _with_dataset_size(flags_type(), task)
    default = combined(flags, _Common(preset, config), task.spec, task.view)
    about = f"{name}: {benchmark.title}.\n\n{about}"
    read: Any = _parse(combined, rest, f"trivium {command} {name}", about, default)
    _check_values(read, given)
    task = Task(benchmark, read.spec, read.view)
    flags = read.flags if "items" in given else _with_dataset_size(read.flags, task)
    return BenchmarkFlags(task, flags, given)


def respell(args: Sequence[str], flags_type: type[Any]) -> list[str]:
    """Arguments that begin with the benchmark's name, and older flags renamed.

    The name may be given as `--approach NAME` or by the config file.
    """
    words = list(args)
    approach, config = peek(words, "approach"), peek(words, "config")
    if approach is not None:
        position = next(i for i, word in enumerate(words) if word.split("=")[0] == "--approach")
        del words[position : position + (1 if "=" in words[position] else 2)]
        words = [approach, *words]
    elif words[0].startswith("-"):
        named = None if config is None else benchmark_of(read_mapping(config))
        known = ", ".join(benchmark_names())
        require(named is not None, f"{words[0]} is no benchmark; name one of {known} first")
        words = [str(named), *words]
    words[0] = words[0] if "." in words[0] else by_alias(words[0])
    own = {field.name for field in dataclasses.fields(flags_type)}
    baseline = "solver" if "solver" in own else "solvers"
    aliases = {"baseline": baseline, **load_task(words[0]).benchmark.field_aliases}
    return [_respelled(word, aliases) for word in words]


def _respelled(word: str, aliases: Mapping[str, str]) -> str:
    flag, equals, value = word.partition("=")
    name = aliases.get(flag.removeprefix("--")) if flag.startswith("--") else None
    return word if name is None else f"--{name}{equals}{value}"


def _with_dataset_size(flags: F, task: Task) -> F:
    """The flags with as many items as the dataset of the spec has, where it has a size."""
    size = task.benchmark.dataset_size(task.spec)
    if size is None or not isinstance(getattr(flags, "items", None), int):
        return flags
    return dataclasses.replace(flags, items=size)  # type: ignore[type-var]


def given_flags(args: Sequence[str]) -> dict[str, str]:
    """The flags on a command line, by the fields that they set."""
    for before, word in zip(["an argument", *args], args, strict=False):
        # An unset variable of a shell, most likely; an empty path would be this very folder.
        empty = not word or (word.startswith("--") and word.endswith("="))
        require(not empty, f"{(word or before).rstrip('=')} is empty: is a variable not set?")
    words = (arg[2:].partition("=")[0].replace("-", "_") for arg in args if arg.startswith("--"))
    names = (word.removeprefix("no_") for word in words)
    return {"backend" if name == "engine" else name: f"--{name}" for name in names}


def refuse_model_flags(args: Sequence[str], why: str) -> None:
    """Refuse flags that say how models are asked where none is."""
    for name, flag in given_flags(args).items():
        require(name not in OF_MODELS, f"{flag} goes with --model, and {why}")


def _check_values(flags: Any, given: Mapping[str, str]) -> None:
    """Files hold 64-bit integers and finite floats; a list that is given must not be empty."""
    for field in dataclasses.fields(flags):
        value = getattr(flags, field.name)
        flag = given.get({"input": "in"}.get(field.name, field.name))
        if dataclasses.is_dataclass(value):
            _check_values(value, given)
        elif value == () == field.default:
            require(flag is None, f"{flag} needs a value")
        elif isinstance(value, int):
            require(abs(value) < 2**63, f"{field.name} must fit into 64 bits, got {value}")
        elif isinstance(value, float):
            require(math.isfinite(value), f"{field.name} must be a finite number, got {value}")


def peek(args: Sequence[str], name: str) -> str | None:
    """A flag's value before the others are read, since it decides their defaults."""
    found: list[str] = []
    for position, arg in enumerate(args):
        if arg == f"--{name}":
            require(position + 1 < len(args), f"--{name} needs a value")
            found.append(args[position + 1])
        elif arg.startswith(f"--{name}="):
            found.append(arg.partition("=")[2])
    require(len(found) <= 1, f"--{name} is given {len(found)} times")
    return found[0] if found else None


def _parse(kind: Any, args: Sequence[str], prog: str, about: str, default: Any = None) -> Any:
    errors, output = io.StringIO(), io.StringIO()
    options = {} if default is None else {"default": default}
    try:
        with _wide(), redirect_stderr(errors), redirect_stdout(output):
            return tyro.cli(
                kind,
                args=list(args),
                prog=prog,
                description="",
                config=(tyro.conf.OmitArgPrefixes,),
                use_underscores=True,
                **options,
            )
    except SystemExit as stop:
        if stop.code in (0, None):
            print(help_page(prog, about, output.getvalue()), end="")
            raise
        raise UserError(error_sentence(errors.getvalue())) from None


@contextmanager
def _wide() -> Iterator[None]:
    """A terminal in which tyro cuts no name in two and still prints a single column."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "129"
    try:
        yield
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before


def require_out(out: Path | None) -> Path:
    """The output path, which has no default where work would be overwritten."""
    require(
        out is not None,
        "--out is missing: where should the result be written? For example --out runs/mine",
    )
    assert out is not None
    return out
