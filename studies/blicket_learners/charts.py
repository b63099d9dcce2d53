"""The study's pictures: results in, chart out."""

from __future__ import annotations

import altair as alt
import numpy as np

from studies.blicket_learners.paper_values import (
    MODEL_NAMES,
    PAPER_TABLE,
    POLICY_NAMES,
    Results,
    data_name,
    held_out,
    ideal_reward,
)
from studies.blicket_learners.report_curves import (
    WIDTH,
    Rows,
    agent_order,
    figure_3a,
    figure_3b,
    figure_3d,
    row,
)
from studies.blicket_learners.report_transfer import single_word_accuracy, trained_forms
from trivium.core.statistics import Estimate, bootstrap_mean
from trivium.report.theme import GREY, PALETTE, Chart, distinct, finish, inline

SPLIT_NAMES = {
    "conjunctive_train": "trained on conjunctive, held out disjunctive",
    "disjunctive_train": "trained on disjunctive, held out conjunctive",
    "conjunctive_loo": "trained on AB, AC; held out conjunctive BC",
    "disjunctive_loo": "trained on A, B; held out disjunctive C",
    "both_loo": "both forms; held out conjunctive BC, disjunctive C",
}


def _choice(field: str, domain: list[str], colours: list[str]) -> tuple[alt.Color, alt.Shape]:
    """A colour and a shape for one of two or three, in one legend."""
    return (
        alt.Color(f"{field}:N", scale=alt.Scale(domain=domain, range=colours)),
        alt.Shape(
            f"{field}:N",
            scale=alt.Scale(domain=domain, range=["circle", "square", "diamond"][: len(domain)]),
        ),
    )


def figure_3c(results: Results) -> Chart | None:
    """Reward on the machines trained on and on those held out, exploration beside them."""
    rows: Rows = []
    found = held_out(results)
    if not found:
        return None
    found.sort(key=lambda one: (list(SPLIT_NAMES).index(one.task["split"]), agent_order(one)))
    for learner in found:
        for group, name in (("train", "trained on"), ("test", "held out")):
            tests = learner.final("tests", "test").value or 0.0
            bits = learner.final("bits", "test").value or 0.0
            rows.append(
                row(
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
            rows.append(row(own, source="ours", **labels))
            rows.append(row(Estimate(values[data][0], None, None, 1), source="paper", **labels))
            best = ideal_reward(data)
            if best is not None:
                known = Estimate(best, None, None, 1)
                rows.append(row(known, source="ideal observer", **labels))
    if not rows:
        return None
    base = alt.Chart()
    sources = ["ours", "paper", "ideal observer"]
    colour, shape = _choice("source", sources, [PALETTE[0], GREY, "black"])
    y = alt.Y("data:N", title="trained on", sort=list(PAPER_TABLE["cloning"]))
    offset = alt.YOffset("source:N", sort=sources)
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
        "paper's value. 3 is the most there is, 0 is chance; the ideal observer sees the tests of "
        "random data.",
    )


def overhypotheses(results: Results) -> Chart | None:
    """Accuracy on every form and number of objects, by what was trained on."""
    rows: Rows = []
    units = sorted(results.transfers, key=lambda one: (one["agent"]["policy"], len(one["forms"])))
    for unit in units:
        forms = unit["forms"]
        for tested in unit["tested"]:
            accuracy = float(np.mean(tested["accuracy"]))
            known = tested["form"] in forms and tested["objects"] == 3
            floor = single_word_accuracy(tested["form"], tested["objects"])
            rows.append(
                {
                    "trained": f"{POLICY_NAMES[unit['agent']['policy']]}, {trained_forms(unit)}",
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
