"""Bodies of requests and responses.

Requests are written in the protocols of OpenAI-compatible servers: chat, Responses and completions.
Replies are read from the response bodies of all providers, from an endpoint or from a file: chat
completions, Responses, Anthropic's messages and Gemini's candidates.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

from trivium.core.dialogue import Reply, ToolCall
from trivium.core.files import load_json
from trivium.core.records import DECLINING, LENGTH
from trivium.core.text import map_texts
from trivium.models.providers import Model
from trivium.models.settings import Settings, read_extra_body

ProtocolName = Literal["responses", "chat", "completions"]
PATHS: dict[ProtocolName, str] = {
    "responses": "/responses",
    "chat": "/chat/completions",
    "completions": "/completions",
}
Fields = dict[str, Any]
Turn = Mapping[str, Any]  # a message of a chat, which may hold calls of tools or be a tool's result

USER, ASSISTANT = "User:", "Assistant:"  # what the turns of a completion begin with
MAX_COMPLETION = 1024  # tokens, unless the user sets a limit: these endpoints stop after 16
# The exceptions of read_body for a body that is not a response.
MALFORMED = (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)
MAX_TOKENS = 2**53  # a larger count is invalid
MAX_CALLS = 100  # of tools in one reply
MAX_BODY = 1 << 24  # bytes of a body, unpacked
GZIP = b"\x1f\x8b"  # what a packed body begins with

# Stop reasons of other protocols, by their equivalents in chat completions.
STOP_REASONS = {
    "max_output_tokens": LENGTH,
    "max_tokens": LENGTH,
    "model_length": LENGTH,
    "completed": "stop",
    "end_turn": "stop",
    "safety": "content_filter",
}
# Stop reasons of calls that failed, even if some text was returned.
BROKEN = {"error", "failed", "cancelled", "canceled", "abort", "aborted", "timeout"}
BROKEN |= {"insufficient_system_resource", "in_progress", "queued", "incomplete"}
# Error codes that mean that the provider declined the prompt.
DECLINED_CODES = {"content_filter", "content_policy_violation", "invalid_prompt"}


class BodyTooLargeError(Exception):
    """A body of more than MAX_BODY bytes."""

    def __str__(self) -> str:
        return f"the body has more than {MAX_BODY >> 20} MiB"


async def collect(chunks: AsyncIterable[bytes]) -> bytes:
    """The content of a body, unpacked; zlib.error if it cannot be.

    Servers pack bodies without saying so, twice, in several parts, or say so and do not, so the
    bytes decide. What neither is an object nor can be inflated is returned as it came.
    """
    raw = bytearray()
    async for chunk in chunks:
        raw += chunk
        if len(raw) > MAX_BODY:
            raise BodyTooLargeError
    content = bytes(raw)
    while content.startswith(GZIP):
        content = _unpacked(content, zlib.MAX_WBITS | 16)
    if not content.lstrip().startswith(b"{"):
        for format in (zlib.MAX_WBITS, -zlib.MAX_WBITS):  # deflated, with a header and without
            with suppress(zlib.error):
                return _unpacked(content, format)
    return content


def _unpacked(content: bytes, format: int) -> bytes:
    unpacked = b""
    while not unpacked or content.startswith(GZIP):  # further parts
        unpacker = zlib.decompressobj(format)
        # One byte more than is allowed is unpacked, never a gigabyte.
        unpacked += unpacker.decompress(content, MAX_BODY + 1 - len(unpacked))
        if len(unpacked) > MAX_BODY:
            raise BodyTooLargeError
        if not unpacker.eof:
            raise zlib.error("the packed body is incomplete")
        content = unpacker.unused_data
    return unpacked


def load_body(content: bytes, charset: str | None, hide: Callable[[str], str]) -> Any:
    """The JSON of a body without secrets."""
    return map_texts(load_json(content, charset), hide)


def read_body(body: Mapping[str, Any]) -> list[Reply]:
    """The reply of every choice in a body; raises one of MALFORMED if it is not a response."""
    usage = _usage(body.get("usage"))
    for key in ("choices", "candidates"):
        if key in body:
            choices = body[key]
            if len(choices) != 1:
                usage = {}  # it is the total of all choices
            return [_choice(choice, usage) for choice in choices] or [_nothing(usage)]
    content = body["content"] if "content" in body else body["output"]
    details = body.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    stop = body.get("stop_reason") or reason or body.get("status")
    reply = _reply(content, stop, usage, error=body.get("error"))
    calls = [part for part in _dicts(content) if part.get("type") == "function_call"]
    reply = replace(reply, calls=_calls([(call, call) for call in calls]))
    empty = content == [] and reply.stop_reason not in {LENGTH, *DECLINING}
    return [_nothing(usage) if empty and reply.error is None else reply]


def _nothing(usage: dict[str, int]) -> Reply:
    return Reply("", usage, error="the response holds no reply")


def read_error(
    content: bytes, charset: str | None, hide: Callable[[str], str]
) -> tuple[str, str | None]:
    """The message and the code of an error body; the code is "declined" for a declined prompt."""
    try:
        body = load_body(content, charset, hide)
        error = body.get("error", body) if isinstance(body, dict) else body
        if not isinstance(error, dict):
            return str(error), None
        code = str(error.get("code"))
        reasons = (error.get("metadata") or {}).get("reasons")
        return error_message(error), "declined" if code in DECLINED_CODES or reasons else code
    except MALFORMED:
        return hide(content.decode("utf-8", "replace")), None


def error_message(error: Any) -> str:
    """The message of a provider's error."""
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or error.get("error") or error
    return str(error)


def _choice(choice: Mapping[str, Any], usage: dict[str, int]) -> Reply:
    """The reply in a choice of a chat completion or a candidate of Gemini's."""
    stop = choice.get("finish_reason") or choice.get("finishReason")
    error = choice.get("error")
    if "text" in choice:  # a completion that is not a chat
        return _reply(choice["text"], stop, usage, error=error)
    message = choice.get("message") or choice.get("delta") or choice["content"]
    if isinstance(message, str):
        message = {"content": message}
    content = message.get("content", message.get("parts"))
    thought = message.get("reasoning_content") or message.get("reasoning")
    if not content and message.get("refusal"):
        content, stop = message["refusal"], "refusal"
    calls = [(call, call.get("function")) for call in _dicts(message.get("tool_calls"))]
    return replace(_reply(content, stop, usage, thought, error), calls=_calls(calls))


def _reply(
    content: Any,
    stop: Any,
    usage: dict[str, int],
    thought: Any = None,
    error: Any = None,
) -> Reply:
    if isinstance(content, (bool, int, float)):
        raise TypeError("the content is not text")
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


def _pieces(content: Any, kind: str = "text") -> Iterator[tuple[str, str]]:
    """Yields (kind, text) for each text in a content; kinds are text, reasoning and refusal."""
    if isinstance(content, str):
        yield kind, content
    elif isinstance(content, list):
        for part in content:
            yield from _pieces(part, kind)
    elif isinstance(content, dict):
        inner = {"text": content.get("text") or content.get("content")}
        if content.get("type") == "reasoning":
            inner = {"reasoning": [content.get("summary"), content.get("content")]}
        elif content.get("thinking"):
            inner = {"reasoning": content["thinking"]}
        elif content.get("refusal"):
            inner = {"refusal": content["refusal"]}
        for inner_kind, part in inner.items():
            yield from _pieces(part, kind if inner_kind == "text" else inner_kind)


def _dicts(value: Any) -> list[dict[str, Any]]:
    found = value if isinstance(value, list) else []
    return [part for part in found if isinstance(part, dict)][:MAX_CALLS]


def _calls(found: list[tuple[dict[str, Any], Any]]) -> tuple[ToolCall, ...]:
    """The calls of tools that can be read, from pairs of a call and its function."""
    calls = []
    for number, (call, function) in enumerate(found):
        if isinstance(function, dict) and isinstance(name := function.get("name"), str):
            arguments: Any = function.get("arguments") or {}
            with suppress(*MALFORMED):
                arguments = load_json(arguments.encode())
            known = str(call.get("call_id") or call.get("id") or f"call_{number}")
            calls.append(ToolCall(known, name, arguments))
    return tuple(calls)


def _usage(usage: Any) -> dict[str, int]:
    """The token counts that a provider reports; invalid ones are left out."""
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
    """Whether a value is a token count: 3.0 is; True, NaN and 2**64 are not."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 0 <= value < MAX_TOKENS and value == int(value)


def request_fields(
    protocol: ProtocolName,
    model: Model,
    turns: Sequence[Turn],
    schema: Fields | None = None,
    tools: Sequence[Fields] = (),
) -> Fields:
    """The body of a request; an object in `extra_body` is merged with ours of the same name.

    `schema` is the JSON schema of the reply; `tools` are functions with name, description and
    parameters.
    """
    settings = model.settings
    system, effort = settings.system, settings.reasoning_effort
    named: Fields | None = None
    if schema is not None:
        named = {"name": "answer", "strict": True, "schema": schema}
    fields: Fields = {"model": model.served_name, "temperature": settings.temp}
    if protocol == "completions":
        fields |= _completion_fields(settings, turns)
    elif protocol == "chat":
        # OpenAI renamed this field; compatible servers know the old name.
        limit = "max_completion_tokens" if model.provider == "openai" else "max_tokens"
        opening = [] if system is None else [{"role": "system", "content": system}]
        fields |= {
            "messages": [*opening, *turns],
            limit: settings.max_output_tokens,
            "reasoning_effort": effort,
            "response_format": named and {"type": "json_schema", "json_schema": named},
            "tools": [{"type": "function", "function": tool} for tool in tools],
        }
    else:
        fields |= {
            "instructions": system,
            "input": [part for turn in turns for part in _responses_items(turn)],
            "store": False,
            "max_output_tokens": settings.max_output_tokens,
            "reasoning": effort and {"effort": effort},
            "text": named and {"format": {"type": "json_schema", **named}},
            "tools": [{"type": "function", **tool} for tool in tools],
        }
    body = {key: value for key, value in fields.items() if value not in (None, [])}
    for key, value in read_extra_body(settings.extra_body).items():
        ours = body.get(key)
        both = isinstance(ours, dict) and isinstance(value, dict)
        body[key] = ours | value if both else value
    return body


def _responses_items(turn: Turn) -> list[Fields]:
    """A message of a chat as items of the Responses API, which has calls of tools apart."""
    if turn["role"] == "tool":
        called, output = turn["tool_call_id"], turn["content"]
        return [{"type": "function_call_output", "call_id": called, "output": output}]
    calls = turn.get("tool_calls", ())
    items = [{"role": turn["role"], "content": turn["content"]}] if turn["content"] else []
    return items + [
        {"type": "function_call", "call_id": call["id"], **call["function"]} for call in calls
    ]


def _completion_fields(settings: Settings, turns: Sequence[Turn]) -> Fields:
    """The dialogue as one text that ends where the reply begins, for base models.

    A template of the user's says itself how a turn ends.
    """
    named = settings.template is None
    parts = [f"{text}\n\n" for text in (settings.preamble, settings.system) if text is not None]
    for turn in turns:
        text = turn["content"]
        if turn["role"] == "assistant":
            parts.append(f" {text.strip()}\n\n")
        else:
            parts.append(f"{USER} {text}\n\n{ASSISTANT}" if named else text)
    return {
        "prompt": "".join(parts),
        "max_tokens": settings.max_output_tokens or MAX_COMPLETION,
        "stop": [*settings.stop] or ([f"\n{USER}"] if named else None),
    }
