"""JSON Lines files: read with line numbers, written whole or appended after a crash."""

from __future__ import annotations

import dataclasses
import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import orjson

from trivium.core.errors import UserError


def dump_line(row: Any) -> bytes:
    """One row as a line of JSON, lone surrogates and numpy scalars included."""
    options = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY
    try:
        return orjson.dumps(row, option=options)
    except orjson.JSONEncodeError:
        # A reply may hold half a character, which UTF-8 cannot: it is kept as U+FFFD.
        return orjson.dumps(_without_surrogates(row), option=options)


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _without_surrogates(dataclasses.asdict(value))
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_surrogates(part) for part in value]
    return value


def read_rows(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects in a JSON Lines file with their line numbers, from 1; blank lines are skipped."""
    with open_input(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError as problem:
                raise UserError(f"{path} line {number}: not JSON ({problem})") from None
            if not isinstance(row, dict):
                raise UserError(f"{path} line {number}: expected an object")
            yield number, row


def open_input(path: str | Path) -> BinaryIO:
    """The file for reading, or a sentence."""
    try:
        return open(path, "rb")
    except OSError as problem:
        raise UserError(f"{path}: {problem.strerror}") from None


def open_output(path: str | Path, mode: str = "wb", called: str | Path | None = None) -> BinaryIO:
    """The file for writing, its folder made, or a sentence with what the user calls it."""
    path = Path(path)
    with _naming(called or path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = _Output(path, mode, called or path)
    return io.BufferedRandom(file) if "+" in mode else io.BufferedWriter(file)


class _Output(io.FileIO):
    """A file that says its name when it cannot be written: a full disk is found in the middle."""

    def __init__(self, path: Path, mode: str, called: str | Path) -> None:
        self._called = called
        super().__init__(path, mode)

    def write(self, data: Any, /) -> int:
        with _naming(self._called):
            return super().write(data)

    def truncate(self, size: int | None = None) -> int:
        with _naming(self._called):
            return super().truncate(size)

    def close(self) -> None:
        with _naming(self._called):  # some file systems tell of a full disk as late as here
            super().close()


@contextmanager
def _naming(path: object) -> Iterator[None]:
    """What the system says of a file that cannot be written, as a sentence with its name."""
    try:
        yield
    except BrokenPipeError:
        raise  # nobody reads any more, which is no mistake
    except FileExistsError:  # what should be one of its folders is a file
        raise UserError(f"{path}: cannot be written (Not a directory)") from None
    except OSError as problem:
        raise UserError(f"{path}: cannot be written ({problem.strerror})") from None


@contextmanager
def atomic_write(path: str | Path) -> Iterator[BinaryIO]:
    """The file for writing, under another name until it is whole: no reader sees half of it."""
    path = Path(path)
    if path.exists() and not path.is_file():
        # A pipe or a device must be written into: a rename would put a file in its place.
        with open_output(path) as file:
            yield file
        return
    whole = path.resolve()  # a link stays one
    partial = whole.with_name(whole.name + ".part")
    try:
        with open_output(partial, called=path) as file:
            yield file
        with _naming(path):
            partial.replace(whole)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise


def write_json(path: str | Path, value: Any) -> None:
    """A JSON file, put in place in one step so that no reader sees half of it."""
    with atomic_write(path) as file:
        file.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY))
        file.write(b"\n")


class Appender:
    """Appends rows to a file, each on disk when `add` returns; half a last line is cut off."""

    def __init__(self, path: str | Path) -> None:
        self._file = open_output(path, "ab+")
        _cut_half_line(self._file)

    def add(self, rows: Iterable[Any]) -> None:
        """Write the rows and hand them to the operating system."""
        self._file.write(b"".join(map(dump_line, rows)))
        self._file.flush()

    def __enter__(self) -> Appender:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()


def _cut_half_line(file: BinaryIO) -> None:
    """Drop what follows the last line end: the trace of a killed writer."""
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
