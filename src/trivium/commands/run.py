"""trivium run"""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro

from trivium.benchmarks import benchmark_names, named_benchmark
from trivium.commands.flags import read_flags, refuse_model_flags
from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import require
from trivium.core.results import Summary
from trivium.evaluation.cost import SAMPLE, Cost, cost_of
from trivium.evaluation.execute import RECORDS, Job, claim_folder, evaluate, finished
from trivium.evaluation.executors import Executor, Workers, all_processors
from trivium.evaluation.index import add_to_index
from trivium.evaluation.items import made_chunks
from trivium.models.backends import confirm, evaluate_model, require_reachable
from trivium.models.settings import ModelFlags, ModelSettings, folder_name, model_settings
from trivium.report.page import write_report
from trivium.report.tables import Table, result_table, terminal

ABOUT = """The main job: every benchmark, every built-in solver, one report. Writes records and
report.html; with --out, the same command goes on where it stopped. --model puts language
models beside the built-in solvers, on the same items.
Example: trivium run --items 200 --out runs/first
Example: trivium run --items 50 --model openai/gpt-4.1-mini --model ollama/llama3.2"""


@dataclass(frozen=True)
class Flags:
    """What is run."""

    items: int | None = None  # items of each preset (default: each benchmark's own number)
    seed: int = 7  # the seed of all items
    benchmarks: tuple[str, ...] = ()  # which ones (default: all)
    # language models, each as PROVIDER/MODEL; say --model once for each
    models: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(name="model")] = ()
    out: Path | None = None  # the folder (default: a new one under runs/)
    workers: Workers = field(default_factory=all_processors)
    asking: ModelFlags = field(default_factory=ModelFlags)


@dataclass(frozen=True)
class Part:
    """A benchmark of the run: the specs that are run, by their names, and how they are told."""

    benchmark: AnyBenchmark
    specs: Mapping[str, Any]
    view: Any


def _part(name: str) -> Part:
    """All presets of a benchmark, or the one spec that a full name stands for."""
    benchmark, spec, view = named_benchmark(name)
    variant = name.partition(".")[2]
    return Part(benchmark, {variant: spec} if variant else benchmark.presets, view)


def main(args: Sequence[str]) -> int:
    """Run, print one table per benchmark, end with the path of the report."""
    flags = read_flags("run", Flags, args, ABOUT)
    require(flags.items is None or flags.items >= 1, f"items must be at least 1, got {flags.items}")
    if not flags.models:
        refuse_model_flags(args, "none is named")
    names = tuple(dict.fromkeys(flags.benchmarks)) or benchmark_names()
    chosen = [_part(name) for name in names]
    models = [model_settings(model, flags.asking) for model in flags.models]
    for part in chosen:
        for settings in models:
            require_reachable(part.benchmark, settings)
    out = flags.out or Path("runs") / time.strftime("run_%Y%m%d_%H%M%S")
    costs = [_cost(part, flags, settings, out) for part in chosen for settings in models]
    confirm(sum(costs, Cost(0, 0, 0)), flags.asking)
    claim_folder(
        out, {"kind": "run", "seed": flags.seed, "command": shlex.join(["trivium", "run", *args])}
    )
    console = terminal()
    with flags.workers.open() as executor:
        for part in chosen:
            _run_part(part, flags, models, out, executor).show(console)
    add_to_index(
        out,
        kind="run",
        benchmark=" ".join(names),
        cells=sum(len(part.specs) * (len(part.benchmark.solvers) + len(models)) for part in chosen),
        items=flags.items,
        seeds=[flags.seed],
    )
    report = write_report(out)
    print(f"report: {report}")
    return 0


def _cost(part: Part, flags: Flags, settings: ModelSettings, out: Path) -> Cost:
    """What a model has still to be asked about one benchmark."""
    cost, benchmark = Cost(0, 0, 0), part.benchmark
    for preset, spec in part.specs.items():
        records = _folder(out, benchmark, preset, settings.model) / RECORDS
        held = finished(records, errors=not flags.asking.retry_errors)
        left = max(0, (flags.items or benchmark.default_items) - len(held))
        sample = list(benchmark.generate(spec, flags.seed, 0, SAMPLE))
        cost += cost_of(benchmark, part.view, sample, left)
    return cost


def _folder(out: Path, benchmark: AnyBenchmark, preset: str, solver: str) -> Path:
    return out / benchmark.name / preset / folder_name(solver)


def _run_part(
    part: Part,
    flags: Flags,
    models: Sequence[ModelSettings],
    out: Path,
    executor: Executor,
) -> Table:
    benchmark = part.benchmark
    named: list[tuple[str, Summary]] = []
    count = flags.items or benchmark.default_items
    for preset, spec in part.specs.items():
        for solver in benchmark.solvers:
            job = Job(benchmark.name, solver, part.view, spec, flags.seed, setting=preset)
            chunks = made_chunks(benchmark, spec, flags.seed, 0, count)
            folder = _folder(out, benchmark, preset, solver)
            named.append((preset, evaluate(job, chunks, count, folder, executor)))
        for settings in models:
            job = Job(
                benchmark.name,
                settings.model,
                part.view,
                spec,
                flags.seed,
                shaping=settings.shaping(),
                setting=preset,
            )
            chunks = made_chunks(benchmark, spec, flags.seed, 0, count)
            folder = _folder(out, benchmark, preset, settings.model)
            named.append((preset, evaluate_model(job, settings, chunks, count, folder)))
    return result_table(f"{benchmark.name}: {benchmark.title}", named, benchmark.metrics[0].name)
