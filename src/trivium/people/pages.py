"""How items are shown to participants: as text, or on a page that the benchmark declares."""

from __future__ import annotations

import pkgutil
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

from trivium.core.benchmark import AnyBenchmark
from trivium.core.dialogue import Dialogue
from trivium.core.task import PresentedItem
from trivium.people.steps import Handlers, RefusedError, Step, StepHandler, TimedStep, checked_text
from trivium.people.texts import Texts

MAX_REPLY = 10_000  # characters
Column = Sequence[str]  # (type, meaning)
Tables = Mapping[str, Mapping[str, Column]]  # by file name and column name
ScreenData = dict[str, Any]  # what the browser shows as one screen
Rows = Mapping[str, Iterable[dict[str, Any]]]  # of each table


class Activity(StepHandler, ABC):
    """A sequence of screens and steps: the practice, or an item."""

    over = False  # whether its last step was taken

    @abstractmethod
    def view(self, texts: Texts) -> ScreenData:
        """The current screen."""

    @abstractmethod
    def next_step(self, reply: Callable[[], str]) -> Step:
        """The next step of a simulated participant, whose next reply to the item is `reply()`."""


class Round(Activity):
    """A participant's attempt at an item, shown as the text that models read."""

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
        """The reply as one step."""
        return Step("reply", reply())

    def view(self, texts: Texts) -> ScreenData:
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
    watchable = False  # whether participants can watch another player's moves instead of choosing
    tables: ClassVar[Tables] = {}  # tables and columns added to the export
    package = "trivium.people"  # the package with its folder `static`
    head = ""  # HTML that loads its scripts and styles from `static`
    labels: tuple[str, ...] = ()  # keys of texts that the scripts need on every screen

    def practice(self) -> Activity | None:
        """The practice before the first item, if any."""
        return None

    def picture(self, number: int, texts: Texts) -> ScreenData:
        """What is shown beside the text on a page of the instructions."""
        return {}

    def check_pictures(self, number: int, right: int) -> list[ScreenData]:
        """Pictures for the options of a question about the instructions; [] without pictures.

        They are in the order of the options; `right` is the index of the right one.
        """
        return []

    def start(self, item: PresentedItem, shown: Sequence[str] | None, first: bool) -> Round:
        """The attempt at an item; `shown` are moves to watch instead of choosing."""
        return Round(item)

    def rows(self, attempt: Round, steps: Sequence[TimedStep]) -> Rows:
        """The rows of an attempt, with its steps, in each of the page's tables.

        A row for trials.csv adds its columns to the attempt's row there.
        """
        return {}

    def write_episodes(self, rounds: Sequence[Round], name: str, folder: Path) -> dict[str, int]:
        """Write attempts as Minari datasets; returns the number of episodes by dataset name."""
        return {}


TEXT = Page()


@cache
def page_of(benchmark: AnyBenchmark) -> Page:
    """The page that a benchmark declares; by default the one that shows text."""
    declared = benchmark.experiment_page
    page: Page = pkgutil.resolve_name(declared) if declared else TEXT
    return page


def read_tables(package: str) -> Tables:
    """The tables in a package's tables.toml."""
    return tomllib.loads(resources.files(package).joinpath("tables.toml").read_text("utf-8"))


def button(texts: Texts, kind: str, label: str, **options: Any) -> ScreenData:
    """A button for a step of this kind."""
    return {"kind": kind, "label": texts[f"button.{label}"], "icon": label, **options}
