"""The server is killed while people take part."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

pytest.importorskip("uvicorn")
from tests.people.kills import run


def test_nothing_is_lost_or_counted_twice_when_the_server_is_killed(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = asyncio.run(run(tmp_path, people=8, at_once=4, kills=2, port=port))
    assert (found.lost, found.doubled) == (0, 0)
    assert sorted(found.conditions.values()) == [2, 2, 2, 2]
    assert found.kills >= 1
