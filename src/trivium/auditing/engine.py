"""The audit of a benchmark in one view: can answers be guessed from the surface of the items?

Rules are learned on some items of a seed and tested on others, in up to eight looks, and
hopeless ones are dropped on the way. Significant ones are tested again on further items, and only
confirmed ones are reported. The rules that reach the confirmation share its error rate
(Bonferroni); they were chosen on other items, so an audit of clean items raises a false alarm in at
most 1% of runs, however many rules were tried and however they were chosen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from math import ceil, sqrt
from statistics import NormalDist
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
POWER = 0.977  # of the test; with the confirmation after it, more than 0.95 in all
PEEK = 200  # items from which the number of items needed is estimated
TRAIN = 3000  # maximum number of training items
MAX_ITEMS = 20_000
CHUNKS = 8  # of each part: the parts are interleaved, so that all see every stretch of a seed
LOOK = 300  # minimum number of items of a look at the test, and of a confirmation
HOPELESS = 3.3  # standard errors by which a dropped attack is below what a cue of GAIN reaches
# What a cue of GAIN reaches on average on as many items as are needed, in standard errors.
Z_NEEDED = NormalDist().inv_cdf(1 - SELECT) + NormalDist().inv_cdf(POWER)
NOT_TESTED = Outcome(np.empty(0), 0.5)


@dataclass(frozen=True)
class Part:
    """Some items of the seed, and every probe of them."""

    items: list[PresentedItem]
    samples: Mapping[str, Sample]
    played: int  # items on which solvers are scored: they may need fewer than probes


@dataclass
class Attack:
    """A rule or a solver, the function that scores it on the items of a part, and its test."""

    name: str
    about: str
    outcome: Callable[[Part], Outcome]
    probe: str | None = None  # that a rule answers
    tested: Outcome = NOT_TESTED


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
    chosen = [attack for attack in study.attacks if is_chosen(attack.tested)]
    fresh = study.part("confirm", chosen, confirmation_size(chosen)) if chosen else None
    for attack in study.attacks:
        final = attack.outcome(fresh) if fresh is not None and attack in chosen else None
        yield cue(attack.name, attack.about, attack.tested, final, len(chosen))


def is_chosen(outcome: Outcome) -> bool:
    """Whether an attack reaches the confirmation."""
    return upper_tail(outcome.values, outcome.chance) < SELECT


def is_hopeless(outcome: Outcome, share: float) -> bool:
    """Whether an attack is far below a cue of GAIN on this share of the items that are needed."""
    least = Z_NEEDED * sqrt(share) - HOPELESS
    return upper_tail(outcome.values, outcome.chance) >= NormalDist().cdf(-least)


def confirmation_size(chosen: Sequence[Attack]) -> int:
    """The number of items that confirm the strongest of these attacks at half its gain."""
    tests = [attack.tested for attack in chosen]
    chance, gain = max(
        ((test.chance, float(test.values.mean()) - test.chance) for test in tests),
        key=lambda found: found[1],
    )
    inside = min(max(chance, 0.01), 0.95)
    half = min(max(gain / 2, GAIN), (1 - inside) / 2)
    return max(LOOK, items_to_see(inside, half, 1 - ALARM / len(chosen), POWER))


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

    def part(
        self,
        name: str,
        attacks: Sequence[Attack] | None = None,
        size: int | None = None,
        chunks: Collection[int] = range(CHUNKS),
    ) -> Part:
        """Some stretches of the seed, with the probes of these attacks (default: all)."""
        wanted = None if attacks is None else {attack.probe for attack in attacks}
        each, total = self._sizes[name], sum(self._sizes.values())
        before = sum(self._sizes[part] for part in takewhile(name.__ne__, self._sizes))
        count = each if size is None else min(each, ceil(size / len(chunks)))
        starts = [chunk * total + before for chunk in chunks]
        items = [item for start in starts for item in self.task.generate(self.seed, start, count)]
        numbers = [start + number for start in starts for number in range(count)]
        samples = self._samples([item.original for item in items], numbers, wanted)
        enough = ceil(items_needed(self.task.floor.value) * len(chunks) / CHUNKS)
        return Part(items, samples, len(items) if size else min(len(items), enough))

    def _samples(
        self, items: Sequence[Any], numbers: Sequence[int], wanted: Collection[str | None] | None
    ) -> dict[str, Sample]:
        """The wanted probes of these items, or all of them, by name."""
        if wanted is not None and not any(wanted):
            return {}
        rows: dict[str, list[Row]] = defaultdict(list)
        feature_names_of: dict[str, tuple[list[str], list[str]]] = {}
        view = self.task.view
        for number, item in zip(numbers, items, strict=True):
            probes = [
                probe
                for probe in self.benchmark.probes(item, view)
                if probe.candidates and (wanted is None or probe.name in wanted)
            ]
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
        for sample in self._samples(self._first, range(PEEK), None).values():
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
        self._test(count)

    def _test(self, count: int) -> None:
        """Test all attacks in a few looks."""
        looks = np.array_split(range(CHUNKS), max(1, min(CHUNKS, count // LOOK)))
        alive, seen = self.attacks, 0
        for look in looks:
            part = self.part("test", alive, chunks=look.tolist())
            seen += len(part.items)
            for attack in alive:
                attack.tested = attack.tested.joined(attack.outcome(part))
            share = seen / self.needed
            alive = [attack for attack in alive if not is_hopeless(attack.tested, share)]

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
                yield Attack(f"{probe}: {name}", about, _judged(probe, rule, judge), probe)
                # A rule that finds a wrong candidate is a cue even if it misses the right one.
                if sample.kind == "choice" and sample.right.shape[1] > 2 and about == "one feature":
                    found = _judged(probe, rule, judge_exclusion)
                    yield Attack(f"{probe}: ruled out by {name}", about, found, probe)
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

        return Attack(f"answer: always {name!r}", "a constant answer", outcome, "answer")

    def _play(self, solver: Solver) -> Callable[[Part], Outcome]:
        """The headline metric of a solver, compared with the floor and the lift it is allowed.

        In a game, where floors may be bounds, a shortcut may also gain GAIN.
        """
        gain = GAIN if self.benchmark.multi_turn else 0.0

        def outcome(part: Part) -> Outcome:
            scores, limits = [], []
            for item in part.items[: part.played]:
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
