"""The steps a participant sends, and how a screen accepts or refuses them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

WITHOUT_VALUE = ("next", "press", "finish", "retry")  # kinds of steps


class RefusedError(Exception):
    """Raised when a step is not valid at this stage; the message is for developers."""


@dataclass(frozen=True)
class Step:
    """One stored step of a participant."""

    kind: str
    value: Any
    # the place in a condition that the step was assigned; {} if it asked for none, or all are full
    outcome: Mapping[str, Any] = field(default_factory=dict)
    server_time: float = 0.0
    client_time: float | None = None
    seconds: float | None = None  # since the screen appeared, measured by the browser


@dataclass(frozen=True)
class TimedStep:
    """A step with its screen and times, for the tables of the export."""

    screen: str
    item: int  # the number of the item, from 1; 0 outside items
    kind: str
    value: Any
    # when the screen appeared or the last step on it ended, in seconds after the first step
    onset: float
    seconds: float  # from the onset to the step
    replies: int  # the number of replies to the item, including this step


Handlers = Mapping[tuple[str, str], Callable[[Any, Step], None]]  # by stage and kind of step


class StepHandler:
    """Applies steps with the method for the current stage and the kind of step.

    Each method checks the step's value, which comes from a browser, before it changes anything.
    """

    handlers: ClassVar[Handlers] = {}
    stage = ""  # the name of the current screen

    def take(self, step: Step) -> None:
        """Apply a step; raises RefusedError if it is not valid at this stage."""
        handler = self.handlers.get((self.stage, step.kind))
        if handler is None:
            raise RefusedError(f"{step.kind!r:.40} is not a step of {self.stage}")
        if step.kind in WITHOUT_VALUE and step.value is not None:
            raise RefusedError(f"{step.kind} has no value")
        handler(self, step)


def one_of(value: Any, allowed: Iterable[Any]) -> Any:
    """The value; raises RefusedError unless an allowed one has the same type and value."""
    for option in allowed:
        if type(value) is type(option) and value == option:
            return value
    raise RefusedError(f"{value!r:.40} is not allowed here")


def checked_text(value: Any, limit: int) -> str:
    """The value; raises RefusedError unless it is valid text of at most `limit` characters."""
    if not isinstance(value, str) or len(value) > limit:
        raise RefusedError(f"a text of at most {limit} characters is needed")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise RefusedError("the text is not valid Unicode") from None
    return value
