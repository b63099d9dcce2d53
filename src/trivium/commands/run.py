"""trivium run"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.commands.execution import RunFlags
from trivium.commands.flags import Asked, ask
from trivium.commands.parser import Offers, flag
from trivium.core.errors import require
from trivium.core.spec import spec_to_dict
from trivium.core.streams import DEFAULT_SEED
from trivium.evaluation.evaluation import Run
from trivium.evaluation.plan import plan_main_run
from trivium.report.audits import CAUGHT, audit_verdict

REQUESTS = 300  # to each model, about, where --items is not given
ABOUT = """Every benchmark, every built-in solver, one report. Runs the presets that passed an audit
(or the default preset of a benchmark where none did), --all every one. Writes records and
report.html; the same command resumes its newest folder, and makes only attempts that are missing or
failed. --model evaluates language models on the same items too, with about 300 requests to each
unless --items says otherwise; trivium estimate run says what that costs. Exit status 1: calls
failed, or nothing was scored.
Example: trivium run --items 200 --out runs/first
Example: trivium run --model openai/gpt-4.1-mini --model ollama/llama3.2"""


@dataclass(frozen=True)
class Flags:
    """What is run."""

    # items of each preset (default: each benchmark's own number; with models, fewer)
    items: int | None = None
    seed: int = DEFAULT_SEED  # the seed of all items
    benchmarks: tuple[str, ...] = ()  # which ones (default: all)
    presets: tuple[str, ...] = ()  # which of their presets (default: those that passed an audit)
    all: bool = False  # every preset, also those with known shortcuts or without an audit
    models: tuple[str, ...] = flag((), "--model")  # language models, each as PROVIDER/MODEL
    running: RunFlags = field(default_factory=RunFlags)


def main(args: Sequence[str]) -> int:
    """Run, then print a table for each benchmark, who is best, and the path of the report."""
    run, asked = read_run("run", args)
    return asked.flags.running.run(run, asked.command)


def read_run(command: str, args: Sequence[str]) -> tuple[Run, Asked[Flags]]:
    """The run that a command line describes, and its flags.

    Other commands than `run` estimate its cost, for any model if none is named.
    """
    known = benchmark_names()
    offers: Offers = {
        "benchmarks": known,
        "presets": (preset for name in known for preset in get_benchmark(name).presets),
    }
    asked = ask(f"trivium {command}", Flags(), args, ABOUT, offers)
    flags = asked.flags
    require(flags.items is None or flags.items >= 1, f"items must be at least 1, got {flags.items}")
    require(not (flags.all and flags.presets), "give --all or --presets, not both")
    if not flags.models and command == "run":
        asked.refuse_model_flags("none is named")
    models = flags.models or (("openai/any",) if command != "run" else ())
    names = tuple(dict.fromkeys(flags.benchmarks)) or known
    presets = flags.presets
    if not presets and not flags.all:
        presets = tuple(preset for name in names for preset in audited_presets(name))

    def plan(items: int | None) -> Run:
        return plan_main_run(
            names,
            seed=flags.seed,
            items=items,
            presets=presets,
            models=models,
            settings=flags.running.execution.options.settings(),
        )

    run = plan(flags.items)
    if models and flags.items is None:
        run = plan(max(1, round(REQUESTS / _requests_of_an_item(run))))
    return run, asked


def audited_presets(name: str) -> list[str]:
    """The presets of a benchmark that passed an audit.

    Where none did: the default one if some have known shortcuts, else every preset.
    """
    if "." in name:
        return []
    benchmark = get_benchmark(name)
    view = spec_to_dict(benchmark.view_type())
    verdicts = {
        preset: audit_verdict(benchmark, spec_to_dict(spec), view)
        for preset, spec in benchmark.presets.items()
    }
    chosen = [preset for preset, verdict in verdicts.items() if verdict == "passed"]
    if not chosen and CAUGHT in verdicts.values():
        own = benchmark.presets.items()
        chosen = [preset for preset, spec in own if spec == benchmark.default_spec]
    return chosen or list(benchmark.presets)


def _requests_of_an_item(run: Run) -> int:
    """The requests to one model for one item of every preset."""
    first = run.models[0].solver
    tasks = [one.task for one in run.models if one.solver == first]
    return sum(task.benchmark.max_turns(task.item(0).original) for task in tasks)
