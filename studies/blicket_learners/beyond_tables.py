"""Tables of what goes beyond the paper: unseen forms, and how many machines must be seen."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from studies.blicket_learners import compare, paper
from studies.blicket_learners.cells import Row, interval, millions
from studies.blicket_learners.compare import above_verdict, holm, verdict
from studies.blicket_learners.plan import TRAINED_OBJECTS
from studies.blicket_learners.results import POLICY_NAMES, Record, Results, mean

TRAINED = "machines trained on"  # of the large space, as records name them


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
    """How many machines must be seen: rewards per question on machines never shown."""
    if not results.observers:
        return
    observers = results.observers[0]
    for unit in results.machines:
        for name, floor in observers["constant"].items():
            own = np.array(unit["tested"][name]["reward"])
            known = np.mean(unit["tested"][TRAINED]["reward"], axis=1)
            memory = np.array(observers["memorising"][name]["reward"])
            over_floor = holm([compare.above(values - floor) for values in own])
            over_memory = holm(
                [compare.paired(one - two) for one, two in zip(own, memory, strict=True)]
            )
            for number, count in enumerate(unit["counts"]):
                tests, bits = (
                    np.mean(unit["tested"][name][each][number]) for each in ("tests", "bits")
                )
                yield {
                    "agent": f"PPO {POLICY_NAMES[unit['agent']['policy']]}",
                    "tested on": name,
                    "machines shown": f"{count:,}",
                    "reward per question": interval(mean(own[number], "share")),
                    "on the machines shown": f"{known[number]:.2f}",
                    "constant answer": f"{floor:.2f}",
                    "above it": above_verdict(over_floor[number], judged=results.judged),
                    "memorising observer": f"{memory[number].mean():.2f}",
                    "compared with it": verdict(
                        np.mean(own[number] - memory[number]),
                        over_memory[number],
                        judged=results.judged,
                    ),
                    "right prior": f"{observers['right'][name]['reward']:.2f}",
                    "tests (right prior)": f"{tests:.1f} ({observers['right'][name]['tests']:.1f})",
                    "bits (right prior)": f"{bits:.1f} ({observers['right'][name]['bits']:.1f})",
                }
