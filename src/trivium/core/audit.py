"""The audit of a benchmark: does anything on the surface of its items give the answer away?

Rules are learned on the items of one seed and tested on those of a second one. What is significant
there is tested again on a third, and only what is confirmed is reported. The error rate of the
confirmation is shared by all rules that are confirmed together (Bonferroni), and those were chosen
on other items, so an audit of clean items raises a false alarm in at most 1% of runs, however many
rules were tried.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from trivium.core.benchmark import AnyBenchmark, Solver
from trivium.core.cues import (
    Outcome,
    Rule,
    Sample,
    collect,
    judge,
    learned_rule,
    pair_rules,
    single_rules,
)
from trivium.core.dialogue import Dialogue, next_reply
from trivium.core.errors import require
from trivium.core.probes import GAIN, LEVEL, Audit, Cue, Probe
from trivium.core.spec import changed_fields
from trivium.core.statistics import items_to_see
from trivium.core.streams import stream_key
from trivium.core.surface import Page
from trivium.core.tails import interval, upper_tail
from trivium.core.task import PresentedItem, Task

ALARM = 1 - LEVEL  # how often an audit of clean items may raise a false alarm
SELECT = 0.01  # the level at which a cue goes on to the confirmation
SHARED = 10  # cues that are expected to share the confirmation's error rate, for the power
POWER = 0.96  # of the confirmation; with the test before it, more than 0.95 in all
PEEK = 200  # items from which the number of items needed is estimated
MAX_ITEMS = 20_000
PARTS = ("train", "test", "confirm")

ABOUT_LEARNED = "gradient-boosted trees on all features"


@dataclass
class Trial:
    """A rule or solver in one view, and how it is judged on the items of a part."""

    name: str
    about: str
    outcome: Callable[[str], Outcome]  # part to what it reached


def audit(benchmark: AnyBenchmark, spec: Any, seed: int, items: int | None = None) -> Audit:
    """Every shortcut tried on fresh items; `items` None takes as many as are needed."""
    studies = [_Study(benchmark, spec, view, seed) for view in benchmark.audit_views()]
    needed = max(study.needed() for study in studies)
    count = min(needed, MAX_ITEMS) if items is None else items
    trials, notes, learned = [], [], True
    for study in studies:
        study.count = count
        found = list(study.trials(len(studies) > 1))
        trials += found
        notes += study.notes
        learned &= study.learned
    floor = studies[0].task.floor
    names = [name for name, preset in benchmark.presets.items() if preset == spec]
    leaky = any(name in benchmark.leaky_presets or name.startswith("original") for name in names)
    return Audit(
        cues=tuple(confirm(trials)),
        items=count,
        level=LEVEL,
        notes=tuple(notes),
        needed=needed,
        learned=learned,
        floor=floor.name,
        floor_value=floor.value,
        keeps_leaks=leaky,
    )


def confirm(trials: Sequence[Trial]) -> list[Cue]:
    """Each trial as a cue: tested, and where it is significant tested again on fresh items."""
    tested = [(trial, trial.outcome("test")) for trial in trials]
    p_values = [upper_tail(outcome.values, outcome.chance) for _, outcome in tested]
    chosen = sum(p < SELECT for p in p_values)
    cues = []
    for (trial, outcome), p in zip(tested, p_values, strict=True):
        again = p < SELECT
        final = trial.outcome("confirm") if again else outcome
        low, high = interval(final.values, ALARM / chosen if again else SELECT)
        value = float(final.values.mean()) if len(final.values) else final.chance
        size = len(final.values)
        cues.append(Cue(trial.name, trial.about, value, low, high, final.chance, size, p, again))
    return cues


class _Study:
    """The items of a benchmark in one view, made and rendered when they are first needed."""

    def __init__(self, benchmark: AnyBenchmark, spec: Any, view: Any, seed: int) -> None:
        self.benchmark = benchmark
        self.task = Task(benchmark, spec, view)
        self.seeds = {part: stream_key("audit", seed, part) % 2**32 for part in PARTS}
        self.count = 0
        self.learned = True
        self.notes: list[str] = []
        self._ids: dict[str, dict[str, int]] = defaultdict(dict)
        self._items: dict[str, list[PresentedItem]] = {}
        self._samples: dict[tuple[str, int], dict[str, Sample]] = {}

    def items(self, part: str, count: int) -> list[PresentedItem]:
        """Presented items of a part."""
        found = self._items.get(part)
        if found is None or len(found) != count:
            found = self._items[part] = self.task.items(count, self.seeds[part])
        return found

    def samples(self, part: str, count: int) -> dict[str, Sample]:
        """The features of every probe on the items of a part."""
        key = part, count
        if key not in self._samples:
            self._samples[key] = self._collect(self.items(part, count))
        return self._samples[key]

    def _collect(self, items: Sequence[PresentedItem]) -> dict[str, Sample]:
        found: dict[str, tuple[list[Page], list[Probe]]] = defaultdict(lambda: ([], []))
        view = self.task.view
        for number, item in enumerate(items):
            probes = self.benchmark.probes(item.original, view)
            if not probes:
                continue
            names = {name for group in self.benchmark.names(item.original) for name in group}
            for probe in probes:
                names.update(probe.candidates, probe.marked.values())
            page = Page(self.benchmark.surface(item.original, view), number, names)
            for probe in probes:
                pages, same = found[probe.name]
                pages.append(page)
                same.append(probe)
        return {
            name: collect(pages, same, self._ids[name]) for name, (pages, same) in found.items()
        }

    def needed(self) -> int:
        """Items that show GAIN over chance in every probe and for every shortcut."""
        floors = [self.task.floor.value] if self.shortcuts else []
        needed = [items_needed(floor) for floor in floors]
        for sample in self.samples("train", PEEK).values():
            share = float(sample.judged.sum()) / PEEK
            if share:
                outcome = judge(sample, np.zeros(sample.right.shape, dtype=np.float32))
                needed.append(ceil(items_needed(outcome.chance) / share))
        require(bool(needed), f"{self.benchmark.name} has neither probes nor shortcuts to audit")
        return max(needed)

    @property
    def shortcuts(self) -> list[Solver]:
        """The solvers that are tried."""
        solvers = self.benchmark.solvers.values()
        return [solver for solver in solvers if solver.role == "shortcut"]

    def trials(self, say_view: bool) -> Iterator[Trial]:
        """Every shortcut and every rule learned on the training items."""
        where = f" [{_view_name(self.task.view)}]" if say_view else ""
        for solver in self.shortcuts:
            yield Trial(solver.name + where, solver.about, self._solver_outcome(solver))
        for probe, sample in self.samples("train", self.count).items():
            if not sample.judged.any():
                self.notes.append(f"{probe}{where}: every item has one and the same answer")
                continue
            yield from self._rules(probe, sample, where)

    def _rules(self, probe: str, sample: Sample, where: str) -> Iterator[Trial]:
        singles, pairs = single_rules(sample), pair_rules(sample)
        for about, rules in (("one feature", singles), ("two features", pairs)):
            for name, rule in rules.items():
                yield Trial(f"{probe}: {name}{where}", about, self._rule_outcome(probe, rule))
        learned = learned_rule(sample)
        if learned is None:
            self.learned = False
        else:
            outcome = self._rule_outcome(probe, learned)
            yield Trial(f"{probe}: learned probe{where}", ABOUT_LEARNED, outcome)
        self.notes.append(
            f"{probe}{where}: {len(singles)} single features, {len(pairs)} pairs of features"
            + (", learned probe" if learned else "")
        )

    def _rule_outcome(self, probe: str, rule: Rule) -> Callable[[str], Outcome]:
        def outcome(part: str) -> Outcome:
            sample = self.samples(part, self.count)[probe]
            return judge(sample, rule(sample))

        return outcome

    def _solver_outcome(self, solver: Solver) -> Callable[[str], Outcome]:
        headline = self.benchmark.metrics[0].name

        def outcome(part: str) -> Outcome:
            scores = [
                score
                for item in self.items(part, self.count)
                if (score := _play(item, solver)[headline]) is not None
            ]
            return Outcome(np.array(scores, dtype=np.float64), self.task.floor.value)

        return outcome


def _play(item: PresentedItem, solver: Solver) -> dict[str, float | None]:
    dialogue = Dialogue(item)
    while not dialogue.done:
        dialogue.send(next_reply(dialogue, solver))
    return dict(dialogue.scores)


def _view_name(view: Any) -> str:
    fields = changed_fields(view)
    return ", ".join(f"{key}={value}" for key, value in fields.items()) or "default view"


def items_needed(chance: float) -> int:
    """Items on which a cue that is GAIN over chance is caught with 95% probability."""
    inside = min(max(chance, 0.01), 0.95)
    return items_to_see(inside, GAIN, level=1 - ALARM / SHARED, power=POWER)
