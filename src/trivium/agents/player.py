"""A trained agent as a solver of the blicket game."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from trivium.agents.trained import Trained, load_trained
from trivium.benchmarks.blicket.game.generate import GameAnswer
from trivium.benchmarks.blicket.game.render import Conversation
from trivium.benchmarks.blicket.game.solvers import player
from trivium.benchmarks.blicket.game.spec import EXAMPLES, UNSURE
from trivium.benchmarks.blicket.inference.hypotheses import (
    CONJUNCTIVE,
    DISJUNCTIVE,
    Hypothesis,
    letters,
    mask_of,
)
from trivium.benchmarks.blicket.world.dynamics import examples_seen
from trivium.core.benchmark import Solver
from trivium.core.errors import require
from trivium.core.streams import Stream

PREFIX = "agent:"


@lru_cache(maxsize=8)
def load_solver(name: str) -> Solver:
    """The solver that `agent:FOLDER` or `agent:FOLDER:NUMBER` names."""
    folder, _, number = name.removeprefix(PREFIX).partition(":")
    require(number.isdigit() or not number, f"{name}: the policy's number must be a whole number")
    agent = _Player(load_trained(Path(folder), int(number or 0)))
    about = f"{agent.trained.agent.name}, trained on {agent.trained.task.split}"
    return Solver(name, about, player(agent.explore, agent.conclude))


class _Player:
    """Converts the conversation to observations, and the policy's actions to moves."""

    def __init__(self, trained: Trained) -> None:
        self.trained = trained
        self.spec = trained.world.spec
        self._step = jax.jit(lambda policy, *moment: policy.step(*moment))

    def explore(self, seen: Conversation, stream: Stream) -> str | None:
        """The objects of the next test, or None when the agent enters the quiz."""
        _, action = self._after_tests(seen)
        objects = self.spec.objects
        if action[objects]:
            return None
        return letters(int((action[:objects] << np.arange(objects)).sum()))

    def conclude(self, seen: Conversation, stream: Stream) -> Hypothesis | GameAnswer:
        """The machine that the agent's answers to the quiz describe.

        If the agent was trained without the question about the form, the form follows from the
        paper's space of machines: one blicket is disjunctive, two are conjunctive. After
        demonstrations the agent says which example machine the new one is like, or "not sure".
        """
        carry, _ = self._after_tests(seen)
        questions = np.eye(self.spec.width, dtype=np.float32)
        blickets = 0
        for number in range(self.spec.objects):
            carry, action = self._act(carry, questions[number] + questions[-1])
            blickets |= int(action[number]) << number
        disjunctive = blickets.bit_count() < 2
        if self.spec.asks_type:
            _, action = self._act(carry, questions[-1])
            disjunctive = bool(action[0])
            if self.spec.has_examples:
                form = UNSURE if action[1] else EXAMPLES[action[0]]
                return GameAnswer(letters(blickets), form)
        # A machine needs a blicket: an agent that says no to all objects gets the first.
        return Hypothesis(DISJUNCTIVE if disjunctive else CONJUNCTIVE, blickets or 1)

    def _after_tests(self, seen: Conversation) -> tuple[Any, NDArray[Any]]:
        """The agent's memory after the tests so far, and its next action."""
        objects, found = self.spec.objects, seen.spec.objects
        require(found == objects, f"the agent knows {objects} objects, the game has {found}")
        shown = []
        if self.spec.has_examples:
            require(
                seen.spec.demonstrations != "none",
                "the agent was trained with demonstrations, and this game has none",
            )
            given = replace(self.spec, demonstrations=seen.spec.demonstrations)
            swapped = seen.examples.get(EXAMPLES[0]) == DISJUNCTIVE
            shown = examples_seen(given, int(swapped))
        for placed, light in seen.tests:
            shown.append(mask_of(placed) | light << objects)
        width = np.arange(self.spec.width)
        empty = np.zeros(self.spec.width, np.float32)
        carry, action = self._act(self.trained.policy.initial(1), empty, start=1.0)
        for code in shown:
            carry, action = self._act(carry, (code >> width & 1).astype(np.float32))
        return carry, action

    def _act(
        self, carry: Any, observation: NDArray[Any], start: float = 0.0
    ) -> tuple[Any, NDArray[Any]]:
        begun = jnp.full(1, start)
        carry, output = self._step(self.trained.policy, carry, observation[None], begun)
        logits = np.asarray(output.logits[0])
        return carry, np.asarray(logits[:, 1] > logits[:, 0], dtype=np.int64)
