"""What makes a function the same solver as before: its own code, and the plain data it holds."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import PurePath
from types import CellType, CodeType, FunctionType, MemberDescriptorType, MethodType, NoneType
from typing import Any

PLAIN = (int, float, complex, str, bytes, slice, PurePath, NoneType, type(...))
_before: dict[str, dict[str, str]] = {}  # from what a run left of a function to what it was


def code_hashes(function: Any) -> dict[str, str]:
    """A hash of the function's own code, and of each value that it holds, by their names."""
    parts = _parts(function).items()
    texts = {name: repr(_content(part, {id(function)})) for name, part in parts}
    found = {name: hashlib.sha256(texts[name].encode()).hexdigest()[:12] for name in texts}
    return _before.get(str(found), found)


@contextmanager
def running(functions: Mapping[str, Callable[..., Any]]) -> Iterator[dict[str, dict[str, str]]]:
    """The hashes of functions, which stay the same whatever these count or keep meanwhile."""
    found = {name: code_hashes(function) for name, function in functions.items()}
    try:
        yield found
    finally:
        _before.update((str(code_hashes(functions[name])), found[name]) for name in functions)


def _parts(function: Any) -> dict[str, Any]:
    """The code of a function, and its arguments, closure or attributes."""
    if isinstance(function, partial):
        bound = {f"argument {n}": value for n, value in enumerate(function.args, start=1)}
        return _parts(function.func) | bound | function.keywords
    if isinstance(function, FunctionType):
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        closure = {name: cell.cell_contents for name, cell in cells if cell != CellType()}
        defaults = function.__defaults__, function.__kwdefaults__
        return {"its code": function.__code__, "a default argument": defaults, **closure}
    if hasattr(function, "__wrapped__"):  # by functools.cache
        return _parts(function.__wrapped__)
    bound_to, call = function, type(function).__call__
    if isinstance(function, MethodType):
        bound_to, call = function.__self__, function.__func__
    own = _parts(call) if isinstance(call, FunctionType) else {}
    for name, value in {**vars(type(bound_to)), **getattr(bound_to, "__dict__", {})}.items():
        if not name.startswith("__"):
            slot = isinstance(value, MemberDescriptorType)
            own[f"self.{name}"] = getattr(bound_to, name, None) if slot else value
    return own


def _content(value: Any, seen: set[int]) -> Any:
    """Plain data and code in a form that is the same in every process; of the rest, the type."""
    if isinstance(value, PLAIN):
        return value
    kind = type(value).__qualname__
    if isinstance(value, CodeType):
        value = (value.co_code, value.co_names, value.co_consts)
    elif not isinstance(value, (tuple, frozenset)):
        if id(value) in seen:  # such as a function that calls itself
            return kind
        seen.add(id(value))
    if isinstance(value, FunctionType):
        value = _parts(value)
    if not isinstance(value, (dict, list, tuple, set, frozenset)):
        return kind
    parts = [_content(part, seen) for part in (value.items() if isinstance(value, dict) else value)]
    return parts if isinstance(value, (list, tuple)) else sorted(map(repr, parts))
