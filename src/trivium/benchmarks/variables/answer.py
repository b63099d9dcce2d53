"""Writing an answer and reading it back.

The grammar, on the pieces of `trivium.core.reading`:

    reply       answers one after another, of which the last (or the first) counts
    answer      `[@ANSWER`, or nothing, and fields in any order: brackets may be missing, fields may
                be separated by semicolons, commas or lines, and come as JSON or as table rows;
                after `[@ANSWER` the bare values in their order will do
    field       a name in any of its spellings, a colon, "=", "is" or "|", and a value
    value       true or false; a variable; a list of variables, "none", or "all except x_1"
    sentence    outside of [@ANSWER: a verdict or a role, as in `trivium.benchmarks.variables.prose`
    correction  after "Wait" or "Actually", a field without its answer replaces that field

A list leaves out remarks in parentheses and what is negated. Two variables where one is asked for,
or an "or" between them, are no value; "or" between two answers makes them none. A whole design
without a word about the hypothesis takes it to be valid. `answer_rule` "original" reads as the
original eval does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from trivium.benchmarks.variables.prose import VARIABLE, design, roles_of, variable, verdict
from trivium.benchmarks.variables.spec import VariablesView
from trivium.core import reading
from trivium.core.languages import in_english


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


_OPENING = re.compile(
    r"[\[({<]?\s{0,3}@\s{0,3}answer(?:\b|(?=valid))[:\s]{0,5}|\[\s?answer\b[:\s]{0,5}", re.I
)
# Spellings of the field names, longest first; "independent" holds "dependent".
_OF = r"(?:[\s_-]?var(?:iable)?s?| ones?)?"
_NAMES = {
    "valid": r"valid[\s_-]?hyp(?:othesis)?|(?:is[\s_-]?)?(?:the )?(?:target )?hypothesis[\s_-]{0,2}"
    r"(?:is[\s_-]?)?(?:valid(?:ity)?|status)|hyp[\s_-]?valid(?:ity)?|(?:is[\s_-]?)?valid(?:ity)?",
    "independent": rf"in[\s_-]?dependent{_OF}|ind(?:ep)?[\s_-]?var(?:iable)?|indep|ind|iv"
    r"|cause(?=\s?:)",
    "dependent": rf"dependent{_OF}|dep[\s_-]?var(?:iable)?|dep|dv|effect(?=\s?:)",
    "control": rf"(?:variables? )?(?:to )?(?:be )?control(?:s|led|ling)?{_OF}(?: for)?|ctrl{_OF}"
    rf"|cvs?"
    r"|covariates?|confound(?:er|ing variable)s?",
}
# A label: a name, perhaps a remark in parentheses, and what separates it from its value.
_LABEL = re.compile(
    r"(?<![A-Za-z0-9_-])(?<!\bnot )(?<!\bnon-)[\"']?(?:"
    + "|".join(rf"(?P<{name}>{spelling})" for name, spelling in _NAMES.items())
    + r")(?![A-Za-z0-9_])[\"']?(?: list| set)?(?:\s?\([^()\n]{0,40}\))?(?:\)(?=\s?[:=]))?[ \t]{0,5}"
    r"(?P<sign>:{1,2}|=|\||\?\s{0,3}\|?|->|-(?=\s)"
    r"|(?:is|are|should be|would be|will be|must be)\b:?)",
    re.IGNORECASE,
)
_TRUE = r"true|yes|valid|y|t|1|plausible|supported|correct|\u2713|worth testing"
_FALSE = r"false|no|invalid|n|f|0|implausible|rejected|refuted|unsupported|incorrect|\u2717"
_BOOLEAN = re.compile(
    rf"(?P<not>not\b.{{0,20}}?)?(?:(?P<true>{_TRUE})|(?P<false>{_FALSE}))(?![\w])", re.I
)
_BRACKET = re.compile(r"[\[\]]|\n[ \t]*\n")
_CORRECTION = re.compile(reading.CORRECTION_WORDS, re.IGNORECASE)
_VARIABLE = re.compile(VARIABLE, re.IGNORECASE)
_DOUBT = re.compile(r"\b(?:if|whether|unless)\b|\?", re.IGNORECASE)
_OR = re.compile(r"\W{0,9}(?:or|alternatively)\b(?: possibly| else| maybe)?\W{0,9}", re.IGNORECASE)
# An item of a list: names, and after a dash or a colon why.
_ITEM = re.compile(
    rf"[\s\"'\[-]{{0,9}}(?:\d{{1,2}}[.)]\s{{0,3}}|and\s)?((?:{VARIABLE}[\"']?(?:\s?\([^()]{{0,200}}\))?"
    r"(?:,\s{0,3}and\s|\sand\s|[,\s]{1,3})?){1,20})(?:[\]\"'.;,\s]{0,5}$|\s?(?:-|:|->|because|since)\s.{0,400}$)",
    re.IGNORECASE,
)
_REMARK = re.compile(r"\([^()]{0,300}\)")
_EXCEPT = re.compile(r"\b(?:except|but not|other than|excluding|not|without|rather than)\b", re.I)
# What follows the names in a list says why: "x_1 and x_2, because they move with x_3".
_REASON = re.compile(
    r"[,;]?\s(?:because|since|as(?! well)|which|who|given that|due to|so that|while|whereas"
    r"|in order"
    r"|for (?:they|it|these)|each|all of|both of|they|these|to (?:rule|avoid|prevent|isolate"
    r"|ensure))\b",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"\b(?:if|had|were|unless|otherwise|would have|could have|might have)\b[^.\n]{0,200}$",
    re.IGNORECASE,
)
# The variables that open a value; others after them belong to something else.
_RUN = re.compile(
    rf"{VARIABLE}(?:\s?(?:[,/&+]|,?\s(?:and|or)\b)\s?(?:(?:maybe|possibly|perhaps|the|either)\s)?"
    rf"{VARIABLE}){{0,9}}",
    re.IGNORECASE,
)
_AMENDED = re.compile(  # "x_1. Hmm, no: x_2"
    rf"{VARIABLE}[.,;]?\s{{1,3}}(?:\b(?:hmm|no|wait|sorry|actually|correction|i mean|rather)\b"
    rf"[,:. -]{{1,4}}){{1,4}}(?={VARIABLE})",
    re.IGNORECASE,
)
_ALSO = re.compile(r"\b(?:also|additionally|in addition|as well)\b", re.IGNORECASE)
_OTHER = re.compile(r"\b(?:other|else|further|additional|more)\b", re.IGNORECASE)
_ALL = re.compile(r"\b(?:all|every|everything|each)\b", re.IGNORECASE)
_END_OF_VALUE = re.compile(
    r"[;\n\]}|]|\.(?:\s|$)|,\s?(?=[\"'A-Za-z_ ]{2,30}[:=])|,?\s(?:and|with) (?=the )"
)
_AROUND = " \t\n\"'`<>;,."  # what may stand around a list
MAX_VALUE = 2000  # characters of one value


@dataclass
class _Record:
    """The fields of one answer, as they were said."""

    marked: bool  # it was opened by [@ANSWER
    values: dict[str, str] = field(default_factory=dict)
    supposed: bool = False  # "otherwise I would have written [@ANSWER ...]"
    broken: bool = False  # a field is there twice, with different values

    def put(self, name: str, value: str) -> None:
        """Take in a field."""
        old = self.values.get(name)
        if old is not None and name == "control":
            value = f"{old}, {value}"
        self.broken = self.broken or (
            old is not None and name != "control" and _key(old) != _key(value)
        )
        self.values[name] = value


def parse(item: Any, replies: Sequence[str], view: VariablesView) -> VariablesAnswer | None:
    """The answer in the last reply: the last that can be read, or the first; None without one."""
    if view.answer_rule == "original":
        return parse_as_original(replies[-1])
    names = tuple(getattr(item, "names", ()))
    target = {names[place] for place in item.target} if names else set()
    text = reading.chosen_option(in_english(reading.plain(replies[-1])))
    text = _LEADER.sub(": ", reading.tables_as_lines(text, _is_name))
    text = re.sub(r"\bi\.e\.,?", "namely", text)
    text = _AMENDED.sub("", _QUESTION.sub(_as_label, text))
    text = _HEADING.sub(lambda found: f"{found[1]}: ", text)
    records = list(_records(text, target))
    marked = [record for record in records if record.marked and _read(record, names) is not None]
    around = [text[: text.find("[@")].rpartition("\n")[2], text[text.rfind("]") :]]
    several = len({_read(record, names) for record in marked}) > 1
    if several and any(map(reading.is_undecided, around)):
        return None  # "[@ANSWER ...]. [@ANSWER ...]. I can't tell which."
    chosen = [record for record in marked if not record.supposed] or marked or records
    for record in chosen if view.answer_rule == "first" else reversed(chosen):
        if (answer := _read(record, names)) is not None:
            return answer
    return None


_QUESTION = re.compile(rf"([^.?!\n]{{0,120}})\?\s{{1,3}}(?={VARIABLE}|none\b)", re.IGNORECASE)
_LEADER = re.compile(r"\s\.{3,80}\s")  # "independent .... x_1"
_SEMICOLON = re.compile(
    rf"({VARIABLE});(?=\s{{0,3}}{VARIABLE}(?:(?:[;,]"
    rf"|,? and)\s{{0,3}}{VARIABLE}){{0,12}}\s{{0,3}}(?:[;.\n)]|$))",
    re.IGNORECASE,
)
_NAMELY = re.compile(r"^.{0,200}\b(?:namely|that is,|specifically)", re.IGNORECASE)
# A field name on a line of its own, as a heading.
_HEADING = re.compile(
    rf"^\W{{0,4}}((?:{'|'.join(_NAMES.values())}))[ \t]{{0,3}}$"
    rf"\s{{1,5}}(?=[\W]{{0,5}}(?:{VARIABLE}|none))",
    re.IGNORECASE | re.MULTILINE,
)
_NAME = re.compile("|".join(f"(?:{spelling})" for spelling in _NAMES.values()), re.IGNORECASE)


def _as_label(question: re.Match[str]) -> str:
    """A question about one role as the label of its answer: "Which variable do I measure? x_1"."""
    roles = roles_of(question[1])
    return f"{roles.pop()}: " if len(roles) == 1 else question[0]


def _is_name(cell: str) -> bool:
    return _NAME.fullmatch(cell) is not None


def _records(text: str, target: set[str]) -> Iterator[_Record]:
    """Every answer in a plain text, with later corrections of single fields."""
    record, last = _Record(False), 0
    openings = list(_OPENING.finditer(text))
    bounds = [0, *(opening.end() for opening in openings)]
    ends = [*(opening.start() for opening in openings), len(text)]
    for number, (start, end) in enumerate(zip(bounds, ends, strict=True)):
        closed = None
        if number:
            either = number > 1 and _OR.fullmatch(text, last, ends[number - 1]) is not None
            record.broken = record.broken or either
            yield record
            closed = _closing(text, start, end)
            supposed = _SUPPOSED.search(text, max(0, ends[number - 1] - 300), ends[number - 1])
            record = _Record(True, broken=either, supposed=supposed is not None)
            _take_body(record, text[start:closed])
        last = start if closed is None else closed
        rest = text[last:end]
        if number and (not rest or (record.values and _CORRECTION.search(rest) is None)):
            continue
        yield from _loose(record, rest, target)
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


def _loose(record: _Record, text: str, target: set[str]) -> Iterator[_Record]:
    """The answers in text without [@ANSWER; fields after a correction amend the one before."""
    text = _SEMICOLON.sub(r"\1,", text)
    for part in re.split(rf"(?={reading.CORRECTION_WORDS})", text, flags=re.IGNORECASE):
        labelled: set[str] = set()
        named: set[str] = set()
        for name, value in _labels(part):
            if not _says_something(name, value):
                continue
            if name == "valid" and name in record.values:
                yield record
                record = _Record(record.marked)
            record.broken = False
            record.values[name] = value
            labelled.add(name)
        sentences = reading.sentences(part)
        for sentence in sentences:
            _take_design(record, sentence, labelled, named)
        valid = verdict(sentences, target)
        if valid is not None and "valid" not in labelled:
            record.values["valid"] = str(valid)
    if record.values.keys() == _NAMES.keys() - {"valid"} and not _DOUBT.search(text):
        record.values["valid"] = "true"
    yield record


def _take_design(record: _Record, sentence: str, labelled: set[str], named: set[str]) -> None:
    """Take in the roles that a sentence gives; what has a label of its own stays."""
    for role, variables in design(sentence).items():
        # "No other controls" leaves those that were named.
        others = role in record.values and (role in named or _OTHER.search(sentence))
        if role in labelled or (not variables and others):
            continue
        goes_on = role == "control" and _VARIABLE.match(sentence.strip(" |>-"))  # a row of a table
        goes_on = role in named and (goes_on or _ALSO.search(sentence))
        more = [record.values[role]] if goes_on else []
        record.values[role] = ", ".join([*more, *variables]) or "none"
        named.add(role)


def _says_something(name: str, value: str) -> bool:
    """Whether the value of a field outside of [@ANSWER is one: "controls are needed" has none."""
    if name == "valid":
        return _boolean(value) is not None
    return bool(_variables(value) or _ALL.search(value)) or _is_none(_without_reason(value))


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
            item = _ITEM.match(line)
            if line.strip() and item is None:
                break
            kept.append(item[1] if item else "")
        text = ", ".join(line.strip(" -,;") for line in kept if line.strip(" -,;\"'{}")) or text
        if text.startswith("["):
            return text.partition("]")[0] + "]"
        return re.split(
            r"(?<!\b\d)\.(?:\s|$)|[\]\n]|\|(?!\s{0,3}x[\s_-]?\d)|(?<!\{)\}", text, maxsplit=1
        )[0]
    value = _END_OF_VALUE.split(text.lstrip("\n -[\"'"), maxsplit=1)[0]
    run = _RUN.match(value.lstrip(" \"'`(<")) if name != "valid" else None
    return run[0] if run and not _EXCEPT.search(value) else value


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
        value = record.values["control"]
        control = () if record.marked and not _key(value) else _control(value, others)
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
    return [variable(word) for word in _VARIABLE.findall(text)]


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


def _is_none(text: str) -> bool:
    """Whether a value says that there is nothing, perhaps with a remark."""
    clean = text.strip(_AROUND)
    return any(map(reading.is_none, (clean, _key(text), _REMARK.sub(" ", clean).strip())))


def _without_reason(text: str) -> str:
    """The text up to where it says why; remarks in parentheses may say so too."""
    reason = _REASON.search(_REMARK.sub(lambda remark: "#" * len(remark[0]), text))
    return text[: reason.start()] if reason else text


def _control(text: str, others: tuple[str, ...]) -> tuple[str, ...] | None:
    """The variables in a list, or () for none; an empty field says nothing."""
    text = _without_reason(_NAMELY.sub("", text))
    if _is_none(text):
        return ()
    clean = text.strip(_AROUND)
    said = _REMARK.sub(" ", clean)
    said = said if _variables(said) or _ALL.search(said) else clean
    kept, *left_out = _EXCEPT.split(said)
    if _ALL.search(kept) and not _variables(kept) and others:
        return tuple(name for name in others if name not in _variables(" ".join(left_out)))
    found = _variables(kept)
    first, other, _ = re.split(r"(\bor\b|$)", kept, maxsplit=1, flags=re.IGNORECASE)
    if other and (len(found) > 1 or _is_none(first)):
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
