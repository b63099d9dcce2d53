"""Summaries of records: every metric with its interval, and lift from floor to ceiling."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from itertools import groupby
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from trivium.core.benchmark import UPPER_BOUND, Metric
from trivium.core.records import (
    CUT_OFF,
    DECLINED,
    FAILED,
    NO_ANSWER,
    TOKENS,
    UNSCORED,
    is_participant,
    row_order,
    solver_group,
)
from trivium.core.statistics import (
    UNDEFINED,
    Bounds,
    Estimate,
    lift_over_floor,
    mean_interval,
    proportion,
)


class TokenCount(NamedTuple):
    """Tokens of one kind over the attempts whose provider reported them."""

    total: int
    reported: int  # attempts with a count
    not_reported: int  # attempts without one

    @property
    def mean(self) -> float | None:
        """Tokens per attempt; None where no provider reported any."""
        return self.total / self.reported if self.reported else None


@dataclass(frozen=True, repr=False)
class Summary:
    """The figures of a set of attempts by one solver at one benchmark."""

    benchmark: str
    solver: str
    items: int
    answered: int
    no_answers: int  # attempts whose reply holds no answer; they have the worst scores
    failed: int  # attempts whose call failed permanently; in no metric
    floor: float  # the headline metric of the best strategy that does not read the item
    floor_name: str = ""  # that strategy, if it is the same for all items
    prompt_lines: float = 0.0  # mean over attempts
    prompt_chars: float = 0.0
    metrics: dict[str, Estimate] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)
    cut_offs: int = 0  # attempts that ran out of tokens before an answer; they score worst
    declined: int = 0  # attempts that the provider declined; in no metric
    # the headline if every attempt cut off or declined were wrong, and right; None without any
    bounds: tuple[float, float] | None = None
    tokens: dict[str, TokenCount] = field(default_factory=dict)  # empty for programs
    retries: int = 0
    median_seconds: float | None = None  # of the attempts of models
    ceiling: float = 1.0  # the headline metric of the best solver that sees the same text
    ceiling_exact: bool = True  # whether some solver reaches it; otherwise an upper bound
    digest: str = ""  # of all items, equal for every solver, view and order

    def __repr__(self) -> str:
        name, estimate = next(iter(self.metrics.items()), ("items", ""))
        figures = f"{name} {estimate}, lift {self.metrics.get('lift', UNDEFINED)}"
        limits = f"floor {self.floor:.3f}, ceiling {self.ceiling:.3f}"
        counts = [f"{self.items:,} items"]
        named = {"failed": FAILED, "declined": DECLINED}
        counts += [
            f"{self.kinds[kind]:,} {name}" for name, kind in named.items() if kind in self.kinds
        ]
        return f"<{self.benchmark}, {self.solver}: {figures}, {limits}, {', '.join(counts)}>"

    def to_dict(self) -> dict[str, Any]:
        """The content of summary.json."""
        row = asdict(self)
        row["tokens"] = {
            name: count._asdict() | {"mean": count.mean} for name, count in self.tokens.items()
        }
        return row


class Limits(NamedTuple):
    """The floor and the ceiling of an attempt."""

    floor: float
    name: str  # the strategy that reaches the floor
    ceiling: float
    ceiling_name: str


class Vote(NamedTuple):
    """The majority vote of the trials of one item."""

    share: float  # of the trials that gave the commonest answer
    score: float  # of the commonest answer; of the earliest one on a tie


def item_number(row: Mapping[str, Any]) -> int:
    """A number that identifies the item of a record, whatever the solver, setting and view."""
    if digest := row.get("digest"):
        return int.from_bytes(blake2b(digest.encode(), digest_size=8).digest(), signed=True)
    return hash((row["id"], row.get("seed"), orjson.dumps(row.get("spec"))))


class Tally:
    """Accumulates records in a few bytes each, so that millions fit in memory."""

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self._metrics = metrics
        self._benchmark = self._solver = ""
        self._kinds: Counter[str] = Counter()
        self._limits: Counter[Limits] = Counter()  # where the headline is defined
        self._other_limits: Counter[Limits] = Counter()
        self._totals: Counter[str] = Counter()  # lines, chars, attempts of models, retries
        self._all_items = array("q")
        self._declined_items = array("q")
        self._tokens: Counter[str] = Counter()
        self._reported: Counter[str] = Counter()  # attempts, by kind of token
        self._seconds = array("d")
        # One entry for every scored record; undefined values are NaN.
        self._items = array("q")
        self._cut_off = array("b")
        self._trials = array("i")
        self._orders = array("i")
        self._answers = array("q")
        self._output_tokens = array("d")
        self._values = {metric.name: array("d") for metric in metrics}

    def add(self, row: Mapping[str, Any]) -> None:
        """Add one record."""
        solver = row["solver"]
        self._benchmark, self._solver = row["benchmark"], solver_group(solver)
        self._totals["lines"] += row.get("prompt_lines") or 0
        self._totals["chars"] += row.get("prompt_chars") or 0
        item = item_number(row)
        self._all_items.append(item)
        self._totals["digests"] += bool(row.get("digest"))
        self._kinds[row["kind"]] += 1
        self._add_usage(row)
        if row["kind"] == DECLINED:
            self._declined_items.append(item)
        scores = row["scores"]
        name, ceiling_name = (row.get(key) or "" for key in ("floor_name", "ceiling_name"))
        limits = Limits(row["floor"], name, row.get("ceiling", 1.0), ceiling_name)
        # Floor and ceiling are averaged over the attempts where the headline is defined.
        defined = scores.get(self._metrics[0].name) is not None
        (self._limits if defined else self._other_limits)[limits] += 1
        if row["kind"] in UNSCORED:
            return
        # A person's answers are not independent: the person is the cluster, and an item that
        # comes up again is not an order trial.
        person = is_participant(solver)
        self._items.append(hash(solver) if person else item)
        self._cut_off.append(row["kind"] == CUT_OFF)
        self._trials.append(0 if person else row["trial"])
        self._orders.append(row_order(row))
        self._answers.append(hash(orjson.dumps(row["answer"], option=orjson.OPT_SORT_KEYS)))
        tokens = (row.get("usage") or {}).get("output_tokens")
        self._output_tokens.append(math.nan if tokens is None else tokens)
        for name, values in self._values.items():
            value = scores.get(name)
            values.append(math.nan if value is None else value)

    def _add_usage(self, row: Mapping[str, Any]) -> None:
        """Add the usage of a model's attempt; programs have none."""
        usage = row.get("usage")
        if not usage:
            return
        self._totals["asked"] += 1
        self._totals["retries"] += usage.get("retries") or 0
        seconds = row.get("seconds")  # 0 for replies that were collected elsewhere
        if seconds and row["kind"] != FAILED:
            self._seconds.append(seconds)
        for name in TOKENS:
            count = usage.get(name)
            if count is not None:
                self._tokens[name] += count
                self._reported[name] += 1

    def merge(self, other: Tally) -> None:
        """Add the records of another tally of the same metrics."""
        self._benchmark, self._solver = other._benchmark, other._solver
        for name, held in vars(self).items():
            more = getattr(other, name)
            if isinstance(held, Counter):
                held.update(more)
            elif isinstance(held, array):
                held.extend(more)
        for name, values in self._values.items():
            values.extend(other._values[name])

    def summary(self) -> Summary:
        """The figures of all records added so far."""
        scored = len(self._items)
        limits = self._limits or self._other_limits  # known even where nothing was scored
        count = max(1, limits.total())
        floor = math.fsum(each.floor * times for each, times in limits.items()) / count
        ceiling = math.fsum(each.ceiling * times for each, times in limits.items()) / count
        names = {each.name for each in limits}
        repeated = len(_distinct(self._items)) < scored
        metrics = {metric.name: self._estimate(metric, repeated) for metric in self._metrics}
        headline = self._metrics[0]
        metrics["lift"] = lift_over_floor(metrics[headline.name], floor, ceiling)
        if self.has_trials:
            metrics |= self._order_trials()
        items = _distinct(self._all_items)
        asked, reported = self._totals["asked"], self._reported
        all_known = self._totals["digests"] == len(self._all_items)
        return Summary(
            benchmark=self._benchmark,
            solver=self._solver,
            items=len(items),
            answered=scored - self._kinds[NO_ANSWER] - self._kinds[CUT_OFF],
            no_answers=self._kinds[NO_ANSWER],
            failed=self._kinds[FAILED],
            floor=floor,
            floor_name=names.pop() if len(names) == 1 else "",
            prompt_lines=self._totals["lines"] / max(1, len(self._all_items)),
            prompt_chars=self._totals["chars"] / max(1, len(self._all_items)),
            metrics=metrics,
            kinds=dict(sorted(self._kinds.items(), key=lambda kind: (-kind[1], kind[0]))),
            ceiling=ceiling,
            ceiling_exact=all(each.ceiling_name != UPPER_BOUND for each in limits),
            cut_offs=self._kinds[CUT_OFF],
            declined=self._kinds[DECLINED],
            bounds=self._bounds(),
            tokens={
                name: TokenCount(self._tokens[name], reported[name], asked - reported[name])
                for name in TOKENS
                if asked
            },
            retries=self._totals["retries"],
            median_seconds=float(np.median(self._seconds)) if self._seconds else None,
            digest=blake2b(items.tobytes(), digest_size=8).hexdigest() if all_known else "",
        )

    def _bounds(self) -> tuple[float, float] | None:
        """The headline if every attempt cut off or declined had been wrong, and right."""
        declined = np.asarray(self._declined_items)
        if not (any(self._cut_off) or declined.size):
            return None
        headline = self._metrics[0]
        values = self._column(headline)
        defined = ~np.isnan(values)
        cut_off = np.asarray(self._cut_off, dtype=bool)[defined]
        items = np.concatenate([np.asarray(self._items)[defined], declined])
        _, groups, counts = np.unique(items, return_inverse=True, return_counts=True)

        def mean(filled: float) -> float:
            scored = np.where(cut_off, filled, values[defined])
            every = np.concatenate([scored, np.full(declined.size, filled)])
            return float((np.bincount(groups, every) / counts).mean())

        return mean(headline.worst), mean(headline.best)

    @property
    def has_trials(self) -> bool:
        """Whether any item was presented more than once."""
        return any(self._trials)

    def votes(self) -> list[Vote]:
        """The most frequent answer to every item with a headline score; a tie has the mean."""
        values = self._column(self._metrics[0])
        order = np.lexsort((np.asarray(self._trials), np.asarray(self._items)))
        indexes = [int(index) for index in order if not math.isnan(values[index])]
        votes = []
        for _, group in groupby(indexes, key=self._items.__getitem__):
            answers = [(self._answers[index], float(values[index])) for index in group]
            counts = Counter(answer for answer, _ in answers)
            most, scores = max(counts.values()), dict(answers)
            winners = [scores[answer] for answer, count in counts.items() if count == most]
            votes.append(Vote(most / len(answers), fmean(winners)))
        return votes

    def output_tokens(self, metric: str | None = None) -> list[NDArray[Any]]:
        """Items and tokens of the scored attempts whose provider reported tokens.

        And, between the two, their values of a metric, where that is named.
        """
        tokens = np.asarray(self._output_tokens)
        columns = [np.asarray(self._items), tokens]
        if metric is not None:
            columns.insert(1, np.asarray(self._values[metric]))
        known = ~np.isnan(sum(columns[1:]))
        return [column[known] for column in columns]

    def item_scores(self) -> dict[int, float]:
        """The mean headline score of every item."""
        values = self._column(self._metrics[0])
        defined = ~np.isnan(values)
        items, groups, counts = np.unique(
            np.asarray(self._items)[defined], return_inverse=True, return_counts=True
        )
        means = np.bincount(groups, values[defined], minlength=items.size) / counts
        return dict(zip(items.tolist(), means.tolist(), strict=True))

    def _column(self, metric: Metric) -> NDArray[np.float64]:
        return np.asarray(self._values[metric.name])

    def _estimate(self, metric: Metric, repeated: bool) -> Estimate:
        values = self._column(metric)
        defined = ~np.isnan(values)
        if not repeated:
            return _independent(values[defined], metric)
        return estimate_of(values[defined], np.asarray(self._items)[defined], metric)

    def _order_trials(self) -> dict[str, Estimate]:
        """How much order and chance matter to the headline metric."""
        headline = self._metrics[0]
        votes = self.votes()
        if not votes:
            return {f"majority_{headline.name}": UNDEFINED}
        values = self._column(headline)
        defined = ~np.isnan(values)
        values, orders = values[defined], np.asarray(self._orders)[defined]
        means = [float(np.sort(values[orders == order]).mean()) for order in np.unique(orders)]
        return {
            f"majority_{headline.name}": estimate_of(
                [vote.score for vote in votes], range(len(votes)), headline
            ),
            "answered_alike": proportion(sum(vote.share == 1 for vote in votes), len(votes)),
            "largest_order_difference": Estimate(max(means) - min(means), None, None, len(means)),
            **variance_parts(values, np.asarray(self._items)[defined], orders),
        }


def variance_parts(
    values: NDArray[np.float64], items: NDArray[Any], orders: NDArray[Any]
) -> dict[str, Estimate]:
    """The variance of a score between repeats of one prompt, and between orders of one item.

    Both are means over items of unbiased estimates, so that one between orders may lie below 0.
    Without repeats the two cannot be separated, and neither is given.
    """
    prompts: dict[Any, dict[Any, list[float]]] = {}
    for item, order, value in zip(items.tolist(), orders.tolist(), values.tolist(), strict=True):
        prompts.setdefault(item, {}).setdefault(order, []).append(value)
    repeats, between = [], []
    for by_order in prompts.values():
        several = [tries for tries in by_order.values() if len(tries) > 1]
        if not several:
            continue
        repeats.append(float(np.mean([np.var(tries, ddof=1) for tries in several])))
        if len(several) > 1:
            means = [np.mean(tries) for tries in several]
            chance = np.mean([np.var(tries, ddof=1) / len(tries) for tries in several])
            between.append(float(np.var(means, ddof=1) - chance))
    parts = {"variance_of_repeats": repeats, "variance_of_orders": between}
    return {name: _mean(found, None) for name, found in parts.items() if found}


def estimate_of(
    values: Sequence[float] | NDArray[np.float64],
    items: Sequence[int] | NDArray[Any],
    metric: Metric,
) -> Estimate:
    """A metric's estimate from its values and their items."""
    # Attempts at one item are not independent, whether they differ in order, view or setting,
    # so the item's mean is one value. Sorted values make the sum independent of the order of
    # the records.
    data = np.asarray(values, dtype=np.float64)
    order = np.argsort(data)
    ordered = np.asarray(items)[order]
    _, groups, counts = np.unique(ordered, return_inverse=True, return_counts=True)
    if counts.size < data.size:
        return _mean(np.bincount(groups, data[order]) / counts, metric.bounds)
    return _independent(data, metric)


def _independent(data: NDArray[np.float64], metric: Metric) -> Estimate:
    """A metric's estimate from values of different items."""
    if metric.kind == "proportion":
        return proportion(float(data.sum()), data.size)
    return _mean(data, metric.bounds)


def _mean(values: Sequence[float] | NDArray[np.float64], bounds: Bounds | None) -> Estimate:
    """The mean with its interval; equal values without bounds say nothing of it."""
    found = mean_interval(values, bounds=bounds)
    return replace(found, low=None, high=None) if found.low == found.high else found


def _distinct(items: array[int]) -> NDArray[np.int64]:
    """The different numbers, sorted; several times as fast as np.unique for a million."""
    ordered = np.sort(np.asarray(items, dtype=np.int64))
    distinct: NDArray[np.int64] = ordered[np.r_[True, ordered[1:] != ordered[:-1]][: ordered.size]]
    return distinct


def merged(tallies: Iterable[Tally], metrics: Sequence[Metric]) -> Tally:
    """One tally of the records of several."""
    whole = Tally(metrics)
    for tally in tallies:
        whole.merge(tally)
    return whole


def summarise(rows: Iterable[Mapping[str, Any]], metrics: Sequence[Metric]) -> Summary:
    """The summary of records of one solver."""
    tally = Tally(metrics)
    for row in rows:
        tally.add(row)
    return tally.summary()
