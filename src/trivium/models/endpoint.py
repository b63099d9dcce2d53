"""One OpenAI-compatible endpoint: messages go in, a reply or an error comes out."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar, Literal

import openai
import orjson
from openai import AsyncOpenAI, DefaultAioHttpClient

from trivium.models.providers import Address
from trivium.models.settings import Model

Protocol = Literal["responses", "chat"]
UNSUPPORTED = {400, 404, 405, 415, 422, 501}  # statuses for a path or a body that is not known
RETRYABLE = {408, 409, 425, 429}  # and everything from 500 on
HOPELESS = {401, 402, 404}  # no other item would fare better
MALFORMED = (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)


@dataclass(frozen=True)
class Reply:
    """What the model wrote, and what it took."""

    text: str
    usage: dict[str, int]


class CallError(Exception):
    """A call that gave no reply: whether another try may help, and when."""

    def __init__(
        self, message: str, *, retryable: bool, after: float | None = None, hopeless: bool = False
    ) -> None:
        super().__init__(message)
        self.retryable = retryable  # another try may help
        self.after = after  # seconds that the server asked to wait
        self.hopeless = hopeless  # no call of this run can succeed


class Endpoint:
    """Asks one model; finds out which of two protocols its server supports, and keeps to it."""

    # The protocol of each base URL, for all runs of this process.
    _protocols: ClassVar[dict[str, Protocol]] = {}

    def __init__(self, model: Model, address: Address) -> None:
        self._model = model
        self._address = address
        self._probing = asyncio.Lock()
        self._client = AsyncOpenAI(
            api_key=address.key,
            base_url=address.base_url,
            max_retries=0,  # retries are made and counted by the caller
            timeout=model.options.timeout,
            http_client=DefaultAioHttpClient(timeout=model.options.timeout),
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    async def ask(self, messages: Sequence[str], system: str | None) -> Reply:
        """The reply to a dialogue: the prompt, then replies and responses in turn."""
        protocol = self._protocols.get(self._address.base_url)
        if protocol is not None:
            return await self._call(protocol, messages, system)
        async with self._probing:  # the first call finds out; the others wait for it
            protocol = self._protocols.get(self._address.base_url)
            if protocol is None:
                return await self._probe(messages, system)
        return await self._call(protocol, messages, system)

    async def _probe(self, messages: Sequence[str], system: str | None) -> Reply:
        protocol: Protocol = "responses"
        try:
            reply = await self._call(protocol, messages, system)
        except CallError as problem:
            if not _is_unsupported(problem.__cause__):
                raise
            protocol = "chat"
            reply = await self._call(protocol, messages, system)
        self._protocols[self._address.base_url] = protocol
        return reply

    async def _call(self, protocol: Protocol, messages: Sequence[str], system: str | None) -> Reply:
        turns = [
            {"role": "assistant" if index % 2 else "user", "content": _encodable(text)}
            for index, text in enumerate(messages)
        ]
        if protocol == "responses":
            path, body, read = "/responses", self._response_body(turns, system), _read_response
        else:
            path, body, read = "/chat/completions", self._chat_body(turns, system), _read_chat
        if self._model.settings.temp is not None:
            body["temperature"] = self._model.settings.temp
        return self._read(read, await self._post(path, body))

    def _response_body(self, turns: list[dict[str, str]], system: str | None) -> dict[str, Any]:
        body = {
            "model": self._model.served_name,
            "input": turns,
            "max_output_tokens": self._model.settings.max_output_tokens,
            "store": False,
        }
        return body if system is None else body | {"instructions": system}

    def _chat_body(self, turns: list[dict[str, str]], system: str | None) -> dict[str, Any]:
        # OpenAI renamed this field; the servers that imitate it know the old name.
        limit = "max_completion_tokens" if self._model.provider == "openai" else "max_tokens"
        first = [] if system is None else [{"role": "system", "content": system}]
        return {
            "model": self._model.served_name,
            "messages": first + turns,
            limit: self._model.settings.max_output_tokens,
        }

    async def _post(self, path: str, body: dict[str, Any]) -> bytes:
        timeout = self._model.options.timeout
        try:
            # The client's own limit is for each wait; a server that trickles never meets it.
            async with asyncio.timeout(timeout):
                # Read as bytes: a body that is cut short or is no JSON is ours to judge.
                response = await self._client.post(
                    path, body=body, cast_to=openai.HttpxBinaryResponseContent
                )
                return response.content
        except TimeoutError as problem:
            message = f"no whole reply within {timeout:g} seconds"
            raise CallError(message, retryable=True) from problem
        except openai.APIStatusError as problem:
            raise self._status_error(problem) from problem
        except openai.APIError as problem:  # no connection, a connection dropped, too slow
            # Its own text is only "Connection error."; its cause says which.
            cause = problem.__cause__ or problem
            message = self._address.error_line(f"{type(cause).__name__}: {cause}")
            raise CallError(message, retryable=True) from problem

    def _read(self, read: Callable[[Any], Reply], content: bytes) -> Reply:
        try:
            reply = read(_loads(content))
        except MALFORMED as problem:
            start = content[:120].decode("utf-8", "replace")
            message = self._address.error_line(f"the body is not a reply: {start!r}")
            raise CallError(message, retryable=True) from problem
        return Reply(self._address.hide_key(reply.text), reply.usage)

    def _status_error(self, problem: openai.APIStatusError) -> CallError:
        status = problem.status_code
        message = self._address.error_line(f"{status}: {problem.message}")
        if status in HOPELESS or problem.code == "insufficient_quota":
            return CallError(message, retryable=False, hopeless=True)
        retryable = status in RETRYABLE or status >= 500
        return CallError(message, retryable=retryable, after=retry_delay(problem.response.headers))


def _is_unsupported(cause: BaseException | None) -> bool:
    """Whether a call failed as it would where the protocol is not supported."""
    if isinstance(cause, openai.APIStatusError):
        return cause.status_code in UNSUPPORTED
    # Some servers return 200 for any path, with an error message as the body.
    return not isinstance(cause, (openai.APIError, TimeoutError))


def _encodable(text: str) -> str:
    """The text without lone surrogates, which a reply that is sent back in a game may hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _loads(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        # The standard library accepts lone surrogates, which a model may well write.
        return json.loads(content)


def _read_response(body: Mapping[str, Any]) -> Reply:
    """The text of a Responses object."""
    if body.get("status") == "failed":
        raise ValueError("the response failed")
    parts = [
        part.get("text") or part.get("refusal") or ""
        for output in body["output"]
        if output["type"] == "message"
        for part in output["content"]
    ]
    cut_off = (body.get("incomplete_details") or {}).get("reason") == "max_output_tokens"
    return Reply("".join(parts), _usage(body, "input_tokens", "output_tokens", cut_off))


def _read_chat(body: Mapping[str, Any]) -> Reply:
    """The text of a chat completion."""
    choice = body["choices"][0]
    content = choice["message"].get("content")
    if isinstance(content, list):
        content = "".join(part.get("text") or "" for part in content)
    text = content or choice["message"].get("refusal") or ""
    if not isinstance(text, str):
        raise TypeError("the content is not text")
    cut_off = choice.get("finish_reason") == "length"
    return Reply(text, _usage(body, "prompt_tokens", "completion_tokens", cut_off))


def _usage(body: Mapping[str, Any], read: str, written: str, cut_off: bool) -> dict[str, int]:
    counts = body.get("usage") or {}
    usage = {
        "input_tokens": int(counts.get(read) or 0),
        "output_tokens": int(counts.get(written) or 0),
    }
    return usage | ({"cut_off": 1} if cut_off else {})


def retry_delay(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait, given as a number or as a date."""
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, moment.timestamp() - time.time())
