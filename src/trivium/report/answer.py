"""The answer that the page opens with: a grid of lifts, and a sentence for every model.

docs/report.md documents the rules behind the sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trivium.core.results import Summary
from trivium.core.statistics import Estimate
from trivium.report.audits import CAUGHT, NOT_AUDITED, audit_verdict
from trivium.report.charts import FOCUS, WORDS, Look, Traces
from trivium.report.results import BenchmarkResults, GroupKey

MAX_COLUMNS = 8  # of the grid of one benchmark, whose columns are settings
ROLES = {"ceiling": "ceiling", "program": "best program", "shortcut": "best shortcut"}
COMPOSES = 0.5  # the lift from which a number of hops counts as composed
GRADES = ((0.9, "almost perfectly"), (0.6, "well"), (0.25, "in part"), (0.0, "barely"))
VERBS = {"identifying_variables": "controls", "blicket_prompts": "infers causes"}
HOPS = {"nhop_explicit": "through ladders", "nhop_implicit": "from a bag of facts"}
PLAYERS = {
    "optimal": "picks informative tests",
    "information_gain": "picks informative tests",
    "posterior": "tests at random",
    "random": "tests at random",
    "one_at_a_time": "tests like a child who varies one thing at a time",
    "one_cause": "tests like a child who varies one thing at a time",
    "best_fixed_script": "tests by a fixed script, whatever the lights say",
    "constant_answer": "answers without a test",
}


@dataclass(frozen=True)
class Column:
    """One benchmark, or one setting of the only benchmark."""

    title: str
    link: str
    audit: str  # passed, caught, mixed or unknown
    note: str  # what the audit says, in a few words
    floor: str


@dataclass(frozen=True)
class GridCell:
    """A lift; None where there is none."""

    estimate: Estimate
    note: str = ""  # attempts without an answer, and what they could have changed
    who: str = ""  # the solver, in rows of baselines

    @property
    def heat(self) -> int:
        """How strongly the cell is coloured, in percent; below 0 under the floor."""
        return round(100 * max(-1.0, min(1.0, self.estimate.value or 0.0)))


@dataclass(frozen=True)
class GridRow:
    """A model, or the best baseline of a role."""

    name: str
    look: Look | None
    sentence: str
    cells: Sequence[GridCell | None]


@dataclass(frozen=True)
class Grid:
    """Models by benchmarks."""

    columns: Sequence[Column]
    rows: Sequence[GridRow]
    by: str = "in every setting"  # what the columns of one benchmark are


def sound_settings(results: BenchmarkResults) -> list[str]:
    """The settings without known shortcuts; all of them if every one has some."""
    verdicts = {
        one: audit_verdict(results.benchmark, results.specs[one]) for one in results.settings
    }
    return [one for one, verdict in verdicts.items() if verdict != CAUGHT] or list(verdicts)


def grid(
    all_results: Sequence[BenchmarkResults],
    found: Mapping[str, Look],
    traces: Mapping[str, Traces],
    sound: Mapping[str, Sequence[str]],
    *,
    sentences: bool = True,
) -> Grid:
    """The lift of every model at every benchmark, or at every setting of the only one."""
    parts: list[tuple[Column, BenchmarkResults, Mapping[str, Summary]]] = []
    by = Grid.by
    only = all_results[0] if len(all_results) == 1 else None
    groups = [] if only is None else _columns_by_group(only, sound[only.benchmark.name])
    if only is not None and 1 < len(only.settings) <= MAX_COLUMNS:
        for setting in only.settings:
            column = _column(only, [setting], [setting], setting)
            parts.append((column, only, only.within([setting])))
    elif only is not None and groups:
        parts = [(column, only, own) for column, own in groups]
        axis = FOCUS[only.benchmark.name][0]
        by = f"by number of {WORDS.get(axis, axis)}"
    else:
        for results in all_results:
            kept = sound[results.benchmark.name]
            column = _column(results, kept, results.settings, results.benchmark.name)
            parts.append((column, results, results.within(kept)))
    rows = []
    for model in [name for name, look in found.items() if look.colour != "base"]:
        cells = [_cell(own[model]) if model in own else None for *_, own in parts]
        said = sentence(all_results, model, traces, sound) if sentences else ""
        rows.append(GridRow(model, found[model], said, cells))
    for role, name in ROLES.items():
        if role == "program" and not sentences:
            continue  # there are few of them, and they say least
        cells = [_best(results, own, role) for _, results, own in parts]
        if any(cells):
            rows.append(GridRow(name, None, "", cells))
    return Grid([column for column, *_ in parts], rows, by)


def _columns_by_group(
    results: BenchmarkResults, kept: Sequence[str]
) -> list[tuple[Column, dict[str, Summary]]]:
    """A column for each value of the group that matters most, where there are a few of them."""
    axis = FOCUS.get(results.benchmark.name, ("",))[0]
    values = results.group_values(axis)
    if not 1 < len(values) <= MAX_COLUMNS:
        return []
    whole = _column(results, kept, results.settings, "")
    made = []
    for value in values:

        def solver(key: GroupKey, value: Any = value) -> str | None:
            return key.solver if key.setting in kept and key.group(axis) == value else None

        title = f"{value} {WORDS.get(axis, axis)}"
        made.append((replace(whole, title=title, floor=""), results.split(solver)))
    return made


def _cell(part: Summary) -> GridCell:
    """A lift, with what attempts without an answer could have changed."""
    counts = {"failed": part.failed, "declined": part.declined, "cut off": part.cut_offs}
    note = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    if part.bounds is not None and part.ceiling != part.floor:
        low, high = ((end - part.floor) / (part.ceiling - part.floor) for end in part.bounds)
        note += f": {low:.2f} to {high:.2f}"
    return GridCell(part.metrics["lift"], note)


def _best(results: BenchmarkResults, own: Mapping[str, Summary], role: str) -> GridCell | None:
    cells = [
        GridCell(part.metrics["lift"], who=solver)
        for solver, part in own.items()
        if results.role(solver) == role and part.metrics["lift"].value is not None
    ]
    return max(cells, key=lambda cell: cell.estimate.value or 0.0, default=None)


def _column(
    results: BenchmarkResults, kept: Sequence[str], settings: Sequence[str], title: str
) -> Column:
    """A column with what audits say about its items, in a few words."""
    by = {one: audit_verdict(results.benchmark, results.specs[one]) for one in settings}
    verdicts = [by[one] for one in kept]
    passed, caught = verdicts.count("passed"), verdicts.count(CAUGHT)
    if len(set(verdicts)) == 1:
        audit = verdicts[0]
        note = {"passed": "audit passed", CAUGHT: "has shortcuts"}.get(audit, "not audited")
    else:
        audit = "passed" if passed else NOT_AUDITED
        note = f"{passed} of {len(kept)} audited, passed"
        if caught:
            note = f"{passed} of {len(kept)} passed an audit, {caught} with shortcuts"
    if left := [one for one in settings if one not in kept]:
        note += f"; without {left[0] if len(left) == 1 else len(left)} (shortcuts)"
    floors = [part.floor for part in results.within(kept).values() if part.answered]
    floor = f"floor {max(floors):.2f}" if floors else ""
    return Column(title, results.benchmark.name, audit, note, floor)


def sentence(
    all_results: Sequence[BenchmarkResults],
    model: str,
    traces: Mapping[str, Traces],
    sound: Mapping[str, Sequence[str]],
) -> str:
    """What a model can do, by the rules in docs/report.md."""
    phrases = []
    for results in all_results:
        name = results.benchmark.name
        kept = sound[name]
        lift = results.within(kept).get(model)
        if lift is None or lift.metrics["lift"].value is None:
            continue
        if name in HOPS:
            phrases.append(_hops(results, model, kept))
        elif name in VERBS:
            phrases.append(f"{VERBS[name]} {grade(lift.metrics['lift'])}")
        elif results.benchmark.trace_label is not None:
            phrases += [
                *_player(traces[name], model, kept),
                f"solves games {grade(lift.metrics['lift'])}",
            ]
        else:
            phrases.append(f"{name}: {grade(lift.metrics['lift'])}")
    text = "; ".join(phrases)
    return f"{text[:1].upper()}{text[1:]}." if text else "Nothing could be scored."


def grade(lift: Estimate) -> str:
    """A lift in words; "no better than the floor" where its interval reaches 0."""
    if not lift.is_above(0):
        return "no better than the floor"
    return next(word for least, word in GRADES if (lift.value or 0.0) >= least)


def _hops(results: BenchmarkResults, model: str, kept: Sequence[str]) -> str:
    """Up to how many hops a model composes, and from where it fails."""

    def hops(key: GroupKey) -> int | None:
        return key.group("n") if key.solver == model and key.setting in kept else None

    lifts = {n: part.metrics["lift"] for n, part in sorted(results.split(hops).items())}
    fails = next((n for n, lift in lifts.items() if (lift.value or 0.0) < COMPOSES), None)
    composed = [n for n in lifts if fails is None or n < fails]
    if not composed:
        below = all(not lift.is_above(0) for lift in lifts.values())
        first = f"{fails} hops {HOPS[results.benchmark.name]}"
        return f"does not compose {first}" if below else f"composes {first} only in part"
    said = f"composes {composed[-1]} hops {HOPS[results.benchmark.name]}"
    return said if fails is None else f"{said}, fails from {fails}"


def _player(own: Traces, model: str, kept: Sequence[str]) -> Iterator[str]:
    """Which built-in player leaves most nearly as many bits after every test."""
    distances: dict[str, list[float]] = {}
    for (setting, solver), trace in own.items():
        mine = own.get((setting, model))
        if mine and setting in kept and solver in PLAYERS:
            gaps = [
                abs((a.value or 0.0) - (b.value or 0.0)) for a, b in zip(mine, trace, strict=True)
            ]
            start = (trace[0].value or 1.0) * len(gaps)
            distances.setdefault(solver, []).append(sum(gaps) / start)
    if distances:
        yield PLAYERS[min(distances, key=lambda name: sum(distances[name]) / len(distances[name]))]
