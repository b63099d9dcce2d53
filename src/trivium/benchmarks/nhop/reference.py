"""Figures that were published for n-hop composition, to stand beside measured ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trivium.benchmarks.nhop.spec import EXPLICIT_DIAGNOSTICS
from trivium.core.benchmark import Published

WHO = "gpt-4.1-mini (published)"
_SETUP = "temperature 0, M=256, 24 items, seed 7"


def _published(
    second: str, about: str, spec: Mapping[str, Any], table: Mapping[tuple[int, int], float]
) -> list[Published]:
    return [
        Published(WHO, {"n": hops, second: value}, em, about, spec)
        for (hops, value), em in table.items()
    ]


IMPLICIT = _published(
    "m",
    _SETUP,
    {"ablate_inner": False},
    {(4, 6): 0.833, (4, 8): 0.792, (6, 6): 0.167, (6, 8): 0.083, (8, 6): 0.208, (8, 8): 0.167},
)
EXPLICIT = _published(
    "L",
    f"{_SETUP}, all three cue controls",
    EXPLICIT_DIAGNOSTICS["all"].spec,
    {(4, 2): 0.667, (4, 3): 0.708, (6, 2): 0.208, (6, 3): 0.208, (8, 2): 0.250, (8, 3): 0.417},
)
