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
from trivium.core.files import write_file
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
KINDS = {PERSON: "people", "simulated": "simulated participants", "pilot": "pilot participants"}


class StoppedError(Exception):
    """A participant cannot continue; its arguments are the screen's key and maybe their code."""


@dataclass
class Progress:
    """The number of participants in a condition by state, and what those who take places have."""

    condition: Condition
    completed: int = 0
    active: int = 0
    dropped: int = 0
    # of completed and active participants:
    slots: set[int | None] = field(default_factory=set)
    strata: list[dict[str, str]] = field(default_factory=list)

    def add(self, participant: Participant, oldest: float) -> None:
        """Count a participant; one who took no step since `oldest` has dropped out."""
        completed = participant.stage == COMPLETED
        if not completed and (participant.stage in ENDED or participant.seen < oldest):
            self.dropped += 1
            return
        self.completed += completed
        self.active += not completed
        self.slots.add(participant.slot)
        self.strata.append(orjson.loads(participant.stratum))

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
        """The session of a participant; a new session for None."""
        steps = [] if participant is None else self.store.steps(participant.id)
        return session_after(self.experiment, steps)

    def person(self, participant: Participant) -> str:
        """A participant's name in records."""
        return f"{self.kind}:{self.store.keyed_hash('person', participant.key)[:12]}"

    @property
    def paused(self) -> bool:
        """Whether the study is paused; a file in its folder marks it."""
        return (self.store.folder / PAUSED).exists()

    def set_paused(self, paused: bool) -> None:
        """Pause or resume the study."""
        mark = self.store.folder / PAUSED
        if paused:
            mark.touch()
        else:
            mark.unlink(missing_ok=True)

    def participant(self, key: str, browser: str) -> Participant | None:
        """The participant with a key; None if there is none yet.

        Raises StoppedError if this is not the participant's first browser, or if they dropped out
        and their condition has since filled up.
        """
        participant = self.store.find("key", key)
        if participant is None:
            return None
        if participant.browser not in ("", browser):
            raise StoppedError("elsewhere")
        if participant.stage not in ENDED and participant.seen < self._oldest:
            full = {progress.condition.name for progress in self.progress() if progress.is_full}
            if participant.condition in full:
                raise StoppedError("expired", participant.code)
        return participant

    @property
    def _oldest(self) -> float:
        """The time since which participants must have taken a step, or else they dropped out."""
        return self.store.clock() - 60 * self.experiment.dropout_minutes

    def release(self, name: str) -> None:
        """Let the participant with this name in the link continue in another browser."""
        participant = self.store.find("key", self.outside_key(name))
        if participant is None:
            raise UserError(f"no participant has the name {name!r}")
        with self.store.transaction():
            self.store.update(participant.id, browser="")

    def delete(self, code: str) -> None:
        """Delete the participant with this code, or with this name in the link."""
        participant = self.store.find("code", code.strip().upper())
        participant = participant or self.store.find("key", self.outside_key(code))
        if participant is None:
            raise UserError(f"{self.store.folder}: no participant has the code {code!r}")
        self.store.delete(participant.id)

    def signature(self, name: str) -> str:
        """The signature of a name in a link, for experiments with signed links."""
        return self.store.keyed_hash("link", name)[:20]

    def outside_key(self, name: str) -> str:
        """The key under which the participant with this name in the link is stored."""
        return self.store.keyed_hash("outside", name)[:40]

    def take_step(
        self, key: str, number: int, step: Step, browser: str = "", contact: Contact = NO_CONTACT
    ) -> tuple[Session, bool]:
        """Apply a participant's step of this number; returns the session, and whether it fits.

        A repeated request fits and changes nothing. A request does not fit, and changes nothing,
        if another tab has taken this step differently or if it skips a step.
        """
        with self.store.transaction():
            participant = self.participant(key, browser)
            session = self.session(participant)
            if participant is not None and number < session.steps:
                stored = self.store.steps(participant.id)[number]
                return session, _content(stored) == _content(step)
            if number != session.steps:
                return session, False
            step = replace(step, server_time=self.store.clock())
            session.take(step)
            if session.stage == "full":  # the step asks for a place
                step = replace(step, outcome=self._assign(session.answers))
                session.assign(step.outcome)
            if participant is None:
                participant = self.store.add(key, browser)
                if contact.name:
                    self.store.add_contact(participant.id, contact)
            self.store.append(participant.id, number, step)
            columns = {name: value for name, value in step.outcome.items() if name != "shown"}
            columns |= {"stage": session.stage, "seen": step.server_time}
            self.store.update(participant.id, **columns, browser=participant.browser or browser)
            return session, True

    def add_events(self, key: str, events: Sequence[Event], browser: str = "") -> None:
        """Store events of a participant, up to MAX_EVENTS."""
        participant = self.participant(key, browser)
        if participant is not None and events:
            with self.store.transaction():
                stored = len(self.store.events(participant.id))
                self.store.add_events(participant.id, events[: max(0, MAX_EVENTS - stored)])

    def progress(self) -> list[Progress]:
        """The progress of every condition."""
        progress = {one.name: Progress(one) for one in self.experiment.conditions}
        for participant in self.store.participants():
            if participant.condition is not None:
                progress[participant.condition].add(participant, self._oldest)
        return list(progress.values())

    def _assign(self, answers: Mapping[str, str]) -> dict[str, Any]:
        """A place in a random condition with the fewest similar participants; {} if all are full.

        Participants with the same answers to questions with a cap are similar; among conditions
        with equally many of them, those with the fewest participants count.
        """
        capped = [one for one in self.experiment.questions if one.cap and one.id in answers]
        stratum = {question.id: answers[question.id] for question in capped}
        open_places = []
        for progress in self.progress():
            counts = Counter(answer for other in progress.strata for answer in other.items())
            capped_out = any(counts[one.id, answers[one.id]] >= one.cap for one in capped)
            place = None if capped_out or progress.is_full else self._place(progress)
            if place is not None:
                load = (progress.strata.count(stratum), progress.taken)
                open_places.append((load, progress.condition, place))
        if not open_places:
            return {}
        least = min(load for load, _, _ in open_places)
        _, condition, place = secrets.choice([one for one in open_places if one[0] == least])
        if condition.arm == "passive":
            place["shown"] = self.experiment.moves_shown(condition, place["slot"])
        return {
            "condition": condition.name,
            "stratum": orjson.dumps(stratum).decode(),
            **place,
        }

    def _place(self, progress: Progress) -> dict[str, Any] | None:
        """The first free place in a condition; for a yoked one, that of its least used partner.

        None if no participant has completed the condition that it is yoked to.
        """
        condition = progress.condition
        if condition.arm != "yoked":
            return {"slot": next(n for n in count() if n not in progress.slots)}
        people = self.store.participants()
        members = (one for one in people if one.condition == condition.name)
        uses = Counter(member.partner for member in members if member.stage != "failed")
        others = (one for one in people if one.condition == condition.yoked_to)
        partners = [one for one in others if one.stage == COMPLETED]
        if not partners:
            return None
        partner = min(partners, key=lambda one: (uses[one.id], one.id))
        # The last reply is the answer, which is not shown.
        shown = [attempt.dialogue.replies[:-1] for attempt in self.session(partner).finished]
        return {"slot": partner.slot, "partner": partner.id, "shown": shown}


def open_study(path: Path, folder: Path | None = None, kind: str = PERSON) -> Study:
    """The study of an experiment file, by default in a folder beside it.

    The folder keeps copies of the file and of the texts that it names, which must not change once
    there are participants, and the kind of the participants.
    """
    experiment = read_experiment(path)
    folder = folder or path.with_suffix(".study")
    kind_file = folder / KIND
    stored_kind = kind_file.read_text("utf-8") if kind_file.exists() else kind
    require(
        stored_kind == kind,
        f"{folder} holds a study with {KINDS[stored_kind]}; choose another folder with --study",
    )
    study = Study(experiment, folder, kind)
    if (folder / EXPERIMENT).exists() and study.store.participants():
        stored = _stored_experiment(folder)
        require(
            stored == experiment and stored.texts == experiment.texts,
            f"{folder} holds a study with another experiment file; choose another folder with "
            "--study, or use the original file",
        )
    files = {EXPERIMENT: path.read_bytes(), KIND: kind.encode()}
    if experiment.language.endswith(".toml"):
        files[TEXTS] = Path(experiment.language).read_bytes()
    if experiment.audio:
        copytree(path.parent / experiment.audio, folder / AUDIO, dirs_exist_ok=True)
    for name, content in files.items():
        write_file(folder / name, content)
    return study


def reopen_study(folder: Path) -> Study:
    """The study in a folder."""
    require((folder / EXPERIMENT).exists(), f"{folder}: there is no study in this folder")
    return Study(_stored_experiment(folder), folder, (folder / KIND).read_text("utf-8"))


def _stored_experiment(folder: Path) -> Experiment:
    """The experiment in a study's folder."""
    return read_experiment(folder / EXPERIMENT, folder / TEXTS)


def step_from(body: Mapping[str, Any]) -> tuple[int, Step]:
    """The number and the step in the body of a request; raises RefusedError if it is malformed."""
    number, kind, value = body.get("number"), body.get("kind"), body.get("value")
    if type(number) is not int or not 0 <= number < 10**6:
        raise RefusedError("number must be a whole number")
    if not isinstance(kind, str) or len(kind) > 20:
        raise RefusedError("kind must be a short text")
    try:
        orjson.dumps([kind, value])
    except (TypeError, ValueError):  # nested too deeply, or lone surrogates
        raise RefusedError("the value cannot be stored") from None
    client_time, seconds = _time(body.get("time")), _time(body.get("seconds"))
    return number, Step(kind, value, client_time=client_time, seconds=seconds)


def events_from(values: Any) -> list[Event]:
    """The valid events among the first 200 in the body of a request; the others are dropped."""
    events = []
    for entry in values[:200] if isinstance(values, list) else []:
        match entry:
            case {"page": str(), "kind": str(), "detail": str(), "number": int(number)}:
                page, kind, detail = (
                    entry[key][:100].encode("utf-8", "replace").decode()  # no lone surrogates
                    for key in ("page", "kind", "detail")
                )
                if 0 <= number < 10**6:
                    events.append(Event(page, number, kind, detail, _time(entry.get("time"))))
    return events


def _content(step: Step) -> bytes:
    """The kind and value of a step as JSON, which tells 1 from true."""
    return orjson.dumps([step.kind, step.value])


def _time(value: Any) -> float | None:
    valid = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if valid and 0 <= value < 10**11 else None
