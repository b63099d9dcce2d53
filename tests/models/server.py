"""An HTTP server on loopback that supports both protocols and fails on demand."""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from aiohttp import web

from trivium.core.benchmark import Turn
from trivium.core.dialogue import solver_stream
from trivium.core.task import PresentedItem, Task

Answer = Callable[[list[str]], str]  # the model's reply to a dialogue
Fault = Callable[[str, int], str | None]  # what goes wrong with a prompt's n-th call, if anything
Alter = Callable[[dict[str, Any], int], None]  # changes the body of the reply to its n-th call
RAW = "raw:"  # a text with this prefix is written as JSON without quotes
FAULTS = ("429", "500", "dropped", "cut", "truncated", "garbage", "slow")


class SolverModel:
    """Replies to the prompts of some items like a built-in solver.

    Games may have the same prompt; asked one after the other, their order distinguishes them.
    """

    def __init__(self, task: Task, solver: str, items: Iterable[Any], trials: int = 1) -> None:
        self._task, self._solver = task, task.benchmark.solvers[solver]
        self._items: dict[str, list[PresentedItem]] = defaultdict(list)
        for item in items:
            for trial in range(trials):
                presented = PresentedItem(task, item.original, trial)
                self._items[presented.prompt].append(presented)
        self._asked: Counter[str] = Counter()

    def __call__(self, messages: list[str]) -> str:
        same_prompt = self._items[messages[0]]
        self._asked[messages[0]] += len(messages) == 1
        item = same_prompt[(self._asked[messages[0]] - 1) % len(same_prompt)]
        turn = len(messages) // 2
        stream = solver_stream(self._solver.name, item.original, item.trial, turn)
        known = item.content if self._solver.omniscient else None
        return self._solver.reply(Turn(messages, stream, self._task.view, known))


def some_faults(percent: int, kinds: Sequence[str] = FAULTS) -> Fault:
    """Faults of this percentage of calls for each kind, the same calls every time."""

    def fault(prompt: str, nth: int) -> str | None:
        digest = hashlib.blake2b(f"{nth} {prompt}".encode(), digest_size=4).digest()
        kind = int.from_bytes(digest, "little") % 100 // percent
        return kinds[kind] if kind < len(kinds) else None

    return fault


@dataclass
class Server:
    """A server that runs in a thread during a `with` block."""

    answer: Answer
    fault: Fault = lambda prompt, nth: None
    protocols: tuple[str, ...] = ("responses", "chat")
    forgiving: bool = False  # returns 200 for paths that it does not know
    cut_off: bool = False  # every reply reports that it reached the token limit
    alter: Alter = lambda body, nth: None
    retry_after: str = "0.2"  # seconds, of a 429
    refuse: dict[str, int] = field(default_factory=dict)  # status by the end of the path
    latency: float = 0.0
    slow: float = 1.0  # seconds that a slow reply takes
    port: int = 0
    asked: Counter[str] = field(default_factory=Counter)  # calls by first message
    answered: Counter[str] = field(default_factory=Counter)  # whole replies sent, likewise
    paths: Counter[str] = field(default_factory=Counter)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    open_calls: int = 0
    most_open_calls: int = 0
    keys: set[str | None] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Server:
        started = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, args=(started,), daemon=True)
        self._thread.start()
        assert started.wait(10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(RuntimeError):  # stopped and closed before
            self.stop()
        self._thread.join(10)

    def stop(self) -> None:
        """Stop listening, before the end of the block or at it."""
        self._loop.call_soon_threadsafe(self._stop.set)

    def _serve(self, started: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self.run(started.set))
        self._loop.close()

    async def run(self, ready: Callable[[], None]) -> None:
        self._stop = asyncio.Event()
        app = web.Application(client_max_size=1 << 26)
        if "responses" in self.protocols:
            app.router.add_post("/v1/responses", self._responses)
        if "chat" in self.protocols:
            app.router.add_post("/v1/chat/completions", self._chat)
        if "completions" in self.protocols:
            app.router.add_post("/v1/completions", self._complete)
        if self.forgiving:
            app.router.add_post("/{path:.*}", _unexpected)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port)
        await site.start()
        self.port = runner.addresses[0][1]
        ready()
        await self._stop.wait()
        await runner.cleanup()

    async def _responses(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        messages = [turn["content"] for turn in _turns(body["input"])]

        def reply(text: str) -> dict[str, Any]:
            part = {"type": "output_text", "text": text, "annotations": []}
            message = {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
            reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
            return {
                "id": "resp_1",
                "object": "response",
                "created_at": 0,
                "status": "incomplete" if self.cut_off else "completed",
                "incomplete_details": {"reason": "max_output_tokens"} if self.cut_off else None,
                "model": body["model"],
                "output": [reasoning, message],
                "parallel_tool_calls": True,
                "tool_choice": "auto",
                "tools": [],
                "usage": {
                    "input_tokens": 11,
                    "input_tokens_details": {"cached_tokens": 0},
                    "output_tokens": 7,
                    "output_tokens_details": {"reasoning_tokens": 0},
                    "total_tokens": 18,
                },
            }

        return await self._reply(request, body, messages, reply)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        messages = [turn["content"] for turn in _turns(body["messages"])]

        def reply(text: str) -> dict[str, Any]:
            message = {"role": "assistant", "content": text}
            finish = "length" if self.cut_off else "stop"
            return {
                "id": "chatcmpl_1",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": finish}],
                "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
            }

        return await self._reply(request, body, messages, reply)

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()

        def reply(text: str) -> dict[str, Any]:
            choice = {"index": 0, "text": text, "finish_reason": "stop", "logprobs": None}
            usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
            made = {"id": "cmpl_1", "object": "text_completion", "created": 0}
            return made | {"model": body["model"], "choices": [choice], "usage": usage}

        return await self._reply(request, body, [body["prompt"]], reply)

    async def _reply(
        self,
        request: web.Request,
        body: dict[str, Any],
        messages: list[str],
        shape: Callable[[str], dict[str, Any]],
    ) -> web.StreamResponse:
        prompt = messages[0]
        self.asked[prompt] += 1
        self.paths[request.path] += 1
        self.bodies.append(body)
        self.keys.add(request.headers.get("Authorization"))
        nth = self.asked[prompt]
        fault = self.fault(prompt, nth)
        for path, status in self.refuse.items():
            fault = str(status) if request.path.endswith(path) else fault
        self.open_calls += 1
        self.most_open_calls = max(self.most_open_calls, self.open_calls)
        await asyncio.sleep(self.slow if fault == "slow" else self.latency)
        self.open_calls -= 1
        if (
            fault is not None
            and (response := _failure(request, fault, self.retry_after)) is not None
        ):
            return response
        # The standard library escapes what is not ASCII, lone surrogates included.
        made = shape(self.answer(messages))
        self.alter(made, nth)
        content = re.sub(rf'"{RAW}([^"]*)"', r"\1", json.dumps(made)).encode()
        if fault in ("cut", "trickle"):
            return await _send_partly(request, content, fault)
        if fault == "truncated":
            return web.Response(body=content[: len(content) // 2], content_type="application/json")
        self.answered[prompt] += 1
        return web.Response(body=content, content_type="application/json")


async def _send_partly(request: web.Request, content: bytes, fault: str) -> web.StreamResponse:
    """Promise a whole body and send some of it: then hang up, or send a byte now and then."""
    response = web.StreamResponse()
    response.content_length = len(content)
    await response.prepare(request)
    await response.write(content[:9])
    if fault == "trickle":
        for index in range(9, len(content)):
            await asyncio.sleep(0.2)
            await response.write(content[index : index + 1])
    assert request.transport is not None
    request.transport.abort()
    return response


async def _unexpected(request: web.Request) -> web.StreamResponse:
    return web.json_response({"error": f"Unexpected endpoint or method. (POST {request.path})"})


def _turns(messages: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The dialogue without its system message, contents as plain text."""
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    turns = []
    for turn in messages:
        content = turn.get("content")
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content)
        if turn.get("role") in ("user", "assistant"):
            turns.append({"role": turn["role"], "content": content})
    return turns


CODES = {
    "quota": (429, "insufficient_quota"),
    "declined": (400, "content_filter"),
    "context": (400, "context_length_exceeded"),
}


def _failure(request: web.Request, fault: str, retry_after: str) -> web.StreamResponse | None:
    """The response of a fault; None for those that spoil a good reply."""
    if fault == "dropped":
        assert request.transport is not None
        request.transport.abort()
        return web.Response()
    if fault == "garbage":
        return web.Response(text="[" * 100_000, content_type="text/html")
    if fault in CODES:
        status, code = CODES[fault]
        error = {"message": f"no: {fault}", "type": "x", "code": code}
        return web.json_response({"error": error}, status=status)
    if fault.isdigit():
        # As careless as a server can be: it repeats the key.
        key = request.headers.get("Authorization", "")
        error = {"message": f"no: {fault} for {key}", "type": "x"}
        headers = {"Retry-After": retry_after} if fault == "429" else {}
        return web.json_response({"error": error}, status=int(fault), headers=headers)
    return None


def main() -> None:
    """Serve a fixed text after a fixed latency, for measurements of speed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.2)
    flags = parser.parse_args()
    server = Server(lambda messages: "A_1", latency=flags.latency)
    asyncio.run(server.run(lambda: print(server.port, flush=True)))


if __name__ == "__main__":
    main()
