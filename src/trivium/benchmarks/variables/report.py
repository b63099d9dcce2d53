"""What reports say about items: chart axes, kinds of answers, highlights, the headline."""

from __future__ import annotations

from trivium.benchmarks.variables.item import VariablesItem
from trivium.benchmarks.variables.score import gold
from trivium.core.benchmark import ChartAxis, Lifts

AXES = (
    ChartAxis("n_ctrl_vars", "control variables", "control variable"),
    ChartAxis("snr", "signal to noise (dB)"),
)
KINDS = {
    "called-valid": "an invalid hypothesis is called valid",
    "called-invalid": "a valid hypothesis is called invalid",
    "swapped-variables": "the independent and the dependent variable are swapped",
    "wrong-variables": "the independent or the dependent variable is wrong",
    "control-missed": "a variable that must be controlled is missing",
    "control-wrong": "a variable is controlled that must not be",
    "control-missed-and-wrong": "a control variable is missing and another one is wrong",
    "control-left-out": "nothing is said about control variables",
}
EASIER_WITH_MORE = frozenset({"observations", "snr"})


def highlights(item: VariablesItem, view: object) -> list[str]:
    """The variables in the answer."""
    answer = gold(item)
    named = [answer.independent, answer.dependent, *(answer.control or ())]
    return [name for name in named if name]


def headline_sentence(lifts: Lifts) -> str:
    """How well a solver controls variables."""
    return f"controls {lifts.grade}"
