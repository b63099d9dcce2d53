"""A running study: participants, their conditions and their steps."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from shutil import copytree
from typing import Any

import orjson

from trivium.core.errors import UserError, require
from trivium.core.files import atomic_write
from trivium.people.experiment import Condition, Experiment, read_experiment
from trivium.people.session import ENDED, Session, session_after
from trivium.people.steps import RefusedError, Step
from trivium.people.store import EXPERIMENT, Contact, Event, Participant, Store

MAX_EVENTS = 5000  # of one participant
NO_CONTACT = Contact()
COMPLETED = "done"
PAUSED = "paused"
TEXTS = "texts.toml"  # the study's copy of the researcher's texts
AUDIO = "audio"  # the study's copy of the researcher's recordings
KIND = "kind"  # the file that names the kind of the participants
PERSON = "person"
KINDS = {PERSON: "people", "simulated": "simulated participants", "pilot": "people of a pilot"}


class StoppedError(Exception):
    """A participant cannot continue; holds the key of the screen that says why, and the code."""


@dataclass
class Progress:
    """The participants of a condition by state."""

    condition: Condition
    completed: int = 0
    active: int = 0
    dropped: int = 0
    slots: set[int | None] = field(default_factory=set)  # of completed and active participants
    strata: list[dict[str, str]] = field(default_factory=list)  # of the same

    def add(self, one: Participant, oldest: float) -> None:
        """Count a participant; one who took no step since `oldest` has dropped out."""
        if one.stage != COMPLETED and (one.stage in ENDED or one.seen < oldest):
            self.dropped += 1
            return
        self.completed += one.stage == COMPLETED
        self.active += one.stage != COMPLETED
        self.slots.add(one.slot)
        self.strata.append(orjson.loads(one.stratum))

    @property
    def taken(self) -> int:
        """The number of occupied places."""
        return self.completed + self.active

    @property
    def is_full(self) -> bool:
        """Whether all places are occupied."""
        return 0 < self.condition.cap <= self.taken


class Study:
    """An experiment with its store."""

    def __init__(self, experiment: Experiment, folder: Path, kind: str = PERSON) -> None:
        self.experiment, self.kind = experiment, kind
        self.store = Store(folder)

    def session(self, participant: Participant | None) -> Session:
        """The session of a participant; a new one for None."""
        steps = [] if participant is None else self.store.steps(participant.id)
        return session_after(self.experiment, steps)

    def person(self, participant: Participant) -> str:
        """The name of a participant in records."""
        return f"{self.kind}:{self.store.keyed_hash('person', participant.key)[:12]}"

    @property
    def paused(self) -> bool:
        """Whether the study is paused, as a file in its folder says."""
        return (self.store.folder / PAUSED).exists()

    def pause(self, paused: bool) -> None:
        """Pause or resume the study."""
        mark = self.store.folder / PAUSED
        if paused:
            mark.touch()
        else:
            mark.unlink(missing_ok=True)

    def participant(self, key: str, browser: str) -> Participant | None:
        """The participant with a key; None for a new one.

        StoppedError in another browser than the participant's first, and for participants who
        dropped out and whose condition is full by now.
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
        """The time before which participants who took no later step have dropped out."""
        return self.store.clock() - 60 * self.experiment.dropout_minutes

    def release(self, name: str) -> None:
        """Let the participant with this name in the link continue in any browser."""
        found = self.store.find("key", self.outside_key(name))
        if found is None:
            raise UserError(f"no participant has the name {name!r}")
        with self.store.transaction():
            self.store.update(found.id, browser="")

    def delete(self, code: str) -> None:
        """Delete the participant with this code, or with this name in the link."""
        found = self.store.find("code", code.strip().upper())
        found = found or self.store.find("key", self.outside_key(code))
        if found is None:
            raise UserError(f"{self.store.folder}: no participant has the code {code!r}")
        self.store.delete(found.id)

    def signature(self, name: str) -> str:
        """The signature of a name in a link, for experiments with signed links."""
        return self.store.keyed_hash("link", name)[:20]

    def outside_key(self, outside: str) -> str:
        """The key that is stored for a name of a recruiting service."""
        return self.store.keyed_hash("outside", outside)[:40]

    def take_step(
        self, key: str, number: int, step: Step, browser: str = "", contact: Contact = NO_CONTACT
    ) -> tuple[Session, bool]:
        """The session after a step, and whether the request fits it.

        A repeated request changes nothing. A request does not fit if another tab has taken this
        step differently, or if it skips a step.
        """
        with self.store.transaction():
            participant = self.participant(key, browser)
            session = self.session(participant)
            if participant is not None and number < session.steps:
                before = self.store.steps(participant.id)[number]
                return session, _said(before) == _said(step)
            if number != session.steps:
                return session, False
            answers = session.answers_to_assign(step)
            place = {} if answers is None else self._assign(answers)
            taken = replace(step, outcome=place, server_time=self.store.clock())
            session.take(taken)
            if participant is None:
                participant = self.store.add(key, browser)
                if contact.name:
                    self.store.add_contact(participant.id, contact)
            self.store.append(participant.id, number, taken)
            columns = {name: value for name, value in place.items() if name != "shown"}
            columns |= {"stage": session.stage, "seen": taken.server_time}
            self.store.update(participant.id, **columns, browser=participant.browser or browser)
            return session, True

    def add_events(self, key: str, events: Sequence[Event], browser: str = "") -> None:
        """Store events, up to a limit."""
        participant = self.participant(key, browser)
        if participant is not None and events:
            with self.store.transaction():
                stored = len(self.store.events(participant.id))
                self.store.add_events(participant.id, events[: max(0, MAX_EVENTS - stored)])

    def progress(self) -> list[Progress]:
        """The progress of every condition."""
        found = {one.name: Progress(one) for one in self.experiment.conditions}
        for one in self.store.participants():
            if one.condition is not None:
                found[one.condition].add(one, self._oldest)
        return list(found.values())

    def _assign(self, answers: Mapping[str, str]) -> dict[str, Any]:
        """A place in a random condition with the fewest similar participants; {} if all are full.

        Similar are those with the same answers to questions with a cap.
        """
        capped = [one for one in self.experiment.questions if one.cap and one.id in answers]
        stratum = {one.id: answers[one.id] for one in capped}
        found = []
        for one in self.progress():
            same = Counter(pair for own in one.strata for pair in own.items())
            full = any(same[each.id, answers[each.id]] >= each.cap for each in capped)
            place = None if full or one.is_full else self._place(one)
            if place is not None:
                found.append(((one.strata.count(stratum), one.taken), one.condition, place))
        if not found:
            return {}
        fewest = min(taken for taken, _, _ in found)
        _, condition, place = secrets.choice([one for one in found if one[0] == fewest])
        if condition.arm == "passive":
            place["shown"] = self.experiment.moves_shown(condition, place["slot"])
        return {
            "condition": condition.name,
            "stratum": orjson.dumps(stratum).decode(),
            **place,
        }

    def _place(self, progress: Progress) -> dict[str, Any] | None:
        """The first free place in a condition; None if a yoked one has no partner yet."""
        condition = progress.condition
        if condition.arm != "yoked":
            return {"slot": next(n for n in count() if n not in progress.slots)}
        people = self.store.participants()
        own = (one for one in people if one.condition == condition.name)
        used = Counter(one.partner for one in own if one.stage != "failed")
        others = (one for one in people if one.condition == condition.yoked_to)
        partners = [one for one in others if one.stage == COMPLETED]
        if not partners:
            return None
        partner = min(partners, key=lambda one: (used[one.id], one.id))
        shown = [one.dialogue.replies[:-1] for one in self.session(partner).finished]
        return {"slot": partner.slot, "partner": partner.id, "shown": shown}


def open_study(path: Path, folder: Path | None = None, kind: str = PERSON) -> Study:
    """The study of an experiment file, by default in a folder beside it.

    The folder keeps copies of the file and of its own texts, which must not change once there are
    participants, and the kind of the participants.
    """
    experiment = read_experiment(path)
    folder = folder or path.with_suffix(".study")
    mark = folder / KIND
    kept = mark.read_text("utf-8") if mark.exists() else kind
    require(
        kept == kind,
        f"{folder} holds a study with {KINDS[kept]}; choose another folder with --study",
    )
    study = Study(experiment, folder, kind)
    if (folder / EXPERIMENT).exists() and study.store.participants():
        before = _kept_experiment(folder)
        require(
            before == experiment and before.texts == experiment.texts,
            f"{folder} holds a study with another experiment file; choose another folder with "
            "--study, or use the original file",
        )
    files = {EXPERIMENT: path.read_bytes(), KIND: kind.encode()}
    if experiment.language.endswith(".toml"):
        files[TEXTS] = Path(experiment.language).read_bytes()
    if experiment.audio:
        copytree(path.parent / experiment.audio, folder / AUDIO, dirs_exist_ok=True)
    for name, content in files.items():
        with atomic_write(folder / name) as file:
            file.write(content)
    return study


def reopen_study(folder: Path) -> Study:
    """The study in a folder."""
    require((folder / EXPERIMENT).exists(), f"{folder}: there is no study in this folder")
    return Study(_kept_experiment(folder), folder, (folder / KIND).read_text("utf-8"))


def _kept_experiment(folder: Path) -> Experiment:
    """The experiment of which a study's folder keeps a copy."""
    return read_experiment(folder / EXPERIMENT, folder / TEXTS)


def step_from(body: Mapping[str, Any]) -> tuple[int, Step]:
    """The number and the step in the body of a request; RefusedError if it is malformed."""
    number, kind, value = body.get("number"), body.get("kind"), body.get("value")
    if type(number) is not int or not 0 <= number < 10**6:
        raise RefusedError("number must be a whole number")
    if not isinstance(kind, str) or len(kind) > 20:
        raise RefusedError("kind must be a short text")
    try:
        orjson.dumps([kind, value])
    except (TypeError, ValueError):  # nested too deeply, or lone surrogates
        raise RefusedError("the value cannot be stored") from None
    at, seconds = _time(body.get("time")), _time(body.get("seconds"))
    return number, Step(kind, value, client_time=at, seconds=seconds)


def events_from(values: Any) -> list[Event]:
    """The valid events in the body of a request."""
    found = []
    for one in values[:200] if isinstance(values, list) else []:
        match one:
            case {"page": str(), "kind": str(), "detail": str(), "number": int(number)}:
                texts = (
                    one[key][:100].encode("utf-8", "replace") for key in ("page", "kind", "detail")
                )
                page, kind, detail = (text.decode() for text in texts)
                if 0 <= number < 10**6:
                    found.append(Event(page, number, kind, detail, _time(one.get("time"))))
    return found


def _said(step: Step) -> bytes:
    """The kind and value of a step as JSON, in which 1 and true differ."""
    return orjson.dumps([step.kind, step.value])


def _time(value: Any) -> float | None:
    valid = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if valid and 0 <= value < 10**11 else None
