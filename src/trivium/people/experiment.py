"""The experiment file: what is asked, of how many people, in which conditions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from trivium.benchmarks import change_task, get_benchmark, load_task
from trivium.core.dialogue import solve
from trivium.core.errors import UserError, require
from trivium.core.spec import read_mapping, spec_from_dict
from trivium.core.task import PresentedItem, Task
from trivium.people.adaptive import axis_of
from trivium.people.pages import TEXT, Page, page_of
from trivium.people.texts import Texts, read_texts
from trivium.thresholds.search import Axis

MAX_POOL = 10_000
T = TypeVar("T")


@dataclass(frozen=True)
class Question:
    """A question that is asked before the experiment, such as the age group."""

    id: str
    text: str
    kind: Literal["choice", "text"] = "choice"
    options: tuple[str, ...] = ()
    optional: bool = False

    def __post_init__(self) -> None:
        require(
            re.fullmatch(r"[a-z][a-z0-9_]{0,30}", self.id) is not None,
            f"id must be lower-case letters, digits and _, got {self.id!r}",
        )
        choice = self.kind == "choice"
        require(
            not choice or len(self.options) >= 2,
            f"options of {self.id!r} must be at least two, got {len(self.options)}",
        )
        require(choice or not self.options, f"options of {self.id!r} go with kind 'choice'")


@dataclass(frozen=True)
class Condition:
    """What some of the participants do, and on which items."""

    name: str
    benchmark: str
    preset: str = ""
    arm: Literal["active", "passive", "yoked"] = "active"
    shown_by: str = "information_gain"  # passive: the solver whose tests are shown
    yoked_to: str = ""  # yoked: the condition whose participants' tests are shown
    items: int = 1  # items that every participant gets
    cap: int = 0  # completed participants at which the condition is full; 0 is no limit
    as_text: bool = False  # as the text that models read, where there is a drawn page
    vary: str = ""  # a field whose threshold is looked for: the next item is where it tells most
    values: tuple[float, ...] = ()  # of that field, from easy to hard
    where: Mapping[str, Any] = field(default_factory=dict)  # only items of these groups
    fields: Mapping[str, Any] = field(default_factory=dict)  # other fields of spec and view

    def __post_init__(self) -> None:
        require(bool(self.name.strip()), "name of a condition must not be empty")
        require(len(self.name) <= 60, f"name must be at most 60 characters, got {self.name!r}")
        require(1 <= self.items <= 100, f"items must be in 1..100, got {self.items}")
        require(self.cap >= 0, f"cap must be at least 0, got {self.cap}")
        watched = self.arm != "active"
        require(
            not watched or self.page.watchable,
            f"arm {self.arm!r} goes with a drawn game, got {self.benchmark}",
        )
        require(
            (self.arm == "yoked") == bool(self.yoked_to),
            f"yoked_to goes with arm 'yoked' and is needed there, got {self.yoked_to!r}",
        )
        if self.arm == "passive":
            known = get_benchmark(self.benchmark).solvers
            require(
                self.shown_by in known,
                f"shown_by must be one of {', '.join(known)}, got {self.shown_by!r}",
            )
        require(
            not self.vary or (not watched and bool(self.values)),
            f"vary goes with arm 'active' and needs values, got {self.vary!r}",
        )

    @cached_property
    def axis(self) -> Axis | None:
        """The field whose threshold is looked for, if any."""
        return axis_of(self.task, self.vary, self.values) if self.vary else None

    @property
    def page(self) -> Page:
        """How the items are shown."""
        return TEXT if self.as_text else page_of(get_benchmark(self.benchmark))

    @cached_property
    def task(self) -> Task:
        """The benchmark with its spec and view."""
        return change_task(load_task(self.benchmark, self.preset or None), self.fields, self.name)


@dataclass(frozen=True)
class Experiment:
    """A study with people."""

    title: str
    conditions: tuple[Condition, ...] = ()
    questions: tuple[Question, ...] = ()
    language: str = "en"  # a shipped language, or a file of texts
    seed: int = 0  # of the items
    pool: int = 24  # items 0 .. pool - 1 are given out, again and again where there are more people
    consent: str = ""  # instead of the shipped text
    debriefing: str = ""
    completion_code: str = ""  # one for the whole study; everybody has a code of their own besides
    practice: bool = True
    check: bool = True  # questions about the instructions, with a second chance
    after_failed_check: Literal["end", "continue"] = "end"
    attempts: int = 1  # how often one participant may take part
    dropout_minutes: int = 60  # without a step for so long, a place is free again
    requests_per_second: int = 200  # from one address; a class may share one

    def __post_init__(self) -> None:
        require(bool(self.title.strip()), "title must not be empty")
        require(bool(self.conditions), "conditions must hold at least one condition, got none")
        names = [one.name for one in self.conditions]
        require(len(set(names)) == len(names), f"names of conditions must differ, got {names}")
        asked = [one.id for one in self.questions]
        require(len(set(asked)) == len(asked), f"ids of questions must differ, got {asked}")
        require(1 <= self.pool <= MAX_POOL, f"pool must be in 1..{MAX_POOL}, got {self.pool}")
        for name in ("attempts", "dropout_minutes", "requests_per_second"):
            value = getattr(self, name)
            require(value >= 1, f"{name} must be at least 1, got {value}")
        for one in self.conditions:
            others = [
                each.name
                for each in self.conditions
                if each.arm == "active" and each.page.watchable and not each.vary
            ]
            require(
                not one.yoked_to or one.yoked_to in others,
                f"yoked_to must name an active condition without vary, one of {', '.join(others)}; "
                f"got {one.yoked_to!r}",
            )
            self.indexes(one)  # says what is wrong before anybody takes part
            require(one.axis is None or not one.where, f"{one.name}: where does not go with vary")
        read_texts(self.language)  # says what is missing before the first participant

    @cached_property
    def texts(self) -> Texts:
        """What participants read."""
        return read_texts(self.language)

    @property
    def pages(self) -> list[Page]:
        """How items are shown, every page once."""
        return list(dict.fromkeys(one.page for one in self.conditions))

    def condition(self, name: str) -> Condition:
        """The condition of this name."""
        return next(one for one in self.conditions if one.name == name)

    def source(self, condition: Condition) -> Condition:
        """The condition whose items are used: for a yoked one, that of its partners."""
        return self.condition(condition.yoked_to) if condition.yoked_to else condition

    def indexes(self, condition: Condition) -> tuple[int, ...]:
        """The items of the pool that the condition uses."""
        source = self.source(condition)
        where = tuple(sorted(source.where.items()))
        found = _matching(source.task, self.seed, self.pool, where)
        wanted = ", ".join(f"{key} = {value!r}" for key, value in where)
        require(bool(found), f"{condition.name}: none of the {self.pool} items has {wanted}")
        return found

    def items(self, condition: Condition, slot: int) -> list[PresentedItem]:
        """The items of the participant who has this place in the condition."""
        source, found = self.source(condition), self.indexes(condition)
        places = range(slot * source.items, (slot + 1) * source.items)
        return [source.task.item(found[place % len(found)], self.seed) for place in places]

    def moves_shown(self, condition: Condition, slot: int) -> list[list[str]]:
        """What a passive participant sees of every item: a solver's replies but its answer."""
        solver = condition.task.benchmark.solvers[condition.shown_by]
        replies = [solve(item, solver).reply for item in self.items(condition, slot)]
        return [list(own or ())[:-1] for own in replies]


@lru_cache(maxsize=256)
def _matching(
    task: Task, seed: int, pool: int, where: tuple[tuple[str, Any], ...]
) -> tuple[int, ...]:
    items = task.items(pool, seed)
    return tuple(
        number
        for number, item in enumerate(items)
        if all(item.groups.get(key) == value for key, value in where)
    )


def read_experiment(path: Path) -> Experiment:
    """The experiment in a TOML file; what is wrong with it is said in a sentence."""
    table = read_mapping(path)
    try:
        conditions = [_condition(one) for one in _tables(table, "conditions")]
        questions = [_read(Question, one) for one in _tables(table, "questions")]
        lists = {"conditions": tuple(conditions), "questions": tuple(questions)}
        language = table.get("language")
        if isinstance(language, str) and language.endswith(".toml"):
            table["language"] = str(path.parent / language)
        return _read(Experiment, table | lists)
    except UserError as problem:
        raise UserError(f"{path}: {problem}") from None


def _condition(table: dict[str, Any]) -> Condition:
    inner: dict[str, Any] = {}
    for key in ("where", "fields"):
        inner[key] = table.pop(key, {})
        require(isinstance(inner[key], dict), f"{key} must be a table, got {inner[key]!r}")
    return replace(_read(Condition, table), **inner)


def _read(kind: type[T], table: Mapping[str, Any]) -> T:
    for one in fields(kind):  # type: ignore[arg-type]
        needed = one.default is MISSING and one.default_factory is MISSING
        require(not needed or one.name in table, f"{one.name} is missing")
    return spec_from_dict(kind, table)


def _tables(table: dict[str, Any], key: str) -> Sequence[dict[str, Any]]:
    found = table.pop(key, [])
    valid = isinstance(found, list) and all(isinstance(one, dict) for one in found)
    require(valid, f"{key} must be tables, each under [[{key}]], got {found!r:.80}")
    return list(found)
