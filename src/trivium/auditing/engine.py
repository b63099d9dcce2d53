"""The audit of a benchmark in one view: can answers be guessed from the surface of the items?

Rules are learned on some items of a seed and tested on others, in up to eight looks, and
hopeless ones are dropped on the way. Significant ones are tested again on further items, and only
confirmed ones are reported. The rules that reach the confirmation share its error rate
(Bonferroni); they were chosen on other items, so an audit of clean items raises a false alarm in at
most 1% of runs, however many rules were tried and however they were chosen. An obvious leak ends
the test after the look that shows it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from math import ceil, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from trivium.auditing.features import PromptFeatures, common_words
from trivium.auditing.outcomes import POWER, Outcome, judge, judge_exclusion
from trivium.auditing.results import GAIN, LEVEL, MAX_ITEMS, Audit, Cue
from trivium.auditing.rules import TREES, Rule, learn_rules
from trivium.auditing.samples import Floats, Row, Sample, collect, feature_names, make_rows
from trivium.auditing.text import TextModel
from trivium.core.benchmark import AnyBenchmark, Solver
from trivium.core.dialogue import Dialogue, play
from trivium.core.errors import require
from trivium.core.spec import spec_to_dict
from trivium.core.streams import stream_key
from trivium.core.task import PresentedItem, Task

ALARM = 1 - LEVEL  # the rate of false alarms in audits of clean items
SELECT = 0.001  # the significance at which a cue reaches the confirmation
PEEK = 200  # items from which the number of items needed is estimated
TRAIN = 3000  # maximum number of training items
CHUNKS = 8  # of each part: the parts are interleaved, so that all see every stretch of a seed
LOOK = 300  # minimum number of items of a look
OBVIOUS = 1e-9  # the significance of a leak in a look that ends the test
HOPELESS = 3.0  # standard errors by which a dropped attack is below what a cue of GAIN reaches
NOTHING = Outcome(np.empty(0), 0.5)


@dataclass(frozen=True)
class Part:
    """Some items of the seed, and the probes of them."""

    items: list[PresentedItem]
    samples: Mapping[str, Sample]


@dataclass(frozen=True)
class Attack:
    """A rule or a solver, and the function that scores it on the items of a part."""

    name: str
    about: str
    outcome: Callable[[Part], Outcome]
    probe: str | None = None  # that a rule answers
    reads_text: bool = False  # whether it needs pieces of text, which take time to collect


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
    study = Study(task, seed)
    needed = study.needed
    count = min(needed, MAX_ITEMS) if items is None else items
    attacks = study.attacks(count, trees)
    # An obvious leak decides the verdict once it is confirmed; if it is not, the test goes on.
    for whole in (False, True):
        tested = study.score("test", attacks, count, SELECT, whole)
        cues = study.confirm(attacks, tested, count)
        ended = not whole and any(map(is_obvious, tested))
        if not ended or any(found.caught for found in cues):
            break
    looked_at = max(len(each.values) for each in tested) if ended else count
    names = [name for name, preset in benchmark.presets.items() if preset == spec]
    return Audit(
        cues=cues,
        items=min(count, looked_at),
        level=LEVEL,
        notes=tuple(study.notes),
        needed=needed,
        floor=task.floor.name,
        floor_value=task.floor.value,
        keeps_leaks=any(name in benchmark.leaky_presets for name in names),
        view=spec_to_dict(task.view),
    )


def is_obvious(outcome: Outcome) -> bool:
    """Whether an attack surely has a gain, and at least half of what is possible."""
    return outcome.p < OBVIOUS and 2 * outcome.mean >= 1 + outcome.chance


def is_hopeless(outcome: Outcome, level: float) -> bool:
    """Whether an attack is far below what a cue of GAIN reaches on as many items."""
    share = len(outcome.values) / outcome.needed(level)
    needed = NormalDist().inv_cdf(1 - level) + NormalDist().inv_cdf(POWER)
    return outcome.p >= NormalDist().cdf(HOPELESS - needed * sqrt(share))


def confirmation_size(tested: Sequence[Outcome]) -> int:
    """The number of items that confirm the strongest of these attacks at half its gain."""
    strongest = max(tested, key=lambda outcome: outcome.mean - outcome.chance)
    gain = max((strongest.mean - strongest.chance) / 2, GAIN)
    return max(LOOK, strongest.needed(ALARM / len(tested), gain))


def cue(name: str, about: str, tested: Outcome, confirmed: Outcome | None, error: float) -> Cue:
    """An attack's cue; `error` is its share of the error rate of the confirmation."""
    final = tested if confirmed is None else confirmed
    low, high = final.interval(SELECT if confirmed is None else error)
    size, is_confirmed = len(final.values), confirmed is not None
    return Cue(name, about, final.mean, low, high, final.chance, size, tested.p, is_confirmed)


class Study:
    """The items of an audit of a benchmark in one view, and the attacks on them."""

    def __init__(self, task: Task, seed: int) -> None:
        self.task = task
        self.benchmark = task.benchmark
        self.seed = stream_key("audit", seed) % 2**32
        self.notes: list[str] = []
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

    @cached_property
    def needed(self) -> int:
        """The number of items that detect GAIN over chance in every probe and shortcut."""
        floor = Outcome(np.empty(0), self.task.floor.value)
        needed = [floor.needed(SELECT)] if self.shortcuts else []
        for sample in self.samples(self._first, range(PEEK)).values():
            share = float(sample.judged.sum()) / PEEK
            if share:
                blind = np.random.default_rng(0).random(sample.right.shape).astype(np.float32)
                outcome = NOTHING if sample.kind == "label" else judge(sample, blind)
                needed.append(ceil(outcome.needed(SELECT) / share))
        require(bool(needed), f"{self.benchmark.name} has neither probes nor shortcuts to audit")
        return max(needed)

    def attacks(self, count: int, trees: int) -> list[Attack]:
        """All shortcuts, and all rules learned on training items."""
        sizes = {"train": min(TRAIN, 2 * count), "test": count, "confirm": count}
        self._sizes = {name: ceil(size / CHUNKS) for name, size in sizes.items()}
        found = [Attack(each.name, each.about, self._play(each)) for each in self.shortcuts]
        learned = self._part("train", range(CHUNKS), self._sizes["train"])
        for probe, sample in learned.samples.items():
            if not sample.judged.any():
                self.notes.append(f"{probe}: nothing, for no candidate is wrong or none is right")
                continue
            self._text[probe] = TextModel(sample)
            found += self._rules(probe, self._text[probe].extend(sample), trees)
            if probe == "answer" and sample.kind == "choice" and sample.same_names:
                found.append(self._constant(sample))
        return found

    def confirm(
        self, attacks: Sequence[Attack], tested: Sequence[Outcome], count: int
    ) -> tuple[Cue, ...]:
        """The cue of each attack; those that are significant are tested again."""
        chosen = [n for n, outcome in enumerate(tested) if outcome.p < SELECT]
        error = ALARM / max(1, len(chosen))
        size = min(count, confirmation_size([tested[n] for n in chosen])) if chosen else 0
        again = self.score("confirm", [attacks[n] for n in chosen], size, error)
        confirmed = dict(zip(chosen, again, strict=True))
        return tuple(
            cue(attack.name, attack.about, tested[n], confirmed.get(n), error)
            for n, attack in enumerate(attacks)
        )

    def score(
        self,
        part: str,
        attacks: Sequence[Attack],
        size: int,
        level: float,
        whole: bool = True,
    ) -> list[Outcome]:
        """The outcome of each attack on this many items, in looks.

        An attack that is hopeless, or has been tested on enough items, is not looked at again.
        Nor is any attack after an obvious one, unless the `whole` part is asked for.
        """
        outcomes = [NOTHING] * len(attacks)
        alive = list(range(len(attacks)))
        for chunks in np.array_split(range(CHUNKS), max(1, min(CHUNKS, size // LOOK))):
            if not alive:
                break
            each = min(self._sizes[part], ceil(size / CHUNKS))
            found = self._part(part, chunks.tolist(), each, [attacks[n] for n in alive])
            for n in alive:
                outcomes[n] = outcomes[n].joined(attacks[n].outcome(found))
            if not whole and any(is_obvious(outcomes[n]) for n in alive):
                break
            alive = [
                n
                for n in alive
                if len(outcomes[n].values) < outcomes[n].needed(level)
                and not is_hopeless(outcomes[n], level)
            ]
        return outcomes

    def _part(
        self, name: str, chunks: Sequence[int], each: int, attacks: Sequence[Attack] | None = None
    ) -> Part:
        """Some stretches of the seed, with the probes of these attacks (default: all)."""
        before = sum(self._sizes[part] for part in takewhile(name.__ne__, self._sizes))
        starts = [chunk * sum(self._sizes.values()) + before for chunk in chunks]
        items = [item for start in starts for item in self.task.generate(self.seed, start, each)]
        numbers = [start + number for start in starts for number in range(each)]
        return Part(items, self.samples([item.original for item in items], numbers, attacks))

    def samples(
        self,
        items: Sequence[Any],
        numbers: Sequence[int],
        attacks: Sequence[Attack] | None = None,
    ) -> dict[str, Sample]:
        """The probes of these attacks on these items, or all of them, by name."""
        wanted = None if attacks is None else {attack.probe for attack in attacks}
        with_text = attacks is None or any(attack.reads_text for attack in attacks)
        if wanted is not None and not any(wanted):
            return {}
        rows: dict[str, list[Row]] = defaultdict(list)
        names_of: dict[str, tuple[list[str], list[str]]] = {}
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
            for row in make_rows(prompt, probes, with_text):
                rows[row.probe.name].append(row)
                if row.probe.name not in names_of:
                    names_of[row.probe.name] = feature_names(prompt, row.probe)
        samples = {
            name: collect(found, names_of[name], self._ids[name]) for name, found in rows.items()
        }
        learned = self._text if with_text else {}
        return samples | {
            name: learned[name].extend(samples[name]) for name in learned if name in samples
        }

    def _rules(self, probe: str, sample: Sample, trees: int) -> Iterator[Attack]:
        """The rules learned on the training items of a probe."""
        kinds = learn_rules(sample, self._text[probe], trees)
        for about, rules in kinds.items():
            for name, rule in rules.items():
                found = _judged(probe, rule, judge)
                yield Attack(f"{probe}: {name}", about, found, probe, rule.reads_text)
                # A rule that finds a wrong candidate is a cue even if it misses the right one.
                if sample.kind == "choice" and sample.right.shape[1] > 2 and about == "one feature":
                    found = _judged(probe, rule, judge_exclusion)
                    excluded = f"{probe}: ruled out by {name}"
                    yield Attack(excluded, about, found, probe, rule.reads_text)
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
            for item in part.items:
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
    """The function that judges a rule on the items of a part, which may lack the probe."""

    def outcome(part: Part) -> Outcome:
        sample = part.samples.get(probe)
        return NOTHING if sample is None else judged(sample, rule.scores(sample))

    return outcome


def _score(item: PresentedItem, solver: Solver) -> float | None:
    """The headline metric of a solver's reply."""
    benchmark, view = item.task.benchmark, item.task.view
    answer = benchmark.parse(item.content, play(Dialogue(item), solver).visible, view)
    return benchmark.score(item.content, answer)[benchmark.metrics[0].name]
