"""How much of `identifying_variables` the data decide: measure and plot.

`python -m studies.variables_noise` writes figures.json, .svg and .png beside this file;
`--plot` only draws figures.json again. Needs trivium[plots].
"""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import altair
import orjson

from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.spec import PRESETS, VariablesSpec, view_of
from trivium.core.dialogue import attempt
from trivium.core.files import write_json
from trivium.core.results import Summary, summarise

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
COLOURS = ["#1b6ca8", "#e07b39", "#7a7a7a", "#b9b9b9"]


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


def plot(points: list[dict[str, Any]]) -> Any:
    """Two panels, one for each metric, with 95% intervals."""
    data = altair.Data(values=points)  # type: ignore[no-untyped-call]
    colour = altair.Color(
        "reader:N",
        sort=list(READERS),
        scale=altair.Scale(domain=list(READERS), range=COLOURS),
        legend=altair.Legend(title=None, orient="bottom", columns=4),
    )
    base = altair.Chart(data).encode(
        x=altair.X(
            "noise:N",
            sort=list(NOISE),
            title="signal-to-noise ratio (dB)",
            axis=altair.Axis(labelAngle=0),
        ),
        color=colour,
    )
    value = altair.Y("value:Q", title=None, scale=altair.Scale(domain=[0, 1]))
    lines = base.mark_line(point=True).encode(y=value)
    bars = base.mark_rule().encode(y=altair.Y("low:Q", title=None), y2="high:Q")
    panels = [
        (lines + bars)
        .transform_filter(altair.datum.metric == metric)
        .properties(width=330, height=260, title=metric)
        for metric in METRICS
    ]
    return altair.hconcat(*panels).properties(
        title=f"balanced-ctrl, {ITEMS} samples a point, 95% intervals"
    )


if __name__ == "__main__":
    figures = HERE / "figures.json"
    if "--plot" not in sys.argv:
        write_json(figures, measure())
    chart = plot(orjson.loads(figures.read_bytes()))
    chart.save(HERE / "figures.svg")
    chart.save(HERE / "figures.png", scale_factor=2)
