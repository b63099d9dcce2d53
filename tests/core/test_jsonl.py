"""Files are put in place whole; what is not a plain file is written into."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from trivium.core.errors import UserError
from trivium.core.files import atomic_write, open_output, read_rows, write_json


def test_a_pipe_is_written_into_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_json(pipe, {"a": 1})
    reader.join(timeout=10)
    assert read == [b'{\n  "a": 1\n}\n']
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_link_is_followed_and_stays_one(tmp_path: Path) -> None:
    file, link = tmp_path / "file.json", tmp_path / "link.json"
    file.write_text("before")
    link.symlink_to(file)
    write_json(link, [])
    assert link.is_symlink()
    assert file.read_text() == "[]\n"


def test_no_reader_sees_half_a_file_and_nothing_is_left_behind(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")

    def fail() -> None:
        with atomic_write(path) as file:
            file.write(b"half")
            assert path.read_text() == "before"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "before"
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_a_folder_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be written"), atomic_write(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_becomes_a_folder_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with pytest.raises(UserError, match="file: cannot be written"), atomic_write(path):
        path.mkdir()
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_a_path_below_a_file_is_refused_by_its_name_or_by_the_one_that_the_user_knows(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()
    below = tmp_path / "file" / "rows.jsonl"
    for called, name in ((None, "rows.jsonl"), ("runs/mine", "runs/mine")):
        with pytest.raises(UserError, match=f"{name}: cannot be written"):
            open_output(below, called=called)


def test_rows_are_read_around_blank_lines_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'\xef\xbb\xbf\r\n{"a": 1}\r\n \t\r\n\xef\xbb\xbf{"a": 2}')
    assert list(read_rows(path)) == [(2, {"a": 1}), (4, {"a": 2})]
