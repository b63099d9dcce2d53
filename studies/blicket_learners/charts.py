"""The study's figures: results in, chart out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

from studies.blicket_learners.bootstrap import bootstrap_mean
from studies.blicket_learners.paper import (
    FORM_PLATEAUS,
    PAPER_TABLE,
    PLATEAUS,
    constant_accuracy,
    ideal_reward,
)
from studies.blicket_learners.plan import TRAINED_OBJECTS
from studies.blicket_learners.results import (
    MODEL_NAMES,
    POLICY_NAMES,
    Learner,
    Results,
    data_name,
    find_learners,
)
from studies.theme import GREY, PALETTE, Chart, distinct, finish, inline
from trivium.core.statistics import Estimate

Rows = list[dict[str, Any]]
Plateaus = Mapping[str, Mapping[str, float]]  # by panel
WIDTH = 310
REWARD, REWARDS = "mean quiz reward", (-0.3, 3.2)
SHAPES = ["circle", "square", "triangle-up", "diamond"]
VIEWS = {"as trained": "with the forced steps", "no forced steps": "without them"}
SPLITS = {
    "conjunctive_train": "trained on conjunctive, held out disjunctive",
    "disjunctive_train": "trained on disjunctive, held out conjunctive",
    "conjunctive_loo": "trained on AB, AC; held out conjunctive BC",
    "disjunctive_loo": "trained on A, B; held out disjunctive C",
    "both_loo": "both forms; held out conjunctive BC, disjunctive C",
}


def figure_3a(results: Results) -> Chart:
    """Learning curves of every agent when no machine is held out."""
    found = find_learners(results, "quiz", split="none", forced=0)
    rows = _curve_rows(found, "reward", _agent_panel)
    return finish(
        _curves(rows, REWARD, REWARDS, dict.fromkeys(distinct(rows, "panel"), PLATEAUS)),
        "Figure 3a: learning curves, nothing held out",
        "Mean reward of training episodes over seeds with 95% intervals. Dashed: what an ideal "
        "observer earns after so many tests; a policy without memory can only earn 0.",
    )


def figure_3b(results: Results) -> Chart:
    """Reward against forced exploration steps, evaluated with and without them."""
    found = find_learners(results, "quiz", split="none")
    trained_for = {one.label: one.steps for one in found if one.forced}
    rows = [
        _row(
            # An agent never forced may have been trained for longer: its reward by the same step.
            one.greedy("reward", view=view)
            if one.forced
            else one.greedy_at(trained_for[one.label]),
            forced=one.forced,
            # Set beside each other, so that intervals do not hide one another.
            x=one.forced + 0.3 * (list(POLICY_NAMES.values()).index(one.policy) - 2),
            evaluated=label,
            policy=one.policy,
            panel=_agent_panel(one),
        )
        for one in found
        if one.label in trained_for
        for view, label in VIEWS.items()
    ]
    steps = sorted({row["forced"] for row in rows})
    x = alt.X(
        "x:Q",
        title="forced exploration steps in training",
        axis=alt.Axis(values=steps, grid=False),
        scale=alt.Scale(domain=[min(steps) - 1, max(steps) + 1], nice=False),
    )
    dash = alt.StrokeDash(
        "evaluated:N",
        scale=alt.Scale(domain=list(VIEWS.values()), range=[[1, 0], [5, 3]]),
        legend=alt.Legend(symbolSize=500, symbolStrokeWidth=2),
    )
    own = alt.Chart().transform_filter("isValid(datum.value)")
    colour, shape = _policies(rows)
    value, low = (_y(name, REWARD, REWARDS) for name in ("value", "low"))
    layers = [
        own.mark_line(strokeWidth=2).encode(x=x, y=value, color=colour, strokeDash=dash),
        own.mark_rule(strokeWidth=2).encode(x=x, y=low, y2="high:Q", color=colour),
        own.mark_point(filled=True, size=70, opacity=1).encode(
            x=x, y=value, color=colour, shape=shape
        ),
    ]
    plateaus = dict.fromkeys(distinct(rows, "panel"), PLATEAUS)
    return finish(
        _over_plateaus(layers, rows, plateaus, REWARD, REWARDS),
        "Figure 3b: forced exploration",
        "Exact reward of the greedy policy over all six machines, seeds with 95% intervals. The "
        "original evaluated without the steps that it had trained with: both are shown.",
    )


def figure_3c(results: Results) -> Chart:
    """Reward on the machines trained on and on those held out, exploration beside them."""
    found = [one for one in find_learners(results, "quiz", forced=0) if one.split in SPLITS]
    found.sort(key=lambda one: list(SPLITS).index(one.split))
    rows: Rows = []
    for one in found:
        tests, bits = (np.mean(one.seeds(name, "test")) for name in ("tests", "bits"))
        labels = {"panel": SPLITS[one.split], "agent": one.label}
        rows += [
            _row(one.greedy("reward"), machines="trained on", note="", **labels),
            _row(
                one.greedy("reward", "test"),
                machines="held out",
                note=f"{tests:.1f} tests, {bits:.1f} bits",
                **labels,
            ),
        ]
    y = alt.Y("agent:N", title=None, sort=distinct(rows, "agent"))
    notes = alt.Chart().mark_text(align="left", color="#606060", fontSize=11)
    notes = notes.encode(x=alt.value(WIDTH + 8), y=y, text="note:N")
    marks = _marked("machines", ["trained on", "held out"], PALETTE)
    layers = [*_dots(marks, [-2, 3.1], y=y), notes]
    return finish(
        _facets(alt.layer(*layers, data=inline(rows)), rows, spacing=15),
        "Figure 3c: machines held out of training",
        "Exact reward of the greedy policy, seeds with 95% intervals; at the right, tests and bits "
        "gained on the held-out machines. A constant answer earns 1 there, and 0 where machines "
        "of both forms are held out.",
    )


def figure_3d(results: Results) -> Chart:
    """How often the form is named correctly, over training."""
    found = find_learners(results, "quiz-type")
    found.sort(key=lambda one: one.split != "none")

    def panel(one: Learner) -> str:
        held_out = "nothing" if one.split == "none" else "conjunctive BC and disjunctive C"
        return f"{one.algorithm}, {held_out} held out"

    rows = _curve_rows(found, "form", panel)
    plateaus = {panel(one): FORM_PLATEAUS[one.split] for one in found}
    return finish(
        _curves(rows, "share of correct answers", [0.45, 1.03], plateaus),
        "Figure 3d: naming the form, conjunctive or disjunctive",
        "Share of training episodes that name the form correctly, seeds with 95% intervals. "
        "Dashed: the best share after so many tests, on the machines trained on.",
    )


def table_1(results: Results) -> Chart:
    """Rewards of the imitators beside the paper's and the ideal observer's."""
    rows: Rows = []
    for unit in results.imitators:
        model, data = unit["config"]["model"], data_name(unit["data"])
        labels = {"data": data, "panel": MODEL_NAMES[model]}
        ideal = ideal_reward(data)
        rows += [
            _row(bootstrap_mean(unit["played"]["as collected"]["reward"]), source="ours", **labels),
            {"value": PAPER_TABLE[model][data][0], "source": "paper", **labels},
            *([] if ideal is None else [{"value": ideal, "source": "ideal observer", **labels}]),
        ]
    rows.sort(key=lambda row: list(MODEL_NAMES.values()).index(row["panel"]))
    sources = ["ours", "paper", "ideal observer"]
    y = alt.Y("data:N", title="trained on", sort=list(PAPER_TABLE["cloning"]))
    offset = alt.YOffset("source:N", sort=sources)
    marks = _marked("source", sources, [PALETTE[0], GREY, "black"])
    layers = _dots(marks, [-0.5, 3], y=y, yOffset=offset)
    chart = alt.layer(*layers, data=inline(rows)).properties(height=230)
    return finish(
        _facets(chart, rows, spacing=20),
        "Table 1 as a figure: imitators by what they were trained on",
        "Mean over seeds of the mean reward of their episodes, with 95% intervals, beside the "
        "paper's values. 3 is the maximum, 0 is chance; the ideal observer sees the tests of "
        "random data.",
    )


def overhypotheses(results: Results) -> Chart:
    """Accuracy on every form and number of objects, by what was trained on."""
    rows: Rows = []
    for unit in results.transfers:
        forms, policy = unit["forms"], POLICY_NAMES[unit["agent"]["policy"]]
        for tested in unit["tested"]:
            form, objects = tested["form"], tested["objects"]
            accuracy = float(np.mean(tested["accuracy"]))
            trained_on = form in forms and objects == TRAINED_OBJECTS
            row = {
                "trained": f"{policy}, {len(forms)} form{'s' * (len(forms) > 1)}",
                "form": form,
                "objects": objects,
                "gain": round(accuracy - constant_accuracy(form, objects), 3),
                "text": f"{accuracy:.2f}{'*' * trained_on}",
            }
            rows.append(row)
    position = {
        "x": alt.X("objects:O", title="objects", axis=alt.Axis(labelAngle=0)),
        "y": alt.Y("trained:N", title=None, sort=distinct(rows, "trained")),
    }
    colour = alt.Color(
        "gain:Q",
        title="above a constant answer",
        scale=alt.Scale(domain=[-0.4, 0.4], scheme="redblue", clamp=True),
        legend=alt.Legend(gradientLength=240),
    )
    dark = alt.condition("abs(datum.gain) > 0.28", alt.value("white"), alt.value("black"))
    boxes = alt.Chart().mark_rect().encode(color=colour, **position)
    numbers = alt.Chart().mark_text(fontSize=11).encode(text="text:N", color=dark, **position)
    chart = alt.layer(boxes, numbers, data=inline(rows)).properties(width=120, height=150)
    column = alt.Column("form:N", title=None, sort=distinct(rows, "form"))
    return finish(
        chart.facet(column=column, spacing=10),
        "Beyond the paper: is an overhypothesis learned?",
        "Share of objects that the greedy policy identifies correctly on every machine of a form "
        "and number of objects, mean over seeds. A star marks what was trained on. Blue is above "
        "the better of yes and no to every object, red is below.",
    )


def _row(estimate: Estimate, **labels: Any) -> dict[str, Any]:
    """A value with its interval and labels, as charts take it."""
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, **labels}


def _curve_rows(found: Sequence[Learner], name: str, panel: Callable[[Learner], str]) -> Rows:
    return [
        _row(one.sampled(name, point), steps=step / 1e6, policy=one.policy, panel=panel(one))
        for one in found
        for point, step in enumerate(one.record["steps"])
    ]


def _agent_panel(one: Learner) -> str:
    if one.large:
        return f"{one.algorithm}, {one.environments} environments (the large batch)"
    return f"{one.algorithm}, {one.width} units, the paper's batch"


def _marked(field: str, names: Sequence[str], colours: Sequence[str]) -> tuple[Any, Any]:
    """A colour, and a shape that says the same, in one legend."""
    count = len(names)
    colour = alt.Scale(domain=list(names), range=list(colours[:count]))
    shape = alt.Scale(domain=list(names), range=SHAPES[:count])
    return alt.Color(f"{field}:N", scale=colour), alt.Shape(f"{field}:N", scale=shape)


def _policies(rows: Rows) -> tuple[Any, Any]:
    """The colours and shapes of the policies that there are."""
    every = list(POLICY_NAMES.values())
    names = [name for name in every if name in distinct(rows, "policy")]
    return _marked("policy", names, [PALETTE[every.index(name)] for name in names])


def _y(field: str, title: str, domain: Sequence[float]) -> alt.Y:
    scale = alt.Scale(domain=list(domain), nice=False, zero=False)
    return alt.Y(f"{field}:Q", title=title, scale=scale)


def _curves(rows: Rows, title: str, domain: Sequence[float], plateaus: Plateaus) -> Any:
    """Curves with their bands, over the plateaus."""
    own = alt.Chart().transform_filter("isValid(datum.value)")
    x = alt.X(
        "steps:Q",
        title="environment steps (millions)",
        axis=alt.Axis(tickCount=5),
        scale=alt.Scale(nice=False, zero=True),
    )
    colour, _ = _policies(rows)
    colour.legend = alt.Legend(symbolType="stroke", symbolStrokeWidth=4, symbolOpacity=1)
    value, low = (_y(name, title, domain) for name in ("value", "low"))
    band = own.mark_area(opacity=0.2).encode(x=x, y=low, y2="high:Q", color=colour)
    line = own.mark_line(strokeWidth=2.5).encode(x=x, y=value, color=colour)
    return _over_plateaus([band, line], rows, plateaus, title, domain)


def _over_plateaus(
    layers: Sequence[Any], rows: Rows, plateaus: Plateaus, title: str, domain: Sequence[float]
) -> Any:
    """Panels over dashed lines of what the ideal observer reaches, labelled on the right."""
    lines = [
        {"panel": panel, "at": at, "label": f"{name}: {Fraction(at).limit_denominator(9)}"}
        for panel, values in plateaus.items()
        for name, at in values.items()
    ]
    y = _y("at", title, domain)
    known = alt.Chart().transform_filter("isValid(datum.at)")
    rules = known.mark_rule(color=GREY, strokeDash=[4, 3], strokeWidth=1).encode(y=y)
    labels = known.mark_text(align="left", baseline="middle", color="#606060", fontSize=11)
    labels = labels.encode(y=y, x=alt.value(WIDTH + 5), text="label:N")
    chart = alt.layer(rules, labels, *layers, data=inline([*rows, *lines]))
    return _facets(chart.properties(height=200), rows, spacing=25)


def _dots(marks: tuple[Any, Any], domain: Sequence[float], **rows: Any) -> list[Any]:
    """Rewards with their intervals from left to right, and a line at 0."""
    scale, axis = alt.Scale(domain=list(domain), nice=False), alt.Axis(tickCount=6)
    value, low = (
        alt.X(f"{name}:Q", title=REWARD, scale=scale, axis=axis) for name in ("value", "low")
    )
    base, (colour, shape) = alt.Chart(), marks
    dots = base.mark_point(filled=True, size=70, opacity=1)
    return [
        base.mark_rule(color=GREY, strokeDash=[4, 3]).encode(x=alt.datum(0)),
        base.mark_rule(strokeWidth=2).encode(x=low, x2="high:Q", color=colour, **rows),
        dots.encode(x=value, color=colour, shape=shape, **rows),
    ]


def _facets(chart: Any, rows: Rows, spacing: int) -> Any:
    """Two panels in a row."""
    facet = alt.Facet("panel:N", title=None, sort=distinct(rows, "panel"))
    return (
        chart.properties(width=WIDTH)
        .facet(facet=facet, columns=2, spacing={"column": spacing, "row": 25})
        .resolve_axis(x="independent")
    )


FIGURES: Mapping[str, Callable[[Results], Chart]] = {
    "fig3a": figure_3a,
    "fig3b": figure_3b,
    "fig3c": figure_3c,
    "fig3d": figure_3d,
    "table1": table_1,
    "overhypotheses": overhypotheses,
}


def save(chart: Chart, path: Path) -> None:
    """Write a figure as SVG and PNG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    chart.save(f"{path}.svg")
    chart.save(f"{path}.png", ppi=80)
