"""Base models: a dialogue as one text that ends where the reply begins, for `/completions`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trivium.models.settings import Settings

USER, ASSISTANT = "User:", "Assistant:"
MAX_TOKENS = 1024  # of a reply without a limit of the user's: these endpoints stop after 16
CHAT_ONLY = ("messages", "max_completion_tokens", "reasoning_effort", "response_format", "tools")


def completion_body(chat: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """The body of a completion request that asks what this chat request asks."""
    limit = chat.get("max_completion_tokens") or chat.get("max_tokens") or MAX_TOKENS
    kept = {name: value for name, value in chat.items() if name not in CHAT_ONLY}
    stop = settings.stop or ((f"\n{USER}",) if settings.template is None else ())
    ends = {"stop": list(stop)} if stop else {}
    return kept | {"prompt": _text(chat["messages"], settings), "max_tokens": limit} | ends


def _text(turns: Iterable[Mapping[str, Any]], settings: Settings) -> str:
    """The preamble, the system message and the turns; a template says itself how a turn ends."""
    named = settings.template is None
    parts = [] if settings.preamble is None else [f"{settings.preamble}\n\n"]
    for turn in turns:
        text = turn["content"]
        if isinstance(text, list):  # of parts
            text = "".join(part.get("text", "") for part in text)
        if turn["role"] == "user":
            parts.append(f"{USER} {text}\n\n{ASSISTANT}" if named else text)
        elif turn["role"] == "assistant":
            parts.append(f" {text.strip()}\n\n")
        else:
            parts.append(f"{text}\n\n")
    return "".join(parts)
