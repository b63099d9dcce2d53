"""Solvers by name: built-in ones, trained agents, and the user's functions."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from trivium.agents import agent_solver
from trivium.core.benchmark import AnyBenchmark, Solver, Turn
from trivium.core.errors import UserError, require, require_known
from trivium.models.settings import is_model

AGENT = "agent:"  # `agent:FOLDER` is a trained agent
Function = Callable[[Any], Any]  # from a prompt to a reply, or to an awaitable reply


def find_solver(benchmark: AnyBenchmark, name: str) -> Solver:
    """The solver of this name, which is not a model."""
    if name.startswith(AGENT):
        return agent_solver(benchmark.name, name)
    if is_function(name):
        return function_solver(name, import_function(name))
    require_known(name, benchmark.solvers, f"solver {name!r}")
    return benchmark.solvers[name]


def is_function(name: str) -> bool:
    """Whether a solver's name has the form package.module:function."""
    return ":" in name and not name.startswith(AGENT) and not is_model(name)


def import_function(name: str) -> Function:
    """The function that `package.module:function` names."""
    module, _, attribute = name.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))  # as `python -m` does
    try:
        function: Any = importlib.import_module(module)
        for part in attribute.split("."):
            function = getattr(function, part)
    except (ImportError, AttributeError, ValueError) as problem:
        raise UserError(f"solver {name!r} cannot be imported: {problem}") from None
    require(callable(function), f"solver {name!r} is not a function")
    return function  # type: ignore[no-any-return]


def function_solver(name: str, function: Function) -> Solver:
    """A plain function as a solver."""
    wants_messages = takes_messages(function)

    def reply(turn: Turn) -> str:
        return checked_reply(name, function(shown(turn.messages, wants_messages)))

    return Solver(name, "a user's function", reply)


def takes_messages(function: Function) -> bool:
    """Whether a function's first parameter is named `messages`, to get all of them as a list."""
    return _first_parameter(function) == "messages"


def takes_prompts(function: Function) -> bool:
    """Whether a function's first parameter is named `prompts`, to get many of them at once."""
    return _first_parameter(function) == "prompts"


def _first_parameter(function: Function) -> str | None:
    try:
        return next(iter(inspect.signature(function).parameters), None)
    except ValueError:  # a builtin without a signature
        return None


def shown(messages: Sequence[str], as_list: bool) -> str | list[str]:
    """The argument of a function: the list of messages, or the dialogue as one text."""
    return list(messages) if as_list else "\n\n".join(messages)


def checked_reply(name: str, reply: object) -> str:
    """The reply, which must be text."""
    require(isinstance(reply, str), f"solver {name!r} must return text, got {reply!r:.80}")
    return str(reply)
