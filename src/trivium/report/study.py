"""The study's report: pictures, tables with the paper's values, and what agrees, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from trivium import __version__
from trivium.core.errors import import_extra
from trivium.core.jsonl import open_output
from trivium.core.statistics import Estimate, bootstrap_mean
from trivium.report.study_values import (
    IDEAL_TESTS,
    MODEL_NAMES,
    PAPER_Q,
    PAPER_TABLE,
    Learner,
    Results,
    data_name,
    learners,
    read_results,
)
from trivium.report.tables import Table

TITLES = {
    "fig3a": "Figure 3a: learning curves",
    "fig3b": "Figure 3b: forced exploration",
    "fig3c": "Figure 3c: machines held out",
    "fig3d": "Figure 3d: telling the forms apart",
    "table1": "Table 1: imitators",
    "qlearning": "Tabular Q-learning",
    "overhypotheses": "Beyond the paper: unseen forms, more objects",
}


def write_report(folder: Path, parts: Sequence[str], command: str) -> Path:
    """report.md with its pictures beside it; the path of the report."""
    charts = import_extra("trivium.report.study_charts", "plots") if _plots() else None
    results = read_results(folder)
    made_by = folder / "command.txt"  # what computed the data, where that was another command
    if made_by.exists():
        command = f"{made_by.read_text(encoding='utf-8').strip()}`, then `{command}"
    text = [
        "# The paper's study of learners",
        f"Made by `{command}` with Trivium {__version__}. Intervals are 95%, over seeds. The ideal "
        f"observer needs {IDEAL_TESTS:.2f} tests on average for the paper's six machines; the best "
        "reward after 0, 1, 2 and 3 tests is 0, 5/3, 7/3 and 3.",
    ]
    for part in parts:
        text += [f"## {TITLES[part]}"]
        figure = None if charts is None else charts.FIGURES.get(part)
        chart = None if figure is None else figure(results)
        if chart is not None:
            for kind in ("svg", "png"):
                chart.save(
                    str(folder / f"{part}.{kind}"), **({"ppi": 110} if kind == "png" else {})
                )
            text += [f"![{TITLES[part]}]({part}.png)"]
        text += SECTIONS[part](results)
    path = folder / "report.md"
    with open_output(path) as file:
        file.write(("\n\n".join(text) + "\n").encode())
    return path


def _plots() -> bool:
    import_extra("altair", "plots")
    import_extra("vl_convert", "plots")
    return True


def markdown(table: Table) -> str:
    """A table as Markdown."""
    lines = [table.columns, tuple("---" for _ in table.columns), *table.rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def short(estimate: Estimate) -> str:
    """A value with its interval, two decimals."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "undefined"
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def _above(first: Estimate, second: Estimate) -> bool:
    return (first.low or 0.0) > (second.high or 0.0)


def _section_3a(results: Results) -> list[str]:
    found = list(learners(results, split="none", forced=0, reward_structure="quiz"))
    if not found:
        return ["Not run."]
    found.sort(key=lambda learner: (learner.preset, learner.width, learner.algorithm))
    rows = [
        (
            learner.label,
            short(learner.curve("reward")[-1]),
            short(learner.final("reward")),
            short(learner.final("tests")),
            f"{sum(step >= 0 for step in learner.record['converged'])}"
            f"/{len(learner.record['converged'])}",
            f"{learner.steps / 1e6:.2f} M",
        )
        for learner in found
    ]
    columns = ("agent", "reward, sampled", "reward, greedy", "tests", "converged", "steps")
    words = [_memory_words(found), _algorithm_words(found)]
    return [markdown(Table("", columns, tuple(rows))), *words]


def _memory_words(found: Sequence[Learner]) -> str:
    with_memory = [one for one in found if one.policy != "mlp"]
    without = [one for one in found if one.policy == "mlp"]
    if not with_memory or not without:
        return "Agents with and without memory were not both run."
    least = min(with_memory, key=lambda one: one.curve("reward")[-1].value or 0.0)
    most = max(without, key=lambda one: one.curve("reward")[-1].value or 0.0)
    agrees = _above(least.curve("reward")[-1], most.curve("reward")[-1])
    verdict = "Agrees with the paper" if agrees else "Agrees with the paper only in part"
    return (
        f"{verdict}: agents with memory against agents without. The worst with memory is "
        f"{least.label} at {short(least.curve('reward')[-1])}; the best without is {most.label} at "
        f"{short(most.curve('reward')[-1])}, and 0 is all that can be had without memory."
    )


def _algorithm_words(found: Sequence[Learner]) -> str:
    lines = []
    own = [one for one in found if one.preset == "paper" and one.policy != "mlp"]
    for one in own:
        for other in own:
            pair = one.algorithm == "ppo" and other.algorithm == "a2c"
            if pair and (one.policy, one.width) == (other.policy, other.width):
                ppo, a2c = _at_common_step(one, other)
                leader = "PPO leads" if _above(ppo, a2c) else "A2C leads"
                if not _above(ppo, a2c) and not _above(a2c, ppo):
                    leader = "no clear leader"
                lines.append(
                    f"- {one.short.removeprefix('PPO ')} {one.width}: PPO {short(ppo)}, "
                    f"A2C {short(a2c)}: {leader}."
                )
    if not lines:
        return "A2C and PPO were not both run."
    intro = (
        "The paper found PPO2 ahead of A2C in almost all cases. Ours, at the paper's batch and at "
        "the last step that both reached:"
    )
    return "\n".join([intro, "", *lines])


def _at_common_step(one: Learner, other: Learner) -> tuple[Estimate, Estimate]:
    """The sampled rewards of two agents at the last step that both reached."""
    last = min(one.steps, other.steps)

    def at(learner: Learner) -> Estimate:
        steps = learner.record["steps"]
        place = max(number for number, step in enumerate(steps) if step <= last or number == 0)
        return learner.curve("reward")[place]

    return at(one), at(other)


def _section_3b(results: Results) -> list[str]:
    rows = []
    falls = both_fall = count = 0
    base = {
        learner.label: learner.final("reward")
        for learner in learners(results, split="none", forced=0, reward_structure="quiz")
    }
    for learner in learners(results, split="none", reward_structure="quiz"):
        forced = learner.task["forced"]
        if not forced:
            continue
        trained = learner.final("reward")
        freed = learner.final("reward", view="no forced steps")
        rows.append(
            (
                learner.label,
                str(forced),
                short(trained),
                short(freed),
                short(learner.final("tests", view="no forced steps")),
                short(base[learner.label]) if learner.label in base else "not run",
            )
        )
        if learner.label in base:
            count += 1
            both_fall += (trained.value or 0) < (base[learner.label].value or 0)
            falls += (freed.value or 0) < (base[learner.label].value or 0)
    if not rows:
        return ["Not run."]
    columns = (
        "agent",
        "forced",
        "reward with forced steps",
        "without them",
        "tests without them",
        "reward when never forced",
    )
    words = (
        f"The paper found that forcing hurts. Evaluated as the original did, without the forced "
        f"steps, {falls} of {count} agents end below the same agent never forced; evaluated as "
        f"they were trained, {both_fall} of {count}. Where only the first falls, the drop in the "
        f"paper's figure is one of evaluation: an agent that was made to explore has not learned "
        f"to ask for it."
    )
    return [markdown(Table("", columns, tuple(rows))), words]


def _section_3c(results: Results) -> list[str]:
    rows = []
    idle = count = above = 0
    for learner in learners(results, forced=0, reward_structure="quiz"):
        if learner.task["split"] == "none":
            continue
        held_out = learner.final("reward", "test")
        bits = learner.final("bits", "test")
        rows.append(
            (
                learner.label,
                str(learner.task["split"]),
                short(learner.final("reward")),
                short(held_out),
                short(learner.final("tests", "test")),
                short(bits),
            )
        )
        count += 1
        idle += (bits.value or 0) < 0.5
        above += (held_out.low or 0) > 0
    if not rows:
        return ["Not run."]
    columns = ("agent", "split", "reward, trained on", "reward, held out", "tests", "bits gained")
    words = (
        f"The paper found no generalisation. Of {count} agents and splits, {above} earn more than "
        f"chance on the machines held out (their whole interval is above 0). In {idle} cases the "
        f"agent gains less than half a bit about the machine before it answers: there the failure "
        f"is one of exploring, since nobody can answer rightly about a machine not tested. Bits "
        f"are about which of all six machines it is."
    )
    return [markdown(Table("", columns, tuple(rows))), words]


def _section_3d(results: Results) -> list[str]:
    rows = []
    for learner in learners(results, reward_structure="quiz-type"):
        rows.append(
            (
                learner.label,
                str(learner.task["split"]),
                short(learner.curve("form")[-1]),
                short(learner.final("form")),
                short(learner.final("form", "test")),
                short(learner.final("reward", "test")),
            )
        )
    if not rows:
        return ["Not run."]
    columns = (
        "agent",
        "split",
        "form, sampled",
        "form, greedy, trained on",
        "form, greedy, held out",
        "object reward, held out",
    )
    words = (
        "The paper found that the form is told after very few steps even where objects are not. "
        "Chance is 0.5. Held-out machines are those of the split; with nothing held out both "
        "columns are the same."
    )
    return [markdown(Table("", columns, tuple(rows))), words]


def _section_table1(results: Results) -> list[str]:
    order = list(PAPER_TABLE["cloning"])
    units = sorted(
        results.imitators,
        key=lambda unit: (
            unit["config"]["model"] == "cloning",
            order.index(data_name(unit["data"])),
        ),
    )
    rows = []
    for unit in units:
        data, model = data_name(unit["data"]), unit["config"]["model"]
        played = unit["played"]["as collected"]
        paper = PAPER_TABLE[model][data]
        freed = unit["played"].get("no forced steps")
        rows.append(
            (
                MODEL_NAMES[model],
                data,
                short(bootstrap_mean(played["reward"])),
                f"{sum(played['sd']) / len(played['sd']):.2f}",
                short(bootstrap_mean(played["form"])),
                f"{paper[0]:.2f} ± {paper[1]:.2f}",
                f"{paper[2]:.2f}",
                "-" if freed is None else short(bootstrap_mean(freed["reward"])),
            )
        )
    if not rows:
        return ["Not run."]
    columns = (
        "model",
        "data",
        "reward",
        "sd",
        "form right",
        "paper's reward",
        "paper's form",
        "reward, no forced steps",
    )
    return [markdown(Table("", columns, tuple(rows))), _table1_words(results)]


def _table1_words(results: Results) -> str:
    rewards = {
        (unit["config"]["model"], data_name(unit["data"])): bootstrap_mean(
            unit["played"]["as collected"]["reward"]
        )
        for unit in results.imitators
    }
    steps = [
        rewards.get(("decision-transformer", f"random{plus}")) for plus in ("", "+5", "+10", "+15")
    ]
    known = [(estimate.value or 0.0) for estimate in steps if estimate is not None]
    rises = all(later > earlier for earlier, later in pairwise(known))
    clones = [estimate for (model, _), estimate in rewards.items() if model == "cloning"]
    near = sum(abs(estimate.value or 0.0) < 0.3 for estimate in clones)
    trend = "rises" if rises else "does not rise throughout"
    return (
        f"More forced exploration in the data, more reward: with random data of 0, 5, 10 and 15 "
        f"forced steps the decision transformer's reward {trend} "
        f"({', '.join(f'{value:.2f}' for value in known)}). Behaviour cloning is within 0.3 of "
        f"zero on {near} of {len(clones)} datasets; it sees one observation, and a question "
        f"carries no history. Trajectories are of `quiz-type` with all returns, memory is kept, "
        f"and the head is a plain logit: the original collected `quiz-typeonly`, dropped memory "
        f"at every step and confined its outputs to (0.27, 0.73), so equal figures are not to be "
        f"expected."
    )


def _section_q(results: Results) -> list[str]:
    rows = []
    abouts = {
        "fixed": "one conjunctive machine a trial, both bonuses, checked every 20 episodes "
        "(found after the fact)",
        "drawn": "a machine drawn every episode from the six, perfect on all of them",
    }
    for unit in results.trials:
        rows.append(
            (
                abouts[unit["config"]["definition"]],
                short(bootstrap_mean(unit["episodes"])),
                short(bootstrap_mean(unit["steps"])),
                f"{unit['converged']}/{unit['trials']}",
            )
        )
    if not rows:
        return ["Not run."]
    rows.append(("the paper", f"{PAPER_Q['episodes']:.0f}", f"{PAPER_Q['steps']:.0f}", "-"))
    columns = ("definition", "episodes to the maximum", "steps", "converged")
    words = (
        "The paper's figures cannot be those of the task as it is told: four steps an episode are "
        "too few to find out which machine it is and to answer three questions. The first "
        "definition reproduces them and was found by looking for one that does; the second is the "
        "task itself."
    )
    return [markdown(Table("", columns, tuple(rows))), words]


def _mean_accuracy(tested: Sequence[Mapping[str, Any]], objects: Sequence[int]) -> str:
    """Over forms, seed by seed; then the interval over seeds."""
    own = [one["accuracy"] for one in tested if one["objects"] in objects]
    return short(bootstrap_mean(np.mean(own, axis=0)))


def _section_transfer(results: Results) -> list[str]:
    rows = []
    for unit in results.transfers:
        known = [one for one in unit["tested"] if one["form"] in unit["forms"]]
        unseen = [one for one in unit["tested"] if one["form"] not in unit["forms"]]

        rows.append(
            (
                f"{unit['agent']['algorithm'].upper()} {unit['agent']['policy']}",
                ", ".join(unit["forms"]),
                _mean_accuracy(known, (3,)),
                _mean_accuracy(known, (4, 5)),
                _mean_accuracy(unseen, (3,)),
                _mean_accuracy(unseen, (4, 5)),
            )
        )
    if not rows:
        return ["Not run."]
    columns = (
        "agent",
        "trained forms",
        "known forms, 3 objects",
        "known forms, 4-5 objects",
        "unseen forms, 3 objects",
        "unseen forms, 4-5 objects",
    )
    words = (
        "Share of objects told rightly; 0.5 is guessing. An agent with an overhypothesis about "
        "forms would keep its accuracy on more objects of forms that it knows."
    )
    return [markdown(Table("", columns, tuple(rows))), words]


SECTIONS: dict[str, Callable[[Results], list[str]]] = {
    "fig3a": _section_3a,
    "fig3b": _section_3b,
    "fig3c": _section_3c,
    "fig3d": _section_3d,
    "table1": _section_table1,
    "qlearning": _section_q,
    "overhypotheses": _section_transfer,
}
