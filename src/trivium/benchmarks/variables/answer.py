"""Writing an answer and reading it back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trivium.benchmarks.variables.spec import VariablesView


@dataclass(frozen=True, slots=True)
class VariablesAnswer:
    """Whether the hypothesis is valid, and the variables that were named."""

    valid: bool
    independent: str | None = None  # None where it was left out
    dependent: str | None = None
    control: tuple[str, ...] | None = None  # None where it was left out; () for none


INVALID = VariablesAnswer(False)


def write(item: object, answer: VariablesAnswer, view: VariablesView) -> str:
    """The reply that states this answer."""
    if not answer.valid:
        return "[@ANSWER valid_hyp: false]"
    control = None if answer.control is None else ", ".join(answer.control) or "none"
    named = {
        "independent": answer.independent,
        "dependent": answer.dependent,
        "control": control,
    }
    fields = [f"{name}: {value}" for name, value in named.items() if value is not None]
    return f"[@ANSWER {'; '.join(['valid_hyp: true', *fields])}]"


_OPENING = re.compile(r"\[\s*@\s*answer\b", re.IGNORECASE)
_BRACKET = re.compile(r"[\[\]]")
_FIELD = re.compile(r"\s*(valid_hyp|independent|dependent|control)\s*[:=](.*)", re.DOTALL)
# What may surround a value without mattering: quotes, backticks, emphasis, brackets.
_AROUND = " \t\r\n\f\v\"'`*<>«»()[]{}\u2018\u2019\u201c\u201d"


def parse(item: object, replies: Sequence[str], view: VariablesView) -> VariablesAnswer | None:
    """The answer in the last reply: the last that can be read, or the first; None without one."""
    reply = replies[-1].replace("\\_", "_")  # as Markdown writes an underscore
    openings = list(_OPENING.finditer(reply))
    # An answer ends before the next one begins, so that no text is read twice.
    ends = [*(opening.start() for opening in openings), len(reply)][1:]
    spans = [(opening.end(), end) for opening, end in zip(openings, ends, strict=True)]
    bodies = (
        _body(reply, *span) for span in (spans if view.answer_rule == "first" else spans[::-1])
    )
    answers = (_read(body) for body in bodies if body is not None)
    return next((answer for answer in answers if answer is not None), None)


def _body(reply: str, start: int, end: int) -> str | None:
    """The text before the bracket that closes an answer."""
    depth = 1
    for bracket in _BRACKET.finditer(reply, start, end):
        depth += 1 if bracket[0] == "[" else -1
        if depth == 0:
            return reply[start : bracket.start()]
    return None


def _read(body: str) -> VariablesAnswer | None:
    """The answer in the text between the brackets."""
    fields: dict[str, str] = {}
    last = ""
    for part in body.lstrip(" \t\r\n:").lower().split(";"):
        found = _FIELD.fullmatch(part)
        if found is None:
            if last == "control":
                fields[last] += f",{part}"  # control variables separated by semicolons
            elif part.strip():
                return None
            continue
        last = found[1]
        if last in fields:
            return None
        fields[last] = found[2]
    valid = _clean(fields.get("valid_hyp", ""))
    if valid != "true":
        return INVALID if valid == "false" else None
    return VariablesAnswer(
        True,
        _clean(fields.get("independent", "")) or None,
        _clean(fields.get("dependent", "")) or None,
        _control(fields.get("control", "")),
    )


def _control(value: str) -> tuple[str, ...] | None:
    """The variables in a list, or () for none; an empty field says nothing."""
    names = tuple(name for part in value.split(",") if (name := _clean(part)))
    return () if names == ("none",) else names or None


def _clean(value: str) -> str:
    """A value without decoration and without a full stop."""
    return value.strip(_AROUND).rstrip(".").strip(_AROUND)
