"""Shared by `eval`, `run`, `sweep`, `diagnose` and `threshold`: folder, execution and verdict."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from trivium.benchmarks import get_benchmark
from trivium.core.errors import require
from trivium.core.records import FAILED, MANIFEST, RECORDS, read_records
from trivium.core.results import Summary
from trivium.core.text import one_line
from trivium.evaluation.cost import Price, Prices, confirm, cost_of_run, money
from trivium.evaluation.evaluation import Run
from trivium.evaluation.execute import check_solver, claim_folder, execute
from trivium.evaluation.executors import Executor, Workers, all_processors
from trivium.evaluation.index import add_to_index, new_folder, newest_folder, write_table
from trivium.models.settings import ModelOptions
from trivium.report.answer import closing_lines
from trivium.report.page import MARKDOWN, read_run, write_report
from trivium.report.results import read_results
from trivium.report.tables import condensed, result_table, terminal, token_line, total_tokens

ROOT = Path("runs")
MAX_UNREAD = 0.02  # above this share of replies without an answer, --restate is suggested
MAX_ROWS = 24  # of a table on the terminal; longer ones are condensed


@dataclass(frozen=True)
class Execution:
    """How a run is executed."""

    workers: Workers = field(default_factory=Workers)
    options: ModelOptions = field(default_factory=ModelOptions)
    prices: Prices = field(default_factory=Prices)

    @contextmanager
    def open(self, run: Run, folder: Path | None) -> Iterator[tuple[Path, Executor]]:
        """The folder of a run (a new one for None) and its executor, once its cost is confirmed."""
        for evaluation in run.evaluations:
            check_solver(evaluation, self.options)
        recorded = [0] * len(run.evaluations)
        if folder is not None:
            if (folder / MANIFEST).exists():
                claim_folder(folder, run.manifest())  # refuses a folder of another run
            errors = not self.options.retry_errors
            recorded = [len(one.recorded_keys(folder, errors=errors)) for one in run.evaluations]
        if run.models:
            cost = cost_of_run(run, recorded, self.prices.of_run(run))
            confirm(cost, self.options)
            if run.kind == "run":  # whose number of items may be a default
                print(f"sending {cost}", file=sys.stderr)
        with self.workers.open() as executor:
            if folder is None:
                folder = new_folder(run, ROOT)
                text = f"{run.kind} of {len(run.evaluations)} evaluations in {folder}"
                print(text, file=sys.stderr)
            elif any(recorded):
                _print_recorded(run, folder, sum(recorded))
            yield folder, executor

    def execute(
        self, run: Run, folder: Path | None, command: str, *, write_items: bool = False
    ) -> tuple[Path, list[Summary]]:
        """Make the missing attempts of a run; returns its folder and summaries."""
        with self.open(run, folder) as (chosen, executor):
            summaries = execute(
                run,
                chosen,
                executor=executor,
                options=self.options,
                command=command,
                write_items=write_items,
            )
        return chosen, summaries


@dataclass(frozen=True)
class RunFlags:
    """Where a run is written, and how it is executed."""

    # the folder (default: the newest of the same run, or a new one)
    out: Path | None = None
    new: bool = False  # begin a new folder even if there is one of the same run
    execution: Execution = field(default_factory=lambda: Execution(all_processors()))

    def folder(self, run: Run) -> Path | None:
        """The folder that --out names, or the newest one of the same run; None for a new one."""
        require(
            not (self.out and self.new), "--new begins a new folder: give it or --out, not both"
        )
        return self.out or (None if self.new else newest_folder(run, ROOT))

    def run(self, run: Run, command: str, *, write_items: bool = False) -> int:
        """Make the missing attempts of a run, then write its table, index row and report."""
        folder, summaries = self.execution.execute(
            run, self.folder(run), command, write_items=write_items
        )
        if run.kind != "run":
            write_table(run, summaries, folder)
        add_to_index(run, folder)
        # Before anything is printed, which fails if standard output is closed.
        read = read_run(folder)
        report = write_report(read, prices=self.execution.prices)
        print_results(run, summaries, folder)
        status = print_verdict(run, summaries, folder, self.execution.prices)
        for line in closing_lines(read.results):
            print(line)
        if run.kind == "run" and not run.models:
            print("next: trivium run --model openai/gpt-4.1-mini  (about 300 requests)")
        print(f"report: {report}")
        return status


def _print_recorded(run: Run, folder: Path, recorded: int) -> None:
    """Print on standard error how many attempts a folder holds."""
    total = sum(one.attempts for one in run.evaluations)
    text = f"{folder} holds {recorded:,} of {total:,} attempts; only the others are made"
    if run.kind == "threshold":  # whose number of attempts is not known in advance
        text = f"{folder} holds {recorded:,} attempts, which are kept"
    elif recorded == total:
        text = f"{folder} holds all {total:,} attempts; none is missing"
    hint = "" if run.kind == "eval" else " (--new begins a new folder)"
    print(text + hint, file=sys.stderr)


def print_results(run: Run, summaries: Sequence[Summary], folder: Path) -> None:
    """Print one table for each benchmark; long ones are condensed, with a note."""
    console = terminal()
    for name in run.benchmarks:
        benchmark = get_benchmark(name)
        rows = _pooled(run, summaries, folder, name)
        shown = rows if len(rows) <= MAX_ROWS else condensed(benchmark, rows)
        table = result_table(benchmark, shown[: 2 * MAX_ROWS])
        if len(rows) > len(table.rows):
            which = "models, the best shortcut and the ceiling of each setting"
            note = f"{table.note}\n{which}; all {len(rows):,} rows are in {folder / MARKDOWN}"
            table = replace(table, note=note)
        table.show(console)


def _pooled(
    run: Run, summaries: Sequence[Summary], folder: Path, name: str
) -> list[tuple[str, Summary]]:
    """The summaries of one benchmark by setting and solver, pooled over seeds."""
    named = list(zip(run.evaluations, summaries, strict=True))
    if len({one.items.seed for one in run.evaluations}) == 1:
        return [(str(one.setting), found) for one, found in named if found.benchmark == name]
    order = [str(one.setting) for one in run.evaluations]
    parts = read_results([folder])[name].split(lambda key: (key.setting, key.solver))
    pooled = [(setting, part) for (setting, _), part in parts.items()]
    return sorted(pooled, key=lambda named: order.index(named[0]))


def print_verdict(run: Run, summaries: Sequence[Summary], folder: Path, prices: Prices) -> int:
    """Print failures and cost; returns 1 where calls failed or nothing was scored, else 0."""
    named = list(zip(run.evaluations, summaries, strict=True))
    failed = sum(summary.failed for summary in summaries)
    attempts = sum(sum(summary.kinds.values()) for summary in summaries)
    answered = sum(summary.answered for summary in summaries)
    scored = answered + sum(summary.no_answers + summary.cut_offs for summary in summaries)
    if cut := sum(summary.cut_offs for summary in summaries):
        print(f"{cut:,} of {attempts:,} attempts were cut off before an answer")
    unread = [
        one.solver
        for one, found in named
        if one.is_model and found.no_answers > MAX_UNREAD * sum(found.kinds.values())
    ]
    if unread and not any(one.settings.restate for one in run.evaluations):
        names = ", ".join(dict.fromkeys(unread))
        print(f"more than 2% of the replies of {names} hold no answer; --restate asks once more")
    if declined := sum(summary.declined for summary in summaries):
        print(f"{declined:,} of {attempts:,} attempts were declined by the provider")
    asked = [summary for summary in summaries if summary.tokens]
    if asked and run.kind != "eval":  # whose table of metrics has tokens
        print(token_line(asked))
    if run.models and (known := prices.of_run(run)):
        print(spending(summaries, known))
    if failed:
        first = next(one.folder for one, summary in named if summary.failed)
        print(f"FAILED: {failed:,} of {attempts:,} attempts; the same command retries them")
        print(f"the first of them: {_first_error(folder / first)}")
    elif scored == 0:
        print(f"FAILED: none of {attempts:,} attempts ended in a reply to score")
    elif answered == 0:
        print(f"WARNING: none of {scored:,} replies holds an answer; look at some of them")
    return 1 if failed or scored == 0 else 0


def _first_error(folder: Path) -> str:
    """The error of the first failed attempt, as plain text on one line."""
    errors = (row["error"] for _, row in read_records(folder / RECORDS) if row["kind"] == FAILED)
    return one_line(next(errors, None) or "not known")


def spending(summaries: Sequence[Summary], prices: Mapping[str, Price]) -> str:
    """The cost of the recorded attempts of models, by the tokens that providers reported."""
    asked = [summary for summary in summaries if summary.tokens]  # those of models
    sent, received = (total_tokens(asked, name) for name in ("input_tokens", "output_tokens"))
    if not sent.reported and not received.reported:
        return "spent: not known, as no tokens were reported"
    total = sum(
        prices[one.solver].of(one.tokens["input_tokens"].total, one.tokens["output_tokens"].total)
        for one in asked
    )
    missing = max(sent.not_reported, received.not_reported)
    text = f"for {sent.total:,} input and {received.total:,} output tokens"
    if not missing:
        return f"spent: {money(total)} {text}"
    return f"spent: at least {money(total)} {text}; {missing:,} attempts did not report theirs"
