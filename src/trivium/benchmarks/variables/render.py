"""Writing the prompt of an item, and reading it back."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from trivium.benchmarks.variables.decision import CONTROL_TREE, VALIDITY_TREE, pseudocode
from trivium.benchmarks.variables.item import WORDINGS, VariablesItem
from trivium.benchmarks.variables.observations import (
    Observations,
    read_observations,
    write_observations,
)
from trivium.benchmarks.variables.prompt_file import PLACES, SAMPLE, TEMPLATES, TREE
from trivium.benchmarks.variables.spec import VariablesView
from trivium.core.errors import require

_TASK = """\
You are designing an experiment that is to test one hypothesis, given what was observed before.
Decide which variable should be the independent one, which the dependent one, and which other \
variables should be controlled.

The observations are about a number of variables. How these work is not known; their names and \
their order mean nothing. Observations of a variable may be missing in part or altogether: then \
they were not made, and nothing follows from that.
There is also a list of hypotheses, which say what is believed and not what is true. One of them \
is the target hypothesis: the one that the experiment is to test.

If what was observed speaks against the target hypothesis, it is not worth an experiment: call it \
invalid. Control only what would be risky to leave alone, given what is known; name the most \
important variable first, and write none where nothing needs control.
"""
# The original leaves this open. Here hypotheses decide in every valid item.
_UNOBSERVED = """\
A variable without observations, or with hardly any, is known from the hypotheses alone: it is \
risky if they lead from it to the dependent variable, in one step or through other variables (the \
independent one included). Count every hypothesis for this, even one that the observations speak \
against.
"""
_FORM = """\
ANSWER: valid; independent: <variable>; dependent: <variable>; control: <variables>
for example
ANSWER: valid; independent: x_1; dependent: x_2; control: x_3, x_4
or, where the hypothesis is invalid, just
ANSWER: invalid
"""
_ORIGINAL_FORM = """\
[@ANSWER valid_hyp: <true/false>; independent: <var>; dependent: <var>; control: <vars>]
for example
[@ANSWER valid_hyp: true; independent: x_1; dependent: x_2; control: x_3, x_4]
or, where the hypothesis is invalid, just
[@ANSWER valid_hyp: false]
"""
_ASK = {
    "free": "Think as long as you like, then end with a line of its own:\n",
    "direct": "Reply with the answer alone, without any reasoning, in one line:\n",
    "chain_of_thought": (
        "First reason step by step about the target hypothesis and about every other variable, "
        "then end with a line of its own:\n"
    ),
}
_ORIGINAL_ASK = {
    "free": "Reason only if you are asked to. Give the answer in this form, with its brackets:\n",
    "direct": "Do not reason. Reply with the answer alone in this form, with its brackets:\n",
    "chain_of_thought": (
        "First reason step by step about the target hypothesis and about every other variable. "
        "Then give the answer in this form, with its brackets:\n"
    ),
}
_PSEUDOCODE = f"""\
The perfect answer follows from two decision trees. correlated(a, b) is true, false, or unknown \
where a or b was hardly observed (more than 80% of its observations are missing).

Is the hypothesis "DEP is a function of IND" valid?
{pseudocode(VALIDITY_TREE)}

Is a variable V to be controlled when a valid hypothesis is tested?
{pseudocode(CONTROL_TREE)}
"""
_LANGUAGE = """\
The perfect answer follows from two rules. Whether two variables are correlated is unknown where \
either was hardly observed, that is, where more than 80% of its observations are missing.

A hypothesis is invalid only if its two variables are known not to be correlated. If they are \
correlated, or if that is unknown, it is valid: the cause that it names is the independent \
variable, and the effect that it names is the dependent one.

When a valid hypothesis is tested, every other variable that is correlated with the dependent or \
the independent variable must be controlled. A variable that is known not to be correlated with \
the dependent variable, and is not correlated with the independent one either, must not. Where it \
is unknown whether a variable is correlated with the dependent variable (and it is not correlated \
with the independent one), control it exactly if the hypotheses say that it causes the dependent \
variable, directly or through a chain of hypotheses.
"""
_TREES: dict[object, str] = {"none": "", "pseudocode": _PSEUDOCODE, "language": _LANGUAGE}
_SAMPLE = """\
Observations:

{observations}

Hypotheses:

{hypotheses}

Target hypothesis:

{target_hypothesis}"""


class Texts(NamedTuple):
    """The texts that are the same in all prompts of a view."""

    preamble: str  # above the sample
    sample: str  # with places for observations, hypotheses and target
    sentences: Sequence[str]  # of hypotheses


@lru_cache
def texts(view: VariablesView) -> Texts:
    """The texts of a view: our own, or those of a file."""
    tree = _TREES[view.show_tree]
    if view.prompt_file is not None:
        given = json.loads(view.prompt_file)
        tree = tree and given.get("decision_tree_section", tree)
        above = given.get("task_description", "").replace(TREE, tree).strip()
        sentences = given.get(TEMPLATES, WORDINGS)
        return Texts(above and f"{above}\n\n", given[SAMPLE].strip(), sentences)
    if view.wording == "original":
        parts = (_TASK, _ORIGINAL_ASK[view.reasoning] + _ORIGINAL_FORM, tree)
    else:
        parts = (_TASK + _UNOBSERVED, tree, _ASK[view.reasoning] + _FORM)
    return Texts("\n".join([*filter(None, parts), ""]), _SAMPLE, WORDINGS)


def render(item: VariablesItem, view: VariablesView) -> str:
    """The prompt: the task, the observations, the hypotheses and the target."""
    preamble, sample, templates = texts(view)
    sentences = [
        templates[wording % len(templates)]
        .replace("{ind}", item.names[cause])
        .replace("{dep}", item.names[effect])
        for (cause, effect), wording in zip(item.hypotheses, item.wording, strict=True)
    ]
    # The original prints the list of hypotheses as Python does.
    listed = str(sentences) if view.wording == "original" else "- " + "\n- ".join(sentences)
    parts = {
        "{observations}": write_observations(item, view.renderer).strip(),
        "{hypotheses}": listed,
        "{target_hypothesis}": sentences[list(item.hypotheses).index(item.target)],
    }
    return preamble + re.sub(r"{\w+}", lambda place: parts.get(place[0], place[0]), sample)


@dataclass(frozen=True)
class Prompt:
    """The content of a prompt: all that a solver without the item knows."""

    observations: Observations
    hypotheses: list[tuple[str, str]]  # independent, dependent
    target: tuple[str, str]

    @property
    def names(self) -> list[str]:
        """Every variable in the order of first mention."""
        believed = [name for edge in self.hypotheses for name in edge]
        return list(dict.fromkeys([*self.observations.names, *believed]))


def read_prompt(prompt: str, view: VariablesView) -> Prompt:
    """The content of a prompt."""
    preamble, sample, templates = texts(view)
    found = _sample_pattern(sample).fullmatch(prompt, len(preamble))
    require(found is not None, f"the places in {SAMPLE} of the prompt_file cannot be distinguished")
    assert found is not None
    observations, hypotheses, target = (found[place.strip("{}")] for place in PLACES)
    lines = (
        ast.literal_eval(hypotheses)
        if view.wording == "original"
        else hypotheses.removeprefix("- ").split("\n- ")
    )
    patterns = [_hypothesis_pattern(template) for template in templates]
    return Prompt(
        observations=read_observations(observations, view.renderer),
        hypotheses=[_read_hypothesis(line, patterns) for line in lines],
        target=_read_hypothesis(target, patterns),
    )


@lru_cache
def _sample_pattern(sample: str) -> re.Pattern[str]:
    """What reads the filled places of a sample."""
    pattern = re.escape(sample)
    for place in PLACES:
        pattern = pattern.replace(re.escape(place), f"(?P<{place.strip('{}')}>.+?)")
    return re.compile(pattern, re.DOTALL)


@lru_cache
def _hypothesis_pattern(template: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{(ind|dep)\\}", r"(?P<\1>x_[0-9]{1,9})", re.escape(template)))


def _read_hypothesis(line: str, patterns: Sequence[re.Pattern[str]]) -> tuple[str, str]:
    """The cause and the effect in a sentence."""
    found = next(match for pattern in patterns if (match := pattern.fullmatch(line.strip())))
    return found["ind"], found["dep"]
