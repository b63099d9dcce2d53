"""Searching for thresholds: batches that are chosen from the records of those before.

Every level is an evaluation whose items grow, so records, resuming and backends are those of any
other run. Repeating the command makes the same decisions from the same records, and asks only
where something is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from trivium.core.files import locked
from trivium.core.records import RECORDS, drop_errors
from trivium.core.results import Summary
from trivium.evaluation.evaluation import Run
from trivium.evaluation.execute import check_solver, claim_folder, execute, execute_in_steps
from trivium.evaluation.executors import Executor
from trivium.evaluation.index import write_table
from trivium.evaluation.solvers import Function
from trivium.evaluation.threshold import Search, ThresholdPlan
from trivium.evaluation.threshold_results import write_thresholds
from trivium.models.settings import ModelOptions


class Found(NamedTuple):
    """Thresholds, and what was asked to find them."""

    searches: list[Search]
    run: Run
    summaries: list[Summary]


def find_thresholds(
    plan: ThresholdPlan,
    out: Path,
    *,
    executor: Executor | None = None,
    options: ModelOptions | None = None,
    functions: Mapping[str, Function] | None = None,
    command: str | None = None,
    on_batch: Callable[[Sequence[Search]], None] = lambda searches: None,
) -> Found:
    """Ask batch after batch until every threshold is known well enough, and write the tables."""
    options, functions = options or ModelOptions(), functions or {}
    searches = plan.searches()
    everything = plan.run_of([(search, search.all_items) for search in searches])
    for evaluation in everything.evaluations:
        if evaluation.solver not in functions:
            check_solver(evaluation, options)
    with locked(out):
        claim_folder(out, everything.manifest())
        if options.retry_errors:  # a new score may lead elsewhere, where none would be asked again
            for evaluation in everything.evaluations:
                if (path := out / evaluation.folder / RECORDS).exists():
                    drop_errors(path, evaluation.asks)
    options = replace(options, retry_errors=False)
    groups = {name: [one for one in searches if one.solver == name] for name in plan.solvers}
    steps = {name: _batches(group, out, on_batch) for name, group in groups.items()}
    execute_in_steps(steps, out, executor=executor, options=options, functions=functions)
    run = plan.run_of([(search, search.asked) for search in searches])
    for search in searches:
        search.read(out, search.all_items)  # what else the folder holds
    summaries = execute(run, out, options=options, functions=functions, command=command)
    write_table(run, summaries, out)
    write_thresholds(searches, out)
    return Found(searches, run, summaries)


def _batches(
    searches: Sequence[Search], out: Path, on_batch: Callable[[Sequence[Search]], None]
) -> Iterator[Run]:
    """The batches of one solver, each chosen from the records of those before."""
    while True:
        found = [(search, search.next_counts()) for search in searches]
        batches = [(search, counts) for search, counts in found if counts is not None]
        if not batches:
            return
        run = searches[0].plan.run_of(batches)
        if any(len(one.held(out)) < one.attempts for one in run.evaluations):
            yield run
        for search, counts in batches:
            search.read(out, counts)
        on_batch([search for search, _ in batches])
