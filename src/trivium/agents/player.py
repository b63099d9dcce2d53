"""A trained agent as a player of the blicket game: it reads and speaks text like any other."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from trivium.agents.trained import Trained, load_trained
from trivium.benchmarks.blicket.game.render import Conversation
from trivium.benchmarks.blicket.game.solvers import player
from trivium.benchmarks.blicket.inference.hypotheses import (
    CONJUNCTIVE,
    DISJUNCTIVE,
    Hypothesis,
    letters,
    mask_of,
)
from trivium.core.benchmark import Solver
from trivium.core.errors import UserError, require
from trivium.core.streams import Stream

PREFIX = "agent:"  # `--solver agent:FOLDER` names a trained agent


@lru_cache(maxsize=8)
def agent_solver(name: str) -> Solver:
    """The solver that `agent:FOLDER` or `agent:FOLDER:NUMBER` stands for."""
    folder, _, number = name.removeprefix(PREFIX).partition(":")
    require(number.isdigit() or not number, f"{name}: the policy's number must be a whole number")
    seat = _Seat(load_trained(Path(folder), int(number or 0)))
    about = f"{seat.trained.agent.name}, trained on {seat.trained.task.split}"
    return Solver(name, about, player(seat.explore, seat.conclude))


class _Seat:
    """Where a policy sits in the game: observations from what was said, actions to words."""

    def __init__(self, trained: Trained) -> None:
        self.trained = trained
        self._step = jax.jit(lambda policy, *moment: policy.step(*moment))

    def explore(self, seen: Conversation, stream: Stream) -> str | None:
        """The objects of the next test; None when the agent asks for the quiz."""
        _, action = self._after_tests(seen)
        objects = self.trained.world.spec.objects
        if action[objects]:
            return None
        return letters(int((action[:objects] << np.arange(objects)).sum()))

    def conclude(self, seen: Conversation, stream: Stream) -> Hypothesis:
        """The machine that the agent's answers to the quiz describe.

        An agent that was never asked about the form is taken to mean the form that has so
        many blickets in the paper's space: one is disjunctive, two are conjunctive.
        """
        spec = self.trained.world.spec
        carry, _ = self._after_tests(seen)
        blickets = 0
        for place in range(spec.objects):
            carry, action = self._act(carry, self._question(place), start=False)
            blickets |= int(action[place]) << place
        disjunctive = blickets.bit_count() < 2
        if spec.asks_type:
            _, action = self._act(carry, self._question(None), start=False)
            disjunctive = bool(action[0])
        # A machine must have a blicket: an agent that denies them all names the first.
        form = DISJUNCTIVE if disjunctive else CONJUNCTIVE
        return Hypothesis(form, blickets or 1)

    def _after_tests(self, seen: Conversation) -> tuple[Any, NDArray[Any]]:
        """The agent's memory after the tests so far, and what it does next."""
        spec = self.trained.world.spec
        if seen.spec.objects != spec.objects:
            raise UserError(
                f"the agent knows {spec.objects} objects, the game has {seen.spec.objects}"
            )
        empty = np.zeros(spec.width, np.float32)
        carry, action = self._act(self.trained.policy.initial(1), empty, start=True)
        for placed, light in seen.tests:
            bits = mask_of(placed) >> np.arange(spec.objects) & 1
            shown = np.array([*bits, light, 0], np.float32)
            carry, action = self._act(carry, shown, start=False)
        return carry, action

    def _act(
        self, carry: Any, observation: NDArray[Any], *, start: bool
    ) -> tuple[Any, NDArray[Any]]:
        begun = jnp.full(1, float(start))
        carry, output = self._step(self.trained.policy, carry, observation[None], begun)
        logits = np.asarray(output.logits[0])
        return carry, np.asarray(logits[:, 1] > logits[:, 0], dtype=np.int64)

    def _question(self, place: int | None) -> NDArray[Any]:
        width = self.trained.world.spec.width
        question: NDArray[Any] = np.eye(width, dtype=np.float32)[-1]
        if place is not None:
            question[place] = 1.0
        return question
