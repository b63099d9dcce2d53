"""Writing the prompt of an item, and reading it back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from trivium.benchmarks.variables.decision import CONTROL_TREE, VALIDITY_TREE, pseudocode
from trivium.benchmarks.variables.item import WORDINGS, VariablesItem
from trivium.benchmarks.variables.observations import (
    Observations,
    read_observations,
    write_observations,
)
from trivium.benchmarks.variables.spec import VariablesView

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
_FORMS = {"line": _FORM, "original": _ORIGINAL_FORM}
_ASK = {
    "free": "Think as long as you like, then end with a line of its own:\n",
    "direct": "Reply with the answer alone, without any reasoning, in one line:\n",
    "chain_of_thought": (
        "First reason step by step about the target hypothesis and about every other variable, "
        "then end with a line of its own:\n"
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
_OBSERVATIONS, _HYPOTHESES, _TARGET = "Observations:", "Hypotheses:", "Target hypothesis:"


@lru_cache
def preamble(view: VariablesView) -> str:
    """The part above the observations, the same for every item."""
    how = _ASK[view.reasoning] + _FORMS[view.answer_form]
    parts = (_TASK, _TREES[view.show_tree], how)
    return "\n".join(part for part in parts if part)


def render(item: VariablesItem, view: VariablesView) -> str:
    """The prompt: the task, the observations, the hypotheses and the target."""
    sentences = [
        WORDINGS[wording].format(ind=item.names[cause], dep=item.names[effect])
        for (cause, effect), wording in zip(item.hypotheses, item.wording, strict=True)
    ]
    target = sentences[list(item.hypotheses).index(item.target)]
    return "\n".join(
        [
            preamble(view),
            f"{_OBSERVATIONS}\n\n{write_observations(item, view.renderer).strip()}\n",
            f"{_HYPOTHESES}\n\n- " + "\n- ".join(sentences) + "\n",
            f"{_TARGET}\n\n{target}",
        ]
    )


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


_PATTERNS = [
    re.compile(re.sub(r"\\{(ind|dep)\\}", r"(?P<\1>x_[0-9]{1,9})", re.escape(words)))
    for words in WORDINGS
]


def read_prompt(prompt: str, view: VariablesView) -> Prompt:
    """The content of a prompt."""
    start = prompt.rindex(f"\n{_OBSERVATIONS}\n") + len(_OBSERVATIONS) + 2
    middle, end = prompt.rindex(f"\n{_HYPOTHESES}\n"), prompt.rindex(f"\n{_TARGET}\n")
    lines = prompt[middle + len(_HYPOTHESES) + 2 : end].split("\n- ")[1:]
    return Prompt(
        observations=read_observations(prompt[start:middle].strip(), view.renderer),
        hypotheses=[_read_hypothesis(line) for line in lines],
        target=_read_hypothesis(prompt[end + len(_TARGET) + 2 :]),
    )


def _read_hypothesis(line: str) -> tuple[str, str]:
    """The cause and the effect in a sentence."""
    found = next(match for pattern in _PATTERNS if (match := pattern.fullmatch(line.strip())))
    return found["ind"], found["dep"]
