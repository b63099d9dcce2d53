"""The study's curves, and what they share with its other pictures: results in, chart out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import altair as alt

from studies.blicket_learners.paper_values import (
    FORM_PLATEAUS,
    PLATEAUS,
    POLICY_NAMES,
    Learner,
    Results,
    learners,
)
from trivium.core.statistics import Estimate
from trivium.report.theme import GREY, PALETTE, Chart, distinct, finish, inline

Rows = list[dict[str, Any]]
WIDTH = 310


def row(estimate: Estimate, **labels: Any) -> dict[str, Any]:
    """A value with its interval and labels, as charts take it."""
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
        row(
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


def agent_order(learner: Learner) -> tuple[bool, str, int]:
    """The paper's batch first, then by algorithm and width."""
    return learner.preset == "large", learner.algorithm, learner.width


def figure_3a(results: Results) -> Chart | None:
    """Learning curves of every agent when no machine is held out."""
    found = list(learners(results, split="none", forced=0, reward_structure="quiz"))
    if not found:
        return None
    rows = _curve_rows(sorted(found, key=agent_order), "reward", _agent_panel)
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
    found = sorted(learners(results, split="none", reward_structure="quiz"), key=agent_order)
    reached = {one.label: one.steps for one in found if one.task["forced"]}
    for learner in found:
        # Set beside each other, so that intervals can be told apart.
        shift = 0.3 * (list(POLICY_NAMES).index(learner.policy) - 2)
        rows += [
            row(
                learner.final("reward", view=view)
                if learner.task["forced"]
                else learner.greedy_at(reached.get(learner.label, 0)),
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
