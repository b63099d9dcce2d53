"""Studies are closed after every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.people.client import OPENED


@pytest.fixture(autouse=True)
def _close_studies() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().store.close()
