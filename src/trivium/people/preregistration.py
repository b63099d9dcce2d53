"""Writes a preregistration from the experiment file: design, sample, rules, planned contrasts."""

from __future__ import annotations

import hashlib
from pathlib import Path

from jinja2 import Environment, PackageLoader

from trivium import __version__
from trivium.people.analysis import contrasts
from trivium.people.experiment import read_experiment

# Not escaped: the result is Markdown, and the texts in it are the researcher's own.
TEMPLATES = Environment(
    loader=PackageLoader("trivium.people"), trim_blocks=True, keep_trailing_newline=True
)


def preregistration(path: Path) -> str:
    """The preregistration of an experiment file, as Markdown."""
    experiment = read_experiment(path)
    first = experiment.conditions[0]
    measure = experiment.measure_of(first)
    return TEMPLATES.get_template("preregistration.md.j2").render(
        version=__version__,
        name=path.name,
        digest=hashlib.sha256(path.read_bytes()).hexdigest(),
        experiment=experiment,
        capped=[one for one in experiment.questions if one.cap],
        rules={rule: limit for rule, limit in vars(experiment.exclude).items() if limit >= 0},
        columns=experiment.tables["participants.csv"],
        measure=next(one for one in first.task.benchmark.metrics if one.name == measure),
        effects=list(contrasts(experiment)),
    )
