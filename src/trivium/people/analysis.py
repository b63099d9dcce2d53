"""The planned analysis of an experiment: exclusions, cells, and effects of a factorial design."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from trivium.core.statistics import Estimate, mean_interval, proportion, two_sided_t, two_sided_z
from trivium.people.experiment import Condition, Experiment
from trivium.people.session import Session
from trivium.people.steps import Step, TimedStep
from trivium.people.store import Event

Row = dict[str, Any]
_KEEP_SCREEN = ("toggle", "press")  # kinds of steps that do not leave their screen
_EVENT_KINDS = {"page_left": "hidden", "pastes": "paste", "early_taps": "early_tap"}


def screens_of(session: Session) -> list[Row]:
    """The screens that a participant left, in order, as rows of screens.csv."""
    rows, steps = list[Row](), list[TimedStep]()
    for step in session.timeline:
        steps.append(step)
        if step.kind in _KEEP_SCREEN:
            continue
        seconds = round(sum(one.seconds for one in steps), 3)
        rows.append(
            {
                "number": len(rows) + 1,
                "screen": step.screen,
                "trial": step.item,
                "onset": steps[0].onset,
                "seconds": seconds,
                "steps": len(steps),
                "fast": int(seconds < session.experiment.minimum_seconds.get(step.screen, 0)),
            }
        )
        steps = []
    return rows


def behaviour(session: Session, steps: Sequence[Step], events: Iterable[Event]) -> dict[str, int]:
    """How often a participant did what the exclusion rules count, up to the last step.

    Later events do not count: closing the page after the end is not leaving it.
    """
    end = max((step.client_time or 0.0 for step in steps), default=0.0)
    kinds = Counter(event.kind for event in events if (event.client_time or 0.0) <= end)
    return {
        "failed_checks": session.failed_checks,
        "failed_attention": session.failed_attention,
        "fast_screens": sum(row["fast"] for row in screens_of(session)),
        **{name: kinds[kind] for name, kind in _EVENT_KINDS.items()},
    }


def excluded_by(experiment: Experiment, counts: Mapping[str, int]) -> list[str]:
    """The names of the rules that exclude a participant."""
    return [
        name for name, allowed in vars(experiment.exclude).items() if 0 <= allowed < counts[name]
    ]


def is_analysed(person: Row) -> bool:
    """Whether a participant completed the experiment and no rule excludes them."""
    return bool(person["stage"] == "done" and person["excluded"] == "no")


def analyse(experiment: Experiment, people: Sequence[Row], trials: Sequence[Row]) -> dict[str, Any]:
    """The cells, effects and groups of an experiment as JSON, from the rows of its tables.

    Participants who did not complete, or whom a rule excludes, are counted and left out.
    """
    completed = [row for row in people if row["stage"] == "done"]
    included = [row for row in people if is_analysed(row)]
    rules = (rule for row in completed for rule in row["excluded"].split("+"))
    groupings = [one for one in experiment.questions if one.kind == "choice" and not one.right]
    cells = [
        {
            "condition": one.name,
            "assigned": _count(people, one),
            "completed": _count(completed, one),
            "excluded": _count(completed, one) - _count(included, one),
            "score": _estimate(_scores(included, one)).to_dict(),
            "items": sorted({row["digest"] for row in trials if row["condition"] == one.name}),
        }
        for one in experiment.conditions
    ]
    return {
        "measure": experiment.measure_of(experiment.conditions[0]),
        "cells": cells,
        "excluded": {rule: count for rule, count in Counter(rules).items() if rule != "no"},
        "effects": {name: one.to_dict() for name, one in effects(experiment, included).items()},
        "groups": {
            question.id: {
                option: [
                    _estimate(_scores(included, one, **{question.id: option})).to_dict()
                    for one in experiment.conditions
                ]
                for option in question.options
            }
            for question in groupings
        },
    }


def _count(people: Iterable[Row], condition: Condition) -> int:
    return sum(row["condition"] == condition.name for row in people)


def _scores(people: Iterable[Row], condition: Condition, **answers: str) -> list[float]:
    """The scores of the participants of a condition who gave these answers."""
    wanted = {"condition": condition.name, **answers}
    scores = (row["score"] for row in people if wanted.items() <= row.items())
    return [score for score in scores if score is not None]


def _estimate(scores: Sequence[float]) -> Estimate:
    """The mean of a cell with its interval."""
    if set(scores) <= {0.0, 1.0}:
        return proportion(sum(scores), len(scores))
    within = 0 <= min(scores) <= max(scores) <= 1
    return mean_interval(scores, bounds=(0.0, 1.0) if within else None)


def effects(experiment: Experiment, people: Sequence[Row]) -> dict[str, Estimate]:
    """The estimates of all effects; {} if a cell is empty.

    An effect is the score at the first level of a factor minus that at the second; an interaction
    is the difference between two such effects.
    """
    cells = [_scores(people, one) for one in experiment.conditions]
    if not all(cells):
        return {}
    return {name: contrast(cells, weights) for name, weights in contrasts(experiment).items()}


def contrasts(experiment: Experiment) -> dict[str, list[float]]:
    """The weights of the conditions in each effect; {} unless all factors have two levels."""
    cells = [condition.factors for condition in experiment.conditions]
    factors = experiment.factors
    levels = {name: list(dict.fromkeys(cell[name] for cell in cells)) for name in factors}
    complete = len({tuple(cell.values()) for cell in cells}) == len(cells) == 2 ** len(factors)
    if not factors or not complete or any(len(values) != 2 for values in levels.values()):
        return {}
    weights = {}
    for size in range(1, len(factors) + 1):
        for chosen in combinations(factors, size):
            signs = [[1 if cell[n] == levels[n][0] else -1 for n in chosen] for cell in cells]
            scale = 2 ** (len(factors) - size)
            weights[" x ".join(chosen)] = [math.prod(cell) / scale for cell in signs]
    return weights


def contrast(cells: Sequence[Sequence[float]], weights: Sequence[float]) -> Estimate:
    """A weighted sum of the means of independent cells, with its 95% interval.

    For proportions the interval is that of Price and Bonett (2004), which adds two successes and
    two failures over all cells; for other scores Welch's, with Satterthwaite's degrees of freedom.
    """
    n, sizes = sum(map(len, cells)), np.array([len(cell) for cell in cells])
    weight, sums = np.array(weights), np.array([sum(cell) for cell in cells])
    value = float(weight @ (sums / sizes))
    if all(set(cell) <= {0.0, 1.0} for cell in cells):
        added = 2 / len(cells)
        adjusted_sizes = sizes + 2 * added
        shares = (sums + added) / adjusted_sizes
        middle = float(weight @ shares)
        variance = weight**2 @ (shares * (1 - shares) / adjusted_sizes)
        half = two_sided_z(0.95) * math.sqrt(variance)
        return Estimate(value, middle - half, middle + half, n)
    if sizes.min() < 2:
        return Estimate(value, None, None, n)
    variances = weight**2 * [np.var(cell, ddof=1) for cell in cells] / sizes
    total = float(variances.sum())
    if total == 0:
        return Estimate(value, None, None, n)
    freedom = total**2 / float((variances**2 / (sizes - 1)).sum())
    half = two_sided_t(0.95, freedom) * math.sqrt(total)
    return Estimate(value, value - half, value + half, n)
