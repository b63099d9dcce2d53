"""An argument parser from dataclasses: a field's type, default and comment make its flag."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import math
import os
import re
import textwrap
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from trivium.core.errors import UserError, require

T = TypeVar("T")
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
        self.flags = ["--help"]
        self.required: list[str] = []

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        raise UserError(message.removeprefix("argument "))

    def add(
        self,
        defaults: Any,
        group: Any = None,
        aliases: Mapping[str, str] | None = None,
        *,
        several: bool = False,
    ) -> None:
        """Add the fields of a dataclass as flags; those that are dataclasses become groups.

        `aliases` are other names of fields; with them, every switch can be turned off. With
        `several`, every flag takes values separated by commas.
        """
        kind: Any = type(defaults)
        hints, texts = typing.get_type_hints(kind), comments(kind)
        for field in dataclasses.fields(kind):
            name, default = field.name, getattr(defaults, field.name)
            if dataclasses.is_dataclass(default):
                self.add(default, self.group(default))
                continue
            options = _options(hints[name], several=several)
            options["help"] = _help(texts[name], default)
            names = [*field.metadata.get("names", [f"--{name}"])]
            names += [f"--{alias}" for alias, own in (aliases or {}).items() if own == name]
            if metavar := field.metadata.get("metavar"):
                count = "*" if "nargs" in options else "?"
                names, optional = [name], {"nargs": count, "default": None}
                options |= {"metavar": metavar, **(optional if default is None else {})}
                self.usage = f"{str(self.usage).removesuffix('[flags]')}{metavar} [flags]"
            else:
                options["dest"] = name
                self.required += [name] * (default is REQUIRED)
            action: Any = (group or self).add_argument(*names, **options)
            self.flags += action.option_strings
            if name in self.offers:
                action.completer = self._offer
            if options.get("action") == "store_true" and (default or aliases is not None):
                off = [f"--no_{own.removeprefix('--')}" for own in names]
                options |= {"action": "store_false", "help": f"turn {names[0]} off"}
                (group or self).add_argument(*off, **options)
                self.flags += off

    def list_choices(self, metavar: str, groups: Mapping[str, Mapping[str, str]]) -> None:
        """Let help and completion list what the first argument may be, under headings."""
        self.usage = f"{self.prog} {metavar} [flags]"
        self.offers = {"choice": [name for group in groups.values() for name in group]}
        for heading, group in groups.items():
            listed: Any = self.add_argument_group(heading)
            for name, about in group.items():
                choice = listed.add_argument("choice", metavar=name, nargs="?", help=about)
                choice.completer = self._offer

    def group(self, about: Any) -> Any:
        """A group of flags with what a dataclass says about itself as its heading."""
        return self.add_argument_group(textwrap.fill(str(about.__doc__).strip("."), WIDTH - 1))

    def parse(self, args: Sequence[str]) -> dict[str, Any]:
        """The values of the fields that were given; help and completion end the program."""
        if "_ARGCOMPLETE" in os.environ:
            import argcomplete  # noqa: PLC0415 - while completing only

            os.environ["_ARGCOMPLETE"] = str(len(self.prog.split()))  # our arguments begin there
            argcomplete.autocomplete(self)
        found, left = self.parse_known_args(args)
        near = get_close_matches(left[0].split("=")[0], self.flags, n=1) if left else []
        hint = f" (did you mean {near[0]}?)" if near else ""
        require(not left, f"unrecognized arguments: {' '.join(left)}{hint}")
        for name in self.required:
            require(name in found, f"--{name} is missing")
        return {key: tuple(it) if isinstance(it, list) else it for key, it in vars(found).items()}

    def _offer(self, action: argparse.Action, **_: Any) -> Iterable[str]:
        return self.offers[action.dest]


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
    metavar = {"metavar": NUMBERS[hint][0]} if hint in NUMBERS else {}
    return {"type": partial(_read, hint), **metavar}


def _read_several(hint: Any, text: str) -> list[Any]:
    """The values that a text separates by commas; parts of a list are joined by +."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if typing.get_origin(hint) is tuple:
        inner = typing.get_args(hint)[0]
        return [[_read(inner, one) for one in part.split("+")] for part in parts]
    return [_read(hint, part) for part in parts]


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


def changed(defaults: T, values: Mapping[str, Any]) -> T:
    """A dataclass of dataclasses with other values of some fields, at any depth."""
    own: dict[str, Any] = {}
    for field in dataclasses.fields(defaults):  # type: ignore[arg-type]
        value = getattr(defaults, field.name)
        nested = dataclasses.is_dataclass(value)
        own[field.name] = changed(value, values) if nested else values.get(field.name, value)
    return type(defaults)(**own)


def leaves(defaults: Any) -> dict[str, Any]:
    """The values of all fields of a dataclass of dataclasses, by name."""
    found: dict[str, Any] = {}
    for field in dataclasses.fields(defaults):
        value = getattr(defaults, field.name)
        found |= leaves(value) if dataclasses.is_dataclass(value) else {field.name: value}
    return found
