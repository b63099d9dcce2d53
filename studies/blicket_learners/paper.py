"""What our values are compared with: the paper's, the ideal observer's, and constant answers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from math import log2

from studies.blicket_learners.plan import RANDOM_DATA
from trivium.benchmarks.blicket.inference.explore import EXPLORERS, planner, progress
from trivium.benchmarks.blicket.inference.hypotheses import (
    DEFAULT_SIX,
    machines,
    make_space,
    space_of,
    split,
)

# Table 1 of the paper: reward, standard deviation, forced-choice accuracy.
PAPER_TABLE = {
    "decision-transformer": {
        "random": (0.16, 1.747, 0.67),
        "random+5": (2.06, 0.998, 0.71),
        "random+10": (2.16, 0.872, 0.73),
        "random+15": (2.37, 0.633, 0.77),
        "a2c-lstm": (0.14, 1.847, 0.63),
        "ppo-lstm": (0.26, 0.990, 0.66),
        "a2c-lnlstm": (0.18, 0.983, 0.62),
        "ppo-lnlstm": (0.74, 1.460, 0.64),
    },
    "cloning": {
        "random": (0.22, 0.975, 0.61),
        "random+5": (-0.16, 0.987, 0.58),
        "random+10": (0.14, 0.990, 0.60),
        "random+15": (0.04, 0.999, 0.61),
        "a2c-lstm": (0.10, 0.995, 0.55),
        "ppo-lstm": (0.06, 0.998, 0.63),
        "a2c-lnlstm": (0.04, 2.087, 0.59),
        "ppo-lnlstm": (0.12, 0.995, 0.68),
    },
}
PAPER_ROLLOUTS = 100  # behind every row of it
PAPER_MODELS = {  # which of its models ours are compared with
    "decision-transformer": "decision-transformer",
    "authors-transformer": "decision-transformer",
    "cloning-30": "cloning",
    "cloning-1": "cloning",
}
PAPER_Q_EPISODES, PAPER_Q_STEPS = 70, 292  # of tabular Q-learning, until it is perfect

# The ideal observer on the paper's six machines, exact: the best expected reward by tests made,
# and the best share of forms named correctly on the machines trained on, by what is held out.
PLATEAUS = {"no test": 0.0, "1 test": 5 / 3, "2 tests": 7 / 3, "3 tests": 3.0}
FORM_PLATEAUS = {
    "none": {"no test": 1 / 2, "1 test": 2 / 3, "2 tests": 5 / 6, "3 tests": 1.0},
    "both_loo": {"no test": 1 / 2, "1 test": 3 / 4, "2 tests": 1.0},
}
IDEAL_TESTS = 8 / 3  # that it needs on average to know the machine
ALL_BITS = log2(len(DEFAULT_SIX))  # of information about which of the six machines it is


@cache
def ideal_reward(data: str) -> float | None:
    """The expected reward of an ideal observer of random data; None for other data.

    After the forced steps, every further step enters the quiz with probability one half.
    """
    if data not in RANDOM_DATA:
        return None
    forced, more = RANDOM_DATA[data], 30
    rewards = progress(space_of(DEFAULT_SIX), EXPLORERS["random"], forced + more).reward
    return float(sum(rewards[forced + extra] / 2 ** (extra + 1) for extra in range(more + 1)))


@cache
def untested_reward(objects: int, forms: Iterable[str]) -> float:
    """The best expected reward on the machines of these forms without any test."""
    space = make_space(objects, tuple(forms))
    return float(planner(space).best_reward(space.belief, 0))


def constant_reward(split_name: str) -> float:
    """The reward of the better of "yes" and "no" to every object on a split's held-out machines."""
    space = split(split_name)[1]
    yes = [2 * machine.blickets.bit_count() - space.objects for machine in space.hypotheses]
    return abs(sum(yes)) / len(yes)


def constant_accuracy(form: str, objects: int) -> float:
    """The accuracy of the better of "yes" and "no" to every object of a form's machines."""
    own = machines(objects, form)
    share = sum(machine.blickets.bit_count() for machine in own) / (objects * len(own))
    return max(share, 1 - share)
