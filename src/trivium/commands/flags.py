"""The flags of a command, made from dataclasses: its own, and a benchmark's spec and view."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import math
import os
import re
import shlex
import textwrap
import types
import typing
from collections.abc import Container, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, partial
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar

from trivium.benchmarks import benchmark_names, by_alias, change_task, get_benchmark, load_task
from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import UserError, located, require
from trivium.core.spec import read_mapping, spec_to_dict
from trivium.core.task import Task
from trivium.evaluation.plan import named_benchmark, read_keys

F = TypeVar("F")
Offers = Mapping[str, Iterable[str]]  # the values that complete a flag, by field
NUMBERS = {int: ("INT", "a whole number"), float: ("FLOAT", "a number")}
REQUIRED: Any = object()  # the default of a field that must be given
WIDTH = 80


def flag(default: Any, *names: str) -> Any:
    """A field whose flag has these names, such as --in, instead of the field's."""
    return dataclasses.field(default=default, metadata={"names": names})


def argument(metavar: str, default: Any = REQUIRED) -> Any:
    """A positional field, optional if its default is None."""
    return dataclasses.field(default=default, metadata={"metavar": metavar})


class Parser(argparse.ArgumentParser):
    """An argument parser with flags from fields, whose errors are one sentence."""

    def __init__(self, program: str, about: str | None, offers: Offers | None = None) -> None:
        description, *examples = str(about).split("Example: ")
        listed = "".join(f"\n  {example.strip()}" for example in examples)
        super().__init__(
            program,
            usage=f"{program} [flags]",
            description="\n\n".join(textwrap.fill(s, WIDTH) for s in description.split("\n\n")),
            epilog=f"example{'s' * (len(examples) > 1)}:{listed}" if examples else None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            argument_default=argparse.SUPPRESS,  # fields that are not given have no value
            allow_abbrev=False,
            add_help=bool(about),
        )
        self.offers = offers or {}
        self._fields: list[tuple[argparse.Action, Any, Any]] = []  # with their class and default

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        what, colon, names = message.partition(" are required: ")
        missing = f"{names} {'are' if ', ' in names else 'is'} missing"
        raise UserError(missing if colon else what.removeprefix("argument "))

    def add(
        self,
        defaults: Any,
        aliases: Mapping[str, str] | None = None,
        *,
        group: bool = False,
        several: bool = False,
    ) -> None:
        """Add the fields of a dataclass as flags; those that are dataclasses become groups.

        `aliases` are other names of fields; with them, every switch can be turned off. With
        `group`, the flags are below what the dataclass says about itself; with `several`, each
        takes values separated by commas.
        """
        kind: Any = type(defaults)
        place: Any = self
        if group:
            place = self.add_argument_group(textwrap.fill(kind.__doc__.strip("."), WIDTH - 1))
        hints = typing.get_type_hints(kind)
        for field in dataclasses.fields(kind):
            name, default = field.name, getattr(defaults, field.name)
            if dataclasses.is_dataclass(default):
                self.add(default, group=True)
                continue
            options = _options(hints[name], several=several)
            names = [*field.metadata.get("names", [f"--{name}"])]
            names += [f"--{alias}" for alias, aliased in (aliases or {}).items() if aliased == name]
            if metavar := field.metadata.get("metavar"):
                names, options["metavar"] = [name], metavar
                if default is None:
                    options |= {"nargs": "*" if "nargs" in options else "?", "default": None}
                self.usage = f"{str(self.usage).removesuffix('[flags]')}{metavar} [flags]"
            else:
                options |= {"dest": name, "required": default is REQUIRED}
            action: Any = place.add_argument(*names, **options)
            self._fields.append((action, kind, default))
            if name in self.offers:
                action.completer = lambda names=self.offers[name], **_: names
            if options.get("action") == "store_true" and (default or aliases is not None):
                off = [f"--no_{flag.removeprefix('--')}" for flag in names]
                options |= {"action": "store_false", "help": f"turn {names[0]} off"}
                place.add_argument(*off, **options)

    def list_choices(self, metavar: str, groups: Mapping[str, Mapping[str, str]]) -> None:
        """Let help and completion list what the first argument may be, under headings."""
        self.usage = f"{self.prog} {metavar} [flags]"
        names = [name for group in groups.values() for name in group]
        for heading, group in groups.items():
            listed: Any = self.add_argument_group(heading)
            for name, about in group.items():
                choice = listed.add_argument("choice", metavar=name, nargs="?", help=about)
                choice.completer = lambda **_: names

    def format_help(self) -> str:
        """The help of the command; reading the flags' texts from the source takes 0.1 seconds."""
        for action, kind, default in self._fields:
            action.help = _help(comments(kind)[action.dest], default)
        return super().format_help()

    def parse(self, args: Sequence[str]) -> dict[str, Any]:
        """The values of the fields that were given; help and completion end the program."""
        if "_ARGCOMPLETE" in os.environ:
            import argcomplete  # noqa: PLC0415 - while completing only

            self.format_help()  # zsh and fish show it
            os.environ["_ARGCOMPLETE"] = str(len(self.prog.split()))  # our arguments begin there
            argcomplete.autocomplete(self)
        found, left = self.parse_known_args(args)
        if left:
            known = [name for action in self._actions for name in action.option_strings]
            near = get_close_matches(left[0].split("=")[0], known, n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            self.error(f"unrecognized arguments: {' '.join(left)}{hint}")
        return {key: tuple(it) if isinstance(it, list) else it for key, it in vars(found).items()}


def _options(hint: Any, *, several: bool = False) -> dict[str, Any]:
    """The options of add_argument for a type."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):  # with None
        hint = next(part for part in typing.get_args(hint) if part is not types.NoneType)
    if several:
        count = "*" if hint is bool else "+"
        read = partial(_read_several, hint)
        return {"type": read, "nargs": count, "action": "extend", "metavar": "V"}
    if typing.get_origin(hint) is tuple:
        return {**_options(typing.get_args(hint)[0]), "nargs": "+", "action": "extend"}
    if typing.get_origin(hint) is typing.Literal:
        return {"choices": typing.get_args(hint)}
    if hint is bool:
        return {"action": "store_true"}
    return {"type": partial(_read, hint), "metavar": NUMBERS.get(hint, (None,))[0]}


def _read_several(hint: Any, text: str) -> list[Any]:
    """The values that a text separates by commas; parts of a list are joined by +."""
    if typing.get_origin(hint) is not tuple:
        return [_read(hint, part) for part in parts(text)]
    (element, *_) = typing.get_args(hint)
    return [[_read(element, one) for one in part.split("+")] for part in parts(text)]


def parts(text: str) -> list[str]:
    """The parts of a text between commas, without empty ones."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _read(kind: Any, text: str) -> Any:
    """The value of an argument; files hold 64-bit integers and finite floats only."""
    if not text:
        raise argparse.ArgumentTypeError("is empty: is a variable not set?")
    if kind is bool:
        return {"true": True, "false": False}.get(text.lower(), text)  # the spec refuses others
    if kind not in NUMBERS:
        return Path(text) if kind is Path else text
    try:
        value = kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be {NUMBERS[kind][1]}, got {text!r}") from None
    if kind is int and abs(value) >= 2**63:
        raise argparse.ArgumentTypeError(f"must fit into 64 bits, got {text}")
    if kind is float and not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"must be a finite number, got {text}")
    return value


def _help(text: str, default: Any) -> str:
    """The help text of a flag: its comment and its default."""
    if default is REQUIRED:
        text += " (required)"
    elif "(default:" not in text and default is not False and default not in (None, (), ""):
        value = " ".join(map(str, default)) if isinstance(default, tuple) else default
        text += f" (default: {'on' if default is True else value})"
    return text.replace("%", "%%")


@cache
def comments(kind: Any) -> dict[str, str]:
    """The comment behind or above each field of a dataclass."""
    found: dict[str, str] = {}
    above: list[str] = []
    sources = [inspect.getsource(owner) for owner in kind.__mro__[-2::-1]]
    for line in textwrap.dedent("\n".join(sources)).splitlines():
        code, _, comment = line.partition("# ")
        if field := re.match(r"    (\w+): ", code):
            found[field[1]] = " ".join([*above, comment]).strip()
        above = [*above, comment] if comment and not code.strip() else []
    return found


def changed(defaults: F, values: Mapping[str, Any]) -> F:
    """A dataclass of dataclasses with other values of some fields, at any depth."""
    fields = {
        name: changed(old, values) if dataclasses.is_dataclass(old) else values.get(name, old)
        for name, old in spec_to_dict(defaults).items()
    }
    return type(defaults)(**fields)


def leaves(defaults: Any) -> dict[str, Any]:
    """The values of all fields of a dataclass of dataclasses, by name."""
    found: dict[str, Any] = {}
    for name, value in spec_to_dict(defaults).items():
        found |= leaves(value) if dataclasses.is_dataclass(value) else {name: value}
    return found


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


def read_flags(
    program: str, defaults: F, args: Sequence[str], about: str | None, offers: Offers | None = None
) -> Asked[F]:
    """The parsed command line of a command without a benchmark."""
    parser = Parser(program, about, offers)
    parser.add(defaults)
    values = parser.parse(args)
    given = {key: f"--{key}" for key in values}
    return Asked(f"{program} {shlex.join(args)}", changed(defaults, values), given)


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
        name = named_benchmark(read_mapping(start.config))
    if name is None:
        titles = {known: get_benchmark(known).title for known in names or benchmark_names()}
        refuse_without("NAME", titles, command, args, about)
    task = load_task(name := by_alias(name), start.preset)
    benchmark = task.benchmark
    offers: Offers = {
        "approach": benchmark_names(),
        "preset": benchmark.presets,
        "solver": benchmark.solvers,
        "solvers": benchmark.solvers,
        "variants": benchmark.diagnostics,
    }
    words = " ".join(["trivium", command, *named])
    parser = Parser(words, f"{name}: {benchmark.title}.\n\n{about}", offers)
    parser.add(_with_dataset_size(kind(), task))
    parser.add(Start(), group=True)
    for part in (task.spec, task.view):
        parser.add(part, benchmark.field_aliases, group=True)
    values = parser.parse(rest)
    given = {key: f"--{key}" for key in values}
    if start.config is not None:
        held = _read_config(start.config, benchmark, leaves(kind()), values)
        task = load_task(name, start.preset or held.get("preset"))
        given = {**{key: f"{key} in {start.config}" for key in held}, **given}
        values = {**held, **values}
    fields = {*leaves(task.spec), *leaves(task.view)} & values.keys()
    task = change_task(task, {key: values[key] for key in fields}, where=start.config or "")
    flags = changed(_with_dataset_size(kind(), task), values)
    return BenchmarkFlags(f"trivium {command} {shlex.join(args)}", flags, given, task)


def _with_dataset_size(flags: F, task: Task) -> F:
    """The flags with as many items as the spec's dataset has, if its size is fixed."""
    size = task.benchmark.dataset_size(task.spec)
    default = leaves(flags).get("items")  # None where a command chooses how many
    return flags if size is None or default is None else changed(flags, {"items": size})


def _read_config(
    path: str, benchmark: AnyBenchmark, flags: Mapping[str, Any], given: Container[str]
) -> dict[str, Any]:
    """The fields and flags that a file sets, without those that a flag overrides."""
    values = read_mapping(path)
    named = named_benchmark(values) or benchmark.name
    require(named == benchmark.name, f"{path} is about {named}, not about {benchmark.name}")
    with located(path):
        lists, single, grid = read_keys(benchmark, values)
    if "solver" in given or "model" in given:  # which exclude each other
        lists = {key: part for key, part in lists.items() if key not in ("solvers", "models")}
    found = {key: value for key, value in single.items() if key in flags}
    for key, several in {**lists, **grid}.items():
        name = key if key in grid or key in flags else key.removesuffix("s")
        if name in given or not (key in grid or name in {*flags, "preset"}):
            continue
        if isinstance(flags.get(name), tuple):
            found[name] = tuple(several)
        elif several or key in grid:  # a sweep may list no solvers
            hint = f"as a sweep may have; choose one with --{name}"
            require(len(several) == 1, f"{path}: {key} has {len(several)} values, {hint}")
            found[name] = several[0]
    return {key: value for key, value in found.items() if key not in given}
