"""The two protocols of OpenAI-compatible servers: requests written, replies read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from trivium.core.dialogue import Reply
from trivium.core.records import LENGTH
from trivium.models.calls import CallError
from trivium.models.settings import Model, read_extra_body

Protocol = Literal["responses", "chat"]
Turns = list[dict[str, str]]
MALFORMED = (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)
MAX_TOKENS = 2**53  # more than any reply has: a larger count is no count

# What providers call the same reasons, in the words of chat completions.
STOP_REASONS = {
    "max_output_tokens": LENGTH,
    "max_tokens": LENGTH,
    "model_length": LENGTH,
    "completed": "stop",
}
# Stop reasons of a call that failed on the way, whatever text it left.
BROKEN = {"error", "failed", "cancelled", "canceled", "abort", "aborted", "timeout"}
BROKEN |= {"insufficient_system_resource", "in_progress", "queued", "incomplete"}
# Codes of error bodies with which providers decline a prompt.
DECLINED = {"content_filter", "content_policy_violation", "invalid_prompt"}


@dataclass(frozen=True)
class Spoken:
    """How a protocol is spoken."""

    path: str
    write: Callable[[Model, Turns, str | None], dict[str, Any]]
    read: Callable[[Mapping[str, Any]], Reply]


def request_body(protocol: Protocol, model: Model, turns: Turns, system: str | None) -> bytes:
    """The body of a request, with what the user wants to add to it."""
    body = PROTOCOLS[protocol].write(model, turns, system)
    if model.settings.temp is not None:
        body["temperature"] = model.settings.temp
    return orjson.dumps(merged(body, read_extra_body(model.settings.extra_body)))


def merged(body: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """The body with more fields; an object in both has the fields of both."""
    made = dict(body)
    for key, value in more.items():
        held = made.get(key)
        both = isinstance(held, dict) and isinstance(value, dict)
        made[key] = held | value if both else value
    return made


def read_reply(protocol: Protocol, content: bytes) -> Reply:
    """The reply in the body of a response; CallError where there is none."""
    try:
        return PROTOCOLS[protocol].read(_loads(content))
    except MALFORMED as problem:
        start = content[:120].decode("utf-8", "replace")
        raise CallError(f"the body is not a reply: {start!r}", retryable=True) from problem


def read_error(content: bytes) -> tuple[str, str | None]:
    """The message and the code of an error's body; a declined prompt has the code "declined"."""
    try:
        body = _loads(content)
        error = body.get("error", body) if isinstance(body, dict) else body
        if not isinstance(error, dict):
            return str(error), None
        message = error.get("message") or error.get("detail") or error
        code = str(error.get("code"))
        reasons = (error.get("metadata") or {}).get("reasons")
        return str(message), "declined" if code in DECLINED or reasons else code
    except MALFORMED:
        return content[:500].decode("utf-8", "replace"), None


def _loads(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        # The standard library accepts lone surrogates, which a model may well write, and NaN.
        return json.loads(content)


def _write_response(model: Model, turns: Turns, system: str | None) -> dict[str, Any]:
    settings = model.settings
    body: dict[str, Any] = {"model": model.served_name, "input": turns, "store": False}
    if settings.max_output_tokens is not None:
        body["max_output_tokens"] = settings.max_output_tokens
    if settings.reasoning_effort is not None:
        body["reasoning"] = {"effort": settings.reasoning_effort}
    return body if system is None else body | {"instructions": system}


def _write_chat(model: Model, turns: Turns, system: str | None) -> dict[str, Any]:
    settings = model.settings
    first = [] if system is None else [{"role": "system", "content": system}]
    body: dict[str, Any] = {"model": model.served_name, "messages": first + turns}
    if settings.max_output_tokens is not None:
        # OpenAI renamed this field; the servers that imitate it know the old name.
        limit = "max_completion_tokens" if model.provider == "openai" else "max_tokens"
        body[limit] = settings.max_output_tokens
    if settings.reasoning_effort is not None:
        body["reasoning_effort"] = settings.reasoning_effort
    return body


def _read_response(body: Mapping[str, Any]) -> Reply:
    """The text of a Responses object."""
    usage = _usage(body, "input_tokens", "output_tokens", "output_tokens_details")
    status = body.get("status")
    details = body.get("incomplete_details") or {}
    stop = details.get("reason") or status if status == "incomplete" else status
    error = body.get("error") or {}
    _refuse_broken(stop, error.get("message"), usage)
    text, reasoning = "", []
    for output in body["output"]:
        if output["type"] == "reasoning":
            parts = [*(output.get("summary") or []), *(output.get("content") or [])]
            reasoning += [part["text"] for part in parts if part.get("text")]
        if output["type"] == "message":
            for part in output["content"]:
                if part.get("refusal"):
                    stop = "refusal"
                text += part.get("text") or part.get("refusal") or ""
    return Reply(text, usage, _stop_reason(stop), "\n\n".join(reasoning) or None)


def _read_chat(body: Mapping[str, Any]) -> Reply:
    """The text of a chat completion."""
    usage = _usage(body, "prompt_tokens", "completion_tokens", "completion_tokens_details")
    choice = body["choices"][0]
    error = choice.get("error") or {}
    stop = choice.get("finish_reason")
    _refuse_broken(stop, error.get("message"), usage)
    message = choice["message"]
    content = message.get("content")
    thought = None
    if isinstance(content, list):
        content, thought = _joined(content)
    refusal = message.get("refusal")
    if refusal and not content:
        stop = "refusal"
    text = content or refusal or ""
    reasoning = message.get("reasoning_content") or message.get("reasoning") or thought
    if not isinstance(text, str):
        raise TypeError("the content is not text")
    return Reply(text, usage, _stop_reason(stop), reasoning if isinstance(reasoning, str) else None)


def _joined(parts: list[Any]) -> tuple[str, str | None]:
    """The text of a content in parts, and what some servers send among them as thinking."""
    thoughts = [one for part in parts for one in part.get("thinking") or [] if "text" in one]
    text = "".join(part.get("text") or "" for part in parts)
    return text, "".join(one["text"] for one in thoughts) or None


def _refuse_broken(stop: object, message: object, usage: dict[str, int]) -> None:
    """A call that the provider gave up is an error and may be tried again, whatever it says."""
    if isinstance(stop, str) and stop.lower() in BROKEN:
        why = f": {message}" if message else ""
        raise CallError(f"the reply ended with {stop!r}{why}", retryable=True, usage=usage)


def _stop_reason(stop: object) -> str | None:
    return STOP_REASONS.get(stop.lower(), stop.lower()) if isinstance(stop, str) and stop else None


def _usage(body: Mapping[str, Any], read: str, written: str, details: str) -> dict[str, int]:
    """The tokens that a provider reports, whatever else it writes there."""
    usage = body.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    inner = counts.get(details)
    reported: dict[str, Any] = {
        "input_tokens": counts.get(read),
        "output_tokens": counts.get(written),
        "reasoning_tokens": inner.get("reasoning_tokens") if isinstance(inner, dict) else None,
    }
    return {name: int(count) for name, count in reported.items() if _is_count(count)}


def _is_count(value: object) -> bool:
    """Whether a value is a number of tokens; 3.0 is, True, NaN and 2^64 are not."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 0 <= value < MAX_TOKENS and value == int(value)


PROTOCOLS: dict[Protocol, Spoken] = {
    "responses": Spoken("/responses", _write_response, _read_response),
    "chat": Spoken("/chat/completions", _write_chat, _read_chat),
}
