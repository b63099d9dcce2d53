"""Makes Gymnasium know the environments; imports nothing heavy until Gymnasium asks."""

from __future__ import annotations

from typing import Any

NAMES: dict[str, dict[str, Any]] = {
    "trivium/Blicket-v0": {},
    "trivium/BlicketChild-v0": {"interface": "child"},
}


def register_envs() -> None:
    """Register every environment once; also the entry point that Gymnasium itself calls."""
    # Gymnasium calls this while it is being imported itself, so this much of it and no more.
    from gymnasium.envs.registration import register, registry  # noqa: PLC0415

    for name, options in NAMES.items():
        if name not in registry:
            register(
                name,
                entry_point="trivium.blicket.env:BlicketEnv",
                vector_entry_point="trivium.blicket.vector:BlicketVectorEnv",
                kwargs=options,
            )
