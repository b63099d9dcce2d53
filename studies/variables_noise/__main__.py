"""How one statistical test does on `identifying_variables` under noise: measure and plot.

`python -m studies.variables_noise` writes figures.json and figures.svg beside this file; `--plot`
only draws figures.json again.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import orjson

from studies.theme import GREY, MARKED, Figure, series
from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.spec import PRESETS, VariablesSpec, view_of
from trivium.core.dialogue import attempt
from trivium.core.files import write_json
from trivium.core.results import Summary, summarise
from trivium.report.plot import Panel, SeriesStyle

HERE = Path(__file__).parent
SEED, ITEMS = 7, 500
NOISE: dict[str, float | None] = {"none": None, "30": 30.0, "20": 20.0, "10": 10.0, "0": 0.0}
READERS = {
    "statistician, 20 rows": ("statistician", "csv"),
    "statistician, 10 rows": ("statistician", "language-tabular"),
    "noctrl": ("noctrl", "csv"),
    "random": ("random", "csv"),
}
METRICS = ("ctrl_nDCG", "hyp_valid_acc")


def measure() -> list[dict[str, Any]]:
    """Every reader at every level of noise, on balanced-ctrl."""
    points = []
    for noise, snr in NOISE.items():
        for reader, (solver, renderer) in READERS.items():
            found = evaluate(replace(PRESETS["balanced-ctrl"], snr=snr), solver, renderer)
            for metric in METRICS:
                point = {"noise": noise, "reader": reader, "metric": metric}
                points.append(point | found.metrics[metric].to_dict())
    return points


def evaluate(spec: VariablesSpec, solver: str, renderer: str) -> Summary:
    """The metrics of one solver on the dataset."""
    view = view_of(renderer)
    rows = [
        asdict(attempt(VARIABLES, item, VARIABLES.solvers[solver], view))
        for item in VARIABLES.generate(spec, SEED, 0, ITEMS)
    ]
    return summarise(rows, VARIABLES.metrics)


def plot(points: list[dict[str, Any]]) -> Figure:
    """Two panels, one for each metric, with 95% intervals."""
    styles = dict(zip(READERS, [*MARKED[:2], GREY, SeriesStyle("base", 3)], strict=True))
    panels = []
    for metric in METRICS:
        own = [point for point in points if point["metric"] == metric]
        drawn = series(own, "noise", "reader", styles)
        panels.append(Panel(drawn, "signal-to-noise ratio (dB)", metric))
    title = f"balanced-ctrl, {ITEMS} samples a point, 95% intervals"
    return Figure(title, "", panels, styles)


if __name__ == "__main__":
    figures = HERE / "figures.json"
    if "--plot" not in sys.argv:
        write_json(figures, measure())
    plot(orjson.loads(figures.read_bytes())).save(HERE / "figures.svg")
