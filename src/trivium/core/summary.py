"""Records to figures: every metric with its interval, lift over chance, order trials."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson

from trivium.core.benchmark import Metric
from trivium.core.statistics import UNDEFINED, Estimate, bootstrap_mean, lift_over_chance, wilson

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Summary:
    """What a set of attempts by one solver at one benchmark amounts to."""

    benchmark: str
    solver: str
    items: int
    answered: int
    violations: int
    errors: int
    chance: float
    prompt_lines: float = 0.0  # mean over attempts
    prompt_chars: float = 0.0
    metrics: dict[str, Estimate] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As it stands in summary.json."""
        return {
            "benchmark": self.benchmark,
            "solver": self.solver,
            "items": self.items,
            "answered": self.answered,
            "violations": self.violations,
            "errors": self.errors,
            "chance": self.chance,
            "prompt_lines": self.prompt_lines,
            "prompt_chars": self.prompt_chars,
            "metrics": {name: estimate.to_dict() for name, estimate in self.metrics.items()},
            "kinds": self.kinds,
        }


class Tally:
    """Adds records up one by one, so that a file of any length needs little memory."""

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self._metrics = metrics
        self._values: dict[str, list[float]] = {metric.name: [] for metric in metrics}
        self._items: dict[str, list[str]] = {metric.name: [] for metric in metrics}
        self._answers: dict[str, list[tuple[int, bytes, float]]] = defaultdict(list)
        self._kinds: Counter[str] = Counter()
        self._ids: set[str] = set()
        self._chance = 0.0
        self._scored = 0
        self._attempts = 0
        self._lines = 0
        self._chars = 0
        self._trials = 0
        self._name = ("", "")

    def add(self, row: Row) -> None:
        """Count one record."""
        self._name = (row["benchmark"], row["solver"])
        self._ids.add(row["id"])
        self._attempts += 1
        self._lines += row.get("prompt_lines", 0)
        self._chars += row.get("prompt_chars", 0)
        self._kinds[row["kind"]] += 1
        self._trials = max(self._trials, row["trial"])
        if row["kind"] == "error":
            return
        self._scored += 1
        for metric in self._metrics:
            value = row["scores"].get(metric.name)
            if value is not None:
                self._values[metric.name].append(value)
                self._items[metric.name].append(row["id"])
        headline = row["scores"].get(self._metrics[0].name)
        if headline is not None:
            # Chance is the floor of the headline, so it is averaged where that is defined.
            self._chance += row["chance"]
            answer = orjson.dumps(row["answer"], option=orjson.OPT_SORT_KEYS)
            self._answers[row["id"]].append((row["trial"], answer, headline))

    def summary(self) -> Summary:
        """The figures of what has been added."""
        headlines = len(self._values[self._metrics[0].name])
        chance = self._chance / headlines if headlines else 0.0
        metrics = {metric.name: self._estimate(metric) for metric in self._metrics}
        metrics["lift"] = lift_over_chance(metrics[self._metrics[0].name], chance)
        if self._trials:
            metrics |= self._order_trials()
        return Summary(
            benchmark=self._name[0],
            solver=self._name[1],
            items=len(self._ids),
            answered=self._scored - self._kinds["violation"],
            violations=self._kinds["violation"],
            errors=self._kinds["error"],
            chance=chance,
            prompt_lines=self._lines / max(1, self._attempts),
            prompt_chars=self._chars / max(1, self._attempts),
            metrics=metrics,
            kinds=dict(self._kinds.most_common()),
        )

    def _estimate(self, metric: Metric) -> Estimate:
        values = self._values[metric.name]
        if self._trials:
            # Trials of one item are not independent: the item is what is resampled.
            by_item: dict[str, list[float]] = defaultdict(list)
            for item, value in zip(self._items[metric.name], values, strict=True):
                by_item[item].append(value)
            return bootstrap_mean([float(np.mean(group)) for group in by_item.values()])
        if metric.kind == "proportion":
            return wilson(sum(values), len(values))
        return bootstrap_mean(values)

    def _order_trials(self) -> dict[str, Estimate]:
        """How much the order of telling matters to the headline metric."""
        headline = self._metrics[0].name
        majority: list[float] = []
        alike = 0
        by_trial: dict[int, list[float]] = defaultdict(list)
        for answers in self._answers.values():
            votes = Counter(answer for _, answer, _ in answers)
            winner = votes.most_common(1)[0][0]
            majority.append(next(score for _, answer, score in answers if answer == winner))
            alike += len(votes) == 1
            for trial, _, score in answers:
                by_trial[trial].append(score)
        if not majority:
            return {f"majority_{headline}": UNDEFINED}
        means = [float(np.mean(scores)) for scores in by_trial.values()]
        spread = max(means) - min(means)
        return {
            f"majority_{headline}": bootstrap_mean(majority),
            "answered_alike": wilson(alike, len(majority)),
            "largest_trial_difference": Estimate(spread, None, None, len(means)),
        }


def summarise(rows: Iterable[Row], metrics: Sequence[Metric]) -> Summary:
    """The figures of some records of one solver."""
    tally = Tally(metrics)
    for row in rows:
        tally.add(row)
    return tally.summary()


def summarise_groups(
    rows: Iterable[Row], metrics: Sequence[Metric], keys: Sequence[str]
) -> dict[tuple[Any, ...], Summary]:
    """One summary for each combination of these group values, in their natural order."""
    tallies: dict[tuple[Any, ...], Tally] = {}
    for row in rows:
        group = tuple(row["groups"].get(key) for key in keys)
        tallies.setdefault(group, Tally(metrics)).add(row)
    ordered = sorted(tallies, key=lambda group: [(value is None, value) for value in group])
    return {group: tallies[group].summary() for group in ordered}
