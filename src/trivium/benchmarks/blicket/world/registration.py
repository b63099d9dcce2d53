"""Makes Gymnasium know the environments; Gymnasium 1.x has no way to find them by itself."""

from __future__ import annotations

from typing import Any

from trivium.core.errors import import_extra

NAMES: dict[str, dict[str, Any]] = {
    "trivium/Blicket-v0": {},
    "trivium/BlicketChild-v0": {"interface": "child"},
}


def register_envs() -> None:
    """Register every environment once."""
    registration = import_extra("gymnasium.envs.registration", "gym")
    for name, options in NAMES.items():
        if name not in registration.registry:
            registration.register(
                name,
                entry_point="trivium.benchmarks.blicket.world.env:BlicketEnv",
                vector_entry_point="trivium.benchmarks.blicket.world.vector:BlicketVectorEnv",
                kwargs=options,
            )
