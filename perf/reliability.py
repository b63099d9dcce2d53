"""Kills, faults, planted keys and fuzzed input: what a run survives, with counts.

Every part prints one line per case that failed and a last line with its counts; the exit status is
1 if anything failed. Counts are small by default; the seed is fixed.

    python perf/reliability.py kills [COUNT]    # SIGKILL at random moments, then resume
    python perf/reliability.py faults [COUNT]   # odd responses, on both backends
    python perf/reliability.py keys [STEP]      # a key at every STEP-th byte of a 600-byte body
    python perf/reliability.py fuzz [COUNT]     # command lines and files
"""

from __future__ import annotations

import gzip
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import zipfile_zstd  # type: ignore[import-untyped]  # noqa: F401 - for Inspect's logs
from tests.models.raw import RawServer, Request, Sent, completion

KEY = "sk-planted/0123456789+ABCDEFGHIJKLMNOP="
SECONDS, GIGABYTES = 30, 2  # of one fuzzed process
BACKENDS = ("direct", "inspect")
ITEMS = 24


def start(words: Sequence[str], folder: Path, **options: Any) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "VLLM_API_KEY": KEY, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "trivium", *words]
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        **options,
    )


def finished(words: Sequence[str], folder: Path) -> tuple[int, str]:
    process = start(words, folder)
    said = process.communicate()[0].decode("utf-8", "replace")
    return process.returncode, said


def rows(folder: Path) -> list[dict[str, Any]]:
    """All records below a folder."""
    paths = sorted(folder.rglob("records.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_bytes().splitlines()]


def jobs(url: str) -> Iterator[tuple[str, list[str]]]:
    """The commands that are killed, by name; all write to the folder `out`."""
    for backend in BACKENDS:
        model = ["--model", "vllm/m", "--base_url", url, "--backend", backend, "--concurrency", "4"]
        small = ["--items", str(ITEMS), *model, "--out", "out"]
        yield f"eval {backend}", ["eval", "nhop_implicit", *small]
        yield f"run {backend}", ["run", "--benchmarks", "nhop_implicit", "--processes", "1", *small]
        sweep = ["sweep", "nhop_implicit", "--solvers", "oracle", "--seeds", "1,2"]
        yield f"sweep {backend}", [*sweep, "--processes", "1", *small]
        axis = ["threshold", "nhop_implicit", "--axis", "hops=3..5", "--max_items", "24"]
        yield f"threshold {backend}", [*axis, *model, "--out", "out"]
    yield "train", ["train", "q-learning", "--episodes", "3000", "--out", "out"]
    yield (
        "score",
        ["score", "nhop_implicit", "--items", "2000", "--replies", "replies", "--out", "out"],
    )
    yield "export", ["export", "nhop_implicit", "--items", "3000", "--out", "out/x.jsonl"]
    yield "report", ["report", "done"]


def kills(count: int) -> Iterator[str]:
    """Yields what went wrong when commands were killed at random moments and then resumed."""
    stream = random.Random(1)

    def respond(asked: Request) -> Sent:
        time.sleep(0.02)
        return Sent(completion("E_0001"))

    with RawServer(respond) as server, tempfile.TemporaryDirectory() as temporary:
        template = Path(temporary, "template")
        template.mkdir()
        prepare(template)
        for name, words in jobs(server.url):
            killed = 0
            folder = Path(temporary, name.replace(" ", "-"))
            shutil.copytree(template, folder)
            began = time.monotonic()
            code, said = finished(words, folder)
            whole, seconds = contents(folder), time.monotonic() - began
            if code not in (0, 1) or "Traceback" in said:
                yield f"{name}: {code} {said[-300:]}"
                continue
            for _ in range(count):
                shutil.rmtree(folder)
                shutil.copytree(template, folder)
                server.asked.clear()
                process = start(words, folder)
                try:
                    process.wait(stream.uniform(0.3, 1.0) * seconds)
                except subprocess.TimeoutExpired:
                    killed += 1
                process.kill()
                process.communicate()
                held = len(rows(folder)) if (folder / "out").exists() else 0
                code, said = finished(words, folder)
                if code not in (0, 1) or "Traceback" in said:
                    yield f"{name}: resumed with {code} {said[-300:]}"
                elif contents(folder) != whole:
                    yield f"{name}: other results after a kill with {held} records"
                elif server.asked and max(server.asked.values()) > 3:
                    yield f"{name}: a prompt was sent {max(server.asked.values())} times"
            print(f"{name}: {count} runs, {killed} killed before their end", flush=True)


def prepare(folder: Path) -> None:
    """What `score` and `report` read."""
    names = (f"IMP-{index:06}" for index in range(2000))
    (folder / "replies").write_text(
        "".join(json.dumps({"id": name, "reply": "E_0001"}) + "\n" for name in names)
    )
    done = folder / "done"
    finished(
        ["eval", "nhop_implicit", "--solver", "oracle", "--items", "50", "--out", "done"], folder
    )
    assert done.exists()


def contents(folder: Path) -> list[tuple[str, Any]]:
    """What identifies the records and exports of a folder."""
    found: list[tuple[str, Any]] = [
        (row["id"] + row["solver"] + str(row["seed"]), row["reply"]) for row in rows(folder)
    ]
    found += [
        ("", path.read_text()) for path in sorted(folder.rglob("out/*.jsonl")) if path.stem == "x"
    ]
    return sorted(found, key=str)


def odd_response(stream: random.Random) -> tuple[Sent, bool]:
    """A response of a careless server, and whether it holds a text that is paid for."""
    body = completion("E_0001")
    choice = body["choices"][0]
    odd = stream.choice(
        [None, "", 5, -1, 2.5, True, [], {}, ["x"], {"a": None}, "x" * 5000, "\ud800"]
    )
    targets = [(body, key) for key in ("id", "object", "created", "model", "usage", "extra")]
    targets += [
        (body["usage"], key) for key in ("prompt_tokens", "completion_tokens", "total_tokens")
    ]
    targets += [(choice, key) for key in ("index", "logprobs", "extra")]
    targets += [
        (choice["message"], key) for key in ("role", "tool_calls", "refusal_reason", "audio")
    ]
    for where, key in stream.sample(targets, stream.choice([1, 1, 2, 4])):
        if stream.random() < 0.3:
            where.pop(key, None)
        else:
            where[key] = odd
    raw = json.dumps(body).encode()
    headers: dict[str, str] = {}
    kind = stream.randrange(12)
    if kind == 0:
        raw, headers = gzip.compress(raw), {"content-encoding": "gzip"}
    elif kind == 1:
        raw = raw.replace(b"E_0001", b"E_0001 \xff\xfe\x80")
    elif kind == 2:
        headers = {"content-type": stream.choice(["text/plain", "text/html; charset=utf-16", "x"])}
    elif kind == 3:
        return Sent(stream.randbytes(stream.randrange(400))), False
    elif kind == 4:
        return Sent(raw[: stream.randrange(20)]), False
    elif kind == 5:
        status = stream.choice([400, 403, 408, 409, 418, 422, 429, 500, 502, 503, 529])
        return Sent(
            raw, status=status, headers={"retry-after": stream.choice(["0", "x", "-1"])}
        ), False
    elif kind == 6:
        raw = b"\n\n  " + raw + b"  \n"
    return Sent(raw, headers=headers), True


def faults_on(backend: str, count: int) -> Iterator[str]:
    """Yields the responses that were lost or paid for twice on either backend."""
    stream = random.Random(2)
    planned: dict[str, tuple[Sent, bool]] = {}

    def respond(asked: Request) -> Sent:
        if asked.prompt not in planned:
            planned[asked.prompt] = odd_response(stream)
        sent, paid = planned[asked.prompt]
        return sent if paid or asked.nth == 1 else Sent(completion("E_0001"))

    with RawServer(respond) as server, tempfile.TemporaryDirectory() as temporary:
        words = ["eval", "nhop_implicit", "--model", "vllm/m", "--backend", backend, "--yes"]
        words += ["--base_url", server.url, "--api", "chat", "--items", str(count)]
        words += ["--retry_backoff", "0.01", "--max_retries", "2", "--save_prompt"]
        code, said = finished([*words, "--out", "out"], Path(temporary))
        found = rows(Path(temporary))
        if "Traceback" in said or code not in (0, 1) or len(found) != count:
            yield f"{backend}: {code}, {len(found)} records: {said[-500:]}"
        lost = 0
        for row in found:
            sent, paid = planned[row["prompt"]]
            if paid and (row["error"] or server.asked[row["prompt"]] > 1):
                lost += 1
                yield f"{backend}: lost {sent!r:.300} ({row['error']})"
        print(f"{backend}: {count} faults, {lost} replies lost", flush=True)


def faults(count: int) -> Iterator[str]:
    """The same on both backends."""
    for backend in BACKENDS:
        yield from faults_on(backend, count)


def keys_on(backend: str, step: int) -> Iterator[str]:
    """Yields where a key that was planted in bodies can be found."""
    places = range(0, 600, step)
    order: dict[str, int] = {}

    def respond(asked: Request) -> Sent:
        number = order.setdefault(asked.prompt, len(order))
        place = places[number % len(places)]
        text = f"{'x' * place}{KEY}{'y' * (600 - place)}"
        ways = [
            Sent(text.encode(), status=500),
            Sent({"error": {"message": text, "code": KEY, "type": KEY}}, status=400),
            Sent(text.encode()),
            Sent(completion(text, choice={"finish_reason": text}, id=text, model=text)),
            Sent(completion("x", message={"reasoning_content": text, "tool_calls": text})),
        ]
        return ways[(number + asked.nth) % len(ways)]

    with RawServer(respond) as server, tempfile.TemporaryDirectory() as temporary:
        words = ["eval", "nhop_implicit", "--model", "vllm/m", "--backend", backend, "--yes"]
        words += ["--base_url", f"{server.url}?key={KEY[:20]}%2B", "--api", "chat"]
        words += ["--items", str(len(places)), "--retry_backoff", "0.01", "--max_retries", "1"]
        said = finished([*words, "--out", "out"], Path(temporary))[1]
        said += finished(["report", "out"], Path(temporary))[1]
        texts = [said.encode()]
        for path in (path for path in Path(temporary).rglob("*") if path.is_file()):
            texts.append(path.read_bytes())
            if zipfile.is_zipfile(path):
                with zipfile.ZipFile(path) as log:
                    texts += [log.read(name) for name in log.namelist()]
        everything = b"\n".join(texts).decode("utf-8", "replace")
        for begin in range(len(KEY) - 9):
            if KEY[begin : begin + 10] in everything:
                at = everything.index(KEY[begin : begin + 10])
                yield f"{backend}: {everything[at - 80 : at + 60]!r}"
        if len(rows(Path(temporary))) != len(places):
            yield f"{backend}: {said[-300:]}"
        print(f"{backend}: a key at {len(places)} places, {len(everything):,} bytes searched")


def keys(step: int) -> Iterator[str]:
    """The same on both backends."""
    for backend in BACKENDS:
        yield from keys_on(backend, step)


def limited() -> None:
    size = GIGABYTES << 30
    resource.setrlimit(resource.RLIMIT_DATA, (size, size))


COMMANDS = [
    "list",
    "show",
    "generate",
    "export",
    "eval",
    "sweep",
    "diagnose",
    "threshold",
    "score",
    "analyze",
    "report",
    "plot",
]
COMMANDS += ["compare", "estimate", "audit", "import", "run", "new", "train"]
FLAGS = [
    "--items",
    "--seed",
    "--hops",
    "--solver",
    "--out",
    "--in",
    "--replies",
    "--preset",
    "--model",
    "--config",
    "--label",
]
FLAGS += [
    "--extra_body",
    "--seeds",
    "--order_trials",
    "--processes",
    "--help",
    "--format",
    "--width",
    "--index",
    "-x",
    "---",
]
VALUES = [
    "-1",
    "0",
    "2",
    "1e9",
    "nan",
    "x",
    "",
    "nhop_implicit",
    "oracle",
    "a/b",
    "vllm/m",
    "\x1b[2J",
]
VALUES += [
    "../../..",
    "{",
    '{"a": 1}',
    "99999999999999999999",
    "é\u202e",
    "x" * 5000,
    "run.json",
    ".",
]


def fuzz(count: int) -> Iterator[str]:
    """Yields command lines and files that end in a traceback, hang, or need too much memory."""
    stream = random.Random(3)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        finished(
            ["eval", "nhop_implicit", "--solver", "oracle", "--items", "3", "--out", "good"], folder
        )
        good = (folder / "good/records.jsonl").read_bytes()
        manifest = (folder / "good/run.json").read_bytes()
        for number in range(count):
            if number % 2:
                words = [stream.choice(COMMANDS)]
                if stream.random() < 0.7:
                    words.append("nhop_implicit")
                for _ in range(stream.randrange(5)):
                    words += [stream.choice(FLAGS), stream.choice(VALUES)]
                words += ["--items", "2"] if stream.random() < 0.6 else []
            else:
                words = spoiled_file(stream, folder, good, manifest)
            problem = outcome(words, folder)
            if problem:
                yield f"{[word[:60] for word in words]}: {problem}"
        print(f"{count} fuzzed calls")


def spoiled_file(stream: random.Random, folder: Path, good: bytes, manifest: bytes) -> list[str]:
    """A command that reads a file in which some bytes were changed."""
    bad = folder / "bad"
    shutil.rmtree(bad, ignore_errors=True)
    bad.mkdir()
    (bad / "run.json").write_bytes(spoiled(stream, manifest) if stream.random() < 0.5 else manifest)
    (bad / "records.jsonl").write_bytes(spoiled(stream, good))
    which = stream.choice(["report", "plot", "analyze", "compare", "score", "in", "eval", "sweep"])
    if which == "compare":
        return ["compare", "bad", "good"]
    if which == "score":
        return [
            "score",
            "nhop_implicit",
            "--items",
            "3",
            "--replies",
            "bad/records.jsonl",
            "--out",
            "s",
        ]
    if which == "in":
        return [
            "eval",
            "nhop_implicit",
            "--solver",
            "oracle",
            "--in",
            "bad/records.jsonl",
            "--out",
            "e",
        ]
    if which == "eval":
        words = ["eval", "nhop_implicit", "--solver", "oracle", "--items", "3"]
        return [*words, "--out", "bad"]
    if which == "sweep":
        return ["sweep", "bad/run.json", "--dry_run"]
    return [which, "bad"]


def spoiled(stream: random.Random, content: bytes) -> bytes:
    """The content with values of other kinds, bytes changed, or a part missing."""
    way = stream.randrange(4)
    if way == 0:
        at = stream.randrange(len(content))
        return content[:at]
    if way == 1:
        changed = bytearray(content)
        for _ in range(stream.choice([1, 3, 30])):
            changed[stream.randrange(len(changed))] = stream.randrange(256)
        return bytes(changed)
    lines = content.splitlines() if content.count(b"\n{") else [content]
    made = []
    for line in lines:
        row = json.loads(line)
        for _ in range(stream.choice([1, 1, 3])):
            key = stream.choice([*row])
            odd = [
                None,
                -1,
                2**70,
                1.5,
                "",
                "x" * 300,
                [],
                {},
                [1],
                {"a": 1},
                True,
                "\ud800",
                "\x1b",
            ]
            if stream.random() < 0.3 and len(row) > 1:
                del row[key]
            else:
                row[key] = stream.choice(odd)
        made.append(json.dumps(row).encode())
    return b"\n".join(made) + b"\n"


def outcome(words: Sequence[str], folder: Path) -> str | None:
    """What is wrong with the end of a command; None if nothing is."""
    words = [word.replace("\0", "") for word in words]
    process = start(words, folder, preexec_fn=limited)
    try:
        said = process.communicate(timeout=SECONDS)[0].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return f"no end within {SECONDS} s"
    if process.returncode not in (0, 1, 2) or "Traceback" in said:
        return f"{process.returncode}: {said[-400:]}"
    return "a control character is printed" if "\x1b" in said else None


def main() -> int:
    """Run one part; 1 if anything failed."""
    parts: dict[str, tuple[Callable[[int], Iterator[str]], int]] = {
        "kills": (kills, 3),
        "faults": (faults, 100),
        "keys": (keys, 5),
        "fuzz": (fuzz, 100),
    }
    part, default = parts[sys.argv[1]]
    failures = 0
    for problem in part(int(sys.argv[2]) if len(sys.argv) > 2 else default):
        failures += 1
        print(f"FAILED {problem}", flush=True)
    print(f"{sys.argv[1]}: {failures} failures")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
