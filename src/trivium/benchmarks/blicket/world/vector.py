"""Many blicket machines at once: a step of the whole batch is one lookup in the table.

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

from trivium.benchmarks.blicket.world import env
from trivium.benchmarks.blicket.world.dynamics import decode, make_tables, transition
from trivium.benchmarks.blicket.world.render import RENDER_MODES, check_render_mode, show
from trivium.benchmarks.blicket.world.spec import BlicketSpec
from trivium.core.errors import UserError, require

Batch = NDArray[np.float32]
DRAWN_AT_ONCE = 10_000_000  # machines drawn ahead, since small draws cost more than the lookups


class BlicketVectorEnv(VectorEnv[Batch, NDArray[np.integer[Any]], NDArray[Any]]):
    """A batch of environments; with seed s, environment i is seeded with s + i.

    The state of an environment is the index of its first entry in the table, so that a step is
    one addition and four lookups. `info["machine"]` has the numbers of the machines among the
    hypotheses of the spec; `info["hypothesis"]` has their names after a reset only, since naming
    them makes a step a quarter slower. The generator of the whole batch inverts lights of noisy
    machines.
    """

    def __init__(
        self,
        num_envs: int = 1,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **options: Any,
    ) -> None:
        require(num_envs >= 1, f"num_envs must be at least 1, got {num_envs}")
        check_render_mode(render_mode)
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": list(RENDER_MODES), "autoreset_mode": self.autoreset_mode}
        self.rules = env.spec_of(options)
        self.single_observation_space = env.observation_space(self.rules)
        self.single_action_space = env.action_space(self.rules)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._unroll(self.rules)
        self._first = np.full(num_envs, self._end, dtype=np.intp)  # the first entry of each state
        self._machine = np.zeros(num_envs, dtype=np.intp)
        self._ended = np.ones(num_envs, dtype=np.bool_)
        self._index = self._first.copy()  # the entry of the last step; -1 after a reset
        self._generators: list[np.random.Generator] = []
        ahead = max(64, min(DRAWN_AT_ONCE // num_envs, 10_000))
        # The machines drawn ahead for each environment, and how many of them it has used.
        self._drawn = np.zeros((num_envs, ahead), dtype=np.min_scalar_type(len(self._starts)))
        self._used = np.full(num_envs, ahead)

    def _unroll(self, spec: BlicketSpec) -> None:
        """Tables from the index of an entry to the results of a step."""
        tables = make_tables(spec)
        self._end = int(tables.over) * spec.actions
        flips, self._flip_size = tables.entries.shape
        flip, state, action = np.ogrid[:flips, : int(tables.over) + 1, : spec.actions]
        after, seen, rewards, done = transition(tables, state, action, flip)
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            # The step after the last one is the reset: it ends nothing and shows zeros.
            done[:, -1], seen[:, -1] = False, 0
        # Rows of 4, 8 or 16 floats are copied whole; the padding is never returned.
        padded = 1 << (spec.width - 1).bit_length()
        rows = np.zeros((1 << spec.width, padded), dtype=np.float32)
        rows[:, : spec.width] = tables.observations
        self._next = (after.astype(np.intp) * spec.actions).reshape(-1)
        self._rows = rows[seen].reshape(-1, padded)
        self._rewards = rewards.reshape(-1)
        self._done = done.reshape(-1)
        self._noise = np.repeat(tables.noise, spec.actions) if flips == 2 else None
        self._starts = tables.starts[: int(tables.start_count)].astype(np.intp) * spec.actions

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Batch, dict[str, Any]]:
        """New machines in all environments, or where `options["reset_mask"]` is true.

        A list has a seed for each environment; None keeps its generator.
        `options["hypothesis"]` is the name of the machine for all of them.
        """
        self._seed(seed)
        options = env.check_options(options, "hypothesis", "reset_mask")
        mask = options.get("reset_mask")
        mask = np.ones(self.num_envs, dtype=np.bool_) if mask is None else np.asarray(mask)
        wanted = (self.num_envs,)
        require(mask.shape == wanted, f"reset_mask must have shape {wanted}, got {mask.shape}")
        which = np.flatnonzero(mask)
        self._begin(which)
        if "hypothesis" in options:
            number = env.machine_number(self.rules, options["hypothesis"])
            state = decode(self.rules, self._first[which] // self.rules.actions)
            self._go_to(which, number * self.rules.orders + state.order)
        self._ended[which] = False
        self._index[which] = -1
        names = np.array(self.rules.hypotheses, dtype=object)
        machines = {"machine": self._machine.copy(), "hypothesis": names[self._machine]}
        return self._observe(), machines

    def _seed(self, seed: int | Sequence[int | None] | None) -> None:
        """Seed the generators with one seed each, or counting up from one seed."""
        if isinstance(seed, Sequence):
            seeds = list(seed)
            count = self.num_envs
            require(len(seeds) == count, f"seed must hold {count} seeds, got {len(seeds)}")
        elif seed is None:
            seeds = [None] * self.num_envs
        else:
            seeds = [int(seed) + number for number in range(self.num_envs)]
            self._np_random = np.random.default_rng(int(seed))
            self._np_random_seed = int(seed)
        present: Sequence[Any] = self._generators or np.random.SeedSequence().spawn(self.num_envs)
        self._generators = [
            np.random.default_rng(source if given is None else given)
            for source, given in zip(present, seeds, strict=True)
        ]
        self._used[[given is not None for given in seeds]] = self._drawn.shape[1]

    def _observe(self) -> Batch:
        """The last observation of every environment; zeros after a reset."""
        rows: Batch = self._rows.take(self._index, axis=0)
        rows[self._index < 0] = 0.0
        return rows[:, : self.rules.width]

    def step(
        self, actions: NDArray[np.integer[Any]]
    ) -> tuple[Batch, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """One step of every environment."""
        index = self._first + self._codes(np.asarray(actions))
        if self._noise is not None:
            flips = self.np_random.random(self.num_envs, dtype=np.float32) < self._noise[index]
            index += flips * self._flip_size
        # Every index is valid, and "wrap" looks up faster than "raise".
        rows = self._rows.take(index, axis=0, mode="wrap")
        rewards = self._rewards.take(index, mode="wrap")
        done = self._done.take(index, mode="wrap")
        self._first = self._next.take(index, mode="wrap")
        self._index = index
        info: dict[str, Any] = {}
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            self._begin(self._ended.nonzero()[0])
        elif self.autoreset_mode == AutoresetMode.SAME_STEP:
            which = done.nonzero()[0]
            if which.size:
                info["final_obs"] = rows[:, : self.rules.width].copy()
                info["_final_obs"] = info["_final_info"] = done.copy()
                info["final_info"] = {"machine": self._machine.copy(), "_machine": done.copy()}
                self._begin(which)
                rows[which] = 0.0
                index[which] = -1
        self._ended = done.copy()  # callers may change the returned array
        info["machine"] = self._machine.copy()
        truncated = np.zeros(self.num_envs, dtype=np.bool_)
        return rows[:, : self.rules.width], rewards, done, truncated, info

    def _begin(self, which: NDArray[np.intp]) -> None:
        """Draw a machine for each of these environments."""
        if not self._generators:
            self._seed(None)
        ahead = self._drawn.shape[1]
        used = self._used.take(which)
        if used.size and used.max() == ahead:
            for number in which[used == ahead].tolist():
                drawn = self._generators[number].integers(len(self._starts), size=ahead)
                self._drawn[number] = drawn
            used %= ahead
        self._go_to(which, self._drawn.take(which * ahead + used))
        self._used[which] = used + 1

    def _go_to(self, which: NDArray[np.intp], starts: Any) -> None:
        """Begin episodes at these starts."""
        self._machine[which] = starts // self.rules.orders
        self._first[which] = self._starts[starts]

    def _codes(self, actions: NDArray[Any]) -> NDArray[Any]:
        """The numbers of a batch of actions."""
        shape = self.action_space.shape
        if actions.shape != shape:  # `require` would format its message at every step
            raise UserError(f"actions must have shape {shape}, got {actions.shape}")
        if actions.dtype.kind not in "biu":
            raise UserError(f"actions must be integers, got {actions.dtype}")
        if isinstance(self.single_action_space, spaces.Discrete):
            low, high = int(actions.min()), int(actions.max())
            valid = low >= 0 and high < self.rules.actions
            require(valid, f"actions must be in 0..{self.rules.actions - 1}, got {low}..{high}")
            return actions
        if actions.dtype.itemsize > 1 or actions.shape[1] > 8:  # pack_bits checks 8 bytes of a row
            valid = not (actions & ~actions.dtype.type(1)).any()
            require(valid, "actions must be 0 or 1 in every component")
        return pack_bits(actions)

    def render(self) -> tuple[Any, ...] | None:
        """The machines as pictures or as texts."""
        if self.render_mode is None:
            return None
        states = (self._first // self.rules.actions).tolist()
        seen = (self._observe() @ (1 << np.arange(self.rules.width))).astype(int).tolist()
        pairs = zip(states, seen, strict=True)
        return tuple(show(self.render_mode, self.rules, *pair) for pair in pairs)


def pack_bits(actions: NDArray[Any]) -> NDArray[Any]:
    """Rows of zeros and ones as numbers, bit 0 first.

    A row of bytes is read as one word, and one multiplication moves the lowest bit of every byte
    into the word's highest byte, where byte i becomes bit i; no two products overlap. This is
    several times as fast as a matrix product.
    """
    count, width = actions.shape
    size = 4 if width <= 4 else 8
    if width < size:
        rows = np.zeros((count, size), dtype=np.int8)
        rows[:, :width] = actions
    else:
        rows = np.ascontiguousarray(actions[:, :size], dtype=np.int8)
    words = rows.view(f"<u{size}").reshape(-1)
    valid = not int(np.bitwise_or.reduce(words)) & ~0x0101010101010101
    require(valid, "actions must be 0 or 1 in every component")
    factor = 0x0102040810204080 >> 64 - 8 * size
    codes: NDArray[np.intp] = (words * factor >> 8 * size - 8).astype(np.intp)
    for bit in range(size, width):
        codes |= actions[:, bit].astype(np.intp) << bit
    return codes
