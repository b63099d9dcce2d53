"""The ideal observer of the paper's six machines as an actor, for data to imitate."""

from __future__ import annotations

from functools import cache

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array

from trivium.agents.episodes import Moment
from trivium.benchmarks.blicket.inference.explore import optimal
from trivium.benchmarks.blicket.inference.hypotheses import (
    DEFAULT_SIX,
    DISJUNCTIVE,
    space_of,
)
from trivium.benchmarks.blicket.inference.observer import settled

OBJECTS = 3
QUIZ = 1 << OBJECTS  # the action that asks for the quiz


class IdealActor(eqx.Module):
    """Makes the fewest tests that tell the machine, then answers; its memory is what is possible.

    A set of possible machines is an integer whose bits are the machines.
    """

    explore: Array  # [sets]: the action for each set of possible machines
    blickets: Array  # [sets]: the blickets, where one machine is possible
    disjunctive: Array  # [sets]: whether it is disjunctive
    allowed: Array  # [objects placed, light]: the machines that allow this

    def initial(self, batch: int) -> Array:
        return jnp.full(batch, self.explore.shape[0] - 1)

    def act(self, carry: Array, moment: Moment, uniform: Array) -> tuple[Array, Array]:
        seen = moment.observation.astype(jnp.int32)
        shown = (seen[:, :OBJECTS] << jnp.arange(OBJECTS)).sum(axis=-1)
        quiz = seen[:, -1] == 1
        tested = ~quiz & (moment.start == 0)
        possible = jnp.where(tested, carry & self.allowed[shown, seen[:, OBJECTS]], carry)
        answer = jnp.where(shown > 0, self.blickets[possible], self.disjunctive[possible])
        code = jnp.where(quiz, answer, self.explore[possible])
        return possible, code[:, None] >> jnp.arange(OBJECTS + 1) & 1


@cache
def ideal_actor() -> IdealActor:
    """The actor with its tables."""
    space = space_of(DEFAULT_SIX)
    sets = np.arange(1 << len(space))
    member = (sets[:, None] >> np.arange(len(space)) & 1).astype(float)
    explore = np.full(len(sets), QUIZ)
    for number in sets[1:]:
        belief = member[number] / member[number].sum()
        if not settled(space, belief):
            (explore[number],) = optimal(space, belief, 0)
    first = member.argmax(axis=1)
    lit = space.fires.T.astype(np.int64) @ (1 << np.arange(len(space)))  # [placed]
    dark = len(sets) - 1 - lit
    rules = list(space)
    return IdealActor(
        jnp.asarray(explore),
        jnp.asarray([rules[index].blickets for index in first]),
        jnp.asarray([int(rules[index].form == DISJUNCTIVE) for index in first]),
        jnp.asarray(np.stack([dark, lit], axis=1)),
    )
