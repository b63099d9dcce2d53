"""Shared by `eval`, `run`, `sweep`, `diagnose` and `threshold`: folder, execution and verdict."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trivium.commands.flags import Asked, leaves
from trivium.core.errors import require
from trivium.core.files import locked
from trivium.core.records import (
    CUT_OFF,
    DECLINED,
    FAILED,
    MANIFEST,
    NO_ANSWER,
    RECORDS,
    read_records,
)
from trivium.core.results import Summary
from trivium.core.text import one_line
from trivium.evaluation.cost import Price, Prices, confirm, cost_of_run, money, spent
from trivium.evaluation.evaluation import Run
from trivium.evaluation.execute import check_solver, claim_folder, execute, none_missing
from trivium.evaluation.executors import Executor, Workers
from trivium.evaluation.index import add_to_index, new_folder, newest_folder, write_table
from trivium.models.settings import ModelOptions
from trivium.report.answer import closing_lines
from trivium.report.page import MARKDOWN, read_run, write_report
from trivium.report.results import BenchmarkResults
from trivium.report.tables import (
    Table,
    condensed,
    result_table,
    say,
    terminal,
    token_line,
    total_tokens,
)

ROOT = Path("runs")
MAX_UNREAD = 0.02  # above this share of replies without an answer, --restate is suggested
MAX_ROWS = 24  # of a table on the terminal; longer ones are condensed
MODEL_FLAGS = [
    name
    for name in {**leaves(ModelOptions()), **leaves(Prices())}
    if name not in ("yes", "confirm_above")
]


@dataclass(frozen=True)
class RunFlags:
    """Where a run is written, and how it is executed."""

    # the folder (default: the newest of the same run, or a new one)
    out: Path | None = None
    new: bool = False  # begin a new folder even if there is one of the same run
    dry_run: bool = False  # only print the evaluations and their cost
    workers: Workers = field(default_factory=Workers)
    options: ModelOptions = field(default_factory=ModelOptions)
    prices: Prices = field(default_factory=Prices)

    @contextmanager
    def open(self, run: Run, asked: Asked[Any]) -> Iterator[tuple[Path, Executor]]:
        """The folder of a run and its executor, once its flags are checked and its cost agreed."""
        require(
            not (self.out and self.new), "--new begins a new folder: give it or --out, not both"
        )
        if not run.models:
            asked.refuse(MODEL_FLAGS, "goes with --model, and none is named")
        for evaluation in run.evaluations:
            check_solver(evaluation, self.options)
        folder = self.out or (None if self.new else newest_folder(run, ROOT))
        recorded = [0] * len(run.evaluations)
        if folder is not None and folder.is_dir():
            kept = not self.options.retry_errors
            with locked(folder):  # refuses a folder in which another process works
                if (folder / MANIFEST).exists():
                    claim_folder(folder, run.manifest())  # refuses a folder of another run
                recorded = [len(one.recorded_keys(folder, errors=kept)) for one in run.evaluations]
        if run.models:
            cost = cost_of_run(run, recorded, self.prices.of_run(run))
            confirm(cost, self.options)
            if run.kind == "run":  # whose number of items may be a default
                say(f"sending {cost}", stderr=True)
        with self.workers.open() as executor:
            if folder is None:
                folder = new_folder(run, ROOT)
                text = f"{run.kind} of {len(run.evaluations)} evaluations in {folder}"
                print(text, file=sys.stderr)
            elif any(recorded):
                _print_recorded(run, folder, sum(recorded))
            yield folder, executor

    def execute(
        self, run: Run, asked: Asked[Any], *, write_items: bool = False
    ) -> tuple[Path, list[Summary]]:
        """Make the missing attempts of a run; returns its folder and summaries."""
        with self.open(run, asked) as (folder, executor):
            return folder, execute(
                run,
                folder,
                executor=executor,
                options=self.options,
                command=asked.command,
                write_items=write_items,
            )

    def run(self, run: Run, asked: Asked[Any], *, write_items: bool = False) -> int:
        """Make the missing attempts of a run, then write its table, index row and report."""
        if self.dry_run:
            return self.print_plan(run)
        folder, summaries = self.execute(run, asked, write_items=write_items)
        if run.kind != "run":
            write_table(run, summaries, folder)
        add_to_index(run, folder)
        # Before anything is printed, which fails if standard output is closed.
        read = read_run(folder)
        report = write_report(read, prices=self.prices)
        print_results(run, read.results, folder)
        status = print_verdict(run, summaries, folder, self.prices)
        for line in closing_lines(read.results):
            say(line)
        if run.kind == "run" and not run.models:
            print("next: trivium run --model openai/gpt-4.1-mini  (about 300 requests)")
        print(f"report: {report}")
        return status

    def print_plan(self, run: Run) -> int:
        """Print the evaluations, and what models would cost; returns 0."""
        found: dict[str, list[list[str]]] = {}  # the seeds and solvers of every setting
        for one in run.evaluations:
            seeds, solvers = found.setdefault(one.setting or one.task.benchmark.name, [[], []])
            seeds.append(str(one.items.seed))
            solvers.append(one.solver)
        rows = [(name, *(", ".join(dict.fromkeys(part)) for part in found[name])) for name in found]
        first = run.evaluations[0]
        title = (
            f"{' '.join(run.benchmarks)}: {len(run.evaluations)} evaluations of "
            f"{first.items.count} items"
            f"{f', each in {first.trials} orders' if first.trials > 1 else ''}"
            f"{f', {first.repeats} times each' if first.repeats > 1 else ''}"
        )
        Table(title, ("setting", "seeds", "solvers"), tuple(rows)).show(terminal())
        cost = cost_of_run(run, None, self.prices.of_run(run), self.options.settings())
        say(f"{'models' if run.models else 'a model, if one were named'}: {cost}")
        return 0


def _print_recorded(run: Run, folder: Path, recorded: int) -> None:
    """Print on standard error how many attempts a folder holds."""
    total = sum(one.attempts for one in run.evaluations)
    text = f"{folder} holds {recorded:,} of {total:,} attempts; only the others are made"
    if run.kind == "threshold":  # whose number of attempts is not known in advance
        text = f"{folder} holds attempts of this search, which are kept"
    elif recorded == total:
        text = none_missing(folder, total)
    print(f"{text} (--new begins a new folder)", file=sys.stderr)


def print_results(run: Run, found: Sequence[BenchmarkResults], folder: Path) -> None:
    """Print one table for each benchmark, pooled over seeds; long ones are condensed."""
    order = [(str(one.setting), one.solver) for one in run.evaluations]
    for results in found:
        parts = results.split(lambda key: (key.setting, key.solver))
        rows = [(key[0], parts[key]) for key in sorted(parts, key=order.index)]
        shown = rows if len(rows) <= MAX_ROWS else condensed(results.benchmark, rows)
        table = result_table(results.benchmark, shown[: 2 * MAX_ROWS])
        if len(rows) > len(table.rows):
            which = "models, the best shortcut and the ceiling of each setting"
            note = f"{table.note}\n{which}; all {len(rows):,} rows are in {folder / MARKDOWN}"
            table = replace(table, note=note)
        table.show(terminal())


def print_verdict(run: Run, summaries: Sequence[Summary], folder: Path, prices: Prices) -> int:
    """Print failures and cost; returns 1 where calls failed or nothing was scored, else 0."""
    named = list(zip(run.evaluations, summaries, strict=True))
    judged = [found for one, found in named if one.is_model] or summaries  # programs never fail
    kinds = sum((Counter(found.kinds) for found in judged), Counter[str]())
    attempts, failed = kinds.total(), kinds[FAILED]
    scored = attempts - failed - kinds[DECLINED]
    if kinds[CUT_OFF]:
        say(f"{kinds[CUT_OFF]:,} of {attempts:,} attempts were cut off before an answer")
    unread = [
        one.solver
        for one, found in named
        if one.is_model and found.no_answers > MAX_UNREAD * sum(found.kinds.values())
        if not one.task.benchmark.multi_turn  # where --restate does nothing
    ]
    if unread and not any(one.settings.restate for one in run.evaluations):
        names = ", ".join(dict.fromkeys(unread))
        say(f"more than 2% of the replies of {names} hold no answer; --restate asks once more")
    if kinds[DECLINED]:
        say(f"{kinds[DECLINED]:,} of {attempts:,} attempts were declined by the provider")
    asked = [summary for summary in summaries if summary.tokens]
    if asked and run.kind != "eval":  # the metrics that `eval` prints include the tokens
        say(token_line(asked))
    if run.models and (known := prices.of_run(run)):
        say(spending(summaries, known))
    if failed:
        first = next(one.folder for one, summary in named if summary.failed)
        rows = (row for _, row in read_records(folder / first / RECORDS) if row["kind"] == FAILED)
        say(f"FAILED: {failed:,} of {attempts:,} attempts; the same command retries them")
        say(f"the first of them: {one_line(next(rows)['error'] or 'not known')}")
    elif scored == 0:
        say(f"FAILED: none of {attempts:,} attempts ended in a reply to score")
    elif scored == kinds[NO_ANSWER] + kinds[CUT_OFF]:
        say(f"WARNING: none of {scored:,} replies holds an answer; look at some of them")
    return 1 if failed or scored == 0 else 0


def spending(summaries: Sequence[Summary], prices: Mapping[str, Price]) -> str:
    """The cost of the recorded attempts of models, by the tokens that providers reported."""
    asked = [summary for summary in summaries if summary.tokens]  # those of models
    sent, received = (total_tokens(asked, name) for name in ("input_tokens", "output_tokens"))
    if not sent.reported and not received.reported:
        return "spent: not known, as no tokens were reported"
    least = "at least " * bool(sent.not_reported or received.not_reported)
    tokens = f"{sent.total:,} input and {received.total:,} output tokens"
    return f"spent: {least}{money(spent(asked, prices))} for {tokens}"
