"""Experiments with people on the page: cells, exclusions, effects, groups and other solvers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.core.records import is_participant
from trivium.core.statistics import Estimate, mean_score
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
    """The experiment of a manifest, and how other solvers in a folder do on the same items."""
    analysis, people = manifest["analysis"], str(manifest["participants"])
    cells, measure = analysis["cells"], str(analysis["measure"])
    names = tuple(cell["condition"] for cell in cells)
    means = [Estimate(**cell["score"]) for cell in cells]
    heads = ("condition", "assigned", "completed", "excluded", f"{measure} [95%]")
    counts = {key: sum(cell[key] for cell in cells) for key in heads[1:4]}
    rules = ", ".join(f"{name} {count}" for name, count in analysis["excluded"].items())
    sentences = [
        f"{counts['completed']} of {counts['assigned']} {people} have completed; "
        f"{counts['excluded']} of them are excluded by rules stated in advance"
        + (f" ({rules})." if rules else ".")
    ]
    effects = [(name, str(Estimate(**value))) for name, value in analysis["effects"].items()]
    for name, effect in effects:
        interaction = " x " in name  # of two factors
        if interaction or len(effects) == 1:
            kind = "interaction" if interaction else "effect"
            sentences.append(f"The {kind} {name} on {measure} is {effect}.")
    rows = [
        (cell["condition"], *(str(cell[key]) for key in heads[1:4]), str(mean))
        for cell, mean in zip(cells, means, strict=True)
    ]
    tables = [Table("Participants and scores in every condition", heads, tuple(rows))]
    if effects:
        note = (
            "The first level of a factor minus the second; an interaction is the difference "
            "between two such differences"
        )
        tables.append(Table("Effects", ("effect", "estimate [95%]"), tuple(effects), note))
    for question, options in analysis["groups"].items():
        rows = [
            (option, *(_with_count(Estimate(**value)) for value in values))
            for option, values in options.items()
        ]
        tables.append(Table(f"{measure} by {question}", (question, *names), tuple(rows)))
    if others := _others(folder, analysis):
        rows = [(name, *map(_with_count, row)) for name, row in {people: means, **others}.items()]
        note = "Every solver on the items that participants of a condition had; n counts attempts"
        tables.append(Table("The same items, other solvers", ("solver", *names), tuple(rows), note))
    return ExperimentSection(str(manifest["label"]), sentences, tables, manifest.get("screens", ()))


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
    return {solver: [mean_score(values) for values in cells] for solver, cells in scores.items()}
