"""Flags from dataclasses: a command's own, and the fields of a benchmark's spec and view."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import tyro

from trivium.benchmarks import benchmark_names, named_benchmark
from trivium.commands.sentences import helpful, paragraphs, sentence
from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import UserError, require
from trivium.core.spec import read_mapping, spec_from_dict
from trivium.models.settings import ModelFlags

F = TypeVar("F")
# How models are asked, but for how the user is: a question that does not arise needs no answer.
OF_MODELS = {field.name for field in dataclasses.fields(ModelFlags)} - {"yes", "confirm_above"}


@dataclass(frozen=True)
class Asked(Generic[F]):
    """What was asked for on a command line that names a benchmark."""

    benchmark: AnyBenchmark
    spec: Any
    view: Any
    flags: F
    given: Mapping[str, str]  # what was spelled out: fields, and the flag or file that did it

    def require_files_alone(self, *names: str) -> None:
        """Refuse what says how items are made where they are read from files."""
        fields = (field.name for field in dataclasses.fields(self.benchmark.spec_type))
        for name in ("preset", *names, *fields):
            require(
                name not in self.given,
                f"{self.given.get(name)} goes with items made on demand, not with --in",
            )

    def require_nothing_told(self, command: str) -> None:
        """Refuse what says how items are told where none is told."""
        for field in dataclasses.fields(self.benchmark.view_type):
            require(
                field.name not in self.given,
                f"{self.given.get(field.name)} says how items are told, and {command} tells none",
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


def read_benchmark_flags(
    command: str,
    flags_type: type[F],
    args: Sequence[str],
    about: str,
    names: Sequence[str] = benchmark_names(),
) -> Asked[F]:
    """NAME and flags: the command's own, --preset, --config, and the fields of spec and view."""
    if not args or args[0] in ("-h", "--help"):
        known = ", ".join(names)
        print(f"usage: trivium {command} NAME [flags]\n\n{about}\n\nNAME is one of: {known}")
        print(f"trivium {command} NAME --help lists the flags of that benchmark.")
        raise SystemExit(0 if args else 2)
    benchmark, spec, view = named_benchmark(args[0])
    given = given_flags(args)
    preset, config = peek(args, "preset"), peek(args, "config")
    if preset is not None:
        allowed = ", ".join(benchmark.presets)
        require(
            preset in benchmark.presets,
            f"unknown preset {preset!r} of {benchmark.name}; there are {allowed}",
        )
        spec = benchmark.presets[preset]
    if config is not None:
        values = read_mapping(config)
        given = {key: f"{key} in {config}" for key in values} | given
        told = {field.name for field in dataclasses.fields(benchmark.view_type)}
        view_values = {key: values.pop(key) for key in list(values) if key in told}
        spec = spec_from_dict(benchmark.spec_type, values, base=spec, where=config)
        view = spec_from_dict(benchmark.view_type, view_values, base=view, where=config)
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
    flags = _sized(flags_type(), benchmark, spec)
    default = combined(flags, _Common(preset, config), spec, view)
    prog = f"trivium {command} {args[0]}"
    read: Any = _parse(combined, args[1:], prog, f"{benchmark.title}\n\n{about}", default)
    _check_values(read, given)
    flags = read.flags if "items" in given else _sized(read.flags, benchmark, read.spec)
    return Asked(benchmark, read.spec, read.view, flags, given)


def _sized(flags: F, benchmark: AnyBenchmark, spec: Any) -> F:
    """The flags with as many items as the dataset of the spec has, where it has a size."""
    size = benchmark.dataset_size(spec)
    if size is None or not isinstance(getattr(flags, "items", None), int):
        return flags
    return dataclasses.replace(flags, items=size)  # type: ignore[type-var]


def given_flags(args: Sequence[str]) -> dict[str, str]:
    """The flags that stand on a command line, by the fields that they are of."""
    for before, word in zip(["a word", *args], args, strict=False):
        # An unset variable of a shell, most likely; an empty path would be this very folder.
        empty = not word or (word.startswith("--") and word.endswith("="))
        require(not empty, f"{(word or before).rstrip('=')} is empty: is a variable not set?")
    words = (arg[2:].partition("=")[0].replace("-", "_") for arg in args if arg.startswith("--"))
    names = (word.removeprefix("no_") for word in words)
    return {name: f"--{name}" for name in names}


def refuse_model_flags(args: Sequence[str], why: str) -> None:
    """Refuse flags that say how models are asked where none is."""
    for name, flag in given_flags(args).items():
        require(name not in OF_MODELS, f"{flag} goes with --model, and {why}")


def _check_values(flags: Any, given: Mapping[str, str]) -> None:
    """Files hold whole numbers of 64 bits and finite fractions; a list that is given holds some."""
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


@dataclass(frozen=True)
class _Common:
    preset: str | None = None  # a named spec to start from; other flags change it
    config: str | None = None  # a TOML or JSON file with fields of spec and view


def peek(args: Sequence[str], name: str) -> str | None:
    """A flag's value before the others are read, since it decides their defaults."""
    found: list[str] = []
    for place, arg in enumerate(args):
        if arg == f"--{name}":
            require(place + 1 < len(args), f"--{name} needs a value")
            found.append(args[place + 1])
        elif arg.startswith(f"--{name}="):
            found.append(arg.partition("=")[2])
    require(len(found) <= 1, f"--{name} is given {len(found)} times")
    return found[0] if found else None


def _parse(kind: Any, args: Sequence[str], prog: str, about: str, default: Any = None) -> Any:
    said, shown = io.StringIO(), io.StringIO()
    options = {} if default is None else {"default": default}
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(shown):
            return tyro.cli(
                kind,
                args=list(args),
                prog=prog,
                description=paragraphs(about),
                config=(tyro.conf.OmitArgPrefixes,),
                **options,
            )
    except SystemExit as stop:
        if stop.code in (0, None):
            print(helpful(shown.getvalue()), end="")
            raise
        raise UserError(sentence(said.getvalue())) from None


def require_out(out: Path | None) -> Path:
    """The output path, which has no default where work would be overwritten."""
    require(out is not None, "--out is missing: where should the result be written?")
    assert out is not None
    return out
