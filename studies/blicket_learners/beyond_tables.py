"""Tables of what goes beyond the paper: unseen forms, and how many machines must be seen."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from studies.blicket_learners import compare, paper
from studies.blicket_learners.cells import NONE, Row, interval, millions
from studies.blicket_learners.compare import above_verdict, holm
from studies.blicket_learners.plan import TRAINED_OBJECTS
from studies.blicket_learners.results import POLICY_NAMES, Record, Results, mean

TRAINED, NEW_MACHINES = "machines shown", "new machines"  # as records name them
EXPOSURES = (55, 220, 880, 3520)  # episodes per machine
NETWORKS = {  # of the experiment on the number of machines
    "lstm": "LSTM",
    "transformer": "history transformer",
    "rim": "modular network",
    "equivariant": "equivariant LSTM",
    "transformer_relabelled": "history transformer, objects relabelled in every episode",
    "transformer_quiz-unbiased": "history transformer, quiz bit unbiased at first",
    "transformer_placing-unbiased": "history transformer, placing bits unbiased at first",
}


def transfer(results: Results) -> Iterator[Row]:
    """Beyond the paper: accuracy on unseen forms and more objects, beside a constant answer's."""
    cases = list(product((True, False), ((3,), (4, 5))))
    cells: list[list[tuple[Any, float]]] = [
        [_accuracy(unit, known, objects) for known, objects in cases] for unit in results.transfers
    ]
    chances = [
        holm([compare.above(np.array(values) - floor) for values, floor in column])
        for column in zip(*cells, strict=True)
    ]
    for number, unit in enumerate(results.transfers):
        best, first_above = _untested(unit)
        row = {
            "agent": f"PPO {POLICY_NAMES[unit['agent']['policy']]}",
            "trained forms": ", ".join(unit["forms"]),
            "steps": millions(unit["steps"][-1]),
            "best without a test": f"{best:.2f}",
            "first above it": first_above,
        }
        for column, (known, objects) in enumerate(cases):
            values, floor = cells[number][column]
            above = above_verdict(chances[column][number], judged=results.judged)
            name = f"{'known' if known else 'unseen'} forms, {'-'.join(map(str, objects))} objects"
            row[name] = f"{interval(mean(values, 'accuracy'))}; above {floor:.2f}: {above}"
        yield row


def _accuracy(unit: Record, known: bool, objects: tuple[int, ...]) -> tuple[Any, float]:
    """The accuracy of every seed, averaged over forms, and that of constant answers."""
    tested = [
        one
        for one in unit["tested"]
        if (one["form"] in unit["forms"]) == known and one["objects"] in objects
    ]
    floors = [paper.constant_accuracy(one["form"], one["objects"]) for one in tested]
    return np.mean([one["accuracy"] for one in tested], axis=0), float(np.mean(floors))


def _untested(unit: Record) -> tuple[float, str]:
    """The best reward without any test, and the first step at which a seed earns more."""
    best = paper.untested_reward(TRAINED_OBJECTS, tuple(unit["forms"]))
    above = (np.array(unit["reward"]) > best + 0.01).any(axis=0)
    return best, millions(unit["steps"][above.argmax()]) if above.any() else "never"


def machines(results: Results) -> Iterator[Row]:
    """How many machines must be seen: shares of machines with every answer right."""
    if not results.observers:
        return
    observers = results.observers[0]
    for unit in results.machines:
        for name, floor in observers["blind"].items():
            own = np.array(unit["curve"][name]["whole"])[..., -1]
            shown = np.array(unit["curve"][TRAINED]["whole"])[..., -1].mean(axis=1)
            over_floor = holm([compare.above(values - floor["whole"]) for values in own])
            for number, count in enumerate(unit["counts"]):
                place = observers["counts"].index(count)
                memory = observers["memoriser"][name]["whole"][place]
                tests = np.array(unit["curve"][name]["tests"])[number, :, -1].mean()
                yield {
                    "network": NETWORKS[unit["label"]],
                    "tested on": name,
                    "machines shown": f"{count:,}",
                    "all answers right": interval(mean(own[number], "accuracy")),
                    "on the machines shown": f"{shown[number]:.2f}",
                    "blind": f"{floor['whole']:.2f}",
                    "above blind": above_verdict(over_floor[number], judged=results.judged),
                    "memoriser": f"{np.mean(memory):.2f}",
                    "ideal observer": f"{observers['ideal'][name]['whole']:.2f}",
                    "tests": f"{tests:.1f}",
                }


def equal_exposures(results: Results) -> Iterator[Row]:
    """The same on new machines, at the points where each machine was seen equally often."""
    every = results.observers[0]["counts"] if results.observers else None
    for unit in [one for one in results.machines if one["counts"] == every]:
        whole = np.array(unit["curve"][NEW_MACHINES]["whole"]).mean(axis=1)
        for episodes in EXPOSURES:
            row = {"network": NETWORKS[unit["label"]], "episodes per machine": f"{episodes:,}"}
            for count, done, values in zip(unit["counts"], unit["episodes"], whole, strict=True):
                seen = np.array(done) / count
                # The first point at which each machine was seen so often, if it is near enough.
                point = int(np.searchsorted(seen, episodes * 0.97))
                near = point < len(seen) and seen[point] < episodes * 1.3
                row[f"{count:,} shown"] = f"{values[point]:.2f}" if near else NONE
            yield row
