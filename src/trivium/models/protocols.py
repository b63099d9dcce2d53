"""Requests in the protocols of OpenAI-compatible servers: chat, Responses and completions."""

from __future__ import annotations

from typing import Any, Literal

import orjson

from trivium.models.completions import completion_body
from trivium.models.settings import Model, read_extra_body

ProtocolName = Literal["responses", "chat", "completions"]
PATHS: dict[ProtocolName, str] = {
    "responses": "/responses",
    "chat": "/chat/completions",
    "completions": "/completions",
}
Turns = list[dict[str, str]]
Schema = dict[str, Any]  # the JSON schema of a reply


def request_body(
    protocol: ProtocolName, model: Model, turns: Turns, system: str | None, schema: Schema | None
) -> bytes:
    """The body of a request; an object in `extra_body` is merged with ours of the same name."""
    write = _responses_fields if protocol == "responses" else _chat_fields
    named = None if schema is None else {"name": "answer", "strict": True, "schema": schema}
    fields = {"model": model.served_name, "temperature": model.settings.temp}
    fields |= write(model, turns, system, named)
    body = {key: value for key, value in fields.items() if value is not None}
    if protocol == "completions":
        body = completion_body(body, model.settings)
    for key, value in read_extra_body(model.settings.extra_body).items():
        ours = body.get(key)
        both = isinstance(ours, dict) and isinstance(value, dict)
        body[key] = ours | value if both else value
    return orjson.dumps(body)


def _responses_fields(
    model: Model, turns: Turns, system: str | None, named: Schema | None
) -> dict[str, Any]:
    effort = model.settings.reasoning_effort
    return {
        "instructions": system,
        "input": turns,
        "store": False,
        "max_output_tokens": model.settings.max_output_tokens,
        "reasoning": None if effort is None else {"effort": effort},
        "text": None if named is None else {"format": {"type": "json_schema", **named}},
    }


def _chat_fields(
    model: Model, turns: Turns, system: str | None, named: Schema | None
) -> dict[str, Any]:
    first = [] if system is None else [{"role": "system", "content": system}]
    # OpenAI renamed this field; compatible servers know the old name.
    limit = "max_completion_tokens" if model.provider == "openai" else "max_tokens"
    return {
        "messages": first + turns,
        limit: model.settings.max_output_tokens,
        "reasoning_effort": model.settings.reasoning_effort,
        "response_format": None if named is None else {"type": "json_schema", "json_schema": named},
    }
