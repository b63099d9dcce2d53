"""Many participants at once while the server is killed: is any step lost or counted twice?

python -m tests.people.kills 200 50 20
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.people.client import PAPER, next_step
from trivium.people.study import Study, open_study

CODE = """
import sys
from pathlib import Path
from trivium.people.app import make_app
from trivium.people.server import Server
from trivium.people.study import open_study
study = open_study(Path(sys.argv[1]))
server = Server(make_app(study, "token"), port=int(sys.argv[2]))
print("ready", flush=True)
server.run()
"""


@dataclass
class Outcome:
    """What happened."""

    lost: int = 0  # acknowledged steps that are not in the store
    doubled: int = 0  # steps that are there more often than they were taken
    conditions: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)  # of steps that were answered at once
    kills: int = 0
    repeated: int = 0  # requests that were sent again, on purpose or for want of a reply
    reloads: int = 0

    @property
    def p95(self) -> float:
        """The time that 95 of 100 steps took at most."""
        return sorted(self.seconds)[int(0.95 * (len(self.seconds) - 1))]


class Server:
    """A server that can be killed and started again on the same port."""

    def __init__(self, experiment: Path, port: int) -> None:
        self._words = [sys.executable, "-c", CODE, str(experiment), str(port)]
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def kill(self) -> None:
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


class Participant:
    """One participant, who reloads now and then and sends some requests twice."""

    def __init__(self, url: str, study: Study, outcome: Outcome, rng: random.Random) -> None:
        self.http = httpx.AsyncClient(base_url=url, timeout=30, follow_redirects=True)
        self.study, self.outcome, self.rng = study, outcome, rng
        self.taken: list[tuple[str, Any]] = []
        self.interrupted = False

    async def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send a request until there is an answer, as the page does."""
        while True:
            try:
                response = await self.http.request(method, path, **options)
                if response.status_code < 500 and response.status_code != 429:
                    return response
            except httpx.TransportError:
                pass
            self.outcome.repeated += 1
            self.interrupted = True
            await asyncio.sleep(0.05)

    async def load(self) -> dict[str, Any]:
        state = (await self.call("GET", "/api/state")).json()
        self.token = state["token"]
        view: dict[str, Any] = state["view"]
        return view

    async def take_part(self, name: str) -> None:
        await self.call("GET", f"/?PROLIFIC_PID={name}")
        self.key = self.http.cookies["trivium_session"].partition("~")[0]
        view = await self.load()
        while view["screen"] != "done":
            if self.rng.random() < 0.05:
                self.outcome.reloads += 1
                view = await self.load()
            step = next_step(self.study, self.key, "information_gain")
            view = await self.step(view["number"], step.kind, step.value)
            self.taken.append((step.kind, step.value))
        await self.http.aclose()

    async def step(self, number: int, kind: str, value: Any) -> dict[str, Any]:
        body = {"number": number, "kind": kind, "value": value, "time": time.time()}
        started, self.interrupted = time.perf_counter(), False
        headers = {"X-Token": self.token}
        response = await self.call("POST", "/api/step", json=body, headers=headers)
        if not self.interrupted:
            self.outcome.seconds.append(time.perf_counter() - started)
        assert response.status_code == 200, response.text
        if self.rng.random() < 0.1:  # a second click, or a request that was sent again
            self.outcome.repeated += 1
            again = await self.call("POST", "/api/step", json=body, headers=headers)
            assert again.status_code == 200, again.text
        view: dict[str, Any] = response.json()["view"]
        return view


async def run(folder: Path, people: int, at_once: int, kills: int, port: int) -> Outcome:
    """Let people take part while the server is killed; then compare with the store."""
    experiment, outcome = folder / "experiment.toml", Outcome()
    text = PAPER.read_text().replace("cap = 25", f"cap = {people}")
    experiment.write_text("requests_per_second = 100000\n" + text)
    server = Server(experiment, port)
    study = open_study(experiment)
    url = f"http://127.0.0.1:{port}"
    participants = [
        Participant(url, study, outcome, random.Random(number)) for number in range(people)
    ]
    left = list(enumerate(participants))

    async def work() -> None:
        while left:
            number, one = left.pop(0)
            await one.take_part(f"person-{number}")

    async def disturb() -> None:
        while outcome.kills < kills:
            await asyncio.sleep(0.2 + random.random())
            server.kill()
            outcome.kills += 1
            await asyncio.to_thread(server.start)

    disturbing = asyncio.create_task(disturb())
    await asyncio.gather(*(work() for _ in range(at_once)))
    disturbing.cancel()
    server.kill()
    for one in participants:
        found = study.store.find("key", one.key)
        assert found is not None
        kept = [(step.kind, step.value) for step in study.store.steps(found.id)]
        outcome.lost += sum((Counter(map(repr, one.taken)) - Counter(map(repr, kept))).values())
        outcome.doubled += sum((Counter(map(repr, kept)) - Counter(map(repr, one.taken))).values())
        outcome.lost += kept != one.taken and not outcome.doubled
        outcome.conditions[str(found.condition)] += 1
    return outcome


if __name__ == "__main__":
    people, at_once, kills = map(int, sys.argv[1:4])
    with tempfile.TemporaryDirectory() as name:
        began = time.time()
        found = asyncio.run(run(Path(name), people, at_once, kills, 18765))
    print(
        f"{people} people, {at_once} at once, {found.kills} kills in {time.time() - began:.0f} s; "
        f"{len(found.seconds)} steps, {found.repeated} repeated requests, {found.reloads} reloads; "
        f"lost {found.lost}, doubled {found.doubled}, "
        f"conditions {sorted(found.conditions.values())}, p95 of a step {1000 * found.p95:.0f} ms"
    )
