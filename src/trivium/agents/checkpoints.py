"""Pytrees of arrays in files: a line of JSON, then the leaves in equinox's format; no pickle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import orjson

from trivium.core.errors import UserError, require
from trivium.core.files import atomic_write, dump_line

T = TypeVar("T")


def save_tree(path: Path, tree: Any, **about: Any) -> None:
    """Write a pytree, and facts about it, atomically."""
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
