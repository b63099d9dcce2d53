"""Writing an answer and reading it back.

The grammar, on the pieces of `trivium.core.reading`:

    reply       answers in brackets, `[@ANSWER ...]`, of which the last (or the first) counts; where
                none of them can be read, what the text outside of brackets says
    answer      claims, as in `trivium.benchmarks.variables.claims`: the last one about each field
                counts, one with a label before one in a sentence
    correction  after "Wait" or "Actually", a claim replaces what was said before, in brackets too

Brackets may be missing, fields come in any order and syntax (JSON, tables, CSV, lines), and in
brackets bare values in their order will do. Two variables where one is asked for, or an "or"
between them, are no value; "or" between two answers makes them none. A whole design without a word
about the hypothesis takes it to be valid. `answer_rule` "original" reads as the original eval does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from trivium.benchmarks.variables.claims import Reader
from trivium.benchmarks.variables.roles import Claim
from trivium.benchmarks.variables.spec import VariablesView
from trivium.benchmarks.variables.words import ROLES, fields_as_lines
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


_ASKED_FORM = re.compile(
    r"\[@ANSWER valid_hyp: (?:false|true(?:; independent: x_\d{1,9})?(?:; dependent: x_\d{1,9})?"
    r"(?:; control: (?:none|x_\d{1,9}(?:, x_\d{1,9}){0,99}))?)\]"
)
_OPENING = re.compile(
    r"[\[({<]?\s{0,3}@\s{0,3}answer(?:\b|(?=valid))[:\s]{0,5}|\[\s?answer\b[:\s]{0,5}", re.I
)
_BRACKET = re.compile(r"[\[\]]|\n[ \t]*\n")
_CORRECTION = re.compile(reading.CORRECTION_WORDS, re.IGNORECASE)
_DOUBT = re.compile(r"\b(?:if|whether|unless)\b|\?", re.IGNORECASE)
_OR = re.compile(r"\W{0,9}(?:or|alternatively)\b(?: possibly| else| maybe)?\W{0,9}", re.IGNORECASE)
_SUPPOSED = re.compile(
    r"\b(?:if|had|were|unless|otherwise|would have|could have|might have)\b[^.\n]{0,200}$",
    re.IGNORECASE,
)


def strict(item: object, replies: Sequence[str], view: VariablesView) -> bool:
    """Whether the last reply ends with its answer in exactly the asked form."""
    reply = replies[-1].rstrip()
    start = reply.rfind("[@ANSWER ")
    if start < 0 or not _ASKED_FORM.fullmatch(reply, start):
        return False
    if _OPENING.search(reply[:start]) is None:
        return True
    answer = parse(item, replies, view)  # of several answers another one may count
    return answer is not None and reply.endswith(write(item, answer, view))


@dataclass
class _Answer:
    """What is claimed about each field."""

    claims: dict[str, Claim] = field(default_factory=dict)
    supposed: bool = False  # "otherwise I would have written [@ANSWER ...]"
    broken: bool = False  # a field is there twice, with different values
    labels: dict[str, bool] = field(default_factory=dict)  # of fields since the last correction

    def take_brackets(self, text: str, target: set[str]) -> None:
        """Take in what stands in brackets, where a field has one value."""
        claims = chain(*Reader(target, bracketed=True).claims(f"answer: {text}"))
        for claim in (each for each in claims if not each.denied):
            old = self.claims.setdefault(claim.field, claim)
            if old is not claim and claim.field == "control":
                old.names += claim.names
            elif (old.names, old.valid) != (claim.names, claim.valid):
                self.broken = True

    def take(self, text: str, target: set[str]) -> Iterator[_Answer]:
        """Take in a text outside of brackets; yields the answer before every further verdict."""
        for claims in Reader(target).claims(text):
            self.labels = {}
            for claim in claims:
                if claim.field == "valid" and claim.labelled and self.labels.get("valid"):
                    yield replace(self, claims=dict(self.claims))
                if claim.labelled or not self.labels.get(claim.field):
                    self._put(claim)

    def _put(self, claim: Claim) -> None:
        """Put a claim in the place of an older one, or add it to that."""
        old = self.claims.get(claim.field, Claim(claim.field))
        if claim.denied:
            old.names = [name for name in old.names if name not in claim.names]
            return
        if claim.adds or (claim.row and claim.field in self.labels):
            claim.names = [*old.names, *(name for name in claim.names if name not in old.names)]
        self.claims[claim.field] = claim
        self.broken = False
        self.labels[claim.field] = claim.labelled

    def read(self, names: tuple[str, ...]) -> VariablesAnswer | None:
        """The answer; None where it does not say whether the hypothesis is valid."""
        valid = self.claims.get("valid")
        if valid is None or self.broken:
            return None
        if not valid.valid:
            return INVALID
        independent, dependent = (_one(self.claims.get(role)) for role in ROLES[:2])
        control = self.claims.get("control")
        if control is None or (control.either and len(control.names) + control.none > 1):
            return VariablesAnswer(True, independent, dependent)
        listed = tuple(control.names)
        if control.rest:
            left_out = {independent, dependent, *listed}
            listed = tuple(name for name in names if name not in left_out)
        return VariablesAnswer(True, independent, dependent, listed)


def _one(claim: Claim | None) -> str | None:
    """The one variable that is named."""
    names = dict.fromkeys(claim.names) if claim else {}
    return next(iter(names)) if len(names) == 1 else None


def parse(item: Any, replies: Sequence[str], view: VariablesView) -> VariablesAnswer | None:
    """The answer in the last reply: the last that can be read, or the first; None without one."""
    if view.answer_rule == "original":
        return parse_as_original(replies[-1])
    names = tuple(getattr(item, "names", ()))
    target = {names[place] for place in item.target} if names else set()
    text = fields_as_lines(in_english(reading.plain(replies[-1])))
    marked = list(_marked(text, target))
    readable = [answer for answer in marked if answer.read(names)]
    around = [text[: text.find("[@")].rpartition("\n")[2], text[text.rfind("]") :]]
    several = len({answer.read(names) for answer in readable}) > 1
    if several and any(map(reading.is_undecided, around)):
        return None  # "[@ANSWER ...]. [@ANSWER ...]. I can't tell which."
    chosen = [answer for answer in readable if not answer.supposed] or readable
    if not chosen and any(answer.broken for answer in marked):
        return None  # "[@ANSWER ...] or [@ANSWER ...]"
    chosen = chosen or list(_unmarked(text, target))
    found = [answer for each in chosen if (answer := each.read(names)) is not None]
    return (found[0] if view.answer_rule == "first" else found[-1]) if found else None


def _records(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Yields of answers in brackets: start, start of the fields, end, start of the next one."""
    openings = list(_OPENING.finditer(text))
    ends = [*(opening.start() for opening in openings[1:]), len(text)]
    for opening, end in zip(openings, ends, strict=False):
        yield opening.start(), opening.end(), _closing(text, opening.end(), end), end


def _marked(text: str, target: set[str]) -> Iterator[_Answer]:
    """Yields every answer in brackets, with later corrections of single fields."""
    either = False  # "or" stands between two answers
    for start, opened, closed, following in _records(text):
        before, either = either, _OR.fullmatch(text, closed, following) is not None
        supposed = _SUPPOSED.search(text, max(0, start - 300), start) is not None
        answer = _Answer(broken=before or either, supposed=supposed)
        answer.take_brackets(text[opened:closed], target)
        if correction := _CORRECTION.search(text, closed, following):
            list(answer.take(text[correction.start() : following], target))
        yield answer


def _closing(text: str, start: int, end: int) -> int:
    """Where the bracket that closes an answer stands; without one, where its paragraph ends."""
    depth, last = 1, text.rfind("]", start, end)
    for found in _BRACKET.finditer(text, start, end):
        depth += {"[": 1, "]": -1}.get(found[0], 0)
        if depth == 0 or (found[0] not in "[]" and found.start() > last):
            return found.start()
    return end


def _unmarked(text: str, target: set[str]) -> Iterator[_Answer]:
    """Yields the answers outside of brackets; a verdict with a label opens another one."""
    bounds = [0, *(bound for start, _, end, _ in _records(text) for bound in (start, end)), None]
    text = "\n".join(text[a:b] for a, b in zip(bounds[::2], bounds[1::2], strict=True))
    answer = _Answer()
    yield from answer.take(text, target)
    if answer.claims.keys() == set(ROLES) and not _DOUBT.search(text):
        answer.claims["valid"] = Claim("valid", valid=True)
    yield answer


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
