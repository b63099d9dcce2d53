"""Specs: frozen dataclasses made from a mapping, a TOML file or a JSON file."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tomllib
import types
import typing
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from trivium.core.errors import UserError, require, require_known
from trivium.core.files import read_text

S = TypeVar("S")
_type_hints = cache(typing.get_type_hints)
MAX_SHOWN = 60  # characters of a value


def spec_to_dict(spec: Any) -> dict[str, Any]:
    """Every field of a spec, in the order of its definition."""
    return {field.name: getattr(spec, field.name) for field in dataclasses.fields(spec)}


def changed_fields(spec: Any) -> dict[str, Any]:
    """The fields that differ from their defaults, which identify a spec."""
    return {
        field.name: value
        for field in dataclasses.fields(spec)
        if (value := getattr(spec, field.name)) != field.default
    }


def short(value: Any) -> str:
    """A field's value as text; a long one, such as the text of a file, as a short hash of it."""
    text = str(value)
    return (
        text
        if len(text) <= MAX_SHOWN
        else hashlib.blake2b(text.encode(), digest_size=3).hexdigest()
    )


def spec_from_dict(
    spec_type: type[S], values: Mapping[str, Any], *, base: S | None = None, where: str = ""
) -> S:
    """A spec with these values; other fields are those of `base` or the defaults.

    Unknown keys and values of another type raise UserError.
    """
    kind: Any = spec_type
    fields = {field.name: field for field in dataclasses.fields(kind)}
    hints = _type_hints(kind)
    prefix = f"{where}: " if where else ""
    checked: dict[str, Any] = {} if base is None else spec_to_dict(base)
    for key, value in values.items():
        require_known(key, fields, f"key {key!r}", where)
        checked[key] = coerce(value, hints[key], f"{prefix}{key}")
    return spec_type(**checked)


def read_mapping(path: str | Path) -> dict[str, Any]:
    """The table in a TOML or JSON file."""
    path = Path(path)
    require(path.suffix in (".toml", ".json"), f"{path}: a config file ends in .toml or .json")
    text = read_text(path)
    try:
        values = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except ValueError as problem:
        raise UserError(f"{path}: {problem}") from None
    except RecursionError:
        raise UserError(f"{path}: nested too deeply") from None
    require(isinstance(values, dict), f"{path}: expected a table of keys, found {values!r}")
    return typing.cast(dict[str, Any], values)


def coerce(value: Any, hint: Any, where: str) -> Any:  # noqa: PLR0911 - one for each type
    """The value converted to the field's type; UserError if it does not fit."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        options = [option for option in typing.get_args(hint) if option is not type(None)]
        if value is None and len(options) < len(typing.get_args(hint)):
            return None
        if len(options) == 1:
            return coerce(value, options[0], where)
        kinds = tuple(typing.get_origin(option) or option for option in options)
        named = " or ".join(_TYPE_NAMES.get(kind, kind.__name__) for kind in kinds)
        require(isinstance(value, kinds), f"{where} must be {named}")
        return value
    if origin is typing.Literal:
        allowed = typing.get_args(hint)
        require(
            value in allowed,
            f"{where} must be one of {', '.join(map(str, allowed))}, got {value!r}",
        )
        return value
    if origin is tuple:
        require(isinstance(value, (list, tuple)), f"{where} must be a list, got {value!r}")
        element = typing.get_args(hint)[0]
        return tuple(coerce(part, element, where) for part in value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if dataclasses.is_dataclass(hint):
        require(isinstance(value, dict), f"{where} must be a table, got {value!r}")
        return spec_from_dict(typing.cast(Any, hint), value, where=where)
    hint = origin if origin is Mapping else hint
    matches = isinstance(value, hint) and not (hint is not bool and isinstance(value, bool))
    require(matches, f"{where} must be {_TYPE_NAMES.get(hint, hint)}, got {value!r}")
    return value


_TYPE_NAMES: dict[Any, str] = {
    Mapping: "a table",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    Path: "a path",
}
