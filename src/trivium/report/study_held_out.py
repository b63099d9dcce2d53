"""Figures 3c and 3d in tables and words; every verdict is worked out from the data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trivium.blicket.hypotheses import split
from trivium.report.study_text import (
    NOT_RUN,
    above,
    covers,
    markdown,
    middle,
    short,
    verdict,
)
from trivium.report.study_values import FORM_PLATEAUS, Learner, Results, learners


def best_single_word(name: str) -> float:
    """The reward of the better of "yes" and "no" to every object on the split's held-out."""
    space = split(name)[1]
    yes = [2 * one.blickets.bit_count() - space.objects for one in space.hypotheses]
    return abs(sum(yes)) / len(yes)


def section_3c(results: Results) -> list[str]:
    """Machines held out, with exploration beside the reward."""
    found = [
        learner
        for learner in learners(results, forced=0, reward_structure="quiz")
        if learner.task["split"] != "none"
    ]
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
            short(free[one.label, one.task["split"]]),
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
    lifted = sum(above(two, free[one.label, one.task["split"]]) for one, two in held)
    bits = [middle(one.final("bits", "test")) for one in found]
    return [
        "Forced to explore, in training and when tested:",
        markdown(columns, rows),
        f"With forced steps {beyond} of {len(found)} earn more on the machines held out than one "
        f"word for all, and {lifted} of {len(found)} more than the same agent never forced "
        f"(intervals apart). They gain {min(bits):.1f} to {max(bits):.1f} bits there (log2 of six "
        f"is {np.log2(6):.1f}), so where they fail it is not for want of having seen enough.",
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
        "On the other form, +1 is what somebody earns who tests well and reads the lights by the "
        "form trained on."
    )


LEAVE_ONE = ("conjunctive_loo", "disjunctive_loo")


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
    )
    return [markdown(columns, rows), _form_words(found)]


def _form_words(found: Sequence[Learner]) -> str:
    told = sum((one.curve("form")[-1].low or 0.0) > 0.5 for one in found)
    held = [one.final("form", "test") for one in found if one.task["split"] != "none"]
    held_told = sum((estimate.low or 0.0) > 0.5 for estimate in held)
    resting = sum(
        covers(one.curve("form")[-1], FORM_PLATEAUS[one.task["split"]]["1 test"]) for one in found
    )
    text = (
        f"The paper found that agents tell the form after very few steps. In training: "
        f"{verdict(told / len(found)).lower()}, {told} of {len(found)} tell it better than chance "
        f"(0.5; the whole interval above). {resting} of {len(found)} intervals hold what one test "
        f"can tell at best (2/3 of the six machines; 3/4 where two are held out), so they test "
        f"about once. "
    )
    if held:
        text += (
            f"On the machines held out: {verdict(held_told / len(held)).lower()}, {held_told} of "
            f"{len(held)} tell the form better than chance. Its figure may be of the machines "
            f"trained on; it does not say. "
        )
    return text + (
        "Ours are paid 1 for every object and 0.5 for the form, and train for fewer steps than in "
        "Figure 3a; an agent that has found what one test is worth gains little by asking for the "
        "form's sake."
    )
