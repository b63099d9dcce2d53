"""Reasoning benchmarks with exact answers, for models, agents, programs and people."""

import sys

__version__ = "0.1.0"

if sys.modules.get("gymnasium") is not None:
    # `gymnasium.make("trivium:trivium/Blicket-v0")` imports this module, and needs no other.
    from trivium.benchmarks.blicket.world.registration import register_envs

    register_envs()
