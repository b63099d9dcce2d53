"""Kills, full disks and fuzzed input: what a run survives, with counts.

Every part prints one line per case that failed and a last line with its counts; the exit status is
1 if anything failed. Counts are small by default; the seed is fixed.

    python -m perf.reliability kills [COUNT [NAME ...]]  # SIGKILL at random moments, then resume
    python -m perf.reliability disks [0 [NAME ...]]      # nothing, or too little, can be written
    python -m perf.reliability fuzz [COUNT]              # command lines and files
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from tests.models.raw import RawServer, Request, Sent, completion

from trivium import cli

SECONDS, GIGABYTES = 30, 2  # of one fuzzed process
BACKENDS = ("direct", "inspect")
TEXT = "E_0001"
ODD = [None, "", 5, -1, 2**70, 2.5, True, [], {}, ["x"], {"a": None}, "x" * 5000, "\ud800", "\x1b"]


def run(
    words: str | Sequence[str],
    folder: Path,
    kill_after: float = 600,
    limit: tuple[int, int] | None = None,
) -> tuple[int, str]:
    """The exit status of a command and what it printed; `limit` is a resource and its bound.

    It runs in a fork of this process, which has imported everything that is slow to import.
    """
    words = words.split() if isinstance(words, str) else words
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if not child:
            _run_here([word.replace("\0", "") for word in words], folder, said.fileno(), limit)
        deadline = time.monotonic() + kill_after
        while not (ended := os.waitpid(child, os.WNOHANG))[0]:
            time.sleep(0.01)
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
                deadline = float("inf")
        said.seek(0)
        return os.waitstatus_to_exitcode(ended[1]), said.read().decode("utf-8", "replace")


def _run_here(
    words: list[str], folder: Path, output: int, limit: tuple[int, int] | None
) -> NoReturn:
    code = 99
    try:
        os.chdir(folder)
        for stream in (1, 2):
            os.dup2(output, stream)
        sys.stdout, sys.stderr = (os.fdopen(stream, "w") for stream in (1, 2))
        sys.argv = ["trivium", *words]
        if limit is not None:
            resource.setrlimit(limit[0], (limit[1], limit[1]))
        code = cli.main()
    except SystemExit as exit:
        code = int(exit.code or 0)
    except BaseException:
        traceback.print_exc()
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def problem(code: int, said: str) -> str | None:
    """What is wrong with the end of a command; None if nothing is."""
    if code not in (0, 1, 2) or "Traceback" in said:
        return f"{code}: {said[-400:]}"
    return "a control character is printed" if "\x1b" in said else None


def rows(folder: Path) -> list[dict[str, Any]]:
    """All records below a folder."""
    paths = sorted(folder.rglob("records.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_bytes().splitlines()]


def jobs(url: str) -> Iterator[tuple[str, str]]:
    """The commands that are killed, by name; all write to the folder `out`."""
    models = {
        "eval": "eval nhop_implicit --items 24",
        "run": "run --benchmarks nhop_implicit --items 12 --processes 1",
        "sweep": "sweep nhop_implicit --solvers oracle --seeds 1,2 --items 6 --processes 1",
        "threshold": "threshold nhop_implicit --vary hops --values 3,4,5 --max_items 50",
    }
    more = f"--model vllm/m --base_url {url} --concurrency 4 --out out --backend"
    found = {
        f"{name} {backend}": f"{words} {more} {backend}"
        for backend in BACKENDS
        for name, words in models.items()
    }
    found |= {
        "train": "train q-learning --most_episodes 300 --out out",
        "score": "score nhop_implicit --items 2000 --replies replies --out out",
        "export": "export nhop_implicit --items 3000 --out out/x.jsonl",
        "report": "report done",
    }
    for name in sys.argv[3:] or found:
        yield name, found[name]


def prepare(folder: Path) -> None:
    """Write what `score` and `report` read."""
    folder.mkdir()
    replies = ({"id": f"IMP-{index:06}", "reply": TEXT} for index in range(2000))
    (folder / "replies").write_text("".join(json.dumps(row) + "\n" for row in replies))
    run("eval nhop_implicit --solver oracle --items 50 --out done", folder)


def contents(folder: Path) -> list[str]:
    """What identifies the records, exports and agents of a folder."""
    keys = ("id", "solver", "seed", "trial", "spec", "reply")
    found = [json.dumps([row[key] for key in keys]) for row in rows(folder)]
    others = [*folder.glob("out/x.jsonl"), *folder.glob("out/*.eqx")]
    return sorted(found) + [path.read_text("latin-1") for path in others]


def slow_reply(asked: Request) -> Sent:
    time.sleep(0.02)
    return Sent(completion(TEXT))


def kills(count: int) -> Iterator[str]:
    """Yields what went wrong when commands were killed at random moments and then resumed."""
    stream = random.Random(1)
    with RawServer(slow_reply) as server, tempfile.TemporaryDirectory() as temporary:
        template, folder = Path(temporary, "template"), Path(temporary, "folder")
        prepare(template)
        for name, words in jobs(server.url):
            shutil.copytree(template, folder)
            began = time.monotonic()
            code, said = run(words, folder)
            if code not in (0, 1) or problem(code, said):
                yield f"{name}: {code}: {said[-400:]}"
            whole, seconds = contents(folder), time.monotonic() - began
            killed = 0
            for _ in range(count):
                shutil.rmtree(folder)
                shutil.copytree(template, folder)
                server.asked.clear()
                killed += run(words, folder, stream.uniform(0.1, 1.0) * seconds)[0] == -9
                if wrong := problem(*run(words, folder)):
                    yield f"{name}: resumed with {wrong}"
                elif contents(folder) != whole:
                    yield f"{name}: other results after a kill"
                elif sum(server.asked.values()) > len(rows(folder)) + 4:
                    yield f"{name}: {sum(server.asked.values())} requests"
            shutil.rmtree(folder)
            print(f"{name}: {count} runs, {killed} killed before their end", flush=True)


def disks(_: int) -> Iterator[str]:
    """Yields what went wrong where nothing, or not enough, can be written.

    Every command is run with files of at most 500 and 20,000 bytes, in place of a full disk, and
    with its results below a file, in place of a read-only folder, which root may write to. Each
    writes a file of more than 500 bytes; the agent of `train` has 1,400.
    """
    with RawServer(slow_reply) as server, tempfile.TemporaryDirectory() as temporary:
        template, folder = Path(temporary, "template"), Path(temporary, "folder")
        prepare(template)
        for name, words in jobs(server.url):
            for size in (500, 20_000, None):
                shutil.copytree(template, folder)
                limit = None if size is None else (resource.RLIMIT_FSIZE, size)
                if size is None:
                    shutil.rmtree(folder / "done")
                    for file in ("out", "done"):
                        (folder / file).touch()
                code, said = run(words, folder, 120, limit)
                lines = said.strip().splitlines()
                if wrong := problem(code, said):
                    yield f"{name}, {size} bytes: {wrong}"
                elif code == 0 and size != 20_000:
                    yield f"{name}, {size or 'not writable'}: reported as a success"
                print(f"{name}, {size} bytes: {code} {lines[-1][:150] if lines else ''}")
                shutil.rmtree(folder)


# Without audit, which takes a minute.
COMMANDS = """list show generate export eval sweep diagnose threshold score analyze report plot
compare estimate import run new train"""
FLAGS = """--items --seed --hops --solver --out --in --replies --preset --model --config --label
--extra_body --seeds --order_trials --processes --help --format --width --index -x ---"""
VALUES = """-1 0 2 1e9 nan x nhop_implicit oracle a/b vllm/m ../../.. { 99999999999999999999 .
run.json \x1b[2J {"a":1} é\u202e"""
READERS = {
    "compare": "compare bad good",
    "score": "score nhop_implicit --items 3 --replies bad/records.jsonl --out s",
    "in": "eval nhop_implicit --solver oracle --in bad/records.jsonl --out e",
    "eval": "eval nhop_implicit --solver oracle --items 3 --out bad",
    "sweep": "sweep bad/run.json --dry_run",
    **{name: f"{name} bad" for name in ("report", "plot", "analyze")},
}


def fuzz(count: int) -> Iterator[str]:
    """Yields command lines and files that end in a traceback, hang, or need too much memory."""
    stream, values = random.Random(3), [*VALUES.split(), "", "x" * 5000]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        run("eval nhop_implicit --solver oracle --items 3 --out good", folder)
        for number in range(2 * count):
            if number % 2:
                words = [
                    stream.choice(COMMANDS.split()),
                    *["nhop_implicit"] * (stream.random() < 0.7),
                ]
                for _ in range(stream.randrange(5)):
                    words += [stream.choice(FLAGS.split()), stream.choice(values)]
                words += ["--items", "2"] * (stream.random() < 0.6)
            else:
                shutil.rmtree(folder / "bad", ignore_errors=True)
                shutil.copytree(folder / "good", folder / "bad")
                for name in ("records.jsonl", *["run.json"] * stream.randrange(2)):
                    path = folder / "bad" / name
                    path.write_bytes(spoiled(stream, path.read_bytes()))
                words = READERS[stream.choice([*READERS])].split()
            code, said = run(words, folder, SECONDS, (resource.RLIMIT_DATA, GIGABYTES << 30))
            wrong = f"no end within {SECONDS} s" if code == -9 else problem(code, said)
            if wrong:
                yield f"{[word[:60] for word in words]}: {wrong}"
        print(f"{count} command lines and {count} files")


def spoiled(stream: random.Random, content: bytes) -> bytes:
    """The content with a part missing, bytes changed, or values of other kinds."""
    way = stream.randrange(4)
    if way == 0:
        return content[: stream.randrange(len(content))]
    if way == 1:
        changed = bytearray(content)
        for _ in range(stream.choice([1, 3, 30])):
            changed[stream.randrange(len(changed))] = stream.randrange(256)
        return bytes(changed)
    made = []
    for line in content.splitlines() if content.count(b"\n{") else [content]:
        row = json.loads(line)
        for key in stream.sample([*row], stream.choice([1, 1, 3])):
            row[key] = stream.choice(ODD)
            if stream.random() < 0.3:
                del row[key]
        made.append(json.dumps(row).encode())
    return b"\n".join(made) + b"\n"


def main() -> int:
    """Run one part; 1 if anything failed."""
    parts: dict[str, tuple[Callable[[int], Iterator[str]], int]] = {
        "kills": (kills, 3),
        "disks": (disks, 1),
        "fuzz": (fuzz, 50),
    }
    part, default = parts[sys.argv[1]]
    failures = 0
    for wrong in part(int(sys.argv[2]) if len(sys.argv) > 2 else default):
        failures += 1
        print(f"FAILED {wrong}", flush=True)
    print(f"{sys.argv[1]}: {failures} failures")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
