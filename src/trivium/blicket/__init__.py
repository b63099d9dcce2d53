"""The blicket detector: causal overhypotheses, found by experimenting."""

from __future__ import annotations

import sys

if sys.modules.get("gymnasium") is not None:
    # Whoever has Gymnasium loaded may `gymnasium.make("trivium/Blicket-v0")` from here on; for
    # everybody else `import trivium.blicket.env` does the same.
    from trivium.blicket.registration import register_envs

    register_envs()
