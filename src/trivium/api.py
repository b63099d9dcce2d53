"""The public API: load a task, evaluate a solver on it, look at the results."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from trivium.benchmarks import benchmark_names, get_benchmark, load_task
from trivium.core.errors import import_extra, require
from trivium.core.files import Appender, atomic_write
from trivium.core.records import MANIFEST, RECORDS, SUMMARY, Row, read_records
from trivium.core.results import Summary, summarise
from trivium.core.streams import DEFAULT_SEED
from trivium.core.task import Task
from trivium.evaluation.evaluation import Evaluation, Items
from trivium.evaluation.execute import execute
from trivium.evaluation.plan import plan_evaluation
from trivium.evaluation.solvers import Function
from trivium.exchange.dataset_folder import write_dataset_folder
from trivium.exchange.export import Request, write_items
from trivium.exchange.score import Scoring, write_scores
from trivium.models.names import known_model
from trivium.models.settings import ModelOptions, is_model
from trivium.report.compare import Difference, differences, scores_of
from trivium.report.page import write_report
from trivium.report.results import record_files
from trivium.thresholds.results import TABLE, threshold_of, write_thresholds
from trivium.thresholds.search import Search, ThresholdPlan, find_thresholds, make_axes

if TYPE_CHECKING:
    import polars

KEPT = {MANIFEST, RECORDS, SUMMARY, TABLE}  # the files of a search, without logs and charts


def list_benchmarks() -> tuple[str, ...]:
    """The names of all benchmarks.

    >>> "nhop_explicit" in list_benchmarks()
    True
    """
    return benchmark_names()


def load(name: str, *, preset: str | None = None, **fields: Any) -> Task:
    """The task of a benchmark: its preset, with fields of spec and view as keywords.

    >>> task = load("nhop_explicit", preset="explicit-hard", hops=6, mode="steps")
    >>> task.spec.hops, task.view.mode
    (6, 'steps')
    """
    return load_task(name, preset, fields)


def evaluate(
    task: Task,
    solver: str | Function,
    *,
    items: int = 100,
    seed: int = DEFAULT_SEED,
    start: int = 0,
    trials: int = 1,
    out: str | Path | None = None,
    **options: Any,
) -> ResultSet:
    """The results of a solver on items of a task.

    The solver is a built-in solver's name, a model as PROVIDER/MODEL, `agent:FOLDER`,
    `package.module:function`, or a function from a prompt to a reply (plain or async; a parameter
    named `messages` gets the list of all messages of a dialogue instead of one text). With `out`,
    records are kept in that folder and the same call resumes there. `options` are those of
    `trivium.models.settings.ModelOptions`, such as `temp` or `concurrency`.

    >>> result = evaluate(load("nhop_implicit"), lambda prompt: "B_0001", items=20, seed=7)
    >>> result.summary.items
    20
    """
    asked = ModelOptions(**options)
    name, functions = _named(task, solver)
    evaluation = Evaluation(task, Items(seed, start, items), name, trials)
    if is_model(name):
        evaluation = replace(evaluation, settings=asked.settings())
    with _folder(out) as folder:
        execute(plan_evaluation(evaluation), folder, options=asked, functions=functions)
        return open_results(folder)


@contextmanager
def _folder(out: str | Path | None) -> Iterator[Path]:
    """The folder `out`, or a temporary one for None."""
    if out is not None:
        yield Path(out)
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)


def _named(task: Task, solver: str | Function) -> tuple[str, dict[str, Function]]:
    """The name of a solver in records, and the solver by this name if it is a function."""
    if not isinstance(solver, str):
        return function_name(solver), {function_name(solver): solver}
    known = None if solver in task.benchmark.solvers else known_model(solver)
    return known or solver, {}


def threshold(
    task: Task,
    *solvers: str | Function,
    vary: str | Sequence[str] | Mapping[str, Sequence[float]],
    target: float = 0.5,
    width: float = 0.3,
    max_items: int = 400,
    seed: int = DEFAULT_SEED,
    label: str | None = None,
    out: str | Path | None = None,
    **options: Any,
) -> Thresholds:
    """The thresholds of solvers: where their lift, from floor to ceiling, first falls to a target.

    `vary` names a numeric field, optionally with its values from easy to hard; a second field makes
    a map. Items are placed where they are most informative, until the interval is narrow
    enough (`width`) or `max_items` are used up for one threshold. Solvers, `out` and `options` are
    those of `evaluate`.

    >>> print(threshold(load("nhop_implicit"), "oracle", vary={"hops": [3, 4, 5]}, max_items=75))
    oracle: hops beyond 5, the hardest value, 50 items
    """
    asked = ModelOptions(**options)
    named = [_named(task, solver) for solver in solvers]
    functions = {name: own for _, found in named for name, own in found.items()}
    names = tuple(name for name, _ in named)
    axes = make_axes(task, vary)
    by = axes[1] if len(axes) > 1 else None
    plan = ThresholdPlan(
        task, axes[0], by, names, target, seed, asked.settings(), label, width, max_items
    )
    with _folder(out) as folder:
        searches, *_ = find_thresholds(plan, folder, options=asked, functions=functions)
        write_thresholds(searches, folder)
        return Thresholds(searches, folder)


def export(
    task: Task,
    out: str | Path,
    *,
    format: str = "jsonl",
    items: int = 100,
    seed: int = DEFAULT_SEED,
    start: int = 0,
    trials: int = 1,
    files: Sequence[str | Path] = (),
    request: Request | None = None,
    audit: bool = True,
) -> int:
    """Write prompts with their gold answers for other tools; returns the number of prompts.

    `format` is jsonl, csv, parquet, inspect, openai-batch (with a `request`) or huggingface, a
    folder whose card has the result of an audit unless `audit` is False. `files` of items replace
    generated ones.

    >>> export(load("nhop_implicit"), "/dev/null", items=5)
    5
    """
    chosen = exported_items(task, items, seed, start, files)
    prompts = Evaluation(task, chosen, "export", trials)
    if format == "huggingface":
        write_dataset_folder(prompts, Path(out), with_audit=audit)
    else:
        with atomic_write(Path(out)) as file:
            write_items(prompts.presented(), file, format, prompts.attempts, request)
    return prompts.attempts


def exported_items(
    task: Task, items: int, seed: int, start: int, files: Sequence[str | Path] = ()
) -> Items:
    """The items in files, or generated ones where there are no files."""
    paths = [Path(path) for path in files]
    return Items.from_files(task.benchmark, paths) if paths else Items(seed, start, items)


def score(
    task: Task,
    replies: str | Path,
    *,
    prompts: str | Path | None = None,
    items: int | None = None,
    seed: int = DEFAULT_SEED,
    start: int = 0,
    trials: int = 1,
    by_order: bool = False,
    solver: str = "replies",
    out: str | Path | None = None,
) -> ResultSet:
    """The results of replies that were collected elsewhere.

    `replies` is a file in any format of `trivium score`, with replies to the `prompts` of an
    exported file or to generated items; with `out`, a run folder is written there.

    >>> file = Path(tempfile.mkdtemp()) / "replies.json"
    >>> _ = file.write_text('{"IMP-000000": "E_0031", "IMP-000001": null}')
    >>> score(load("nhop_implicit"), file, items=2, seed=7).summary.no_answers
    1
    """
    files = () if prompts is None else (Path(prompts),)
    made = None if items is None else Items(seed, start, items)
    scoring = Scoring(task, (Path(replies),), files, made, trials, by_order, solver)
    if out is None:
        return ResultSet(scoring.records())
    write_scores(scoring, Path(out))
    return open_results(out)


def function_name(function: Function) -> str:
    """The name of a function in records."""
    return f"{function.__module__}:{getattr(function, '__qualname__', type(function).__name__)}"


def open_results(*paths: str | Path) -> ResultSet:
    """The results in run folders or files of records."""
    files = record_files([Path(path) for path in paths])
    return ResultSet(row for file in files for _, row in read_records(file))


def compare(first: ResultSet, *others: ResultSet) -> list[Difference]:
    """Paired differences of the headline metric on common items: the others minus the first."""
    scores = [
        one
        for number, result in enumerate((first, *others), start=1)
        for one in scores_of(f"result {number}", result)
    ]
    return differences(scores, pairs=False)


class ResultSet:
    """Records of attempts, with their summaries, tables and page."""

    def __init__(self, records: Iterable[Row]) -> None:
        self.records = list(records)

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.records)

    @cached_property
    def summaries(self) -> list[Summary]:
        """A summary for each solver on each spec and view, in the order of the records."""
        groups: dict[bytes, list[Row]] = {}
        for row in self.records:
            parts = [row[key] for key in ("benchmark", "solver", "spec", "view")]
            groups.setdefault(orjson.dumps(parts), []).append(row)
        return [summarise(own, metrics_of(own)) for own in groups.values()]

    @property
    def summary(self) -> Summary:
        """The summary of a single evaluation: metrics with intervals, floor, ceiling, errors."""
        found = len(self.summaries)
        require(found == 1, f"these are the results of {found} evaluations: use summaries")
        return self.summaries[0]

    def to_polars(self) -> polars.DataFrame:
        """One row per attempt; every score, group and usage is a column."""
        rows = [_flat(row) for row in self.records]
        frame: polars.DataFrame = import_extra("polars", "polars").DataFrame(
            rows, infer_schema_length=None
        )
        return frame

    def save(self, folder: str | Path) -> Path:
        """Write the records to a new folder that `trivium.open` and `trivium report` read."""
        path = Path(folder) / RECORDS
        require(not path.exists(), f"{folder} holds records already; choose another folder")
        with Appender(path) as file:
            file.add(self.records)
        return Path(folder)

    def report(self, path: str | Path) -> Path:
        """Write the page of these results as one HTML file."""
        with tempfile.TemporaryDirectory() as folder:
            page = write_report(self.save(Path(folder) / "results"))
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            return Path(shutil.copyfile(page, path))


class Thresholds(ResultSet):
    """Thresholds of solvers, with the records behind them."""

    def __init__(self, searches: Sequence[Search], folder: Path) -> None:
        super().__init__(open_results(folder))
        self.thresholds = [threshold_of(search) for search in searches]
        paths = [path for path in folder.rglob("*") if path.name in KEPT]
        self._files = {path.relative_to(folder): path.read_bytes() for path in paths}

    def __str__(self) -> str:
        lines = []
        for one in self.thresholds:
            second = "" if one.by is None else f" at {one.by:g}"
            lines.append(f"{one.solver}{second}: {one.field} {one.text}, {one.items} items")
        return "\n".join(lines)

    def save(self, folder: str | Path) -> Path:
        """Write the run to a new folder, in which the same search can resume."""
        path = Path(folder)
        require(not path.exists(), f"{folder} exists already; choose another folder")
        for name, content in self._files.items():
            with atomic_write(path / name) as file:
                file.write(content)
        return path


def metrics_of(rows: Sequence[Row]) -> Any:
    """The metrics of the benchmark that these records belong to."""
    return get_benchmark(rows[0]["benchmark"]).metrics


def _flat(row: Row) -> Row:
    """A record without nesting: dictionaries become columns, replies and answers become text."""
    flat: Row = {}
    for key, value in row.items():
        if key in ("scores", "groups", "usage"):
            flat |= {f"{key}.{name}": part for name, part in value.items()}
        elif isinstance(value, (dict, list)):
            flat[key] = orjson.dumps(value).decode()
        else:
            flat[key] = value
    return flat
