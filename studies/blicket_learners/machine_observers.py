"""Ideal observers of the large space: with the right prior, and with only the machines shown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from studies.blicket_learners.machine_space import (
    HELD_OUT_FORMS,
    TRAINED_FORMS,
    Machine,
    right_prior,
)
from trivium.benchmarks.blicket.inference.hypotheses import Space, fires
from trivium.benchmarks.blicket.inference.observer import binary_entropy, entropy

MAX_TESTS = 14  # as in the world that the agents are trained in
ERROR = 0.01  # how often a memorising observer takes what it sees to be wrong
SURE = 0.95  # how sure it must be to stop
LITTLE = 0.001  # bits that are not worth a test
Tests = Sequence[tuple[int, bool]]


class Played(NamedTuple):
    """Means over machines: reward per question, tests made, bits gained about the machine."""

    reward: float
    tests: float
    bits: float


def forms_of(name: str) -> tuple[str, ...]:
    """The forms that are possible in a test set: a new form is one of five."""
    return (*TRAINED_FORMS, *HELD_OUT_FORMS) if "form" in name else TRAINED_FORMS


def squeeze(mask: int, present: int) -> int:
    """The objects of a set, numbered among those that are there."""
    there = [place for place in range(present.bit_length()) if present >> place & 1]
    return sum(1 << number for number, place in enumerate(there) if mask >> place & 1)


def bits_gained(machine: Machine, tests: Tests, name: str) -> float:
    """What these tests tell about the machine, in bits, to one who knows what is possible."""
    space = right_prior(machine.objects, forms_of(name))
    possible = np.ones(len(space), dtype=np.bool_)
    for placed, light in tests:
        possible &= space.fires[:, squeeze(placed, machine.present)] == light
    left = space.belief * possible
    return entropy(space.belief) - entropy(left / left.sum())


def constant_answer(machines: Sequence[Machine]) -> float:
    """The reward per question of the better of yes and no to every object."""
    yes = [2 * machine.rule.blickets.bit_count() / machine.objects - 1 for machine in machines]
    return float(abs(np.mean(yes)))


def right_observer(machines: Sequence[Machine], name: str) -> Played:
    """The ceiling: knows what is possible, and makes the test that tells most."""
    rows = []
    for machine in machines:
        space = right_prior(machine.objects, forms_of(name))
        blickets = squeeze(machine.rule.blickets, machine.present)
        possible, tests = np.ones(len(space), dtype=np.bool_), 0
        while tests < MAX_TESTS and possible.sum() > 1:
            placed = _best_test(space, possible.tobytes())
            light = bool(_lights(machine, np.array(spread(placed, machine.present))))
            possible &= space.fires[:, placed] == light
            tests += 1
        belief = space.belief * possible
        rows.append(
            (
                _reward(belief / belief.sum(), space.blickets, blickets),
                tests,
                entropy(space.belief) - entropy(belief / belief.sum()),
            )
        )
    return Played(*np.mean(rows, axis=0))


@lru_cache(maxsize=1 << 16)
def _best_test(space: Space, possible: bytes) -> int:
    """The test that tells most, with the fewest objects among equals."""
    belief = space.belief * np.frombuffer(possible, dtype=np.bool_)
    gains = binary_entropy(belief @ space.fires / belief.sum())
    size = np.bitwise_count(np.arange(len(gains)))
    return int(np.lexsort((size, -np.round(gains, 9)))[0])


def spread(mask: int, present: int) -> int:
    """The places of a set of objects that are numbered among those there."""
    there = [place for place in range(present.bit_length()) if present >> place & 1]
    return sum(1 << place for number, place in enumerate(there) if mask >> number & 1)


def _lights(machine: Machine, placed: NDArray[np.int64]) -> NDArray[np.bool_]:
    return fires(machine.rule, placed)


def _reward(belief: NDArray[np.float64], blickets: NDArray[np.bool_], true: int) -> float:
    """The reward per question of the likelier answers."""
    yes = belief @ blickets > 0.5
    right = yes == (true >> np.arange(len(yes)) & 1 == 1)
    return float(2 * right.mean() - 1)


def memorising_observer(machines: Sequence[Machine], shown: Sequence[Machine], name: str) -> Played:
    """One who takes every machine for one of those shown, the most alike.

    What it sees may be wrong now and then, so that no machine is impossible.
    """
    present = np.array([machine.present for machine in shown])
    blickets = np.array([machine.rule.blickets for machine in shown])
    all_lights = np.array([fires(machine.rule, np.arange(256)) for machine in shown])
    odds = np.log(ERROR / (1 - ERROR))
    rows = []
    for machine in machines:
        there = [place for place in range(8) if machine.present >> place & 1]
        numbers = np.arange(1 << len(there))
        placements = (numbers[:, None] >> np.arange(len(there)) & 1) @ (1 << np.array(there))
        lights = all_lights[:, placements]
        likely = np.where(lights, 1 - ERROR, ERROR)
        score = odds * np.bitwise_count(present ^ machine.present)
        tests: list[tuple[int, bool]] = []
        true = _lights(machine, placements)
        noise = binary_entropy(np.array([ERROR]))[0]
        while True:
            belief = np.exp(score - score.max())
            belief /= belief.sum()
            gains = binary_entropy(belief @ likely) - noise
            placed = int(gains.argmax())
            if len(tests) == MAX_TESTS or belief.max() > SURE or gains[placed] < LITTLE:
                break
            score = score + odds * (lights[:, placed] != true[placed])
            tests.append((int(placements[placed]), bool(true[placed])))
        own = blickets[:, None] >> np.array(there) & 1 == 1
        target = squeeze(machine.rule.blickets, machine.present)
        rows.append((_reward(belief, own, target), len(tests), bits_gained(machine, tests, name)))
    return Played(*np.mean(rows, axis=0))
