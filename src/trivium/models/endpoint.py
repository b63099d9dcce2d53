"""One OpenAI-compatible endpoint: messages go in, a reply or an error comes out."""

from __future__ import annotations

import asyncio
import os
import ssl
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from email.utils import formatdate, parsedate_to_datetime
from functools import partial
from typing import ClassVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import certifi
import orjson

from trivium.core.dialogue import Reply, aside
from trivium.core.text import one_line
from trivium.models.backends import CallError
from trivium.models.bodies import (
    MALFORMED,
    PATHS,
    BodyTooLargeError,
    Fields,
    ProtocolName,
    Turn,
    collect,
    load_body,
    read_body,
    read_error,
    request_fields,
)
from trivium.models.providers import Model, find_address, hider, scrub_urls

UNSUPPORTED = {400, 404, 405, 415, 422, 501}  # statuses for an unknown path or kind of body
RETRYABLE = {408, 409, 425, 429}  # as are all from 500
HOPELESS = {401, 402, 404}  # every other call would fail too
HOPELESS_AT_FIRST = {403}  # the same before the first reply; later, one prompt may be forbidden
SECONDS_TO_CONNECT = 30.0
ACCEPT_ENCODING = "gzip"
SECONDS_OF_PROBING = 1.0  # how long other calls wait for the first to detect the protocol

Write = Callable[[ProtocolName], Fields]  # the body of a request in a protocol


class Endpoint:
    """Calls one model with the protocol that its server supports, which the first call detects.

    It uses aiohttp, because the official client takes four times as much CPU per call and would
    still need our retries, token counts and parsing of unusual replies.
    """

    # The protocol of each base URL, for all runs of this process.
    _protocols: ClassVar[dict[str, ProtocolName]] = {}

    def __init__(self, model: Model) -> None:
        self._model, self._address = model, find_address(model)
        address = self._address
        self._probing, self._probed = False, asyncio.Event()
        timeout = model.options.timeout
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=_certificates(address.base_url)),
            timeout=aiohttp.ClientTimeout(
                total=timeout, sock_connect=min(timeout, SECONDS_TO_CONNECT)
            ),
            headers={
                "Authorization": f"Bearer {address.key}",
                "Content-Type": "application/json",
                "Accept-Encoding": ACCEPT_ENCODING,
            },
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
        )
        self._proxy, self._hide = _proxy(address.base_url), hider()

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def ask(
        self, turns: Sequence[Turn], schema: Fields | None = None, tools: Sequence[Fields] = ()
    ) -> Reply:
        """The reply to a dialogue, held to a JSON schema or with calls of tools."""
        write = partial(request_fields, model=self._model, turns=turns, schema=schema, tools=tools)
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
            return await self._post(
                self._address.url(PATHS[protocol]), orjson.dumps(write(protocol))
            )
        except CallError as problem:
            problem.message = one_line(scrub_urls(self._hide(problem.message)))
            raise

    async def _post(self, url: str, body: bytes) -> Reply:
        try:
            # A redirect is not followed: another server would be sent the prompt.
            async with self._session.post(
                url, data=body, proxy=self._proxy, allow_redirects=False
            ) as response:
                content = await collect(response.content.iter_any())
        except aiohttp.ClientConnectorError as problem:  # no such host, nothing listens, no TLS
            why = getattr(problem, "certificate_error", None)
            raise _unreachable(why or problem.os_error) from problem
        except aiohttp.ConnectionTimeoutError as problem:
            raise _unreachable(problem) from problem
        except TimeoutError as problem:
            message = f"no whole reply within {self._model.options.timeout:g} seconds"
            raise CallError(message, retryable=True) from problem
        except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError, OSError) as problem:
            message = "the connection broke off before the reply was complete"
            raise CallError(message, retryable=True) from problem
        except BodyTooLargeError as problem:  # so would be the next one, which is paid for too
            raise CallError(str(problem), retryable=False) from problem
        except (aiohttp.ClientError, zlib.error) as problem:
            raise CallError(f"{type(problem).__name__}: {problem}", retryable=True) from problem
        if response.status >= 300:
            status, location = response.status, response.headers.get("location")
            message, code = read_error(content, response.charset, self._hide)
            if code == "declined":
                return Reply(message, {}, "content_filter")
            if status < 400 and location is not None:
                message = f"the server redirects to {location}, which is not followed"
            raise CallError(
                f"{status}: {message}",
                status=status,
                retryable=status in RETRYABLE or status >= 500,
                after=retry_delay(response.headers),
                hopeless=status in HOPELESS or status < 400 or code == "insufficient_quota",
                at_first=status in HOPELESS_AT_FIRST,
            )
        return await aside(len(content), read_reply, content, response.charset, self._hide)


def read_reply(content: bytes, charset: str | None, hide: Callable[[str], str]) -> Reply:
    """The reply in the body of a response; CallError where there is none."""
    try:
        reply = read_body(load_body(content, charset, hide))[0]
    except MALFORMED as problem:
        start = hide(content.decode("utf-8", "replace"))[:120]
        raise CallError(f"the body is not a reply: {start!r}", retryable=True) from problem
    if reply.error is not None:
        raise CallError(reply.error, retryable=True, usage=reply.usage)
    return reply


def _unreachable(problem: BaseException) -> CallError:
    """The error of a failed connection: permanent unless the server has replied before."""
    number = getattr(problem, "errno", None)
    if isinstance(problem, ssl.SSLError):  # its number is not one of the system
        why = f"TLS failed with {problem.reason}; is its URL http:// rather than https://?"
    elif isinstance(number, int) and number > 0:
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
    """The proxy set in the environment, which aiohttp would look up in a thread for every call."""
    scheme, host, *_ = urlsplit(base_url)
    return None if proxy_bypass(host) else getproxies().get(scheme)


def retry_delay(headers: Mapping[str, str]) -> float | None:
    """The seconds of a Retry-After header, a number or a date by the server's clock."""
    value = headers.get("retry-after", "")
    with suppress(ValueError):
        return max(0.0, float(value)) if float(value) < 1e9 else None  # inf, nan
    with suppress(ValueError, TypeError, OverflowError):
        now = parsedate_to_datetime(headers.get("date") or formatdate(usegmt=True))
        return max(0.0, (parsedate_to_datetime(value) - now).total_seconds())
    return None
