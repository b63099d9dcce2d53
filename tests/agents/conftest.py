"""Compiles programs without optimisations, which halves the time of these short tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import pytest


@pytest.fixture(autouse=True)
def quick_compilation() -> Iterator[None]:
    config: Any = jax.config  # its methods have no types
    config.update("jax_disable_most_optimizations", True)
    yield
    config.update("jax_disable_most_optimizations", False)
