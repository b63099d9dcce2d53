"""Writing an answer and reading it back: by the answer contract, or as the original eval does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from trivium.benchmarks.variables.spec import VariablesView
from trivium.core.benchmark import answer_line, object_schema
from trivium.core.reading import (
    find_answer,
    raises_doubt,
    read_fields,
    read_list,
    without_remarks,
)


@dataclass(frozen=True, slots=True)
class VariablesAnswer:
    """Whether the hypothesis is valid, and the variables that were named."""

    valid: bool
    independent: str | None = None  # None if it was left out
    dependent: str | None = None
    control: tuple[str, ...] | None = None  # None if it was left out; () for "none"


INVALID = VariablesAnswer(False)


def write(item: object, answer: VariablesAnswer, view: VariablesView) -> str:
    """The reply that states this answer."""
    control = None if answer.control is None else ", ".join(answer.control) or "none"
    named = {"independent": answer.independent, "dependent": answer.dependent, "control": control}
    fields = [f"{name}: {value}" for name, value in named.items() if value is not None]
    if view.wording == "original":
        valid = ["valid_hyp: true", *fields] if answer.valid else ["valid_hyp: false"]
        return f"[@ANSWER {'; '.join(valid)}]"
    return answer_line("; ".join(["valid", *fields]) if answer.valid else "invalid")


def schema(item: Any, view: VariablesView) -> dict[str, Any] | None:
    """The JSON schema of an answer; None for the original wording, which asks for brackets."""
    if view.wording == "original":
        return None
    variable = {"type": "string", "enum": list(item.names)}
    fields = {
        "valid": {"type": "boolean"},
        "independent": {"anyOf": [variable, {"type": "null"}]},
        "dependent": {"anyOf": [variable, {"type": "null"}]},
        "control": {"type": "array", "items": variable},
    }
    return object_schema(fields)


_NAMES = {
    "valid": r"valid(?:ity|_hyp|[ _]hypothesis)?|hypothesis",
    "independent": r"independent(?:[ _]variable)?",
    "dependent": r"dependent(?:[ _]variable)?",
    "control": r"control(?:s|led)?(?:[ _]variables?)?",
}
_VERDICTS = {"": True, "valid": True, "true": True, "yes": True}
_VERDICTS |= {"invalid": False, "not valid": False, "false": False, "no": False}
_VARIABLE = re.compile(r"x_?([0-9]{1,9})", re.IGNORECASE)


def parse(item: Any, replies: Sequence[str], view: VariablesView) -> VariablesAnswer | None:
    """The answer in the last reply, or None."""
    if view.wording == "original":
        return parse_as_original(replies[-1])
    stated = find_answer(without_remarks(replies[-1], r"x_?\d{1,9}|none"), _NAMES.values())
    longer = ""
    for value in stated.values:
        answer = _read(value, set(item.names))
        if answer is not None:
            left_out = longer[len(value) :].partition("\n")[0]  # of the same line
            cut = answer.valid and any(name in left_out for name in item.names)
            return None if cut else answer
        longer = value
    return None


def _read(value: str, names: set[str]) -> VariablesAnswer | None:
    """The answer in a value: a verdict, and all fields if the hypothesis is called valid."""
    # "valid" is the name of a field, here with an empty value; "invalid" is none.
    fields = read_fields(value, _NAMES, head="verdict") or {}
    if list(fields) == ["verdict"] and "\n" not in value and not raises_doubt(value):
        fields["verdict"] = fields["verdict"].partition(";")[0]  # the rest is a remark
    if fields.get("verdict", "invalid").casefold() != "invalid":
        return None
    valid = _VERDICTS.get(fields.get("valid", fields.get("verdict", "?")).casefold())
    if not valid:
        return INVALID if valid is False else None
    try:
        independent, dependent = _variables([fields["independent"], fields["dependent"]], names)
        control = _variables(read_list(fields["control"].replace(" ", ",")), names)
    except KeyError:  # a field is missing, or names no variable of the item
        return None
    return VariablesAnswer(True, independent, dependent, control) if fields["control"] else None


def _variables(texts: Iterable[str], names: set[str]) -> tuple[str, ...]:
    """The variables that texts name in any spelling; KeyError for anything else."""
    found = []
    for text in texts:
        match = _VARIABLE.fullmatch(text)
        name = f"x_{match[1]}" if match else text
        if name not in names:
            raise KeyError(name)
        found.append(name)
    return tuple(found)


_ORIGINAL = re.compile(
    r"\[@answer valid_hyp: (?P<valid>true|false)(?:; independent: (?P<independent>[^;]{0,4000}))?"
    r"(?:; dependent: (?P<dependent>[^;]{0,4000}))?(?:; control: (?P<control>[^\]]{0,4000}))?\]"
)


def parse_as_original(reply: str) -> VariablesAnswer | None:
    """The first answer in the original's exact form, with its values unchanged."""
    found = _ORIGINAL.search(reply.strip().lower())
    if found is None or found["valid"] == "false":
        return None if found is None else INVALID
    control = found["control"]
    names = None if control is None else tuple(name.strip() for name in control.split(","))
    none = names is not None and names[0].strip("\"'`\u00ab\u00bb<>") == "none"
    return VariablesAnswer(True, found["independent"], found["dependent"], () if none else names)
