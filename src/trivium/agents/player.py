"""A trained agent at play: as a solver of the blicket game, and in recorded episodes."""

from __future__ import annotations

from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from trivium.agents.episodes import PolicyActor, play
from trivium.agents.trained import Trained, load_trained
from trivium.agents.worlds import task_setting, task_spec
from trivium.benchmarks.blicket.game.render import Conversation
from trivium.benchmarks.blicket.game.solvers import player
from trivium.benchmarks.blicket.inference.hypotheses import (
    CONJUNCTIVE,
    DEFAULT_SIX,
    DISJUNCTIVE,
    Hypothesis,
    letters,
    mask_of,
)
from trivium.benchmarks.blicket.world import jax_env
from trivium.benchmarks.blicket.world.recording import Episode
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
    """Turns the conversation into observations, and the policy's actions into moves."""

    def __init__(self, trained: Trained) -> None:
        self.trained = trained
        self.spec = trained.world.spec
        self._step = jax.jit(lambda policy, *moment: policy.step(*moment))

    def explore(self, seen: Conversation, stream: Stream) -> str | None:
        """The objects of the next test; None when the agent enters the quiz."""
        _, action = self._after_tests(seen)
        objects = self.spec.objects
        if action[objects]:
            return None
        return letters(int((action[:objects] << np.arange(objects)).sum()))

    def conclude(self, seen: Conversation, stream: Stream) -> Hypothesis:
        """The machine that the agent's answers to the quiz describe.

        For an agent that was never asked about the form it follows from the paper's space of
        machines: one blicket is disjunctive, two are conjunctive.
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
        # A machine must have a blicket: an agent that denies them all names the first.
        return Hypothesis(DISJUNCTIVE if disjunctive else CONJUNCTIVE, blickets or 1)

    def _after_tests(self, seen: Conversation) -> tuple[Any, NDArray[Any]]:
        """The agent's memory after the tests so far, and its next action."""
        objects, found = self.spec.objects, seen.spec.objects
        require(found == objects, f"the agent knows {objects} objects, the game has {found}")
        empty = np.zeros(self.spec.width, np.float32)
        carry, action = self._act(self.trained.policy.initial(1), empty, start=1.0)
        for placed, light in seen.tests:
            bits = mask_of(placed) >> np.arange(objects) & 1
            carry, action = self._act(carry, np.array([*bits, light, 0], np.float32))
        return carry, action

    def _act(
        self, carry: Any, observation: NDArray[Any], start: float = 0.0
    ) -> tuple[Any, NDArray[Any]]:
        begun = jnp.full(1, start)
        carry, output = self._step(self.trained.policy, carry, observation[None], begun)
        logits = np.asarray(output.logits[0])
        return carry, np.asarray(logits[:, 1] > logits[:, 0], dtype=np.int64)


def agent_episodes(trained: Trained, episodes: int, seed: int, greedy: bool) -> list[Episode]:
    """Episodes in the environment that the agent was trained in."""
    world, spec = trained.world, task_spec(trained.task)
    tables = task_setting(trained.task).train
    reset_key, act_key, step_key = jax.random.split(jax.random.key(seed), 3)
    begun = world.reset(tables, reset_key, (episodes,))
    shape = (world.longest, episodes, world.action_bits)
    uniform = jnp.full(shape, 0.5) if greedy else jax.random.uniform(act_key, shape)
    run = jax.jit(partial(play, world))
    played = run(tables, PolicyActor(trained.policy), begun, uniform=uniform, key=step_key)
    seen = jax.tree.map(np.asarray, played)
    machines = np.asarray(jax_env.machine(spec, begun[0]))
    # After the last answer the environment shows the quiz flag and nothing else.
    last = np.eye(world.observation_size, dtype=np.float32)[-1]
    return [
        Episode(
            np.vstack([seen.observation[number, :length], last]),
            seen.action[number, :length].astype(np.int64),
            seen.reward[number, :length].astype(np.float64),
            DEFAULT_SIX[machines[number]],
            seed,
        )
        for number, length in enumerate(seen.lengths)
    ]
