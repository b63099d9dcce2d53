"""Blicket-v0 after demonstrations, as in the experiment with children: `BlicketGiven-v0`.

An episode begins with the tests of two example machines, one a step, in which actions do nothing;
then the new machine is explored and the quiz follows.
"""

from __future__ import annotations

from typing import Any, Literal, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces

from trivium.benchmarks.blicket.inference.hypotheses import CONJUNCTIVE, DISJUNCTIVE
from trivium.benchmarks.blicket.world.env import BlicketEnv, Observation
from trivium.core.errors import require

# By the numbers of the objects, as the game shows them; "open" fits both kinds of machines.
TESTS = {
    CONJUNCTIVE: (((0,), 0), ((2,), 0), ((0, 2), 1)),
    DISJUNCTIVE: (((1,), 1), ((0,), 0), ((0, 1), 1)),
    "open": (((0,), 0), ((1,), 0), ((0, 2), 1)),
}


class DemonstrationsEnv(gymnasium.Env[Observation, Any]):
    """Watch two example machines, explore a new one, answer.

    Observations are those of Blicket-v0 and two more numbers: whether the first or the second
    example machine is shown. Which of them is the conjunctive one is drawn at every reset.
    """

    metadata = BlicketEnv.metadata

    def __init__(
        self,
        demonstrations: Literal["given", "not_given"] = "given",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        allowed = ("given", "not_given")
        require(
            demonstrations in allowed,
            f"demonstrations must be one of {', '.join(allowed)}, got {demonstrations!r}",
        )
        self._env = BlicketEnv(render_mode, **{"reward_structure": "quiz-type", **options})
        self.render_mode, self.rules = render_mode, self._env.rules
        require(self.rules.objects == 3, f"objects must be 3, got {self.rules.objects}")
        require(self.rules.interface == "sets", "interface must be sets")
        self._given = demonstrations == "given"
        self.action_space = self._env.action_space
        self.observation_space = spaces.Box(0.0, 1.0, (self.rules.width + 2,), np.float32)
        self._shown: list[Observation] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """A new machine, and the example machines in front of it."""
        super().reset(seed=seed)
        first, info = self._env.reset(seed=seed, options=options)
        rules = [CONJUNCTIVE, DISJUNCTIVE] if self._given else ["open", "open"]
        if self.np_random.integers(2):
            rules.reverse()
        shown = [self._example(number, *test) for number in (0, 1) for test in TESTS[rules[number]]]
        self._shown = [*shown, self._wide(first)]
        info["examples"] = tuple(rules)
        return self._shown.pop(0), info

    def step(self, action: Any) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """See the next demonstration, or act on the new machine."""
        if self._shown:
            return self._shown.pop(0), 0.0, False, False, {}
        seen, reward, terminated, truncated, info = self._env.step(action)
        return self._wide(seen), reward, terminated, truncated, info

    def render(self) -> Any:
        """The new machine as a picture or as text."""
        return self._env.render()

    def _wide(self, seen: Observation) -> Observation:
        return np.concatenate([seen, np.zeros(2, np.float32)])

    def _example(self, machine: int, placed: tuple[int, ...], light: int) -> Observation:
        seen = np.zeros(self.rules.width + 2, np.float32)
        seen[list(placed)] = 1
        seen[self.rules.objects] = light
        seen[self.rules.width + machine] = 1
        return seen
