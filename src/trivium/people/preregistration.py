"""A preregistration made from the experiment file: design, sample, rules and planned contrasts."""

from __future__ import annotations

import hashlib
from pathlib import Path

from jinja2 import Environment, PackageLoader

from trivium import __version__
from trivium.people.analysis import contrasts
from trivium.people.experiment import read_experiment

# Markdown, not HTML: the text is the researcher's own.
TEMPLATES = Environment(
    loader=PackageLoader("trivium.people"), trim_blocks=True, keep_trailing_newline=True
)


def preregistration(path: Path) -> str:
    """The preregistration of an experiment file, as Markdown."""
    experiment = read_experiment(path)
    first = experiment.conditions[0]
    name = experiment.measure_of(first)
    return TEMPLATES.get_template("preregistration.md.j2").render(
        version=__version__,
        name=path.name,
        digest=hashlib.sha256(path.read_bytes()).hexdigest(),
        experiment=experiment,
        capped=[one for one in experiment.questions if one.cap],
        rules={name: most for name, most in vars(experiment.exclude).items() if most >= 0},
        columns=experiment.tables["participants.csv"],
        measure=next(one for one in first.task.benchmark.metrics if one.name == name),
        effects=list(contrasts(experiment)),
    )
