"""Machines over eight labelled places, as a world to train in: any number of objects at once.

A machine is a form, the objects that are there, and which of them are blickets or inhibitors.
The agent sees which objects there are, places any set of them, sees the light, and is asked
about every object once it asks for the quiz or after the last test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from studies.blicket_learners.machine_space import Machine
from trivium.agents.worlds import State, Step, Tables, World
from trivium.benchmarks.blicket.inference.hypotheses import (
    CONJUNCTIVE,
    FORMS,
    INHIBITOR,
    PARITY,
    THRESHOLD,
)
from trivium.benchmarks.blicket.world.jax_env import below

PLACES = 8
MAX_TESTS = 14
SEEN_ONCE = 2 * PLACES  # where the light is in an observation


class MachineTables(NamedTuple):
    """Machines as arrays; only the first `shown` are drawn from, the rest is padding."""

    form: Array
    present: Array
    blickets: Array
    inhibitors: Array
    threshold: Array
    shown: Array


class MachineState(NamedTuple):
    """Which machine it is, and how many steps were made."""

    machine: Array
    tests: Array  # made so far
    asked: Array  # 0 while exploring; then 1 + the place of the object asked about


@dataclass(frozen=True)
class MachineWorld(World):
    """Observations: objects there, objects placed or asked about, the light, the quiz flag."""

    def reset(self, tables: Tables, key: Array, shape: tuple[int, ...]) -> tuple[State, Array]:
        machine = below(jax.random.bits(key, shape, dtype=jnp.uint32), tables.shown)
        return self._begin(tables, machine)

    def starts(self, tables: Tables) -> tuple[State, Array]:
        return self._begin(tables, jnp.arange(tables.form.shape[0]))

    def _begin(self, tables: Tables, machine: Array) -> tuple[State, Array]:
        none = jnp.zeros_like(machine)
        state = MachineState(machine, none, none)
        return state, _observe(tables.present[machine], none, none, none)

    def step(self, tables: Tables, state: State, action: Array, key: Array) -> Step:
        present = tables.present[state.machine]
        bits = (action[..., :PLACES].astype(jnp.int32) << jnp.arange(PLACES)).sum(axis=-1)
        placed = bits & present
        exploring = state.asked == 0
        wants_quiz = (action[..., PLACES] > 0) | (state.tests >= MAX_TESTS)
        tests = exploring & ~wants_quiz
        light = tests & lights(tables, state.machine, placed)
        place = state.asked - 1
        yes = bits >> jnp.maximum(place, 0) & 1
        blicket = tables.blickets[state.machine] >> jnp.maximum(place, 0) & 1
        reward = jnp.where(exploring, 0.0, jnp.where(yes == blicket, 1.0, -1.0))
        # The next object is the first one there after the last one asked about.
        later = present & ~((1 << jnp.maximum(state.asked, 0)) - 1)
        next_place = jnp.where(later > 0, _lowest(later), PLACES)
        asked = jnp.where(tests, 0, next_place + 1)
        done = ~exploring & (later == 0)
        shown = jnp.where(tests, placed, jnp.where(done, 0, 1 << jnp.minimum(next_place, PLACES)))
        after = MachineState(state.machine, state.tests + tests, asked)
        flag = (~tests).astype(jnp.int32)
        observation = _observe(present, shown, light.astype(jnp.int32), flag)
        none = jnp.zeros_like(reward)
        return Step(after, observation, reward, done, tests.astype(jnp.float32), none, none)


def _lowest(mask: Array) -> Array:
    """The lowest bit's number."""
    return jax.lax.population_count((mask & -mask) - 1)


def _observe(present: Array, shown: Array, light: Array, flag: Array) -> Array:
    places = jnp.arange(PLACES)
    parts = [present[..., None] >> places & 1, shown[..., None] >> places & 1]
    return jnp.concatenate([*parts, light[..., None], flag[..., None]], axis=-1).astype(jnp.float32)


def lights(tables: Any, machine: Array, placed: Array) -> Array:
    """Whether these sets light these machines."""
    form, blickets = tables.form[machine], tables.blickets[machine]
    on = jax.lax.population_count(placed & blickets)
    lit = on > 0
    lit = jnp.where(form == FORMS.index(CONJUNCTIVE), placed & blickets == blickets, lit)
    lit = jnp.where(form == FORMS.index(THRESHOLD), on >= tables.threshold[machine], lit)
    lit = jnp.where(form == FORMS.index(PARITY), on % 2 == 1, lit)
    dark = placed & tables.inhibitors[machine] != 0
    return jnp.where(form == FORMS.index(INHIBITOR), lit & ~dark, lit)


def machine_world() -> MachineWorld:
    """The world of machines of up to eight objects; the largest reward depends on the machine."""
    return MachineWorld(2 * PLACES + 2, PLACES + 1, float(PLACES), MAX_TESTS + 1 + PLACES)


def machine_tables(machines: Sequence[Machine], size: int) -> MachineTables:
    """The tables of these machines, padded to one size so that runs can be stacked."""

    def column(values: Sequence[int]) -> Array:
        return jnp.asarray(np.resize(np.array(values, dtype=np.int32), size))

    rules = [machine.rule for machine in machines]
    return MachineTables(
        column([FORMS.index(rule.form) for rule in rules]),
        column([machine.present for machine in machines]),
        column([rule.blickets for rule in rules]),
        column([rule.inhibitors for rule in rules]),
        column([rule.threshold for rule in rules]),
        jnp.asarray(len(machines), jnp.int32),
    )
