"""The experiment file: conditions, items, questions and limits of a study."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

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


@dataclass(frozen=True)
class Question:
    """A question before the experiment, such as the age group."""

    id: str = ""
    text: str = ""
    kind: Literal["choice", "text"] = "choice"
    options: tuple[str, ...] = ()
    optional: bool = False

    def __post_init__(self) -> None:
        require(
            re.fullmatch(r"[a-z][a-z0-9_]{0,30}", self.id) is not None,
            f"id must be lower-case letters, digits and _, got {self.id!r}",
        )
        require(bool(self.text.strip()), f"text of {self.id!r} is missing")
        count = len(self.options)
        if self.kind == "choice":
            require(count >= 2, f"options of {self.id!r} must be at least two, got {count}")
        else:
            require(count == 0, f"options of {self.id!r} go with kind 'choice'")


@dataclass(frozen=True)
class Condition:
    """A condition of the experiment, with its items."""

    name: str = ""
    benchmark: str = ""
    preset: str = ""
    arm: Literal["active", "passive", "yoked"] = "active"
    shown_by: str = "information_gain"  # passive: the solver whose tests are shown
    yoked_to: str = ""  # yoked: the condition whose participants' tests are shown
    items: int = 1  # per participant
    cap: int = 0  # the maximum of completed participants; 0 is no limit
    as_text: bool = False  # show the text that models read instead of a drawn page
    vary: str = ""  # a field along which each participant's threshold is found
    values: tuple[float, ...] = ()  # of that field, from easy to hard
    where: Mapping[str, Any] = field(default_factory=dict)  # only items of these groups
    fields: Mapping[str, Any] = field(default_factory=dict)  # other fields of spec and view

    def __post_init__(self) -> None:
        for key in ("name", "benchmark"):
            require(bool(getattr(self, key).strip()), f"{key} of a condition is missing")
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
        """The field along which thresholds are found, if any."""
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
    """An experiment with people."""

    title: str = ""
    conditions: tuple[Condition, ...] = ()
    questions: tuple[Question, ...] = ()
    language: str = "en"  # a shipped language, or a file of texts
    seed: int = 0  # of the items
    pool: int = 24  # items 0 .. pool - 1 are used, repeatedly where there are more participants
    consent: str = ""  # instead of the shipped text
    debriefing: str = ""
    completion_code: str = ""  # of the study, shown in addition to the participant's own
    practice: bool = True
    check: bool = True  # questions about the instructions, with a second chance
    after_failed_check: Literal["end", "continue"] = "end"
    attempts: int = 1  # times that one participant may take part
    dropout_minutes: int = 60  # after this time without a step, a place is free again
    requests_per_second: int = 200  # from one address; a class may share one

    def __post_init__(self) -> None:
        require(bool(self.title.strip()), "title is missing")
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
            self.indexes(one)  # refuses a `where` that no item matches
            require(one.axis is None or not one.where, f"{one.name}: where does not go with vary")
        read_texts(self.language)  # refuses an incomplete translation

    @cached_property
    def texts(self) -> Texts:
        """What participants read."""
        return read_texts(self.language)

    @property
    def pages(self) -> list[Page]:
        """The pages of all conditions."""
        return list(dict.fromkeys(one.page for one in self.conditions))

    def condition(self, name: str) -> Condition:
        """The condition of this name."""
        return next(one for one in self.conditions if one.name == name)

    def source(self, condition: Condition) -> Condition:
        """The condition whose items are used: for a yoked condition, that of its partners."""
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
        """The items of the participant with this place in the condition."""
        source, found = self.source(condition), self.indexes(condition)
        places = range(slot * source.items, (slot + 1) * source.items)
        return [source.task.item(found[place % len(found)], self.seed) for place in places]

    def moves_shown(self, condition: Condition, slot: int) -> list[list[str]]:
        """The moves that a passive participant sees: a solver's replies without its answers."""
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
    """The experiment in a TOML file."""
    table = read_mapping(path)
    language = table.get("language")
    if isinstance(language, str) and language.endswith(".toml"):
        table["language"] = str(path.parent / language)
    try:
        return spec_from_dict(Experiment, table)
    except UserError as problem:
        raise UserError(f"{path}: {problem}") from None
