"""A study small enough for tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import jax
import pytest
from studies.blicket_learners.plan import QUICK, Scale


@pytest.fixture(scope="session")
def tiny() -> Scale:
    """The quick scale with networks of 8 units and hardly any steps."""
    return replace(
        QUICK,
        widths=(8,),
        points=2,
        steps=600,
        large_steps=1_100,
        transfer_steps=1_100,
        large_environments=4,
        machines_steps=1_100,
        machines_points=1,
        machines_environments=4,
        machines_width=8,
        machines=(2, 3),
        few_machines=(2,),
        untrained_episodes=4,
        authors_episodes=60,
        random_episodes=60,
        agent_episodes=60,
        rollouts=5,
        trials=2,
        imitation=replace(QUICK.imitation, width=8, layers=1, epochs=1),
    )


@pytest.fixture
def quick_compilation() -> Iterator[None]:
    """Programs that run for a moment are compiled without optimisations: half of the time."""
    config: Any = jax.config  # its methods have no types
    config.update("jax_disable_most_optimizations", True)
    yield
    config.update("jax_disable_most_optimizations", False)
