"""The audit of a benchmark in one view: can answers be guessed from the surface of the items?

Rules are learned on some items of a seed and tested on others. Significant ones are tested again on
further items, and only confirmed ones are reported. The rules that reach the confirmation share its
error rate (Bonferroni); they were chosen on other items, so an audit of clean items raises a false
alarm in at most 1% of runs, however many rules were tried.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt
from typing import Any

import numpy as np

from trivium.auditing.features import PromptFeatures, common_words
from trivium.auditing.judging import Outcome, judge, judge_exclusion
from trivium.auditing.rules import (
    TREES,
    Rule,
    TextModel,
    pair_rules,
    remainder_rules,
    screen,
    single_rules,
    tree_rule,
)
from trivium.auditing.samples import Floats, Row, Sample, collect, feature_names, make_rows
from trivium.auditing.tails import interval, upper_tail
from trivium.core.benchmark import AnyBenchmark, Solver
from trivium.core.dialogue import Dialogue, next_reply
from trivium.core.errors import require
from trivium.core.probes import GAIN, LEVEL, Audit, Cue
from trivium.core.spec import spec_to_dict
from trivium.core.statistics import items_to_see
from trivium.core.streams import stream_key
from trivium.core.task import PresentedItem, Task

ALARM = 1 - LEVEL  # the rate of false alarms in audits of clean items
SELECT = 0.001  # the significance at which a cue reaches the confirmation
POWER = 0.975  # of the test; with the confirmation after it, more than 0.95 in all
PEEK = 200  # items from which the number of items needed is estimated
TRAIN = 3000  # maximum number of training items
MAX_ITEMS = 20_000
CHUNKS = 4  # of each part: the parts are interleaved, so that all see every stretch of a seed


@dataclass(frozen=True)
class Part:
    """Some items of the seed, and every probe of them."""

    items: list[PresentedItem]
    samples: Mapping[str, Sample]


@dataclass(frozen=True)
class Attack:
    """A rule or a solver, and the function that scores it on the items of a part."""

    name: str
    about: str
    outcome: Callable[[Part], Outcome]


def audit(  # noqa: PLR0917 - the view is an option of every caller
    benchmark: AnyBenchmark,
    spec: Any,
    seed: int,
    items: int | None = None,
    trees: int = TREES,
    view: Any = None,
) -> Audit:
    """The audit of a spec in a view, by default with as many items as are needed.

    Fewer trees make the learned probe faster and weaker.
    """
    task = Task(benchmark, spec, benchmark.view_type() if view is None else view)
    study = _Study(task, seed, trees)
    needed = study.needed
    count = min(needed, MAX_ITEMS) if items is None else items
    study.run(count)
    names = [name for name, preset in benchmark.presets.items() if preset == spec]
    return Audit(
        cues=tuple(_confirmed_cues(study)),
        items=count,
        level=LEVEL,
        notes=tuple(study.notes),
        needed=needed,
        floor=task.floor.name,
        floor_value=task.floor.value,
        keeps_leaks=any(name in benchmark.leaky_presets for name in names),
        view=spec_to_dict(task.view),
    )


def _confirmed_cues(study: _Study) -> Iterator[Cue]:
    """A cue for every attack, tested again on fresh items if its test was significant."""
    chosen = sum(map(is_chosen, study.tested))
    fresh = study.part("confirm") if chosen else None
    for attack, outcome in zip(study.attacks, study.tested, strict=True):
        final = attack.outcome(fresh) if fresh is not None and is_chosen(outcome) else None
        yield cue(attack.name, attack.about, outcome, final, chosen)


def is_chosen(outcome: Outcome) -> bool:
    """Whether an attack reaches the confirmation."""
    return upper_tail(outcome.values, outcome.chance) < SELECT


def cue(name: str, about: str, tested: Outcome, confirmed: Outcome | None, chosen: int) -> Cue:
    """An attack's cue; `chosen` attacks share the error rate of the confirmation."""
    final, error = (tested, SELECT) if confirmed is None else (confirmed, ALARM / chosen)
    low, high = interval(final.values, error)
    value = float(final.values.mean()) if len(final.values) else final.chance
    p = upper_tail(tested.values, tested.chance)
    size = len(final.values)
    return Cue(name, about, value, low, high, final.chance, size, p, confirmed is not None)


def items_needed(chance: float) -> int:
    """The number of items that catch a cue of GAIN over chance with 95% probability."""
    inside = min(max(chance, 0.01), 0.95)
    return items_to_see(inside, GAIN, level=1 - SELECT, power=POWER)


class _Study:
    """The audit of a benchmark in one view."""

    def __init__(self, task: Task, seed: int, trees: int) -> None:
        self.task, self.trees = task, trees
        self.benchmark = task.benchmark
        self.seed = stream_key("audit", seed) % 2**32
        self.notes: list[str] = []
        self.attacks: list[Attack] = []
        self.tested: list[Outcome] = []
        self._ids: dict[str, dict[str, int]] = defaultdict(dict)
        self._text: dict[str, TextModel] = {}
        self._sizes: dict[str, int] = {}
        solvers = self.benchmark.solvers.values()
        self.shortcuts = [solver for solver in solvers if solver.role == "shortcut"]

    @cached_property
    def _first(self) -> list[Any]:
        return list(self.benchmark.generate(self.task.spec, self.seed, 0, PEEK))

    @cached_property
    def _common(self) -> frozenset[str]:
        surface, view = self.benchmark.surface, self.task.view
        return common_words([surface(item, view) for item in self._first])

    def part(self, name: str) -> Part:
        """The items of a part: every third stretch of the seed."""
        start, ranges = 0, []
        for _ in range(CHUNKS):
            for part, size in self._sizes.items():
                if part == name:
                    ranges.append((start, size))
                start += size
        items = [
            item for start, size in ranges for item in self.task.generate(self.seed, start, size)
        ]
        numbers = [start + number for start, size in ranges for number in range(size)]
        samples = self._samples([item.original for item in items], numbers)
        return Part(items, samples)

    def _samples(self, items: Sequence[Any], numbers: Sequence[int]) -> dict[str, Sample]:
        """Every probe of these items by name."""
        rows: dict[str, list[Row]] = defaultdict(list)
        feature_names_of: dict[str, tuple[list[str], list[str]]] = {}
        view = self.task.view
        for number, item in zip(numbers, items, strict=True):
            probes = [probe for probe in self.benchmark.probes(item, view) if probe.candidates]
            if not probes:
                continue
            names = {name for group in self.benchmark.names(item) for name in group}
            for probe in probes:
                names.update(probe.candidates, probe.marked.values(), probe.names)
            text = self.benchmark.surface(item, view)
            prompt = PromptFeatures(text, number, names, self._common)
            for row in make_rows(prompt, probes):
                rows[row.probe.name].append(row)
                if row.probe.name not in feature_names_of:
                    feature_names_of[row.probe.name] = feature_names(prompt, row.probe)
        samples = {
            name: collect(found, feature_names_of[name], self._ids[name])
            for name, found in rows.items()
        }
        return {
            name: self._text[name].extend(sample) if name in self._text else sample
            for name, sample in samples.items()
        }

    @cached_property
    def needed(self) -> int:
        """The number of items that detect GAIN over chance in every probe and shortcut."""
        needed = [items_needed(self.task.floor.value)] if self.shortcuts else []
        for sample in self._samples(self._first, range(PEEK)).values():
            share = float(sample.judged.sum()) / PEEK
            if share:
                needed.append(ceil(items_needed(_blind(sample)) / share))
        require(bool(needed), f"{self.benchmark.name} has neither probes nor shortcuts to audit")
        return max(needed)

    def run(self, count: int) -> None:
        """Learn every rule on training items, and test rules and shortcuts on others."""
        train = min(TRAIN, 2 * count)
        sizes = {"train": train, "test": count, "confirm": count}
        self._sizes = {name: ceil(size / CHUNKS) for name, size in sizes.items()}
        for solver in self.shortcuts:
            self.attacks.append(Attack(solver.name, solver.about, self._play(solver)))
        for probe, sample in self.part("train").samples.items():
            if sample.judged.any():
                self.attacks += self._rules(probe, sample)
                if probe == "answer" and sample.kind == "choice" and sample.same_names:
                    self.attacks.append(self._constant(sample))
            else:
                self.notes.append(f"{probe}: nothing, for no candidate is wrong or none is right")
        test = self.part("test")
        self.tested = [attack.outcome(test) for attack in self.attacks]

    def _rules(self, probe: str, sample: Sample) -> Iterator[Attack]:
        """The rules learned on the training items of a probe."""
        text = self._text[probe] = TextModel(sample)
        sample = text.extend(sample)
        screening = screen(sample)
        kinds: dict[str, dict[str, Rule]] = {
            "one feature": single_rules(sample),
            "remainders": remainder_rules(sample),
            "two features": pair_rules(sample, screening),
            "all pieces of text": {"text": text},
            "boosted trees on all features": {
                "learned probe": tree_rule(sample, screening, self.trees)
            },
        }
        for about, rules in kinds.items():
            for name, rule in rules.items():
                yield Attack(f"{probe}: {name}", about, _judged(probe, rule, judge))
                # A rule that finds a wrong candidate is a cue even if it misses the right one.
                if sample.kind == "choice" and sample.right.shape[1] > 2 and about == "one feature":
                    found = _judged(probe, rule, judge_exclusion)
                    yield Attack(f"{probe}: ruled out by {name}", about, found)
        tried = ", ".join(f"{len(rules)} of {about}" for about, rules in kinds.items())
        self.notes.append(f"{probe}: rules of {tried}")

    def _constant(self, sample: Sample) -> Attack:
        """The most frequent answer of the training items, compared with the floor."""
        best = int(np.bincount(sample.candidates[sample.right]).argmax())
        name = next(name for name, number in self._ids["answer"].items() if number == best)

        def outcome(part: Part) -> Outcome:
            given = part.samples["answer"]
            hits = (given.right & (given.candidates == best)).any(axis=1).astype(np.float64)
            return Outcome(hits, self.task.floor.value)

        return Attack(f"answer: always {name!r}", "a constant answer", outcome)

    def _play(self, solver: Solver) -> Callable[[Part], Outcome]:
        """The headline metric of a solver, compared with the floor and the lift it is allowed.

        In a game, where floors may be bounds, a shortcut may also gain GAIN.
        """
        enough = items_needed(self.task.floor.value)  # probes may need more
        gain = GAIN if self.benchmark.multi_turn else 0.0

        def outcome(part: Part) -> Outcome:
            scores, limits = [], []
            for item in part.items[:enough]:
                score = _score(item, solver)
                if score is not None:
                    floor = self.task.item_floor(item.original).value
                    ceiling = self.task.item_ceiling(item.original).value
                    scores.append(score)
                    limits.append(floor + max(gain, solver.allowed_lift * (ceiling - floor)))
            return Outcome(np.array(scores, dtype=np.float64), float(np.mean(limits or [1.0])))

        return outcome


def _judged(
    probe: str, rule: Rule, judged: Callable[[Sample, Floats], Outcome]
) -> Callable[[Part], Outcome]:
    """The function that judges a rule on the items of a part."""

    def outcome(part: Part) -> Outcome:
        sample = part.samples.get(probe)
        if sample is None:  # a probe that none of these items has
            return Outcome(np.empty(0), 0.5)
        return judged(sample, rule(sample))

    return outcome


def _score(item: PresentedItem, solver: Solver) -> float | None:
    """The headline metric of a solver's reply."""
    dialogue = Dialogue(item)
    while not dialogue.done:
        dialogue.send(next_reply(dialogue, solver))
    benchmark, view = item.task.benchmark, item.task.view
    answer = benchmark.parse(item.content, dialogue.visible, view)
    return benchmark.score(item.content, answer)[benchmark.metrics[0].name]


def _blind(sample: Sample) -> float:
    """A proportion whose variance is that of a blind guess in this probe."""
    if sample.kind == "label":
        return 0.5
    scores = np.random.default_rng(0).random(sample.right.shape).astype(np.float32)
    outcome = judge(sample, scores)
    if sample.kind == "choice":
        return outcome.chance
    return 0.5 - sqrt(max(0.0, 0.25 - float(outcome.values.var())))
