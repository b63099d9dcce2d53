"""The database of a study: participants, an append-only table of steps, and events."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import orjson

from trivium.core.errors import UserError, require
from trivium.people.steps import Step

DATABASE = "study.db"
SECRET = "secret.key"
EXPERIMENT = "experiment.toml"
ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"  # of codes, without characters that look alike
SCHEMA = """
CREATE TABLE IF NOT EXISTS participants (
    id INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, code TEXT UNIQUE NOT NULL,
    created REAL NOT NULL, seen REAL NOT NULL, condition TEXT, slot INTEGER, partner INTEGER,
    stage TEXT NOT NULL, browser TEXT NOT NULL, stratum TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS steps (
    participant INTEGER NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, value TEXT NOT NULL,
    outcome TEXT NOT NULL, server_time REAL NOT NULL, client_time REAL, seconds REAL,
    PRIMARY KEY (participant, number)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
    participant INTEGER NOT NULL, page TEXT NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL,
    detail TEXT NOT NULL, client_time REAL, server_time REAL NOT NULL,
    PRIMARY KEY (participant, page, number)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS contacts (
    participant INTEGER PRIMARY KEY, name TEXT NOT NULL, study TEXT NOT NULL,
    session TEXT NOT NULL) STRICT;
"""


@dataclass(frozen=True)
class Participant:
    """A row of the table of participants."""

    id: int
    key: str
    code: str
    created: float
    seen: float
    condition: str | None
    slot: int | None
    partner: int | None
    stage: str
    browser: str  # in which the participant started; empty: may continue in any
    stratum: str  # the answers to questions with a cap, as JSON


@dataclass(frozen=True)
class Event:
    """An event in the browser that is not a step, such as a change of tabs."""

    page: str
    number: int
    kind: str
    detail: str
    client_time: float | None
    server_time: float = 0.0


@dataclass(frozen=True)
class Contact:
    """The parameters with which a recruiting service names a participant."""

    name: str = ""
    study: str = ""
    session: str = ""


class Clock:
    """Seconds since 1970; while the process runs, changes of the system time have no effect."""

    def __init__(self, earliest: float) -> None:
        self._start, self._began = max(time.time(), earliest), time.monotonic()

    def __call__(self) -> float:
        return self._start + time.monotonic() - self._began


class Store:
    """The database in the folder of a study."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o700)  # other accounts cannot read what participants did
            self._secret = kept_secret(folder / SECRET, secrets.token_bytes(32))
            # Requests are handled in several threads, one transaction at a time.
            self._db = sqlite3.connect(
                folder / DATABASE, check_same_thread=False, isolation_level=None
            )
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute("PRAGMA secure_delete = ON")  # deleted data is overwritten
            self._db.executescript(SCHEMA)
        except (OSError, sqlite3.Error) as problem:
            raise UserError(f"{folder}: the study cannot be opened ({problem})") from None
        self._lock = threading.RLock()
        latest = self._rows("SELECT MAX(server_time) FROM steps")[0][0]
        self.clock: Callable[[], float] = Clock(latest or 0.0)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """An exclusive transaction."""
        with self._lock, self._db:  # which commits at the end, or rolls back
            self._db.execute("BEGIN IMMEDIATE")
            yield

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def keyed_hash(self, *parts: str) -> str:
        """A hash keyed with the study's secret."""
        return hmac.new(self._secret, "\0".join(parts).encode(), hashlib.sha256).hexdigest()

    def find(self, column: Literal["id", "key", "code"], value: Any) -> Participant | None:
        """The participant with this id, key or code."""
        rows = self._rows(f"SELECT * FROM participants WHERE {column} = ?", value)
        return Participant(*rows[0]) if rows else None

    def participants(self) -> list[Participant]:
        """All participants in the order of their first steps."""
        return [Participant(*row) for row in self._rows("SELECT * FROM participants ORDER BY id")]

    def add(self, key: str, browser: str) -> Participant:
        """Add a participant."""
        now, code = self.clock(), "".join(secrets.choice(ALPHABET) for _ in range(10))
        self._db.execute(
            "INSERT INTO participants VALUES (NULL, ?, ?, ?, ?, NULL, NULL, NULL, ?, ?, '{}')",
            (key, code, now, now, "consent", browser),
        )
        return self.participants()[-1]

    def steps(self, participant: int) -> list[Step]:
        """The steps of a participant in order."""
        rows = self._rows("SELECT * FROM steps WHERE participant = ? ORDER BY number", participant)
        return [
            Step(kind, orjson.loads(value), orjson.loads(outcome), *times)
            for _, _, kind, value, outcome, *times in rows
        ]

    def append(self, participant: int, number: int, step: Step) -> None:
        """Store a step; the table refuses a second step with the same number."""
        value, outcome = (orjson.dumps(part).decode() for part in (step.value, step.outcome))
        times = (step.server_time, step.client_time, step.seconds)
        row = (participant, number, step.kind, value, outcome, *times)
        self._db.execute("INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def update(self, participant: int, **columns: Any) -> None:
        """Change columns of a participant."""
        changes = ", ".join(f"{column} = ?" for column in columns)
        self._db.execute(
            f"UPDATE participants SET {changes} WHERE id = ?", (*columns.values(), participant)
        )

    def add_events(self, participant: int, events: Sequence[Event]) -> None:
        """Store events, ignoring those that are stored already."""
        stored = [replace(event, server_time=self.clock()) for event in events]
        rows = [(participant, *astuple(event)) for event in stored]
        self._db.executemany("INSERT OR IGNORE INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def events(self, participant: int) -> list[Event]:
        """The events of a participant in order."""
        rows = self._rows(
            "SELECT * FROM events WHERE participant = ? ORDER BY server_time, number", participant
        )
        return [Event(*row[1:]) for row in rows]

    def add_contact(self, participant: int, contact: Contact) -> None:
        """Store how a recruiting service names a participant."""
        row = (participant, *astuple(contact))
        self._db.execute("INSERT OR REPLACE INTO contacts VALUES (?, ?, ?, ?)", row)

    def contacts(self) -> dict[int, Contact]:
        """What recruiting services call the participants, by participant."""
        return {row[0]: Contact(*row[1:]) for row in self._rows("SELECT * FROM contacts")}

    def delete(self, participant: int) -> None:
        """Delete everything about a participant, also from the write-ahead log."""
        with self.transaction():
            for table in ("steps", "events", "contacts"):
                self._db.execute(f"DELETE FROM {table} WHERE participant = ?", (participant,))
            self._db.execute("DELETE FROM participants WHERE id = ?", (participant,))
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def delete_contacts(self) -> None:
        """Delete all names at recruiting services, also from the write-ahead log."""
        with self.transaction():
            self._db.execute("DELETE FROM contacts")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._db.execute(query, values).fetchall()


def kept_secret(path: Path, fresh: bytes) -> bytes:
    """The secret in a file that only its owner can read; a new file is created with `fresh`."""
    if not path.exists():
        path.touch(mode=0o600, exist_ok=False)
        path.write_bytes(fresh)
    secret = path.read_bytes()
    require(len(secret) == len(fresh), f"{path}: not a secret of {len(fresh)} bytes")
    return secret
