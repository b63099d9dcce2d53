"""A preregistration made from the experiment file: design, sample, rules and planned contrasts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from trivium import __version__
from trivium.people.analysis import effect_names
from trivium.people.experiment import Experiment, read_experiment

RULES = {
    "failed_checks": "answered the questions about the instructions wrong",
    "failed_attention": "answered attention checks wrong",
    "fast_screens": "left screens before their minimum time",
    "page_left": "changed to another tab or window",
    "pastes": "pasted text",
}


def preregistration(path: Path) -> str:
    """The preregistration of an experiment file, as Markdown."""
    experiment = read_experiment(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    parts = {
        f"# Preregistration: {experiment.title}": [
            f"Made by Trivium {__version__} from {path.name} (SHA-256 {digest})."
        ],
        "## Design": _design(experiment),
        "## Items": _items(experiment),
        "## Sample and assignment": _sample(experiment),
        "## Questions": [
            f"- {one.id}: {one.text} {_options(one.options)}".rstrip()
            for one in experiment.questions
        ]
        or ["None."],
        "## Exclusion": _exclusion(experiment),
        "## Analysis": _analysis(experiment),
    }
    return "\n\n".join(f"{title}\n" + "\n".join(lines) for title, lines in parts.items()) + "\n"


def _options(options: tuple[str, ...]) -> str:
    return f"({' / '.join(options)})" if options else ""


def _design(experiment: Experiment) -> Iterator[str]:
    yield (
        "| condition | " + "".join(f"{one} | " for one in experiment.factors) + "arm | items | N |"
    )
    yield "|---" * (4 + len(experiment.factors)) + "|"
    for one in experiment.conditions:
        cells = [one.name, *one.factors.values(), one.arm, str(one.items), str(one.cap or "open")]
        yield f"| {' | '.join(cells)} |"


def _items(experiment: Experiment) -> Iterator[str]:
    for one in experiment.conditions:
        fields = {**one.fields, **one.where}
        chosen = ", ".join(f"{key} = {value}" for key, value in fields.items())
        benchmark = one.task.benchmark
        preset = f", preset {one.preset}" if one.preset else ""
        yield f"- {one.name}: {benchmark.name} {benchmark.version}{preset}" + (
            f" with {chosen}" if chosen else ""
        )
    yield f"- items 0 to {experiment.pool - 1} of seed {experiment.seed}"
    if experiment.balance:
        yield f"- balanced within and matched across conditions: {', '.join(experiment.balance)}"


def _sample(experiment: Experiment) -> Iterator[str]:
    caps = [one.cap for one in experiment.conditions]
    yield f"N = {sum(caps)} completed participants." if all(caps) else "N is not limited."
    yield "Each participant is assigned at random to one of the conditions with the fewest"
    capped = [one for one in experiment.questions if one.cap]
    alike = f" with the same answers to {', '.join(one.id for one in capped)}" if capped else ""
    yield f"completed and active participants{alike}."
    for one in capped:
        yield f"At most {one.cap} participants with the same {one.id} take part in a condition."
    yield f"A place is free again after {experiment.dropout_minutes} minutes without a step."


def _exclusion(experiment: Experiment) -> Iterator[str]:
    rules = {name: most for name, most in vars(experiment.exclude).items() if most >= 0}
    if not rules:
        yield "Nobody who completes the experiment is excluded."
    for name, most in rules.items():
        yield f"- {name}: participants who {RULES[name]} more than {most} times are excluded."
    for screen, seconds in experiment.minimum_seconds.items():
        yield f"- The minimum time of the screen {screen} is {seconds} seconds."
    if experiment.check and experiment.after_failed_check == "end":
        yield "- Two wrong answers to the questions about the instructions end the experiment."


def _analysis(experiment: Experiment) -> Iterator[str]:
    first = experiment.conditions[0]
    name = experiment.measure_of(first)
    about = next(one.about for one in first.task.benchmark.metrics if one.name == name)
    yield f"The measure is {name} ({about}), averaged over the items of a participant."
    for effect in effect_names(experiment):
        kind = "interaction" if " x " in effect else "main effect"
        yield f"- {kind} {effect}: contrast of the cell means with its 95% interval"
    yield "Intervals: Price and Bonett (2004) for proportions, Welch for other scores."
