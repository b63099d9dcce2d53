"""Which lane a model takes, and the evaluation that is the same on both."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.benchmarks import get_benchmark
from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import import_extra, require
from trivium.core.records import Appender
from trivium.core.results import Summary
from trivium.evaluation.cost import Cost
from trivium.evaluation.execute import (
    RECORDS,
    Job,
    Work,
    claim_folder,
    drop_errors,
    finished,
    put_in_order,
    write_summary,
)
from trivium.evaluation.items import Chunk
from trivium.evaluation.progress import Progress
from trivium.models.providers import find_address, is_compatible
from trivium.models.settings import ModelFlags, ModelSettings

LOGS = "logs"  # the folder of Inspect's own logs, beside the records


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
        from trivium.models.inspect.run import inspect_model  # noqa: PLC0415

        inspect_model(settings)


@dataclass(frozen=True)
class Evaluation:
    """One model put to work: what is evaluated, how it is asked, and where the records go."""

    name: str  # what Inspect calls it; no two that are asked together have the same
    job: Job
    settings: ModelSettings
    chunks: Iterable[Chunk]
    total: int  # items in the chunks
    out: Path


def evaluate_model(
    job: Job, settings: ModelSettings, chunks: Iterable[Chunk], total: int, out: Path
) -> Summary:
    """Ask a model about every item that is not in the records yet; the summary of all of them."""
    asked = Evaluation(job.benchmark, job, settings, chunks, total, out)
    return evaluate_models([asked], out / LOGS)[0]


def evaluate_models(evaluations: Sequence[Evaluation], logs: Path) -> list[Summary]:
    """Every evaluation: one after the other on the direct lane, as one eval set on Inspect's."""
    left = [(asked, _left(asked)) for asked in evaluations]
    inspected: list[tuple[Evaluation, Work]] = []
    for asked, work in left:
        if choose_engine(work.benchmark, asked.settings) == "direct":
            _ask_directly(asked, work)
        else:
            inspected.append((asked, work))
    if inspected:
        _ask_through_inspect(inspected, logs)
    return [write_summary(work.benchmark, asked.out) for asked, work in left]


def _left(asked: Evaluation) -> Work:
    """What the records of an evaluation do not hold yet."""
    job, path = asked.job, asked.out / RECORDS
    benchmark = get_benchmark(job.benchmark)
    require(job.trials >= 1, f"order_trials must be at least 1, got {job.trials}")
    require_reachable(benchmark, asked.settings)
    claim_folder(asked.out, job.manifest())
    if asked.settings.flags.retry_errors:
        drop_errors(path)
    return Work(benchmark, job.view, asked.chunks, job.trials, frozenset(finished(path)))


def _ask_directly(asked: Evaluation, work: Work) -> None:
    from trivium.models.direct import ask_directly  # noqa: PLC0415

    with Appender(asked.out / RECORDS) as records, _progress([(asked, work)]) as progress:
        ask_directly(work, asked.settings, records, progress)
    put_in_order(asked.out / RECORDS, work.order)


def _ask_through_inspect(inspected: Sequence[tuple[Evaluation, Work]], logs: Path) -> None:
    from trivium.models.inspect.run import Cell, ask_through_inspect  # noqa: PLC0415

    cells = [
        Cell(asked.name, work, asked.settings, asked.out / RECORDS) for asked, work in inspected
    ]
    with _progress(inspected) as progress:
        ask_through_inspect(cells, progress, logs)
    for asked, work in inspected:
        put_in_order(asked.out / RECORDS, work.order)


def _progress(under_way: Sequence[tuple[Evaluation, Work]]) -> Progress:
    """How far some evaluations are together."""
    first = under_way[0][0]
    cells = f"{len(under_way)} cells" if len(under_way) > 1 else first.job.solver
    total = sum(asked.total * asked.job.trials for asked, _ in under_way)
    done = sum(len(work.done) for _, work in under_way)
    return Progress(f"{first.job.benchmark} {cells}", total, done, first.settings.flags.log_every)


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
