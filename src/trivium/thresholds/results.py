"""Results of searches for thresholds: read from folders, in words, and as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.benchmarks import recorded_task
from trivium.core.files import write_file
from trivium.core.records import RECORDS, read_manifest, read_records
from trivium.core.text import csv_text
from trivium.thresholds.search import KIND, Axis, Search, ThresholdPlan

TABLE = "thresholds.csv"


def read_thresholds(folder: Path) -> list[Search]:
    """The searches in a folder, from its manifest and records; empty for other runs."""
    manifest = read_manifest(folder)
    if manifest.get("kind") != KIND:
        return _thresholds_of_people(folder, manifest)
    searches = _read_plan(manifest).searches()
    for search in searches:
        search.read(folder, search.all_items)
    return searches


def _thresholds_of_people(folder: Path, manifest: Mapping[str, Any]) -> list[Search]:
    """The searches of all participants of a study, whose records are in one file."""
    searches = {
        (one["condition"], search.solver): search
        for one in manifest.get("adaptive", ())
        for search in _read_plan(one).searches()
    }
    for _, row in read_records(folder / RECORDS) if searches else ():
        search = searches.get((row["groups"].get("condition"), row["solver"]))
        if search is not None:
            axis, (headline, *_) = search.plan.axis, search.plan.task.benchmark.metrics
            score = row["scores"].get(headline.name)
            if score is not None:
                search.fit.add(axis.values.index(row["spec"][axis.field]), [score])
    return list(searches.values())


def _read_plan(manifest: Mapping[str, Any]) -> ThresholdPlan:
    return ThresholdPlan(
        recorded_task(manifest),
        tuple(Axis(name, tuple(values)) for name, values in manifest["vary"].items()),
        tuple(manifest["solvers"]),
        manifest["target"],
        manifest["seeds"][0],
        label=manifest.get("label"),
    )


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """Where the lift of a solver first falls to the target, with a 95% interval.

    The ends of the interval are values that were tried. A None lies beyond them; `text` says on
    which side.
    """

    solver: str
    field: str
    value: float | None
    low: float | None
    high: float | None
    items: int  # scored
    unscored: int  # declined or failed
    fits: bool | None  # whether a falling curve fits; None without scores
    text: str
    note: str  # what limits it: no curve fits, or unscored attempts grow; otherwise empty
    by: float | None = None  # the value of the second field

    def __str__(self) -> str:
        second = "" if self.by is None else f" at {self.by:g}"
        return f"{self.solver}{second}: {self.field} {self.text}, {self.items} items"

    def __repr__(self) -> str:
        return f"<{self}>"


def threshold_of(search: Search) -> Threshold:
    """The result of a search."""
    found = search.fit.threshold()
    return Threshold(
        solver=search.solver,
        field=search.plan.axis.field,
        value=found.value,
        low=found.low,
        high=found.high,
        items=found.n,
        unscored=sum(search.unscored),
        fits=not search.fit.misfits if found.n else None,
        text=threshold_text(search),
        note=threshold_note(search),
        by=search.by,
    )


def threshold_text(search: Search) -> str:
    """A threshold with its interval, or in words where it lies beyond the values."""
    found, levels = search.fit.threshold(), search.levels
    if not found.n:
        return "unknown: nothing was scored"
    beyond = search.fit.beyond(found)
    if beyond is not None:
        which = "the hardest value" if beyond else "the easiest value"
        return f"{'beyond' if beyond else 'before'} {levels.values[beyond]:g}, {which}"
    low = f"below {min(levels.values):g}" if found.low is None else f"{found.low:.3g}"
    high = f"above {max(levels.values):g}" if found.high is None else f"{found.high:.3g}"
    value = "in" if found.value is None else f"{found.value:.3g}"
    return f"{value} [{low}, {high}]"


def threshold_note(search: Search) -> str:
    """What limits a threshold, in words; empty where nothing does."""
    notes, fit = [], search.fit
    if fit.misfits:
        first, *_, last = fit.lifts()
        if first.high is not None and last.low is not None and last.low > first.high:
            notes.append("does not fit: lift rises along these values: name them from easy to hard")
        else:
            notes.append(
                "does not fit: no falling curve explains the scores, so the interval is read from "
                "single values: above the target at its start and all before, below it at its end"
            )
    if search.unscored_grow:
        half = len(search.unscored) // 2
        counts, parts = fit.counts + search.unscored, (slice(half), slice(half, None))
        easy, hard = (f"{sum(search.unscored[p])} of {counts[p].sum():.0f}" for p in parts)
        notes.append(
            f"stopped: more attempts are declined or fail at harder values ({easy} in the easier "
            f"half, {hard} in the harder), and the threshold leaves them out"
        )
    return "; ".join(notes)


def write_thresholds(searches: Sequence[Search], folder: Path) -> None:
    """Write thresholds.csv: a row for every threshold."""
    plan = searches[0].plan
    by = [plan.by.field] if plan.by else []
    heads = ["solver", *by, "field", "target", "threshold", "low", "high", "items"]
    heads += ["unscored", "fits", "note"]
    rows: list[list[Any]] = [heads]
    for found in map(threshold_of, searches):
        ends = ["" if end is None else f"{end:.6g}" for end in (found.value, found.low, found.high)]
        second = [] if found.by is None else [f"{found.by:g}"]
        fits = {True: "yes", False: "no", None: ""}[found.fits]
        limits = [found.items, found.unscored, fits, found.note]
        rows.append([found.solver, *second, found.field, plan.target, *ends, *limits])
    write_file(folder / TABLE, csv_text(rows))
