"""One OpenAI-compatible endpoint: a conversation goes in, a reply or an error comes out."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar, Literal

import openai
import orjson
from openai import AsyncOpenAI, DefaultAioHttpClient

from trivium.models.providers import Address
from trivium.models.settings import Model

Protocol = Literal["responses", "chat"]
# What a server says of a path or a form that it does not know.
UNKNOWN_THERE = {400, 404, 405, 415, 422, 501}
AGAIN = {408, 409, 425, 429}  # and everything from 500 on
MALFORMED = (ValueError, KeyError, TypeError, IndexError, AttributeError)
STOP = {401, 402, 404}  # no other item would fare better


@dataclass(frozen=True)
class Reply:
    """What the model said, and what it took."""

    text: str
    usage: dict[str, int]


class CallError(Exception):
    """A call that gave no reply: whether another try may help, and when."""

    def __init__(
        self, sentence: str, *, again: bool, after: float | None = None, stop: bool = False
    ) -> None:
        super().__init__(sentence)
        self.again = again  # another try may help
        self.after = after  # seconds that the server asked to wait
        self.stop = stop  # no call of this run can succeed


class Endpoint:
    """Asks one model; finds out which of the two protocols its server speaks, and keeps to it."""

    # Which protocol an address was found to speak, for all runs of this process.
    _spoken: ClassVar[dict[str, Protocol]] = {}

    def __init__(self, model: Model, address: Address) -> None:
        self._model = model
        self._address = address
        self._probing = asyncio.Lock()
        self._client = AsyncOpenAI(
            api_key=address.key,
            base_url=address.base_url,
            max_retries=0,  # retries are counted, and told apart, by whoever asks
            timeout=model.options.timeout,
            http_client=DefaultAioHttpClient(timeout=model.options.timeout),
        )

    async def close(self) -> None:
        """Let go of all connections."""
        await self._client.close()

    async def ask(self, messages: Sequence[str], system: str | None) -> Reply:
        """The reply to a conversation (the world's text first, then in turns)."""
        protocol = self._spoken.get(self._address.base_url)
        if protocol is not None:
            return await self._call(protocol, messages, system)
        async with self._probing:  # the first call finds out; the others wait for it
            protocol = self._spoken.get(self._address.base_url)
            if protocol is None:
                return await self._probe(messages, system)
        return await self._call(protocol, messages, system)

    async def _probe(self, messages: Sequence[str], system: str | None) -> Reply:
        spoken = self._spoken
        try:
            reply = await self._call("responses", messages, system)
        except CallError as problem:
            if not _unknown_there(problem.__cause__):
                raise
            reply = await self._call("chat", messages, system)
            spoken[self._address.base_url] = "chat"
            return reply
        spoken[self._address.base_url] = "responses"
        return reply

    async def _call(self, protocol: Protocol, messages: Sequence[str], system: str | None) -> Reply:
        turns = [
            {"role": "assistant" if place % 2 else "user", "content": _sendable(text)}
            for place, text in enumerate(messages)
        ]
        try:
            # The client's own limit is for each wait; a server that trickles never meets it.
            async with asyncio.timeout(self._model.options.timeout):
                if protocol == "responses":
                    return self._read(_read_response, await self._post_response(turns, system))
                return self._read(_read_chat, await self._post_chat(turns, system))
        except TimeoutError as problem:
            limit = f"no whole reply within {self._model.options.timeout:g} seconds"
            raise CallError(limit, again=True) from problem
        except openai.APIStatusError as problem:
            raise self._status_error(problem) from problem
        except openai.APIError as problem:  # no connection, a connection dropped, too slow
            # Its own text is only "Connection error."; what lies below says which.
            cause = problem.__cause__ or problem
            sentence = self._address.sentence(f"{type(cause).__name__}: {cause}")
            raise CallError(sentence, again=True) from problem

    async def _post_response(self, turns: list[dict[str, str]], system: str | None) -> bytes:
        body: dict[str, Any] = {
            "model": self._model.served_name,
            "input": turns,
            "max_output_tokens": self._model.settings.max_output_tokens,
            "store": False,
        }
        if system is not None:
            body["instructions"] = system
        return await self._post("/responses", body)

    async def _post_chat(self, turns: list[dict[str, str]], system: str | None) -> bytes:
        # OpenAI renamed this field; the servers that imitate it know the old name.
        limit = "max_completion_tokens" if self._model.provider == "openai" else "max_tokens"
        opening = [] if system is None else [{"role": "system", "content": system}]
        body: dict[str, Any] = {
            "model": self._model.served_name,
            "messages": opening + turns,
            limit: self._model.settings.max_output_tokens,
        }
        return await self._post("/chat/completions", body)

    async def _post(self, path: str, body: dict[str, Any]) -> bytes:
        if self._model.settings.temp is not None:
            body["temperature"] = self._model.settings.temp
        # Read as bytes: a body that is cut short or is no JSON is ours to judge.
        response = await self._client.post(
            path, body=body, cast_to=openai.HttpxBinaryResponseContent
        )
        return response.content

    def _read(self, reader: Any, content: bytes) -> Reply:
        try:
            body = _loads(content)
            reply: Reply = reader(body)
        except (*MALFORMED, RecursionError) as problem:
            shown = content[:120].decode("utf-8", "replace")
            sentence = self._address.sentence(f"the body is not a reply: {shown!r}")
            raise CallError(sentence, again=True) from problem
        return Reply(self._address.scrub(reply.text), reply.usage)

    def _status_error(self, problem: openai.APIStatusError) -> CallError:
        status = problem.status_code
        sentence = self._address.sentence(f"{status}: {problem.message}")
        if status in STOP or problem.code == "insufficient_quota":
            return CallError(sentence, again=False, stop=True)
        again = status in AGAIN or status >= 500
        return CallError(sentence, again=again, after=_retry_after(problem.response.headers))


def _unknown_there(cause: BaseException | None) -> bool:
    """Whether a call failed as it would where the protocol is not known."""
    if isinstance(cause, openai.APIStatusError):
        return cause.status_code in UNKNOWN_THERE
    # Some servers say 200 to any path, with a complaint for a body.
    return not isinstance(cause, (openai.APIError, TimeoutError))


def _sendable(text: str) -> str:
    """The text as UTF-8 can carry it: a reply with half a character may be sent back in a game."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _loads(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        # The standard reader lets half a character through, which a model may well write.
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
    usage = body.get("usage") or {}
    cut = (body.get("incomplete_details") or {}).get("reason") == "max_output_tokens"
    return Reply("".join(parts), _usage(usage, "input_tokens", "output_tokens", cut))


def _read_chat(body: Mapping[str, Any]) -> Reply:
    """The text of a chat completion."""
    choice = body["choices"][0]
    content = choice["message"].get("content")
    if isinstance(content, list):
        content = "".join(part.get("text") or "" for part in content)
    text = content or choice["message"].get("refusal") or ""
    if not isinstance(text, str):
        raise TypeError("the content is not text")
    usage = body.get("usage") or {}
    cut = choice.get("finish_reason") == "length"
    return Reply(text, _usage(usage, "prompt_tokens", "completion_tokens", cut))


def _usage(told: Mapping[str, Any], sent: str, said: str, cut: bool) -> dict[str, int]:
    usage = {"input_tokens": int(told.get(sent) or 0), "output_tokens": int(told.get(said) or 0)}
    return usage | ({"cut_off": 1} if cut else {})


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait, told as a number or as a date."""
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
