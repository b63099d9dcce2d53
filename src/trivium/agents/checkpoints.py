"""Pytrees of arrays on disk: one npz file with a named entry for each leaf, and no pickle.

equinox's serialisation has no names: it cannot read agents of version 0.1, nor say which leaf
of a file does not fit.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, TypeVar
from zipfile import BadZipFile

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import keystr, tree_leaves_with_path
from numpy.typing import NDArray

from trivium.core.errors import UserError, require
from trivium.core.files import atomic_write

T = TypeVar("T")
Arrays = dict[str, NDArray[Any]]
# Fields whose names in files are those of version 0.1, so that its agents still load.
NAMES_IN_FILES = {"environments": "place", "positions": "places", "vectors": "small"}


def save_arrays(path: Path, arrays: Arrays) -> None:
    """Write named arrays; readers see the old file or the new one, never half of it."""
    with atomic_write(path) as file:
        np.savez(file, allow_pickle=False, **arrays)


def load_arrays(path: Path) -> Arrays:
    """The named arrays of a file."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (OSError, ValueError, BadZipFile) as problem:
        raise UserError(f"{path}: not a file of arrays ({problem})") from None


def to_arrays(tree: Any, prefix: str = "") -> Arrays:
    """Every leaf under the path that leads to it; random keys as their words."""
    return {
        prefix + _name(path): np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)
        for path, leaf in tree_leaves_with_path(tree)
    }


def from_arrays(shape: T, arrays: Arrays, where: Path, prefix: str = "") -> T:
    """A pytree like `shape` (arrays, or what `jax.eval_shape` returns) with these leaves."""

    def read(path: Any, leaf: Any) -> Any:
        name = prefix + _name(path)
        require(name in arrays, f"{where}: {name} is missing; it belongs to another agent")
        value = jnp.asarray(arrays[name])
        value = jax.random.wrap_key_data(value) if _is_key(leaf) else value
        require(
            value.shape == leaf.shape and value.dtype == leaf.dtype,
            f"{where}: {name} is {value.dtype}{list(value.shape)}, "
            f"expected {leaf.dtype}{list(leaf.shape)}",
        )
        return value

    tree: T = jax.tree_util.tree_map_with_path(read, shape)
    return tree


def _name(path: Any) -> str:
    return re.sub(r"\w+", lambda field: NAMES_IN_FILES.get(field[0], field[0]), keystr(path))


def _is_key(leaf: Any) -> bool:
    return bool(jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key))
