"""Requests per second of both lanes, beside the bare client and the ideal.

One server in a process of its own, 200 ms latency, 500 in flight, 4,000 requests. The ideal is
concurrency / latency, which no client on so few cores comes near.
Aim: direct at least 300/s and at least 6 times Inspect.
A number as argument replaces the 4,000, for a quick look.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from openai import AsyncOpenAI, DefaultAioHttpClient
from trivium.evaluation.items import made_chunks

from trivium.benchmarks import get_benchmark
from trivium.evaluation.execute import Job
from trivium.models.backends import evaluate_model
from trivium.models.settings import ModelFlags, model_settings

LATENCY, IN_FLIGHT, REQUESTS = 0.2, 500, 4000
BENCHMARK = get_benchmark("nhop_explicit")


@contextmanager
def server() -> Iterator[str]:
    """The address of a server that answers after the latency."""
    root = Path(__file__).parents[1]
    words = [sys.executable, "-m", "tests.models.server", "--latency", str(LATENCY)]
    process = subprocess.Popen(words, cwd=root, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    finally:
        process.terminate()
        process.communicate()


async def bare(url: str, requests: int) -> None:
    """The official client and nothing else."""
    items = BENCHMARK.generate(BENCHMARK.spec_type(), 1, 0, requests)
    prompts = (BENCHMARK.render(item, BENCHMARK.view_type()) for item in items)
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


def lane(engine: str, url: str, requests: int) -> None:
    """A whole evaluation: items made, asked about, parsed, scored, recorded, summed up."""
    flags = ModelFlags(engine=engine, base_url=url, concurrency=IN_FLIGHT, yes=True)  # type: ignore[arg-type]
    settings = model_settings("vllm/m", flags)
    spec, view = BENCHMARK.spec_type(), BENCHMARK.view_type()
    job = Job(BENCHMARK.name, settings.model, view, spec, 1, shaping=settings.shaping())
    with tempfile.TemporaryDirectory() as folder:
        chunks = made_chunks(BENCHMARK, spec, 1, 0, requests)
        summary = evaluate_model(job, settings, chunks, requests, Path(folder))
    assert summary.errors == 0
    assert summary.items == requests


def main() -> None:
    """Print requests per second and the ratios."""
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else REQUESTS
    rates: dict[str, float] = {}
    with server() as url:
        lane("direct", url, 50)  # imports and the first connections are not what is measured
        for name in ("bare client", "direct", "inspect"):
            began = time.perf_counter()
            if name == "bare client":
                asyncio.run(bare(url, requests))
            else:
                lane(name, url, requests)
            rates[name] = requests / (time.perf_counter() - began)
            print(f"{name}: {rates[name]:.0f} requests/s", flush=True)
    print(f"ideal (concurrency / latency): {IN_FLIGHT / LATENCY:.0f} requests/s")
    print(
        f"direct / bare client {rates['direct'] / rates['bare client']:.2f}, "
        f"direct / inspect {rates['direct'] / rates['inspect']:.1f} (aim: at least 6)"
    )


if __name__ == "__main__":
    main()
