"""Every test starts without knowing what other tests' servers support."""

from __future__ import annotations

import pytest

from trivium.models.endpoint import Endpoint


@pytest.fixture(autouse=True)
def _forget_protocols(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Endpoint, "_protocols", {})
