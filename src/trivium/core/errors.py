"""Errors that the user can fix, each with a message of one sentence."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from types import ModuleType


class UserError(Exception):
    """Bad input; the message is shown to the user without a traceback."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the sentence alone."""
        return [f"{type(self).__name__}: {self}"]


class FailedCallsError(UserError):
    """Calls to a model failed, so that some attempts have no reply."""


class MissingExtraError(UserError):
    """An optional package is not installed."""


def require(condition: bool, message: str) -> None:
    """Raise UserError with this message unless the condition holds."""
    if not condition:
        raise UserError(message)


def require_range(fields_of: object, low: float, high: float | None, *names: str) -> None:
    """Refuse fields below `low` or, if it is given, above `high`; None is in any range."""
    for name in names:
        value = getattr(fields_of, name)
        if value is not None and not (low <= value and (high is None or value <= high)):
            limits = f"at least {low}" if high is None else f"in {low}..{high}"
            raise UserError(f"{name} must be {limits}, got {value}")


@contextmanager
def located(where: object) -> Iterator[None]:
    """Begins the message of a UserError with the place where it was found, such as a file."""
    try:
        yield
    except UserError as problem:
        raise UserError(f"{where}: {problem}") from None


def require_known(name: str, known: Iterable[str], what: str, where: str = "") -> None:
    """Refuse an unknown name; the message suggests the nearest known one or lists them all.

    `where` is what the message begins with, such as the name of a file.
    """
    names = list(known)
    if name in names:
        return
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
    prefix = f"{where}: " if where else ""
    raise UserError(f"{prefix}unknown {what}; {hint}")


def import_extra(module: str, extra: str) -> ModuleType:
    """An optional module; MissingExtraError says how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        wanted, package = module.split(".", maxsplit=1)[0], (missing.name or "").split(".")[0]
        # A broken module must not be reported as missing. One of ours is always installed, so
        # what it cannot import is another package, of the extra.
        if not package or (package == wanted) == (wanted == "trivium"):
            raise
        raise MissingExtraError(f"{package} is missing: pip install 'trivium[{extra}]'") from None
