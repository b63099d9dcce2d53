"""What we need of Inspect and it does not export; its version is pinned because of these."""

from __future__ import annotations

# What it raises for a missing package or key, and prints as one sentence instead of a traceback.
from inspect_ai._util.error import PrerequisiteError

# The only way for a model to know which sample it is asked about.
from inspect_ai.solver._task_state import sample_state

__all__ = ["PrerequisiteError", "sample_state"]
