"""Writing an answer and reading it back.

The grammar, on the pieces of `trivium.core.reading`:

    reply       answers one after another, of which the last (or the first) counts
    answer      `[@ANSWER`, or nothing, and fields in any order: brackets may be missing, fields may
                be separated by semicolons, commas or lines, and come as JSON or as table rows;
                after `[@ANSWER` the bare values in their order will do
    field       a name in any of its spellings, a colon, "=", "is" or "|", and a value
    value       true or false; a variable; a list of variables, "none", or "all except x_1"
    correction  after "Wait" or "Actually", a field without its answer replaces that field

A list leaves out remarks in parentheses and what is negated. Two variables where one is asked for,
or an "or" between them, are no value. `answer_rule` "original" reads as the original eval does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from trivium.benchmarks.variables.spec import VariablesView
from trivium.core import reading


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


def strict(item: object, replies: Sequence[str], view: VariablesView) -> bool:
    """Whether the last reply ends with its answer in exactly the asked form."""
    answer = parse(item, replies, view)
    return answer is not None and replies[-1].rstrip().endswith(write(item, answer, view))


_OPENING = re.compile(r"[\[({<]?\s{0,3}@\s{0,3}answer\b[:\s]{0,5}|\[\s?answer\b[:\s]{0,5}", re.I)
# Spellings of the field names, longest first; "independent" holds "dependent".
_NAMES = {
    "valid": r"valid[\s_-]?hyp(?:othesis)?|(?:is[\s_-]?)?(?:the )?hypothesis[\s_-]?(?:valid(?:ity)?"
    r"|status)|hyp[\s_-]?valid(?:ity)?|(?:is[\s_-]?)?valid(?:ity)?",
    "independent": r"in[\s_-]?dependent(?:[\s_-]?var(?:iable)?s?)?|ind(?:ep)?[\s_-]?var(?:iable)?"
    r"|indep|ind|iv",
    "dependent": r"dependent(?:[\s_-]?var(?:iable)?s?)?|dep[\s_-]?var(?:iable)?|dep|dv",
    "control": r"(?:variables? )?(?:to )?(?:be )?control(?:s|led|ling)?(?:[\s_-]?var(?:iable)?s?)?"
    r"(?: for)?|ctrl(?:[\s_-]?var(?:iable)?s?)?|controls|covariates?|confound(?:er|ing variable)s?",
}
# A label: a name, perhaps a remark in parentheses, and what separates it from its value.
_LABEL = re.compile(
    r"(?<![A-Za-z0-9_-])[\"']?(?:"
    + "|".join(rf"(?P<{name}>{spelling})" for name, spelling in _NAMES.items())
    + r")(?![A-Za-z0-9_])[\"']?(?:\s?\([^()\n]{0,40}\))?\s{0,5}"
    r"(?P<sign>:{1,2}|=|\||->|-(?=\s)|(?:is|are|should be|would be|will be|must be)\b:?)",
    re.IGNORECASE,
)
# "The target hypothesis is not valid", in so many words.
_VERDICT = re.compile(
    r"\bhypothesis[^.;:\n]{0,60}?\b(?:is|should be|was|must be|can be|appears|seems)\s(?P<words>"
    r"(?:(?:not|in fact|therefore|thus|also|clearly|indeed|considered|deemed|called|to be|judged"
    r"|marked|worth|an?|an? worthwhile|still) ){0,4}(?:valid|invalid|plausible|implausible"
    r"|rejected|refuted|testing|an experiment|supported|unsupported))\b"
    r"|\b(?:reject|call|mark|deem|consider)\b[^.;:\n]{0,30}\bhypothesis\b(?P<call>[^.;:\n]{0,20})",
    re.IGNORECASE,
)
_TRUE = (
    r"true|yes|valid|y|t|1|plausible|supported|correct|\u2713|worth testing|testing|an experiment"
)
_FALSE = r"false|no|invalid|n|f|0|implausible|rejected|refuted|unsupported|incorrect|\u2717"
_BOOLEAN = re.compile(
    rf"(?P<not>not\b.{{0,20}}?)?(?:(?P<true>{_TRUE})|(?P<false>{_FALSE}))(?![\w])", re.I
)
_BRACKET = re.compile(r"[\[\]]|\n[ \t]*\n")
_CORRECTION = re.compile(reading.CORRECTION_WORDS, re.IGNORECASE)
_VARIABLE = re.compile(r"(?<![A-Za-z0-9])x[\s_-]{0,2}([0-9]{1,9})(?![A-Za-z0-9_])", re.IGNORECASE)
_IF = re.compile(r"\b(?:if|whether|unless|would(?! reject| call))\b|\?", re.IGNORECASE)
_REMARK = re.compile(r"\([^()]{0,300}\)")
_EXCEPT = re.compile(r"\b(?:except|but not|other than|excluding|not|without|rather than)\b", re.I)
_ALL = re.compile(r"\b(?:all|every|everything|each)\b", re.IGNORECASE)
_END_OF_VALUE = re.compile(
    r"[;\n\]}|]|\.(?:\s|$)|,\s?(?=[\"'A-Za-z_ ]{2,30}[:=])|,?\s(?:and|with) (?=the )"
)
MAX_VALUE = 2000  # characters of one value


@dataclass
class _Record:
    """The fields of one answer, as they were said."""

    marked: bool  # it was opened by [@ANSWER
    values: dict[str, str] = field(default_factory=dict)
    broken: bool = False  # a field is there twice, with different values

    def put(self, name: str, value: str) -> None:
        """Take in a field."""
        old = self.values.get(name)
        self.broken = self.broken or (old is not None and _key(old) != _key(value))
        self.values[name] = value


def parse(item: Any, replies: Sequence[str], view: VariablesView) -> VariablesAnswer | None:
    """The answer in the last reply: the last that can be read, or the first; None without one."""
    if view.answer_rule == "original":
        return parse_as_original(replies[-1])
    names = tuple(getattr(item, "names", ()))
    records = list(_records(reading.plain(replies[-1])))
    marked = [record for record in records if record.marked and _read(record, names) is not None]
    chosen = marked or records
    for record in chosen if view.answer_rule == "first" else reversed(chosen):
        if (answer := _read(record, names)) is not None:
            return answer
    return None


def _records(text: str) -> Iterator[_Record]:
    """Every answer in a plain text, with later corrections of single fields."""
    record = _Record(False)
    openings = list(_OPENING.finditer(text))
    bounds = [0, *(opening.end() for opening in openings)]
    ends = [*(opening.start() for opening in openings), len(text)]
    for number, (start, end) in enumerate(zip(bounds, ends, strict=True)):
        closed = None
        if number:
            yield record
            closed = _closing(text, start, end)
            record = _Record(True)
            _take_body(record, text[start:closed])
            if closed == end:
                continue
        last = closed if closed is not None else start
        rest = text[last:end]
        if number and _CORRECTION.search(rest) is None:
            continue
        yield from _loose(record, rest)
        record = _Record(False)
    yield record


def _closing(text: str, start: int, end: int) -> int:
    """Where the bracket that closes an answer stands; without one, where its paragraph ends."""
    depth, last = 1, text.rfind("]", start, end)
    for found in _BRACKET.finditer(text, start, end):
        depth += {"[": 1, "]": -1}.get(found[0], 0)
        if depth == 0 or (found[0] not in "[]" and found.start() > last):
            return found.start()
    return end


def _take_body(record: _Record, body: str) -> None:
    """Take in what stands between the brackets: fields, or values in their order."""
    labels = list(_labels(body))
    if labels:
        for name, value in labels:
            record.put(name, value)
        return
    parts = [part.strip() for part in re.split(r"[;\n]", body) if part.strip()]
    if parts and len(parts) in (1, 4) and _boolean(parts[0]) is not None:
        record.values = dict(zip(_NAMES, parts, strict=False))


def _loose(record: _Record, text: str) -> Iterator[_Record]:
    """The answers in text without [@ANSWER; fields after a correction amend the one before."""
    for part in re.split(rf"(?={reading.CORRECTION_WORDS})", text, flags=re.IGNORECASE):
        fresh = True
        for name, value in _labels(part):
            if name == "valid" and _boolean(value) is None:
                continue
            again = name in record.values and (name == "valid" or not fresh)
            if again and name == "valid":
                yield record
                record = _Record(record.marked)
            record.broken = False
            record.values[name] = value
            fresh = False
        for sentence in reading.sentences(part):
            verdict = _verdict(sentence)
            if verdict is not None:
                record.values["valid"] = verdict
    yield record


def _verdict(sentence: str) -> str | None:
    """What a sentence says about the hypothesis in so many words, if it is sure of it."""
    found = _VERDICT.search(sentence)
    if found is None or reading.is_unsure(sentence) or _IF.search(sentence):
        return None
    said: str = found["words"] or ("invalid" if "reject" in found[0].lower() else found["call"])
    return said if _boolean(said) is not None else None


def _labels(text: str) -> Iterator[tuple[str, str]]:
    """The fields of a text, each with the text of its value."""
    found = list(_LABEL.finditer(text))
    ends = [*(label.start() for label in found[1:]), len(text)]
    for label, end in zip(found, ends, strict=False):
        name = str(label.lastgroup if label.lastgroup in _NAMES else "")
        name = name or next(each for each in _NAMES if label[each])
        value = text[label.end() : min(end, label.end() + MAX_VALUE)]
        yield name, _value(name, value)


def _value(name: str, text: str) -> str:
    """The part of a text that is the value of a field; a list may go on over lines and bullets."""
    text = text.strip(" \t")
    if name == "control":
        # One name a line, with bullets or numbers: the list ends at a line without a name.
        lines = text.split("\n")
        kept = [lines[0]]
        for line in lines[1:]:
            if line.strip() and not re.match(
                r"\s{0,9}(?:-|\d{1,2}[.)]|,)?\s{0,5}[\"'\[]?x[\s_]?\d", line, re.I
            ):
                break
            kept.append(line)
        text = ", ".join(line.strip(" -,;") for line in kept if line.strip(" -,;\"'{}")) or text
        if text.startswith("["):
            return text.partition("]")[0] + "]"
        return re.split(r"(?<!\b\d)\.(?:\s|$)|[\]|\n]|(?<!\{)\}", text, maxsplit=1)[0]
    return _END_OF_VALUE.split(text.lstrip("\n -[\"'"), maxsplit=1)[0]


def _read(record: _Record, names: tuple[str, ...]) -> VariablesAnswer | None:
    """The answer that the fields give; None where they do not say whether it is valid."""
    valid = _boolean(record.values.get("valid", ""))
    if valid is None or record.broken:
        return None
    if not valid:
        return INVALID
    independent, dependent = (
        _one(record.values.get(key, "")) for key in ("independent", "dependent")
    )
    control = None
    if "control" in record.values:
        others = tuple(name for name in names if name not in (independent, dependent))
        control = _control(record.values["control"], others)
    return VariablesAnswer(True, independent, dependent, control)


def _boolean(text: str) -> bool | None:
    """True or false, where the text says one of them."""
    text = text.strip(" \t\n\"'`<>()[]{},")
    found = _BOOLEAN.match(text)
    if found is None or _alternative(text[found.end() :]):
        return None
    return (found["true"] is not None) != (found["not"] is not None)


def _alternative(rest: str) -> bool:
    return re.match(r"\s{0,3}(?:/|\||or\b)", rest, re.IGNORECASE) is not None


def _variables(text: str) -> list[str]:
    return [f"x_{found[1]}" for found in _VARIABLE.finditer(text)]


def _one(text: str) -> str | None:
    """The one variable that a value names; what is no variable is kept as it is."""
    clean = _key(text)
    if not clean or reading.is_none(clean):
        return None
    said = _REMARK.sub(" ", text) if _variables(_REMARK.sub(" ", text)) else text
    kept = _EXCEPT.split(said, maxsplit=1)[0] if not _EXCEPT.match(said.strip()) else said
    found = list(dict.fromkeys(_variables(kept)))
    if not found:
        return clean
    return found[0] if len(found) == 1 else None


def _control(text: str, others: tuple[str, ...]) -> tuple[str, ...] | None:
    """The variables in a list, or () for none; an empty field says nothing."""
    clean = text.strip(" \t\n\"'`<>;,.")
    if reading.is_none(clean) or reading.is_none(_key(text)):
        return ()
    if not _key(text):
        return None
    said = _REMARK.sub(" ", clean)
    said = said if _variables(said) or _ALL.search(said) or reading.is_none(said) else clean
    if reading.is_none(said.strip()):
        return ()
    kept, *left_out = _EXCEPT.split(said)
    if _ALL.search(kept) and not _variables(kept) and others:
        return tuple(name for name in others if name not in _variables(" ".join(left_out)))
    found = _variables(kept)
    if re.search(r"\bor\b", kept, re.IGNORECASE) and len(found) > 1:
        return None
    if found:
        return tuple(found)
    # What names no variable is kept, so that it counts as a wrong one.
    return tuple(name for part in said.split(",") if (name := _key(part))) or None


def _key(value: str) -> str:
    """A value without decoration and without a full stop, in lower case."""
    around = " \t\r\n\"'`*<>()[]{},;"
    return value.strip(around).rstrip(".").strip(around).lower()


_ORIGINAL = re.compile(
    r"\[@answer valid_hyp: (?P<valid>true|false)(?:; independent: (?P<independent>[^;]{0,4000}))?"
    r"(?:; dependent: (?P<dependent>[^;]{0,4000}))?(?:; control: (?P<control>[^\]]{0,4000}))?\]"
)


def parse_as_original(reply: str) -> VariablesAnswer | None:
    """The first answer in the exact form, with values as they stand, as the original eval reads."""
    found = _ORIGINAL.search(reply.strip().lower())
    if found is None or found["valid"] == "false":
        return None if found is None else INVALID
    control = found["control"]
    names = None if control is None else tuple(name.strip() for name in control.split(","))
    none = names is not None and names[0].strip("\"'`\u00ab\u00bb<>") == "none"
    return VariablesAnswer(True, found["independent"], found["dependent"], () if none else names)
