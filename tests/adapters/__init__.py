"""Tests of the adapters; those for a library are run where it is installed (make test-adapters)."""

from __future__ import annotations

import os
from typing import Any

import pytest


def required(module: str) -> Any:
    """The module; its tests are skipped without it, unless TRIVIUM_REQUIRED names it."""
    if module.split(".", maxsplit=1)[0] in os.environ.get("TRIVIUM_REQUIRED", "").split():
        __import__(module)
    return pytest.importorskip(module, reason=f"{module} is not here: make check runs this too")
