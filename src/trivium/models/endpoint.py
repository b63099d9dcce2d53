"""One OpenAI-compatible endpoint: messages go in, a reply or an error comes out."""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from email.utils import parsedate_to_datetime
from functools import partial
from typing import ClassVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import certifi

from trivium.core.dialogue import Reply
from trivium.models.bodies import MALFORMED, load_body, read_body, read_error
from trivium.models.calls import CallError
from trivium.models.protocols import PATHS, ProtocolName, Schema, request_body
from trivium.models.providers import Address
from trivium.models.settings import Model

UNSUPPORTED = {400, 404, 405, 415, 422, 501}  # statuses for an unknown path or kind of body
RETRYABLE = {408, 409, 425, 429}  # as are all from 500
HOPELESS = {401, 402, 404}  # every other call would fail too
HOPELESS_AT_FIRST = {403}  # the same before the first reply; later, one prompt may be forbidden
SECONDS_TO_CONNECT = 30.0
SECONDS_OF_PROBING = 1.0  # how long other calls wait for the first to detect the protocol

Write = Callable[[ProtocolName], bytes]  # the body of a request in a protocol


class Endpoint:
    """Calls one model with the protocol that its server supports, which the first call detects.

    It uses aiohttp, because the official client takes four times as much CPU per call and would
    still need our retries, token counts and parsing of unusual replies.
    """

    # The protocol of each base URL, for all runs of this process.
    _protocols: ClassVar[dict[str, ProtocolName]] = {}

    def __init__(self, model: Model, address: Address) -> None:
        self._model = model
        self._address = address
        self._probing, self._probed = False, asyncio.Event()
        timeout = model.options.timeout
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=_certificates(address.base_url)),
            timeout=aiohttp.ClientTimeout(
                total=timeout, sock_connect=min(timeout, SECONDS_TO_CONNECT)
            ),
            headers={"Authorization": f"Bearer {address.key}", "Content-Type": "application/json"},
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        self._proxy = _proxy(address.base_url)

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def ask(
        self, messages: Sequence[str], system: str | None, schema: Schema | None
    ) -> Reply:
        """The reply to a dialogue: the prompt, then replies and responses in turn."""
        turns = [
            {"role": "assistant" if index % 2 else "user", "content": _encodable(text)}
            for index, text in enumerate(messages)
        ]
        write = partial(request_body, model=self._model, turns=turns, system=system, schema=schema)
        if self._protocol is None and self._probing:
            # The first call detects the protocol; if it hangs, the others do not wait for it.
            with suppress(TimeoutError):
                async with asyncio.timeout(SECONDS_OF_PROBING):
                    await self._probed.wait()
        if self._protocol is not None:
            return await self._call(self._protocol, write)
        self._probing = True
        try:
            return await self._probe(write)
        finally:
            self._probed.set()

    @property
    def _protocol(self) -> ProtocolName | None:
        """The configured or detected protocol, None before it is detected."""
        api = self._model.settings.api
        return self._protocols.get(self._address.base_url) if api == "auto" else api

    async def _probe(self, write: Write) -> Reply:
        protocols: tuple[ProtocolName, ProtocolName] = ("chat", "responses")
        if (urlsplit(self._address.base_url).hostname or "").endswith("api.openai.com"):
            protocols = ("responses", "chat")
        first, second = protocols
        try:
            found, reply = first, await self._call(first, write)
        except CallError as problem:
            if not _is_unsupported(problem):
                raise
            try:
                found, reply = second, await self._call(second, write)
            except CallError as other:
                # The first protocol is the more common one, so its error is the more useful.
                raise problem if _is_unsupported(other) else other from None
        self._protocols[self._address.base_url] = found
        return reply

    async def _call(self, protocol: ProtocolName, write: Write) -> Reply:
        try:
            reply = await self._post(self._address.url(PATHS[protocol]), write(protocol))
        except CallError as problem:
            problem.message = self._address.error_line(problem.message)
            raise
        hide = self._address.hide_key
        reasoning = None if reply.reasoning is None else hide(reply.reasoning)
        return replace(reply, text=hide(reply.text), reasoning=reasoning)

    async def _post(self, url: str, body: bytes) -> Reply:
        try:
            async with self._session.post(url, data=body, proxy=self._proxy) as response:
                content = await response.read()
        except aiohttp.ClientConnectorError as problem:  # no such host, nothing listens, no TLS
            raise _unreachable(problem.os_error) from problem
        except aiohttp.ConnectionTimeoutError as problem:
            raise _unreachable(problem) from problem
        except TimeoutError as problem:
            message = f"no whole reply within {self._model.options.timeout:g} seconds"
            raise CallError(message, retryable=True) from problem
        except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError, OSError) as problem:
            message = "the connection broke off before the reply was complete"
            raise CallError(message, retryable=True) from problem
        except aiohttp.ClientError as problem:
            raise CallError(f"{type(problem).__name__}: {problem}", retryable=True) from problem
        if response.status >= 300:
            message, code = read_error(content)
            if code == "declined":
                return Reply(message, {}, "content_filter")
            status = response.status
            raise CallError(
                f"{status}: {message}",
                status=status,
                retryable=status in RETRYABLE or status >= 500,
                after=retry_delay(response.headers),
                hopeless=status in HOPELESS or code == "insufficient_quota",
                at_first=status in HOPELESS_AT_FIRST,
            )
        return read_reply(content)


def read_reply(content: bytes) -> Reply:
    """The reply in the body of a response; CallError where there is none."""
    try:
        reply = read_body(load_body(content))[0]
    except MALFORMED as problem:
        start = content[:120].decode("utf-8", "replace")
        raise CallError(f"the body is not a reply: {start!r}", retryable=True) from problem
    if reply.error is not None:
        raise CallError(reply.error, retryable=True, usage=reply.usage)
    return reply


def _unreachable(problem: BaseException) -> CallError:
    """The error of a failed connection: permanent unless the server has replied before."""
    number = getattr(problem, "errno", None)
    if isinstance(number, int) and number > 0:
        why = os.strerror(number)
    else:
        why = getattr(problem, "strerror", None) or str(problem)
    return CallError(f"no connection ({why})", retryable=True, at_first=True, unreachable=True)


def _is_unsupported(problem: CallError) -> bool:
    """Whether the error is one of servers that do not support the protocol."""
    if problem.status is not None:
        return problem.status in UNSUPPORTED
    # Some servers return 200 for any path, with an error message as the body.
    return isinstance(problem.__cause__, KeyError)


def _certificates(base_url: str) -> ssl.SSLContext | bool:
    """The certificates of the system and of certifi, because some systems have none."""
    if not base_url.startswith("https:"):
        return True
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def _proxy(base_url: str) -> str | None:
    """The proxy of the environment; aiohttp would look it up in a thread for every call."""
    scheme, host, *_ = urlsplit(base_url)
    return None if proxy_bypass(host) else getproxies().get(scheme)


def _encodable(text: str) -> str:
    """The text without lone surrogates, which a model's earlier reply in a game may hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def retry_delay(headers: Mapping[str, str]) -> float | None:
    """The seconds of a Retry-After header, which may be a number or a date."""
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
