"""Can anything but the lights give the answer away? Probes on everything else in a prompt."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from trivium.benchmarks.blicket.prompts.evidence import Machine
from trivium.benchmarks.blicket.prompts.generate import PromptItem, generate
from trivium.benchmarks.blicket.prompts.phrases import COLOURS, PATTERNS, SHAPES
from trivium.benchmarks.blicket.prompts.spec import PromptSpec
from trivium.core.benchmark import Audit, Cue
from trivium.core.errors import require
from trivium.core.probes import cue_level, cue_of_hits, items_needed, probe_choice

OBJECT_FEATURES = {
    "position": "position among the objects introduced",
    "first_mention": "the first test that names it",
    "last_mention": "the last test that names it",
    "place_in_tests": "mean position in the tests that name it",
    "mentions": "how many tests name it",
    "colour": "its colour",
    "shape": "its shape",
    "length": "the length of its name",
}
MACHINE_FEATURES = {
    "position": "whether it comes first or second",
    "pattern": "its pattern",
    "placed": "how many objects are placed in total",
    "first_test_size": "how many objects its first test places",
}
PAGE_FEATURES = {
    "voice": "the way the story is told",
    "never_placed": "objects of the first two machines that are never placed",
    "most_placed": "how often the most placed object of the first two machines is placed",
    "tests": "how many tests there are",
    "first_test_size": "how many objects the new machine's first test places",
    "last_test_size": "how many objects the new machine's last test places",
}
Rows = Sequence[Sequence[float]]  # features of each candidate


@dataclass(frozen=True)
class Question:
    """Something that a prompt should not reveal without its lights."""

    name: str
    features: dict[str, str]
    candidates: Callable[[PromptItem], tuple[Rows, int]]  # and which of them is right
    asked: Callable[[PromptItem], bool] = lambda item: True  # whether it makes sense


def audit(spec: PromptSpec, seed: int, items: int | None = None) -> Audit:
    """Every cue with its interval, on fresh items; the lights themselves are never used."""
    require(spec.stimuli == "generated", "the paper's four prompts are too few for an audit")
    questions = _questions(spec)
    tried = sum(len(question.features) + 1 for question in questions)
    level = cue_level(tried)
    # Every question can be asked in at least half of the cells.
    needed = items_needed(0.5, tried) * max(1, len(spec.cells) // 2)
    count = needed if items is None else items
    fresh = list(generate(spec, seed, 0, count))
    equal: list[str] = []  # features that never differ between candidates
    cues: list[Cue] = []
    for question in questions:
        chosen = [item for item in fresh if question.asked(item)]
        cues += _probe(question, chosen, level, equal) if chosen else []
    notes = (f"equal for all candidates of every item: {', '.join(equal)}",) if equal else ()
    return Audit(tuple(cues), count, level, notes)


def _questions(spec: PromptSpec) -> list[Question]:
    """Which objects are blickets, which machine is alike, and which cell of the design it is."""

    def in_cell(field: str, value: str) -> Callable[[PromptItem], bool]:
        return lambda item: bool(getattr(item, field) == value)

    forms = dict.fromkeys(form for _, form in spec.cells)
    questions = [
        Question(f"blickets@{form}", OBJECT_FEATURES, _sets, in_cell("form", form))
        for form in forms
    ]
    given = in_cell("hypotheses", "given")
    questions.append(Question("like", MACHINE_FEATURES, _machines, given))
    for field, first in (("hypotheses", "given"), ("form", "disjunctive")):
        if getattr(spec, field) == "both":
            questions.append(Question(field, PAGE_FEATURES, _halves(in_cell(field, first))))
    return questions


def _probe(
    question: Question, items: Sequence[PromptItem], level: float, equal: list[str]
) -> list[Cue]:
    """Each feature alone and all together, as rules that pick the right candidate."""
    rows, right = zip(*map(question.candidates, items), strict=True)
    features, gold = np.array(rows, dtype=np.float64), np.array(right)
    floor = 1 / features.shape[1]
    if question.features is PAGE_FEATURES:
        # The two candidates have opposite features, so the mean must be zero.
        features = features - features.mean(axis=0)
    columns = {}
    for number, (name, about) in enumerate(question.features.items()):
        column = features[:, :, number : number + 1]
        if np.ptp(column, axis=1).max() < 1e-12:
            equal.append(f"{question.name}:{name}")
        else:
            columns[name, about] = column
    columns["all", "all of these together"] = features
    return [
        cue_of_hits(f"{question.name}:{name}", about, list(probe_choice(each, gold)), floor, level)
        for (name, about), each in columns.items()
    ]


def _sets(item: PromptItem) -> tuple[Rows, int]:
    """The candidates are all sets of as many new objects as there are blickets."""
    own = {name: _object_features(item.new, name) for name in item.new.objects}
    size = len(item.answer.blickets)
    sets = list(itertools.combinations(sorted(item.new.objects), size))
    rows = [list(map(sum, zip(*(own[name] for name in each), strict=True))) for each in sets]
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
        sum(position for _, position in tests) / len(tests),
        len(tests),
        COLOURS.index(colour),
        SHAPES.index(shape),
        len(name),
    ]


def _machines(item: PromptItem) -> tuple[Rows, int]:
    """The candidates are the two machines that the new one may be like."""
    rows = [
        [
            number,
            PATTERNS.index(machine.pattern),
            sum(len(placed) for placed, _ in machine.tests),
            len(machine.tests[0][0]),
        ]
        for number, machine in enumerate(item.machines[:-1])
    ]
    return rows, item.known.index(str(item.answer.like))


def _halves(in_first: Callable[[PromptItem], bool]) -> Callable[[PromptItem], tuple[Rows, int]]:
    """The candidates are the two halves of the design, with opposite features of the page."""

    def candidates(item: PromptItem) -> tuple[Rows, int]:
        page = _page_features(item)
        return [page, [-value for value in page]], int(not in_first(item))

    return candidates


def _page_features(item: PromptItem) -> list[float]:
    placed = [
        sum(name in on for on, _ in machine.tests)
        for machine in item.machines[:-1]
        for name in machine.objects
    ]
    return [
        item.voice,
        placed.count(0),
        max(placed),
        sum(len(machine.tests) for machine in item.machines),
        len(item.new.tests[0][0]),
        len(item.new.tests[-1][0]),
    ]
