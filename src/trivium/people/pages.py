"""How items are shown to participants: as text, or on a page that the benchmark declares."""

from __future__ import annotations

import pkgutil
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

from trivium.core.benchmark import AnyBenchmark
from trivium.core.dialogue import Dialogue
from trivium.core.task import PresentedItem
from trivium.people.texts import Texts

MAX_REPLY = 10_000  # characters of a text
WITHOUT_VALUE = ("next", "press", "finish", "retry")  # kinds of steps
Column = Sequence[str]  # the type of a column and what it means
Tables = Mapping[str, Mapping[str, Column]]  # the columns of every table
View = dict[str, Any]  # a screen, as it is sent to the browser


class RefusedError(Exception):
    """A step that is not possible; the text is for developers."""


@dataclass(frozen=True)
class Step:
    """One stored step of a participant."""

    kind: str
    value: Any
    outcome: Mapping[str, Any] = field(default_factory=dict)  # the assigned place, after consent
    server_time: float = 0.0
    client_time: float | None = None
    seconds: float | None = None  # since the screen appeared, measured by the browser


@dataclass(frozen=True)
class Timed:
    """A step with its screen and its time, for the tables of the export."""

    screen: str
    item: int  # the number of the item, from 1; 0 outside items
    kind: str
    value: Any
    onset: float  # when the screen appeared or the last step ended, seconds after the first step
    seconds: float  # from the onset to the step
    replies: int  # of the item, after the step


Handlers = Mapping[tuple[str, str], Callable[[Any, Step], None]]  # by stage and kind of step


class Staged:
    """Takes steps, each at the stage that it belongs to.

    `handlers` has a method for every stage and kind of step. Each checks its value, which comes
    from a browser, before it changes anything.
    """

    handlers: ClassVar[Handlers] = {}
    stage = ""  # the screen that is shown
    over = False

    def take(self, step: Step) -> None:
        """Take a step; RefusedError if it is not possible here."""
        handler = self.handlers.get((self.stage, step.kind))
        if handler is None:
            raise RefusedError(f"{step.kind!r:.40} is not a step of {self.stage}")
        if step.kind in WITHOUT_VALUE and step.value is not None:
            raise RefusedError(f"{step.kind} has no value")
        handler(self, step)


class Activity(Staged, ABC):
    """A sequence of screens and steps: the practice, or an item."""

    @abstractmethod
    def view(self, texts: Texts) -> View:
        """The current screen."""

    @abstractmethod
    def next_step(self, reply: Callable[[], str]) -> Step:
        """The step of a simulated participant, whose next reply in the dialogue is `reply()`."""


class Round(Activity):
    """An attempt at an item, here as the text that models read."""

    stage = "text"

    def __init__(self, item: PresentedItem) -> None:
        self.item, self.dialogue = item, Dialogue(item)

    @property
    def over(self) -> bool:  # type: ignore[override]
        """Whether the item is answered."""
        return self.dialogue.done

    def _reply(self, step: Step) -> None:
        text = checked_text(step.value, MAX_REPLY)
        if not text.strip():
            raise RefusedError("the reply is empty")
        self.dialogue.send(text)

    handlers: ClassVar[Handlers] = {("text", "reply"): _reply}

    def next_step(self, reply: Callable[[], str]) -> Step:
        """Send the reply."""
        return Step("reply", reply())

    def view(self, texts: Texts) -> View:
        """The conversation so far, and a box for the reply."""
        return {
            "messages": list(self.dialogue.messages),
            "paragraphs": [texts["text.english"]] if texts["text.english"] else [],
            "label": texts["text.label"],
            "missing": texts["text.empty"],
            "send": texts["button.send"],
            "limit": MAX_REPLY,
        }


class Page:
    """How the items of a benchmark are shown: as text, unless a subclass overrides it."""

    kind = "text"  # the key of its texts: instructions, check and debriefing
    screens: tuple[str, ...] = ("text",)  # the names of its screens
    watchable = False  # whether participants can watch moves instead of choosing them
    tables: ClassVar[Tables] = {}  # added to the export
    package = "trivium.people"  # has the folder `static`
    head = ""  # HTML that loads its scripts and styles from `static`
    labels: tuple[str, ...] = ()  # keys of texts that the scripts need on every screen

    def practice(self) -> Activity | None:
        """The practice before the first item, if any."""
        return None

    def picture(self, number: int, texts: Texts) -> View:
        """The parts of the screen that go with a page of the instructions."""
        return {}

    def check_pictures(self, number: int, right: int) -> list[View]:
        """The pictures of both options of a question about the instructions, if there are any."""
        return []

    def start(self, item: PresentedItem, shown: Sequence[str] | None, first: bool) -> Round:
        """The attempt at an item; `shown` are moves to watch instead of choosing."""
        return Round(item)

    def rows(self, one: Round, steps: Sequence[Timed]) -> Mapping[str, Iterable[dict[str, Any]]]:
        """The rows of an item, with its steps, in each of the page's tables.

        Those of trials.csv are added to the item's row there.
        """
        return {}

    def write_episodes(self, rounds: Sequence[Round], name: str, folder: Path) -> dict[str, int]:
        """Write attempts as Minari datasets; returns the number of episodes of each."""
        return {}


TEXT = Page()


@cache
def page_of(benchmark: AnyBenchmark) -> Page:
    """The page that a benchmark declares, or the one for text."""
    declared = benchmark.experiment_page
    page: Page = pkgutil.resolve_name(declared) if declared else TEXT
    return page


def read_tables(package: str) -> Tables:
    """The tables in a package's tables.toml."""
    return tomllib.loads(resources.files(package).joinpath("tables.toml").read_text("utf-8"))


def button(texts: Texts, kind: str, label: str, **options: Any) -> View:
    """A button for a step of this kind."""
    return {"kind": kind, "label": texts[f"button.{label}"], "icon": label, **options}


def one_of(value: Any, allowed: Iterable[Any]) -> Any:
    """The value if it is one of these, of the same type; else RefusedError."""
    for option in allowed:
        if type(value) is type(option) and value == option:
            return value
    raise RefusedError(f"{value!r:.40} is not allowed here")


def checked_text(value: Any, limit: int) -> str:
    """The value if it is valid text of limited length; else RefusedError."""
    if not isinstance(value, str) or len(value) > limit:
        raise RefusedError(f"a text of at most {limit} characters is needed")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise RefusedError("the text is not valid Unicode") from None
    return value
