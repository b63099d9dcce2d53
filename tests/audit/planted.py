"""Planting a leak into the items of a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from trivium.auditing.results import Audit
from trivium.core.benchmark import AnyBenchmark

MAX_DRAWN = 20_000  # items of which a leak may keep some

Leak = Callable[[Any, int], Any]  # an item and its index: the item with the leak, or None


def planted(
    benchmark: AnyBenchmark, leak: Leak, show: Callable[[Any, str], str] | None = None
) -> AnyBenchmark:
    """The benchmark with items that the leak has changed, or of which it has kept only some.

    `show` changes the text that the audit sees.
    """

    made: dict[Any, tuple[list[Any], Iterator[Any]]] = {}

    class Planted(type(benchmark)):  # type: ignore[misc]
        def surface(self, item: Any, view: Any) -> str:
            text = benchmark.surface(item, view)
            return text if show is None else show(item, text)

        def generate(self, spec: Any, seed: int, start: int = 0, count: int = 1) -> Iterator[Any]:
            # An audit asks for many slices: what is planted once serves them all.
            items, source = made.setdefault(
                (spec, seed), ([], benchmark.generate(spec, seed, 0, MAX_DRAWN))
            )
            while len(items) < start + count:
                changed = leak(next(source), len(items))
                if changed is not None:
                    items.append(changed)
            yield from items[start : start + count]

    return Planted()


def caught(audit: Audit) -> str:
    """The names of all cues that are caught."""
    return "; ".join(cue.name for cue in audit.cues if cue.caught) + ";"


def first_quick(names: Iterable[str]) -> list[Any]:
    """The first name; the others are left to the slow tier."""
    first, *others = names
    return [first, *(pytest.param(name, marks=pytest.mark.slow) for name in others)]
