"""The experiment file: conditions, items, questions and limits of a study."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations, cycle
from pathlib import Path
from typing import Any, Literal

from trivium.benchmarks import change_task, get_benchmark, load_task
from trivium.core.dialogue import solve
from trivium.core.errors import located, require, require_known, require_range
from trivium.core.spec import read_mapping, spec_from_dict
from trivium.core.task import PresentedItem, Task
from trivium.people.adaptive import plan_of
from trivium.people.pages import TEXT, Page, Tables, page_of, read_tables
from trivium.people.texts import Texts, read_texts
from trivium.thresholds.search import ThresholdPlan

MAX_POOL = 10_000
TABLES = read_tables("trivium.people")
CHILDREN = "children."  # prefix of texts that replace others for children
SCREENS = ("consent", "questions", "instructions", "check")  # of every experiment


@dataclass(frozen=True)
class Question:
    """A question to participants, such as the age group."""

    id: str = ""
    text: str = ""
    kind: Literal["choice", "text"] = "choice"
    options: tuple[str, ...] = ()
    optional: bool = False
    # before the instructions, after half of the items, or after the last one
    at: Literal["start", "middle", "end"] = "start"
    right: str = ""  # the right option, which makes the question an attention check
    cap: int = 0  # the most participants with the same answer in a condition; 0: no limit

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
        require(
            not self.right or self.right in self.options,
            f"right of {self.id!r} must be one of its options, got {self.right!r}",
        )
        require(
            self.cap == 0 or (self.cap > 0 and self.kind == "choice" and self.at == "start"),
            f"cap of {self.id!r} must be at least 1 and goes with a choice at the start, "
            f"got {self.cap}",
        )


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
    cap: int = 0  # the most participants; 0: no limit
    as_text: bool = False  # show the text that models read instead of a drawn page
    vary: str = ""  # a field along which each participant's threshold is found
    values: tuple[float, ...] = ()  # of that field, from easy to hard
    where: Mapping[str, Any] = field(default_factory=dict)  # only items of these groups
    factors: Mapping[str, str] = field(default_factory=dict)  # the levels in a factorial design
    fields: Mapping[str, Any] = field(default_factory=dict)  # other fields of spec and view

    def __post_init__(self) -> None:
        for key in ("name", "benchmark"):
            require(bool(getattr(self, key).strip()), f"{key} of a condition is missing")
        require(len(self.name) <= 60, f"name must be at most 60 characters, got {self.name!r}")
        require_range(self, 1, 100, "items")
        require_range(self, 0, None, "cap")
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
    def plan(self) -> ThresholdPlan | None:
        """The search for the threshold of each participant, if any."""
        return plan_of(self.task, self.vary, self.values) if self.vary else None

    @property
    def page(self) -> Page:
        """How the items are shown."""
        return TEXT if self.as_text else page_of(get_benchmark(self.benchmark))

    @cached_property
    def task(self) -> Task:
        """The benchmark with its spec and view."""
        return change_task(load_task(self.benchmark, self.preset or None), self.fields, self.name)


@dataclass(frozen=True)
class Completion:
    """Addresses to which participants return, such as those of a recruiting service."""

    done: str = ""
    failed: str = ""  # after two failed attempts at the questions about the instructions
    full: str = ""
    declined: str = ""

    def __post_init__(self) -> None:
        for name, url in vars(self).items():
            require(
                not url or re.fullmatch(r"https?://[^\s]{1,500}", url) is not None,
                f"{name} must be an address such as https://example.org/, got {url!r}",
            )


@dataclass(frozen=True)
class Pay:
    """What participants are paid."""

    done: float = 0.0
    failed: float = 0.0  # after two failed attempts at the questions about the instructions
    bonus: float = 0.0  # times the participant's mean of the measure
    currency: str = ""

    def __post_init__(self) -> None:
        require_range(self, 0, 9999, "done", "failed", "bonus")


@dataclass(frozen=True)
class Exclude:
    """How often each of these is allowed before a participant is excluded; -1: always."""

    failed_checks: int = -1  # failed attempts at the questions about the instructions
    failed_attention: int = -1  # wrong answers to attention checks
    fast_screens: int = -1  # screens that were left before their minimum time
    page_left: int = -1  # switches to another tab or window
    pastes: int = -1  # pasted texts


@dataclass(frozen=True)
class Experiment:
    """An experiment with people."""

    title: str = ""
    conditions: tuple[Condition, ...] = ()
    questions: tuple[Question, ...] = ()
    # a shipped language, or a file of texts, whose location makes no difference to a study
    language: str = field(default="en", compare=False)
    # children: larger, with pictures, read aloud, with sound, and a last screen for the next child
    audience: Literal["adults", "children"] = "adults"
    audio: str = ""  # children: a folder of recordings, as `trivium serve sentences` names them
    seed: int = 0  # of the items
    pool: int = 24  # items 0 .. pool - 1 are used, repeatedly where there are more participants
    # fields of items whose values occur equally often in a condition, most important first
    balance: tuple[str, ...] = ()
    consent: str = ""  # instead of the shipped text
    debriefing: str = ""
    completion_code: str = ""  # of the study, shown in addition to the participant's own
    completion: Completion = Completion()
    pay: Pay = Pay()
    measure: str = ""  # the metric that is analysed; by default the first
    practice: bool = True
    check: bool = True  # questions about the instructions, with a second chance
    after_failed_check: Literal["end", "continue"] = "end"
    minimum_seconds: Mapping[str, Any] = field(default_factory=dict)  # of screens, by their names
    exclude: Exclude = Exclude()
    # who may take part: anyone, those with a name in their link, or with a name that is signed
    links: Literal["open", "named", "signed"] = "open"
    tap_guard: int = 400  # milliseconds for which a new screen ignores taps; children: twice that
    dropout_minutes: int = 60  # after this time without a step, a place is free again
    requests_per_second: int = 200  # from one address; a class may share one

    def __post_init__(self) -> None:
        require(bool(self.title.strip()), "title is missing")
        require(bool(self.conditions), "conditions must hold at least one condition, got none")
        names = [condition.name for condition in self.conditions]
        require(len(set(names)) == len(names), f"names of conditions must differ, got {names}")
        ids = [question.id for question in self.questions]
        require(len(set(ids)) == len(ids), f"ids of questions must differ, got {ids}")
        require_range(self, 1, MAX_POOL, "pool")
        require_range(self, 0, None, "tap_guard")
        require_range(self, 1, None, "dropout_minutes", "requests_per_second")
        for condition in self.conditions:
            self._check_condition(condition)
        factors = {tuple(condition.factors) for condition in self.conditions}
        require(len(factors) == 1, "factors must be the same in all conditions")
        self.tables  # noqa: B018 - refuses two columns with the same name
        screens = {*SCREENS, *(name for page in self.pages for name in page.screens)}
        for name, seconds in self.minimum_seconds.items():
            require_known(name, screens, f"screen {name!r}", "minimum_seconds")
            require(type(seconds) in (int, float), f"minimum_seconds of {name} must be a number")
        self.texts  # noqa: B018 - refuses an incomplete translation
        require(
            not self.audio or self.audience == "children",
            f"audio goes with audience 'children', got {self.audio!r}",
        )

    def _check_condition(self, condition: Condition) -> None:
        partners = [
            other.name
            for other in self.conditions
            if other.arm == "active" and other.page.watchable and not other.vary
        ]
        require(
            not condition.yoked_to or condition.yoked_to in partners,
            f"yoked_to must name an active condition without vary, one of {', '.join(partners)}; "
            f"got {condition.yoked_to!r}",
        )
        # This refuses a `where` or a `balance` that the items do not have.
        groups = self.items(condition, 0)[0].groups
        benchmark = condition.benchmark
        for question in self.questions:
            taken = f"{question.id!r} is the name of a group of {benchmark}, not of a question"
            require(question.id not in groups, taken)
        require(
            condition.plan is None or not condition.where,
            f"{condition.name}: where does not go with vary",
        )
        most = len(self.indexes(condition))
        require(
            condition.plan is not None or condition.items <= most,
            f"{condition.name}: items is {condition.items}, but the pool has {most} for a "
            "participant; raise pool",
        )
        metrics = [metric.name for metric in condition.task.benchmark.metrics]
        require(
            not self.measure or self.measure in metrics,
            f"measure must be one of {', '.join(metrics)}, got {self.measure!r}",
        )

    @cached_property
    def texts(self) -> Texts:
        """The texts of the language; for children, with those that have a version for children."""
        texts = dict(read_texts(self.language))
        if self.audience == "children":
            versions = {key: text for key, text in texts.items() if key.startswith(CHILDREN)}
            texts |= {key.removeprefix(CHILDREN): text for key, text in versions.items()}
        return texts

    def measure_of(self, condition: Condition) -> str:
        """The name of the metric that is analysed."""
        return self.measure or condition.task.benchmark.metrics[0].name

    @property
    def factors(self) -> list[str]:
        """The names of the factors of the design."""
        return list(self.conditions[0].factors)

    @cached_property
    def tables(self) -> Tables:
        """The tables of the export, with columns for pages, metrics, factors and questions."""
        tables = {name: dict(columns) for name, columns in TABLES.items()}
        for condition in self.conditions:
            benchmark = condition.task.benchmark
            tables["trials.csv"] |= {one.name: ("number", one.about) for one in benchmark.metrics}
            for name, columns in page_of(benchmark).tables.items():
                tables[name] = tables.get(name, {}) | dict(columns)
        custom = dict.fromkeys(self.factors, ("text", "the level of this factor"))
        for question in self.questions:
            require(question.id not in custom, f"{question.id!r} is a question and a factor")
            custom[question.id] = ("text", f"the answer to: {question.text}")
        for name in ("participants.csv", "trials.csv"):
            clash = ", ".join(sorted(custom.keys() & tables[name].keys()))
            require(
                not clash, f"questions and factors must not be named like a column of data: {clash}"
            )
            tables[name] |= custom
        return tables

    def asked(self, at: str) -> list[Question]:
        """The questions at the start, in the middle or at the end."""
        return [question for question in self.questions if question.at == at]

    @property
    def pages(self) -> list[Page]:
        """The pages of all conditions."""
        return list(dict.fromkeys(condition.page for condition in self.conditions))

    def condition(self, name: str) -> Condition:
        """The condition of this name."""
        return next(one for one in self.conditions if one.name == name)

    def source(self, condition: Condition) -> Condition:
        """The condition whose items are used: for a yoked condition, that of its partners."""
        return self.condition(condition.yoked_to) if condition.yoked_to else condition

    def indexes(self, condition: Condition) -> tuple[int, ...]:
        """The indexes of the items in the pool that the condition uses, in the order of use."""
        source = self.source(condition)
        where = tuple(sorted(source.where.items()))
        indexes = _matching(source.task, self.seed, self.pool, where)
        wanted = ", ".join(f"{key} = {value!r}" for key, value in where)
        require(bool(indexes), f"{condition.name}: none of the {self.pool} items has {wanted}")
        return _balanced(source.task, self.seed, indexes, self.balance) if self.balance else indexes

    def items(self, condition: Condition, slot: int) -> list[PresentedItem]:
        """The items of the participant with this place in the condition."""
        source, indexes = self.source(condition), self.indexes(condition)
        places = range(slot * source.items, (slot + 1) * source.items)
        return [source.task.item(indexes[place % len(indexes)], self.seed) for place in places]

    def moves_shown(self, condition: Condition, slot: int) -> list[list[str]]:
        """A passive participant's moves to watch at each item: a solver's, without its answer."""
        solver = condition.task.benchmark.solvers[condition.shown_by]
        replies = [solve(item, solver).reply for item in self.items(condition, slot)]
        return [list(reply or ())[:-1] for reply in replies]


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


@lru_cache(maxsize=256)
def _balanced(
    task: Task, seed: int, indexes: tuple[int, ...], fields: tuple[str, ...]
) -> tuple[int, ...]:
    """The items, ordered so that the values of these fields stay counterbalanced.

    Each place gets the values that were rarest so far: of the first field, then of the second, of
    both together, of the third, and so on. The order depends on the ranks of the values alone, so
    conditions with other values, or without the last field, get matching orders.
    """
    found: dict[tuple[Any, ...], list[int]] = {}
    for index in indexes:
        row = task.benchmark.to_row(task.item(index, seed).original)
        for name in fields:
            require_known(name, row, f"field {name!r} of the items", "balance")
        found.setdefault(tuple(row[name] for name in fields), []).append(index)
    queues = {values: cycle(own) for values, own in found.items()}
    counts: Counter[tuple[Any, ...]] = Counter()

    def parts(values: tuple[Any, ...], last: int) -> list[tuple[Any, ...]]:
        """The value of one field alone, and together with those of fields before it."""
        return [
            tuple((number, values[number]) for number in (*before, last))
            for size in range(last + 1)
            for before in combinations(range(last), size)
        ]

    def frequency(values: tuple[Any, ...]) -> list[list[Any]]:
        return [
            [*(counts[part] for part in parts(values, last)), values[last]]
            for last in range(len(fields))
        ]

    order = []
    for _ in indexes:
        values = min(queues, key=frequency)
        order.append(next(queues[values]))
        counts.update(part for last in range(len(fields)) for part in parts(values, last))
    return tuple(order)


def read_experiment(path: Path, texts: Path | None = None) -> Experiment:
    """The experiment in a TOML file; `texts` is a study's copy of the file named by `language`."""
    table = read_mapping(path)
    language = table.get("language")
    if isinstance(language, str) and language.endswith(".toml"):
        table["language"] = str(texts or path.parent / language)
    with located(path):
        experiment = spec_from_dict(Experiment, table)
        missing = texts is None and not (path.parent / experiment.audio).is_dir()
        require(not missing, f"audio must be a folder, got {experiment.audio!r}")
    return experiment
