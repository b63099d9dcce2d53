"""Files: JSON Lines, atomic writes, appending after a crash, folder locks."""

from __future__ import annotations

import codecs
import dataclasses
import io
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from trivium.core.errors import UserError
from trivium.core.text import encodable, map_texts

PART = ".part"  # suffix of an incomplete file


def dump_line(row: Any) -> bytes:
    """A row, which may hold numpy scalars, as a line of JSON."""
    options = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY
    try:
        return orjson.dumps(row, option=options)
    except orjson.JSONEncodeError:
        # A reply may hold a lone surrogate, which UTF-8 cannot encode: it becomes U+FFFD.
        plain = isinstance(row, type) or not dataclasses.is_dataclass(row)
        fields = row if plain else dataclasses.asdict(row)
        return orjson.dumps(map_texts(fields, encodable), option=options)


def load_json(content: bytes, charset: str | None = None) -> Any:
    """The value in a JSON text, which may hold NaN, lone surrogates and bytes of no encoding."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        encoding = charset or json.detect_encoding(content)
        try:
            text = content.decode(encoding, "replace")
        except LookupError:  # no encoding of that name
            text = content.decode("utf-8", "replace")
        return map_texts(json.loads(text, strict=False), encodable)


def read_rows(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields (line number, object) of a JSON Lines file; blank lines are skipped."""
    with open_input(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.removeprefix(codecs.BOM_UTF8).strip():
                continue
            try:
                row = load_json(line)
            except (ValueError, RecursionError) as problem:
                raise UserError(f"{path} line {number}: not JSON ({problem})") from None
            if not isinstance(row, dict):
                raise UserError(f"{path} line {number}: expected an object")
            yield number, row


def read_text(path: Path) -> str:
    """The text in a file; UserError if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as problem:
        raise UserError(f"{path}: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8 text") from None


def open_input(path: str | Path) -> BinaryIO:
    """The file opened for reading; UserError if that fails."""
    try:
        return open(path, "rb")
    except OSError as problem:
        raise UserError(f"{path}: {problem.strerror}") from None


def open_output(path: str | Path, mode: str = "wb", called: str | Path | None = None) -> BinaryIO:
    """The file opened for writing in a folder that is created; errors name it `called`."""
    path = Path(path)
    with naming_errors(called or path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = _Output(path, mode, called or path)
    return io.BufferedRandom(file) if "+" in mode else io.BufferedWriter(file)


class _Output(io.FileIO):
    """A file whose write errors name it, such as those of a full disk."""

    def __init__(self, path: Path, mode: str, called: str | Path) -> None:
        self._called = called
        super().__init__(path, mode)

    def write(self, data: Any, /) -> int:
        with naming_errors(self._called):
            return super().write(data)

    def truncate(self, size: int | None = None) -> int:
        with naming_errors(self._called):
            return super().truncate(size)

    def close(self) -> None:
        with naming_errors(self._called):  # some file systems report a full disk only here
            super().close()


@contextmanager
def naming_errors(path: object) -> Iterator[None]:
    """Turns an OSError into a UserError that names the file."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader went away, which is not an error
    except FileExistsError:  # a parent folder is a file
        raise UserError(f"{path}: cannot be written (Not a directory)") from None
    except OSError as problem:
        raise UserError(f"{path}: cannot be written ({problem.strerror})") from None


@contextmanager
def atomic_write(path: str | Path, *, sync: bool = False) -> Iterator[BinaryIO]:
    """The file opened for writing under a temporary name, renamed when it is complete.

    With `sync` it is synced to disk before it replaces the old file.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        # A rename would replace a pipe or a device with a file.
        with open_output(path) as file:
            yield file
        return
    target = path.resolve()  # a link stays a link
    partial = target.with_name(target.name + PART)
    try:
        with open_output(partial, called=path) as file:
            yield file
        if sync:
            sync_file(partial)
        with naming_errors(path):
            partial.replace(target)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise


def sync_file(path: Path) -> None:
    """Sync a file to disk, where its file system supports it."""
    with open_input(path) as file, suppress(OSError):
        os.fsync(file.fileno())


def write_file(path: str | Path, content: bytes | str) -> None:
    """Write a file atomically."""
    with atomic_write(path) as file:
        file.write(content.encode("utf-8", "replace") if isinstance(content, str) else content)


def write_json(path: str | Path, value: Any) -> None:
    """Write a JSON file atomically."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE
    write_file(path, orjson.dumps(value, option=options))


class Appender:
    """Appends rows to a file, flushed when `add` returns; an incomplete last line is cut off."""

    def __init__(self, path: str | Path) -> None:
        self._file = open_output(path, "ab+")
        _cut_incomplete_line(self._file)

    def add(self, rows: Iterable[Any]) -> None:
        """Write the rows and flush them to the operating system."""
        self._file.write(b"".join(map(dump_line, rows)))
        self._file.flush()

    def __enter__(self) -> Appender:
        return self

    def __exit__(self, *problem: object) -> None:
        self._file.close()


def _cut_incomplete_line(file: BinaryIO) -> None:
    """Drop an incomplete last line, which a killed writer may have left."""
    end = position = file.seek(0, os.SEEK_END)
    block = 1 << 16
    while position > 0:
        position = max(0, position - block)
        file.seek(position)
        found = file.read(min(block, end - position)).rfind(b"\n")
        if found >= 0:
            position += found + 1
            break
    file.truncate(position)
    file.seek(0, os.SEEK_END)


@contextmanager
def locked(folder: Path, flag: str = "--out") -> Iterator[None]:
    """Lock a folder, which `flag` names, against other processes until this one ends."""
    busy = f"{folder}: another process is working there; choose another folder with {flag}"
    with open_output(folder / ".lock", called=folder) as file:
        with suppress(ImportError):
            import fcntl  # noqa: PLC0415 - not available on every system

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # until the file is closed
            except OSError:
                raise UserError(busy) from None
        yield
