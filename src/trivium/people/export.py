"""The data of a study: records as of any solver, tidy tables with a dictionary, trajectories."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from trivium.benchmarks.blicket.game.score import exploration_kinds, trajectory
from trivium.core.errors import require
from trivium.core.files import atomic_write, dump_line, write_json
from trivium.core.records import MANIFEST, RECORDS, Attempt
from trivium.people.adaptive import posterior_of
from trivium.people.experiment import GAME, Experiment
from trivium.people.rounds import Round
from trivium.people.session import Session
from trivium.people.store import Participant
from trivium.people.study import Study
from trivium.thresholds.search import ThresholdPlan

Row = dict[str, Any]
# Every table and its columns, with what they mean: the data dictionary.
TABLES: dict[str, dict[str, str]] = {
    "participants.csv": {
        "participant": "the person's name in records, a keyed hash",
        "condition": "the name of the condition in the experiment file",
        "arm": "active (chose tests), passive (saw a program's), yoked (saw another person's)",
        "stage": "where the person is or stopped; done is completed",
        "created": "server time of the first step, seconds since 1970",
        "last_step": "server time of the last step, seconds since 1970",
        "failed_checks": "how often the questions about the instructions were answered wrong",
        "answers": "the answers to the experiment's own questions, as JSON",
        "threshold": "where the person's lift falls to 0.5, in conditions with vary",
        "threshold_low": "the lower end of its 95% interval; empty: below the values",
        "threshold_high": "the upper end; empty: above the values",
    },
    "tests.csv": {
        "participant": "the person's name in records",
        "condition": "the name of the condition",
        "item": "the id of the item",
        "seed": "the seed of the item",
        "index": "the index of the item",
        "machine": "the true machine, such as conjunctive:AB",
        "test": "the number of the test, from 1",
        "objects": "the letters of the objects on the machine; empty for none",
        "light": "1 where the machine lit up, else 0",
        "bits": "bits of information that the test gave",
        "best_bits": "expected bits of the best possible test at that point",
        "kind": "single (one object), combination (several), empty, or repeat (of an earlier test)",
    },
    "answers.csv": {
        "participant": "the person's name in records",
        "condition": "the name of the condition",
        "benchmark": "the benchmark",
        "item": "the id of the item",
        "seed": "the seed of the item",
        "index": "the index of the item",
        "reply": "the last reply, in the form that models use",
        "kind": "right, or what kind of wrong answer",
        "headline": "the value of the benchmark's first metric",
        "seconds": "server time from the first screen of the item to its answer",
    },
    "steps.csv": {
        "participant": "the person's name in records",
        "number": "the number of the step, from 0",
        "kind": "what was done: toggle, press, next, object, form, reply, ...",
        "value": "with which value, as JSON",
        "server_time": "when the server stored it, seconds since 1970",
        "client_time": "when the browser sent it, seconds since 1970",
    },
    "events.csv": {
        "participant": "the person's name in records",
        "page": "which visit of the page it belongs to",
        "number": "the number of the event on that visit",
        "kind": "hidden, visible, blur, focus, paste, drag",
        "detail": "such as the number of pasted characters",
        "server_time": "when the server stored it, seconds since 1970",
        "client_time": "when it happened, seconds since 1970",
    },
}
DICTIONARY = "dictionary.csv"
EXPORTS = (RECORDS, MANIFEST, *TABLES, DICTIONARY)


def export_study(study: Study, out: Path) -> int:
    """Write every file of a study; returns the number of records."""
    attempts: list[Attempt] = []
    rows: dict[str, list[Row]] = {name: [] for name in TABLES}
    for one in study.store.participants():
        session = study.session(one)
        person = {"participant": study.person(one)}
        condition = {"condition": one.condition or ""}
        rows["participants.csv"].append(person | condition | _participant(one, session))
        rows["tests.csv"] += [person | condition | row for row in _tests(session)]
        made = attempts_of(study, one, session)
        attempts += made
        rows["answers.csv"] += [person | condition | _answer(each) for each in made]
        rows["steps.csv"] += [
            person
            | {"number": number, "kind": step.kind, "value": orjson.dumps(step.value).decode()}
            | {"server_time": step.server_time, "client_time": step.client_time}
            for number, step in enumerate(study.store.steps(one.id))
        ]
        rows["events.csv"] += [person | vars(event) for event in study.store.events(one.id)]
    with atomic_write(out / RECORDS) as file:
        file.writelines(map(dump_line, attempts))
    write_json(out / MANIFEST, _manifest(study.experiment, rows["participants.csv"]))
    for name, columns in TABLES.items():
        _write_table(out / name, list(columns), rows[name])
    meanings = [
        {"file": name, "column": column, "meaning": meaning}
        for name, columns in TABLES.items()
        for column, meaning in columns.items()
    ]
    _write_table(out / DICTIONARY, ["file", "column", "meaning"], meanings)
    return len(attempts)


def _manifest(experiment: Experiment, people: Sequence[Row]) -> Row:
    """What the report needs to know: whose thresholds were looked for, and along what."""
    adaptive = []
    for one in experiment.conditions:
        names = dict.fromkeys(row["participant"] for row in people if row["condition"] == one.name)
        if one.axis is not None and names:
            plan = ThresholdPlan(one.task, one.axis, solvers=tuple(names), seed=experiment.seed)
            adaptive.append({"condition": one.name, **plan.config})
    return {"kind": "people", "label": experiment.title, "adaptive": adaptive}


def attempts_of(study: Study, participant: Participant, session: Session) -> list[Attempt]:
    """The records of a person: what a solver with the same replies would get."""
    made = []
    seen: dict[tuple[str, int | None], int] = {}
    for one in session.finished:
        attempt = one.dialogue.attempt(study.person(participant), seconds=one.ended - one.started)
        assert session.condition is not None
        key = (attempt.id, attempt.seed)
        attempt.trial = seen[key] = seen.get(key, -1) + 1  # a small pool may repeat an item
        attempt.groups |= {"condition": session.condition.name, "arm": session.condition.arm}
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
    found = posterior_of(condition.task, condition.axis, done).threshold()
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


def _tests(session: Session) -> Iterator[Row]:
    """Every test of the games of a session with what it was worth."""
    for one in session.rounds:
        if one.item.task.benchmark.name == GAME:
            yield from _round_tests(one)


def _round_tests(one: Round) -> Iterator[Row]:
    item, made = one.item.content, tuple(one.game.tests)
    steps, kinds = trajectory(item.spec, made).steps, exploration_kinds(made)
    rows = zip(made, steps, kinds, strict=True)
    for number, ((placed, light), step, kind) in enumerate(rows):
        yield {
            "item": item.id,
            "seed": item.origin.seed,
            "index": item.origin.index,
            "machine": item.truth,
            "test": number + 1,
            "objects": placed,
            "light": int(light),
            "bits": round(step.bits, 6),
            "best_bits": round(step.best_gain, 6),
            "kind": kind,
        }


def _write_table(path: Path, columns: list[str], rows: Iterable[Row]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _safe(value) for key, value in row.items()} for row in rows)
    with atomic_write(path) as file:
        file.write(text.getvalue().encode())


def _safe(value: Any) -> Any:
    """Text that no spreadsheet takes for a formula."""
    risky = isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r", "\n")
    return f"'{value}" if risky else value


def delete_participant(study: Study, code: str) -> None:
    """Remove a participant by the code shown at the end, or by the name in the link."""
    by_code = study.store.find("code", code.strip().upper())
    found = study.known_as(code) if by_code is None else [by_code]
    require(bool(found), f"there is no participant with the code {code!r}")
    for one in found:
        study.store.delete(one.id)
