"""Fixtures: no test knows the protocols that other tests detected."""

from __future__ import annotations

from pathlib import Path

import pytest

from trivium.models.endpoint import Endpoint

# Dropped connections leave sockets open in the test servers.
LEFT = ("ignore:unclosed transport:ResourceWarning", "ignore:unclosed <socket:ResourceWarning")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            for warning in LEFT:
                item.add_marker(pytest.mark.filterwarnings(warning))


@pytest.fixture(autouse=True)
def _forget_protocols(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Endpoint, "_protocols", {})
