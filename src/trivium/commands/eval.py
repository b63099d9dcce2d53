"""Evaluate a solver or a model on items, generated on demand or read from files. Writes
DIR/records.jsonl and DIR/summary.json; the same command resumes what was interrupted, and asks
again where calls failed. Exit status 1: calls failed, or nothing was scored.
Example: trivium eval nhop_implicit --solver oracle --items 200
Example: trivium eval nhop_explicit --model openai/gpt-4.1-mini --out runs/mini
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trivium.auditing.stored import CAUGHT, audit_sentence, audit_verdict
from trivium.commands.flags import flag, leaves, read_benchmark_flags
from trivium.commands.run_flags import RunFlags, print_verdict
from trivium.core.errors import require
from trivium.core.records import RECORDS
from trivium.core.streams import DEFAULT_SEED
from trivium.evaluation.evaluation import Evaluation, Items, Run
from trivium.models.providers import full_model_name
from trivium.models.settings import Settings
from trivium.report.tables import metric_table, print_json, say, terminal


@dataclass(frozen=True)
class Flags:
    """Which solver, on which items."""

    # a built-in solver (trivium list names them), agent:FOLDER, or package.module:function
    solver: tuple[str, ...] = flag((), "--solver", "--baseline")
    model: tuple[str, ...] = ()  # or a language model, as PROVIDER/MODEL
    input: tuple[Path, ...] = flag((), "--in")  # files of items, instead of generated items
    items: int = 100  # how many items are generated
    seed: int = DEFAULT_SEED  # the seed of all of them
    start: int = 0  # the index of the first
    order_trials: int = 1  # how often each item is presented, each time in another order
    repeats: int = 1  # how often the same prompt is sent
    json: bool = False  # print the summary as JSON
    running: RunFlags = field(default_factory=RunFlags)


def main(args: Sequence[str]) -> int:
    """Evaluate and print the summary."""
    asked = read_benchmark_flags("eval", Flags, args, __doc__)
    flags, task = asked.flags, asked.task
    named = (*flags.solver, *map(full_model_name, flags.model))
    require(
        bool(named),
        f"--solver is missing (or --model PROVIDER/MODEL); there are "
        f"{', '.join(task.benchmark.solvers)}",
    )
    require(
        len(named) == 1,
        f"eval takes one solver or model, got {' and '.join(named)}; `trivium run` and `trivium "
        "sweep` take several models",
    )
    if flags.model:
        why = "for a model, --concurrency sets how many attempts are made at once"
        asked.refuse(leaves(flags.running.workers), f"goes with --solver; {why}")
    if flags.input:
        asked.refuse_item_flags()
        items = Items.from_files(task.benchmark, flags.input)
    else:
        items = Items(flags.seed, flags.start, flags.items)
    settings = flags.running.options.settings() if flags.model else Settings()
    evaluation = Evaluation(
        task, items, named[0], flags.order_trials, settings, repeats=flags.repeats
    )
    run = Run.of(evaluation)
    if flags.running.dry_run:
        return flags.running.print_plan(run)
    out, (summary,) = flags.running.execute(run, asked)
    if flags.json:
        print_json(summary.to_dict() | {"folder": str(out)})
        return 1 if summary.failed else 0
    metric_table(summary).show(terminal())
    if summary.items > items.count:
        print(f"the figures cover all {summary.items} items in the folder, not only {items.count}")
    if not flags.input and audit_verdict(task) == CAUGHT:
        say(audit_sentence(task))
    status = print_verdict(run, [summary], out, flags.running.prices)
    print(f"records in {out / RECORDS}")
    folder = shlex.quote(str(out))
    print(f"next: trivium report {folder}\n      trivium analyze {folder} --examples_per_type 1")
    return status
