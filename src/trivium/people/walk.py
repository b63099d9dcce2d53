"""Every screen of an experiment, without participants."""

from __future__ import annotations

from functools import partial
from typing import Any

import orjson

from trivium.core.dialogue import Dialogue, next_reply
from trivium.people.experiment import Condition, Experiment
from trivium.people.pages import Step, View
from trivium.people.screens import ending_screen, screen
from trivium.people.session import ENDED, Session

CODE = "EXAMPLE234"  # instead of a participant's code
ENDINGS = "endings"  # instead of a condition
SOLVER = "information_gain"  # whose first test is shown, in games
SLOTS = 16  # places whose screens have all sentences, such as those of swapped examples
STOPPED = ("paused", "elsewhere", "uninvited")


def all_views(experiment: Experiment) -> list[View]:
    """Every screen of every condition, each different one once, then all endings."""
    found = [
        (view, condition.name)
        for condition in experiment.conditions
        for view in _walk(experiment, condition)
    ]
    session = Session(experiment)
    session.condition = experiment.conditions[0]
    for session.stage in ENDED[:-1]:
        found.append((screen(session, CODE), ENDINGS))
    session.stage, session.failed_checks = "instructions", int(experiment.check)
    found.append((screen(session, CODE), found[0][1]))
    found.append((ending_screen(session, "expired", CODE), ENDINGS))
    found += [(ending_screen(session, key), ENDINGS) for key in STOPPED]
    distinct: dict[bytes, tuple[View, str]] = {}
    for view, name in found:
        distinct.setdefault(orjson.dumps(view | {"number": 0}), (view, name))
    for number, (view, name) in enumerate(distinct.values()):
        about = f"{number + 1} of {len(distinct)}, {name}: {view['screen']}"
        view.update(number=number, preview=about, condition=name, guard=0)
    return [view for view, _ in distinct.values()]


def _walk(
    experiment: Experiment, condition: Condition, slot: int = 0, *, use_all: bool = False
) -> list[View]:
    """The screens of a participant who answers everything right, after one test or all of them."""
    place: dict[str, Any] = {"condition": condition.name, "slot": slot}
    if condition.arm != "active":
        place["shown"] = experiment.moves_shown(condition, slot)
    session, views = Session(experiment), list[View]()
    while True:
        views.append(screen(session, CODE))
        if session.stage in ENDED:
            return views
        again = use_all and views[-1].get("movable", False)
        step = session.next_step(partial(_reply, again=again))
        asks = session.answers_to_assign(step) is not None
        session.take(Step(step.kind, step.value, place if asks else {}))


def _reply(dialogue: Dialogue, *, again: bool) -> str:
    """One test of a game, again and again or once, then the right answer."""
    solver = dialogue.item.task.benchmark.solvers.get(SOLVER)
    if solver is None or (dialogue.replies and not again):
        return dialogue.item.gold
    return dialogue.replies[0] if dialogue.replies else next_reply(dialogue, solver)


def sentences(experiment: Experiment) -> dict[str, str]:
    """Every sentence that is read to children, with the name of its recording."""
    views = all_views(experiment)
    for one in experiment.conditions:
        views += _walk(experiment, one, use_all=True)
        for slot in range(1, SLOTS):
            views += _walk(experiment, one, slot)
    return {one["text"]: one["file"] for view in views for one in view.get("speak", ())}


def screens_in_words(experiment: Experiment) -> list[dict[str, Any]]:
    """What participants read on every screen but the endings, for reports."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for view in all_views(experiment):
        texts = [view.get(key, ()) for key in ("paragraphs", "rules", "messages")]
        words = [text for part in texts for text in part]
        if view["condition"] != ENDINGS:
            about = {key: view[key] for key in ("condition", "screen", "title")}
            found.setdefault((view["title"], *words), {**about, "text": words})
    return list(found.values())
