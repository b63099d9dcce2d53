"""The public API: load a task, evaluate a solver on it, look at the results."""

from __future__ import annotations

import keyword
import pkgutil
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields, replace
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, Literal

from trivium.arguments import (
    as_items,
    as_task,
    checked,
    model_options,
    named_solver,
    solver_scores,
)
from trivium.auditing.engine import audit as run_audit
from trivium.auditing.overlap import Overlap
from trivium.auditing.overlap import overlap as count_overlap
from trivium.auditing.results import Audit
from trivium.auditing.stored import CAUGHT, audit_verdict
from trivium.benchmarks import (
    benchmark_names,
    declared,
    get_benchmark,
    list_in_project,
    load_task,
)
from trivium.benchmarks.contract import check_benchmark
from trivium.core.errors import UserError, import_extra, require, require_known
from trivium.core.files import atomic_write, write_file
from trivium.core.streams import DEFAULT_SEED
from trivium.core.task import PresentedItem, Task
from trivium.evaluation.cost import Cost, Prices, cost_of, cost_of_run
from trivium.evaluation.evaluation import Evaluation, Function, Items, Run, code_hash
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
from trivium.exchange.export import TEXT_FORMATS, Format, write_items
from trivium.exchange.imports import import_files
from trivium.exchange.score import Scoring, write_scores
from trivium.models.providers import Model, full_model_name
from trivium.models.settings import Effort, ModelOptions, Settings, is_model
from trivium.report.compare import differences, power_to_compare
from trivium.result_set import Differences, ResultSet, Thresholds, open_results
from trivium.thresholds.results import write_thresholds
from trivium.thresholds.search import ThresholdPlan, find_thresholds, make_axes

# What `import trivium` offers, as trivium.NAME.
__all__ = [
    "ResultSet",
    "Thresholds",
    "UserError",
    "audit",
    "check_benchmark",
    "compare",
    "diagnose",
    "estimate",
    "evaluate",
    "export",
    "import_records",
    "list_benchmarks",
    "load",
    "new_benchmark",
    "open_results",
    "overlap",
    "run",
    "score",
    "serve",
    "sweep",
    "threshold",
    "train",
]
SUFFIXES: Mapping[str, Format] = {".csv": "csv", ".parquet": "parquet"}
OVERLAP_ITEMS = 10_000
MIN_AUDIT_ITEMS = 100  # fewer show no cue


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


@checked
def evaluate(
    task: Task | str,
    solver: str | Function,
    *,
    items: int | Sequence[int] | Sequence[PresentedItem] = 100,
    seed: int = DEFAULT_SEED,
    start: int = 0,
    order_trials: int = 1,
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
    is presented in `order_trials` orders, and each of these `repeats` times. With `out`, records
    are kept in that folder and the same call resumes there. `options` are those of
    `trivium.models.settings.ModelOptions`, such as `temp` or `concurrency`; `system` is the text of
    a system message, and `template` a text around every prompt with {prompt} in its place (a Path
    names a file with it). With a benchmark's name, `preset` and the fields of spec and view may be
    given too.

    >>> result = evaluate("nhop_implicit", lambda prompt: "B_0001", items=20, name="constant")
    >>> result.summary.items
    20
    """
    task = as_task(task, options)
    asked = model_options(options, evaluate, task)
    solver_name, functions = named_solver(task, solver, name)
    settings = asked.settings() if is_model(solver_name) else Settings()
    chosen = as_items(task, items, seed, start)
    code = code_hash(functions[solver_name]) if functions else None
    evaluation = Evaluation(
        task, chosen, solver_name, order_trials, settings, repeats=repeats, code=code
    )
    return _executed(Run.of(evaluation), out, asked, functions)


@checked
def run(
    *benchmarks: str,
    models: Sequence[str] = (),
    presets: Sequence[str] | Literal["all"] = (),
    items: int | None = None,
    seed: int = DEFAULT_SEED,
    out: str | Path | None = None,
    **options: Any,
) -> ResultSet:
    """The results of every built-in solver, and of `models`, on presets of some benchmarks.

    Without names, on all benchmarks; without `presets`, on those that passed an audit. A model gets
    about 300 requests unless `items` says otherwise. `report` of the results writes the page of
    `trivium run`.
    """
    asked = model_options(options, run)
    plan = plan_run(
        benchmarks,
        models=models,
        presets=presets,
        items=items,
        seed=seed,
        settings=asked.settings(),
    )
    return _executed(plan, out, asked)


def plan_run(
    benchmarks: Sequence[str],
    *,
    models: Sequence[str],
    presets: Sequence[str] | Literal["all"],
    items: int | None,
    seed: int,
    settings: Settings,
) -> Run:
    """The evaluations of `run`."""
    names = benchmarks or benchmark_names()
    if not presets:
        presets = [preset for name in names for preset in audited_presets(name)]
    chosen = () if presets == "all" else presets
    return plan_main_run(
        names, seed=seed, items=items, presets=chosen, models=models, settings=settings
    )


def audited_presets(name: str) -> list[str]:
    """The presets of a benchmark that passed an audit.

    Where none did: the default one if some have known shortcuts, else every preset.
    """
    if "." in name:
        return []
    benchmark = get_benchmark(name)
    view = benchmark.view_type()
    verdicts = {
        preset: audit_verdict(Task(benchmark, spec, view))
        for preset, spec in benchmark.presets.items()
    }
    chosen = [preset for preset, verdict in verdicts.items() if verdict == "passed"]
    if not chosen and CAUGHT in verdicts.values():
        presets = benchmark.presets.items()
        chosen = [preset for preset, spec in presets if spec == benchmark.default_spec]
    return chosen or list(benchmark.presets)


@checked
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
    asked = model_options(options or {}, sweep)
    if isinstance(config, Mapping):
        return _executed(plan_sweep({**config, **grid}, asked.settings()), out, asked)
    return _executed(read_sweep(str(config), grid, asked.settings()), out, asked)


@checked
def diagnose(
    task: Task | str,
    *,
    variants: Sequence[str] = (),
    solvers: Sequence[str] | None = None,
    models: Sequence[str] = (),
    items: int = 60,
    seed: int = DEFAULT_SEED,
    order_trials: int = 1,
    out: str | Path | None = None,
    **options: Any,
) -> ResultSet:
    """The results of solvers and models in every variant of a task: which control does what?"""
    task = as_task(task, options)
    asked = model_options(options, diagnose, task)
    plan = plan_diagnosis(
        task,
        variants=variants,
        seed=seed,
        items=items,
        trials=order_trials,
        solvers=solvers,
        models=models,
        settings=asked.settings(),
    )
    return _executed(plan, out, asked)


@checked
def audit(
    task: Task | str, *, items: int | None = None, seed: int = DEFAULT_SEED, **fields: Any
) -> Audit:
    """Whether a shortcut beats the floor of a task's items in its view; takes up to a minute."""
    task = as_task(task, fields)
    for name in fields:
        require_known(name, ("items", "seed"), f"option {name!r}")
    few = items is not None and items < MIN_AUDIT_ITEMS
    require(not few, f"items must be at least {MIN_AUDIT_ITEMS}, got {items}")
    return run_audit(task.benchmark, task.spec, seed, items, view=task.view)


@checked
def overlap(
    task: Task | str, *, items: int = OVERLAP_ITEMS, seed: int = 0, **fields: Any
) -> Overlap:
    """How many items of a task repeat within a seed, and between two."""
    task = as_task(task, fields)
    for name in fields:
        require_known(name, ("items", "seed"), f"option {name!r}")
    return count_overlap(task.benchmark, task.spec, seed, items)


@checked
def estimate(
    task: Task | str | Path,
    *,
    items: int = 500,
    seed: int = DEFAULT_SEED,
    order_trials: int = 1,
    repeats: int = 1,
    model: str | None = None,
    price_in: float | None = None,
    price_out: float | None = None,
    prices: str | Path | None = None,
    power: float | None = None,
    score: float = 0.5,
    correlation: float = 0.3,
    runs: Sequence[ResultSet | str | Path] = (),
    **options: Any,
) -> Cost:
    """The requests, approximate tokens and cost of asking one model.

    Prices are those of a million tokens; `prices` is a file with those of each `model`. With
    `power`, the cost of as many items as it takes to see a difference of this size between two
    models: by the `score` of the worse one and their `correlation`, item by item, or from `runs` of
    two solvers. The config of a sweep, by its name or file, is estimated with all its models.

    >>> estimate("nhop_implicit", items=10).requests
    10
    >>> estimate("nhop_implicit", power=0.1).requests
    272
    """
    known = Prices(price_in, price_out, Path(prices) if prices is not None else None)
    if not isinstance(task, Task) and is_config(str(task)):
        settings = model_options(options, estimate).settings()
        plan = read_sweep(str(task), settings=settings)
        return cost_of_run(plan, prices=known.of_run(plan), settings=settings)
    require(model is not None or prices is None, "--prices goes with --model here")
    task = as_task(task, options)
    settings = model_options(options, estimate, task).settings()
    found = None
    if power is not None:
        scores = solver_scores(runs) if runs else None
        found = power_to_compare(task.benchmark.name, power, score, correlation, scores)
        items = found.items
    name = "a model" if model is None else full_model_name(model)
    evaluation = Evaluation(
        task, Items(seed, 0, items), name, order_trials, settings, repeats=repeats
    )
    return replace(cost_of(evaluation, price=known.of([name]).get(name)), power=found)


def _executed(
    plan: Run,
    out: str | Path | None,
    options: ModelOptions,
    functions: Mapping[str, Function] | None = None,
) -> ResultSet:
    """The results of a run, in the folder `out` or in a temporary one."""
    if not plan.models:
        settings = options.settings()
        given = [one.name for one in fields(Settings) if getattr(settings, one.name) != one.default]
        why = "built-in solvers and functions get the prompt itself"
        require(not given, f"only models take {' and '.join(given)}: {why}")
    with nullcontext(out) if out is not None else tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        summaries = execute(plan, folder, options=options, functions=functions, tell=True)
        if plan.kind in ("sweep", "diag"):
            write_table(plan, summaries, folder)
        return open_results(folder)


@checked
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
    asked = model_options(options, threshold, task)
    named = [named_solver(task, solver) for solver in solvers]
    functions = {name: function for _, found in named for name, function in found.items()}
    names = tuple(name for name, _ in named)
    plan = ThresholdPlan(
        task,
        make_axes(task, vary),
        names,
        target,
        seed,
        asked.settings(),
        label,
        width,
        max_items,
    )
    with nullcontext(out) if out is not None else tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        searches, *_ = find_thresholds(plan, folder, options=asked, functions=functions)
        write_thresholds(searches, folder)
        return Thresholds(searches, folder)


@checked
def export(
    task: Task | str,
    out: str | Path | BinaryIO,
    *,
    format: Format | None = None,
    files: Sequence[str | Path] = (),
    items: int = 100,
    seed: int = DEFAULT_SEED,
    start: int = 0,
    order_trials: int = 1,
    model: str | None = None,
    temp: float | None = None,
    max_output_tokens: int | None = None,
    reasoning_effort: Effort | None = None,
    audit: bool = True,
) -> int:
    """Write prompts with their gold answers for other tools; returns the number of prompts.

    `format` is jsonl, csv, parquet, inspect, openai-batch (with a `model` and its settings) or
    huggingface, a folder whose card has the result of an audit unless `audit` is False; by default
    it follows from the end of the file's name. `files` of items replace generated ones.

    >>> export(load("nhop_implicit"), "/dev/null", items=5)
    5
    """
    task = as_task(task, {})
    stream = None if isinstance(out, (str, Path)) else out
    path = Path() if stream else Path(str(out))
    format = format or SUFFIXES.get(path.suffix, "jsonl")
    request = None
    if format == "openai-batch":
        require(model is not None, "model is missing: which model does the batch ask?")
        served = full_model_name(str(model)).partition("/")[2]
        settings = Settings(temp, max_output_tokens, reasoning_effort)
        request = Model(f"openai/{served}", settings, ModelOptions())
    else:
        given = (model, temp, max_output_tokens, reasoning_effort)
        why = "model, temp, max_output_tokens and reasoning_effort go with format openai-batch"
        require(given == (None,) * 4, why)
    require(stream is None or format in TEXT_FORMATS, f"{format} needs a file")
    if format in ("parquet", "huggingface"):
        import_extra("pyarrow", "exchange")  # before the audit for the card
    paths = [Path(file) for file in files]
    chosen = Items.from_files(task.benchmark, paths) if paths else Items(seed, start, items)
    prompts = Evaluation(task, chosen, "export", order_trials)  # which is presented, not run
    if format == "huggingface":
        write_dataset_folder(prompts, path, with_audit=audit)
    else:
        with nullcontext(stream) if stream else atomic_write(path) as file:
            write_items(prompts.presented(), file, format, prompts.attempts, request)
    return prompts.attempts


@checked
def score(
    task: Task | str,
    replies: str | Path,
    *,
    prompts: str | Path | None = None,
    items: int | None = None,
    seed: int = DEFAULT_SEED,
    start: int = 0,
    order_trials: int = 1,
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
    scoring = Scoring(task, (Path(replies),), files, made, order_trials, by_order, solver)
    if out is None:
        return ResultSet(scoring.records())
    write_scores(scoring, Path(out))
    return open_results(out)


def compare(first: ResultSet | Sequence[ResultSet], *others: ResultSet) -> Differences:
    """Paired differences of the headline metric on common items: the others minus the first.

    Of a single run with several solvers, every other solver minus the first one.
    """
    several: list[Any] = [*first] if isinstance(first, (list, tuple)) else [first]
    return Differences(differences(solver_scores([*several, *others]), pairs=False))


@checked
def serve(
    experiment: str | Path | None = None, *, study: str | Path | None = None, **options: Any
) -> None:
    """Serve an experiment with people on a web page until interrupted; prints its addresses.

    Without an experiment file, the paper's experiment as a temporary study. The study is kept in
    the folder `study`, by default beside the file, and the same call resumes it. The options are
    those of the command: host, port, proxy, preview, screens, pilot, simulate and solver.
    """
    from trivium.people.launch import ServeOptions  # noqa: PLC0415 - most scripts serve nothing

    for name in options:
        require_known(name, [one.name for one in fields(ServeOptions)], f"option {name!r}")
    paths = [None if path is None else Path(path) for path in (experiment, study)]
    ServeOptions(**options).serve(*paths)


@checked
def import_records(*files: str | Path, out: str | Path, format: str = "inspect") -> ResultSet:
    """The results in Inspect logs, or in tables of another declared format, kept in folder `out`.

    Replies are parsed and scored again. `format` is inspect, or trajectories: tests and answers of
    people in CSV or JSON Lines.
    """
    import_files([Path(file) for file in files], Path(out), format)
    return open_results(out)


@checked
def new_benchmark(name: str) -> Path:
    """Write a new benchmark, NAME.py in the working folder, and list it in trivium.toml."""
    valid = re.fullmatch("[a-z][a-z0-9_]*", name) and name not in map(str.lower, keyword.kwlist)
    rule = (
        "begin with a letter, have only a to z, 0 to 9 and underscores, and be no keyword of Python"
    )
    require(bool(valid), f"NAME must {rule}, got {name!r}")
    require(name not in benchmark_names(), f"there is a benchmark {name!r} already")
    path = Path(f"{name}.py")
    require(not path.exists(), f"{path} exists already")
    taken = name in sys.stdlib_module_names or find_spec(name) is not None
    require(not taken, f"{name!r} is the name of a Python module")
    list_in_project(name, f"{path}:BENCHMARK")
    title = "".join(part.capitalize() for part in name.split("_"))
    template = (resources.files("trivium") / "new_benchmark.py.txt").read_text(encoding="utf-8")
    write_file(path, template.replace("NewBenchmark", title).replace("new_benchmark", name))
    return path


@checked
def train(agent: str, out: str | Path, **fields: Any) -> Path:
    """Train an agent of this kind; returns its folder, in which the same call resumes.

    `fields` are the flags of `trivium train AGENT`, such as `preset` and `steps`.
    """
    work: Callable[..., None] = pkgutil.resolve_name(declared("functions")["train"])
    work(agent, out=Path(out), **fields)
    return Path(out)
