"""Walks through an experiment without participants: every screen, every spoken sentence."""

from __future__ import annotations

from functools import partial
from typing import Any

import orjson

from trivium.core.dialogue import Dialogue, next_reply
from trivium.people.experiment import Condition, Experiment
from trivium.people.pages import ScreenData
from trivium.people.screens import ending_screen, screen
from trivium.people.session import ENDED, Session
from trivium.people.steps import Step

CODE = "EXAMPLE234"  # placeholder for a participant's code
ENDINGS = "endings"  # the "condition" of the last screens
SOLVER = "information_gain"  # makes the tests in games
SLOTS = 16  # enough places for every sentence, such as those of swapped examples
STOPPED = ("paused", "elsewhere", "uninvited")


def all_screens(experiment: Experiment) -> list[ScreenData]:
    """Every distinct screen: of the conditions, the endings, and after a failed check."""
    screens = [
        (data, condition.name)
        for condition in experiment.conditions
        for data in _walk(experiment, condition)
    ]
    session = Session(experiment)
    session.condition = experiment.conditions[0]
    for session.stage in ENDED:
        if session.stage != "done":  # every walk above ends there
            screens.append((screen(session, CODE), ENDINGS))
    # The instructions, as they are shown again after a failed check.
    session.stage, session.failed_checks = "instructions", int(experiment.check)
    screens.append((screen(session, CODE), session.condition.name))
    screens.append((ending_screen(session, "expired", CODE), ENDINGS))
    screens += [(ending_screen(session, key), ENDINGS) for key in STOPPED]
    distinct: dict[bytes, tuple[ScreenData, str]] = {}
    for data, name in screens:
        distinct.setdefault(orjson.dumps(data | {"number": 0}), (data, name))
    for number, (data, name) in enumerate(distinct.values()):
        caption = f"{number + 1} of {len(distinct)}, {name}: {data['screen']}"
        data.update(number=number, preview=caption, condition=name, guard=0)
    return [data for data, _ in distinct.values()]


def _walk(
    experiment: Experiment, condition: Condition, slot: int = 0, *, use_all: bool = False
) -> list[ScreenData]:
    """The screens of a participant who answers everything right.

    In games after one test, or with `use_all` after all tests.
    """
    place: dict[str, Any] = {"condition": condition.name, "slot": slot}
    if condition.arm != "active":
        place["shown"] = experiment.moves_shown(condition, slot)
    session, screens = Session(experiment), list[ScreenData]()
    while True:
        screens.append(screen(session, CODE))
        if session.stage in ENDED:
            return screens
        again = use_all and screens[-1].get("movable", False)  # tests are left
        step = session.next_step(partial(_reply, again=again))
        session.take(Step(step.kind, step.value))
        if session.stage == "full":
            session.assign(place)


def _reply(dialogue: Dialogue, *, again: bool) -> str:
    """The right answer; in games first a test, which is repeated while `again`."""
    solver = dialogue.item.task.benchmark.solvers.get(SOLVER)
    if solver is None or (dialogue.replies and not again):
        return dialogue.item.gold
    return dialogue.replies[0] if dialogue.replies else next_reply(dialogue, solver)


def sentences(experiment: Experiment) -> dict[str, str]:
    """Every sentence that is read to children, with the file name of its recording."""
    screens = all_screens(experiment)
    for condition in experiment.conditions:
        screens += _walk(experiment, condition, use_all=True)
        for slot in range(1, SLOTS):
            screens += _walk(experiment, condition, slot)
    spoken = (sentence for data in screens for sentence in data.get("speak", ()))
    return {sentence["text"]: sentence["file"] for sentence in spoken}


def screens_in_words(experiment: Experiment) -> list[dict[str, Any]]:
    """What participants read on every screen except the endings, for reports."""
    screens: dict[tuple[str, ...], dict[str, Any]] = {}
    for data in all_screens(experiment):
        texts = [text for key in ("paragraphs", "rules", "messages") for text in data.get(key, ())]
        if data["condition"] != ENDINGS:
            facts = {key: data[key] for key in ("condition", "screen", "title")}
            screens.setdefault((data["title"], *texts), {**facts, "text": texts})
    return list(screens.values())
