"""The HTTP client of Inspect's OpenAI-compatible providers: both backends read the same bodies."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import orjson
from openai import DefaultAsyncHttpxClient
from openai.types.chat import ChatCompletion
from openai.types.responses import Response
from pydantic import BaseModel, ValidationError

from trivium.core.dialogue import Reply
from trivium.core.files import dump_line, load_json
from trivium.core.loops import aside
from trivium.core.records import DECLINING, LENGTH
from trivium.core.text import MAX_TEXT, one_line
from trivium.models.bodies import (
    MALFORMED,
    PACKED,
    BodyTooLargeError,
    collect,
    load_body,
    read_body,
    read_error,
)
from trivium.models.completions import completion_body
from trivium.models.protocols import PATHS
from trivium.models.secrets import hider, scrub_urls
from trivium.models.settings import Settings

MAX_CALLS = 100  # of tools in one reply
TOO_LARGE, NOT_A_REPLY = 413, 502  # statuses of such bodies; Inspect retries the latter


class ReadingClient(DefaultAsyncHttpxClient):
    """A client whose responses are bounded, hold no secret, and have the shape that Inspect reads.

    `secrets` are fields of every request that Inspect, which logs requests, is not given. A
    redirect is not followed: another server would be sent the prompt. With `completions`, whose
    settings they are, requests for chat become those for completions, which Inspect does not know.
    """

    def __init__(self, secrets: Mapping[str, Any], completions: Settings | None = None) -> None:
        super().__init__(follow_redirects=False, headers={"Accept-Encoding": PACKED})
        self._hide, self._secrets, self._completions = hider(), dict(secrets), completions

    async def send(self, request: Any, **options: Any) -> Any:
        """The response, read whole."""
        if self._secrets or self._completions is not None:
            request = _with_fields(request, self._secrets, self._completions)
        response = await super().send(request, **options | {"stream": True})
        try:
            packed = response.headers.get("content-encoding")
            content = await collect(response.aiter_raw(), packed)
        except BodyTooLargeError as problem:
            status, body = TOO_LARGE, self._error(str(problem))
        except zlib.error as problem:
            status, body = NOT_A_REPLY, self._error(str(problem))
        else:
            status, body = await aside(len(content), self._read, request, response, content)
        finally:
            await response.aclose()
        framing = ("content-length", "content-encoding", "content-type", "transfer-encoding")
        headers = [(k, v) for k, v in response.headers.items() if k.lower() not in framing]
        headers.append(("content-type", "application/json"))
        read = type(response)(status, headers=headers, content=dump_line(body))
        read.request, read.elapsed = request, response.elapsed
        return read

    def _read(self, request: Any, response: Any, content: bytes) -> tuple[int, dict[str, Any]]:
        """The status and the body for Inspect."""
        status, charset = response.status_code, response.charset_encoding
        if status >= 300:
            message, code = read_error(content, charset, self._hide)
            if status < 400 and "location" in response.headers:
                message = f"it redirects to {response.headers['location']}, which is not followed"
            return status, self._error(message, code)
        try:
            body = load_body(content, charset, self._hide)
            reply = read_body(body)[0]
            if reply.error is None:
                write = _response if request.url.path.endswith("/responses") else _completion
                model = load_json(request.content)["model"]
                # Arguments of tools, which are JSON in JSON, may hold a lone surrogate.
                small = len(content) <= MAX_TEXT and rb"\\ud" not in content.lower()
                return status, write(body, reply, model, small=small)
            message = reply.error
        except MALFORMED:
            start = self._hide(content.decode("utf-8", "replace"))[:120]
            message = f"the body is not a reply: {start!r}"
        return NOT_A_REPLY, self._error(message)

    def _error(self, message: str, code: str | None = None) -> dict[str, Any]:
        return {"error": {"message": one_line(scrub_urls(self._hide(message))), "code": code}}


def _with_fields(
    request: Any, fields: Mapping[str, Any], completions: Settings | None = None
) -> Any:
    """The request with more fields in its body, turned into one for completions."""
    body, url = load_json(request.content) | fields, request.url
    if completions is not None:
        body = completion_body(body, completions)
        url = url.copy_with(path=url.path.replace(PATHS["chat"], PATHS["completions"]))
    content = orjson.dumps(body)
    headers = [(k, v) for k, v in request.headers.items() if k.lower() != "content-length"]
    more = {"content": content, "headers": headers, "extensions": request.extensions}
    return type(request)(request.method, url, **more)


def _is_valid(kind: type[BaseModel], body: Any, reply: Reply) -> bool:
    """Whether a body is as its provider's documentation says."""
    try:
        kind.model_validate(body, strict=True)
    except ValidationError:
        return False
    return not body.get("usage") or _usage(reply, "", "") is not None


def _completion(body: Any, reply: Reply, model: str, *, small: bool) -> dict[str, Any]:
    """A chat completion with this reply: the body itself where it is valid."""
    if small and _is_valid(ChatCompletion, body, reply):
        message = body["choices"][0]["message"]
        found: dict[str, Any] = body
    else:
        (given,) = _dicts(body.get("choices"))[:1] or [{}]
        (given,) = _dicts([given.get("message")]) or [{}]
        calls = _dicts(given.get("tool_calls"))
        message = {"role": "assistant", "content": reply.text}
        message["refusal"] = reply.text if reply.stop_reason == "refusal" else None
        message["reasoning_content"] = reply.reasoning
        message["tool_calls"] = [
            {"id": name, "type": "function", "function": call}
            for name, call in _calls((call, call.get("function")) for call in calls)
        ]
        choice = {"index": 0, "message": message, "finish_reason": reply.stop_reason}
        found = {"id": "none", "object": "chat.completion", "created": 0, "model": model}
        found |= {"choices": [choice], "usage": _usage(reply, "prompt", "completion")}
    if "<think" in reply.text and not reply.reasoning:
        # Inspect looks for blocks of thinking in quadratic time, unless it has the reasoning. They
        # stay in the reply, as on the direct backend.
        message["reasoning_content"] = " "
    return found


def _response(body: Any, reply: Reply, model: str, *, small: bool) -> dict[str, Any]:
    """A body of the Responses API with this reply: the body itself where it is valid."""
    if small and _is_valid(Response, body, reply):
        return dict(body)
    part = {"type": "output_text", "text": reply.text, "annotations": []}
    if reply.stop_reason == "refusal":
        part = {"type": "refusal", "refusal": reply.text}
    message = {"type": "message", "id": "msg_0", "role": "assistant", "status": "completed"}
    calls = [call for call in _dicts(body.get("output")) if call.get("type") == "function_call"]
    output: list[dict[str, Any]] = [message | {"content": [part]}]
    output += [
        {"type": "function_call", "call_id": name} | call
        for name, call in _calls((call, call) for call in calls)
    ]
    reasons = {LENGTH: "max_output_tokens"} | dict.fromkeys(DECLINING, "content_filter")
    reason = reasons.get(reply.stop_reason or "")
    return {
        "id": "none",
        "object": "response",
        "created_at": 0,
        "model": model,
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "output": output,
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": _usage(reply, "input", "output"),
    }


def _dicts(value: Any) -> list[dict[str, Any]]:
    found = value if isinstance(value, list) else []
    return [part for part in found if isinstance(part, dict)][:MAX_CALLS]


def _calls(found: Iterator[tuple[dict[str, Any], Any]]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields (id, name and arguments) of the calls of tools that can be read."""
    for number, (call, function) in enumerate(found):
        name = function.get("name") if isinstance(function, dict) else None
        if isinstance(name, str):
            arguments = function.get("arguments") or {}
            if isinstance(arguments, str):
                with suppress(*MALFORMED):
                    arguments = load_json(arguments.encode())
            if not isinstance(arguments, str):
                arguments = orjson.dumps(arguments).decode()
            given_id = call.get("call_id") or call.get("id")
            yield str(given_id or f"call_{number}"), {"name": name, "arguments": arguments}


def _usage(reply: Reply, sent: str, received: str) -> dict[str, Any] | None:
    """The token counts, where both are known: Inspect knows no others."""
    counts = [reply.usage.get(name) for name in ("input_tokens", "output_tokens")]
    if None in counts:
        return None
    return {
        f"{sent}_tokens": counts[0],
        f"{received}_tokens": counts[1],
        "total_tokens": sum(count or 0 for count in counts),
        f"{sent}_tokens_details": {"cached_tokens": 0},
        f"{received}_tokens_details": {"reasoning_tokens": reply.usage.get("reasoning_tokens")},
    }
