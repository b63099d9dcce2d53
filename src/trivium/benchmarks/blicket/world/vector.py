"""Many blicket machines at once: a whole batch is one lookup in the table.

`gymnasium.make_vec("trivium/Blicket-v0", num_envs=4096, vectorization_mode="vector_entry_point")`
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from trivium.benchmarks.blicket.world.dynamics import BlicketSpec, make_tables, transition
from trivium.benchmarks.blicket.world.env import action_space, observation_space, spec_of
from trivium.benchmarks.blicket.world.render import RENDER_MODES, Scene, draw, write
from trivium.core.errors import require

Batch = NDArray[np.float32]
DRAWN_AT_ONCE = 1 << 14  # machines drawn ahead, since small draws cost more than the lookups


class BlicketVectorEnv(VectorEnv[Batch, NDArray[np.integer[Any]], NDArray[Any]]):
    """A batch of environments with one random generator.

    An environment's place in the table is kept as the number of its first entry, so that a
    step is one addition and four lookups. `info["machine"]` numbers the hypotheses of the spec.
    """

    def __init__(
        self,
        num_envs: int = 1,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **options: Any,
    ) -> None:
        require(num_envs >= 1, f"num_envs must be at least 1, got {num_envs}")
        known = render_mode is None or render_mode in RENDER_MODES
        modes = ", ".join(RENDER_MODES)
        require(known, f"render_mode must be one of {modes}, got {render_mode!r}")
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": list(RENDER_MODES), "autoreset_mode": self.autoreset_mode}
        self.rules = spec_of(options)
        self.single_observation_space = observation_space(self.rules)
        self.single_action_space = action_space(self.rules)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._unroll(self.rules)
        self._place = np.full(num_envs, self._end, dtype=np.intp)
        self._machine = np.zeros(num_envs, dtype=np.intp)
        self._ended = np.ones(num_envs, dtype=np.bool_)
        self._index = self._place.copy()
        self._ahead = np.zeros(0, dtype=np.intp)

    def _unroll(self, spec: BlicketSpec) -> None:
        """Tables from place and action straight to what a step hands out."""
        tables = make_tables(spec)
        self._end = int(tables.over) * spec.actions
        flips, size = tables.entries.shape
        flip, state, action = np.ogrid[:flips, : int(tables.over) + 1, : spec.actions]
        after, seen, rewards, done = transition(tables, state, action, flip)
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            # The step after the last one begins anew: it ends nothing and shows the first sight.
            done[:, -1], seen[:, -1] = False, 0
        # Rows of 4, 8 or 16 floats are copied whole; the padding is never handed out.
        padded = 1 << (spec.width - 1).bit_length()
        rows = np.zeros((1 << spec.width, padded), dtype=np.float32)
        rows[:, : spec.width] = tables.observations
        self._next = (after.astype(np.intp) * spec.actions).reshape(-1)
        self._rows = rows[seen].reshape(-1, padded)
        self._rewards = rewards.reshape(-1)
        self._done = done.reshape(-1)
        self._flip_size = size
        self._noise = np.repeat(tables.noise, spec.actions) if flips == 2 else None
        self._starts = tables.starts[: int(tables.machines)].astype(np.intp) * spec.actions

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Batch, dict[str, Any]]:
        """New machines everywhere, or where `options["reset_mask"]` says.

        One generator draws for the whole batch: a list of seeds seeds it as a whole, and a
        list with a None in it seeds nothing. `options["hypothesis"]` names the machine of all.
        """
        seeds = list(seed) if isinstance(seed, Sequence) else [seed]
        known_seeds = [int(one) for one in seeds if one is not None]
        if len(known_seeds) == len(seeds):
            single = len(seeds) == 1
            self._np_random = np.random.default_rng(known_seeds[0] if single else known_seeds)
            self._np_random_seed = known_seeds[0] if single else -1
            self._ahead = self._ahead[:0]
        asked = options or {}
        mask = asked.get("reset_mask")
        if mask is not None:
            shape = np.shape(mask)
            require(
                shape == (self.num_envs,),
                f"reset_mask must have shape ({self.num_envs},), got {shape}",
            )
        which = np.arange(self.num_envs) if mask is None else np.flatnonzero(mask)
        self._begin(which)
        if "hypothesis" in asked:
            known, wanted = list(self.rules.hypotheses), asked["hypothesis"]
            require(
                wanted in known, f"hypothesis must be one of {', '.join(known)}, got {wanted!r}"
            )
            self._machine[which] = known.index(wanted)
            self._place[which] = self._starts[known.index(wanted)]
        self._ended[which] = False
        self._index[which] = -1
        return self._observe(), {"machine": self._machine.copy()}

    def _observe(self) -> Batch:
        """What every environment showed last; all zeros after a reset."""
        rows: Batch = self._rows.take(self._index, axis=0)
        rows[self._index < 0] = 0.0
        return rows[:, : self.rules.width]

    def step(
        self, actions: NDArray[np.integer[Any]]
    ) -> tuple[Batch, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """One step of every environment."""
        index = self._place + self._codes(np.asarray(actions))
        if self._noise is not None:
            flips = self.np_random.random(self.num_envs, dtype=np.float32) < self._noise[index]
            index += flips * self._flip_size
        rows = self._rows.take(index, axis=0)
        rewards = self._rewards.take(index)
        done = self._done.take(index)
        self._place = self._next.take(index)
        self._index = index
        info: dict[str, Any] = {}
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            self._begin(np.flatnonzero(self._ended))
        elif self.autoreset_mode == AutoresetMode.SAME_STEP:
            which = np.flatnonzero(done)
            if which.size:
                info["final_obs"] = rows[:, : self.rules.width].copy()
                info["_final_obs"] = info["_final_info"] = done.copy()
                info["final_info"] = {"machine": self._machine.copy(), "_machine": done.copy()}
                self._begin(which)
                rows[which] = 0.0
                index[which] = -1
        self._ended = done.copy()  # what is handed out may be written to
        info["machine"] = self._machine.copy()
        truncated = np.zeros(self.num_envs, dtype=np.bool_)
        return rows[:, : self.rules.width], rewards, done, truncated, info

    def _begin(self, which: NDArray[np.intp]) -> None:
        """Draw a machine for each of these environments and put them at its start."""
        while self._ahead.size < which.size:
            count = max(DRAWN_AT_ONCE, self.num_envs)
            drawn = self.np_random.integers(len(self._starts), size=count)
            self._ahead = np.concatenate([self._ahead, drawn])
        chosen, self._ahead = self._ahead[: which.size], self._ahead[which.size :]
        self._machine[which] = chosen
        self._place[which] = self._starts[chosen]

    def _codes(self, actions: NDArray[Any]) -> NDArray[Any]:
        """The numbers of a batch of actions."""
        shape = self.action_space.shape
        require(actions.shape == shape, f"actions must have shape {shape}, got {actions.shape}")
        whole = actions.dtype.kind in "biu"
        require(whole, f"actions must be whole numbers, got {actions.dtype}")
        if isinstance(self.single_action_space, spaces.Discrete):
            least, most = int(actions.min()), int(actions.max())
            good = least >= 0 and most < self.rules.actions
            require(good, f"actions must be in 0..{self.rules.actions - 1}, got {least}..{most}")
            return actions
        if actions.dtype.itemsize > 1 or actions.shape[1] > 8:  # what pack_bits cannot see
            good = not (actions & ~actions.dtype.type(1)).any()
            require(good, "actions must be 0 or 1 in every place")
        return pack_bits(actions)

    def render(self) -> tuple[Any, ...] | None:
        """The machines as pictures or as texts."""
        if self.render_mode is None:
            return None
        show = draw if self.render_mode == "rgb_array" else write
        seen = (self._observe() @ (1 << np.arange(self.rules.width))).astype(int)
        states = self._place // self.rules.actions
        pairs = zip(states, seen, strict=True)
        return tuple(show(Scene.of(self.rules, int(state), int(code))) for state, code in pairs)


def pack_bits(actions: NDArray[Any]) -> NDArray[Any]:
    """Rows of zeros and ones as numbers, bit 0 first.

    A row of bytes is read as one word, and one multiplication moves the lowest bit of every
    byte into the word's highest byte: byte i, at 8 i, is shifted by top - 7 i to top + i, and
    no two products meet on the way.
    """
    count, width = actions.shape
    lanes = 4 if width <= 4 else 8
    small = np.ascontiguousarray(actions[:, :lanes], dtype=np.int8)
    if small.shape[1] < lanes:
        padded = np.zeros((count, lanes), dtype=np.int8)
        padded[:, :width] = small
        small = padded
    word = np.dtype(f"<u{lanes}")
    words = small.view(word).reshape(-1)
    ones = word.type(int.from_bytes(b"\x01" * lanes, "little"))
    good = not np.bitwise_or.reduce(words) & ~ones
    require(good, "actions must be 0 or 1 in every place")
    top = 8 * lanes - 8
    move = word.type(sum(1 << top - 7 * lane for lane in range(lanes)))
    codes: NDArray[np.intp] = (words * move >> word.type(top)).astype(np.intp)
    for place in range(lanes, width):
        codes |= actions[:, place].astype(np.intp) << place
    return codes
