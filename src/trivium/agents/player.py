"""A trained agent as a solver of the blicket game."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from trivium.agents.episodes import Moment
from trivium.agents.folders import Agent, load_agent
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
from trivium.benchmarks.blicket.world.dynamics import examples_seen, make_tables
from trivium.core.benchmark import Solver
from trivium.core.errors import require
from trivium.core.streams import Stream

PREFIX = "agent:"
EMPTY = 0  # the observation before the first test: nothing placed, no light


@lru_cache(maxsize=8)
def load_solver(name: str) -> Solver:
    """The solver that `agent:FOLDER` or `agent:FOLDER:NUMBER` names."""
    folder, _, number = name.removeprefix(PREFIX).partition(":")
    require(number.isdigit() or not number, f"{name}: the agent's number must be a whole number")
    agent = load_agent(Path(folder), int(number or 0))
    agent_player = Player(agent)
    about = f"{agent.name}, trained on {len(agent.spec.hypotheses)} machines"
    return Solver(name, about, player(agent_player.explore, agent_player.conclude))


class Player:
    """Converts the conversation to observations, and the agent's actions to moves."""

    def __init__(self, agent: Agent) -> None:
        self.agent, self.spec = agent, agent.spec
        require(agent.spec.has_quiz, "the agent was trained without a quiz and gives no answers")
        self._step = jax.jit(lambda actor, *now: actor.act(*now))

    def explore(self, seen: Conversation, stream: Stream) -> str | None:
        """The objects of the next test, or None when the agent enters the quiz."""
        _, code = self._after_tests(seen)
        objects = self.spec.objects
        late = len(seen.tests) > self.spec.max_steps  # when the environment would begin the quiz
        return None if late or code >> objects else letters(code)

    def conclude(self, seen: Conversation, stream: Stream) -> Hypothesis | GameAnswer:
        """The machine that the agent's answers to the quiz describe.

        If the agent was trained without the question about the form, the form follows from the
        paper's space of machines: one blicket is disjunctive, two are conjunctive. After
        demonstrations the agent says which example machine the new one is like, or "not sure".
        """
        carry, _ = self._after_tests(seen)
        flag, blickets, reward = 1 << self.spec.width - 1, 0, 0.0
        for number in range(self.spec.asks_objects):
            carry, code = self._act(carry, flag | 1 << number, reward)
            blickets |= code & 1 << number
            # The game does not say whether an answer was right; an agent that aims at a return
            # goes on as if it was.
            reward = self.spec.quiz_positive_reward
        disjunctive = blickets.bit_count() < 2
        if self.spec.asks_type:
            _, code = self._act(carry, flag, reward)
            disjunctive = bool(code & 1)
            if self.spec.has_examples:
                form = UNSURE if code & 2 else EXAMPLES[code & 1]
                return GameAnswer(letters(blickets), form)
        # A machine needs a blicket: an agent that says no to all objects gets the first.
        return Hypothesis(DISJUNCTIVE if disjunctive else CONJUNCTIVE, blickets or 1)

    def _after_tests(self, seen: Conversation) -> tuple[Any, int]:
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
        carry, action = self._act(self.agent.actor.initial(1), EMPTY, start=1.0)
        for code in shown:
            carry, action = self._act(carry, code)
        return carry, action

    def _act(
        self, carry: Any, seen: int, reward: float = 0.0, start: float = 0.0
    ) -> tuple[Any, int]:
        """The agent's memory and the number of its action after an observation."""
        observation = make_tables(self.spec).observations[[seen]]
        moment = Moment(observation, jnp.full(1, start), jnp.full(1, reward))
        likeliest = jnp.full((1, self.spec.action_bits), 0.5)
        carry, bits = self._step(self.agent.actor, carry, moment, likeliest)
        return carry, int(np.asarray(bits[0]) @ (1 << np.arange(self.spec.action_bits)))
