"""Training many runs at once, segment by segment; used by reinforcement learners and imitators.

After each compiled segment the training may report, write a checkpoint or stop; none of these
changes the runs.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import orjson

from trivium.core.errors import UserError, require
from trivium.core.files import atomic_write, dump_line
from trivium.core.streams import stream_key

T = TypeVar("T")
SECONDS_BETWEEN_CHECKPOINTS = 120.0


def stack(trees: Sequence[Any]) -> Any:
    """Pytrees of the same shape as one pytree with a leading axis."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def pick(tree: Any, index: int) -> Any:
    """One entry of a stacked pytree."""
    return jax.tree.map(lambda leaf: leaf[index], tree)


def rounded(values: Any) -> Any:
    """Plain lists with three decimals, to keep the files small."""
    return np.round(np.asarray(values, dtype=np.float64), 3).tolist()


def run_key(*purpose: Any) -> jax.Array:
    """The random key of one run; hashed from its purpose, so that no two runs share draws."""
    word = stream_key("agents", *purpose) % (1 << 64)
    words = jnp.array([word >> 32, word & 0xFFFFFFFF], dtype=jnp.uint32)
    return jnp.asarray(jax.random.wrap_key_data(words))


def save_tree(path: Path, tree: Any, **about: Any) -> None:
    """Write a line of JSON with facts, then a pytree in equinox's format, atomically."""
    with atomic_write(path) as file:
        file.write(dump_line(about))
        eqx.tree_serialise_leaves(file, tree, _write)


def load_tree(path: Path, like: Callable[[dict[str, Any]], T]) -> tuple[T, dict[str, Any]]:
    """The pytree in a file and the facts about it.

    `like` returns a pytree of the same shape for these facts: arrays, or the result of
    `jax.eval_shape`.
    """
    try:
        with path.open("rb") as file:
            about = orjson.loads(file.readline())
            tree: T = eqx.tree_deserialise_leaves(file, like(about), _read)
            require(not file.read(1), "it has more arrays")
    except (OSError, EOFError, ValueError, KeyError, TypeError, RuntimeError, UserError) as problem:
        reason = str(problem).partition("\n")[0]
        raise UserError(f"{path}: not a file of this agent ({reason})") from None
    return tree, about


# Random keys are stored as words, since equinox cannot write keys.


def _write(file: Any, leaf: Any) -> None:
    jnp.save(file, jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _read(file: Any, leaf: Any) -> Any:
    value = jnp.load(file)
    return jax.random.wrap_key_data(value) if _is_key(leaf) else value


def _is_key(leaf: Any) -> bool:
    return bool(jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key))


class Training(ABC):
    """Runs of one agent, trained side by side, and the learning curve so far."""

    def __init__(self, runs: Any, points: int) -> None:
        self.runs = runs  # a stacked pytree
        self.points = points  # segments of the whole training, each a point of the curve
        self.curve: list[Any] = []  # numpy, one entry for each point
        self.seconds = 0.0  # spent so far, compiling included

    @abstractmethod
    def segment(self, runs: Any) -> Any:
        """The runs after one more segment, and its point of the curve."""

    @abstractmethod
    def describe(self, seconds: float) -> str:
        """The progress after the last segment, which took so many seconds."""

    @property
    def finished(self) -> bool:
        """Whether every run has reached its last point."""
        return len(self.curve) >= self.points

    def advance(self) -> float:
        """Train to the next point of the curve; returns the seconds that it took."""
        began = time.perf_counter()
        runs, computed = self.segment(self.runs)
        point = jax.tree.map(np.asarray, computed)
        # Assigned last, so that Ctrl-C while waiting leaves runs and curve at the same step.
        self.runs = runs
        self.curve.append(point)
        spent = time.perf_counter() - began
        self.seconds += spent
        return spent

    def complete(
        self,
        *,
        checkpoint: Path | None = None,
        seconds: float | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> bool:
        """Train to the end or until the time is up; returns whether it reached the end.

        A checkpoint that exists is loaded first, and training goes on as if uninterrupted.
        """
        if checkpoint is not None and checkpoint.exists():
            self.load(checkpoint)
        began = saved = time.monotonic()
        try:
            while not self.finished:
                spent = self.advance()
                if tell is not None:
                    left = spent * (self.points - len(self.curve))
                    tell(f"{self.describe(spent)}, about {left:.0f} s left")
                now = time.monotonic()
                if seconds is not None and now - began > seconds:
                    break
                if checkpoint is not None and now - saved > SECONDS_BETWEEN_CHECKPOINTS:
                    self.save(checkpoint)
                    saved = now
        finally:
            # After Ctrl-C too.
            if checkpoint is not None and self.curve:
                self.save(checkpoint)
        return self.finished

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
        save_tree(path, (self.runs, self.curve), points=len(self.curve), seconds=self.seconds)

    def load(self, path: Path) -> None:
        """Continue from a checkpoint."""
        _, point = jax.eval_shape(self.segment, self.runs)
        like = lambda about: (self.runs, [point] * about["points"])  # noqa: E731
        (self.runs, curve), about = load_tree(path, like)
        self.curve = jax.tree.map(np.asarray, curve)
        self.seconds = about["seconds"]
