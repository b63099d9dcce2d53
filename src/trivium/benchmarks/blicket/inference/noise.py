"""Games in which every light is wrong with the same probability: exact values and bounds.

After some tests, the likelihood of a machine depends only on how many of the lights it would have
shown otherwise, so a state of a game is a row with this count for each machine.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.blicket.inference.budget import TooLongError
from trivium.benchmarks.blicket.inference.distinct import DistinctMachines, Floats
from trivium.benchmarks.blicket.inference.observer import TINY
from trivium.benchmarks.blicket.inference.scripts import Script

MAX_CELLS = 10_000_000  # states times placements times machines; takes a few seconds
Counts = NDArray[np.uint8]


def placement_values(
    machines: DistinctMachines, tests: int, weights: Floats | None = None
) -> Floats:
    """How often the optimal player is right, for each placement as its first test: [placement].

    The placements are those of `machines`; without tests there is a single value. `weights` are
    the probabilities of the machines, by default those of the space.
    """
    weights, noise = machines.weights if weights is None else weights, machines.noise
    if tests == 0 or not machines.placements:
        return np.array([weights.max()])
    wrong = _wrong(machines)
    # Forward: the states after every number of tests; `after` says which state follows from which.
    states, after = np.zeros((1, len(weights)), dtype=np.uint8), []
    for _ in range(tests - 1):
        if states.size * wrong.shape[0] * 2 > MAX_CELLS:
            raise TooLongError(
                f"{tests} tests with noise are too many for an exact search; use information_gain"
            )
        children = states[:, None, None] + wrong
        states, found = _distinct_rows(children.reshape(-1, len(weights)))
        after.append(found.reshape(children.shape[:3]))
    # Backward: the value of a state is that of its best test, over both lights.
    joint = weights * noise**states * (1 - noise) ** (tests - 1.0 - states)
    values = np.stack([_best_answers(joint, each, noise) for each in wrong], axis=1)
    for found in reversed(after):
        values = values.max(axis=1)[found].sum(axis=2)
    return np.asarray(values[0])


def _wrong(machines: DistinctMachines) -> Counts:
    """Whether each machine would have shown the other light: [placement, light, machine]."""
    fires = machines.fires[:, machines.placements].T
    return np.stack([fires, ~fires], axis=1).astype(np.uint8)


def _distinct_rows(rows: Counts) -> tuple[Counts, NDArray[np.intp]]:
    """The distinct rows, and the number of each row among them."""
    packed = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).reshape(-1)
    _, first, found = np.unique(packed, return_index=True, return_inverse=True)
    return rows[first], found


def _best_answers(joint: Floats, wrong: Counts, noise: float) -> Floats:
    """The probability of a right answer after one more test, for each row of joint ones."""
    chances = np.where(wrong, noise, 1 - noise)  # [light, machine]
    return np.asarray((joint[..., None, :] * chances).max(axis=-1).sum(axis=-1))


def best_script(machines: DistinctMachines, tests: int) -> Script:
    """The best script, in which a test may be repeated; tries all of them."""
    count, noise = len(machines.placements), machines.noise
    scripts = math.comb(count + tests - 1, tests) if count else 1
    if scripts * len(machines.weights) << tests > MAX_CELLS:
        raise TooLongError(f"{tests} tests with noise are too many to try all scripts")
    wrong = _wrong(machines)
    best: tuple[tuple[int, ...], float] = ((), float(machines.weights.max()))

    def extend(script: tuple[int, ...], joint: Floats) -> None:
        nonlocal best
        for place in range(script[-1] if script else 0, count):
            if len(script) == tests - 1:
                value = float(_best_answers(joint, wrong[place], noise).sum())
                if value > best[1] + TINY or not best[0]:
                    best = (*script, place), value
            else:
                chances = np.where(wrong[place], noise, 1 - noise)
                extend((*script, place), (joint[:, None] * chances).reshape(-1, joint.shape[1]))

    if tests > 0:
        extend((), machines.weights[None])
    placed, value = best
    return Script(tuple(machines.placements[place] for place in placed), value, value)


def max_correct(machines: DistinctMachines, tests: int) -> float:
    """An upper bound of how often any player is right.

    Each of the 2**t sequences of lights leads to one answer. Given a machine, a sequence with j
    wrong lights has the probability noise**j (1 - noise)**(t - j), and there are C(t, j) of them;
    no player does better than to collect the 2**t most probable pairs of machine and sequence.
    """
    if tests > 60:
        return 1.0
    weights, noise = machines.weights, machines.noise
    wrong = np.arange(tests + 1)
    chances = noise**wrong * (1 - noise) ** (tests - wrong)
    ways = np.array([math.comb(tests, int(each)) for each in wrong], dtype=float)
    values = np.outer(weights, chances).ravel()
    order = np.argsort(-values)
    counts = np.tile(ways, len(weights))[order]
    taken = np.diff(np.minimum(np.cumsum(counts), 2.0**tests), prepend=0.0)
    return min(1.0, float(taken @ values[order]))
