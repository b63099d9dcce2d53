"""A server that sends whatever bytes a test asks for, in place of a provider."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Sent(NamedTuple):
    """A response."""

    body: bytes | dict[str, Any]
    status: int = 200
    headers: Mapping[str, str] = {}


class Request(NamedTuple):
    """A request: its path, headers and body, and its number among those of its prompt."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    prompt: str
    nth: int


def completion(text: Any, **more: Any) -> dict[str, Any]:
    """A chat completion; `message` and `choice` are merged into these parts."""
    message = {"role": "assistant", "content": text} | more.pop("message", {})
    choice = {"index": 0, "message": message, "finish_reason": "stop"} | more.pop("choice", {})
    usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "usage": usage}
    return body | {"choices": [choice]} | more


@dataclass
class RawServer:
    """Serves in threads during a `with` block, and counts what it is asked."""

    respond: Callable[[Request], Sent]
    asked: Counter[str] = field(default_factory=Counter)  # requests by prompt

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> RawServer:
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body in one packet, or the body waits 40 ms

            def do_POST(self) -> None:
                content = self.rfile.read(int(self.headers.get("content-length", 0)))
                body = json.loads(content)
                turns = [one for one in body.get("messages") or body["input"] if "content" in one]
                first = next(one["content"] for one in turns if one.get("role") == "user")
                prompt = first if isinstance(first, str) else first[0]["text"]
                stub.asked[prompt] += 1
                asked = Request(self.path, dict(self.headers), body, prompt, stub.asked[prompt])
                sent = stub.respond(asked)
                raw = json.dumps(sent.body).encode() if isinstance(sent.body, dict) else sent.body
                self.send_response(sent.status)
                for name, value in (
                    {"content-type": "application/json"} | {**sent.headers}
                ).items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a killed client
        # It looks every 10 ms whether to stop.
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._server.shutdown()
        self._server.server_close()
