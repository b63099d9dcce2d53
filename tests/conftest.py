"""What all tests share."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.command_line import ITEMS, run

# Workers share the cores: threads of their own would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Machines differ in speed: a slow example is not a wrong one.
settings.register_profile(
    "trivium", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("trivium"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "trivium"))

# A shell ignores SIGINT in what it starts in the background, and so would every process that a
# test starts in order to interrupt it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """A file of a few items."""
    path = tmp_path / "items.jsonl"
    assert run(f"generate {ITEMS} --out", str(path)) == 0
    return path


@pytest.fixture(scope="module", autouse=True)
def _drop_compiled_programs() -> Iterator[None]:
    """Drop what JAX compiled for the tests of a module: a worker would keep it to its end."""
    yield
    if (jax := sys.modules.get("jax")) is not None:
        jax.clear_caches()
