"""Registers the environments with Gymnasium, which does not look for plugins itself."""

from __future__ import annotations

from trivium.core.errors import import_extra

OPTIONS = {
    "trivium/Blicket-v0": {},
    "trivium/BlicketChild-v0": {"interface": "child"},
    "trivium/BlicketGiven-v0": {"demonstrations": "given", "reward_structure": "quiz-type"},
    "trivium/BlicketNotGiven-v0": {"demonstrations": "not_given", "reward_structure": "quiz-type"},
}
# As models are asked: the game, and with `benchmark` any other.
TEXT = ("trivium/BlicketGame-v0", "trivium/Text-v0")


def register_envs() -> None:
    """Register every environment that is not registered yet."""
    registration = import_extra("gymnasium.envs.registration", "gym")
    for name, options in OPTIONS.items():
        if name not in registration.registry:
            registration.register(
                name,
                entry_point="trivium.benchmarks.blicket.world.env:BlicketEnv",
                vector_entry_point="trivium.benchmarks.blicket.world.vector:BlicketVectorEnv",
                kwargs=options,
            )
    for name in TEXT:
        if name not in registration.registry:
            registration.register(name, entry_point="trivium.adapters.text_env:TextEnv")
