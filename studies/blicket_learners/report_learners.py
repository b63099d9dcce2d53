"""Figures 3a and 3b in tables and words; every verdict is worked out from the data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from studies.blicket_learners.paper_values import IDEAL_TESTS, PLATEAUS, Learner, Results, learners
from studies.blicket_learners.report_text import (
    NOT_RUN,
    above,
    listed,
    markdown,
    middle,
    millions,
    short,
    verdict,
)
from trivium.core.statistics import Estimate


def section_3a(results: Results) -> list[str]:
    """Learning curves when nothing is held out."""
    found = list(learners(results, split="none", forced=0, reward_structure="quiz"))
    if not found:
        return NOT_RUN
    found.sort(key=lambda one: (one.preset, one.algorithm, one.policy, one.width))
    rows = [
        (
            learner.label,
            short(learner.curve("reward")[-1]),
            short(learner.final("reward")),
            short(learner.final("tests")),
            f"{sum(step >= 0 for step in learner.record['converged'])}/{learner.seeds}",
            millions(learner.steps),
        )
        for learner in found
    ]
    columns = ("agent", "reward, sampled", "reward, greedy", "tests", "converged", "steps")
    words = [_memory(found), _algorithms(found), _widths(found), _plateaus(found), _batches(found)]
    return [markdown(columns, rows), *(text for text in words if text)]


def _last(learner: Learner) -> Estimate:
    return learner.curve("reward")[-1]


def _memory(found: Sequence[Learner]) -> str:
    with_memory = [one for one in found if one.policy != "mlp"]
    without = [one for one in found if one.policy == "mlp"]
    if not with_memory or not without:
        return "Agents with and without memory were not both run."
    least = min(with_memory, key=lambda one: middle(_last(one)))
    most = max(without, key=lambda one: middle(_last(one)))
    better = sum(all(above(_last(one), _last(other)) for other in without) for one in with_memory)
    return (
        f"{verdict(better / len(with_memory))}: memory is needed. {better} of {len(with_memory)} "
        f"agents with memory end above every agent without (intervals apart). The worst with "
        f"memory is {least.label} at {short(_last(least))}; the best without is {most.label} at "
        f"{short(_last(most))}, and 0 is all that can be had without memory, since a question "
        f"shows nothing of what was tested."
    )


def _algorithms(found: Sequence[Learner]) -> str:
    lines, leads = [], []
    own = [one for one in found if one.preset == "paper" and one.policy != "mlp"]
    for one in own:
        for other in own:
            pair = one.algorithm == "ppo" and other.algorithm == "a2c"
            if pair and (one.policy, one.width) == (other.policy, other.width):
                ppo, a2c = _at_common_step(one, other)
                ahead = middle(ppo) > middle(a2c)
                apart = above(ppo, a2c) or above(a2c, ppo)
                leads.append((1.0 if apart else 0.5) * ahead)
                leader = f"{'PPO' if ahead else 'A2C'} leads"
                if not apart:
                    leader += ", but the intervals overlap"
                name = one.short.removeprefix("PPO ")
                lines.append(f"- {name} {one.width}: PPO {short(ppo)}, A2C {short(a2c)}: {leader}.")
    if not lines:
        return "A2C and PPO were not both run."
    intro = (
        f"{verdict(sum(leads) / len(leads))}: it found PPO2 ahead of A2C in almost all cases. "
        f"Ours, at the paper's batch and at the last step that both reached:"
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


def _widths(found: Sequence[Learner]) -> str:
    lines = []
    own = [one for one in found if one.preset == "paper" and one.policy != "mlp"]
    for narrow in own:
        for wide in own:
            if narrow.short == wide.short and narrow.width < wide.width:
                less, more = _at_common_step(narrow, wide)
                said = "the wider is better" if above(more, less) else "no clear gain"
                lines.append(
                    f"{narrow.short} {short(less)} with {narrow.width} units and "
                    f"{short(more)} with {wide.width}: {said}"
                )
    if not lines:
        return ""
    return (
        f"The paper found 512 units best. Ours, at the last step that both widths reached: "
        f"{'; '.join(lines)}."
    )


def _plateaus(found: Sequence[Learner]) -> str:
    resting = []
    for one in found:
        seeds = np.array(one.record["reward"])[:, -1]
        there = int((np.abs(seeds - PLATEAUS["1 test"]) < 0.1).sum())
        if one.policy != "mlp" and there:
            resting.append(f"{one.label} ({there} of {len(seeds)} seeds)")
    if not resting:
        return "No seed ends at 5/3, what one test is worth."
    return (
        f"Some seeds end within 0.1 of 5/3, what one test is worth: {listed(resting)}. They earn "
        f"as much as one test well used, however many they make, and have not left that plateau."
    )


def _batches(found: Sequence[Learner]) -> str:
    pairs = [
        (large, paper)
        for large in found
        for paper in found
        if large.preset == "large"
        and paper.preset == "paper"
        and (large.short, large.width) == (paper.short, paper.width)
    ]
    if not pairs:
        return ""
    lines = [
        f"{large.short} {short(_last(paper))} at the paper's batch, {short(_last(large))} at the "
        f"large one"
        for large, paper in pairs
    ]
    better = sum(above(_last(large), _last(paper)) for large, paper in pairs)
    text = (
        f"The large batch, which has a larger step size too, ends above the paper's in {better} of "
        f"{len(pairs)} cases (intervals apart): {'; '.join(lines)}."
    )
    if better == len(pairs):
        text += " So where these stay low at the paper's batch, the algorithm is not the limit."
    return text


def section_3b(results: Results) -> list[str]:
    """Forced exploration, evaluated with the forced steps and without them."""
    base = {
        learner.label: learner
        for learner in learners(results, split="none", forced=0, reward_structure="quiz")
    }
    rows, pairs, tested = [], [], []
    for learner in learners(results, split="none", reward_structure="quiz"):
        if not learner.task["forced"]:
            continue
        trained = learner.final("reward")
        freed = learner.final("reward", view="no forced steps")
        unforced = base.get(learner.label)
        # Where that was trained for longer, what it earned by the same step.
        never = None if unforced is None else unforced.greedy_at(learner.steps)
        if never is not None:
            pairs.append((trained, freed, never))
            tested.append(learner.final("tests", view="no forced steps"))
        rows.append(
            (
                learner.label,
                str(learner.task["forced"]),
                short(trained),
                short(freed),
                short(learner.final("tests", view="no forced steps")),
                "not run" if never is None else short(never),
            )
        )
    if not rows:
        return NOT_RUN
    columns = (
        "agent",
        "forced",
        "reward with forced steps",
        "without them",
        "tests without them",
        "reward when never forced",
    )
    return [markdown(columns, rows), _forced_words(pairs, tested)]


def _forced_words(
    pairs: Sequence[tuple[Estimate, Estimate, Estimate]], tested: Sequence[Estimate]
) -> str:
    """From rewards with the forced steps, without them and never forced, and tests without."""
    if not pairs:
        return "The same agents were not run without forced steps."
    count = len(pairs)
    freed_below = sum(above(never, freed) for _, freed, never in pairs)
    below = sum(above(never, trained) for trained, _, never in pairs)
    better = sum(above(trained, never) for trained, _, never in pairs)
    text = (
        f"The paper found that forcing hurts. Evaluated as the original did, without the forced "
        f"steps: {verdict(freed_below / count).lower()}, {freed_below} of {count} agents end "
        f"below the same agent never forced (intervals apart). Evaluated as they were trained: "
        f"{verdict(below / count).lower()}, {below} of {count} end below and {better} above. "
    )
    if freed_below > below:
        few = sum((one.high or 0.0) < IDEAL_TESTS for one in tested)
        text += (
            f"So the drop is mostly one of evaluation: agents that were made to explore use what "
            f"they see, and have not learned to ask for it. Without force {few} of {count} test "
            f"less than the ideal observer needs ({IDEAL_TESTS:.2f} tests; the whole interval "
            f"below). This is the likely reason for the paper's figure."
        )
    return text
