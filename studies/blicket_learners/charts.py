"""The study's figures: results in, chart out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from studies.blicket_learners.beyond_tables import NETWORKS, NEW_MACHINES, TRAINED
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
from studies.theme import (
    BLACK,
    CEILING,
    FLOOR,
    GREY,
    LINES,
    MARKED,
    Figure,
    distinct,
    level,
    series,
    tick_lines,
)
from trivium.core.statistics import Estimate
from trivium.report.plot import Cell, Panel, Point, Series, SeriesStyle, nice_ticks

Rows = list[dict[str, Any]]
Plateaus = Mapping[str, Mapping[str, float]]  # by panel
REWARD, REWARDS = "mean quiz reward", (-0.3, 3.2)
VIEWS = {"as trained": "with the forced steps", "no forced steps": "without them"}
SPLITS = {
    "conjunctive_train": "trained on conjunctive, held out disjunctive",
    "disjunctive_train": "trained on disjunctive, held out conjunctive",
    "conjunctive_loo": "trained on AB, AC; held out conjunctive BC",
    "disjunctive_loo": "trained on A, B; held out disjunctive C",
    "both_loo": "both forms; held out conjunctive BC, disjunctive C",
}


def figure_3a(results: Results) -> Figure:
    """Learning curves of every agent when no machine is held out."""
    found = find_learners(results, "quiz", split="none", forced=0)
    rows = _curve_rows(found, "reward", _agent_panel)
    return Figure(
        "Figure 3a: learning curves, nothing held out",
        "Mean reward of training episodes over seeds with 95% intervals. Grey: what an ideal "
        "observer earns after so many tests; a policy without memory can only earn 0.",
        _curves(rows, REWARD, REWARDS, dict.fromkeys(distinct(rows, "panel"), PLATEAUS)),
        {**_policies(rows, LINES), "ideal observer": FLOOR},
    )


def figure_3b(results: Results) -> Figure:
    """Reward against forced exploration steps, evaluated with and without them."""
    found = find_learners(results, "quiz", split="none")
    ever_forced = {one.label for one in found if one.forced}
    rows = [
        _row(
            one.greedy("reward", view=view) if one.forced else one.greedy("reward"),
            forced=one.forced,
            evaluated=label,
            policy=one.policy,
            panel=_agent_panel(one),
        )
        for one in found
        if one.label in ever_forced
        for view, label in VIEWS.items()
    ]
    steps, styles = sorted({row["forced"] for row in rows}), _policies(rows, MARKED)
    panels = []
    for panel in distinct(rows, "panel"):
        drawn = _plateaus(PLATEAUS, steps)
        for shade, evaluated in ((100, "with the forced steps"), (45, "without them")):
            own = [row for row in rows if (row["panel"], row["evaluated"]) == (panel, evaluated)]
            drawn += series(own, "forced", "policy", styles, shade=shade)
        label = "forced exploration steps in training"
        panels.append(Panel(drawn, label, REWARD, panel, REWARDS))
    return Figure(
        "Figure 3b: forced exploration",
        "Exact reward of the greedy policy over all six machines, seeds with 95% intervals, "
        "evaluated with the forced steps and, paler, without them, as the original did. Grey: "
        "what an ideal observer earns after so many tests.",
        panels,
        {**styles, "ideal observer": FLOOR},
    )


def figure_3c(results: Results) -> Figure:
    """Reward on the machines trained on and on those held out, exploration beside them."""
    every = [one for one in find_learners(results, "quiz") if one.split in SPLITS]
    found = [one for one in every if not one.forced]
    forced = {(one.label, one.split): one for one in every if one.forced}
    found.sort(key=lambda one: list(SPLITS).index(one.split))
    rows: Rows = []
    for one in found:
        tests, bits = (np.mean(one.seeds(name, "test")) for name in ("tests", "bits"))
        labels = {"panel": SPLITS[one.split], "agent": tick_lines(one.label), "note": ""}
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
    styles = dict(zip(HELD_OUT_MARKS, MARKED, strict=False))
    styles |= {"constant answer": FLOOR, "ideal observer": CEILING}
    panels = []
    for split in dict.fromkeys(one.split for one in found):
        own = [row for row in rows if row["panel"] == SPLITS[split]]
        drawn = series(own, "agent", "machines", styles, joined=False)
        names = distinct(own, "agent")
        drawn.append(level("constant answer", FLOOR, constant_reward(split), names))
        drawn.append(level("ideal observer", CEILING, 3.0, names))
        panels.append(Panel(drawn, "", REWARD, SPLITS[split], (-3.0, 3.0), gap=9))
    return Figure(
        "Figure 3c: machines held out of training",
        "Exact reward of the greedy policy, seeds with 95% intervals; tests and bits gained on the "
        "held-out machines are in the tables. The constant answer is the better of yes and no to "
        "every object; the ideal observer knows of all six machines.",
        panels,
        styles,
    )


HELD_OUT_MARKS = [
    "trained on",
    "held out",
    "held out, 5 forced steps in training and test",
    "held out, 5 forced steps in training only",
]


def figure_3d(results: Results) -> Figure:
    """How often the form is named correctly, over training."""
    found = find_learners(results, "quiz-typeonly")
    found.sort(key=lambda one: one.split != "none")

    def panel(one: Learner) -> str:
        held_out = "nothing" if one.split == "none" else "conjunctive BC and disjunctive C"
        return f"{one.algorithm}, {held_out} held out"

    rows = _curve_rows(found, "form", panel)
    plateaus = {panel(one): FORM_PLATEAUS[one.split] for one in found}
    return Figure(
        "Figure 3d: naming the form, conjunctive or disjunctive, and nothing else",
        "Share of training episodes that name the form correctly, seeds with 95% intervals. "
        "Grey: the best share after so many tests, on the machines trained on.",
        _curves(rows, "share of correct answers", (0.4, 1.0), plateaus),
        {**_policies(rows, LINES), "ideal observer": FLOOR},
    )


def table_1(results: Results) -> Figure:
    """Rewards of the imitators beside the paper's and the ideal observer's."""
    rows: Rows = []
    for unit in results.imitators:
        data = data_name(unit["data"])
        own = unit["played"]["as collected"]
        freed = unit["played"].get("no forced steps")
        printed = PAPER_TABLE[PAPER_MODELS[unit["label"]]].get(data)
        tick = data.replace("+", ", +").replace("-", ", ")
        labels = {"data": data, "tick": tick, "panel": MODEL_NAMES[unit["label"]], "note": ""}
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
    order = [*PAPER_TABLE["cloning"], IDEAL_DATA]
    rows.sort(key=lambda row: order.index(row["data"]))
    styles = dict(zip(SOURCES, [*MARKED[:2], GREY, BLACK], strict=True))
    panels = []
    for name in [one for one in MODEL_NAMES.values() if one in distinct(rows, "panel")]:
        own = [row for row in rows if row["panel"] == name]
        drawn = series(own, "tick", "source", styles, joined=False)
        panels.append(Panel(drawn, "trained on", REWARD, name, (-0.5, 3.0), gap=8))
    return Figure(
        "Table 1 as a figure: imitators by what they were trained on",
        "Mean over seeds of the mean reward of 100 episodes, with 95% intervals, beside the "
        "paper's values. 3 is the maximum, 0 is chance; the ideal observer sees the tests of "
        "random data.",
        panels,
        styles,
    )


SOURCES = ["ours, with the forced steps", "ours, without them", "paper", "ideal observer"]


def overhypotheses(results: Results) -> Figure:
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
    panels = []
    for form in distinct(rows, "form"):
        cells = [
            Cell(
                row["objects"],
                row["trained"],
                # Charts colour lifts up to 1; the gains here stay within 0.4.
                row["gain"] / 0.4,
                f"{row['trained']}, {row['objects']} objects: {row['text']}, {row['interval']}",
                row["text"],
            )
            for row in rows
            if row["form"] == form
        ]
        panels.append(Panel((), "objects", "", form, small=True, cells=cells))
    return Figure(
        "Beyond the paper: is an overhypothesis learned?",
        "Share of objects that the greedy policy identifies correctly on every machine of a form "
        "and number of objects, mean over seeds; intervals are in the tables. A star marks what "
        "was trained on. Blue is above the better of yes and no to every object, orange is below.",
        panels,
        {},
        columns=3,
    )


def machines(results: Results) -> Figure:
    """Whole answers right on machines shown and never shown, over the number shown."""
    observers = results.observers[0]
    counts = observers["counts"]
    networks = {unit["label"]: unit for unit in results.machines}
    whole = [label for label, unit in networks.items() if unit["counts"] == counts]
    panels = []
    for name in (TRAINED, *observers["blind"]):
        drawn = _machine_series(networks, name, whole)
        if name in observers["blind"]:
            for who, style in (("blind", FLOOR), ("ideal", CEILING)):
                drawn.append(level(BOUNDS[who], style, observers[who][name]["whole"], counts))
            memory = np.mean(observers["memoriser"][name]["whole"], axis=1)
            points = [Point(count, value) for count, value in zip(counts, memory, strict=True)]
            drawn.append(Series("memoriser", SeriesStyle("person", None), points))
        panels.append(_machine_panel(drawn, name))
    ablations = [one for one in networks if one.startswith("transformer")]
    drawn = _machine_series(networks, NEW_MACHINES, ablations)
    panels.append(_machine_panel(drawn, "new machines: what the history transformer needs"))
    styles = {NETWORKS[one]: style for one, style in MACHINE_STYLES.items() if one in networks}
    return Figure(
        "How many machines must be seen?",
        "Share of machines about which every answer of the greedy policy is right, after 5 million "
        "steps of PPO on so many machines; seeds with 95% intervals. The memoriser takes a machine "
        "for the most similar of those shown. No right answer of a test was right in training.",
        panels,
        {
            **styles,
            "memoriser": SeriesStyle("person", None),
            BOUNDS["blind"]: FLOOR,
            BOUNDS["ideal"]: CEILING,
        },
        columns=3,
    )


def _machine_series(networks: Mapping[str, Any], name: str, labels: Sequence[str]) -> list[Series]:
    rows = []
    for label in labels:
        unit = networks[label]
        for count, seeds in zip(unit["counts"], unit["curve"][name]["whole"], strict=True):
            estimate = mean([seed[-1] for seed in seeds], "accuracy")
            rows.append(_row(estimate, count=count, who=NETWORKS[label]))
    styles = {NETWORKS[label]: MACHINE_STYLES[label] for label in labels}
    return series(rows, "count", "who", styles)


def _machine_panel(drawn: Sequence[Series], title: str) -> Panel:
    label = "machines shown in training"
    return Panel(drawn, label, "all answers right", title, y_range=(0.0, 1.0), small=True, log=True)


BOUNDS = {"blind": "best without a test", "ideal": "ideal observer"}
MACHINE_STYLES = dict(zip(NETWORKS, MARKED, strict=False))


def _row(estimate: Estimate, **labels: Any) -> dict[str, Any]:
    """A value with its interval and labels, as charts take it."""
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, **labels}


def _curve_rows(found: Sequence[Learner], name: str, panel: Callable[[Learner], str]) -> Rows:
    """Curves from step 0; a curve that converged goes on as it ended, to the end of the longest."""
    length = max((one.steps for one in found), default=0)
    rows: Rows = []
    for one in found:
        points = [
            (step, one.sampled(name, point)) for point, step in enumerate(one.record["steps"])
        ]
        if one.first is not None:
            points.insert(0, (0, mean(one.first, name)))
        if min(one.record["converged"]) >= 0 and points[-1][0] < length:
            points.append((length, points[-1][1]))
        rows += [
            _row(estimate, steps=step / 1e6, policy=one.policy, panel=panel(one))
            for step, estimate in points
        ]
    return rows


def _agent_panel(one: Learner) -> str:
    if one.large:
        return f"{one.algorithm}, {one.environments} environments (the large batch)"
    return f"{one.algorithm}, {one.width} units, the paper's batch"


def _policies(rows: Rows, styles: Sequence[SeriesStyle]) -> dict[str, SeriesStyle]:
    """The styles of the policies that there are."""
    every = list(POLICY_NAMES.values())
    names = [name for name in every if name in distinct(rows, "policy")]
    return {name: styles[every.index(name)] for name in names}


def _curves(rows: Rows, title: str, domain: tuple[float, float], plateaus: Plateaus) -> list[Panel]:
    """Curves with their bands, over the plateaus."""
    styles = _policies(rows, LINES)
    panels = []
    for name in distinct(rows, "panel"):
        own = [row for row in rows if row["panel"] == name]
        last = max(row["steps"] for row in own)
        ticks = [tick for tick in nice_ticks(0, last) if tick <= last]
        drawn = _plateaus(plateaus[name], [0, last])
        drawn += series(own, "steps", "policy", styles)
        label = "environment steps (millions)"
        panels.append(Panel(drawn, label, title, name, domain, ticks=ticks))
    return panels


def _plateaus(values: Mapping[str, float], xs: Sequence[float]) -> list[Series]:
    """Lines of what the ideal observer reaches, labelled on the right."""
    return [
        level("ideal observer", FLOOR, at, xs, f"{name}: {Fraction(at).limit_denominator(9)}")
        for name, at in values.items()
    ]


FIGURES: Mapping[str, Callable[[Results], Figure]] = {
    "fig3a": figure_3a,
    "fig3b": figure_3b,
    "fig3c": figure_3c,
    "fig3d": figure_3d,
    "table1": table_1,
    "overhypotheses": overhypotheses,
    "machines": machines,
}
