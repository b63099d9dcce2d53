"""The study's tables as Markdown: our values with intervals, the paper's and the ideal observer's.

What they mean is written by hand in findings.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np

from studies.blicket_learners import paper
from studies.blicket_learners.bootstrap import bootstrap_mean
from studies.blicket_learners.plan import TRAINED_OBJECTS, Unit
from studies.blicket_learners.results import (
    MODEL_NAMES,
    POLICY_NAMES,
    Learner,
    Record,
    Results,
    apart,
    data_name,
    find_learners,
    read_results,
)
from trivium.benchmarks.blicket.prompts import PROMPTS
from trivium.benchmarks.blicket.prompts.score import TableLine, table_line
from trivium.benchmarks.blicket.prompts.spec import PromptSpec, PromptView
from trivium.benchmarks.blicket.prompts.stimuli import printed_replies
from trivium.core.files import atomic_write
from trivium.core.statistics import Estimate

Row = dict[str, str]  # a cell under the name of its column
NONE = "-"
OPENING = f"""# The paper's study of learners: tables and figures

Written by `python -m studies.blicket_learners --report-only`; findings.md in the study's own folder
says what was seen and how to read the columns. Values are means over seeds with 95% intervals
(bootstrap); greedy rewards are exact over the machines. The ideal observer needs
{paper.IDEAL_TESTS:.2f} tests on average for the paper's six machines; its best reward after 0, 1, 2
and 3 tests is 0, 5/3, 7/3 and 3. The paper prints Figure 3 without numbers."""


def learning(results: Results) -> Iterator[Row]:
    """Figure 3a: where every agent ends when nothing is held out."""
    for one in find_learners(results, "quiz", split="none", forced=0):
        last = np.array(one.record["reward"])[:, -1]
        one_test = np.abs(last - paper.PLATEAUS["1 test"]) < 0.1
        converged = [step >= 0 for step in one.record["converged"]]
        yield {
            "agent": one.label,
            "reward, sampled": interval(one.sampled("reward")),
            "reward, greedy": interval(one.greedy("reward")),
            "tests": interval(one.greedy("tests")),
            "converged": f"{sum(converged)}/{len(converged)}",
            "within 0.1 of 5/3": f"{one_test.sum()}/{len(last)}",
            "steps": millions(one.steps),
        }


def pairs(results: Results) -> Iterator[Row]:
    """Figure 3a: PPO beside A2C and wide beside narrow, at the last step that both reached."""
    found = find_learners(results, "quiz", split="none", forced=0)
    recurrent = [one for one in found if not one.large and one.policy != "MLP"]
    for one, other in product(recurrent, repeat=2):
        algorithms = one.algorithm > other.algorithm and one.width == other.width
        widths = one.algorithm == other.algorithm and one.width > other.width
        if one.policy == other.policy and (algorithms or widths):
            step = min(one.steps, other.steps)
            first, second = (own.sampled("reward", own.point(step)) for own in (one, other))
            yield {
                "agent": one.label,
                "reward, sampled": interval(first),
                "compared with": other.label,
                "its reward": interval(second),
                "the first is": apart(first, second),
                "at step": millions(step),
            }


def forced_exploration(results: Results) -> Iterator[Row]:
    """Figure 3b: agents trained with forced steps, played with them and without."""
    found = find_learners(results, "quiz", split="none")
    unforced = {one.label: one for one in found if not one.forced}
    for one in found:
        if one.forced:
            trained = one.greedy("reward")
            freed = one.greedy("reward", view="no forced steps")
            # An agent that was trained for longer is compared at the same step.
            never = unforced[one.label].greedy_at(one.steps) if one.label in unforced else None
            yield {
                "agent": one.label,
                "forced": str(one.forced),
                "reward with forced steps": interval(trained),
                "without them": interval(freed),
                "tests without them": interval(one.greedy("tests", view="no forced steps")),
                "reward when never forced": interval(never),
                "with forced steps is": apart(trained, never),
                "without them is": apart(freed, never),
            }


def held_out(results: Results) -> Iterator[Row]:
    """Figure 3c: machines held out of training, never forced and forced in training and test."""
    found = [one for one in find_learners(results, "quiz") if one.split != "none"]
    for one in sorted(found, key=lambda one: one.split):
        floor = paper.constant_reward(one.split)
        seeds = zip(one.seeds("reward", "test"), one.seeds("bits", "test"), strict=True)
        certain = [reward for reward, bits in seeds if bits > paper.ALL_BITS - 0.01]
        yield {
            "agent": one.label,
            "split": one.split,
            "forced": str(one.forced),
            "reward, trained on": interval(one.greedy("reward")),
            "reward, held out": interval(one.greedy("reward", "test")),
            "constant answer": f"{floor:.0f}",
            "tests, held out": interval(one.greedy("tests", "test")),
            "bits gained, held out": interval(one.greedy("bits", "test")),
            "seeds with all bits": str(len(certain)),
            "of these above constant": str(sum(reward > floor + 0.01 for reward in certain)),
        }


def naming_the_form(results: Results) -> Iterator[Row]:
    """Figure 3d: conjunctive or disjunctive?"""
    found = find_learners(results, "quiz-type")
    for one in sorted(found, key=lambda one: one.split != "none"):
        tested = one.split != "none"
        yield {
            "agent": one.label,
            "split": one.split,
            "form, sampled": interval(one.sampled("form")),
            "best after one test": f"{paper.FORM_PLATEAUS[one.split]['1 test']:.2f}",
            "above chance from step": _above_chance_from(one),
            "form, greedy": interval(one.greedy("form")),
            "form, held out": interval(one.greedy("form", "test") if tested else None),
            "object reward": interval(one.greedy("reward")),
            "object reward, held out": interval(one.greedy("reward", "test") if tested else None),
            "steps": millions(one.steps),
        }


def _above_chance_from(one: Learner) -> str:
    """The step from which the whole interval stays above one half, up to the end."""
    since = None
    for point, step in enumerate(one.record["steps"]):
        if (one.sampled("form", point).low or 0.0) <= 0.5:
            since = None
        elif since is None:
            since = step
    return NONE if since is None else f"{since:,}"


def imitators(results: Results) -> Iterator[Row]:
    """Table 1: imitators beside the paper's."""
    units = {(one["config"]["model"], data_name(one["data"])): one for one in results.imitators}
    for model, table in paper.PAPER_TABLE.items():
        for data, (reward, deviation, accuracy) in table.items():
            if (model, data) in units:
                unit = units[model, data]
                own, freed = unit["played"]["as collected"], unit["played"].get("no forced steps")
                ideal = paper.ideal_reward(data)
                yield {
                    "model": MODEL_NAMES[model],
                    "data": data,
                    "reward ± sd": f"{_mean(own['reward'])} ± {np.mean(own['sd']):.2f}",
                    "paper's reward ± sd": f"{reward:.2f} ± {deviation:.2f}",
                    "FCA": _mean(own["form"]),
                    "paper's FCA": f"{accuracy:.2f}",
                    "episodes": f"{unit['episodes']:,}",
                    "reward in the data": f"{unit['data_reward']:z.2f}",
                    "reward, no forced steps": _mean(freed["reward"]) if freed else NONE,
                    "ideal observer": NONE if ideal is None else f"{ideal:.2f}",
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
            means = (_mean(unit["episodes"], 0), _mean(unit["steps"], 0))
            cells = (words, *means, f"{unit['converged']}/{unit['trials']}")
            yield dict(zip(columns, cells, strict=True))
    if units:
        cells = ("the paper", str(paper.PAPER_Q_EPISODES), str(paper.PAPER_Q_STEPS), NONE)
        yield dict(zip(columns, cells, strict=True))


def transfer(results: Results) -> Iterator[Row]:
    """Beyond the paper: accuracy on unseen forms and more objects, beside a constant answer's."""
    for unit in results.transfers:
        best, first_above = _untested(unit)
        row = {
            "agent": f"PPO {POLICY_NAMES[unit['agent']['policy']]}",
            "trained forms": ", ".join(unit["forms"]),
            "steps": millions(unit["steps"][-1]),
            "best without a test": f"{best:.2f}",
            "first above it": first_above,
        }
        for known, objects in product((True, False), ((3,), (4, 5))):
            tested = [
                one
                for one in unit["tested"]
                if (one["form"] in unit["forms"]) == known and one["objects"] in objects
            ]
            # The mean over forms of each seed first: the interval is over seeds.
            accuracy = _mean(np.mean([one["accuracy"] for one in tested], axis=0))
            floors = [paper.constant_accuracy(one["form"], one["objects"]) for one in tested]
            name = f"{'known' if known else 'unseen'} forms, {'-'.join(map(str, objects))} objects"
            row[name] = f"{accuracy} ({np.mean(floors):.2f})"
        yield row


def _untested(unit: Record) -> tuple[float, str]:
    """The best reward without any test, and the first step at which a seed earns more."""
    best = paper.untested_reward(TRAINED_OBJECTS, tuple(unit["forms"]))
    above = (np.array(unit["reward"]) > best + 0.01).any(axis=0)
    return best, millions(unit["steps"][above.argmax()]) if above.any() else "never"


def interval(estimate: Estimate | None, decimals: int = 2) -> str:
    """A mean with its interval."""
    if estimate is None:
        return NONE
    value, low, high = (
        f"{part or 0.0:z,.{decimals}f}" for part in (estimate.value, estimate.low, estimate.high)
    )
    return f"{value} [{low}, {high}]"


def _mean(values: Sequence[float], decimals: int = 2) -> str:
    return interval(bootstrap_mean(values), decimals)


def millions(steps: int) -> str:
    """Environment steps in a table."""
    return f"{steps / 1e6:.2f} M"


Table = Callable[[Results], Iterator[Row]]
SECTIONS: Mapping[str, tuple[str, Sequence[Table]]] = {
    "fig3a": ("Figure 3a: learning curves", [learning, pairs]),
    "fig3b": ("Figure 3b: forced exploration", [forced_exploration]),
    "fig3c": ("Figure 3c: held-out machines", [held_out]),
    "fig3d": ("Figure 3d: naming the form", [naming_the_form]),
    "table1": ("Table 1: imitators", [imitators]),
    "table2": ("Table 2: replies of language models", [printed_table]),
    "qlearning": ("Tabular Q-learning", [qlearning]),
    "overhypotheses": ("Beyond the paper: unseen forms, more objects", [transfer]),
}


def write_report(folder: Path, parts: Sequence[str], units: Sequence[Unit]) -> Path:
    """Write tables.md, and a figure for every part that has one and has data."""
    from studies.blicket_learners.charts import FIGURES, save  # noqa: PLC0415, needs altair

    results = read_results(folder)
    text = [OPENING, *_trained(results)]
    for part in parts:
        title, tables = SECTIONS[part]
        written = [_markdown(rows) for table in tables if (rows := list(table(results)))]
        text += [f"## {title}"]
        if written and part in FIGURES:
            save(FIGURES[part](results), folder / "figures" / part)
            text += [f"![{title}](figures/{part}.png)"]
        text += written or ["Not run."]
        text += _unfinished(part, units, results)
    path = folder / "tables.md"
    with atomic_write(path) as file:
        file.write(("\n\n".join(text) + "\n").encode())
    return path


def _markdown(rows: Sequence[Row]) -> str:
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _trained(results: Results) -> list[str]:
    units = [*results.learners, *results.imitators, *results.transfers]
    seeds = sorted({str(unit["seeds"]) for unit in units})
    devices = sorted({unit["device"] for unit in results.learners})
    return [f"Seeds: {', '.join(seeds)}. Learners on: {', '.join(devices)}."] if units else []


def _unfinished(part: str, units: Sequence[Unit], results: Results) -> list[str]:
    """Which planned units of a part are missing or were stopped early."""
    found = [*results.learners, *results.imitators, *results.trials, *results.transfers]
    finished = {unit["name"] for unit in found if unit["finished"]}
    planned = [unit.name for unit in units if part in unit.parts]
    left = [f"`{name}`" for name in planned if name not in finished]
    return [f"Not finished, of {len(planned)} planned units: {', '.join(left)}."] if left else []
