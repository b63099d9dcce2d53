"""Writing an answer and reading it back."""

from __future__ import annotations

import re
from collections.abc import Iterator
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


def write(answer: VariablesAnswer) -> str:
    """The reply that states this answer."""
    if not answer.valid:
        return "[@ANSWER valid_hyp: false]"
    fields = ["valid_hyp: true"]
    if answer.independent is not None:
        fields.append(f"independent: {answer.independent}")
    if answer.dependent is not None:
        fields.append(f"dependent: {answer.dependent}")
    if answer.control is not None:
        fields.append(f"control: {', '.join(answer.control) or 'none'}")
    return f"[@ANSWER {'; '.join(fields)}]"


_OPENING = re.compile(r"\[\s*@\s*answer\b", re.IGNORECASE)
_BRACKET = re.compile(r"[\[\]]")
_FIELD = re.compile(r"\s*(valid_hyp|independent|dependent|control)\s*[:=](.*)", re.DOTALL)
# What may stand around a value without mattering: quotes, backticks, emphasis, brackets.
_AROUND = " \t\r\n\f\v\"'`*<>«»()[]{}\u2018\u2019\u201c\u201d"
_NONE = "none"


def parse(reply: str, view: VariablesView) -> VariablesAnswer | None:
    """The answer in a reply: the last that can be read, or the first; None where there is none."""
    reply = reply.replace("\\_", "_")  # as Markdown writes an underscore
    openings = list(_OPENING.finditer(reply))
    # An answer ends before the next one begins, so that no text is read twice.
    ends = [*(opening.start() for opening in openings), len(reply)][1:]
    spans = [(opening.end(), end) for opening, end in zip(openings, ends, strict=True)]
    for start, end in spans if view.answer_rule == "first" else reversed(spans):
        body = _body(reply, start, end)
        answer = None if body is None else _read(body)
        if answer is not None:
            return answer
    return None


def _body(reply: str, start: int, end: int) -> str | None:
    """What stands before the bracket that closes an answer."""
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
                fields[last] += f",{part}"  # controls that were separated by semicolons
            elif part.strip():
                return None
            continue
        last = found[1]
        if last in fields:
            return None
        fields[last] = found[2]
    valid = _clean(fields.get("valid_hyp", ""))
    if valid == "false":
        return INVALID
    if valid != "true":
        return None
    control = fields.get("control")
    return VariablesAnswer(
        True,
        _clean(fields.get("independent", "")) or None,
        _clean(fields.get("dependent", "")) or None,
        None if control is None else _control(control),
    )


def _control(value: str) -> tuple[str, ...] | None:
    """The variables in a list, or () for none; an empty field says nothing."""
    names = tuple(_names(value))
    return () if names == (_NONE,) else names or None


def _names(value: str) -> Iterator[str]:
    for part in value.split(","):
        name = _clean(part)
        if name:
            yield name


def _clean(value: str) -> str:
    """A value without decoration and without a full stop."""
    return value.strip(_AROUND).rstrip(".").strip(_AROUND)
