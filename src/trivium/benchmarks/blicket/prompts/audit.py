"""Can anything but the lights give the answer away? Probes on what is printed around them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from trivium.benchmarks.blicket.prompts.generate import generate
from trivium.benchmarks.blicket.prompts.item import Machine, PromptItem
from trivium.benchmarks.blicket.prompts.phrases import COLOURS, PATTERNS, SHAPES
from trivium.benchmarks.blicket.prompts.spec import PromptSpec
from trivium.core.probes import (
    Audit,
    Cue,
    Floats,
    cue_level,
    cue_of_hits,
    items_needed,
    probe_choice,
)

OBJECT_FEATURES = {
    "position": "place among the objects introduced",
    "first_mention": "the first test that names it",
    "last_mention": "the last test that names it",
    "place_in_tests": "mean place in the tests that name it",
    "mentions": "how many tests name it",
    "colour": "its colour",
    "shape": "its shape",
    "length": "the length of its name",
}
MACHINE_FEATURES = {
    "position": "whether it is told first or second",
    "pattern": "its pattern",
    "placed": "how many objects are placed in all",
    "first_test_size": "how many objects its first test places",
}
PAGE_FEATURES = {
    "voice": "the way of telling",
    "never_placed": "objects of the first two machines that are never placed",
    "most_placed": "how often the most placed object of the first two machines is placed",
    "tests": "how many tests are told",
    "first_test_size": "how many objects the new machine's first test places",
    "last_test_size": "how many objects the new machine's last test places",
}
Rows = Callable[[PromptItem], tuple[list[list[float]], int]]  # a row for each candidate, the gold


@dataclass(frozen=True)
class Question:
    """Something that the page should not tell without its lights."""

    name: str
    features: dict[str, str]
    rows: Rows
    field: str = ""  # asked only of items with this value of this field
    value: str = ""

    def asks(self, item: PromptItem) -> bool:
        """Whether the question makes sense for this item."""
        return not self.field or getattr(item, self.field) == self.value


def audit(spec: PromptSpec, seed: int, items: int | None) -> Audit:
    """Every cue with its interval, on fresh items; the lights themselves are never used."""
    forms = list(dict.fromkeys(form for _, form in spec.cells))
    questions = [
        *(Question(f"blickets@{form}", OBJECT_FEATURES, _sets, "form", form) for form in forms),
        Question("like", MACHINE_FEATURES, _machines, "hypotheses", "given"),
    ]
    for field, first in (("hypotheses", "given"), ("form", "disjunctive")):
        if getattr(spec, field) == "both":
            questions.append(Question(field, PAGE_FEATURES, _halves(field, first)))
    tried = sum(len(question.features) + 1 for question in questions)
    level = cue_level(tried)
    # Each question can be asked on half of the cells at least.
    cells = len(spec.cells)
    count = items_needed(0.5, tried) * max(1, cells // 2) if items is None else items
    fresh = list(generate(spec, seed, 0, count))
    silent: list[str] = []
    cues: list[Cue] = []
    for question in questions:
        chosen = [item for item in fresh if question.asks(item)]
        if chosen:
            cues += _probe(question, chosen, level, silent)
    notes = (f"equal for all candidates of every item: {', '.join(silent)}",) if silent else ()
    return Audit(tuple(cues), count, level, notes)


def _probe(
    question: Question, items: Sequence[PromptItem], level: float, silent: list[str]
) -> list[Cue]:
    """Each feature alone and all together, as rules that pick the right candidate."""
    told = [question.rows(item) for item in items]
    features: Floats = np.array([candidates for candidates, _ in told], dtype=np.float64)
    gold = np.array([place for _, place in told])
    floor = 1 / features.shape[1]
    if question.features is PAGE_FEATURES:
        # A feature of the whole page is a lean to one side, so its middle must be at nought.
        features = features - features.mean(axis=0)
    cues = []
    for number, (name, about) in enumerate(question.features.items()):
        column = features[:, :, number : number + 1]
        if np.ptp(column, axis=1).max() < 1e-12:
            silent.append(f"{question.name}:{name}")
            continue
        hits = probe_choice(column, gold)
        cues.append(cue_of_hits(f"{question.name}:{name}", about, list(hits), floor, level))
    hits = probe_choice(features, gold)
    about = "all of these together"
    return [*cues, cue_of_hits(f"{question.name}:all", about, list(hits), floor, level)]


def _sets(item: PromptItem) -> tuple[list[list[float]], int]:
    """The candidates are all sets of as many new objects as there are blickets."""
    own = {name: _object_features(item.new, name) for name in item.new.objects}
    size = len(item.answer.blickets)
    sets = list(itertools.combinations(sorted(item.new.objects), size))
    rows = [
        [sum(parts) for parts in zip(*(own[name] for name in each), strict=True)] for each in sets
    ]
    return rows, sets.index(item.answer.blickets)


def _object_features(machine: Machine, name: str) -> list[float]:
    tests = [
        (number, placed.index(name))
        for number, (placed, _) in enumerate(machine.tests)
        if name in placed
    ]
    colour, _, shape = name.partition(" ")
    return [
        machine.objects.index(name),
        tests[0][0],
        tests[-1][0],
        sum(place for _, place in tests) / len(tests),
        len(tests),
        COLOURS.index(colour),
        SHAPES.index(shape),
        len(name),
    ]


def _machines(item: PromptItem) -> tuple[list[list[float]], int]:
    """The candidates are the two machines that the new one may be like."""
    rows = [
        [
            float(place),
            float(PATTERNS.index(machine.pattern)),
            float(sum(len(placed) for placed, _ in machine.tests)),
            float(len(machine.tests[0][0])),
        ]
        for place, machine in enumerate(item.machines[:-1])
    ]
    return rows, item.known.index(str(item.answer.like))


def _halves(field: str, first: str) -> Rows:
    """The candidates are the two halves of the design; a feature leans to one of them."""

    def rows(item: PromptItem) -> tuple[list[list[float]], int]:
        page = _page_features(item)
        return [page, [-value for value in page]], int(getattr(item, field) != first)

    return rows


def _page_features(item: PromptItem) -> list[float]:
    placed = [
        sum(name in on for on, _ in machine.tests)
        for machine in item.machines[:-1]
        for name in machine.objects
    ]
    return [
        float(item.voice),
        float(placed.count(0)),
        float(max(placed)),
        float(sum(len(machine.tests) for machine in item.machines)),
        float(len(item.new.tests[0][0])),
        float(len(item.new.tests[-1][0])),
    ]
