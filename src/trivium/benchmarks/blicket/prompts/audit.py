"""Can anything but the lights give the answer away? Probes on everything else in a prompt."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from trivium.benchmarks.blicket.prompts.evidence import Machine
from trivium.benchmarks.blicket.prompts.generate import PromptItem, generate
from trivium.benchmarks.blicket.prompts.phrases import COLOURS, PATTERNS, SHAPES
from trivium.benchmarks.blicket.prompts.spec import PromptSpec
from trivium.core.errors import require
from trivium.core.probes import Audit, Cue, cue_level, cue_of_hits, items_needed, probe_choice

Features = dict[str, tuple[str, Callable[..., float]]]  # by name: about, and the function


def _mentions(machine: Machine, name: str) -> list[tuple[int, int]]:
    """The tests that name an object, and its position in each."""
    tests = enumerate(machine.tests)
    return [(number, placed.index(name)) for number, (placed, _) in tests if name in placed]


def _times_placed(item: PromptItem) -> list[int]:
    """How often each object of the first two machines is placed."""
    return [len(_mentions(each, name)) for each in item.machines[:-1] for name in each.objects]


OF_OBJECT: Features = {  # of a machine and an object's name
    "position": ("position among the objects introduced", lambda m, name: m.objects.index(name)),
    "first_mention": ("the first test that names it", lambda m, name: _mentions(m, name)[0][0]),
    "last_mention": ("the last test that names it", lambda m, name: _mentions(m, name)[-1][0]),
    "place_in_tests": (
        "mean position in the tests that name it",
        lambda m, name: fmean(position for _, position in _mentions(m, name)),
    ),
    "mentions": ("how many tests name it", lambda m, name: len(_mentions(m, name))),
    "colour": ("its colour", lambda m, name: COLOURS.index(name.split()[0])),
    "shape": ("its shape", lambda m, name: SHAPES.index(name.split()[1])),
    "length": ("the length of its name", lambda m, name: len(name)),
}
OF_MACHINE: Features = {  # of a machine and its number
    "position": ("whether it comes first or second", lambda m, number: number),
    "pattern": ("its pattern", lambda m, number: PATTERNS.index(m.pattern)),
    "placed": (
        "how many objects are placed in total",
        lambda m, _: sum(len(t[0]) for t in m.tests),
    ),
    "first_test_size": ("how many objects its first test places", lambda m, _: len(m.tests[0][0])),
}
OF_PAGE: Features = {  # of an item
    "voice": ("the way the story is told", lambda item: item.voice),
    "never_placed": (
        "objects of the first two machines that are never placed",
        lambda item: _times_placed(item).count(0),
    ),
    "most_placed": (
        "how often the most placed object of the first two machines is placed",
        lambda item: max(_times_placed(item)),
    ),
    "tests": ("how many tests there are", lambda item: sum(len(m.tests) for m in item.machines)),
    "first_test_size": (
        "how many objects the new machine's first test places",
        lambda item: len(item.new.tests[0][0]),
    ),
    "last_test_size": (
        "how many objects the new machine's last test places",
        lambda item: len(item.new.tests[-1][0]),
    ),
}


def _values(features: Features, *of: Any) -> list[float]:
    return [function(*of) for _, function in features.values()]


@dataclass(frozen=True)
class Question:
    """Something that a prompt should not reveal without its lights."""

    name: str
    features: Features
    # the features of each candidate, and which of them is right
    candidates: Callable[[PromptItem], tuple[list[list[float]], int]]
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

    questions = [
        Question(f"blickets@{form}", OF_OBJECT, _sets, in_cell("form", form))
        for form in dict.fromkeys(form for _, form in spec.cells)
    ]
    questions.append(Question("like", OF_MACHINE, _machines, in_cell("hypotheses", "given")))
    for field, first in (("hypotheses", "given"), ("form", "disjunctive")):
        if getattr(spec, field) == "both":
            questions.append(Question(field, OF_PAGE, _halves(in_cell(field, first))))
    return questions


def _sets(item: PromptItem) -> tuple[list[list[float]], int]:
    """The candidates are all sets of as many new objects as there are blickets."""
    own = {name: _values(OF_OBJECT, item.new, name) for name in item.new.objects}
    sets = list(itertools.combinations(sorted(own), len(item.answer.blickets)))
    columns = [zip(*(own[name] for name in each), strict=True) for each in sets]
    rows = [[sum(values) for values in each] for each in columns]
    return rows, sets.index(item.answer.blickets)


def _machines(item: PromptItem) -> tuple[list[list[float]], int]:
    """The candidates are the two machines that the new one may be like."""
    rows = [_values(OF_MACHINE, each, number) for number, each in enumerate(item.machines[:-1])]
    return rows, item.known.index(str(item.answer.like))


def _halves(
    in_first: Callable[[PromptItem], bool],
) -> Callable[[PromptItem], tuple[list[list[float]], int]]:
    """The candidates are the two halves of the design, with opposite features of the page."""

    def candidates(item: PromptItem) -> tuple[list[list[float]], int]:
        page = _values(OF_PAGE, item)
        return [page, [-value for value in page]], int(not in_first(item))

    return candidates


def _probe(
    question: Question, items: Sequence[PromptItem], level: float, equal: list[str]
) -> list[Cue]:
    """Each feature alone and all together, as rules that pick the right candidate."""
    rows, right = zip(*map(question.candidates, items), strict=True)
    features, gold = np.array(rows, dtype=np.float64), np.array(right)
    if question.features is OF_PAGE:
        # The two candidates have opposite features, so the mean must be zero.
        features = features - features.mean(axis=0)
    columns = {}
    for number, (name, (about, _)) in enumerate(question.features.items()):
        column = features[:, :, number : number + 1]
        if np.ptp(column, axis=1).max() < 1e-12:
            equal.append(f"{question.name}:{name}")
        else:
            columns[f"{question.name}:{name}", about] = column
    columns[f"{question.name}:all", "all of these together"] = features
    floor = 1 / features.shape[1]
    return [
        cue_of_hits(name, about, list(probe_choice(each, gold)), floor, level)
        for (name, about), each in columns.items()
    ]
