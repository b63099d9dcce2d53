"""All kinds of planted leaks in one table, for the slow test and `perf/audit_leaks.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from tests.audit.leaks import LEAKS, UNSEEN, LeakSpec, Leaky, LeakyLabel, LeakyYesNo
from tests.audit.planted import Leak, planted
from tests.benchmarks.blicket import test_leaks as blicket
from tests.benchmarks.nhop import test_audit as nhop
from tests.benchmarks.variables import test_leaks as variables
from trivium.auditing.engine import audit
from trivium.auditing.results import Audit
from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.prompts import PROMPTS
from trivium.benchmarks.nhop import EXPLICIT
from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.spec import PRESETS, view_of
from trivium.core.benchmark import AnyBenchmark

ITEMS = 300


class Kind(NamedTuple):
    """A benchmark with one planted leak."""

    benchmark: AnyBenchmark
    spec: Any
    view: Any = None

    def audit(self, seed: int, items: int = ITEMS) -> Audit:
        """An audit of few items with few trees."""
        return audit(self.benchmark, self.spec, seed, items, trees=12, view=self.view)


def keep_if(holds: Callable[[Any, int], bool]) -> Leak:
    """A leak that keeps the items in which it holds."""
    return lambda item, index: item if holds(item, index) else None


def _table() -> dict[str, Kind]:
    found = {leak: Kind(Leaky(), LeakSpec(leak)) for leak in LEAKS}
    found |= {f"label: {leak}": Kind(LeakyLabel(), LeakSpec(leak)) for leak in LeakyLabel.leaks}
    found |= {f"yes/no: {leak}": Kind(LeakyYesNo(), LeakSpec(leak)) for leak in LeakyYesNo.leaks}
    one_block = replace(nhop.HARD, L=1)
    for name, (holds, _) in nhop.LEAKS.items():
        found[f"nhop: {name}"] = Kind(planted(EXPLICIT, keep_if(holds)), one_block)
    for preset, leaks in (
        ("balanced-ctrl", variables.CONTROL),
        ("balanced-hypotheses", variables.VALIDITY),
    ):
        for name, (leak, renderer, _) in leaks.items():
            found[f"variables: {name}"] = Kind(
                planted(VARIABLES, leak), PRESETS[preset], view_of(renderer)
            )
    spaced = planted(VARIABLES, lambda item, _: item, variables.spaced)
    found["variables: space in the header"] = Kind(spaced, PRESETS["balanced-ctrl"], view_of("csv"))
    for name, (leak, _) in blicket.OF_PROMPTS.items():
        found[f"prompts: {name}"] = Kind(planted(PROMPTS, leak), PROMPTS.default_spec)
    for name, (leak, _) in blicket.OF_GAMES.items():
        found[f"game: {name}"] = Kind(planted(GAME, leak), GAME.default_spec)
    worded = planted(GAME, lambda item, _: item, blicket.wording_by_form)
    return found | {"game: wording by form": Kind(worded, GAME.default_spec)}


KINDS = _table()
NEW = {*UNSEEN, "yes/no: a number with a seven", "yes/no: last letters of two names in order"}
