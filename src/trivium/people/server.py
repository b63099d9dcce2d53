"""The server of an application."""

from __future__ import annotations

import asyncio
import resource
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import ClassVar

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from trivium.core.errors import UserError
from trivium.core.loops import run_async

REQUEST_SECONDS = 20  # in which a whole request must come
MAX_CONNECTIONS = 500  # from one address; a class may share one


class LimitedProtocol(H11Protocol):
    """Closes connections that do not send a whole request in time, or of which there are too many.

    Trusted proxies, which do this themselves, may open any number of connections.
    """

    trusted: ClassVar[Collection[IPv4Network | IPv6Network]] = ()
    opened: ClassVar[Counter[str]] = Counter()
    _address = ""
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection and wait for its first request."""
        super().connection_made(transport)
        self._address = str(self.client[0]) if self.client else ""
        self.opened[self._address] += 1
        if self.opened[self._address] > MAX_CONNECTIONS and not self._is_trusted:
            transport.close()
        self._wait()

    @property
    def _is_trusted(self) -> bool:
        known = ip_address(self._address) if self._address else None
        return any(known in network for network in self.trusted)

    def data_received(self, data: bytes) -> None:
        """Wait no longer once a whole request has come."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE and self.conn.their_state is not h11.SEND_BODY:
            self._stop_waiting()
        elif self._deadline is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        self.opened[self._address] -= 1
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(REQUEST_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class Server:
    """An application on an address, whose port is bound at once.

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
            trusted = [ip_network(one) for one in proxies]
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
        protocol = type("Protocol", (LimitedProtocol,), {"trusted": trusted, "opened": Counter()})
        config = uvicorn.Config(
            app,
            http=protocol,
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
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # files and connections
        run_async(self._serve())

    async def _serve(self) -> None:
        """Serve until a signal ends the server, or the interrupt of a notebook cancels this."""
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
