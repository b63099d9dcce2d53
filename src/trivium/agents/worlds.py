"""What a learner needs of a world: pure functions over arrays, with tables as arguments.

Tables are a pytree of arrays, so that worlds of one shape (other hypotheses, other forced
steps) can be trained in one vmapped call.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from jax import Array

Tables = Any
State = Any


class Step(NamedTuple):
    """What the world gives back."""

    state: State
    observation: Array
    reward: Array
    done: Array


class Measures(NamedTuple):
    """What happened in one step, as numbers that are summed over an episode."""

    tests: Array  # 1 where the detector was tried and seen
    form_asked: Array  # 1 where the step answered the question about the form
    form_right: Array  # 1 where that answer was right


class World(Protocol):
    """Many environments side by side; hashable, so that it can be static when compiling."""

    @property
    def observation_size(self) -> int: ...

    @property
    def action_bits(self) -> int: ...

    @property
    def maximum(self) -> float:
        """The most reward of an episode."""
        ...

    @property
    def longest(self) -> int:
        """The most steps of an episode."""
        ...

    def reset(self, tables: Tables, key: Array, shape: tuple[int, ...]) -> tuple[State, Array]:
        """New episodes and their first observations."""
        ...

    def starts(self, tables: Tables) -> tuple[State, Array]:
        """Every episode that there may be, and its first observation."""
        ...

    def step(self, tables: Tables, state: State, action: Array, key: Array) -> Step:
        """What actions [batch, bits] lead to; episodes are not restarted here."""
        ...

    def measure(self, before: Array, step: Step) -> Measures:
        """What happened between the observations before and the step's."""
        ...
