"""Bodies of responses: what a model wrote, why it stopped and what it took, of every provider.

Chat completions, Responses, Anthropic's messages and Gemini's candidates are read alike, whether
they come from an endpoint or from a file of replies.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from trivium.core.dialogue import Reply
from trivium.core.records import LENGTH

# What reading a body that is not a response may raise.
MALFORMED = (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)
MAX_TOKENS = 2**53  # more than any reply has: a larger count is no count

# What providers call the same reasons, in the words of chat completions.
STOP_REASONS = {
    "max_output_tokens": LENGTH,
    "max_tokens": LENGTH,
    "model_length": LENGTH,
    "completed": "stop",
    "end_turn": "stop",
    "safety": "content_filter",
}
# Stop reasons of a call that failed on the way, whatever text it left.
BROKEN = {"error", "failed", "cancelled", "canceled", "abort", "aborted", "timeout"}
BROKEN |= {"insufficient_system_resource", "in_progress", "queued", "incomplete"}
# Codes of error bodies with which providers decline a prompt.
DECLINED_CODES = {"content_filter", "content_policy_violation", "invalid_prompt"}


def load_body(content: bytes) -> Any:
    """The JSON of a body."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        # The standard library accepts lone surrogates, which a model may well write, and NaN.
        return json.loads(content)


def read_body(body: Mapping[str, Any]) -> list[Reply]:
    """The reply of every choice in a body; one of MALFORMED where it is not a response."""
    usage = _usage(body.get("usage"))
    for key in ("choices", "candidates"):
        if key in body:
            choices = body[key]
            if len(choices) != 1:
                usage = {}  # of all together, and nothing says how much of it each one took
            return [_choice(choice, usage) for choice in choices]
    content = body["content"] if "content" in body else body["output"]
    details = body.get("incomplete_details") or {}
    stop = body.get("stop_reason") or details.get("reason") or body.get("status")
    return [_reply(content, stop, usage, error=body.get("error"))]


def read_error(content: bytes) -> tuple[str, str | None]:
    """The message and the code of an error's body; a declined prompt has the code "declined"."""
    try:
        body = load_body(content)
        error = body.get("error", body) if isinstance(body, dict) else body
        if not isinstance(error, dict):
            return str(error), None
        code = str(error.get("code"))
        reasons = (error.get("metadata") or {}).get("reasons")
        return error_message(error), "declined" if code in DECLINED_CODES or reasons else code
    except MALFORMED:
        return content[:500].decode("utf-8", "replace"), None


def error_message(error: Any) -> str:
    """What an error of a provider says."""
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or error.get("error") or error
    return str(error)


def _choice(choice: Mapping[str, Any], usage: dict[str, int]) -> Reply:
    """One choice of a chat completion, or one candidate of Gemini's."""
    stop = choice.get("finish_reason") or choice.get("finishReason")
    error = choice.get("error")
    if "text" in choice:  # of completions that are not chats
        return _reply(choice["text"], stop, usage, error=error)
    message = choice.get("message") or choice["content"]
    content = message.get("content", message.get("parts"))
    thought = message.get("reasoning_content") or message.get("reasoning")
    if not content and message.get("refusal"):
        content, stop = message["refusal"], "refusal"
    return _reply(content, stop, usage, thought, error)


def _reply(
    content: Any,
    stop: Any,
    usage: dict[str, int],
    thought: Any = None,
    error: Any = None,
) -> Reply:
    text, thoughts = "", [thought] if isinstance(thought, str) and thought else []
    for kind, piece in _pieces(content):
        if kind == "reasoning":
            thoughts.append(piece)
        else:
            text += piece
            stop = "refusal" if kind == "refusal" else stop
    reason = STOP_REASONS.get(stop.lower(), stop.lower()) if isinstance(stop, str) else None
    broken = None
    if reason in BROKEN:
        broken = f"the reply ended with {stop!r}" + (f": {error_message(error)}" if error else "")
    return Reply(text, usage, reason or None, "\n\n".join(thoughts) or None, broken)


def _pieces(content: Any) -> Iterator[tuple[str, str]]:
    """Yields (text, reasoning or refusal, what it says) of a content, which may be in parts."""
    if isinstance(content, str):
        yield "text", content
    elif isinstance(content, list):
        for part in content:
            thinking = part.get("thinking")
            if part.get("type") == "reasoning":
                inner = [*(part.get("summary") or []), *(part.get("content") or [])]
                yield from (("reasoning", one["text"]) for one in inner if one.get("text"))
            elif thinking:
                inner = [thinking] if isinstance(thinking, str) else thinking
                for one in inner:
                    yield "reasoning", one if isinstance(one, str) else one.get("text") or ""
            elif part.get("refusal"):
                yield "refusal", part["refusal"]
            else:
                yield from _pieces(part.get("text") or part.get("content"))
    elif content is not None:
        raise TypeError("the content is not text")


def _usage(usage: Any) -> dict[str, int]:
    """The tokens that a provider reports, whatever else it writes there."""
    counts = usage if isinstance(usage, dict) else {}
    for key in ("completion_tokens_details", "output_tokens_details"):
        if isinstance(counts.get(key), dict):
            counts = counts[key] | counts
    names = {
        "input_tokens": ("prompt_tokens", "input_tokens"),
        "output_tokens": ("completion_tokens", "output_tokens"),
        "reasoning_tokens": ("reasoning_tokens",),
    }
    return {
        name: int(counts[key])
        for name, keys in names.items()
        for key in keys
        if _is_count(counts.get(key))
    }


def _is_count(value: object) -> bool:
    """Whether a value is a number of tokens; 3.0 is, True, NaN and 2^64 are not."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 0 <= value < MAX_TOKENS and value == int(value)
