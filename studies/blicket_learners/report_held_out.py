"""Figures 3c and 3d in tables and words; every verdict is worked out from the data."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from studies.blicket_learners.paper_values import (
    FORM_PLATEAUS,
    Learner,
    Results,
    held_out,
    learners,
)
from studies.blicket_learners.report_text import (
    NOT_RUN,
    above,
    covers,
    markdown,
    middle,
    millions,
    short,
    verdict,
)
from trivium.benchmarks.blicket.inference.hypotheses import DEFAULT_SIX, split
from trivium.core.statistics import UNDEFINED

LEAVE_ONE = ("conjunctive_loo", "disjunctive_loo")
CHANCE = 0.5  # of telling the form
ALL_BITS = log2(len(DEFAULT_SIX))  # which of the six machines it is


def best_single_word(name: str) -> float:
    """The reward of the better of "yes" and "no" to every object on the split's held-out."""
    space = split(name)[1]
    yes = [2 * one.blickets.bit_count() - space.objects for one in space.hypotheses]
    return abs(sum(yes)) / len(yes)


def section_3c(results: Results) -> list[str]:
    """Machines held out, with exploration beside the reward."""
    found = held_out(results)
    if not found:
        return NOT_RUN
    rows = [
        (
            learner.label,
            str(learner.task["split"]),
            short(learner.final("reward")),
            short(learner.final("reward", "test")),
            f"{best_single_word(learner.task['split']):.0f}",
            short(learner.final("tests", "test")),
            short(learner.final("bits", "test")),
        )
        for learner in sorted(found, key=lambda one: (one.task["split"], one.label))
    ]
    columns = (
        "agent",
        "split",
        "reward, trained on",
        "reward, held out",
        "one word for all",
        "tests, held out",
        "bits gained, held out",
    )
    return [markdown(columns, rows), _held_out_words(found), *_forced_and_held_out(results)]


def _forced_and_held_out(results: Results) -> list[str]:
    """The same with forced steps, so that a failure to explore is none of the reasons."""
    quiz = list(learners(results, reward_structure="quiz"))
    free = {
        (one.label, one.task["split"]): one.final("reward", "test")
        for one in quiz
        if not one.task["forced"]
    }
    found = [one for one in quiz if one.task["forced"] and one.task["split"] != "none"]
    if not found:
        return ["Forced exploration was not combined with held-out machines."]
    found.sort(key=lambda one: (one.task["split"], one.label))
    rows = [
        (
            one.label,
            str(one.task["split"]),
            str(one.task["forced"]),
            short(one.final("reward")),
            short(one.final("reward", "test")),
            short(one.final("bits", "test")),
            short(free.get((one.label, one.task["split"]), UNDEFINED)),
        )
        for one in found
    ]
    columns = (
        "agent",
        "split",
        "forced",
        "reward, trained on",
        "reward, held out",
        "bits gained, held out",
        "held out, never forced",
    )
    held = [(one, one.final("reward", "test")) for one in found]
    beyond = sum((two.low or 0.0) > best_single_word(one.task["split"]) for one, two in held)
    both = [(two, free.get((one.label, one.task["split"]))) for one, two in held]
    lifted = sum(above(two, never) for two, never in both if never is not None)
    bits = [middle(one.final("bits", "test")) for one in found]
    certain = [right for one in found for right in _certain(one)]
    runs = sum(one.seeds for one in found)
    return [
        "Forced to explore, in training and when tested:",
        markdown(columns, rows),
        f"With forced steps {beyond} of {len(found)} earn more on the machines held out than one "
        f"word for all, and {lifted} of {len(found)} more than the same agent never forced "
        f"(intervals apart). They gain {min(bits):.1f} to {max(bits):.1f} bits there. Of {runs} "
        f"runs {len(certain)} gain all {ALL_BITS:.1f} (log2 of six) on every machine held out, so "
        f"that they have seen which it is; {sum(certain)} of these earn more than one word for "
        f"all. The other {len(certain) - sum(certain)} do not fail for want of exploring.",
    ]


def _certain(learner: Learner) -> list[bool]:
    """For every seed whose tests tell each machine held out: does it earn more than one word?"""
    seen = learner.record["greedy"]["as trained"]["test"]
    best = best_single_word(learner.task["split"])
    return [
        reward > best + 0.01
        for reward, bits in zip(seen["reward"], seen["bits"], strict=True)
        if bits > ALL_BITS - 0.01
    ]


def _held_out_words(found: Sequence[Learner]) -> str:
    count = len(found)
    estimates = [(one, one.final("reward", "test")) for one in found]
    beyond = [
        one for one, held in estimates if (held.low or 0.0) > best_single_word(one.task["split"])
    ]
    positive = sum((held.low or 0.0) > 0 for _, held in estimates)
    idle = [one for one in found if middle(one.final("bits", "test")) < 0.5]
    single = [held for one, held in estimates if one.task["split"] in LEAVE_ONE]
    as_trained = sum(covers(held, -1.0) for held in single)
    text = (
        f"{verdict(1 - len(beyond) / count)}, which found no generalisation: of {count} agents "
        f"and splits, {len(beyond)} earn more on the machines held out than the better of saying "
        f"yes or no to every object ({positive} have their whole interval above 0). In "
        f"{len(idle)} cases the agent gains less than half a bit about the machine before it "
        f"answers (bits are about which of all six it is): there the failure is one of exploring, "
        f"since nobody can answer about a machine not tested. In the other {count - len(idle)} it "
        f"did test; it probably reads the lights as those of machines that it knows. "
    )
    if single:
        text += (
            f"Where one machine of one form is held out, {as_trained} of {len(single)} intervals "
            f"hold -1, which is what the answer for a machine trained on earns there. "
        )
    return text + (
        "On the other form, answers of the form trained on earn +1 at best, however well it tests."
    )


def section_3d(results: Results) -> list[str]:
    """Telling the forms apart."""
    found = list(learners(results, reward_structure="quiz-type"))
    if not found:
        return NOT_RUN
    found.sort(key=lambda one: (one.task["split"] != "none", one.label))
    rows = [
        (
            learner.label,
            str(learner.task["split"]),
            short(learner.curve("form")[-1]),
            short(learner.final("form")),
            short(learner.final("form", "test")) if learner.task["split"] != "none" else "-",
            short(learner.final("reward")),
            short(learner.final("reward", "test")) if learner.task["split"] != "none" else "-",
            millions(learner.steps),
        )
        for learner in found
    ]
    columns = (
        "agent",
        "split",
        "form, sampled",
        "form, greedy",
        "form, held out",
        "object reward",
        "object reward, held out",
        "steps",
    )
    return [markdown(columns, rows), _form_words(found)]


def _form_words(found: Sequence[Learner]) -> str:
    moments = [_first_told(one) for one in found]
    told = [steps for steps in moments if steps is not None]
    held = [one.final("form", "test") for one in found if one.task["split"] != "none"]
    held_told = sum((estimate.low or 0.0) > CHANCE for estimate in held)
    resting = sum(
        covers(one.curve("form")[-1], FORM_PLATEAUS[one.task["split"]]["1 test"]) for one in found
    )
    text = (
        f"The paper found that agents tell the form after very few steps. In training: "
        f"{verdict(len(told) / len(found)).lower()} that they do, {len(told)} of {len(found)} end "
        f"better than chance (0.5; the whole interval above)"
        + (f": the first from {min(told):,} steps on, the last from {max(told):,}" if told else "")
        + f". {resting} of {len(found)} intervals hold at the end what one test can tell at best "
        f"(2/3 of the six machines; 3/4 where two are held out). "
    )
    if held:
        text += (
            f"On the machines held out: {verdict(held_told / len(held)).lower()}, {held_told} of "
            f"{len(held)} tell the form better than chance. The paper speaks of the held-out "
            f"situation with both forms; its figure may be of the machines trained on there. "
        )
    return text + (
        "Ours are paid 1 for every object and 0.5 for the form, so that an agent gains little by "
        "another test for the form's sake."
    )


def _first_told(learner: Learner) -> int | None:
    """The step from which on the form is told better than chance; None if it is not at the end."""
    steps = None
    for step, estimate in zip(learner.record["steps"], learner.curve("form"), strict=True):
        if (estimate.low or 0.0) <= CHANCE:
            steps = None
        elif steps is None:
            steps = int(step)
    return steps
