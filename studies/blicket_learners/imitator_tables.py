"""Tables 1 and 2 of the paper, and Q-learning."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np

from studies.blicket_learners import compare, paper
from studies.blicket_learners.cells import NONE, VIEWS, Row, holm_by, interval
from studies.blicket_learners.compare import TOO_SHORT, verdict
from studies.blicket_learners.plan import IDEAL_DATA, RANDOM_DATA
from studies.blicket_learners.results import MODEL_NAMES, Record, Results, data_name, mean
from trivium.benchmarks.blicket.prompts import PROMPTS
from trivium.benchmarks.blicket.prompts.score import TableLine, table_line
from trivium.benchmarks.blicket.prompts.spec import PromptSpec, PromptView
from trivium.benchmarks.blicket.prompts.stimuli import printed_replies
from trivium.core.statistics import mean_interval


def imitators(results: Results) -> Iterator[Row]:
    """Table 1: imitators beside the paper's, with the forced steps of their data and without."""
    units = {(one["label"], data_name(one["data"])): one for one in results.imitators}
    for label, data in product(MODEL_NAMES, [*paper.PAPER_TABLE["cloning"], IDEAL_DATA]):
        unit = units.get((label, data))
        if unit is None:
            continue
        own = unit["played"]["as collected"]
        freed = unit["played"].get(VIEWS[1], own)
        printed = paper.PAPER_TABLE[paper.PAPER_MODELS[label]].get(data)
        ideal = paper.ideal_reward(data)
        reward = "-" if printed is None else f"{printed[0]:.2f} ± {printed[1]:.2f}"
        yield {
            "model": MODEL_NAMES[label],
            "data": data,
            "reward ± sd, with forced steps": _with_sd(own),
            "without them": _with_sd(freed),
            "paper's reward ± sd": reward,
            "overlap, with": _overlap(own, printed, judged=results.judged),
            "overlap, without": _overlap(freed, printed, judged=results.judged),
            "FCA, with": interval(mean(own["form"], "form")),
            "FCA, without": interval(mean(freed["form"], "form")),
            "paper's FCA": NONE if printed is None else f"{printed[2]:.2f}",
            "tests, without": interval(mean(freed["tests"], "tests")),
            "episodes": f"{unit['episodes']:,}",
            "reward in the data": f"{unit['data_reward']:z.2f}",
            "ideal observer": NONE if ideal is None else f"{ideal:.2f}",
        }


def _with_sd(played: Record) -> str:
    return f"{interval(mean(played['reward'], 'reward'))} ± {np.mean(played['sd']):.2f}"


def _overlap(played: Record, printed: tuple[float, float, float] | None, *, judged: bool) -> str:
    """Whether our interval and that of the paper's mean of 100 rollouts overlap."""
    if printed is None:
        return NONE
    if not judged:
        return TOO_SHORT
    own, half = mean(played["reward"], "reward"), 1.96 * printed[1] / paper.PAPER_ROLLOUTS**0.5
    assert own.low is not None  # of at least one seed
    assert own.high is not None
    return "yes" if own.low <= printed[0] + half and printed[0] - half <= own.high else "no"


def imitator_pairs(results: Results) -> Iterator[Row]:
    """Table 1: more forced exploration in the data, and the window of behaviour cloning."""
    units = {(one["label"], data_name(one["data"])): one for one in results.imitators}
    rows: list[tuple[str, str, str, str, list[float], list[float]]] = []
    for label in MODEL_NAMES:
        for fewer, more in pairwise(RANDOM_DATA):
            for name, words in (("as collected", "with them"), (VIEWS[1], "without them")):
                if {(label, fewer), (label, more)} <= units.keys():
                    first, second = (
                        own.get(name, own["as collected"])["reward"]
                        for own in (units[label, more]["played"], units[label, fewer]["played"])
                    )
                    what = f"forced steps in the data, {words}"
                    rows.append(
                        (
                            f"{what} {label}",
                            MODEL_NAMES[label],
                            f"{what}: {more}",
                            fewer,
                            first,
                            second,
                        )
                    )
    for data in (*paper.PAPER_TABLE["cloning"], IDEAL_DATA):
        if {("cloning-30", data), ("cloning-1", data)} <= units.keys():
            first, second = (
                units[label, data]["played"]["as collected"]["reward"]
                for label in ("cloning-30", "cloning-1")
            )
            what = f"30 observations, {data}"
            rows.append(("window", "behaviour cloning", what, "1 observation", first, second))
    chances = holm_by([compare.between(row[4], row[5]) for row in rows], [row[0] for row in rows])
    for (_, model, what, other, first, second), chance in zip(rows, chances, strict=True):
        yield {
            "model": model,
            "what": what,
            "reward": interval(mean(first, "reward")),
            "compared with": other,
            "its reward": interval(mean(second, "reward")),
            "the first is": verdict(
                np.mean(first) - np.mean(second), chance, judged=results.judged
            ),
        }


def printed_table(results: Results) -> Iterator[Row]:
    """Table 2: the printed replies scored again; nothing is trained for it."""
    items = {
        (item.hypotheses, item.form): item
        for item in PROMPTS.generate(PromptSpec(stimuli="paper"), 0, 0, 4)
    }
    for one in printed_replies():
        item = items[one.hypotheses, one.form]
        # Of PaLM's freeform replies, the paper counts only the first two sentences.
        sentences = 2 if (one.model, one.prompt) == ("PaLM", "freeform") else None
        ours = table_line(item, PROMPTS.parse(item, [one.reply], PromptView(sentences=sentences)))
        theirs = TableLine(one.right, one.printed_of or one.of, one.wrong, one.structure)
        yield {
            "model": one.model,
            "prompt": one.prompt.replace("_", "-"),
            "hypotheses": one.hypotheses.replace("_", " "),
            "form": one.form,
            "scored again": _line(ours),
            "printed": _line(theirs),
        }


def _line(line: TableLine) -> str:
    return f"{line.right}/{line.of}, {line.wrong} wrong, structure {line.structure or NONE}"


def qlearning(results: Results) -> Iterator[Row]:
    """Tabular Q-learning under both definitions, beside the paper's."""
    columns = ("definition", "episodes until perfect", "steps", "trials converged")
    definitions = {
        "fixed": "one conjunctive machine per trial, both bonuses, checked every 20 episodes",
        "drawn": "a machine drawn every episode from the six, perfect on all of them",
    }
    units = {unit["config"]["definition"]: unit for unit in results.trials}
    for name, words in definitions.items():
        if name in units:
            unit = units[name]
            means = (interval(mean_interval(unit[name]), 0) for name in ("episodes", "steps"))
            cells = (words, *means, f"{unit['converged']}/{unit['trials']}")
            yield dict(zip(columns, cells, strict=True))
    if units:
        cells = ("the paper", str(paper.PAPER_Q_EPISODES), str(paper.PAPER_Q_STEPS), NONE)
        yield dict(zip(columns, cells, strict=True))
