"""The study's world for machines of several sizes."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from studies.blicket_learners.slot_world import slot_world


def test_more_objects_than_trained_on_fit_the_same_observation() -> None:
    small, small_tables = slot_world(3, 5, ("disjunctive",))
    large, _ = slot_world(5, 5, ("parity",))
    assert small.observation_size == large.observation_size == 7
    assert small.action_bits == large.action_bits == 6
    assert small.longest == large.longest
    state, seen = small.reset(small_tables, jax.random.key(0), (64,))
    assert (seen == 0).all()
    everything = jnp.ones((64, 6), jnp.int32).at[:, 5].set(0)
    step = small.step(small_tables, state, everything, jax.random.key(0))
    # Three of five slots hold an object, and a disjunctive machine lights with all of them on it.
    assert (np.asarray(step.observation[:, :5]).sum(axis=1) == 3).all()
    assert (step.observation[:, 5] == 1).all()
    shown = np.asarray(step.observation[:, :5]).sum(axis=0)
    assert (shown > 0).all()
