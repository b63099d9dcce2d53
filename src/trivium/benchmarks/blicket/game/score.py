"""Scores of an answer and of the tests before it, and kinds of errors."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from trivium.benchmarks.blicket.game.generate import GameAnswer, GameItem, Tests, gold
from trivium.benchmarks.blicket.game.spec import UNSURE, GameSpec
from trivium.benchmarks.blicket.inference import observer
from trivium.benchmarks.blicket.inference.hypotheses import Hypothesis, fires, mask_of
from trivium.core.benchmark import Metric
from trivium.core.errors import UserError
from trivium.core.records import NO_ANSWER, Groups, Scores

METRICS = (
    Metric("correct", "every object and the form are right"),
    Metric("objects", "share of objects that are classified right", "mean"),
    Metric("form", "the form is right"),
    Metric("form_equivalent", "the form is right, or no test can tell the machine from it"),
    Metric("tests", "tests made", "mean", 0.0, 100.0),
    Metric("certain", "the tests determined the machine"),
    Metric("tests_to_certainty", "tests until that, where it happened", "mean", 0.0, 100.0),
    Metric("bits", "bits of information from the tests", "mean", 13.0, 0.0),
    Metric("best_share", "share of the best available gain, mean over tests", "mean"),
    Metric("redundant", "tests that could not reveal anything", "mean", 0.0, 100.0),
    # How a player explored, as shares of the tests; none of them is better than another.
    Metric("singles", "share of tests of one object, new ones", "mean"),
    Metric("combinations", "share of tests of several objects, new ones", "mean"),
    Metric("repeats", "share of tests that were made before", "mean"),
)
KINDS = {
    "too-early": "the tests allowed this answer and others",
    "against-its-own-tests": "the tests had ruled this answer out",
    "no-such-machine": "the opening describes no such machine",
    "unsure": "unsure, although the tests could have decided it",
    "wrong": "not the blickets of this machine",
}


def exploration_kinds(tests: Tests) -> list[str]:
    """The kind of each test: empty, single, combination or repeat."""
    kinds, before = [], set()
    for placed, _ in tests:
        size = {0: "empty", 1: "single"}.get(len(placed), "combination")
        kinds.append("repeat" if placed in before else size)
        before.add(placed)
    return kinds


@lru_cache(maxsize=4096)
def belief_after(spec: GameSpec, tests: Tests) -> observer.Belief:
    """The ideal observer's belief after these tests."""
    return observer.posterior(spec.space, _trials(tests))


@lru_cache(maxsize=4096)
def trajectory(spec: GameSpec, tests: Tests) -> observer.Trajectory:
    """The measures of these tests."""
    return observer.measure(spec.space, _trials(tests))


def _trials(tests: Tests) -> list[observer.Trial]:
    return [(mask_of(placed), light) for placed, light in tests]


def score(item: GameItem, answer: GameAnswer | None) -> Scores:
    """The value of every metric; a game without an answer is wrong about every object."""
    if answer is None:
        return {"correct": 0.0, "objects": 0.0, "form": 0.0, "form_equivalent": 0.0}
    path = trajectory(item.spec, answer.tests)
    certain, true = path.tests_to_certainty, gold(item)
    kinds = exploration_kinds(answer.tests)
    objects_right = [
        letter not in answer.unsure
        and (letter in answer.blickets) == (letter in true.blickets)
        and (letter in answer.inhibitors) == (letter in true.inhibitors)
        for letter in item.objects
    ]
    return {
        "correct": float(is_right(item, answer)),
        "objects": sum(objects_right) / len(item.objects),
        "form": float(answer.form == true.form),
        "form_equivalent": float(answer.form == true.form or _is_equivalent(item, answer)),
        "tests": float(len(answer.tests)),
        "certain": float(certain is not None),
        "tests_to_certainty": None if certain is None else float(certain),
        "bits": path.bits,
        "best_share": path.share,
        "redundant": float(path.redundant),
        **{
            f"{kind}s": kinds.count(kind) / len(kinds) if kinds else None
            for kind in ("single", "combination", "repeat")
        },
    }


def named_machine(item: GameItem, answer: GameAnswer) -> Hypothesis | None:
    """The machine that an answer describes; None if no such machine is possible."""
    rule = item.examples.get(answer.form, answer.form)
    form, _, number = rule.partition("-")
    try:
        blickets, inhibitors = mask_of(answer.blickets), mask_of(answer.inhibitors)
        return Hypothesis(form, blickets, int(number or 0), inhibitors, item.spec.noise)
    except UserError:
        return None


def is_right(item: GameItem, answer: GameAnswer) -> bool:
    """Whether the answer names the machine, or one that no test distinguishes from it."""
    if answer.unsure:
        return False
    if item.spec.demonstrations == "not_given":  # no test shows which example it is like
        return (answer.blickets, answer.form) == (gold(item).blickets, UNSURE)
    named, space = named_machine(item, answer), item.space
    if named is None or named not in space.hypotheses:
        return False
    return bool(space.equivalents(item.machine)[space.hypotheses.index(named)])


def _is_equivalent(item: GameItem, answer: GameAnswer) -> bool:
    """Whether the named machine, even outside the space, behaves like the true one."""
    named, placed = named_machine(item, answer), np.arange(1 << item.spec.objects)
    return named is not None and bool((fires(named, placed) == fires(item.machine, placed)).all())


def kind(item: GameItem, answer: GameAnswer | None) -> str:
    """The kind of answer; the part after a colon says what is wrong."""
    if answer is None:
        return NO_ANSWER
    if is_right(item, answer):
        return "right"
    true = gold(item)
    wrong_objects = (answer.blickets, answer.inhibitors) != (true.blickets, true.inhibitors)
    wrong = ["objects"] * wrong_objects + ["form"] * (answer.form != true.form)
    what = "-and-".join(wrong)
    if answer.unsure or (answer.form == UNSURE and true.form != UNSURE):
        return f"unsure:{what}"
    named, space = named_machine(item, answer), item.space
    if item.spec.demonstrations == "not_given":
        return f"wrong:{what}"
    if named is None or named not in space.hypotheses:
        return f"no-such-machine:{what}"
    belief = belief_after(item.spec, answer.tests)
    against = belief[space.hypotheses.index(named)] <= observer.TINY
    return f"{'against-its-own-tests' if against else 'too-early'}:{what}"


def groups(item: GameItem) -> Groups:
    """The groups of results: the true form, and the numbers of objects, tests and machines."""
    shown = {} if item.spec.demonstrations == "none" else {"shown": item.spec.demonstrations}
    return {
        "form": item.machine.rule,
        "N": item.spec.objects,
        "tests": item.spec.tests,
        "machines": len(item.space),
        **shown,
    }
