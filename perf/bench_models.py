"""Requests per second of both backends, each beside what it is built on, in alternating rounds.

One server in a process of its own, 200 ms latency, 500 in flight. The direct backend is compared
with the official client and with aiohttp alone (and with the ideal, concurrency / latency, which no
client on so few cores comes near), the Inspect backend with a bare Inspect task: the same prompts,
`generate()`, a trivial scorer and the same options, without items, records or summaries. CPU
seconds are compared too, which other work on the machine disturbs less.
Aims: direct at least 300/s and at least 6 times Inspect; Inspect at least 0.95 of the bare task.

    python perf/bench_models.py [REQUESTS [ROUNDS [NAME ...]]]
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Literal

import aiohttp
import inspect_ai
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate
from openai import AsyncOpenAI, DefaultAioHttpClient

from trivium.benchmarks import load_task
from trivium.evaluation.evaluation import Evaluation, Items, Run
from trivium.evaluation.execute import execute
from trivium.models.settings import ModelOptions

LATENCY, IN_FLIGHT, REQUESTS, ROUNDS = 0.2, 500, 2000, 3
TASK = load_task("nhop_explicit")


@contextmanager
def server() -> Iterator[str]:
    """The URL of a server that answers after the latency."""
    root = Path(__file__).parents[1]
    words = [sys.executable, "-m", "tests.models.server", "--latency", str(LATENCY)]
    process = subprocess.Popen(words, cwd=root, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    finally:
        process.terminate()
        process.communicate()


def bare_client(url: str, requests: int) -> None:
    """The official client and nothing else."""
    asyncio.run(_bare_client(url, requests))


async def _bare_client(url: str, requests: int) -> None:
    prompts = (item.prompt for item in TASK.generate(1, 0, requests))
    async with AsyncOpenAI(
        api_key="none-needed", base_url=url, http_client=DefaultAioHttpClient()
    ) as client:

        async def worker() -> None:
            for prompt in prompts:
                response = await client.responses.create(model="m", input=prompt)
                assert response.output_text

        async with asyncio.TaskGroup() as group:
            for _ in range(IN_FLIGHT):
                group.create_task(worker())


def bare_aiohttp(url: str, requests: int) -> None:
    """The HTTP library alone."""
    asyncio.run(_bare_aiohttp(url, requests))


async def _bare_aiohttp(url: str, requests: int) -> None:
    prompts = (item.prompt for item in TASK.generate(1, 0, requests))
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def worker() -> None:
            for prompt in prompts:
                body = {"model": "m", "messages": [{"role": "user", "content": prompt}]}
                async with session.post(f"{url}/chat/completions", json=body) as response:
                    assert (await response.json())["choices"]

        async with asyncio.TaskGroup() as group:
            for _ in range(IN_FLIGHT):
                group.create_task(worker())


def bare_task(url: str, requests: int) -> None:
    """An Inspect task with the same prompts and nothing of ours."""
    samples = [
        Sample(id=item.id, input=item.prompt, target=item.gold)
        for item in TASK.generate(1, 0, requests)
    ]
    config = GenerateConfig(max_tokens=4096, max_connections=IN_FLIGHT)
    model = get_model(
        "openai-api/vllm/m", base_url=url, api_key="none-needed", config=config, memoize=False
    )
    with tempfile.TemporaryDirectory() as folder:
        (log,) = inspect_ai.eval(
            inspect_ai.Task(dataset=samples, solver=generate(), scorer=includes()),
            model=model,
            log_dir=folder,
            display="none",
            max_samples=IN_FLIGHT,
            log_realtime=False,
            score_display=False,
            ctl_server=False,
        )
    assert log.status == "success"


def backend(name: Literal["direct", "inspect"]) -> Callable[[str, int], None]:
    """A whole evaluation: items made, asked about, parsed, scored, recorded, summarised."""

    def run(url: str, requests: int) -> None:
        options = ModelOptions(backend=name, base_url=url, concurrency=IN_FLIGHT, yes=True)
        evaluation = Evaluation(TASK, Items(1, 0, requests), "vllm/m", settings=options.settings())
        with tempfile.TemporaryDirectory() as folder:
            (summary,) = execute(Run.of(evaluation), Path(folder), options=options)
        assert (summary.items, summary.failed) == (requests, 0)

    return run


WAYS: dict[str, Callable[[str, int], None]] = {
    "bare aiohttp": bare_aiohttp,
    "bare client": bare_client,
    "direct": backend("direct"),
    "bare Inspect task": bare_task,
    "inspect": backend("inspect"),
}


def main() -> None:
    """Print requests per second and the ratios."""
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else REQUESTS
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    ways = {name: WAYS[name] for name in sys.argv[3:] or WAYS}
    rates: dict[str, list[float]] = defaultdict(list)
    cpu: dict[str, list[float]] = defaultdict(list)
    with server() as url:
        for run in ways.values():
            run(url, 50)  # imports and the first connections are not what is measured
        for number in range(rounds):
            for name in list(ways) if number % 2 == 0 else reversed(ways):
                began, used = time.perf_counter(), time.process_time()
                ways[name](url, requests)
                rates[name].append(requests / (time.perf_counter() - began))
                cpu[name].append(1000 * (time.process_time() - used) / requests)
    for name in ways:
        print(
            f"{name}: {median(rates[name]):.0f} requests/s (best {max(rates[name]):.0f}), "
            f"{median(cpu[name]):.2f} ms of CPU each"
        )
    print(f"ideal (concurrency / latency): {IN_FLIGHT / LATENCY:.0f} requests/s")
    for name, other, aim in (
        ("direct", "bare aiohttp", None),
        ("direct", "bare client", None),
        ("direct", "inspect", 6),
        ("inspect", "bare Inspect task", 0.95),
    ):
        if name not in ways or other not in ways:
            continue
        ratios = [own / theirs for own, theirs in zip(rates[name], rates[other], strict=True)]
        saved = median(cpu[other]) / median(cpu[name])
        note = "" if aim is None else f" (aim: at least {aim})"
        print(f"{name} / {other}: {median(ratios):.2f}{note}, by CPU {saved:.2f}")


if __name__ == "__main__":
    main()
