"""The data of a study: records, tidy tables with a dictionary, and Minari datasets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import orjson

from trivium.core.errors import require
from trivium.core.files import atomic_write, dump_line, write_json
from trivium.core.records import MANIFEST, RECORDS, Attempt
from trivium.core.text import csv_text
from trivium.evaluation.evaluation import versions
from trivium.people.adaptive import fit_of
from trivium.people.experiment import Experiment
from trivium.people.pages import Page, Round, Tables, page_of, read_tables
from trivium.people.session import Session
from trivium.people.store import Participant
from trivium.people.study import Study
from trivium.thresholds.search import ThresholdPlan

Row = dict[str, Any]
TABLES = read_tables("trivium.people")
DICTIONARY = "dictionary.csv"


def tables_of(experiment: Experiment) -> Tables:
    """The tables of an experiment: the common ones, and those of its pages."""
    tables = dict(TABLES)
    for one in experiment.conditions:
        tables |= page_of(one.task.benchmark).tables
    return tables


def export_files(experiment: Experiment) -> tuple[str, ...]:
    """The names of all files that an export writes."""
    return (RECORDS, MANIFEST, *tables_of(experiment), DICTIONARY)


def export_study(study: Study, out: Path) -> int:
    """Write the data of a study; returns the number of records."""
    attempts: list[Attempt] = []
    tables = tables_of(study.experiment)
    rows: dict[str, list[Row]] = {name: [] for name in tables}
    for one in study.store.participants():
        session = study.session(one)
        made = attempts_of(study, one, session)
        whose = {"participant": study.person(one), "condition": one.condition or ""}
        attempts += made
        found: dict[str, Iterable[Row]] = {
            "participants.csv": [_participant(one, session)],
            "answers.csv": map(_answer, made),
            "steps.csv": [
                {**vars(step), "number": number, "value": orjson.dumps(step.value).decode()}
                for number, step in enumerate(study.store.steps(one.id))
            ],
            "events.csv": map(vars, study.store.events(one.id)),
        }
        pages = [
            page_of(each.item.task.benchmark).rows(
                each, [step for step in session.timeline if step.item == number]
            )
            for number, each in enumerate(session.rounds, start=1)
        ]
        for name, own in (pair for each in (found, *pages) for pair in each.items()):
            rows[name] += [whose | row for row in own]
    with atomic_write(out / RECORDS) as file:
        file.writelines(map(dump_line, attempts))
    write_json(out / MANIFEST, _manifest(study.experiment, rows["participants.csv"]))
    for name, columns in tables.items():
        _write_table(out / name, list(columns), rows[name])
    meanings = [
        {"file": name, "column": column, "meaning": meaning}
        for name, columns in tables.items()
        for column, meaning in columns.items()
    ]
    _write_table(out / DICTIONARY, ["file", "column", "meaning"], meanings)
    return len(attempts)


def export_episodes(study: Study, name: str, out: Path) -> dict[str, int]:
    """Write games as Minari datasets; returns the number of episodes of each."""
    pages: dict[Page, list[Round]] = {}
    for person in study.store.participants():
        for one in study.session(person).finished:
            pages.setdefault(page_of(one.item.task.benchmark), []).append(one)
    written: dict[str, int] = {}
    for page, rounds in pages.items():
        written |= page.write_episodes(rounds, name, out)
    require(bool(written), "there are no finished games to write")
    return written


def _manifest(experiment: Experiment, people: Sequence[Row]) -> Row:
    """The manifest, with what the report needs to compute the participants' thresholds."""
    adaptive = []
    for one in experiment.conditions:
        names = dict.fromkeys(row["participant"] for row in people if row["condition"] == one.name)
        if one.axis is not None and names:
            plan = ThresholdPlan(one.task, one.axis, solvers=tuple(names), seed=experiment.seed)
            adaptive.append({"condition": one.name, **plan.config})
    about = versions(one.task.benchmark for one in experiment.conditions)
    return about | {"kind": "people", "label": experiment.title, "adaptive": adaptive}


def attempts_of(study: Study, participant: Participant, session: Session) -> list[Attempt]:
    """The records of a participant."""
    made = []
    seen: dict[tuple[str, int | None], int] = {}
    for one in session.finished:
        attempt = one.dialogue.attempt(study.person(participant), seconds=one.ended - one.started)
        assert session.condition is not None
        key = (attempt.id, attempt.seed)
        attempt.trial = seen[key] = seen.get(key, -1) + 1  # a small pool may repeat an item
        attempt.groups |= {"condition": session.condition.name, "arm": session.condition.arm}
        attempt.groups |= {
            one.id: session.answers[one.id]
            for one in study.experiment.questions
            if one.kind == "choice" and one.id in session.answers
        }
        made.append(attempt)
    return made


def _participant(one: Participant, session: Session) -> Row:
    return {
        "arm": session.condition.arm if session.condition else "",
        "stage": session.stage,
        "created": one.created,
        "last_step": one.seen,
        "failed_checks": session.failed_checks,
        "answers": orjson.dumps(session.answers).decode(),
        **_threshold(session),
    }


def _threshold(session: Session) -> Row:
    condition = session.condition
    if condition is None or condition.axis is None:
        return {}
    done = [one.dialogue for one in session.finished]
    found = fit_of(condition.task, condition.axis, done).threshold()
    ends = {"threshold": found.value, "threshold_low": found.low, "threshold_high": found.high}
    return {key: None if end is None else round(end, 4) for key, end in ends.items()}


def _answer(attempt: Attempt) -> Row:
    reply = attempt.reply
    return {
        "benchmark": attempt.benchmark,
        "item": attempt.id,
        "seed": attempt.seed,
        "index": attempt.index,
        "reply": reply if isinstance(reply, str) else (reply or [""])[-1],
        "kind": attempt.kind,
        "headline": next(iter(attempt.scores.values()), None),
        "seconds": attempt.seconds,
    }


def _write_table(path: Path, columns: list[str], rows: Iterable[Row]) -> None:
    with atomic_write(path) as file:
        file.write(csv_text([columns, *([row.get(name) for name in columns] for row in rows)]))
