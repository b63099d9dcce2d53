"""Pytrees of arrays on disk: one npz file with an entry for each leaf, and no pickle."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar
from zipfile import BadZipFile

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import UserError, require
from trivium.core.files import open_output

T = TypeVar("T")
Arrays = dict[str, NDArray[Any]]


def save_arrays(path: Path, arrays: Arrays) -> None:
    """Named arrays, put in place in one step so that no reader sees half of them."""
    partial = path.with_name(path.name + ".part")
    with open_output(partial) as file:
        np.savez(file, allow_pickle=False, **arrays)
    partial.replace(path)


def load_arrays(path: Path) -> Arrays:
    """The named arrays of a file."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (OSError, ValueError, BadZipFile) as problem:
        raise UserError(f"{path}: not a file of arrays ({problem})") from None


def to_arrays(tree: Any) -> Arrays:
    """Every leaf under the path that leads to it; random keys as their words."""
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return {jax.tree_util.keystr(path): np.asarray(_plain(leaf)) for path, leaf in leaves}


def from_arrays(shape: T, arrays: Arrays, where: Path) -> T:
    """A pytree like `shape` (arrays, or what `jax.eval_shape` gives) with these leaves."""
    leaves, structure = jax.tree_util.tree_flatten_with_path(shape)
    filled = []
    for path, leaf in leaves:
        name = jax.tree_util.keystr(path)
        require(name in arrays, f"{where}: {name} is missing; it belongs to another agent")
        is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        value = jnp.asarray(arrays[name])
        value = jax.random.wrap_key_data(value) if is_key else value
        fits = value.shape == leaf.shape and value.dtype == leaf.dtype
        require(
            fits,
            f"{where}: {name} is {value.dtype}{list(value.shape)}, "
            f"expected {leaf.dtype}{list(leaf.shape)}",
        )
        filled.append(value)
    made: T = jax.tree_util.tree_unflatten(structure, filled)
    return made


def _plain(leaf: Any) -> Any:
    is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
    return jax.random.key_data(leaf) if is_key else leaf
