"""Which lane a model takes, and the evaluation that is the same on both."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import import_extra, require
from trivium.core.jsonl import Appender
from trivium.core.summary import Summary
from trivium.models.providers import find_address, is_compatible
from trivium.models.settings import ModelFlags, ModelSettings
from trivium.registry import get_benchmark
from trivium.runs.estimate import Cost
from trivium.runs.evaluate import (
    RECORDS,
    Job,
    Work,
    claim_folder,
    drop_errors,
    finished,
    put_in_order,
    write_summary,
)
from trivium.runs.items import Chunk
from trivium.runs.progress import Progress


def choose_engine(benchmark: AnyBenchmark, settings: ModelSettings) -> str:
    """The engine asked for, or the one that fits."""
    if settings.flags.engine != "auto":
        return settings.flags.engine
    return "direct" if is_compatible(settings) and not benchmark.multi_turn else "inspect"


def require_reachable(benchmark: AnyBenchmark, settings: ModelSettings) -> None:
    """Say what is missing (a key, an address, a package) before any work is done."""
    if choose_engine(benchmark, settings) == "direct":
        for package in ("openai", "aiohttp"):
            import_extra(package, "models")
        find_address(settings)
    else:
        import_extra("inspect_ai", "models")
        from trivium.models.inspect_lane.run import inspect_model  # noqa: PLC0415

        inspect_model(settings)


def evaluate_model(
    job: Job, settings: ModelSettings, chunks: Iterable[Chunk], total: int, out: Path
) -> Summary:
    """Ask a model about every item that is not in the records yet; the summary of all of them."""
    benchmark = get_benchmark(job.benchmark)
    require(job.trials >= 1, f"order_trials must be at least 1, got {job.trials}")
    require_reachable(benchmark, settings)
    claim_folder(out, job.manifest())
    if settings.flags.retry_errors:
        drop_errors(out / RECORDS)
    done = finished(out / RECORDS)
    work = Work(benchmark, job.view, chunks, job.trials, frozenset(done))
    label = f"{job.benchmark} {job.solver}"
    with (
        Appender(out / RECORDS) as records,
        Progress(label, total * job.trials, len(done), settings.flags.log_every) as progress,
    ):
        if choose_engine(benchmark, settings) == "direct":
            from trivium.models.direct import ask_directly  # noqa: PLC0415

            ask_directly(work, settings, records, progress)
        else:
            from trivium.models.inspect_lane.run import ask_through_inspect  # noqa: PLC0415

            ask_through_inspect(work, settings, records, progress, out)
    put_in_order(out / RECORDS, work.order)
    return write_summary(benchmark, out)


def confirm(cost: Cost, flags: ModelFlags) -> None:
    """Ask before sending many requests; where nobody can be asked, refuse."""
    if flags.yes or cost.requests <= flags.confirm_above:
        return
    question = f"This would send {cost}."
    require(
        sys.stdin.isatty() and sys.stderr.isatty(),
        f"{question} Add --yes to send them",
    )
    print(f"{question} Send them? [y/N] ", end="", file=sys.stderr, flush=True)
    require(sys.stdin.readline().strip().lower() in ("y", "yes"), "nothing was sent")
