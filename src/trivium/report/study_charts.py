"""The study's pictures: results in, chart out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from trivium.core.statistics import Estimate, bootstrap_mean
from trivium.report.study_values import (
    PAPER_TABLE,
    PLATEAUS,
    POLICY_NAMES,
    Learner,
    Results,
    data_name,
    learners,
)

PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
GREY = "#808080"
POLICIES = list(POLICY_NAMES.values())
Rows = list[dict[str, Any]]
Chart = Any


def _finish(chart: Any, title: str, subtitle: str) -> Chart:
    return (
        chart.properties(title=alt.TitleParams(title, subtitle=_wrapped(subtitle), anchor="start"))
        .configure(background="white")
        .configure_title(fontSize=15, subtitleFontSize=12, subtitleColor="#555555")
        .configure_legend(orient="bottom", columns=4, labelLimit=300, symbolLimit=40)
        .configure_view(stroke=None)
        .configure_axis(gridColor="#eeeeee", labelLimit=260)
    )


def _wrapped(text: str, width: int = 100) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines


def _row(estimate: Estimate, **labels: Any) -> dict[str, Any]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, **labels}


def _policy_colour() -> alt.Color:
    scale = alt.Scale(domain=POLICIES, range=PALETTE[: len(POLICIES)])
    return alt.Color("policy:N", title="policy", scale=scale)


def _curve_rows(found: Sequence[Learner], name: str, panel: Any) -> Rows:
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


def _curves(rows: Rows, value: str, domain: list[float], lines: dict[str, float]) -> Any:
    """Curves with their bands, a panel each, over grey lines of known values."""
    marks = [{"line": name, "at": at} for name, at in lines.items()]
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    data = [*rows, *({**mark, "panel": panel} for panel in panels for mark in marks)]
    base = alt.Chart()
    own = base.transform_filter("isValid(datum.value)")
    x = alt.X("steps:Q", title="environment steps (millions)")
    scale = alt.Scale(domain=domain)
    band = own.mark_area(opacity=0.2).encode(
        x=x, y=alt.Y("low:Q", title=value, scale=scale), y2="high:Q", color=_policy_colour()
    )
    line = own.mark_line(strokeWidth=2).encode(
        x=x, y=alt.Y("value:Q", title=value, scale=scale), color=_policy_colour()
    )
    known = base.transform_filter("isValid(datum.at)")
    rules = known.mark_rule(color=GREY, strokeDash=[4, 3]).encode(y="at:Q")
    words = known.mark_text(align="right", dy=-5, color=GREY, fontSize=10).encode(
        y="at:Q", x=alt.value(296), text="line:N"
    )
    layers = alt.layer(rules, words, band, line, data=alt.InlineData(values=data))
    return layers.properties(width=300, height=200).facet(
        facet=alt.Facet("panel:N", title=None, sort=panels), columns=3
    )


def figure_3a(results: Results) -> Chart | None:
    """Learning curves of every agent when no machine is held out."""
    found = list(learners(results, split="none", forced=0, reward_structure="quiz"))
    if not found:
        return None
    found.sort(key=lambda learner: (learner.algorithm, learner.preset == "large", learner.width))
    rows = _curve_rows(found, "reward", _agent_panel)
    return _finish(
        _curves(rows, "mean quiz reward", [-0.5, 3.2], PLATEAUS),
        "Figure 3a: learning curves, nothing held out",
        "Mean reward of training episodes over seeds with 95% intervals. Grey lines are what an "
        "ideal observer earns after so many tests; a policy without memory can only earn 0.",
    )


def _agent_panel(learner: Learner) -> str:
    size = f"{learner.environments} environments" if learner.preset == "large" else "paper's batch"
    return f"{learner.algorithm.upper()}, {learner.width} units, {size}"


def figure_3b(results: Results) -> Chart | None:
    """Reward against forced exploring steps, with and without them in the evaluation."""
    rows: Rows = []
    for learner in learners(results, split="none", reward_structure="quiz"):
        if learner.policy == "mlp":
            continue
        for view in ("as trained", "no forced steps"):
            estimate = learner.final("reward", view=view)
            labels = {
                "forced": learner.task["forced"],
                "view": view,
                "policy": POLICY_NAMES[learner.policy],
                "panel": _agent_panel(learner),
            }
            rows.append(_row(estimate, **labels))
    forced_panels = {row["panel"] for row in rows if row["forced"]}
    rows = [row for row in rows if row["panel"] in forced_panels]
    if not rows:
        return None
    dash = alt.StrokeDash("view:N", title="evaluated")
    base = alt.Chart()
    x = alt.X("forced:O", title="forced exploring steps in training")
    y = alt.Y("value:Q", title="mean quiz reward", scale=alt.Scale(domain=[-3, 3.2]))
    lines = base.mark_line().encode(x=x, y=y, color=_policy_colour(), strokeDash=dash)
    bars = base.mark_rule(strokeWidth=2).encode(x=x, y="low:Q", y2="high:Q", color=_policy_colour())
    dots = base.mark_point(filled=True, size=60).encode(
        x=x, y=y, color=_policy_colour(), shape=alt.Shape("view:N", title="evaluated")
    )
    chart = alt.layer(lines, bars, dots, data=alt.InlineData(values=rows))
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    facets = chart.properties(width=300, height=200).facet(
        facet=alt.Facet("panel:N", title=None, sort=panels), columns=3
    )
    return _finish(
        facets,
        "Figure 3b: forced exploration",
        "Exact reward of the greedy policy over all six machines, seeds with 95% intervals. The "
        "original evaluated without the steps that it had trained with: both are shown.",
    )


def figure_3c(results: Results) -> Chart | None:
    """Reward on the machines trained on and on those held out."""
    rows: Rows = []
    for learner in learners(results, forced=0, reward_structure="quiz"):
        if learner.task["split"] == "none":
            continue
        for group, name in (("train", "trained on"), ("test", "held out")):
            labels = {
                "split": learner.task["split"].replace("_", " "),
                "machines": name,
                "agent": learner.label,
            }
            rows.append(_row(learner.final("reward", group), **labels))
    if not rows:
        return None
    base = alt.Chart()
    colour = alt.Color("machines:N", scale=alt.Scale(range=[PALETTE[0], PALETTE[1]]))
    y = alt.Y("agent:N", title=None)
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title="mean quiz reward", scale=alt.Scale(domain=[-3, 3])),
        x2="high:Q",
        y=y,
        color=colour,
    )
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        x="value:Q", y=y, color=colour, shape="machines:N"
    )
    chart = alt.layer(bars, dots, data=alt.InlineData(values=rows)).properties(width=260)
    facets = chart.facet(facet=alt.Facet("split:N", title=None), columns=2)
    return _finish(
        facets,
        "Figure 3c: machines held out of training",
        "Exact reward of the greedy policy, seeds with 95% intervals. An agent that never explores "
        "and always says yes earns +1 on conjunctive machines and -1 on disjunctive ones.",
    )


def figure_3d(results: Results) -> Chart | None:
    """How often the form is told rightly, over training."""
    found = list(learners(results, reward_structure="quiz-type"))
    if not found:
        return None
    found.sort(key=lambda learner: (learner.task["split"] != "none", learner.algorithm))

    def panel(learner: Learner) -> str:
        split = learner.task["split"].replace("_", " ")
        return f"{learner.algorithm.upper()}, {'nothing held out' if split == 'none' else split}"

    rows = _curve_rows(found, "form", panel)
    return _finish(
        _curves(rows, "share of right answers", [0.4, 1.02], {"chance": 0.5, "ceiling": 1.0}),
        "Figure 3d: telling conjunctive from disjunctive",
        "Share of training episodes that name the form rightly, seeds with 95% intervals.",
    )


def table_1(results: Results) -> Chart | None:
    """Rewards of the imitators beside the paper's."""
    rows: Rows = []
    for unit in results.imitators:
        data, model = data_name(unit["data"]), unit["config"]["model"]
        own = bootstrap_mean(unit["played"]["as collected"]["reward"])
        labels = {"data": data, "model": model.replace("-", " ")}
        rows.append(_row(own, source="ours", **labels))
        paper = PAPER_TABLE[model].get(data)
        if paper:
            rows.append({"value": paper[0], "source": "paper", **labels})
    if not rows:
        return None
    order = list(PAPER_TABLE["cloning"])
    base = alt.Chart()
    colour = alt.Color(
        "source:N", scale=alt.Scale(domain=["ours", "paper"], range=[PALETTE[0], GREY])
    )
    y = alt.Y("data:N", title="trained on", sort=order)
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title="mean quiz reward", scale=alt.Scale(domain=[-1, 3])),
        x2="high:Q",
        y=y,
        color=colour,
    )
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        x="value:Q", y=y, color=colour, shape="source:N"
    )
    chart = alt.layer(bars, dots, data=alt.InlineData(values=rows)).properties(width=300)
    return _finish(
        chart.facet(facet=alt.Facet("model:N", title=None), columns=2),
        "Table 1 as a picture: imitators by what they were trained on",
        "Mean over seeds of the mean reward of 100 episodes, with 95% intervals; grey is the "
        "paper's value. 3 is the most there is, 0 is chance.",
    )


def overhypotheses(results: Results) -> Chart | None:
    """Accuracy on every form and number of objects, by what was trained on."""
    rows: Rows = []
    for unit in results.transfers:
        forms = unit["forms"]
        for tested in unit["tested"]:
            accuracy = float(np.mean(tested["accuracy"]))
            known = tested["form"] in forms and tested["objects"] == 3
            rows.append(
                {
                    "agent": POLICY_NAMES[unit["agent"]["policy"]],
                    "trained": f"{len(forms)} form{'s' * (len(forms) > 1)}: {', '.join(forms)}",
                    "tested": f"{tested['form']}, {tested['objects']} objects",
                    "accuracy": round(accuracy, 3),
                    "text": f"{accuracy:.2f}{'*' if known else ''}",
                }
            )
    if not rows:
        return None
    tested = list(dict.fromkeys(row["tested"] for row in rows))
    trained = sorted({row["trained"] for row in rows})
    base = alt.Chart()
    x, y = (
        alt.X("tested:N", title="tested on", sort=tested),
        alt.Y("trained:N", title=None, sort=trained),
    )
    boxes = base.mark_rect().encode(
        x=x,
        y=y,
        color=alt.Color("accuracy:Q", scale=alt.Scale(domain=[0.4, 1], scheme="viridis")),
    )
    words = base.mark_text(fontSize=10).encode(
        x=x,
        y=y,
        text="text:N",
        color=alt.condition("datum.accuracy > 0.75", alt.value("black"), alt.value("white")),
    )
    chart = alt.layer(boxes, words, data=alt.InlineData(values=rows)).properties(width=620)
    return _finish(
        chart.facet(row=alt.Row("agent:N", title=None)),
        "Beyond the paper: is an overhypothesis learned?",
        "Share of objects told rightly by the greedy policy on every machine of a form, mean over "
        "seeds; trained on three objects. A star marks what was trained on; 0.5 is guessing.",
    )


FIGURES = {
    "fig3a": figure_3a,
    "fig3b": figure_3b,
    "fig3c": figure_3c,
    "fig3d": figure_3d,
    "table1": table_1,
    "overhypotheses": overhypotheses,
}
