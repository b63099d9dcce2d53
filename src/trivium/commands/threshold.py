"""How far does a solver go? Finds the value of a spec field at which lift, from floor to
ceiling, first falls to a target, with as few items as possible: each batch of 25 is placed where it
is most informative, until the 95% interval is narrow enough or the items are used up. Its ends are
values that were tried. --vary names any numeric field; its --values go from easy to hard. Two
--vary make a map: a threshold along the first field for each value of the second. The same command
resumes the newest folder of the same search, also with more --max_items. A search stops if more
attempts are declined or fail at harder values. Exit status 1: calls failed, or nothing was scored.
Example: trivium threshold nhop_explicit --vary L --solver package.module:function
Example: trivium threshold nhop_implicit --vary hops --model openai/gpt-4.1
Example: trivium threshold nhop_implicit --vary hops --vary m --solver last_line
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from trivium.commands.flags import REQUIRED, BenchmarkFlags, flag, parts, read_benchmark_flags
from trivium.commands.run_flags import RunFlags, print_verdict
from trivium.core.errors import require
from trivium.core.streams import DEFAULT_SEED
from trivium.evaluation.index import add_to_index
from trivium.models.providers import full_model_name
from trivium.report.page import write_report
from trivium.report.tables import print_json, terminal
from trivium.report.thresholds import curve_table, threshold_table
from trivium.thresholds.results import threshold_of, threshold_text, write_thresholds
from trivium.thresholds.search import Search, ThresholdPlan, find_thresholds, make_axes

MAX_CURVES = 6  # that are printed


@dataclass(frozen=True)
class Flags:
    """Which threshold, and with how many items."""

    # the field along which the threshold is; a second one makes a map
    vary: tuple[str, ...] = REQUIRED
    # its values from easy to hard, separated by commas (default: some that its spec allows)
    values: tuple[str, ...] = ()
    target: float = 0.5  # the lift at the threshold: 0 is the floor, 1 is the ceiling
    width: float = 0.3  # stop at an interval of this half-width, as a share of the threshold
    max_items: int = 400  # the limit for one threshold
    seed: int = DEFAULT_SEED  # the seed of all items
    # built-in solvers, agent:FOLDER, or package.module:function
    solver: tuple[str, ...] = flag((), "--solver", "--baseline")
    models: tuple[str, ...] = flag((), "--model")  # language models, each as PROVIDER/MODEL
    label: str | None = None  # what the run is called in titles and in the index
    json: bool = False  # print the thresholds as JSON
    running: RunFlags = field(default_factory=RunFlags)


def main(args: Sequence[str]) -> int:
    """Find the thresholds, print them and write the report."""
    asked = read_benchmark_flags("threshold", Flags, args, __doc__)
    flags, running = asked.flags, asked.flags.running
    plan = _plan(asked)
    most = plan.largest_run()
    if running.dry_run:
        return running.print_plan(most)
    with running.open(most, asked) as (folder, executor):
        searches, run, summaries = find_thresholds(
            plan,
            folder,
            executor=executor,
            options=running.options,
            command=asked.command,
            on_batch=_print_progress,
        )
    write_thresholds(searches, folder)
    add_to_index(run, folder)
    report = write_report(folder, prices=running.prices)
    if flags.json:
        print_json([asdict(threshold_of(search)) for search in searches])
        return 1 if any(summary.failed for summary in summaries) else 0
    for search in searches[:MAX_CURVES]:
        curve_table(search).show(terminal())
    threshold_table(searches).show(terminal())
    status = print_verdict(run, summaries, folder, running.prices)
    print(f"report: {report}")
    return status


def _plan(asked: BenchmarkFlags[Flags]) -> ThresholdPlan:
    """The search that the flags describe."""
    flags, task = asked.flags, asked.task
    require(
        len(flags.values) in (0, len(flags.vary)),
        f"give --values once for each --vary or not at all, got {len(flags.values)} for "
        f"{len(flags.vary)}",
    )
    solvers = (*flags.solver, *map(full_model_name, flags.models))
    require(bool(solvers), "name a solver with --solver, or a model with --model PROVIDER/MODEL")
    for name in flags.vary:
        key = task.benchmark.field_aliases.get(name, name)
        require(key not in asked.given, f"{asked.given.get(key)} fixes what --vary {name} varies")
    texts = map(parts, flags.values)
    return ThresholdPlan(
        task,
        make_axes(task, dict(zip(flags.vary, texts, strict=True)) if flags.values else flags.vary),
        solvers,
        flags.target,
        flags.seed,
        flags.running.options.settings(),
        flags.label,
        flags.width,
        flags.max_items,
    )


def _print_progress(searches: Sequence[Search]) -> None:
    """Print the thresholds after a batch on standard error."""
    for search in searches[:MAX_CURVES]:
        text = f"{search.name}: {sum(search.asked)} items, threshold {threshold_text(search)}"
        print(text, file=sys.stderr, flush=True)
