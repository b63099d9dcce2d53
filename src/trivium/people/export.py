"""The data of a study: records, tidy tables with a dictionary, payments, and Minari datasets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import orjson

from trivium.core.errors import require
from trivium.core.files import atomic_write, dump_line, write_file, write_json
from trivium.core.records import MANIFEST, RECORDS, Attempt
from trivium.core.text import csv_table
from trivium.evaluation.evaluation import versions
from trivium.people.adaptive import fit_of
from trivium.people.analysis import Row, analyse, behaviour, excluded_by, is_analysed, screens_of
from trivium.people.experiment import Experiment
from trivium.people.pages import Page, Round, page_of
from trivium.people.session import Session
from trivium.people.steps import TimedStep
from trivium.people.store import Event, Participant
from trivium.people.study import KINDS, NO_CONTACT, Study
from trivium.people.walkthrough import screens_in_words

DICTIONARY = "dictionary.csv"
LEFT_OUT = "left_out.jsonl"  # records of participants whom the analysis leaves out
ANALYSIS = "analysis"  # in the manifest
_MISSING = "an empty cell"  # reads as missing everywhere without a hint


def export_files(experiment: Experiment) -> tuple[str, ...]:
    """The names of all files that an export writes."""
    return (RECORDS, LEFT_OUT, MANIFEST, *experiment.tables, DICTIONARY)


def export_study(study: Study, out: Path) -> int:
    """Write the data of a study; returns the number of records.

    Records of participants whom the analysis leaves out are in a file of their own, so that all
    scores of people are of the same participants.
    """
    tables = study.experiment.tables
    records: dict[str, list[Attempt]] = {RECORDS: [], LEFT_OUT: []}
    rows: dict[str, list[Row]] = {name: [] for name in tables}
    for participant in study.store.participants():
        participant_attempts, participant_rows = _export_participant(study, participant)
        (person,) = participant_rows["participants.csv"]
        records[RECORDS if is_analysed(person) else LEFT_OUT] += participant_attempts
        for name, added in participant_rows.items():
            rows[name] += added
    for name, attempts in records.items():
        with atomic_write(out / name) as file:
            file.writelines(map(dump_line, attempts))
    write_json(out / MANIFEST, _manifest(study, rows))
    for name, columns in tables.items():
        write_file(out / name, csv_table(rows[name], columns))
    meanings = [
        {"file": name, "column": column, "type": kind, "meaning": meaning, "missing": _MISSING}
        for name, columns in tables.items()
        for column, (kind, meaning) in columns.items()
    ]
    write_file(out / DICTIONARY, csv_table(meanings))
    return sum(map(len, records.values()))


def _export_participant(
    study: Study, participant: Participant
) -> tuple[list[Attempt], dict[str, list[Row]]]:
    """The records of a participant, and the rows of every table.

    Columns that `experiment.tables` does not declare are not written.
    """
    session, steps = study.session(participant), study.store.steps(participant.id)
    events = study.store.events(participant.id)
    counts = behaviour(session, steps, events)
    excluded = "+".join(excluded_by(study.experiment, counts))
    attempts = attempts_of(study, participant, session, excluded)
    identity = {"participant": study.person(participant), "condition": participant.condition}
    person_columns = identity | {
        "source": study.kind,
        "arm": session.condition and session.condition.arm,
        "excluded": excluded or "no",
        **(session.condition.factors if session.condition else {}),
        **session.answers,
    }
    rows: dict[str, list[Row]] = {
        "participants.csv": [
            counts | person_columns | _participant_row(study, participant, session, events)
        ],
        "trials.csv": [],
        "screens.csv": [identity | row for row in screens_of(session)],
        "steps.csv": [
            identity | vars(step) | {"number": number, "value": orjson.dumps(step.value).decode()}
            for number, step in enumerate(steps)
        ],
        "events.csv": [identity | vars(event) for event in events],
    }
    for number, attempt in enumerate(session.rounds, start=1):
        trial_steps = session.steps_of(number)
        page_rows = page_of(attempt.item.task.benchmark).rows(attempt, trial_steps)
        for table, added in page_rows.items():
            if table != "trials.csv":
                rows.setdefault(table, []).extend(
                    identity | {"trial": number} | row for row in added
                )
        if number <= len(attempts):  # an unfinished item has no record
            page_columns = next(iter(page_rows.get("trials.csv", ())), {})
            trial = _trial_row(attempts[number - 1], number, trial_steps)
            rows["trials.csv"].append(person_columns | page_columns | trial)
    return attempts, rows


def _participant_row(
    study: Study, participant: Participant, session: Session, events: Sequence[Event]
) -> Row:
    partner = study.store.find("id", participant.partner)
    return {
        "place": participant.slot,
        "partner": study.person(partner) if partner else None,
        "stage": session.stage,
        "started": participant.created,
        "last_step": participant.seen,
        "seconds": round(sum(step.seconds for step in session.timeline), 3),
        "score": mean_score(session),
        "sound": next((e.detail for e in reversed(events) if e.kind == "sound"), None),
        **_threshold_columns(session),
    }


def mean_score(session: Session) -> float | None:
    """The mean of the experiment's measure over the answered items; None without any."""
    if session.condition is None:
        return None
    measure = session.experiment.measure_of(session.condition)
    values = (attempt.dialogue.scores.get(measure) for attempt in session.finished)
    scores = [value for value in values if value is not None]
    return sum(scores) / len(scores) if scores else None


def export_payments(study: Study, path: Path) -> list[float]:
    """Write what participants are paid, and return it: base pay, and a bonus from the score."""
    pay, contacts = study.experiment.pay, study.store.contacts()
    rows = []
    for participant in study.store.participants():
        session = study.session(participant)
        if session.stage not in ("done", "failed"):
            continue
        rows.append(
            vars(contacts.get(participant.id, NO_CONTACT))
            | {
                "code": participant.code,
                "stage": session.stage,
                "pay": getattr(pay, session.stage),
                "bonus": round(pay.bonus * (mean_score(session) or 0.0), 2),
                "currency": pay.currency,
            }
        )
    columns = ["name", "study", "session", "code", "stage", "pay", "bonus", "currency"]
    write_file(path, csv_table(rows, columns))
    return [row["pay"] + row["bonus"] for row in rows]


def export_episodes(study: Study, name: str, out: Path) -> dict[str, int]:
    """Write games as Minari datasets; returns the number of episodes by dataset name."""
    pages: dict[Page, list[Round]] = {}
    for participant in study.store.participants():
        for attempt in study.session(participant).finished:
            pages.setdefault(page_of(attempt.item.task.benchmark), []).append(attempt)
    written: dict[str, int] = {}
    for page, rounds in pages.items():
        written |= page.write_episodes(rounds, name, out)
    require(bool(written), "there are no finished games to write")
    return written


def _manifest(study: Study, tables: dict[str, list[Row]]) -> Row:
    """The manifest, with the planned analysis and the plans of adaptive conditions."""
    experiment, rows, adaptive = study.experiment, tables["participants.csv"], []
    for condition in experiment.conditions:
        plan, name = condition.plan, condition.name
        people = dict.fromkeys(row["participant"] for row in rows if row["condition"] == name)
        if plan is not None and people:
            plan = replace(plan, solvers=tuple(people), seed=experiment.seed)
            adaptive.append({"condition": name, **plan.config})
    return versions(condition.task.benchmark for condition in experiment.conditions) | {
        "kind": "people",
        "label": experiment.title,
        "participants": KINDS[study.kind],
        "adaptive": adaptive,
        ANALYSIS: analyse(experiment, rows, tables["trials.csv"]),
        "screens": screens_in_words(experiment),
    }


def attempts_of(
    study: Study, participant: Participant, session: Session, excluded: str = ""
) -> list[Attempt]:
    """The records of a participant."""
    attempts = []
    last_trials: dict[tuple[str, int | None], int] = {}
    for number, finished in enumerate(session.finished, start=1):
        seconds = sum(step.seconds for step in session.steps_of(number))
        attempt = finished.dialogue.attempt(study.person(participant), seconds=seconds)
        assert session.condition is not None
        item = (attempt.id, attempt.seed)
        # A small pool may repeat an item.
        attempt.trial = last_trials[item] = last_trials.get(item, -1) + 1
        attempt.groups |= {"condition": session.condition.name, "arm": session.condition.arm}
        attempt.groups |= {
            question.id: session.answers[question.id]
            for question in study.experiment.questions
            if question.kind == "choice" and question.id in session.answers
        }
        if any(allowed >= 0 for allowed in vars(study.experiment.exclude).values()):
            attempt.groups["excluded"] = excluded or "no"
        attempts.append(attempt)
    return attempts


def _threshold_columns(session: Session) -> Row:
    condition = session.condition
    if condition is None or condition.plan is None:
        return {}
    done = [attempt.dialogue for attempt in session.finished]
    estimate = fit_of(condition.plan, done).threshold()
    columns = {
        "threshold": estimate.value,
        "threshold_low": estimate.low,
        "threshold_high": estimate.high,
    }
    return {name: None if value is None else round(value, 4) for name, value in columns.items()}


def _trial_row(attempt: Attempt, number: int, steps: Sequence[TimedStep]) -> Row:
    reply, copied = attempt.reply, ("benchmark", "seed", "index", "digest", "kind")
    return {
        **attempt.scores,
        **{name: getattr(attempt, name) for name in copied},
        "trial": number,
        "item": attempt.id,
        "reply": reply if isinstance(reply, str) else (reply or [""])[-1],
        "onset": steps[0].onset,
        "seconds": round(sum(step.seconds for step in steps), 3),
    }
