"""What goes wrong because of what was asked for, said in one sentence."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from difflib import get_close_matches
from types import ModuleType


class UserError(Exception):
    """Bad input; its text is the one sentence that the user reads."""


class FailedCallsError(UserError):
    """Calls to a model failed, so that nothing, or not everything, was answered."""


class MissingExtraError(UserError):
    """An optional package is needed and not installed."""


def require(condition: bool, message: str) -> None:
    """Raise UserError with this sentence unless the condition holds."""
    if not condition:
        raise UserError(message)


def require_known(name: str, known: Iterable[str], what: str) -> None:
    """Refuse a name that is not among those known, with the nearest one or with all of them."""
    names = list(known)
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
    require(name in names, f"unknown {what}; {hint}")


def import_extra(module: str, extra: str) -> ModuleType:
    """An optional module, or a sentence that says how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        wanted, package = module.split(".", maxsplit=1)[0], (missing.name or "").split(".")[0]
        # A module that is there but broken must not be reported as missing; one of ours is there,
        # and another package that it lacks is the extra's.
        if not package or (package == wanted) == (wanted == "trivium"):
            raise
        raise MissingExtraError(f"{package} is missing: pip install 'trivium[{extra}]'") from None
