"""Runs an application under uvicorn, with limits on slow connections."""

from __future__ import annotations

import asyncio
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ipaddress import ip_network
from typing import ClassVar

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from trivium.core.dialogue import run_async
from trivium.core.errors import UserError

REQUEST_SECONDS = 20  # within which a whole request must arrive
MAX_WAITING = 400  # connections whose request has not arrived yet


class LimitedProtocol(H11Protocol):
    """Closes connections that do not send a whole request in time.

    When too many are waiting, the oldest is closed, so that half-open requests block no others.
    """

    waiting: ClassVar[dict[LimitedProtocol, asyncio.TimerHandle]] = {}  # the oldest first

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Stop waiting once a whole request has arrived."""
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop_waiting()
        elif self not in self.waiting:
            self._wait()

    def send_400_response(self, msg: str) -> None:
        """Refuse a broken request, unless its head was answered before the rest arrived."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()
            return
        if self.cycle is not None:
            self.cycle.disconnected = True  # no other response is sent
        super().send_400_response(msg)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        """Close this connection unless a request arrives in time, and the oldest of too many."""
        self.waiting[self] = self.loop.call_later(REQUEST_SECONDS, self.transport.close)
        if len(self.waiting) > MAX_WAITING:
            oldest = next(iter(self.waiting))
            oldest._stop_waiting()
            oldest.transport.close()

    def _stop_waiting(self) -> None:
        if self in self.waiting:
            self.waiting.pop(self).cancel()


class Server:
    """An application at an address, whose port is bound when the object is created.

    Headers of proxies are trusted only from the addresses and networks in `proxies`.
    """

    def __init__(
        self,
        app: ASGIApp,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        proxies: Sequence[str] = (),
    ) -> None:
        try:
            for proxy in proxies:
                ip_network(proxy)
        except ValueError:
            raise UserError(
                "proxy must be addresses or networks such as 127.0.0.1 or 10.0.0.0/8, "
                f"got {', '.join(proxies)}"
            ) from None
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.socket(family)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((host, port))
            self._socket.listen(512)  # requests are queued until the server has started
        except OSError as problem:
            raise UserError(f"{host} port {port}: {problem.strerror}") from None
        name = f"[{host}]" if ":" in host else host
        self.url = f"http://{name}:{self._socket.getsockname()[1]}/"
        # No access log: links hold the names that recruiting services give to participants.
        config = uvicorn.Config(
            app,
            http=LimitedProtocol,
            ws="none",
            access_log=False,
            log_level="warning",
            server_header=False,
            proxy_headers=bool(proxies),
            forwarded_allow_ips=list(proxies),
            timeout_keep_alive=30,
            h11_max_incomplete_event_size=16 * 1024,
        )
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Serve until the process ends."""
        main_thread = threading.current_thread() is threading.main_thread()
        if main_thread and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            # uvicorn raises the signal again; exit instead, so that a demo is removed.
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        _, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))  # files and connections
        run_async(self._serve())

    async def _serve(self) -> None:
        """Serve until a signal stops the server, or interrupting a notebook cancels this task."""
        serving = asyncio.ensure_future(self._server.serve([self._socket]))
        try:
            await asyncio.shield(serving)
        except asyncio.CancelledError:
            self._server.should_exit = True
            await serving

    @contextmanager
    def in_background(self) -> Iterator[None]:
        """Serve in a thread."""
        thread = threading.Thread(target=self.run, daemon=True)
        thread.start()
        while not self._server.started:
            time.sleep(0.01)
        try:
            yield
        finally:
            self._server.should_exit = True
            thread.join(10)
