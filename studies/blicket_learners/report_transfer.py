"""Unseen forms and more objects in a table and words, worked out from the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from studies.blicket_learners.paper_values import POLICY_NAMES, Results
from studies.blicket_learners.plan import TRAINED_OBJECTS
from studies.blicket_learners.report_text import (
    NOT_RUN,
    above,
    listed,
    markdown,
    middle,
    millions,
    short,
)
from trivium.benchmarks.blicket.inference.ceilings import BEST, ceilings
from trivium.benchmarks.blicket.inference.hypotheses import machines, make_space
from trivium.core.statistics import Estimate, bootstrap_mean

LEARNED = 0.9  # the share of objects told rightly from which on machines count as learned


def single_word_accuracy(form: str, objects: int) -> float:
    """The accuracy of the better of "yes" and "no" to every object of a form's machines."""
    own = machines(objects, form)
    share = sum(one.blickets.bit_count() for one in own) / (objects * len(own))
    return max(share, 1 - share)


def trained_forms(unit: Mapping[str, Any]) -> str:
    """How many forms a unit was trained on, in words."""
    count = len(unit["forms"])
    return f"{count} form{'s' * (count > 1)}"


def _accuracy(tested: Sequence[Mapping[str, Any]], objects: Sequence[int]) -> Estimate:
    """Over forms, seed by seed; then the interval over seeds."""
    own = [one["accuracy"] for one in tested if one["objects"] in objects]
    return bootstrap_mean(np.mean(own, axis=0))


def _floor(tested: Sequence[Mapping[str, Any]], objects: Sequence[int]) -> float:
    own = [
        single_word_accuracy(one["form"], one["objects"])
        for one in tested
        if one["objects"] in objects
    ]
    return float(np.mean(own))


def section_transfer(results: Results) -> list[str]:
    """Unseen forms and more objects."""
    groups = (("known", (3,)), ("known", (4, 5)), ("unseen", (3,)), ("unseen", (4, 5)))
    rows, beyond = [], dict.fromkeys(groups, 0)
    units = sorted(
        results.transfers, key=lambda unit: (unit["agent"]["policy"], len(unit["forms"]))
    )
    for unit in units:
        cells = []
        for group, objects in groups:
            tested = [
                one
                for one in unit["tested"]
                if (one["form"] in unit["forms"]) == (group == "known")
            ]
            accuracy, floor = _accuracy(tested, objects), _floor(tested, objects)
            beyond[group, objects] += (accuracy.low or 0.0) > floor
            cells.append(f"{short(accuracy)} ({floor:.2f})")
        policy = POLICY_NAMES[unit["agent"]["policy"]]
        trained = (f"PPO {policy}", ", ".join(unit["forms"]), millions(unit["steps"][-1]))
        rows.append((*trained, *cells))
    if not rows:
        return NOT_RUN
    columns = (
        "agent",
        "trained forms",
        "steps",
        "known forms, 3 objects",
        "known forms, 4-5 objects",
        "unseen forms, 3 objects",
        "unseen forms, 4-5 objects",
    )
    said = [
        f"{beyond[group, objects]} on {group} forms of {listed(list(map(str, objects)))} objects"
        for group, objects in groups
    ]
    words = (
        f"Share of objects told rightly; in brackets what the better of yes and no to every object "
        f"gives, averaged over the same forms. Of {len(rows)} agents these are above that with "
        f"their whole interval: {listed(said)}. {_overhypothesis_words(units)}"
    )
    return [markdown(columns, rows), words]


def _overhypothesis_words(units: Sequence[Mapping[str, Any]]) -> str:
    """What the figures say of overhypotheses, agent by agent."""
    unlearned, fallen = [], 0
    idle: list[str] = []
    single = set()
    for unit in units:
        known = [one for one in unit["tested"] if one["form"] in unit["forms"]]
        own, more = _accuracy(known, (3,)), _accuracy(known, (4, 5))
        fallen += above(own, more)
        if middle(own) < LEARNED:
            policy = POLICY_NAMES[unit["agent"]["policy"]]
            unlearned.append(f"{policy}, {trained_forms(unit)} ({short(own)})")
            idle += _idle(unit)
        single |= {
            f"{one['form']} of {one['objects']} objects"
            for one in unit["tested"]
            if one["machines"] == 1
        }
    text = (
        f"An agent with an overhypothesis would keep its accuracy on more objects of a form that "
        f"it knows, and would find out an unseen form by testing: {fallen} of {len(units)} fall "
        f"with more objects (intervals apart). "
    )
    if unlearned:
        text += (
            f"Below {LEARNED} on the very machines trained on, so that they say little of "
            f"transfer: {listed(unlearned)}. {' '.join(idle)} "
        )
    if single:
        text += (
            f"There is one machine only for {listed(sorted(single))}, all of whose objects are "
            f"blickets: there yes to all is right, and the figure says little. "
        )
    return text.strip()


def _idle(unit: Mapping[str, Any]) -> list[str]:
    """How long an agent stayed at what is earned without any test, and why that may be."""
    space = make_space(TRAINED_OBJECTS, unit["forms"])
    best = next(one.rewards for one in ceilings(space, 1) if one.explorer == BEST)
    curve = np.array(unit["reward"])
    moving = [place for place in range(curve.shape[1]) if curve[:, place].max() > best[0] + 0.01]
    first = moving[0] if moving else curve.shape[1] - 1
    if first < curve.shape[1] // 2:
        return []
    until = "until" if moving else "in all"
    return [
        f"On the {len(space.hypotheses)} machines of {listed(list(unit['forms']))} form no seed "
        f"earned more than {best[0]:.2f}, what is had without any test, {until} "
        f"{unit['steps'][first] / 1e6:.1f} million steps: one test raises it to {best[1]:.2f} at "
        f"best, so little is to be had for beginning to test."
    ]
