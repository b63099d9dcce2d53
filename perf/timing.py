"""Timing that a noisy machine does not spoil: the best of several rounds, in one run."""

from __future__ import annotations

import time
from collections.abc import Callable


def best_seconds(work: Callable[[], object], rounds: int = 5) -> float:
    """The shortest of some rounds: what the work costs when nothing gets in its way."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)
