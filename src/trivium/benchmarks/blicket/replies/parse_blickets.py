"""Which objects free text calls blickets, not blickets, or maybe blickets.

A reply is read sentence by sentence. Every word has a kind (`words`), and a small
grammar over the kinds of a clause finds what is said about its objects (`clauses`). A label
without objects ("must be blickets:") is that of the lines below it; a later claim replaces an
earlier one, and a list that is meant to be complete replaces the list before it. Everything is one
pass over the words, so that the time is linear in the length of the reply, whatever it contains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from trivium.benchmarks.blicket.replies.clauses import (
    JOINS,
    NAMING,
    NOUNS,
    clause_claims,
    runs_of,
    verdict,
)
from trivium.benchmarks.blicket.replies.lists import read_listed
from trivium.benchmarks.blicket.replies.sentences import CORRECTED
from trivium.benchmarks.blicket.replies.words import NAME, Word, shape, spelled, words_of
from trivium.core import reading

MAX_BACK = 60  # how many words back "they" and "the others" may refer
MAX_LABEL = 8  # words of a label without objects
Words = list[Word]

_SAYS = {*NOUNS, "sure", "not", "except", "maybe"}  # what a verdict is made of
_FILLER = re.compile(
    r"\b(?:only|just|both|the|answer|final|object|an?|its?|is|are|like|unsure)\b|[^a-z]+"
)
_ELLIPTIC = shape("<so>?<break>?<sure|not|maybe|is>{1,4}<blicket|blickets><not>?$")
_NAMES_ONLY = shape("<object>(?:<and>{1,2}<object>){0,9}$")
_VERDICT_BEFORE = shape(
    "<blicket|blickets|maybe|not|sure><blicket|blickets|maybe|not|sure|is|word>*$"
)
_SAME = re.compile(
    r"\bsame (?:holds|goes|is true|applies|can be said)|^(?:likewise|similarly) for\b"
)
_SUMS_UP = re.compile(r"(?:so|hence|thus|therefore|in short|answer|final answer) {0,2}:")
_ASKS = re.compile(r"(?<![:>|-])(?<![:>|-] )[?]$")  # but not in "red wedge: ?"
_BRACKET = re.compile(r"\(([^()]{0,300})\)")
# Other ways to say the same: "it's", "so is the torus", "is one too".
_SIMPLER = (
    (
        re.compile(
            r"^ {0,3}(?:(?:no|yes|wait|actually|hmm+|okay?|so) {0,3}[,:.!] {0,3}){1,3}(?!$)"
        ),
        "",
    ),
    (re.compile(r", (?:though|however|therefore|by contrast|in turn),"), ""),
    (re.compile(r"\b(it|that|they)'(?:s|re)\b"), r"\1 is"),
    (re.compile(r"\b(is|are|must|may|can|cannot) (?:therefore|thus|hence|so)\b,?"), r"\1"),
    (
        re.compile(
            r",? (?:which )?mak(?:es|ing) (?:it|them|these|both)(?: of them)? (?:both )?"
            r"(?:the |a )?(?:only )?(?=blicket)"
        ),
        "; they are ",
    ),
    (
        re.compile(
            r"\b(potential|possible|certain|uncertain|definite|sure|likely|open|doubtful) ones?\b"
        ),
        r"\1 blickets",
    ),
    (
        re.compile(
            rf"\b(?:but|rather|instead),? (?:in fact |actually )?it is (?=(?:the )?(?:{NAME}))"
        ),
        "; blickets: ",
    ),
    (  # "Those that may be are the torus and the cone."
        re.compile(
            r"\b(?:those|ones) (?:that|which) ((?:must|may|might|could|can't|cannot)(?: not)? be"
            r"|are(?: not)?|aren't)(?: blickets?)? (?:are|is|include)\b"
        ),
        r"\1 blickets:",
    ),
    (re.compile(r"\bmay or may not\b|\bmay be or not\b|\bcould go\b"), "may"),
    (re.compile(r"\b(is|be|isn't|not|also|are) ones?(?= either| too|[.,;!]|$)"), r"\1 a blicket"),
    (re.compile(r"\bso (?:may|might|could) ((?:the )?[a-z ]{1,60})"), r"\1 may be a blicket"),
    (re.compile(r"\bso (?:is|are|must|does|do) ((?:the )?[a-z ]{1,60})"), r"\1 is a blicket"),
)


# The answer to "which objects are blickets?"
_SAYS_WHICH = re.compile(
    r"^(?:so |i think |i believe |i'd say )?(?:it|that|they|these|those|the answer) (?:is|are) "
    rf"(?:only |just |both )?(?:the )?(?=(?:{NAME}))"
)


_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


class _Label(NamedTuple):
    """A verdict that stands before a list."""

    status: str
    complete: bool  # whether the list is meant to name all of them


@dataclass
class Claims:
    """What has been said about each object so far; later claims replace earlier ones."""

    objects: Sequence[str]  # of all machines
    new: Sequence[str]
    patterns: Sequence[str] = ()  # of all machines
    status: dict[str, str] = field(default_factory=dict)  # "yes", "no" or "maybe"
    elsewhere: dict[str, str] = field(default_factory=dict)  # in sentences about other machines
    any_claim: bool = False
    seen: bool = False  # whether the sentence before was about blickets
    none: bool = False  # whether no object was said to be a blicket
    label: _Label | None = None  # of the lines that follow
    listed: bool = False  # whether this line opened with a row or a labelled list
    label_is_new: bool = False  # whether it was set by the sentence before
    asked: bool = True  # whether the sentence before asked for the blickets, as the prompt does
    question: Sequence[str] = ()  # the objects that the last question is about
    question_is_new: bool = False  # whether the sentence before asked it
    last_status: str | None = None  # the last verdict: "the same holds for B"
    last_named: Sequence[str] = ()  # the objects of the last sentence that named any
    last_group: Sequence[str] = ()  # the last objects that were named together

    def named(self, status: str) -> tuple[str, ...]:
        """The objects with this status, in alphabetical order.

        Claims about other machines are explanations where there are claims about the new one, and
        the answer where there are none.
        """
        claims = self.status or self.elsewhere
        return tuple(sorted(name for name, each in claims.items() if each == status))

    def read(self, sentence: str, *, opens_line: bool = True) -> None:
        """Take in one sentence; a label above counts for what opens a line."""
        answer = reading.YES_OR_NO.match(sentence) if self.question else None
        if answer and (answer["so"] or self.question_is_new):
            status = "yes" if answer["yes"] else "no" if answer["no"] else "maybe"
            self._take(dict.fromkeys(self.question, status), set(), about_new=False)
            self.any_claim, self.question, self.last_status = True, (), status
        self.question_is_new = False
        self.asked = self.asked or _SUMS_UP.match(sentence) is not None
        if sentence.startswith(CORRECTED) and self.last_status:
            self.label, self.label_is_new = _Label(self.last_status, complete=True), True
        sentence = sentence.removeprefix(CORRECTED)
        for pattern, words in _SIMPLER:
            sentence = pattern.sub(words, sentence)
        sentence = _BRACKET.sub(self._without_brackets, sentence)
        if self.asked:
            sentence = _SAYS_WHICH.sub("blickets: ", sentence)
        words = _without_translations(words_of(sentence, self.objects))
        kinds = {word.kind for word in words}
        names = bool(kinds & NAMING)
        if _ASKS.search(sentence) and (names or len(sentence) > 1):
            about_machine = " like " in sentence or "event" in kinds
            self._read_question([word.kind for word in words], _names(words), about_machine)
        elif not opens_line and self.last_named and _ELLIPTIC.match(_spelled(words)):
            # "Olive tube: in every lit test. May be a blicket."
            status = str(verdict([word.kind for word in words]))
            self._take(dict.fromkeys(self.last_named, status), set(), about_new=False)
        elif not names:
            self._read_label(sentence, words)
        else:
            self._read_named(sentence, words, opens_line=opens_line)

    def _read_question(self, kinds: list[str], names: Sequence[str], about_machine: bool) -> None:
        """Take in a question: it may be the label of its answer, "Which may be blickets?"."""
        self.last_named = names or self.last_named
        if set(kinds) & NAMING:
            self.question = names if self.seen or set(kinds) & NOUNS else ()
            self.question_is_new = True
            self.seen = self.seen or bool(self.question)
            return
        self.asked, self.label, self.question = bool(set(kinds) & NOUNS), None, ()
        if set(kinds) & {"sure", "maybe", "not"} and not about_machine:
            self.asked, self.label = False, _Label(str(verdict(kinds)), complete=True)
            self.label_is_new = True

    def _read_named(self, sentence: str, words: Words, *, opens_line: bool) -> None:
        """Take in a sentence that names objects."""
        kinds = [word.kind for word in words]
        self.listed = self.listed and not opens_line
        label = self.label if opens_line or self.label_is_new else None
        only_names = not opens_line and _NAMES_ONLY.match(spelled(kinds))
        if label is None and only_names and self.last_status:
            label = _Label(self.last_status, complete=False)  # "Blickets: A. B."
        if self.asked and _only_objects(sentence.partition(";")[0], self.patterns):
            label = _Label("yes", complete=True)
            words = [word for word in words if word.kind in NAMING | JOINS | _SAYS | {"break"}]
        if self.last_status and "event" not in kinds and _SAME.search(sentence):
            label = _Label(self.last_status, complete=False)
            words = [word for word in words if word.kind in NAMING | JOINS]
        self.label_is_new = self.asked = False
        if self._take_listed(words, label):
            self.listed = self.listed or opens_line
            if opens_line and "colon" in kinds[1:]:
                words = words[: kinds.index("colon", 1)]
            self.label = self.label and self.label._replace(complete=False)
        elif not (self.listed and "event" in kinds):  # what follows a row explains it
            words = [word for word in words if word.kind != "so"]
            self._claims_of(words)
            self.label = None if opens_line else self.label
        self.last_named = _names(words) or self.last_named
        self.last_group = _last_group(words) or self.last_group

    def _without_brackets(self, found: re.Match[str]) -> str:
        """A remark in brackets as a clause, as a verdict or, where it says neither, as nothing."""
        kinds = {word.kind for word in words_of(found[1], self.objects)}
        text_before = found.string[max(0, found.start() - 60) : found.start()]
        before = [word.kind for word in words_of(text_before, self.objects)]
        says = bool(kinds & _SAYS)
        if kinds == {"object"} and before[-1:] == ["word"]:
            return f"\0{found[1]}"  # a name after its translation
        if "object" in kinds <= {"object", *JOINS} and _VERDICT_BEFORE.search(spelled(before[-3:])):
            return f": {found[1]}; "  # "two objects are blickets (A, B)"
        example = found[1].startswith(("e.g", "for example", "such as"))
        if example or "event" in kinds or not (says or "object" in kinds):
            return ""
        if "object" in kinds:
            clause = says and kinds & {*NOUNS, "is", "colon"}
            return f"; {found[1]} ;" if clause else f", {found[1]}, "
        return f": {found[1]}," if NAMING & set(before[-1:]) else f" {found[1]} "

    def _read_label(self, sentence: str, words: Words) -> None:
        """Take in a sentence that names no object: it may be the label of the next ones."""
        kinds = [word.kind for word in words]
        if "|" in sentence and not set(kinds) & _SAYS:
            return  # the first row of a table
        self.label, self.label_is_new = None, True
        short = len(kinds) - kinds.count("colon") <= MAX_LABEL and "event" not in kinds
        if sentence.endswith(":") or (short and not sentence.endswith((".", "!"))):
            status = verdict(kinds)
            self.label = _Label(status, complete=True) if status else None
        if set(kinds) & NOUNS:
            self.asked = self.asked and sentence.endswith(":")
            # "It is not possible to figure out which objects are blickets" is an answer: none.
            self.any_claim = self.any_claim or "maybe" in kinds
        elif self.label is None and not sentence.endswith(":"):
            self.asked = False

    def _take_listed(self, words: Words, label: _Label | None) -> bool:
        """Take in rows and labelled lists; returns whether the sentence is made of them."""
        listed = read_listed([word.kind for word in words], label and label.status)
        if listed is None:
            return False
        claims: dict[str, str] = {}
        for part in listed:
            for place in range(part.start, part.stop):
                named = self._objects_of(words, place, claims)
                self.none = self.none or words[place].kind == "none"
                if part.status is not None:
                    self.last_status = part.status
                    claims |= dict.fromkeys(named, part.status)
                    self.any_claim = True
        complete = {str(part.status) for part in listed if part.complete}
        if label is not None and label.complete and not complete:
            complete = {label.status}
        self._take(claims, complete, about_new=label is not None or bool(complete))
        return True

    def _claims_of(self, words: Words) -> None:
        """Take in the claims of a sentence, clause by clause."""
        claims: dict[str, str] = {}
        complete: set[str] = set()
        seen = self.seen  # whether blickets were named in an earlier clause or sentence
        said: str | None = None  # the last verdict
        start = 0
        happens = False  # whether an earlier clause is about a machine
        breaks = [number for number, word in enumerate(words) if word.kind == "break"]
        for end in [*breaks, len(words)]:
            kinds = [word.kind for word in words[start:end]]
            for part in clause_claims(kinds, seen):
                refers = kinds[part.position] in ("these", "it")
                if happens and refers and not set(kinds) & NOUNS:
                    continue  # "like the striped or the dotted one, because neither is certain"
                said = part.status or said
                status = part.status
                if status is None and said and part.alone:
                    status = said  # "blickets: A; B"
                if status is None:
                    continue
                if part.complete:
                    complete.add(status)
                named = self._objects_of(words, start + part.position, claims)
                claims |= dict.fromkeys(named, status)
                self.last_status = status
                self.none = self.none or kinds[part.position] == "none"
                self.any_claim = self.any_claim or self.none or bool(named)
            seen = seen or bool(set(kinds) & NOUNS)
            happens = happens or "event" in kinds
            start = end + 1
        self.seen = seen
        self._take(claims, complete, about_new=False)

    def _take(self, claims: dict[str, str], complete: set[str], *, about_new: bool) -> None:
        """Take in claims; those about objects of other machines only are kept apart."""
        if not about_new and claims and not set(claims) & set(self.new):
            self.elsewhere.update(claims)
            return
        # A complete list replaces what was named before it.
        self.status = {name: each for name, each in self.status.items() if each not in complete}
        self.status.update(claims)

    def _others(self, count: int | None, known: set[str]) -> list[str]:
        """The other objects: those of which nothing was said, and as many as "the other four"."""
        sure = {name for name, status in self.status.items() if status == "yes"}
        options = (
            [each for each in self.new if each not in {*known, *self.status}],
            [each for each in self.new if each not in known],
            [each for each in self.last_group if each not in sure],
            [each for each in self.new if each not in self.status],
        )
        counted = [option for option in options if len(option) == count]
        return next((option for option in (*counted, *options[:2]) if option), [])

    def _objects_of(self, words: Words, index: int, claims: dict[str, str]) -> list[str]:
        """The objects that one word refers to."""
        kind, name = words[index]
        if kind == "object":
            return [name]
        if kind == "all":
            return list(self.new)
        near = words[max(0, index - MAX_BACK) : index]
        before = _names(near) or list(self.last_named)
        if kind == "others":
            return self._others(_NUMBERS.get(name), {*before, *claims})
        if kind == "it":
            return before[-1:]
        others = [number for number, word in enumerate(near) if word.kind == "others"]
        if others and kind == "these" and not _last_group(near):
            # "The others never light it without A, so they are not blickets."
            return self._objects_of(words, index - len(near) + others[-1], claims)
        group = _last_group(near) or ([] if _names(near) else self.last_group)
        return list(group or before) if kind == "these" else []


def _names(words: Words) -> list[str]:
    return [word.name for word in words if word.kind == "object"]


def _spelled(words: Words) -> str:
    return spelled([word.kind for word in words])


def _without_translations(words: Iterable[Word]) -> Words:
    """The words without those before a name that translate it: "el toro (brown torus)"."""
    kept: Words = []
    for word in words:
        if word.kind == "translated":
            while kept and kept[-1].kind == "word":
                kept.pop()
        else:
            kept.append(word)
    return kept


def _last_group(words: Words) -> list[str]:
    """The last objects that were named together: "the torus and the cone"."""
    runs = [run for run in runs_of([word.kind for word in words]) if run[1] - run[0] > 1]
    return _names(words[slice(*runs[-1])]) if runs else []


def _only_objects(sentence: str, patterns: Sequence[str]) -> bool:
    """Whether a sentence is objects, a machine and nothing else: "Only the brown torus."."""
    known = {pattern.lower() for pattern in patterns}
    words = _FILLER.sub(" ", re.sub(NAME, " ", sentence)).split()
    return set(words) - {"and", "or", "so", "one", "none", "maybe"} <= known
