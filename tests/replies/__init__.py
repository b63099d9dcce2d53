"""Replies of models, with what is read in each."""

from __future__ import annotations

from typing import Any


def with_windows_line_ends(case: dict[str, Any]) -> dict[str, Any]:
    """The same case, its lines ended as on Windows."""
    return {**case, "reply": "\r\n".join(case["reply"].splitlines())}
