"""Security of the server: headers, limits of size and rate, cookies and tokens."""

from __future__ import annotations

import hmac
import time
from typing import Literal

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 64 * 1024  # bytes of a request
MAX_NAMES = 50_000  # whose rates are kept in memory
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; media-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=()",
    "cache-control": "no-store",
}


class Rates:
    """A rate limit for each name: a token bucket."""

    def __init__(self, per_second: float, burst: float) -> None:
        self._rate, self._burst = per_second, burst
        self._buckets: dict[str, tuple[float, float]] = {}

    def check(self, name: str) -> None:
        """Count a request; raises HTTPException if it exceeds the rate."""
        now = time.monotonic()
        if len(self._buckets) > MAX_NAMES:
            self._buckets.clear()
        level, since = self._buckets.get(name, (self._burst, now))
        level = min(self._burst, level + (now - since) * self._rate)
        self._buckets[name] = (level - 1 if level >= 1 else level, now)
        if level < 1:
            raise HTTPException(429, "too many requests")


class SafeHeaders:
    """Middleware that adds the security headers to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._app(scope, receive, with_headers)


def address_of(request: Request) -> str:
    """The address of the client."""
    return request.client.host if request.client else ""


def same_origin(request: Request) -> bool:
    """Whether a request comes from a page of this server, according to the browser.

    Requests of browsers too old to say are protected by a token that other sites cannot read; the
    Origin header is no help behind a proxy that changes the host or the scheme.
    """
    return request.headers.get("sec-fetch-site") in (None, "same-origin")


def equal(first: str, second: str) -> bool:
    """Whether two texts are equal, compared in constant time."""
    return hmac.compare_digest(first.encode("utf-8", "replace"), second.encode("utf-8", "replace"))


def set_cookie(
    response: Response, request: Request, name: str, value: str, site: Literal["lax", "strict"]
) -> None:
    """Set a cookie that scripts cannot read and other sites cannot use."""
    response.set_cookie(
        name,
        value,
        max_age=30 * 24 * 3600,
        secure=request.url.scheme == "https",
        httponly=True,
        samesite=site,
    )
