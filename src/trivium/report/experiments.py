"""Experiments with people on the page: cells, exclusions, effects, groups and other solvers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.core.records import is_participant
from trivium.core.statistics import Estimate, mean_interval, proportion
from trivium.report.results import rows_of
from trivium.report.tables import Table


@dataclass(frozen=True)
class ExperimentSection:
    """An experiment on the page."""

    title: str
    sentences: Sequence[str]
    tables: Sequence[Table]
    screens: Sequence[Mapping[str, Any]]  # what participants read


def experiment_section(manifest: Mapping[str, Any], folder: Path) -> ExperimentSection:
    """The experiment of a manifest, beside the other solvers whose records are in a folder."""
    analysis, who = manifest["analysis"], str(manifest["participants"])
    cells, measure = analysis["cells"], str(analysis["measure"])
    names = tuple(one["condition"] for one in cells)
    means = [Estimate(**one["score"]) for one in cells]
    completed = sum(one["completed"] for one in cells)
    left_out = sum(one["excluded"] for one in cells)
    rules = ", ".join(f"{name} {count}" for name, count in analysis["excluded"].items())
    said = [
        f"{completed} of {sum(one['assigned'] for one in cells)} {who} have completed; "
        f"{left_out} of them are excluded by rules stated in advance"
        + (f" ({rules})." if rules else ".")
    ]
    for name, own in analysis["effects"].items():
        if " x " in name or len(analysis["effects"]) == 1:
            what = "interaction" if " x " in name else "effect"
            said.append(f"The {what} {name} on {measure} is {Estimate(**own)}.")
    heads = ("condition", "assigned", "completed", "excluded", f"{measure} [95%]")
    rows = [
        (one["condition"], *(str(one[key]) for key in heads[1:4]), str(mean))
        for one, mean in zip(cells, means, strict=True)
    ]
    tables = [Table("Participants and scores in every condition", heads, tuple(rows))]
    effects = [(name, str(Estimate(**own))) for name, own in analysis["effects"].items()]
    if effects:
        note = (
            "The first level of a factor minus the second; an interaction is the difference "
            "between two such differences"
        )
        tables.append(Table("Effects", ("effect", "estimate [95%]"), tuple(effects), note))
    for question, options in analysis["groups"].items():
        rows = [
            (option, *(_with_count(Estimate(**one)) for one in own))
            for option, own in options.items()
        ]
        tables.append(Table(f"{measure} by {question}", (question, *names), tuple(rows)))
    if others := _others(folder, analysis):
        rows = [(solver, *map(_with_count, own)) for solver, own in {who: means, **others}.items()]
        note = "Every solver on the items that participants of a condition had; n counts attempts"
        tables.append(Table("The same items, other solvers", ("solver", *names), tuple(rows), note))
    return ExperimentSection(str(manifest["label"]), said, tables, manifest.get("screens", ()))


def _with_count(estimate: Estimate) -> str:
    return f"{estimate}, n {estimate.n}" if estimate.n else "none"


def _others(folder: Path, analysis: Mapping[str, Any]) -> dict[str, list[Estimate]]:
    """The scores of models, agents and programs on the items of every condition."""
    scores: dict[str, list[list[float]]] = defaultdict(lambda: [[] for _ in analysis["cells"]])
    for row in rows_of([folder]):
        value = row["scores"].get(analysis["measure"])
        if is_participant(row["solver"]) or value is None:
            continue
        for number, cell in enumerate(analysis["cells"]):
            if row.get("digest") in cell["items"]:
                scores[row["solver"]][number].append(value)
    return {solver: [_estimate(own) for own in cells] for solver, cells in scores.items()}


def _estimate(values: Sequence[float]) -> Estimate:
    """A mean with its interval, that of a proportion where all values are 0 or 1."""
    exact = set(values) <= {0.0, 1.0}
    return proportion(sum(values), len(values)) if exact else mean_interval(values)
