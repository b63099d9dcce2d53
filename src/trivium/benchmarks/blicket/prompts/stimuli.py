"""The paper's own prompts and printed replies, word for word."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import orjson


@dataclass(frozen=True)
class PrintedReply:
    """A reply of Appendix C with its line of Table 2, where a misprinted count is corrected."""

    model: str
    prompt: str
    hypotheses: str
    form: str
    reply: str
    right: int
    of: int
    wrong: int
    structure: str | None  # None if the table has a dash
    printed_of: int | None = None  # the count in the table, if it is impossible


@cache
def stimuli() -> dict[str, Any]:
    """The content of stimuli.json."""
    content: dict[str, Any] = orjson.loads(
        resources.files(__package__).joinpath("stimuli.json").read_bytes()
    )
    return content


def prompt_text(prompt: str, hypotheses: str, form: str) -> str:
    """One of the eight prompts."""
    parts = stimuli()["prompts"][prompt]
    paragraphs: list[str] = []
    for name in ("opening", hypotheses, form, "question"):
        pieces = parts.get(name, [])
        broken = f"{prompt} {name}" in stimuli()["page_breaks"]
        paragraphs += [" ".join(pieces)] if broken else pieces
    return "\n\n".join(paragraphs)


def printed_replies() -> list[PrintedReply]:
    """The twelve replies of Appendix C."""
    return [PrintedReply(**row) for row in stimuli()["replies"]]
