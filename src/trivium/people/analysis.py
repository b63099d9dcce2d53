"""The planned analysis of an experiment: exclusions, cells, and effects of a factorial design."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from trivium.core.statistics import (
    Estimate,
    mean_interval,
    proportion,
    quantile,
    student_quantile,
)
from trivium.people.experiment import Condition, Experiment
from trivium.people.session import Session
from trivium.people.steps import Step
from trivium.people.store import Event

Row = dict[str, Any]
_KEEP_SCREEN = ("toggle", "press")  # kinds of steps after which the same screen stays
_BY_EVENT = {"page_left": "hidden", "pastes": "paste", "early_taps": "early_tap"}


def screens_of(session: Session) -> list[Row]:
    """The screens that a participant left, in order, as rows of screens.csv."""
    found, first = list[Row](), 0
    for number, step in enumerate(session.timeline):
        if step.kind in _KEEP_SCREEN:
            continue
        own, first = session.timeline[first : number + 1], number + 1
        seconds = round(sum(one.seconds for one in own), 3)
        found.append(
            {
                "number": len(found) + 1,
                "screen": step.screen,
                "trial": step.item,
                "onset": own[0].onset,
                "seconds": seconds,
                "steps": len(own),
                "fast": int(seconds < session.experiment.minimum_seconds.get(step.screen, 0)),
            }
        )
    return found


def behaviour(session: Session, steps: Sequence[Step], events: Iterable[Event]) -> dict[str, int]:
    """What rules of exclusion may count, and how often it happened before the last step.

    Who closes the page at the end has not left it.
    """
    end = max((one.client_time or 0.0 for one in steps), default=0.0)
    kinds = Counter(one.kind for one in events if (one.client_time or 0.0) <= end)
    return {
        "failed_checks": session.failed_checks,
        "failed_attention": session.failed_attention,
        "fast_screens": sum(one["fast"] for one in screens_of(session)),
        **{name: kinds[kind] for name, kind in _BY_EVENT.items()},
    }


def excluded_by(experiment: Experiment, counts: Mapping[str, int]) -> list[str]:
    """The names of the rules that exclude a participant."""
    return [
        name for name, allowed in vars(experiment.exclude).items() if 0 <= allowed < counts[name]
    ]


def analyse(experiment: Experiment, people: Sequence[Row], trials: Sequence[Row]) -> dict[str, Any]:
    """The cells, effects and groups of an experiment as JSON, from the rows of its tables.

    Participants who did not complete, or whom a rule excludes, are counted and left out.
    """
    completed = [one for one in people if one["stage"] == "done"]
    kept = [one for one in completed if one["excluded"] == "no"]
    rules = (rule for one in completed for rule in one["excluded"].split("+"))
    asked = [one for one in experiment.questions if one.kind == "choice" and not one.right]
    cells = [
        {
            "condition": one.name,
            "assigned": _count(people, one),
            "completed": _count(completed, one),
            "excluded": _count(completed, one) - _count(kept, one),
            "score": _estimate(_scores(kept, one)).to_dict(),
            "items": sorted({row["digest"] for row in trials if row["condition"] == one.name}),
        }
        for one in experiment.conditions
    ]
    return {
        "measure": experiment.measure_of(experiment.conditions[0]),
        "cells": cells,
        "excluded": {rule: count for rule, count in Counter(rules).items() if rule != "no"},
        "effects": {name: one.to_dict() for name, one in effects(experiment, kept).items()},
        "groups": {
            question.id: {
                option: [
                    _estimate(_scores(kept, one, **{question.id: option})).to_dict()
                    for one in experiment.conditions
                ]
                for option in question.options
            }
            for question in asked
        },
    }


def _count(people: Iterable[Row], condition: Condition) -> int:
    return sum(one["condition"] == condition.name for one in people)


def _scores(people: Iterable[Row], condition: Condition, **answers: str) -> list[float]:
    """The scores of the participants of a condition who gave these answers."""
    wanted = {"condition": condition.name, **answers}
    own = (one["score"] for one in people if wanted.items() <= one.items())
    return [score for score in own if score is not None]


def _estimate(scores: Sequence[float]) -> Estimate:
    """The mean of a cell with its interval."""
    if set(scores) <= {0.0, 1.0}:
        return proportion(sum(scores), len(scores))
    within = 0 <= min(scores) <= max(scores) <= 1
    return mean_interval(scores, bounds=(0.0, 1.0) if within else None)


def effects(experiment: Experiment, people: Sequence[Row]) -> dict[str, Estimate]:
    """The estimates of all effects; {} where a cell is empty.

    An effect is the score at the first level of a factor minus that at the second; an interaction
    is the difference between two such effects.
    """
    cells = [_scores(people, one) for one in experiment.conditions]
    if not all(cells):
        return {}
    return {name: contrast(cells, weights) for name, weights in contrasts(experiment).items()}


def contrasts(experiment: Experiment) -> dict[str, list[float]]:
    """The weights of the conditions in each effect; {} unless all factors have two levels."""
    cells = [one.factors for one in experiment.conditions]
    factors = experiment.factors
    levels = {name: list(dict.fromkeys(own[name] for own in cells)) for name in factors}
    complete = len({tuple(own.values()) for own in cells}) == len(cells) == 2 ** len(factors)
    if not factors or not complete or any(len(own) != 2 for own in levels.values()):
        return {}
    found = {}
    for size in range(1, len(factors) + 1):
        for chosen in combinations(factors, size):
            signs = [[1 if own[n] == levels[n][0] else -1 for n in chosen] for own in cells]
            scale = 2 ** (len(factors) - size)
            found[" x ".join(chosen)] = [math.prod(own) / scale for own in signs]
    return found


def contrast(cells: Sequence[Sequence[float]], weights: Sequence[float]) -> Estimate:
    """A weighted sum of the means of independent cells, with its 95% interval.

    For proportions it is that of Price and Bonett (2004), which adds two successes and two
    failures over all cells; for other scores Welch's, with Satterthwaite's degrees of freedom.
    """
    n, sizes = sum(map(len, cells)), np.array([len(own) for own in cells])
    weighted, sums = np.array(weights), np.array([sum(own) for own in cells])
    value = float(weighted @ (sums / sizes))
    if all(set(own) <= {0.0, 1.0} for own in cells):
        extra = 2 / len(cells)
        larger = sizes + 2 * extra
        shares = (sums + extra) / larger
        middle = float(weighted @ shares)
        half = quantile(0.95) * math.sqrt(weighted**2 @ (shares * (1 - shares) / larger))
        return Estimate(value, middle - half, middle + half, n)
    if sizes.min() < 2:
        return Estimate(value, None, None, n)
    variances = weighted**2 * [np.var(own, ddof=1) for own in cells] / sizes
    total = float(variances.sum())
    if total == 0:
        return Estimate(value, None, None, n)
    freedom = total**2 / float((variances**2 / (sizes - 1)).sum())
    half = student_quantile(0.95, freedom) * math.sqrt(total)
    return Estimate(value, value - half, value + half, n)
