"""Who is best, and by how much: models ranked by their scores on all items of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest

from trivium.core.statistics import Estimate, mean_interval, paired_difference, several
from trivium.report.compare import Difference, SolverScores, differences
from trivium.report.overview import Bar, bar
from trivium.report.results import BenchmarkResults
from trivium.report.tables import unanswered

UNIT = (0.0, 1.0)
MAX_LINES = 6  # models named in the terminal
RULE = (
    "Ranked by the mean score over all items that count; differences are paired, on common items. "
    "Their 95% intervals hold together over all pairs of models (Bonferroni); “beats” is by Holm's "
    "test."
)


@dataclass(frozen=True)
class Rank:
    """One model: its score, and how it compares with the next one."""

    solver: str
    score: Estimate  # over all items
    above_floor: Sequence[str]  # benchmarks
    benchmarks: Sequence[str]
    no_answer: int  # attempts without an answer
    attempts: int
    ahead: str = ""  # of the next model, in words

    @property
    def figures(self) -> str:
        """The score with its interval."""
        return two(self.score)

    @property
    def bar(self) -> Bar | None:
        """Its place between 0 and 1."""
        return bar(self.score, (), UNIT)

    @property
    def words(self) -> str:
        """What the rank says beside the score and the difference."""
        above, of = len(self.above_floor), len(self.benchmarks)
        text = f"above the floor on {above} of {of} benchmarks" if of > 1 else ""
        text = text or ("above the floor" if above else "not above the floor")
        missing = [name for name in self.benchmarks if name not in self.above_floor]
        text += f" (not on {', '.join(missing)})" if above and missing else ""
        return f"{text}; {self.no_answer:,} of {self.attempts:,} attempts without an answer"

    @property
    def short(self) -> str:
        """The rank in one line of a terminal."""
        above = f"above the floor on {len(self.above_floor)} of {len(self.benchmarks)}"
        none = f"; {self.no_answer:,} without an answer" if self.no_answer else ""
        return f"{self.solver} {self.figures}{self.ahead}; {above}{none}"


def ranking(all_results: Sequence[BenchmarkResults]) -> list[Rank]:
    """The models of a run, the best first; empty where there are none, or none was scored."""
    scores: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)  # model, benchmark, item
    for results in all_results:
        for model in results.models:
            own = {} if results.role(model) == "person" else results.item_scores(model)
            if own and results.benchmark.metrics[0].bounds == UNIT:
                items = {str(item): value for item, value in own.items()}
                scores[model][results.benchmark.name] = items
    means = {
        model: mean_interval([v for part in own.values() for v in part.values()], bounds=UNIT)
        for model, own in scores.items()
    }
    order = sorted(means, key=lambda model: -(means[model].value or 0.0))
    pairs = list(combinations(order, 2))
    both = [_common(scores[first], scores[second]) for first, second in pairs]
    # Without common items there is no difference to see.
    known = [number for number, (first, _) in enumerate(both) if first]
    estimates = several(
        lambda which, level: paired_difference(*both[known[which]], level, UNIT), len(known)
    )
    overall = {pairs[number]: found for number, found in zip(known, estimates, strict=True)}
    found = [
        SolverScores("", model, name, scores[model][name], only_run=True)
        for name in [results.benchmark.name for results in all_results]
        for model in order
        if name in scores[model]
    ]
    parts: dict[tuple[str, str], list[Difference]] = defaultdict(list)
    for one in differences(found, pairs=True) if len(order) > 1 else ():
        parts[one.second.solver, one.first.solver].append(one)
    ranks = []
    for model, following in zip_longest(order, order[1:]):
        pair = (model, following)
        ahead = _ahead(following, overall.get(pair), parts[pair]) if following else ""
        ranks.append(_rank(all_results, model, means[model], ahead))
    return ranks


def _common(
    first: Mapping[str, Mapping[str, float]], second: Mapping[str, Mapping[str, float]]
) -> tuple[list[float], list[float]]:
    """The scores of two models on the items that both tried."""
    shared = [
        (items[item], second[name][item])
        for name, items in first.items()
        for item in items
        if item in second.get(name, {})
    ]
    return [one for one, _ in shared], [other for _, other in shared]


def _ahead(following: str, overall: tuple[Estimate, bool] | None, parts: list[Difference]) -> str:
    """How a model compares with the next one, over all items and on every benchmark."""
    if overall is None:
        return f", has no items in common with {following}"
    estimate, clear = overall
    text = f", {'beats' if clear else 'is not shown to beat'} {following} by {two(estimate)}"
    if len(parts) < 2:
        return text
    # A difference is that of the worse model minus the better one.
    higher = [one for one in parts if one.direction == "lower"]
    lower = [one.first.benchmark for one in parts if one.direction == "higher"]
    unclear = [one.first.benchmark for one in parts if not one.is_clear]
    text += f" ({'higher ' if not clear else ''}on {len(higher)} of {len(parts)} benchmarks"
    text += f"; lower on {', '.join(lower)}" if lower else ""
    text += f"; no difference shown on {', '.join(unclear)}" if higher and unclear else ""
    return f"{text})"


def _rank(all_results: Sequence[BenchmarkResults], model: str, score: Estimate, ahead: str) -> Rank:
    parts = {
        results.benchmark.name: results.within(results.sound_settings)[model]
        for results in all_results
        if model in results.within(results.sound_settings)
    }
    return Rank(
        model,
        score,
        [name for name, part in parts.items() if part.metrics["lift"].is_above(0)],
        list(parts),
        sum(part.no_answers + sum(unanswered([part]).values()) for part in parts.values()),
        sum(sum(part.kinds.values()) for part in parts.values()),
        ahead,
    )


def two(estimate: Estimate) -> str:
    """An estimate with two decimals."""
    if estimate.value is None:
        return "undefined"
    value, low, high = (
        None if end is None else f"{round(end, 2) + 0.0:.2f}"
        for end in (estimate.value, estimate.low, estimate.high)
    )
    return f"{value} [{low}, {high}]" if low and high else str(value)


def closing_lines(all_results: Sequence[BenchmarkResults]) -> list[str]:
    """What a run ends with in the terminal: who is best, or what the baselines reach."""
    if ranks := ranking(all_results):
        lines = [f"{place}. {rank.short}" for place, rank in enumerate(ranks[:MAX_LINES], start=1)]
        more = len(ranks) - len(lines)
        return [*lines, f"and {more} more, in the report"] if more else lines
    lines = []
    for results in all_results:
        parts, name = results.within(results.sound_settings), results.benchmark.metrics[0].name
        best = {role: results.best(parts, role, name) for role in ("ceiling", "shortcut")}
        words = [
            f"{'best ' * (role == 'shortcut')}{role} {found[1].value:.2f} ({found[0]})"
            for role, found in best.items()
            if found
        ]
        floor = max((part.floor for part in parts.values()), default=0.0)
        width = max(len(own.benchmark.name) for own in all_results)
        lines.append(
            f"{results.benchmark.name:<{width}}  {', '.join([*words, f'floor {floor:.2f}'])}"
        )
    return lines
