"""Requests in the protocols of OpenAI-compatible servers: chat, Responses and completions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from trivium.models.settings import Model, Settings, read_extra_body

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
    named = None if schema is None else {"name": "answer", "strict": True, "schema": schema}
    fields: Fields = {"model": model.served_name, "temperature": model.settings.temp}
    if protocol == "completions":
        fields |= _completion_fields(model.settings, turns)
    elif protocol == "chat":
        fields |= _chat_fields(model, turns, named, tools)
    else:
        fields |= _responses_fields(model.settings, turns, named, tools)
    body = {key: value for key, value in fields.items() if value not in (None, [])}
    for key, value in read_extra_body(model.settings.extra_body).items():
        ours = body.get(key)
        both = isinstance(ours, dict) and isinstance(value, dict)
        body[key] = ours | value if both else value
    return body


def _chat_fields(
    model: Model, turns: Sequence[Turn], named: Fields | None, tools: Sequence[Fields]
) -> Fields:
    settings = model.settings
    system = settings.system
    # OpenAI renamed this field; compatible servers know the old name.
    limit = "max_completion_tokens" if model.provider == "openai" else "max_tokens"
    return {
        "messages": [*([] if system is None else [{"role": "system", "content": system}]), *turns],
        limit: settings.max_output_tokens,
        "reasoning_effort": settings.reasoning_effort,
        "response_format": named and {"type": "json_schema", "json_schema": named},
        "tools": [{"type": "function", "function": tool} for tool in tools],
    }


def _responses_fields(
    settings: Settings, turns: Sequence[Turn], named: Fields | None, tools: Sequence[Fields]
) -> Fields:
    effort = settings.reasoning_effort
    return {
        "instructions": settings.system,
        "input": [part for turn in turns for part in _responses_items(turn)],
        "store": False,
        "max_output_tokens": settings.max_output_tokens,
        "reasoning": effort and {"effort": effort},
        "text": named and {"format": {"type": "json_schema", **named}},
        "tools": [{"type": "function", **tool} for tool in tools],
    }


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
