"""A headless Chromium, driven through its own protocol: what a page logs, requests and shows."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((found for name in NAMES if (found := shutil.which(name))), None)
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--remote-debugging-port=0",
    "--window-size=1200,1000",
)
KEYS = {"Tab": 9, "Enter": 13, "ArrowRight": 39, "ArrowLeft": 37, "ArrowDown": 40, "ArrowUp": 38}


class Page:
    """One page: its console, its requests, its document."""

    def __init__(self, loop: asyncio.AbstractEventLoop, socket: Any) -> None:
        self._loop, self._socket = loop, socket
        self._number = 0
        self.errors: list[str] = []
        self.requests: list[str] = []

    def call(self, method: str, **params: Any) -> Any:
        """The result of one command; what happens meanwhile is noted."""
        return self._loop.run_until_complete(self._call(method, params))

    async def _call(self, method: str, params: dict[str, Any]) -> Any:
        self._number += 1
        number = self._number
        await self._socket.send_str(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = json.loads((await self._socket.receive(timeout=30)).data)
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]
            self._note(message.get("method"), message.get("params", {}))

    def _note(self, method: str | None, params: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.errors.append(json.dumps(params["args"])[:500])
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(json.dumps(params["entry"])[:500])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def open(self, path: Path) -> None:
        """Load a file and wait until its scripts have run."""
        for domain in ("Runtime", "Log", "Network", "Page"):
            self.call(f"{domain}.enable")
        self.call("Page.navigate", url=path.absolute().as_uri())
        ready = "document.readyState === 'complete'"
        deadline = time.monotonic() + 30
        while not self.value(ready):
            assert time.monotonic() < deadline, f"the page did not get ready: {self.errors}"
            time.sleep(0.05)

    def value(self, expression: str) -> Any:
        """What an expression comes to in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str, times: int = 1) -> None:
        """Press a key, as a person at a keyboard would."""
        code = KEYS.get(key, ord(key.upper()[0]))
        text = {"text": "\r"} if key == "Enter" else {}
        for _ in range(times):
            shared = {"key": key, "code": key, "windowsVirtualKeyCode": code}
            self.call("Input.dispatchKeyEvent", type="keyDown", **shared, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", **shared)


@contextmanager
def chromium(profile: Path) -> Iterator[Page]:
    """A browser with one empty page; it ends with the block."""
    assert CHROMIUM is not None
    process = subprocess.Popen(
        [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    loop = asyncio.new_event_loop()
    try:
        port = _port(profile / "DevToolsActivePort")
        session, socket = loop.run_until_complete(_connect(port))
        try:
            yield Page(loop, socket)
        finally:
            loop.run_until_complete(socket.close())
            loop.run_until_complete(session.close())
    finally:
        process.terminate()
        process.wait(timeout=20)
        loop.close()


def _port(path: Path) -> int:
    deadline = time.monotonic() + 30
    while not (path.exists() and path.read_text().count("\n")):
        assert time.monotonic() < deadline, "Chromium did not start"
        time.sleep(0.05)
    return int(path.read_text().split("\n", maxsplit=1)[0])


async def _connect(port: int) -> tuple[aiohttp.ClientSession, Any]:
    session = aiohttp.ClientSession()
    async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
        pages = [page for page in await answer.json() if page["type"] == "page"]
    socket = await session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0)
    return session, socket
