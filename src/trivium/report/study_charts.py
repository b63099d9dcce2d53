"""The study's pictures: results in, chart out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import altair as alt
import numpy as np

from trivium.core.statistics import Estimate, bootstrap_mean
from trivium.report.look import GREY, PALETTE, Chart, distinct, finish, inline
from trivium.report.study_others import single_word_accuracy
from trivium.report.study_values import (
    FORM_PLATEAUS,
    MODEL_NAMES,
    PAPER_TABLE,
    PLATEAUS,
    POLICY_NAMES,
    Learner,
    Results,
    data_name,
    learners,
)

Rows = list[dict[str, Any]]
WIDTH = 310
SPLIT_NAMES = {
    "conjunctive_train": "trained on conjunctive, held out disjunctive",
    "disjunctive_train": "trained on disjunctive, held out conjunctive",
    "conjunctive_loo": "trained on AB, AC; held out conjunctive BC",
    "disjunctive_loo": "trained on A, B; held out disjunctive C",
    "both_loo": "both forms; held out conjunctive BC, disjunctive C",
}


def _row(estimate: Estimate, **labels: Any) -> dict[str, Any]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, **labels}


def _policy(rows: Rows, channel: type[alt.Color] | type[alt.Shape]) -> Any:
    """A colour, or the shape that says the same, for every policy that is there."""
    there = [name for name in POLICY_NAMES.values() if name in distinct(rows, "policy")]
    places = [list(POLICY_NAMES.values()).index(name) for name in there]
    shapes = ["circle", "square", "triangle-up", "diamond"]
    ranges = {
        alt.Color: [PALETTE[place] for place in places],
        alt.Shape: [shapes[place] for place in places],
    }
    scale = alt.Scale(domain=there, range=ranges[channel])
    return channel("policy:N", title="policy", scale=scale)


def _choice(field: str, domain: list[str], colours: list[str]) -> tuple[alt.Color, alt.Shape]:
    """A colour and a shape for one of two, in one legend."""
    return (
        alt.Color(f"{field}:N", scale=alt.Scale(domain=domain, range=colours)),
        alt.Shape(f"{field}:N", scale=alt.Scale(domain=domain, range=["circle", "square"])),
    )


def _known_lines(lines: Mapping[str, Mapping[str, float]]) -> Rows:
    """The ideal observer's values for every panel, as rows with words."""
    return [
        {"panel": panel, "at": at, "words": f"{name}: {Fraction(at).limit_denominator(9)}"}
        for panel, values in lines.items()
        for name, at in values.items()
    ]


def _known_layers(y: alt.Y) -> list[Any]:
    """Dashed lines, with their words beside the panel."""
    known = alt.Chart().transform_filter("isValid(datum.at)")
    rules = known.mark_rule(color=GREY, strokeDash=[4, 3], strokeWidth=1).encode(y=y)
    words = known.mark_text(align="left", baseline="middle", color="#606060", fontSize=11)
    return [rules, words.encode(y=y, x=alt.value(WIDTH + 5), text="words:N")]


def _curve_rows(found: Sequence[Learner], name: str, panel: Callable[[Learner], str]) -> Rows:
    return [
        _row(
            estimate,
            steps=steps / 1e6,
            policy=POLICY_NAMES[learner.policy],
            panel=panel(learner),
        )
        for learner in found
        for steps, estimate in zip(learner.record["steps"], learner.curve(name), strict=True)
    ]


def _curves(
    rows: Rows, value: str, domain: list[float], lines: Mapping[str, Mapping[str, float]]
) -> Any:
    """Curves with their bands, a panel each, over grey lines of known values."""
    own = alt.Chart().transform_filter("isValid(datum.value)")
    x = alt.X(
        "steps:Q",
        title="environment steps (millions)",
        axis=alt.Axis(tickCount=5),
        scale=alt.Scale(nice=False, zero=True),
    )
    scale = alt.Scale(domain=domain, nice=False, zero=False)
    colour = _policy(rows, alt.Color)
    colour.legend = alt.Legend(symbolType="stroke", symbolStrokeWidth=4, symbolOpacity=1)
    band = own.mark_area(opacity=0.2).encode(
        x=x, y=alt.Y("low:Q", title=value, scale=scale), y2="high:Q", color=colour
    )
    line = own.mark_line(strokeWidth=2.5).encode(
        x=x, y=alt.Y("value:Q", title=value, scale=scale), color=colour
    )
    known = _known_layers(alt.Y("at:Q", title=value, scale=scale))
    layers = alt.layer(*known, band, line, data=inline([*rows, *_known_lines(lines)]))
    return _panels(layers, rows)


def _panels(layers: Any, rows: Rows) -> Any:
    """Two panels in a row, with room for words on the right of each."""
    return (
        layers.properties(width=WIDTH, height=200)
        .facet(
            facet=alt.Facet("panel:N", title=None, sort=distinct(rows, "panel")),
            columns=2,
            spacing={"column": 25, "row": 25},
        )
        .resolve_axis(x="independent")
    )


def _agent_panel(learner: Learner) -> str:
    name = learner.algorithm.upper()
    if learner.preset == "large":
        return f"{name}, {learner.environments} environments (the large batch)"
    return f"{name}, {learner.width} units, the paper's batch"


def _agent_order(learner: Learner) -> tuple[bool, str, int]:
    return learner.preset == "large", learner.algorithm, learner.width


def figure_3a(results: Results) -> Chart | None:
    """Learning curves of every agent when no machine is held out."""
    found = list(learners(results, split="none", forced=0, reward_structure="quiz"))
    if not found:
        return None
    rows = _curve_rows(sorted(found, key=_agent_order), "reward", _agent_panel)
    lines = dict.fromkeys(distinct(rows, "panel"), PLATEAUS)
    return finish(
        _curves(rows, "mean quiz reward", [-0.3, 3.2], lines),
        "Figure 3a: learning curves, nothing held out",
        "Mean reward of training episodes over seeds with 95% intervals. Dashed: what an ideal "
        "observer earns after so many tests; a policy without memory can only earn 0.",
    )


def figure_3b(results: Results) -> Chart | None:
    """Reward against forced exploring steps, with and without them in the evaluation."""
    views = {"as trained": "with the forced steps", "no forced steps": "without them"}
    rows: Rows = []
    found = learners(results, split="none", reward_structure="quiz")
    for learner in sorted(found, key=_agent_order):
        # Set beside each other, so that intervals can be told apart.
        shift = 0.3 * (list(POLICY_NAMES).index(learner.policy) - 2)
        rows += [
            _row(
                learner.final("reward", view=view),
                forced=learner.task["forced"],
                x=learner.task["forced"] + shift,
                evaluated=words,
                policy=POLICY_NAMES[learner.policy],
                panel=_agent_panel(learner),
            )
            for view, words in views.items()
        ]
    drawn = {(row["panel"], row["policy"]) for row in rows if row["forced"]}
    rows = [row for row in rows if (row["panel"], row["policy"]) in drawn]
    if not rows:
        return None
    base = alt.Chart().transform_filter("isValid(datum.value)")
    scale = alt.Scale(domain=[-0.3, 3.2], nice=False, zero=False)
    marks = sorted({row["forced"] for row in rows})
    x = alt.X(
        "x:Q",
        title="forced exploring steps in training",
        axis=alt.Axis(values=marks, grid=False),
        scale=alt.Scale(domain=[min(marks) - 1, max(marks) + 1], nice=False),
    )
    y = alt.Y("value:Q", title="mean quiz reward", scale=scale)
    dash = alt.StrokeDash(
        "evaluated:N",
        scale=alt.Scale(domain=list(views.values()), range=[[1, 0], [5, 3]]),
        legend=alt.Legend(symbolSize=500, symbolStrokeWidth=2),
    )
    colour = _policy(rows, alt.Color)
    lines = base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, strokeDash=dash)
    bars = base.mark_rule(strokeWidth=2).encode(
        x=x, y=alt.Y("low:Q", scale=scale, title="mean quiz reward"), y2="high:Q", color=colour
    )
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=x, y=y, color=colour, shape=_policy(rows, alt.Shape)
    )
    plateaus = _known_lines(dict.fromkeys(distinct(rows, "panel"), PLATEAUS))
    known = _known_layers(alt.Y("at:Q", title="mean quiz reward", scale=scale))
    return finish(
        _panels(alt.layer(*known, lines, bars, dots, data=inline([*rows, *plateaus])), rows),
        "Figure 3b: forced exploration",
        "Exact reward of the greedy policy over all six machines, seeds with 95% intervals. The "
        "original evaluated without the steps that it had trained with: both are shown.",
    )


def figure_3c(results: Results) -> Chart | None:
    """Reward on the machines trained on and on those held out, exploration beside them."""
    rows: Rows = []
    found = [
        learner
        for learner in learners(results, forced=0, reward_structure="quiz")
        if learner.task["split"] != "none"
    ]
    if not found:
        return None
    found.sort(key=lambda one: (list(SPLIT_NAMES).index(one.task["split"]), _agent_order(one)))
    for learner in found:
        for group, name in (("train", "trained on"), ("test", "held out")):
            tests = learner.final("tests", "test").value or 0.0
            bits = learner.final("bits", "test").value or 0.0
            rows.append(
                _row(
                    learner.final("reward", group),
                    panel=SPLIT_NAMES[learner.task["split"]],
                    machines=name,
                    agent=learner.label,
                    words=f"{tests:.1f} tests, {bits:.1f} bits" if group == "test" else "",
                )
            )
    base = alt.Chart()
    colour, shape = _choice("machines", ["trained on", "held out"], PALETTE[:2])
    y = alt.Y("agent:N", title=None, sort=distinct(rows, "agent"))
    scale = alt.Scale(domain=[-2, 3.1], nice=False)
    axis = alt.Axis(values=list(range(-2, 4)), format="d")
    zero = base.mark_rule(color=GREY, strokeDash=[4, 3]).encode(x=alt.datum(0))
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title="mean quiz reward", scale=scale, axis=axis),
        x2="high:Q",
        y=y,
        color=colour,
    )
    dots = base.mark_point(filled=True, size=80, opacity=1).encode(
        x=alt.X("value:Q", title="mean quiz reward", scale=scale, axis=axis),
        y=y,
        color=colour,
        shape=shape,
    )
    words = base.mark_text(align="left", color="#606060", fontSize=11).encode(
        x=alt.value(WIDTH + 8), y=y, text="words:N"
    )
    chart = alt.layer(zero, bars, dots, words, data=inline(rows)).properties(width=WIDTH)
    facets = chart.facet(
        facet=alt.Facet("panel:N", title=None, sort=distinct(rows, "panel")),
        columns=2,
        spacing={"column": 15, "row": 25},
    ).resolve_axis(x="independent")
    return finish(
        facets,
        "Figure 3c: machines held out of training",
        "Exact reward of the greedy policy, seeds with 95% intervals; beside it, tests and bits "
        "gained on the machines held out. One word for every object earns +1 at best where one "
        "form is held out.",
    )


def figure_3d(results: Results) -> Chart | None:
    """How often the form is told rightly, over training."""
    found = list(learners(results, reward_structure="quiz-type"))
    if not found:
        return None
    found.sort(key=lambda learner: (learner.task["split"] != "none", learner.algorithm))

    def panel(learner: Learner) -> str:
        held_out = learner.task["split"] != "none"
        words = "conjunctive BC and disjunctive C held out" if held_out else "nothing held out"
        return f"{learner.algorithm.upper()}, {words}"

    rows = _curve_rows(found, "form", panel)
    lines = {panel(learner): FORM_PLATEAUS[learner.task["split"]] for learner in found}
    return finish(
        _curves(rows, "share of right answers", [0.45, 1.03], lines),
        "Figure 3d: telling conjunctive from disjunctive",
        "Share of training episodes that name the form rightly, seeds with 95% intervals. Dashed: "
        "the most that so many tests can tell of the machines trained on.",
    )


def table_1(results: Results) -> Chart | None:
    """Rewards of the imitators beside the paper's."""
    rows: Rows = []
    for model, values in PAPER_TABLE.items():
        for unit in results.imitators:
            if unit["config"]["model"] != model:
                continue
            data = data_name(unit["data"])
            labels = {"data": data, "model": MODEL_NAMES[model]}
            own = bootstrap_mean(unit["played"]["as collected"]["reward"])
            rows.append(_row(own, source="ours", **labels))
            rows.append(_row(Estimate(values[data][0], None, None, 1), source="paper", **labels))
    if not rows:
        return None
    base = alt.Chart()
    colour, shape = _choice("source", ["ours", "paper"], [PALETTE[0], GREY])
    y = alt.Y("data:N", title="trained on", sort=list(PAPER_TABLE["cloning"]))
    offset = alt.YOffset("source:N", sort=["ours", "paper"])
    scale = alt.Scale(domain=[-0.5, 3], nice=False)
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title="mean quiz reward", scale=scale),
        x2="high:Q",
        y=y,
        yOffset=offset,
        color=colour,
    )
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("value:Q", title="mean quiz reward", scale=scale),
        y=y,
        yOffset=offset,
        color=colour,
        shape=shape,
    )
    zero = base.mark_rule(color=GREY, strokeDash=[4, 3]).encode(x=alt.datum(0))
    chart = alt.layer(zero, bars, dots, data=inline(rows)).properties(width=WIDTH, height=230)
    facet = alt.Facet("model:N", title=None, sort=list(MODEL_NAMES.values()))
    return finish(
        chart.facet(facet=facet, columns=2),
        "Table 1 as a picture: imitators by what they were trained on",
        "Mean over seeds of the mean reward of their episodes, with 95% intervals; grey is the "
        "paper's value. 3 is the most there is, 0 is chance.",
    )


def overhypotheses(results: Results) -> Chart | None:
    """Accuracy on every form and number of objects, by what was trained on."""
    rows: Rows = []
    units = sorted(results.transfers, key=lambda one: (one["agent"]["policy"], len(one["forms"])))
    for unit in units:
        forms = unit["forms"]
        trained = f"{len(forms)} form{'s' * (len(forms) > 1)}"
        for tested in unit["tested"]:
            accuracy = float(np.mean(tested["accuracy"]))
            known = tested["form"] in forms and tested["objects"] == 3
            floor = single_word_accuracy(tested["form"], tested["objects"])
            rows.append(
                {
                    "trained": f"{POLICY_NAMES[unit['agent']['policy']]}, {trained}",
                    "form": tested["form"],
                    "objects": tested["objects"],
                    "gain": round(accuracy - floor, 3),
                    "text": f"{accuracy:.2f}{'*' if known else ''}",
                }
            )
    if not rows:
        return None
    base = alt.Chart()
    x = alt.X("objects:O", title="objects", axis=alt.Axis(labelAngle=0))
    y = alt.Y("trained:N", title=None, sort=distinct(rows, "trained"))
    colour = alt.Color(
        "gain:Q",
        title="above one word for all",
        scale=alt.Scale(domain=[-0.4, 0.4], scheme="redblue", clamp=True),
        legend=alt.Legend(gradientLength=240),
    )
    boxes = base.mark_rect().encode(x=x, y=y, color=colour)
    words = base.mark_text(fontSize=11).encode(
        x=x,
        y=y,
        text="text:N",
        color=alt.condition("abs(datum.gain) > 0.28", alt.value("white"), alt.value("black")),
    )
    chart = alt.layer(boxes, words, data=inline(rows)).properties(width=120, height=150)
    column = alt.Column("form:N", title=None, sort=distinct(rows, "form"))
    return finish(
        chart.facet(column=column, spacing=10),
        "Beyond the paper: is an overhypothesis learned?",
        "Share of objects told rightly by the greedy policy on every machine of a form and number "
        "of objects, mean over seeds. A star marks what was trained on: one, two or four forms of "
        "three objects. Blue is above the better of yes and no to every object, red is below.",
    )


FIGURES = {
    "fig3a": figure_3a,
    "fig3b": figure_3b,
    "fig3c": figure_3c,
    "fig3d": figure_3d,
    "table1": table_1,
    "overhypotheses": overhypotheses,
}
