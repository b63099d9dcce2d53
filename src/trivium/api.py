"""The public API: load a task, evaluate a solver on it, look at the results."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from trivium.arguments import (
    as_items,
    as_task,
    model_options,
    named_solver,
    solver_scores,
)
from trivium.auditing.engine import audit as run_audit
from trivium.benchmarks import benchmark_names, load_task
from trivium.core.errors import require, require_known
from trivium.core.files import atomic_write
from trivium.core.probes import Audit
from trivium.core.streams import DEFAULT_SEED
from trivium.core.task import PresentedItem, Task
from trivium.evaluation.cost import Cost, Prices, cost_of, cost_of_run
from trivium.evaluation.evaluation import Evaluation, Function, Items, Run
from trivium.evaluation.execute import execute
from trivium.evaluation.index import write_table
from trivium.evaluation.plan import (
    is_config,
    plan_diagnosis,
    plan_main_run,
    plan_sweep,
    read_sweep,
)
from trivium.exchange.dataset_folder import write_dataset_folder
from trivium.exchange.export import Request, write_items
from trivium.exchange.score import Scoring, write_scores
from trivium.models.settings import ModelOptions, Settings, is_model
from trivium.report.compare import differences, power_to_compare
from trivium.results import Differences, ResultSet, Thresholds, open_results
from trivium.thresholds.results import write_thresholds
from trivium.thresholds.search import ThresholdPlan, find_thresholds, make_axes


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
    task: Task | str,
    solver: str | Function,
    *,
    items: int | Sequence[int] | Sequence[PresentedItem] = 100,
    seed: int = DEFAULT_SEED,
    start: int = 0,
    trials: int = 1,
    repeats: int = 1,
    name: str | None = None,
    out: str | Path | None = None,
    **options: Any,
) -> ResultSet:
    """The results of a solver on items of a task, or of the benchmark of this name.

    The solver is a built-in solver's name, a model as PROVIDER/MODEL, `agent:FOLDER`,
    `package.module:function`, or a function from a prompt to a reply: plain or async; a parameter
    named `messages` gets the list of all messages of a dialogue instead of one text, and one named
    `prompts` a list of prompts, for which it returns a list of replies. `name` is what a function
    is called in results. `items` is a number of items, their indexes, or items of the task; each
    is presented in `trials` orders, and each of these `repeats` times. With `out`, records are kept
    in that folder and the same call resumes there. `options` are those of
    `trivium.models.settings.ModelOptions`, such as `temp` or `concurrency`; `system` is the text of
    a system message, and `template` a text around every prompt with {prompt} in its place (a Path
    names a file with it). With a benchmark's name, `preset` and the fields of spec and view may be
    given too.

    >>> result = evaluate("nhop_implicit", lambda prompt: "B_0001", items=20, name="constant")
    >>> result.summary.items
    20
    """
    task = as_task(task, options)
    asked, settings = model_options(options, evaluate, task)
    solver_name, functions = named_solver(task, solver, name)
    evaluation = Evaluation(task, as_items(task, items, seed, start), solver_name, trials)
    evaluation = replace(evaluation, repeats=repeats)
    if is_model(solver_name):
        evaluation = replace(evaluation, settings=settings)
    return _executed(Run.of(evaluation), out, asked, settings, functions)


def run(
    *benchmarks: str,
    models: Sequence[str] = (),
    presets: Sequence[str] = (),
    items: int | None = None,
    seed: int = DEFAULT_SEED,
    out: str | Path | None = None,
    **options: Any,
) -> ResultSet:
    """The results of every built-in solver, and of `models`, on every preset of some benchmarks.

    Without names, on all benchmarks. `report` of the results writes the page of `trivium run`.
    """
    asked, settings = model_options(options, run)
    plan = plan_main_run(
        benchmarks or benchmark_names(),
        seed=seed,
        items=items,
        presets=presets,
        models=models,
        settings=settings,
    )
    return _executed(plan, out, asked, settings)


def sweep(
    config: str | Path | Mapping[str, Any],
    *,
    out: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    **grid: Any,
) -> ResultSet:
    """The results of a grid: a config's name, file or content, or a benchmark's name.

    `grid` has lists of values of fields, and `seeds`, `solvers`, `models` and `items`, which
    override those of the config.

    >>> results = sweep("nhop_implicit", hops=[3, 4], solvers=["oracle"], items=5)
    >>> [summary.items for summary in results.summaries]
    [5, 5]
    """
    asked, settings = model_options(options or {}, sweep)
    if isinstance(config, Mapping):
        return _executed(plan_sweep({**config, **grid}, settings), out, asked, settings)
    return _executed(read_sweep(str(config), grid, settings), out, asked, settings)


def diagnose(
    task: Task | str,
    *,
    variants: Sequence[str] = (),
    solvers: Sequence[str] | None = None,
    models: Sequence[str] = (),
    items: int = 60,
    seed: int = DEFAULT_SEED,
    trials: int = 1,
    out: str | Path | None = None,
    **options: Any,
) -> ResultSet:
    """The results of solvers and models in every variant of a task: which control does what?"""
    task = as_task(task, options)
    asked, settings = model_options(options, diagnose, task)
    plan = plan_diagnosis(
        task,
        variants=variants,
        seed=seed,
        items=items,
        trials=trials,
        solvers=solvers,
        models=models,
        settings=settings,
    )
    return _executed(plan, out, asked, settings)


def audit(
    task: Task | str, *, items: int | None = None, seed: int = DEFAULT_SEED, **fields: Any
) -> Audit:
    """Whether a shortcut beats the floor of a task's items in its view; takes up to a minute."""
    task = as_task(task, fields)
    for name in fields:
        require_known(name, ("items", "seed"), f"option {name!r}")
    return run_audit(task.benchmark, task.spec, seed, items, view=task.view)


def estimate(
    task: Task | str | Path,
    *,
    items: int = 500,
    trials: int = 1,
    repeats: int = 1,
    price_in: float | None = None,
    price_out: float | None = None,
    power: float | None = None,
    score: float = 0.5,
    correlation: float = 0.3,
    runs: Sequence[ResultSet | str | Path] = (),
    **options: Any,
) -> Cost:
    """The requests, approximate tokens and cost of asking one model; prices are per million tokens.

    With `power`, the cost of as many items as it takes to see a difference of this size between two
    models: by the `score` of the worse one and their `correlation`, item by item, or from `runs` of
    two solvers. The config of a sweep, by its name or file, is estimated with all its models.

    >>> estimate("nhop_implicit", items=10).requests
    10
    >>> estimate("nhop_implicit", power=0.1).requests
    272
    """
    prices = Prices(price_in=price_in, price_out=price_out)
    if not isinstance(task, Task) and is_config(str(task)):
        _, settings = model_options(options, estimate)
        plan = read_sweep(str(task), settings=settings)
        return cost_of_run(plan, prices=prices.of_run(plan), settings=settings)
    task = as_task(task, options)
    _, settings = model_options(options, estimate, task)
    found = None
    if power is not None:
        scores = solver_scores(runs) if runs else None
        found = power_to_compare(task.benchmark.name, power, score, correlation, scores)
        items = found.items
    evaluation = Evaluation(task, Items(0, 0, items), "a model", trials, settings, repeats=repeats)
    cost = cost_of(evaluation, price=prices.of(["a model"]).get("a model"))
    return replace(cost, power=found)


def _executed(
    plan: Run,
    out: str | Path | None,
    options: ModelOptions,
    settings: Settings,
    functions: Mapping[str, Function] | None = None,
) -> ResultSet:
    """The results of a run, in the folder `out` or in a temporary one."""
    if not plan.models:
        given = [one.name for one in fields(Settings) if getattr(settings, one.name) != one.default]
        why = "built-in solvers and functions get the prompt itself"
        require(not given, f"only models take {' and '.join(given)}: {why}")
    with _folder(out) as folder:
        summaries = execute(plan, folder, options=options, functions=functions)
        if plan.kind in ("sweep", "diag"):
            write_table(plan, summaries, folder)
        return open_results(folder)


@contextmanager
def _folder(out: str | Path | None) -> Iterator[Path]:
    """The folder `out`, or a temporary one for None."""
    if out is not None:
        yield Path(out)
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)


def threshold(
    task: Task | str,
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
    task = as_task(task, options)
    asked, settings = model_options(options, threshold, task)
    named = [named_solver(task, solver) for solver in solvers]
    functions = {name: own for _, found in named for name, own in found.items()}
    names = tuple(name for name, _ in named)
    axes = make_axes(task, vary)
    by = axes[1] if len(axes) > 1 else None
    plan = ThresholdPlan(task, axes[0], by, names, target, seed, settings, label, width, max_items)
    with _folder(out) as folder:
        searches, *_ = find_thresholds(plan, folder, options=asked, functions=functions)
        write_thresholds(searches, folder)
        return Thresholds(searches, folder)


def export(
    task: Task | str,
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
    task = as_task(task, {})
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
    task: Task | str,
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
    task = as_task(task, {})
    files = () if prompts is None else (Path(prompts),)
    made = None if items is None else Items(seed, start, items)
    scoring = Scoring(task, (Path(replies),), files, made, trials, by_order, solver)
    if out is None:
        return ResultSet(scoring.records())
    write_scores(scoring, Path(out))
    return open_results(out)


def compare(first: ResultSet | Sequence[ResultSet], *others: ResultSet) -> Differences:
    """Paired differences of the headline metric on common items: the others minus the first.

    Of a single run with several solvers, every other solver minus the first one.
    """
    several = [first] if isinstance(first, ResultSet) else [*first]
    return Differences(differences(solver_scores([*several, *others]), pairs=False))
