"""The audit of a benchmark: can its answers be guessed from the surface of its items?

Rules are learned on the items of one seed and tested on those of a second. Significant ones are
tested again on a third, and only confirmed ones are reported. The rules that reach the confirmation
share its error rate (Bonferroni); they were chosen on other items, so an audit of clean items
raises a false alarm in at most 1% of runs, however many rules were tried.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

import numpy as np

from trivium.auditing.features import PromptFeatures
from trivium.auditing.rules import (
    TREES,
    Floats,
    Outcome,
    Row,
    Rule,
    Sample,
    collect,
    feature_names,
    judge,
    judge_exclusion,
    learned_rule,
    make_row,
    pair_rules,
    single_rules,
)
from trivium.auditing.tails import interval, upper_tail
from trivium.core.benchmark import AnyBenchmark, Solver
from trivium.core.dialogue import Dialogue, next_reply
from trivium.core.errors import require
from trivium.core.probes import GAIN, LEVEL, Audit, Cue
from trivium.core.spec import changed_fields
from trivium.core.statistics import items_to_see
from trivium.core.streams import stream_key
from trivium.core.task import PresentedItem, Task

ALARM = 1 - LEVEL  # the rate of false alarms in audits of clean items
SELECT = 0.01  # the significance at which a cue reaches the confirmation
SHARED = 10  # cues expected to share the confirmation's error rate, for the power
POWER = 0.975  # of the confirmation; with the test before it, more than 0.95 in all
PEEK = 200  # items from which the number of items needed is estimated
TRAIN = 6000  # maximum number of training items, unless more are tested
MAX_ITEMS = 20_000


@dataclass(frozen=True)
class Part:
    """The items of one seed, and every probe of them."""

    items: list[PresentedItem]
    samples: Mapping[str, Sample]


@dataclass(frozen=True)
class Attack:
    """A rule or a solver, and the function that scores it on the items of a part."""

    name: str
    about: str
    outcome: Callable[[Part], Outcome]


def audit(
    benchmark: AnyBenchmark, spec: Any, seed: int, items: int | None = None, trees: int = TREES
) -> Audit:
    """The audit of a spec; by default with as many items as are needed.

    Fewer trees make the learned probe faster and weaker.
    """
    studies = [_Study(benchmark, spec, view, seed, trees) for view in benchmark.audit_views()]
    needed = max(study.needed() for study in studies)
    count = min(needed, MAX_ITEMS) if items is None else items
    for study in studies:
        study.run(count, f" [{_view_name(study.task.view)}]" if len(studies) > 1 else "")
    floor = studies[0].task.floor
    names = [name for name, preset in benchmark.presets.items() if preset == spec]
    return Audit(
        cues=tuple(_confirmed_cues(studies, count)),
        items=count,
        level=LEVEL,
        notes=tuple(note for study in studies for note in study.notes),
        needed=needed,
        learned=all(study.learned for study in studies),
        floor=floor.name,
        floor_value=floor.value,
        keeps_leaks=any(name in benchmark.leaky_presets for name in names),
    )


def _confirmed_cues(studies: Sequence[_Study], count: int) -> Iterator[Cue]:
    """A cue for every attack, tested again on fresh items if its test was significant."""
    chosen = sum(is_chosen(outcome) for study in studies for outcome in study.tested)
    for study in studies:
        again = any(map(is_chosen, study.tested))
        fresh = study.part("confirm", count) if again else None
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
    return items_to_see(inside, GAIN, level=1 - ALARM / SHARED, power=POWER)


class _Study:
    """The audit of a benchmark in one view."""

    def __init__(
        self, benchmark: AnyBenchmark, spec: Any, view: Any, seed: int, trees: int = TREES
    ) -> None:
        self.benchmark = benchmark
        self.trees = trees
        self.task = Task(benchmark, spec, view)
        self.seed = seed
        self.learned = True
        self.notes: list[str] = []
        self.attacks: list[Attack] = []
        self.tested: list[Outcome] = []
        self._ids: dict[str, dict[str, int]] = defaultdict(dict)
        # In a game even a shortcut reads what its moves reveal, which is more than the surface.
        solvers = () if benchmark.multi_turn else benchmark.solvers.values()
        self.shortcuts = [solver for solver in solvers if solver.role == "shortcut"]

    def part(self, name: str, count: int) -> Part:
        """The items of the seed that belongs to this name."""
        items = self.task.items(count, stream_key("audit", self.seed, name) % 2**32)
        return Part(items, self._samples([item.original for item in items]))

    def _samples(self, items: Sequence[Any]) -> dict[str, Sample]:
        """Every probe of these items by name."""
        rows: dict[str, list[Row]] = defaultdict(list)
        feature_names_of: dict[str, tuple[list[str], list[str]]] = {}
        view = self.task.view
        for number, item in enumerate(items):
            probes = [probe for probe in self.benchmark.probes(item, view) if probe.candidates]
            if not probes:
                continue
            names = {name for group in self.benchmark.names(item) for name in group}
            for probe in probes:
                names.update(probe.candidates, probe.marked.values())
            prompt = PromptFeatures(self.benchmark.surface(item, view), number, names)
            for probe in probes:
                rows[probe.name].append(make_row(prompt, probe))
                if probe.name not in feature_names_of:
                    feature_names_of[probe.name] = feature_names(prompt, probe)
        return {
            name: collect(found, feature_names_of[name], self._ids[name])
            for name, found in rows.items()
        }

    def needed(self) -> int:
        """The number of items that detect GAIN over chance in every probe and shortcut."""
        needed = [items_needed(self.task.floor.value)] if self.shortcuts else []
        for sample in self.part("train", PEEK).samples.values():
            share = float(sample.judged.sum()) / PEEK
            if share:
                needed.append(ceil(items_needed(_blind(sample)) / share))
        require(bool(needed), f"{self.benchmark.name} has neither probes nor shortcuts to audit")
        return max(needed)

    def run(self, count: int, where: str) -> None:
        """Learn every rule on training items, and test rules and shortcuts on others."""
        for solver in self.shortcuts:
            self.attacks.append(Attack(solver.name + where, solver.about, self._play(solver)))
        for probe, sample in self.part("train", max(min(TRAIN, 2 * count), count)).samples.items():
            if sample.judged.any():
                self.attacks += self._rules(probe, sample, where)
                if probe == "answer" and sample.kind == "choice" and sample.same_names:
                    self.attacks.append(self._constant(sample, where))
            else:
                self.notes.append(
                    f"{probe}{where}: nothing, for no candidate is wrong or none is right"
                )
        test = self.part("test", count)
        self.tested = [attack.outcome(test) for attack in self.attacks]

    def _rules(self, probe: str, sample: Sample, where: str) -> Iterator[Attack]:
        """The rules learned on the training items of a probe."""
        singles, pairs = single_rules(sample), pair_rules(sample)
        learned = learned_rule(sample, self.trees)
        named: list[tuple[str, str, Rule]] = [
            *((name, "one feature", rule) for name, rule in singles.items()),
            *((name, "two features", rule) for name, rule in pairs.items()),
        ]
        if learned is None:
            self.learned = False
        else:
            named.append(("learned probe", "gradient-boosted trees on all features", learned))
        for name, about, rule in named:
            yield Attack(f"{probe}: {name}{where}", about, _judged(probe, rule, judge))
            # A rule that finds a wrong candidate is a cue even if it does not find the right one.
            if sample.kind == "choice" and sample.right.shape[1] > 2 and name not in pairs:
                found = _judged(probe, rule, judge_exclusion)
                yield Attack(f"{probe}: ruled out by {name}{where}", about, found)
        self.notes.append(
            f"{probe}{where}: {len(singles)} features, {len(pairs)} pairs of features"
            + ", learned probe" * (learned is not None)
        )

    def _constant(self, sample: Sample, where: str) -> Attack:
        """The most frequent answer of the training items, compared with the floor."""
        best = int(np.bincount(sample.candidates[sample.right]).argmax())
        name = next(name for name, number in self._ids["answer"].items() if number == best)

        def outcome(part: Part) -> Outcome:
            given = part.samples["answer"]
            hits = (given.right & (given.candidates == best)).any(axis=1).astype(np.float64)
            return Outcome(hits, self.task.floor.value)

        return Attack(f"answer: always {name!r}{where}", "a constant answer", outcome)

    def _play(self, solver: Solver) -> Callable[[Part], Outcome]:
        """The headline metric of a solver, compared with the floor."""
        enough = items_needed(self.task.floor.value)  # probes may need more

        def outcome(part: Part) -> Outcome:
            scores = [_score(item, solver) for item in part.items[:enough]]
            known = [score for score in scores if score is not None]
            return Outcome(np.array(known, dtype=np.float64), self.task.floor.value)

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


def _view_name(view: Any) -> str:
    fields = changed_fields(view)
    return ", ".join(f"{key}={value}" for key, value in fields.items()) or "default view"
