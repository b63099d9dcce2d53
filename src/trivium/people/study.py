"""A study that is running: who takes part, in which condition, and every step that they take."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from trivium.core.errors import require
from trivium.core.files import atomic_write
from trivium.people.experiment import Condition, Experiment, read_experiment
from trivium.people.pages import RefusedError, Step
from trivium.people.session import ENDED, Session, session_after
from trivium.people.store import EXPERIMENT, Event, Participant, Store

MAX_EVENTS = 5000  # of one participant
COMPLETED = "done"
PAUSED = "paused"
_TEXTS = ("page", "kind", "detail")  # of an event


class StoppedError(Exception):
    """A participant cannot go on here; it holds the screen that says why, and the code to show."""


@dataclass
class Progress:
    """How far the participants of a condition are."""

    condition: Condition
    completed: int = 0
    active: int = 0
    dropped: int = 0

    @property
    def taken(self) -> int:
        """Places that are not free."""
        return self.completed + self.active

    @property
    def is_full(self) -> bool:
        """Whether no place is left."""
        return 0 < self.condition.cap <= self.taken


class Study:
    """An experiment with its store."""

    def __init__(self, experiment: Experiment, folder: Path) -> None:
        self.experiment = experiment
        self.store = Store(folder)

    def session(self, participant: Participant | None) -> Session:
        """Where a participant is; at the beginning without one."""
        steps = [] if participant is None else self.store.steps(participant.id)
        return session_after(self.experiment, steps)

    def person(self, participant: Participant) -> str:
        """The name of a participant in records."""
        return f"person:{self.store.keyed_hash('person', participant.key)[:12]}"

    @property
    def paused(self) -> bool:
        """Whether the study is paused: its folder has a file that says so."""
        return (self.store.folder / PAUSED).exists()

    def pause(self, paused: bool) -> None:
        """Pause the study, or go on."""
        mark = self.store.folder / PAUSED
        if paused:
            mark.touch()
        else:
            mark.unlink(missing_ok=True)

    def participant(self, key: str, browser: str) -> Participant | None:
        """The participant of a key, None for a newcomer.

        StoppedError in another browser than the one where the participant began, and for one who
        was away for so long that all places are taken.
        """
        found = self.store.find("key", key)
        if found is None:
            return None
        if found.browser not in ("", browser):
            raise StoppedError("elsewhere")
        away = found.stage not in ENDED and found.seen < self._oldest
        full = {one.condition.name for one in self.progress() if one.is_full} if away else ()
        if found.condition in full:
            raise StoppedError("expired", found.code)
        return found

    @property
    def _oldest(self) -> float:
        """Participants who took no step since then have dropped out."""
        return time.time() - 60 * self.experiment.dropout_minutes

    def release(self, outside: str) -> None:
        """Let the participant with this name of a recruiting service go on in another browser."""
        own = self.known_as(outside)
        require(bool(own), f"nobody has taken part as {outside!r}")
        with self.store.transaction():
            for one in own:
                self.store.update(one.id, browser="")

    def known_as(self, outside: str) -> list[Participant]:
        """The participants with this name of a recruiting service, one for every attempt."""
        key = self.outside_key(outside)
        return [one for one in self.store.participants() if one.key.partition("_")[0] == key]

    def delete(self, code: str) -> None:
        """Delete the participant with this code, or with this name in the link."""
        by_code = self.store.find("code", code.strip().upper())
        found = self.known_as(code) if by_code is None else [by_code]
        require(bool(found), f"{self.store.folder}: no participant has the code {code!r}")
        for one in found:
            self.store.delete(one.id)

    def outside_key(self, outside: str) -> str:
        """What is kept of a name that a recruiting service gives."""
        return self.store.keyed_hash("outside", outside)[:40]

    def take_step(
        self, key: str, number: int, step: Step, browser: str = ""
    ) -> tuple[Session, bool]:
        """The session after a step, and whether the request was in time.

        A request that comes again changes nothing; one that another tab was faster than, or that
        skips a step, is late, and the page shows the session as it is.
        """
        with self.store.transaction():
            participant = self.participant(key, browser)
            session = self.session(participant)
            if participant is not None and number < session.steps:
                before = self.store.steps(participant.id)[number]
                return session, _said(before) == _said(step)
            if number != session.steps:
                return session, False
            outcome = {}
            if step.kind == "consent" and step.value is True and session.stage == "consent":
                outcome = self._assign()
            taken = Step(step.kind, step.value, outcome, time.time(), step.client_time)
            session.take(taken)
            if session.stage == "full":  # not stored, so that one can try again later
                return session, True
            if participant is None:
                participant = self.store.add(key, browser)
            self.store.append(participant.id, number, taken)
            place = {key: value for key, value in outcome.items() if key != "shown"}
            place |= {"stage": session.stage, "seen": time.time()}
            self.store.update(participant.id, **place, browser=participant.browser or browser)
            return session, True

    def add_events(self, key: str, events: Sequence[Event], browser: str = "") -> None:
        """Store what else happened in the browser, up to a limit."""
        participant = self.participant(key, browser)
        if participant is not None and events:
            with self.store.transaction():
                stored = len(self.store.events(participant.id))
                self.store.add_events(participant.id, events[: max(0, MAX_EVENTS - stored)])

    def progress(self) -> list[Progress]:
        """How far every condition is."""
        found = {one.name: Progress(one) for one in self.experiment.conditions}
        oldest = self._oldest
        for one in self.store.participants():
            if one.condition is None:
                continue
            own = found[one.condition]
            if one.stage == COMPLETED:
                own.completed += 1
            elif one.stage in ENDED or one.seen < oldest:
                own.dropped += 1
            else:
                own.active += 1
        return list(found.values())

    def _assign(self) -> dict[str, Any]:
        """A place in one of the conditions with the fewest people; empty where all are full."""
        found = [
            (one, extra)
            for one in self.progress()
            if not one.is_full
            if (extra := self._place(one.condition)) is not None
        ]
        if not found:
            return {}
        fewest = min(one.taken for one, _ in found)
        one, place = secrets.choice([pair for pair in found if pair[0].taken == fewest])
        if one.condition.arm == "passive":
            place["shown"] = self.experiment.moves_shown(one.condition, place["slot"])
        return {"condition": one.condition.name, **place}

    def _place(self, condition: Condition) -> dict[str, Any] | None:
        """Which items the next participant gets; None where a yoked one has no partner yet."""
        everybody = self.store.participants()
        own = [one for one in everybody if one.condition == condition.name]
        if condition.arm != "yoked":
            return {"slot": 1 + max((one.slot or 0 for one in own), default=-1)}
        used = Counter(one.partner for one in own if one.stage not in ("failed", "declined"))
        others = (one for one in everybody if one.condition == condition.yoked_to)
        partners = [one for one in others if one.stage == COMPLETED]
        if not partners:
            return None
        partner = min(partners, key=lambda one: (used[one.id], one.id))
        shown = [one.dialogue.replies[:-1] for one in self.session(partner).finished]
        return {"slot": partner.slot, "partner": partner.id, "shown": shown}


def open_study(path: Path, folder: Path | None = None) -> Study:
    """The study of an experiment file, in a folder beside it unless another is named.

    The folder keeps a copy of the file; what was asked of some must be asked of all.
    """
    experiment = read_experiment(path)
    folder = folder or path.with_suffix(".study")
    study = Study(experiment, folder)
    kept = folder / EXPERIMENT
    if kept.exists():
        changed = read_experiment(kept) != experiment
        require(
            not changed or not study.store.participants(),
            f"{folder} holds a study with another experiment file; choose another folder with "
            "--study, or give the file that it began with",
        )
    with atomic_write(kept) as file:
        file.write(path.read_bytes())
    return study


def reopen_study(folder: Path) -> Study:
    """The study in a folder, for its data."""
    require((folder / EXPERIMENT).exists(), f"{folder}: there is no study in this folder")
    return Study(read_experiment(folder / EXPERIMENT), folder)


def step_from(body: Mapping[str, Any]) -> tuple[int, Step]:
    """The number and the step in the body of a request; RefusedError where it is none."""
    number, kind, value = body.get("number"), body.get("kind"), body.get("value")
    if type(number) is not int or not 0 <= number < 10**6:
        raise RefusedError("number must be a whole number")
    if not isinstance(kind, str) or len(kind) > 20:
        raise RefusedError("kind must be a short text")
    try:
        orjson.dumps([kind, value])
    except (TypeError, ValueError):  # nested too deeply, or lone surrogates
        raise RefusedError("the value cannot be stored") from None
    return number, Step(kind, value, client_time=_time(body.get("time")))


def events_from(values: Any) -> list[Event]:
    """The events in the body of a request, as far as they can be read."""
    found = []
    for one in values[:200] if isinstance(values, list) else []:
        match one:
            case {"page": str(), "kind": str(), "detail": str(), "number": int(number)}:
                texts = (one[key][:100].encode("utf-8", "replace") for key in _TEXTS)
                page, kind, detail = (text.decode() for text in texts)
                if 0 <= number < 10**6:
                    found.append(Event(page, number, kind, detail, _time(one.get("time"))))
    return found


def _said(step: Step) -> bytes:
    """What a step says, such that 1 and true differ."""
    return orjson.dumps([step.kind, step.value])


def _time(value: Any) -> float | None:
    valid = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if valid and 0 <= value < 10**11 else None
