"""Tables of Figure 3: reinforcement learners."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from studies.blicket_learners import compare, paper
from studies.blicket_learners.cells import NONE, VIEWS, Row, holm_by, interval, millions
from studies.blicket_learners.compare import above_verdict, holm, verdict
from studies.blicket_learners.results import Learner, Results, find_learners, mean


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
    """Figure 3a: memory, PPO beside A2C, and wide beside narrow, at the last common step."""
    found = [one for one in find_learners(results, "quiz", split="none", forced=0) if not one.large]
    compared = [
        (one, other, what)
        for one, other in product(found, repeat=2)
        if (what := _what_differs(one, other))
    ]
    compared.sort(key=lambda pair: list(DIFFERENCES).index(pair[2]))
    rows, chances = [], []
    for one, other, what in compared:
        step = min(one.steps, other.steps)
        first, second = (own.sampled_seeds("reward", own.point(step)) for own in (one, other))
        chances.append(compare.between(first, second))
        rows.append((one, other, what, first, second, step))
    for (one, other, what, first, second, step), chance in zip(
        rows, holm_by(chances, [row[2] for row in rows]), strict=True
    ):
        yield {
            "question": DIFFERENCES[what],
            "agent": one.label,
            "reward, sampled": interval(mean(first, "reward")),
            "compared with": other.label,
            "its reward": interval(mean(second, "reward")),
            "the first is": verdict(
                np.mean(first) - np.mean(second), chance, judged=results.judged
            ),
            "at step": millions(step),
        }


DIFFERENCES = {"memory": "memory", "algorithm": "PPO or A2C", "width": "512 or 256 units"}


def _what_differs(one: Learner, other: Learner) -> str | None:
    """What sets the first apart, where it is one thing: memory, the algorithm, or the width."""
    same = (
        (one.policy == "MLP") == (other.policy == "MLP"),
        one.algorithm == other.algorithm,
        one.width == other.width,
    )
    if same == (False, True, True) and other.policy == "MLP":
        return "memory"
    if "MLP" in (one.policy, other.policy) or one.policy != other.policy:
        return None
    if same == (True, False, True) and one.algorithm > other.algorithm:
        return "algorithm"
    return "width" if same == (True, True, False) and one.width > other.width else None


def forced_exploration(results: Results) -> Iterator[Row]:
    """Figure 3b: agents trained with forced steps, played with them and without."""
    found = find_learners(results, "quiz", split="none")
    unforced = {one.label: one for one in found if not one.forced}
    forced = [one for one in found if one.forced and one.label in unforced]
    never = [unforced[one.label].seeds("reward") for one in forced]
    judged: list[list[str]] = []
    for view in VIEWS:
        own = [one.seeds("reward", view=view) for one in forced]
        chances = holm([compare.between(*pair) for pair in zip(own, never, strict=True)])
        judged.append(
            [
                verdict(np.mean(first) - np.mean(second), chance, judged=results.judged)
                for first, second, chance in zip(own, never, chances, strict=True)
            ]
        )
    for one, other, with_them, without in zip(forced, never, *judged, strict=True):
        yield {
            "agent": one.label,
            "forced": str(one.forced),
            "reward with forced steps": interval(one.greedy("reward")),
            "without them": interval(one.greedy("reward", view=VIEWS[1])),
            "tests without them": interval(one.greedy("tests", view=VIEWS[1])),
            "reward when never forced": interval(mean(other, "reward")),
            "with forced steps is": with_them,
            "without them is": without,
        }


def held_out(results: Results) -> Iterator[Row]:
    """Figure 3c: machines held out of training; agents forced in training, with and without it."""
    found = [one for one in find_learners(results, "quiz") if one.split != "none"]
    found.sort(key=lambda one: (one.split, one.forced > 0))
    played = [(one, view) for one in found for view in (VIEWS if one.forced else VIEWS[:1])]
    floors = [paper.constant_reward(one.split) for one, _ in played]
    gains = [
        np.array(one.seeds("reward", "test", view)) - floor
        for (one, view), floor in zip(played, floors, strict=True)
    ]
    questions = [f"{one.split} {one.forced} {view}" for one, view in played]
    chances = holm_by([compare.above(gain) for gain in gains], questions)
    for (one, view), floor, chance in zip(played, floors, chances, strict=True):
        rewards, bits = (one.seeds(name, "test", view) for name in ("reward", "bits"))
        certain = [
            reward for reward, own in zip(rewards, bits, strict=True) if own > paper.ALL_BITS - 0.01
        ]
        yield {
            "agent": one.label,
            "split": one.split,
            "forced steps": _forced_words(one, view),
            "reward, trained on": interval(one.greedy("reward", view=view)),
            "reward, held out": interval(one.greedy("reward", "test", view)),
            "constant answer": f"{floor:.0f}",
            "above it": above_verdict(chance, judged=results.judged),
            "tests, held out": interval(one.greedy("tests", "test", view)),
            "bits gained, held out": interval(one.greedy("bits", "test", view)),
            "seeds with all bits": str(len(certain)),
            "of these above constant": str(sum(reward > floor + 0.01 for reward in certain)),
        }


def _forced_words(one: Learner, view: str) -> str:
    if not one.forced:
        return "never"
    return f"{one.forced}, {'with them' if view == VIEWS[0] else 'without them'}"


def naming_the_form(results: Results) -> Iterator[Row]:
    """Figure 3d: conjunctive or disjunctive, and no other question?"""
    found = find_learners(results, "quiz-typeonly")
    found.sort(key=lambda one: one.split != "none")
    questions = [one.split for one in found]
    chances, held = (
        holm_by(
            [compare.above(np.array(one.seeds("form", group)) - 0.5) for one in found], questions
        )
        for group in ("train", "test")
    )
    for one, chance, held_chance in zip(found, chances, held, strict=True):
        tested = one.split != "none"
        yield {
            "agent": one.label,
            "split": one.split,
            "form, sampled": interval(one.sampled("form")),
            "best after one test": f"{paper.FORM_PLATEAUS[one.split]['1 test']:.2f}",
            "0.6 from step": _named_from(one),
            "form, greedy": interval(one.greedy("form")),
            "above chance": above_verdict(chance, judged=results.judged),
            "form, held out": interval(one.greedy("form", "test") if tested else None),
            "held out above chance": (
                above_verdict(held_chance, judged=results.judged) if tested else NONE
            ),
            "tests": interval(one.greedy("tests")),
            "steps": millions(one.steps),
        }


def _named_from(one: Learner) -> str:
    """The step from which the mean share of forms stays at 0.6 or more, up to the end."""
    means = np.array(one.record["form"]).mean(axis=0)
    below = np.flatnonzero(means < 0.6)
    since = 0 if below.size == 0 else int(below[-1]) + 1
    return NONE if since == len(means) else f"{one.record['steps'][since]:,}"
