"""The command line called from tests."""

from __future__ import annotations

from pathlib import Path

from trivium.cli import main

ITEMS = "nhop_implicit --items 5 --seed 3"


def run(words: str, *more: str) -> int:
    """The exit status of a call."""
    return main([*words.split(), *more])


def write(path: Path, text: str) -> Path:
    """The path, with this text in it."""
    path.write_text(text)
    return path
