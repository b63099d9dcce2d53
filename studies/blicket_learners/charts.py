"""The study's figures: results in, chart out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

from studies.blicket_learners.paper import (
    FORM_PLATEAUS,
    PAPER_MODELS,
    PAPER_TABLE,
    PLATEAUS,
    constant_accuracy,
    constant_reward,
    ideal_reward,
)
from studies.blicket_learners.plan import IDEAL_DATA, TRAINED_OBJECTS
from studies.blicket_learners.results import (
    MODEL_NAMES,
    POLICY_NAMES,
    Learner,
    Results,
    data_name,
    find_learners,
    mean,
)
from studies.theme import GREY, PALETTE, Chart, distinct, finish, inline
from trivium.core.statistics import Estimate, mean_interval

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
    """Learning curves of every agent when no machine is held out, all of one length."""
    found = find_learners(results, "quiz", split="none", forced=0)
    shortest = min((one.steps for one in found if not _all_converged(one)), default=None)
    length = None if shortest is None else round(shortest * 1.01)  # updates are whole
    rows = _curve_rows(found, "reward", _agent_panel, length)
    return finish(
        _curves(rows, REWARD, REWARDS, dict.fromkeys(distinct(rows, "panel"), PLATEAUS)),
        "Figure 3a: learning curves, nothing held out",
        "Mean reward of training episodes over seeds with 95% intervals, as far as all agents were "
        "trained. Dashed: what an ideal observer earns after so many tests; a policy without "
        "memory can only earn 0.",
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
            else mean(one.greedy_seeds_at(trained_for[one.label]), "reward"),
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
    every = [one for one in find_learners(results, "quiz") if one.split in SPLITS]
    found = [one for one in every if not one.forced]
    forced = {(one.label, one.split): one for one in every if one.forced}
    found.sort(key=lambda one: list(SPLITS).index(one.split))
    rows: Rows = []
    for one in found:
        tests, bits = (np.mean(one.seeds(name, "test")) for name in ("tests", "bits"))
        labels = {"panel": SPLITS[one.split], "agent": one.label, "note": ""}
        note = f"{tests:.1f} tests, {bits:.1f} bits"
        rows += [
            _row(one.greedy("reward"), machines=HELD_OUT_MARKS[0], **labels),
            _row(
                one.greedy("reward", "test"), machines=HELD_OUT_MARKS[1], **labels | {"note": note}
            ),
        ]
        made = forced.get((one.label, one.split))
        if made is not None:
            rows += [
                _row(made.greedy("reward", "test", view), machines=mark, **labels)
                for view, mark in zip(VIEWS, HELD_OUT_MARKS[2:], strict=True)
            ]
    lines = [
        {"panel": SPLITS[split], "at": at, "label": label}
        for split in dict.fromkeys(one.split for one in found)
        for at, label in ((constant_reward(split), "constant answer"), (3.0, "ideal observer"))
    ]
    y = alt.Y("agent:N", title=None, sort=distinct(rows, "agent"))
    offset = alt.YOffset("machines:N", sort=HELD_OUT_MARKS)
    own = alt.Chart().transform_filter("isValid(datum.value)")
    notes = own.mark_text(align="left", color="#606060", fontSize=11)
    notes = notes.encode(x=alt.value(WIDTH + 8), y=y, text="note:N")
    marks = _marked("machines", HELD_OUT_MARKS, PALETTE)
    known = alt.Chart().transform_filter("isValid(datum.at)")
    rules = known.mark_rule(color="black", strokeDash=[2, 2]).encode(x="at:Q")
    names = known.mark_text(dy=-6, baseline="bottom", fontSize=10, color="#606060")
    names = names.encode(x="at:Q", y=alt.value(0), text="label:N")
    layers = [rules, names, *_dots(marks, [-3, 3.1], own, y=y, yOffset=offset), notes]
    chart = alt.layer(*layers, data=inline([*rows, *lines])).properties(height=alt.Step(9))
    return finish(
        _facets(chart, rows, spacing=15),
        "Figure 3c: machines held out of training",
        "Exact reward of the greedy policy, seeds with 95% intervals; at the right, tests and bits "
        "gained on the held-out machines by agents never forced. Dotted: the better of yes and no "
        "to every object, and an ideal observer that knows of all six machines.",
    )


HELD_OUT_MARKS = [
    "trained on",
    "held out",
    "held out, 5 forced steps in training and test",
    "held out, 5 forced steps in training only",
]


def figure_3d(results: Results) -> Chart:
    """How often the form is named correctly, over training."""
    found = find_learners(results, "quiz-typeonly")
    found.sort(key=lambda one: one.split != "none")

    def panel(one: Learner) -> str:
        held_out = "nothing" if one.split == "none" else "conjunctive BC and disjunctive C"
        return f"{one.algorithm}, {held_out} held out"

    rows = _curve_rows(found, "form", panel, max((one.steps for one in found), default=None))
    plateaus = {panel(one): FORM_PLATEAUS[one.split] for one in found}
    return finish(
        _curves(rows, "share of correct answers", [0.4, 1.03], plateaus),
        "Figure 3d: naming the form, conjunctive or disjunctive, and nothing else",
        "Share of training episodes that name the form correctly, seeds with 95% intervals. "
        "Dashed: the best share after so many tests, on the machines trained on.",
    )


def table_1(results: Results) -> Chart:
    """Rewards of the imitators beside the paper's and the ideal observer's."""
    rows: Rows = []
    for unit in results.imitators:
        data = data_name(unit["data"])
        own = unit["played"]["as collected"]
        freed = unit["played"].get("no forced steps")
        printed = PAPER_TABLE[PAPER_MODELS[unit["label"]]].get(data)
        labels = {"data": data, "panel": MODEL_NAMES[unit["label"]], "note": ""}
        note = f"sd {np.mean(own['sd']):.2f}, FCA {np.mean(own['form']):.2f}"
        if printed is not None:
            note += f" (paper {printed[1]:.2f}, {printed[2]:.2f})"
        ideal = ideal_reward(data)
        rows.append(
            _row(mean(own["reward"], "reward"), source=SOURCES[0], **labels | {"note": note})
        )
        if freed is not None:
            rows.append(_row(mean(freed["reward"], "reward"), source=SOURCES[1], **labels))
        if printed is not None:
            rows.append({"value": printed[0], "source": SOURCES[2], **labels})
        if ideal is not None:
            rows.append({"value": ideal, "source": SOURCES[3], **labels})
    rows.sort(key=lambda row: list(MODEL_NAMES.values()).index(row["panel"]))
    y = alt.Y("data:N", title="trained on", sort=[*PAPER_TABLE["cloning"], IDEAL_DATA])
    offset = alt.YOffset("source:N", sort=SOURCES)
    marks = _marked("source", SOURCES, [PALETTE[0], PALETTE[1], GREY, "black"])
    notes = alt.Chart().mark_text(align="left", color="#606060", fontSize=11)
    notes = notes.encode(x=alt.value(WIDTH + 8), y=y, text="note:N")
    layers = [*_dots(marks, [-0.7, 3.1], alt.Chart(), y=y, yOffset=offset), notes]
    chart = alt.layer(*layers, data=inline(rows)).properties(height=250)
    return finish(
        _facets(chart, rows, spacing=20),
        "Table 1 as a figure: imitators by what they were trained on",
        "Mean over seeds of the mean reward of 100 episodes, with 95% intervals, beside the "
        "paper's values. 3 is the maximum, 0 is chance; the ideal observer sees the tests of "
        "random data. At the right, the standard deviation over episodes and the share of forms "
        "named correctly, with the forced steps.",
    )


SOURCES = ["ours, with the forced steps", "ours, without them", "paper", "ideal observer"]


def overhypotheses(results: Results) -> Chart:
    """Accuracy on every form and number of objects, by what was trained on."""
    rows: Rows = []
    for unit in results.transfers:
        forms, policy = unit["forms"], POLICY_NAMES[unit["agent"]["policy"]]
        for tested in unit["tested"]:
            form, objects = tested["form"], tested["objects"]
            estimate = mean(tested["accuracy"], "accuracy")
            accuracy = float(np.mean(tested["accuracy"]))
            trained_on = form in forms and objects == TRAINED_OBJECTS
            row = {
                "trained": f"{policy}, {len(forms)} form{'s' * (len(forms) > 1)}",
                "form": form,
                "objects": objects,
                "gain": round(accuracy - constant_accuracy(form, objects), 3),
                "text": f"{accuracy:.2f}{'*' * trained_on}",
                "interval": f"{estimate.low:.2f} to {estimate.high:.2f}",
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
    numbers = (
        alt.Chart().mark_text(fontSize=12, dy=-6).encode(text="text:N", color=dark, **position)
    )
    ends = alt.Chart().mark_text(fontSize=9, dy=7).encode(text="interval:N", color=dark, **position)
    chart = alt.layer(boxes, numbers, ends, data=inline(rows)).properties(width=190, height=220)
    column = alt.Column("form:N", title=None, sort=distinct(rows, "form"))
    return finish(
        chart.facet(column=column, spacing=10),
        "Beyond the paper: is an overhypothesis learned?",
        "Share of objects that the greedy policy identifies correctly on every machine of a form "
        "and number of objects, mean over seeds with its 95% interval. A star marks what was "
        "trained on. Blue is above the better of yes and no to every object, red is below.",
    )


def machines(results: Results) -> Chart:
    """Reward, tests and bits on machines never shown, over the number of machines shown."""
    observers = results.observers[0]
    measures = {"reward": "reward per question", "tests": "tests", "bits": "bits gained"}
    rows: Rows = []
    for (measure, title), name in product(measures.items(), observers["right"]):
        labels = {"measure": title, "set": name}
        counts = observers["counts"]
        for count, seeds in zip(counts, observers["memorising"][name][measure], strict=True):
            labels_here = {"count": count, "who": "observer that knows the machines shown"}
            rows.append({"value": float(np.mean(seeds)), **labels_here, **labels})
        best = observers["right"][name][measure]
        lines = {"observer with the right prior": best}
        if measure == "reward":
            lines["constant answer"] = observers["constant"][name]
        rows += [
            {"value": value, "count": count, "who": who, **labels}
            for who, value in lines.items()
            for count in (min(counts), max(counts))
        ]
        for unit in results.machines:
            who = f"PPO {POLICY_NAMES[unit['agent']['policy']]}"
            for count, seeds in zip(unit["counts"], unit["tested"][name][measure], strict=True):
                bounds = "share" if measure == "reward" else None
                estimate = mean(seeds, bounds) if bounds else mean_interval(seeds)
                rows.append(_row(estimate, count=count, who=who, **labels))
    return finish(
        _machines_grid(rows, list(measures.values())),
        "How many machines must be seen?",
        "PPO trained on so many machines of three to six objects and three forms (disjunctive, "
        "conjunctive, inhibitor), tested greedily on machines never shown. 8 seeds with 95% "
        "intervals. The observer with the right prior is the ceiling; one that takes every "
        "machine for one of those shown is what memory alone is worth.",
    )


WHO = {
    "PPO LSTM": PALETTE[0],
    "PPO history transformer": PALETTE[1],
    "observer that knows the machines shown": "black",
    "observer with the right prior": "#606060",
    "constant answer": GREY,
}


def _machines_grid(rows: Rows, measures: Sequence[str]) -> Any:
    """A row of panels for each measure, a column for each set of machines."""
    x = alt.X(
        "count:Q",
        title="machines shown in training",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(
            values=sorted({row["count"] for row in rows}),
            format="d",
            labelFontSize=9,
            labelOverlap=False,
        ),
    )
    y = alt.Y("value:Q", title=None)
    names = [name for name in WHO if name in distinct(rows, "who")]
    colour = alt.Color(
        "who:N",
        scale=alt.Scale(domain=names, range=[WHO[name] for name in names]),
        legend=alt.Legend(
            title=None, symbolType="stroke", symbolStrokeWidth=3, symbolOpacity=1, labelLimit=320
        ),
    )
    dash = alt.condition("isValid(datum.low)", alt.value([1, 0]), alt.value([5, 3]))
    learned = alt.Chart().transform_filter("isValid(datum.low)")
    layers = [
        learned.mark_area(opacity=0.2).encode(x=x, y="low:Q", y2="high:Q", color=colour),
        alt.Chart().mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, strokeDash=dash),
        learned.mark_point(filled=True, size=40).encode(x=x, y=y, color=colour),
    ]
    return (
        alt.layer(*layers, data=inline(rows))
        .properties(width=190, height=150)
        .facet(
            column=alt.Column("set:N", title=None, sort=distinct(rows, "set")),
            row=alt.Row("measure:N", title=None, sort=list(measures)),
            spacing=12,
        )
        .resolve_scale(y="independent")
    )


def _row(estimate: Estimate, **labels: Any) -> dict[str, Any]:
    """A value with its interval and labels, as charts take it."""
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, **labels}


def _curve_rows(
    found: Sequence[Learner],
    name: str,
    panel: Callable[[Learner], str],
    length: int | None = None,
) -> Rows:
    """Curves from step 0, up to a length; a curve that converged before goes on as it ended."""
    rows: Rows = []
    for one in found:
        points = [
            (step, one.sampled(name, point))
            for point, step in enumerate(one.record["steps"])
            if length is None or step <= length
        ]
        if one.first is not None:
            points.insert(0, (0, mean(one.first, name)))
        if length is not None and _all_converged(one) and points[-1][0] < length:
            points.append((length, points[-1][1]))
        rows += [
            _row(estimate, steps=step / 1e6, policy=one.policy, panel=panel(one))
            for step, estimate in points
        ]
    return rows


def _all_converged(one: Learner) -> bool:
    return bool(min(one.record["converged"]) >= 0)


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


def _dots(marks: tuple[Any, Any], domain: Sequence[float], base: Any, **rows: Any) -> list[Any]:
    """Rewards with their intervals from left to right, and a line at 0."""
    scale, axis = alt.Scale(domain=list(domain), nice=False), alt.Axis(tickCount=6)
    value, low = (
        alt.X(f"{name}:Q", title=REWARD, scale=scale, axis=axis) for name in ("value", "low")
    )
    colour, shape = marks
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
    "machines": machines,
}


def save(chart: Chart, path: Path) -> None:
    """Write a figure as SVG and PNG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    chart.save(f"{path}.svg")
    chart.save(f"{path}.png", ppi=80)
