"""Calls that Inspect makes: bodies checked before it reads them, replies and failures as ours."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Callable, Iterator
from typing import Any

import orjson
from inspect_ai.model import ContentReasoning, ModelOutput
from inspect_ai.model import Model as InspectModel
from openai import DefaultAsyncHttpxClient

from trivium.core.dialogue import Reply
from trivium.models.calls import CallError
from trivium.models.endpoint import (
    broken_off,
    retry_delay,
    status_error,
    too_slow,
    unreachable,
)
from trivium.models.protocols import (
    PROTOCOLS,
    STOP_REASONS,
    merged,
    plain_body,
    read_error,
    read_reply,
)
from trivium.models.providers import Address


class CheckedClient(DefaultAsyncHttpxClient):
    """An HTTP client that hides the key in what a server sends, and refuses what is no reply.

    Inspect takes any JSON for a reply, reads past `finish_reason: error`, and throws a reply away
    when its usage is odd; and it logs what it reads, long before a log could be cleaned.
    """

    def __init__(self, address: Address, extra_body: dict[str, Any]) -> None:
        super().__init__()
        self._address, self._extra_body = address, extra_body

    async def send(self, request: Any, **options: Any) -> Any:
        """The response, with a body that Inspect can trust."""
        if self._extra_body and request.url.path.endswith(PROTOCOLS["responses"].path):
            request = self._with_extra_body(request)
        response = await super().send(request, **options)
        if options.get("stream"):
            return response
        content = self._address.hide_key(response.text).encode("utf-8", "replace")
        if response.status_code >= 300:
            message, code = read_error(content)
            if code != "declined":  # of some errors Inspect would make a reply
                after = retry_delay(response.headers)
                raise status_error(response.status_code, message, code, after)
        else:
            path = request.url.path
            for protocol, spoken in PROTOCOLS.items():
                if path.endswith(spoken.path):
                    read_reply(protocol, content)
                    content = plain_body(content)
        if content == response.content:
            return response
        dropped = ("content-length", "content-encoding", "transfer-encoding")
        headers = [(k, v) for k, v in response.headers.items() if k.lower() not in dropped]
        made = type(response)(response.status_code, headers=headers, content=content)
        made.request, made.elapsed = request, response.elapsed
        return made

    def _with_extra_body(self, request: Any) -> Any:
        """The request with the user's fields, of which Inspect sends few by this protocol."""
        body = orjson.dumps(merged(orjson.loads(request.content), self._extra_body))
        headers = [(k, v) for k, v in request.headers.items() if k.lower() != "content-length"]
        return type(request)(
            request.method,
            request.url,
            headers=headers,
            content=body,
            extensions=request.extensions,
        )


def reply_of(output: ModelOutput) -> Reply:
    """What a model wrote, from what Inspect makes of it; CallError where that is nothing."""
    if not output.choices:
        raise CallError("the reply holds no choices", retryable=True)
    choice, message = output.choices[0], output.message
    stop: str | None = choice.stop_reason
    if choice.stop_details is not None and choice.stop_details.type == "refusal":
        stop = "refusal"
    parts = [] if isinstance(message.content, str) else message.content
    thoughts = [part.reasoning for part in parts if isinstance(part, ContentReasoning)]
    usage: dict[str, int | None] = {}
    if output.usage is not None:
        read = output.usage
        cached = (read.input_tokens_cache_read or 0) + (read.input_tokens_cache_write or 0)
        usage["input_tokens"] = read.input_tokens + cached
        usage["output_tokens"] = read.output_tokens
        usage["reasoning_tokens"] = read.reasoning_tokens
    return Reply(
        # `completion` would fill in for an empty text.
        message.text,
        {name: count for name, count in usage.items() if count is not None},
        None if stop == "unknown" else STOP_REASONS.get(stop or "", stop),
        "\n\n".join(thought for thought in thoughts if thought) or None,
    )


def call_error(
    problem: BaseException, model: InspectModel, hide: Callable[[str], str]
) -> CallError:
    """What a failure inside Inspect or a provider's client says about a call."""
    links = list(_chain(problem))
    # What happened first says most: of "Connection error." it is the cause that is of use.
    found = (made for link in reversed(links) if (made := _known(link)) is not None)
    error = next(found, None)
    if error is None and any("Timeout" in type(link).__name__ for link in links):
        error = too_slow(model.config.attempt_timeout or 0)
    if error is None:
        last = links[-1]
        text = str(last) or str(links[0])
        retry = any(_may_succeed(link, model) for link in links)
        error = CallError(f"{type(last).__name__}: {text}", retryable=retry)
    error.args = (hide(str(error)),)
    return error


def _known(link: BaseException) -> CallError | None:
    """A failure whose kind shows in one exception."""
    if isinstance(link, CallError):
        return link
    status = getattr(link, "status_code", None)
    if isinstance(status, int):
        body = getattr(link, "body", None)
        code = body.get("code") if isinstance(body, dict) else None
        message = body.get("message") if isinstance(body, dict) else None
        message = message or getattr(link, "provider_message", None) or str(link)
        headers = getattr(getattr(link, "response", None), "headers", {})
        text = str(message).removeprefix(f"Error code: {status} - ")
        return status_error(status, text, code, retry_delay(headers))
    if isinstance(link, (ConnectionRefusedError, socket.gaierror, ssl.SSLCertVerificationError)):
        return unreachable(link)
    if type(link).__name__ in ("ConnectError", "ConnectTimeout"):
        return unreachable(link)
    if type(link).__name__ in ("RemoteProtocolError", "ReadError"):
        return broken_off()
    return None


def _may_succeed(link: BaseException, model: InspectModel) -> bool:
    if isinstance(link, json.JSONDecodeError):
        return True
    return isinstance(link, Exception) and bool(model.api.should_retry(link))


def _chain(problem: BaseException | None) -> Iterator[BaseException]:
    """An exception, what caused it, what caused that."""
    for _ in range(20):
        if problem is None:
            return
        last_attempt = getattr(problem, "last_attempt", None)
        if last_attempt is not None:  # tenacity's RetryError says nothing itself
            problem = last_attempt.exception()
            continue
        yield problem
        if isinstance(problem, BaseExceptionGroup):
            problem = problem.exceptions[0]
        else:
            problem = problem.__cause__ or problem.__context__
