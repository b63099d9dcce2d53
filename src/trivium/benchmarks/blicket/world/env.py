"""One blicket machine as a Gymnasium environment: `gymnasium.make("trivium/Blicket-v0")`.

Keyword arguments are the fields of `BlicketSpec`. `trivium/BlicketChild-v0` is the same world
with the hands of a child: toggle one object, press check, or finish.
"""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from trivium.benchmarks.blicket.world.dynamics import (
    OBSERVATION_MASK,
    STATE_BITS,
    STATE_MASK,
    BlicketSpec,
    make_tables,
)
from trivium.benchmarks.blicket.world.registration import register_envs
from trivium.benchmarks.blicket.world.render import RENDER_MODES, Scene, draw, write
from trivium.core.errors import UserError, require
from trivium.core.spec import spec_from_dict

REWARD_SHIFT = STATE_BITS + OBSERVATION_MASK.bit_length()
Observation = NDArray[np.float32]


def spec_of(options: dict[str, Any]) -> BlicketSpec:
    """The spec that keyword arguments stand for."""
    return spec_from_dict(BlicketSpec, options, where="Blicket-v0")


def observation_space(spec: BlicketSpec) -> spaces.Space[Any]:
    """Object bits, the light, and in the quiz structures the quiz flag."""
    return spaces.Box(0.0, 1.0, (spec.width,), np.float32)


def action_space(spec: BlicketSpec) -> spaces.Space[Any]:
    """A bit for each object and one for the quiz, or the number of a child's action."""
    if spec.interface == "child":
        return spaces.Discrete(spec.actions)
    return spaces.MultiDiscrete([2] * spec.action_bits)


class BlicketEnv(gymnasium.Env[Observation, Any]):
    """Explore a machine, then answer which objects are blickets."""

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012

    def __init__(self, render_mode: str | None = None, **options: Any) -> None:
        modes = ", ".join(RENDER_MODES)
        known = render_mode is None or render_mode in RENDER_MODES
        require(known, f"render_mode must be one of {modes}, got {render_mode!r}")
        self.render_mode = render_mode
        self.rules = spec_of(options)
        self.observation_space = observation_space(self.rules)
        self.action_space = action_space(self.rules)
        self._tables = make_tables(self.rules)
        # Plain lists: one lookup in a list is much faster than in an array.
        self._entries = self._tables.entries.tolist()
        self._rewards = self._tables.rewards.tolist()
        self._noise = self._tables.noise.tolist()
        self._over = int(self._tables.over)
        self._noisy = len(self._entries) == 2
        # From actions as Gymnasium writes them to their numbers; what is not here is no action.
        every = range(self.rules.actions)
        bits = range(self.rules.action_bits)
        self._codes: dict[Any, int] = (
            {code: code for code in every}
            if self.rules.interface == "child"
            else {tuple(code >> place & 1 for place in bits): code for code in every}
        )
        self._state = self._over
        self._seen = 0
        self._info: dict[str, Any] = {}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """A new machine, drawn uniformly, or the one that `options["hypothesis"]` names."""
        super().reset(seed=seed)
        known = self.rules.hypotheses
        wanted = (options or {}).get("hypothesis")
        require(
            wanted is None or wanted in known,
            f"hypothesis must be one of {', '.join(known)}, got {wanted!r}",
        )
        machine = (
            int(self.np_random.integers(len(known))) if wanted is None else known.index(wanted)
        )
        self._state = int(self._tables.starts[machine])
        self._seen = 0
        self._info = {"hypothesis": known[machine], "machine": machine}
        return self._observation(), dict(self._info)

    def step(self, action: Any) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Place a set and see the light, or answer the question that is asked."""
        told = action.tolist() if isinstance(action, np.ndarray) else action
        try:
            code = self._codes[told if self.rules.interface == "child" else tuple(told)]
        except (KeyError, TypeError):
            raise UserError(f"action must be in {self.action_space}, got {action!r}") from None
        flip = self._noisy and self.np_random.random() < self._noise[self._state]
        entry = self._entries[flip][self._state * self.rules.actions + code]
        self._state = entry & STATE_MASK
        self._seen = entry >> STATE_BITS & OBSERVATION_MASK
        reward = self._rewards[entry >> REWARD_SHIFT]
        done = self._state == self._over
        return self._observation(), reward, done, False, dict(self._info)

    def render(self) -> Any:
        """The machine as a picture or as text."""
        if self.render_mode is None:
            return None
        scene = Scene.of(self.rules, self._state, self._seen)
        return draw(scene) if self.render_mode == "rgb_array" else write(scene)

    def _observation(self) -> Observation:
        observation: Observation = self._tables.observations[self._seen].copy()
        return observation


register_envs()
