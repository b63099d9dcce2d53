"""The server of a study."""

from __future__ import annotations

import asyncio
import ipaddress
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import uvicorn

from trivium.core.errors import UserError
from trivium.core.loops import run_async
from trivium.people.app import make_app
from trivium.people.study import Study


class Server:
    """A study on an address, whose port is bound at once.

    Headers of proxies are trusted only from the addresses and networks in `proxies`.
    """

    def __init__(
        self,
        study: Study,
        token: str,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        proxies: Sequence[str] = (),
    ) -> None:
        try:
            for one in proxies:
                ipaddress.ip_network(one)
        except ValueError:
            raise UserError(
                f"proxy must be addresses or networks such as 127.0.0.1 or 10.0.0.0/8, got {one!r}"
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
            make_app(study, token),
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
