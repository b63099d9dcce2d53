"""The sections of the page: one for each benchmark, and the tokens that models used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from trivium.core.records import PARTICIPANTS, TOKENS
from trivium.core.results import Summary, TokenCount
from trivium.core.statistics import Estimate, paired_difference, several
from trivium.core.streams import DEFAULT_SEED
from trivium.evaluation.cost import money
from trivium.evaluation.prices import Price
from trivium.report.answer import Grid
from trivium.report.charts import charted_solvers
from trivium.report.overview import Bar, SettingTable, bar
from trivium.report.plot import REFERENCES, Chart
from trivium.report.results import BenchmarkResults
from trivium.report.tables import (
    UNANSWERED,
    Table,
    count_kinds,
    token_text,
    total_tokens,
    unanswered,
)

MAX_KINDS = 8
UNCLEAR = "makes no clear difference"


@dataclass(frozen=True)
class Effect:
    """What a variant of a diagnosis does to a solver."""

    solver: str
    variant: str
    about: str
    words: str
    bar: Bar | None
    same_items: bool  # the variant changes how items are presented, not the items


@dataclass(frozen=True)
class Section:
    """One benchmark on the page."""

    results: BenchmarkResults
    grid: Grid | None
    charts: Sequence[Chart]
    kinds: Sequence[tuple[str, Sequence[float]]]  # with shares of the solvers in the legend
    effects: Sequence[Effect]
    overview: Sequence[SettingTable]
    tables: Sequence[Table]
    legend: Sequence[str]  # the solvers with marks

    @property
    def lines(self) -> list[str]:
        """The reference lines in its charts."""
        drawn = {name for chart in self.charts for name in chart.lines}
        return [name for name in REFERENCES if name in drawn]

    @property
    def compared_items(self) -> str:
        """Which items the differences of a diagnosis are between."""
        same = {effect.same_items for effect in self.effects}
        if same == {True}:
            return "on the same items"
        other = "between samples of different items, since these switches change the items"
        return other if same == {False} else "on the same items unless a switch changes them"


def kind_shares(results: BenchmarkResults, order: Iterable[str]) -> list[tuple[str, list[float]]]:
    """The share of every kind of answer of every model: right ones, then the commonest errors."""
    solvers = charted_solvers(results, order)
    counts = {solver: count_kinds(results.by_solver[solver].kinds) for solver in solvers}
    totals: Counter[str] = Counter()
    for own in counts.values():
        totals.update({kind: count / own.total() for kind, count in own.items()})
    ordered = sorted(totals, key=lambda kind: (kind != "right", -totals[kind]))
    return [
        (kind, [own[kind] / own.total() for own in counts.values()]) for kind in ordered[:MAX_KINDS]
    ]


def switch_effects(results: BenchmarkResults, order: Iterable[str]) -> list[Effect]:
    """What every variant of a diagnosis changes for every model, in words."""
    control, *variants = results.settings
    solvers = charted_solvers(results, order)
    if not results.models:
        solvers = [name for name in solvers if results.role(name) == "shortcut"]
    bounds = results.benchmark.metrics[0].bounds
    effects = []
    for solver in solvers:
        before = results.scores.get((control, solver), {})
        intervals = {}
        for variant in variants:
            after = results.scores.get((variant, solver), {})
            common = [item for item in before if item in after]
            if common:
                first, second = ([fmean(part[item]) for item in common] for part in (after, before))
                intervals[variant] = partial(paired_difference, first, second, bounds=bounds)
        functions = list(intervals.values())
        estimates = several(lambda which, level: functions[which](level=level), len(functions))  # noqa: B023
        for variant, (estimate, clear) in zip(intervals, estimates, strict=True):
            named = results.benchmark.diagnostics.get(variant)
            about = named.about if named else ""
            words = effect_words(estimate, clear)
            strip = bar(estimate, [("zero", 0.0)], (-1, 1))
            same = results.specs[variant] == results.specs[control]
            effects.append(Effect(solver, variant, about, words, strip, same))
    return effects


def effect_sentences(effects: Sequence[Effect]) -> list[str]:
    """For every solver the switches that change its score, and those not shown to."""
    sentences = []
    for solver in dict.fromkeys(effect.solver for effect in effects):
        own = [effect for effect in effects if effect.solver == solver]
        clear = [f"{one.variant} {one.words}" for one in own if not one.words.startswith(UNCLEAR)]
        others = [one.variant for one in own if one.words.startswith(UNCLEAR)]
        text = "; ".join(clear) or "no switch is shown to change its score"
        text += f"; no clear difference by {', '.join(others)}" if clear and others else ""
        sentences.append(f"{solver}: {text}.")
    return sentences


def effect_words(difference: Estimate, clear: bool) -> str:
    """A difference in points, in words: "costs 21 points [-28, -14]"."""
    value = round(100 * (difference.value or 0.0))
    if difference.low is None or difference.high is None:
        return f"changes the score by {value} points"
    ends = f"[{round(100 * difference.low):+}, {round(100 * difference.high):+}]"
    if not clear:
        return f"{UNCLEAR} ({value:+} points {ends})"
    return f"{'adds' if (difference.value or 0) > 0 else 'costs'} {abs(value)} points {ends}"


def usage_table(
    all_results: Sequence[BenchmarkResults], models: Iterable[str], prices: Mapping[str, Price]
) -> list[tuple[str, ...]]:
    """The usage of every model over all benchmarks; empty where no solver is a model."""
    rows: list[tuple[str, ...]] = []
    for model in models:
        own = [results.by_solver[model] for results in all_results if model in results.by_solver]
        if any(part.tokens for part in own):
            rows.append((model, *_usage(own, prices.get(model))))
    heads = ("model", "attempts", *UNANSWERED.values(), "input tokens", "output tokens")
    heads += ("of them reasoning", "cost, in the currency of the prices")
    heads += ("median latency, by benchmark" if len(all_results) > 1 else "median latency",)
    table = [heads, *rows]
    # Columns that hold nothing are left out.
    kept = [n for n, _ in enumerate(heads) if any(row[n] not in ("", "0") for row in rows)]
    return [tuple(row[n] for n in kept) for row in table] if rows else []


def _usage(own: Sequence[Summary], price: Price | None) -> Iterator[str]:
    yield f"{sum(sum(part.kinds.values()) for part in own):,}"
    yield from (f"{count:,}" for count in unanswered(own).values())
    totals = [total_tokens(own, name) for name in TOKENS]
    yield from map(token_text, totals)
    yield "" if price is None else money(price.of(totals[0].total, totals[1].total))
    yield seconds_text(own)


def seconds_text(summaries: Sequence[Summary]) -> str:
    """The median latency, or the range of several."""
    seconds = [part.median_seconds for part in summaries if part.median_seconds is not None]
    if not seconds:
        return ""
    low, high = (f"{value:.2g}" for value in (min(seconds), max(seconds)))
    return f"{low} s" if low == high else f"{low} to {high} s"


def facts(
    all_results: Sequence[BenchmarkResults],
    models: Sequence[str],
    prices: Mapping[str, Price],
    date: str,
) -> dict[str, str]:
    """What the header says about the run, without empty entries."""
    own = [results.by_solver[name] for results in all_results for name in results.models]
    asked = [part for part in own if part.tokens]
    costs = [
        prices[part.solver].of(
            part.tokens["input_tokens"].total, part.tokens["output_tokens"].total
        )
        for part in asked
        if part.solver in prices
    ]
    tokens = [total_tokens(asked, name) for name in TOKENS[:2]]
    seeds = sorted({seed for results in all_results for seed in results.seeds})
    items = sum(max(part.items for part in results.by_solver.values()) for results in all_results)
    people = PARTICIPANTS.values()
    others = [name for name in models if name not in people]
    found = {
        "participants": ", ".join(name for name in models if name in people),
        "models": ", ".join(others) if len(others) <= 4 else f"{len(others)}",
        "date": date,
        "items": f"{items:,}",
        "attempts": f"{sum(results.records for results in all_results):,}",
        **{name: f"{count:,}" if asked else "" for name, count in unanswered(own).items()},
        "tokens in, out": " / ".join(map(_short, tokens)) if asked else "",
        "cost, in the prices' currency": money(sum(costs)) if costs else "",
        "seed": seeds_text(seeds),
    }
    return {name: value for name, value in found.items() if value}


def seeds_text(seeds: Iterable[int]) -> str:
    """The seeds of a run, and which of them is public."""
    return ", ".join(
        f"{seed} (the public default)" if seed == DEFAULT_SEED else str(seed) for seed in seeds
    )


def _short(tokens: TokenCount) -> str:
    if not tokens.reported:
        return "not reported"
    millions, thousands = tokens.total / 1e6, tokens.total / 1e3
    if millions >= 1:
        return f"{millions:.1f}M"
    return f"{thousands:.0f}k" if thousands >= 10 else f"{tokens.total:,}"
