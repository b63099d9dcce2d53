"""The data of a study: records, tidy tables with a dictionary, and Minari datasets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import orjson

from trivium.core.errors import require
from trivium.core.files import atomic_write, dump_line, write_json
from trivium.core.records import MANIFEST, RECORDS, Attempt
from trivium.core.text import csv_text
from trivium.evaluation.evaluation import versions
from trivium.people.adaptive import fit_of
from trivium.people.analysis import Row, analyse, behaviour, excluded_by, screens_of
from trivium.people.experiment import Experiment
from trivium.people.pages import Page, Round, page_of
from trivium.people.session import Session
from trivium.people.steps import TimedStep
from trivium.people.store import Participant
from trivium.people.study import KINDS, Study
from trivium.people.walkthrough import screens_in_words
from trivium.thresholds.search import ThresholdPlan

DICTIONARY = "dictionary.csv"
ANALYSIS = "analysis"  # in the manifest
_MISSING = "an empty cell"  # reads as missing everywhere without a hint


def export_files(experiment: Experiment) -> tuple[str, ...]:
    """The names of all files that an export writes."""
    return (RECORDS, MANIFEST, *experiment.tables, DICTIONARY)


def export_study(study: Study, out: Path) -> int:
    """Write the data of a study; returns the number of records."""
    attempts, tables = list[Attempt](), study.experiment.tables
    rows: dict[str, list[Row]] = {name: [] for name in tables}
    for one in study.store.participants():
        made, own = _exported(study, one)
        attempts += made
        for name, found in own.items():
            rows[name] += found
    with atomic_write(out / RECORDS) as file:
        file.writelines(map(dump_line, attempts))
    write_json(out / MANIFEST, _manifest(study, rows))
    for name, columns in tables.items():
        _write_table(out / name, list(columns), rows[name])
    meanings = [
        {"file": name, "column": column, "type": kind, "meaning": meaning, "missing": _MISSING}
        for name, columns in tables.items()
        for column, (kind, meaning) in columns.items()
    ]
    _write_table(out / DICTIONARY, ["file", "column", "type", "meaning", "missing"], meanings)
    return len(attempts)


def _exported(study: Study, one: Participant) -> tuple[list[Attempt], dict[str, list[Row]]]:
    """The records of a participant, and the rows of every table."""
    experiment, session, events = study.experiment, study.session(one), study.store.events(one.id)
    taken = study.store.steps(one.id)
    counts = behaviour(session, taken, events)
    excluded = excluded_by(experiment, counts)
    made = attempts_of(study, one, session, "+".join(excluded))
    name = {"participant": study.person(one), "condition": one.condition}
    who = name | {
        "source": study.kind,
        "arm": session.condition and session.condition.arm,
        "excluded": "+".join(excluded) or "no",
        **(session.condition.factors if session.condition else {}),
        **session.answers,
    }
    partner = study.store.find("id", one.partner)
    rows: dict[str, list[Row]] = {
        "participants.csv": [
            counts
            | who
            | {
                "place": one.slot,
                "partner": study.person(partner) if partner else None,
                "stage": session.stage,
                "started": one.created,
                "last_step": one.seen,
                "seconds": round(sum(step.seconds for step in session.timeline), 3),
                "score": mean_score(session),
                "sound": next((e.detail for e in reversed(events) if e.kind == "sound"), None),
            }
            | _threshold(session)
        ],
        "trials.csv": [],
        "screens.csv": [name | row for row in screens_of(session)],
        "steps.csv": [
            name | vars(step) | {"number": number, "value": orjson.dumps(step.value).decode()}
            for number, step in enumerate(taken)
        ],
        "events.csv": [name | vars(event) for event in events],
    }
    for number, own in enumerate(session.rounds, start=1):
        steps = session.steps_of(number)
        found = page_of(own.item.task.benchmark).rows(own, steps)
        for table, listed in found.items():
            if table != "trials.csv":
                rows.setdefault(table, []).extend(name | {"trial": number} | row for row in listed)
        if number <= len(made):
            more = next(iter(found.get("trials.csv", ())), {})
            rows["trials.csv"].append(who | more | _trial(made[number - 1], number, steps))
    return made, rows


def mean_score(session: Session) -> float | None:
    """The mean of the experiment's measure over the answered items; None without any."""
    if session.condition is None:
        return None
    measure = session.experiment.measure_of(session.condition)
    found = (one.dialogue.scores.get(measure) for one in session.finished)
    scores = [score for score in found if score is not None]
    return sum(scores) / len(scores) if scores else None


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


def _manifest(study: Study, tables: dict[str, list[Row]]) -> Row:
    """The manifest, with the planned analysis and what thresholds are computed from."""
    experiment, rows, adaptive = study.experiment, tables["participants.csv"], []
    for one in experiment.conditions:
        names = dict.fromkeys(row["participant"] for row in rows if row["condition"] == one.name)
        if one.axis is not None and names:
            plan = ThresholdPlan(one.task, (one.axis,), solvers=tuple(names), seed=experiment.seed)
            adaptive.append({"condition": one.name, **plan.config})
    about = versions(one.task.benchmark for one in experiment.conditions)
    return about | {
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
    made = []
    seen: dict[tuple[str, int | None], int] = {}
    for number, one in enumerate(session.finished, start=1):
        seconds = sum(step.seconds for step in session.steps_of(number))
        attempt = one.dialogue.attempt(study.person(participant), seconds=seconds)
        assert session.condition is not None
        key = (attempt.id, attempt.seed)
        attempt.trial = seen[key] = seen.get(key, -1) + 1  # a small pool may repeat an item
        attempt.groups |= {"condition": session.condition.name, "arm": session.condition.arm}
        attempt.groups |= {
            one.id: session.answers[one.id]
            for one in study.experiment.questions
            if one.kind == "choice" and one.id in session.answers
        }
        if any(allowed >= 0 for allowed in vars(study.experiment.exclude).values()):
            attempt.groups["excluded"] = excluded or "no"
        made.append(attempt)
    return made


def _threshold(session: Session) -> Row:
    condition = session.condition
    if condition is None or condition.axis is None:
        return {}
    done = [one.dialogue for one in session.finished]
    found = fit_of(condition.task, condition.axis, done).threshold()
    ends = {"threshold": found.value, "threshold_low": found.low, "threshold_high": found.high}
    return {key: None if end is None else round(end, 4) for key, end in ends.items()}


def _trial(attempt: Attempt, number: int, steps: Sequence[TimedStep]) -> Row:
    reply, same = attempt.reply, ("benchmark", "seed", "index", "digest", "kind")
    return {
        **attempt.scores,
        **{name: getattr(attempt, name) for name in same},
        "trial": number,
        "item": attempt.id,
        "reply": reply if isinstance(reply, str) else (reply or [""])[-1],
        "onset": steps[0].onset,
        "seconds": round(sum(step.seconds for step in steps), 3),
    }


def _write_table(path: Path, columns: list[str], rows: Iterable[Row]) -> None:
    with atomic_write(path) as file:
        file.write(csv_text([columns, *([row.get(name) for name in columns] for row in rows)]))
