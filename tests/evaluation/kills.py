"""Kills an evaluation of a loopback model at random moments, and checks what its records hold.

`python -m tests.evaluation.kills 20` does it twenty times with each signal.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import orjson

from tests.models.common import eval_words, oracle, prompts
from tests.models.server import Server

KINDS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
STATUSES = {signal.SIGKILL: {-9}, signal.SIGTERM: {143, -15}, signal.SIGINT: {130, -2}}
READY = 4  # records of this call before the moment of the kill is drawn


@dataclass
class Outcome:
    """What a series of kills did."""

    kills: int
    statuses: set[int]
    records: list[int]  # held after each kill
    recorded_asked_again: int
    tracebacks: int


def kill_often(kind: signal.Signals, kills: int, out: Path, seed: int = 0) -> Outcome:
    """Kill an evaluation this often, each time later than some records; then let it end."""
    chance = random.Random(seed)
    outcome = Outcome(0, set(), [], 0, 0)
    items = 60 + 20 * kills  # more than are recorded before the last kill
    asked_for = prompts(items)
    environment = {**os.environ, "VLLM_API_KEY": "none-needed"}
    with Server(oracle(items), latency=0.05) as server:
        words = eval_words(server, out, "--concurrency", "4", items=items)
        command = [sys.executable, "-m", "trivium", *words]
        while outcome.kills < kills:
            held = records(out)
            before = server.asked.copy()
            process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
            )
            _wait_for_records(process, out, len(held) + READY)
            time.sleep(chance.uniform(0.0, 0.1))
            process.send_signal(kind)
            said = process.communicate(timeout=60)[1]
            assert process.returncode != 0, "it was finished before it was killed: more items"
            outcome.kills += 1
            outcome.statuses.add(process.returncode)
            outcome.tracebacks += b"Traceback" in said
            outcome.recorded_asked_again += sum(
                server.asked[asked_for[index]] > before[asked_for[index]] for index in held
            )
            after = records(out)
            assert held <= after, "a record was lost"
            outcome.records.append(len(after))
        assert (
            subprocess.run(command, capture_output=True, env=environment, check=False).returncode
            == 0
        )
    lines = (out / "records.jsonl").read_bytes().splitlines()
    rows = [orjson.loads(line) for line in lines]
    assert [row["index"] for row in rows] == list(range(items)), "each item once, in order"
    assert {row["kind"] for row in rows} == {"right"}
    return outcome


def records(out: Path) -> set[int]:
    """The indexes of the items with a whole record; none is there twice."""
    path = out / "records.jsonl"
    if not path.exists():
        return set()
    lines = path.read_bytes().split(b"\n")[:-1]
    found = [orjson.loads(line)["index"] for line in lines]
    assert len(found) == len(set(found)), "a record was doubled"
    return set(found)


def _wait_for_records(process: subprocess.Popen[bytes], out: Path, count: int) -> None:
    path, deadline = out / "records.jsonl", time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.005)


def main() -> None:
    """Print what each signal did."""
    kills = int(sys.argv[1])
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            print(kind.name, kill_often(kind, kills, Path(folder) / "killed"), flush=True)


if __name__ == "__main__":
    main()
