"""The two protocols of OpenAI-compatible servers: how requests are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from trivium.models.settings import Model, read_extra_body

ProtocolName = Literal["responses", "chat"]
Turns = list[dict[str, str]]
Schema = dict[str, Any]  # the JSON schema of a reply


@dataclass(frozen=True)
class Protocol:
    """Where the requests of a protocol go, and how they are written."""

    path: str
    write: Callable[[Model, Turns, str | None, Schema | None], dict[str, Any]]


def request_body(
    protocol: ProtocolName,
    model: Model,
    turns: Turns,
    system: str | None,
    schema: Schema | None = None,
) -> bytes:
    """The body of a request, with the fields that the user adds; objects in both are merged."""
    body = PROTOCOLS[protocol].write(model, turns, system, schema)
    if model.settings.temp is not None:
        body["temperature"] = model.settings.temp
    for key, value in read_extra_body(model.settings.extra_body).items():
        held = body.get(key)
        both = isinstance(held, dict) and isinstance(value, dict)
        body[key] = held | value if both else value
    return orjson.dumps(body)


def _write_response(
    model: Model, turns: Turns, system: str | None, schema: Schema | None
) -> dict[str, Any]:
    settings = model.settings
    body: dict[str, Any] = {"model": model.served_name, "input": turns, "store": False}
    if settings.max_output_tokens is not None:
        body["max_output_tokens"] = settings.max_output_tokens
    if settings.reasoning_effort is not None:
        body["reasoning"] = {"effort": settings.reasoning_effort}
    if schema is not None:
        body["text"] = {"format": {"type": "json_schema", **_named(schema)}}
    return body if system is None else body | {"instructions": system}


def _write_chat(
    model: Model, turns: Turns, system: str | None, schema: Schema | None
) -> dict[str, Any]:
    settings = model.settings
    first = [] if system is None else [{"role": "system", "content": system}]
    body: dict[str, Any] = {"model": model.served_name, "messages": first + turns}
    if settings.max_output_tokens is not None:
        # OpenAI renamed this field; the servers that imitate it know the old name.
        limit = "max_completion_tokens" if model.provider == "openai" else "max_tokens"
        body[limit] = settings.max_output_tokens
    if settings.reasoning_effort is not None:
        body["reasoning_effort"] = settings.reasoning_effort
    if schema is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": _named(schema)}
    return body


def _named(schema: Schema) -> dict[str, Any]:
    return {"name": "answer", "strict": True, "schema": schema}


PROTOCOLS: dict[ProtocolName, Protocol] = {
    "responses": Protocol("/responses", _write_response),
    "chat": Protocol("/chat/completions", _write_chat),
}
