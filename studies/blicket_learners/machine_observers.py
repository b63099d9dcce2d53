"""What can be earned on the large space without learning: blindly, by memory, by inference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from studies.blicket_learners.machine_space import MAX_TESTS, Machine, is_blicket, lights
from trivium.benchmarks.blicket.inference.observer import binary_entropy

ERROR = 0.01  # how often a memoriser takes what it sees to be wrong
LITTLE = 0.001  # bits that are not worth a test
DECIMALS = 9  # of gains and beliefs that are compared: how sums are rounded decides no tie


class Played(NamedTuple):
    """Means over machines."""

    whole: float  # the share of machines with every object right
    reward: float  # per question: 1 is right, -1 is wrong
    tests: float


def blind(machines: Sequence[Machine]) -> Played:
    """The best that can be done without a test, if these machines were known in advance.

    The most frequent answer, and the better of yes and no to each object. All that is visible
    before a test is equal for all machines, so this is what the identity of objects is worth too.
    """
    right = is_blicket(machines)
    _, counts = np.unique(right, axis=0, return_counts=True)
    share = right.mean(axis=0)
    return Played(
        counts.max() / len(right), float((2 * np.maximum(share, 1 - share) - 1).mean()), 0
    )


def observe(machines: Sequence[Machine], possible: Sequence[Machine], error: float = 0.0) -> Played:
    """An observer for whom these machines are possible, all equally likely.

    It makes the test that tells most, until nothing is left to learn, and gives the likelier
    answers. With an error it takes a light to be wrong now and then: then no machine is
    impossible, and a new one is taken for the most similar of those possible.
    """
    true, answers = lights(machines), is_blicket(machines)
    shown, blickets = lights(possible), is_blicket(possible)
    likely = np.where(shown, 1 - error, error)
    noise = float(binary_entropy(np.array([error]))[0]) if error else 0.0
    belief = np.full((len(machines), len(possible)), 1 / len(possible))
    rows, tests = np.arange(len(machines)), np.zeros(len(machines))
    for _ in range(MAX_TESTS):
        gains = (binary_entropy(belief @ likely) - noise).round(DECIMALS)
        chosen = gains.argmax(axis=1)
        going = gains[rows, chosen] > LITTLE
        if not going.any():
            break
        lit = true[rows, chosen]
        chance = np.where(lit[:, None], likely[:, chosen].T, 1 - likely[:, chosen].T)
        updated = belief * chance
        updated /= updated.sum(axis=1, keepdims=True)
        belief = np.where(going[:, None], updated, belief)
        tests += going
    given: NDArray[np.bool_] = (belief @ blickets).round(DECIMALS) > 0.5
    if error:  # it can only give an answer that it remembers
        given = blickets[belief.round(DECIMALS).argmax(axis=1)]
    right = given == answers
    return Played(float(right.all(axis=1).mean()), float(2 * right.mean() - 1), float(tests.mean()))
