"""How right an answer is, and how well the tests before it were chosen."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from trivium.benchmarks.blicket.game.item import GameAnswer, GameItem, game_space, gold
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.benchmarks.blicket.inference.hypotheses import Hypothesis, fires, mask_of
from trivium.benchmarks.blicket.inference.observer import (
    TINY,
    Trajectory,
    Trial,
    measure,
    posterior,
)
from trivium.core.benchmark import Metric
from trivium.core.errors import UserError
from trivium.core.records import Groups, Scores

METRICS = (
    Metric("correct", "every object and the form are right"),
    Metric("objects", "share of objects that are rightly told apart", "mean"),
    Metric("form", "the form is right"),
    Metric("form_equivalent", "the form is right, or names a machine that no test tells from it"),
    Metric("tests", "tests made", "mean", 0.0, 100.0),
    Metric("certain", "the tests told the machine for certain"),
    Metric(
        "tests_to_certainty", "tests until it was certain, where it ever was", "mean", 0.0, 100.0
    ),
    Metric("bits", "bits that the tests told", "mean", 13.0, 0.0),
    Metric("best_share", "share of the best available gain, mean over tests", "mean"),
    Metric("redundant", "tests that could not tell anything", "mean", 0.0, 100.0),
)


def trials_of(tests: tuple[tuple[str, bool], ...]) -> list[Trial]:
    """Tests as sets of objects by number."""
    return [(mask_of(placed), light) for placed, light in tests]


@lru_cache(maxsize=4096)
def trajectory(spec: GameSpec, tests: tuple[tuple[str, bool], ...]) -> Trajectory:
    """The measures of these tests."""
    return measure(game_space(spec), trials_of(tests))


def score(item: GameItem, answer: GameAnswer | None) -> Scores:
    """Every metric of an attempt; a game without an answer is wrong in every object."""
    if answer is None:
        return {"correct": 0.0, "objects": 0.0, "form": 0.0, "form_equivalent": 0.0}
    path = trajectory(item.spec, answer.tests)
    certain = path.tests_to_certainty
    return {
        "correct": float(is_right(item, answer)),
        "objects": _told_apart(item, answer),
        "form": float(answer.form == gold(item).form),
        "form_equivalent": float(answer.form == gold(item).form or _is_alike(item, answer)),
        "tests": float(len(answer.tests)),
        "certain": float(certain is not None),
        "tests_to_certainty": None if certain is None else float(certain),
        "bits": path.bits,
        "best_share": path.share,
        "redundant": float(path.redundant),
    }


def is_right(item: GameItem, answer: GameAnswer) -> bool:
    """Whether the machine is named, or one of the space that no test could tell from it."""
    space = item.space
    said = named_machine(item, answer)
    if said is None or said not in space.hypotheses:
        return False
    true = space.hypotheses.index(replace(item.machine, noise=item.spec.noise))
    return bool(space.extensions[space.hypotheses.index(said)] == space.extensions[true])


def _is_alike(item: GameItem, answer: GameAnswer) -> bool:
    """Whether the machine that is named lights up where the true one does, offered or not."""
    said = named_machine(item, answer)
    if said is None:
        return False
    placed = np.arange(1 << item.spec.objects)
    return bool((fires(said, placed) == fires(item.machine, placed)).all())


def named_machine(item: GameItem, answer: GameAnswer) -> Hypothesis | None:
    """The machine that an answer describes, noise included; None where there can be none such."""
    form, _, number = answer.form.partition("-")
    try:
        return Hypothesis(
            form,
            mask_of(answer.blickets),
            int(number or 0),
            mask_of(answer.inhibitors),
            item.spec.noise,
        )
    except UserError:
        return None


def _told_apart(item: GameItem, answer: GameAnswer) -> float:
    true = gold(item)
    right = sum(
        (letter in answer.blickets) == (letter in true.blickets)
        and (letter in answer.inhibitors) == (letter in true.inhibitors)
        for letter in item.objects
    )
    return right / len(item.objects)


def kind(item: GameItem, answer: GameAnswer | None) -> str:
    """What kind of answer this is; what follows a colon says what is wrong with it."""
    if answer is None:
        return "violation"
    if is_right(item, answer):
        return "right"
    true = gold(item)
    wrong_form = answer.form != true.form
    wrong_objects = (answer.blickets, answer.inhibitors) != (true.blickets, true.inhibitors)
    what = (
        "objects-and-form" if wrong_form and wrong_objects else "form" if wrong_form else "objects"
    )
    said = named_machine(item, answer)
    space = item.space
    if said is None or said not in space.hypotheses:
        return f"no-such-machine:{what}"
    belief = posterior(space, trials_of(answer.tests))
    if belief[space.hypotheses.index(said)] <= TINY:
        return f"against-its-own-tests:{what}"
    return f"too-early:{what}"


def chance(item: GameItem) -> float:
    """Naming one of the possible machines blindly, without a test."""
    space = item.space
    true = space.hypotheses.index(replace(item.machine, noise=item.spec.noise))
    return float((space.extensions == space.extensions[true]).mean())


def groups(item: GameItem) -> Groups:
    """What results are grouped by: the true form, the number of objects and of tests."""
    return {
        "form": item.machine.rule,
        "N": item.spec.objects,
        "tests": item.spec.tests,
        "machines": len(item.space),
    }
