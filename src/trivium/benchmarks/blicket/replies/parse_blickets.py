"""Which objects free text calls blickets, not blickets, or maybe blickets.

A reply is read sentence by sentence: every word has a kind (`words`), and `grammar` says what a
sentence claims about the objects that it names. Here is what sentences do to each other: a label
without objects ("must be blickets:") is that of the lines below it, a question is answered by what
follows it, "they" and "the others" are objects of earlier sentences, a later claim replaces an
earlier one, and a list that is meant to be complete replaces the list before it. Everything is one
pass over the words, so that the time is linear in the length of the reply, whatever it contains.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from trivium.benchmarks.blicket.replies.grammar import (
    CHANGES,
    JOINS,
    NAMING,
    NOUNS,
    lists_of,
    read_sentence,
    verdict,
)
from trivium.benchmarks.blicket.replies.sentences import CORRECTED
from trivium.benchmarks.blicket.replies.words import NAME, Word, load_pairs, words_of
from trivium.core import reading

MAX_BACK = 60  # how many words back "they" and "the others" may refer
MAX_RECENT = 8  # how many objects "these four" may refer to
MAX_REMARK = 5  # words of a verdict in brackets
MAX_ELLIPTIC = 3  # other words of a verdict by itself
MAX_LABEL = 8  # words of a label without objects
_SAYS = {*NOUNS, *CHANGES, "sure"}  # what a verdict is made of
_NUMBERS = {"two": 2, "both": 2, "neither": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_FILLER = re.compile(
    r"\b(?:only|just|both|the|answer|final|object|an?|its?|is|are|like|unsure|nothing else"
    r"|no others?|alone)\b|[^a-z]+"
)
_SAME = re.compile(
    r"\bsame (?:holds|goes|is true|applies|can be said)|^(?:likewise|similarly) for\b"
)
_ASKED_LINE = re.compile("(?:maybe )?blickets:")
_SUMS_UP = re.compile(r"(?:so|hence|thus|therefore|in short|answer|final answer) {0,2}:")
_ASKS = re.compile(r"(?<![:>|-])(?<![:>|-] )[?]$")  # but not in "red wedge: ?"
_TESTS = re.compile(r"\b(?:trials?|tests?|lit|dark|lights? up|did|didn't)\b.{0,40}:$")
_HEAD = re.compile(r"[a-z0-9# ]{1,40}: ")
_JOINING = {"and", "or", "so", "one", "none", "maybe", "neither", "nor", "not", "but"}
_RESULT = re.compile(r" ?(?:the )?(?:dark|lit|on|off|no|yes|lights?|light|nothing|machine)\b")
_REASON = re.compile(r"\b(?:so|because|since|therefore|as (?:it|they|the))\b")
_END = re.compile(r"(?<=[a-z])(?: ?;| ?:(?= ))")
_BRACKET = re.compile(r"\(([^()]{0,300})\)")
_OPENING = re.compile(
    r"^ {0,3}(?:(?:no|yes|wait|actually|hmm+|okay?|so) {0,3}[,:.!] {0,3}){1,3}(?!$)"
)
_SAYS_WHICH = re.compile(  # the answer to "which objects are blickets?"
    r"^(?:[^:,;]{0,60}[:,] )?(?:so |i think |i believe |i'd say )?"
    r"(?:(?:it|that|they|these|those|the answer) (?:is|are) (?:only |just |both )?"
    rf"|(?:just |only )?(?:one|two|three)(?: of (?:them|these))?[:,] )(?:the )?(?=(?:{NAME}))"
)
_PARAPHRASES = [
    (re.compile(pattern), words.strip('"'))
    for pattern, words in load_pairs("paraphrases.txt", " => ", name=NAME)
]


class _Label(NamedTuple):
    """A verdict that stands above a list."""

    status: str
    complete: bool  # whether the list is meant to name all of them


@dataclass
class Claims:
    """What has been said about each object so far; later claims replace earlier ones."""

    objects: Sequence[str]  # of all machines
    new: Sequence[str]
    patterns: Sequence[str] = ()  # of all machines
    asked: bool = True  # whether the sentence before asked for the blickets, as the prompt does
    status: dict[str, str] = field(default_factory=dict)  # "yes", "no" or "maybe"
    elsewhere: dict[str, str] = field(default_factory=dict)  # in sentences about other machines
    any_claim: bool = False
    none: bool = False  # whether no object was said to be a blicket
    either: bool = False  # whether the last claim leaves a choice: "A or B"
    seen: bool = False  # whether blickets were named in an earlier sentence
    label: _Label | None = None  # of the lines that follow
    label_is_new: bool = False  # whether it was set by the sentence before
    question: Sequence[str] = ()  # the objects that the last question is about
    question_is_new: bool = False  # whether the sentence before asked it
    last_status: str | None = None  # the last verdict: "the same holds for B"
    subject: Sequence[str] = ()  # the objects that open the line, with a colon after them
    last_named: Sequence[str] = ()  # the objects of the last sentence that named any
    recent: Sequence[str] = ()  # the objects that were named last, each once
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
        self._read_yes_or_no(sentence)
        self.asked = self.asked or _SUMS_UP.match(sentence) is not None
        if sentence.startswith(CORRECTED) and self.last_status:
            self.label, self.label_is_new = _Label(self.last_status, complete=True), True
        sentence = _OPENING.sub("", sentence.removeprefix(CORRECTED))
        for pattern, simpler in _PARAPHRASES:
            sentence = pattern.sub(simpler, sentence)
        sentence = _BRACKET.sub(self._without_brackets, sentence)
        if self.asked or not self.status:
            sentence = _SAYS_WHICH.sub("blickets: ", sentence)
            head = _HEAD.match(sentence)
            if head and not {word.kind for word in words_of(head[0], self.objects)} - {
                "word",
                "colon",
            }:
                sentence = sentence[head.end() :]  # "Answer to the first question: A"
        words = words_of(sentence, self.objects)
        kinds = {word.kind for word in words}
        if opens_line:
            self.subject = _subject(words)
        if _ASKS.search(sentence) and (kinds & NAMING or len(sentence) > 1):
            self._read_question(words, about_machine=" like " in sentence or "event" in kinds)
        elif kinds & NAMING:
            self._read_named(sentence, words, opens_line=opens_line)
        elif " like" not in sentence and self._is_elliptic(_kinds(words), opens_line=opens_line):
            # "Olive tube: in every lit test. May be a blicket."
            named = self.subject or self.last_named
            self._take(dict.fromkeys(named, str(verdict(_kinds(words)))))
        else:
            self._read_label(sentence, _kinds(words))

    def _is_elliptic(self, kinds: list[str], *, opens_line: bool) -> bool:
        """Whether a sentence is a verdict about what the line is about: "Can't say."."""
        if opens_line or verdict(kinds) is None:
            return False
        if self.subject and kinds.count("word") <= MAX_ELLIPTIC:
            return not set(kinds) - _ELLIPTIC - {"word", "colon", "and"}
        return bool(NOUNS & set(kinds) and self.last_named) and not set(kinds) - _ELLIPTIC

    def _read_yes_or_no(self, sentence: str) -> None:
        """Take in the answer to a question about objects: "Yes.", "So no."."""
        answer = reading.YES_OR_NO.match(sentence) if self.question else None
        if answer and (answer["so"] or self.question_is_new):
            self.last_status = "yes" if answer["yes"] else "no" if answer["no"] else "maybe"
            self._take(dict.fromkeys(self.question, self.last_status))
            self.any_claim, self.question = True, ()
        self.question_is_new = False

    def _read_question(self, words: list[Word], *, about_machine: bool) -> None:
        """Take in a question: it may be the label of its answer, "Which may be blickets?"."""
        kinds, names = _kinds(words), _names(words)
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

    def _read_label(self, sentence: str, kinds: list[str]) -> None:
        """Take in a sentence that names no object: it may be the label of the next ones."""
        if "|" in sentence:
            return  # a row of a table
        self.label, self.label_is_new = None, True
        short = len(kinds) - kinds.count("colon") <= MAX_LABEL and "event" not in kinds
        if sentence.endswith(":") or (short and not sentence.endswith((".", "!"))):
            # "And where it did not:" is about tests.
            about = set(kinds) & _SAYS != {"not"} or kinds.count("word") < 3
            status = verdict(kinds) if about else None
            self.label = _Label(status, complete=True) if status else None
        self.asked = self.asked and self.label is None and not _TESTS.search(sentence)
        # "It is not possible to figure out which objects are blickets" is an answer: none.
        doubt = set(kinds) & NOUNS and reading.is_unsure(sentence)
        self.any_claim = self.any_claim or bool(doubt)

    def _read_named(self, sentence: str, words: list[Word], *, opens_line: bool) -> None:
        """Take in a sentence that names objects."""
        label = self.label if opens_line or self.label_is_new else None
        only_names = not opens_line and not {word.kind for word in words} - {"object", "and"}
        same = "event" not in _kinds(words) and _SAME.search(sentence)
        if self.asked and _only_objects(_first_part(sentence), self.patterns):
            label = _Label("yes", complete=True)
            words = [word for word in words if word.kind in NAMING | JOINS | _SAYS | {"break"}]
        elif self.last_status and ((only_names and label is None) or same):
            label = _Label(self.last_status, complete=False)  # "Blickets: A. B."
            words = [word for word in words if word.kind in NAMING | JOINS]
        self.label_is_new = self.asked = False
        kinds = _kinds(words)
        found = read_sentence(kinds, label and label.status, seen=self.seen)
        claims: dict[str, str] = {}
        complete = {claim.status for claim in found if claim.complete}
        opening = found[0] if found and found[0].place < 3 else None
        if label and label.complete and opening and opening.status == label.status:
            complete.add(label.status)
        for claim in found:
            claims |= dict.fromkeys(self._objects_of(words, claim.place, claims), claim.status)
            self.none = self.none or kinds[claim.place] == "none"
            self.either = claim.either
            if set(claims) & set(self.new):
                self.last_status = claim.status
        self.any_claim = self.any_claim or self.none or bool(claims)
        self.seen = self.seen or bool(set(kinds) & NOUNS)
        answers = label is not None or _ASKED_LINE.match(sentence) is not None
        self._take(claims, complete, about_new=answers)
        if opens_line and self.label:
            self.label = self.label._replace(complete=False) if found else None
        self.last_named = _names(words) or self.last_named
        names = dict.fromkeys([*reversed(_names(words)), *reversed(self.recent)])
        self.recent = list(names)[:MAX_RECENT][::-1]
        self.last_group = _last_group(words) or self.last_group

    def _without_brackets(self, found: re.Match[str]) -> str:
        """A remark in brackets as a clause, as a verdict or, where it says neither, as nothing."""
        kinds = {word.kind for word in words_of(found[1], self.objects)}
        text_before = found.string[max(0, found.start() - 60) : found.start()]
        before = _kinds(words_of(text_before, self.objects))
        if kinds == {"object"} and before[-1:] == ["word"]:
            return f"\0{found[1]}"  # a name after its translation
        if "object" in kinds <= {"object", *JOINS} and _SAYS & set(before[-2:]):
            return f": {found[1]}; "  # "two objects are blickets (A, B)"
        long = "object" not in kinds and found[1].count(" ") > MAX_REMARK
        if long or "event" in kinds or _REASON.search(found[1]) or not kinds & {*_SAYS, "object"}:
            return ""
        if "object" in kinds:
            clause = kinds & _SAYS and kinds & {*NOUNS, "is", "colon"}
            return f"; {found[1]} ;" if clause else f", {found[1]}, "
        return f": {found[1]}," if NAMING & set(before[-1:]) else f" {found[1]} "

    def _take(
        self, claims: dict[str, str], complete: Set[str] = frozenset(), *, about_new: bool = False
    ) -> None:
        """Take in claims; those about objects of other machines only are kept apart."""
        if not about_new and claims and not set(claims) & set(self.new):
            self.elsewhere.update(claims)
            return
        # A complete list replaces what was named before it.
        self.status = {name: each for name, each in self.status.items() if each not in complete}
        self.status.update(claims)

    def _objects_of(self, words: list[Word], place: int, claims: dict[str, str]) -> list[str]:
        """The objects that one word refers to."""
        kind, name = words[place]
        if kind == "object":
            return [name]
        if kind == "all" and _NUMBERS.get(name) in (None, len(self.new)):
            return list(self.new)
        near = words[max(0, place - MAX_BACK) : place]
        before = _names(near) or list(self.last_named)
        if kind == "others":
            return self._others(_NUMBERS.get(name), {*before, *claims})
        if kind == "it":
            return list(self.subject) or before[-1:]
        others = [number for number, word in enumerate(near) if word.kind == "others"]
        if others and kind == "these" and not _last_group(near):
            # "The others never light it without A, so they are not blickets."
            return self._objects_of(words, place - len(near) + others[-1], claims)
        group = _last_group(near) or ([] if _names(near) else self.last_group)
        count = _NUMBERS.get(name, 0)
        recent = list(dict.fromkeys([*reversed(_names(near)), *reversed(self.recent)]))
        if len(group) != count <= len(recent):
            group = recent[:count] or group  # "A is dark. B is dark. Both are blickets."
        refers = words[place + 1 : place + 2] != [Word("colon")]  # not "sure of these: A and B"
        return list(group or before) if refers and kind in ("these", "all") else []

    def _others(self, count: int | None, known: set[str]) -> list[str]:
        """The other objects: those of which nothing was said, and as many as "the other four"."""
        options = (
            [each for each in self.new if each not in {*known, *self.status}],
            [each for each in self.new if each not in known and self.status.get(each) != "yes"],
            [each for each in self.last_group if self.status.get(each) != "yes"],
        )
        fitting = [each for each in options if count is None or len(each) == count]
        return next((option for option in fitting if option), [])


_ELLIPTIC = {"so", "sure", "not", "maybe", "is", *NOUNS}


def _kinds(words: Sequence[Word]) -> list[str]:
    return [word.kind for word in words]


def _subject(words: list[Word]) -> list[str]:
    """The objects of a row: "brown torus: ..."."""
    first = next(lists_of(_kinds(words)), range(0))
    after = words[first.stop : first.stop + 1]
    named = bool(first) and first.start == 0 and (not after or after[0].kind == "colon")
    return _names(words[: first.stop]) if named else []


def _names(words: Sequence[Word]) -> list[str]:
    return [word.name for word in words if word.kind == "object"]


def _last_group(words: Sequence[Word]) -> list[str]:
    """The last objects that were named together: "the torus and the cone"."""
    groups = [each for each in lists_of(_kinds(words)) if len(each) > 1]
    return _names(words[groups[-1].start : groups[-1].stop]) if groups else []


def _first_part(sentence: str) -> str:
    """What stands before a colon or a semicolon, where it names objects and no trial."""
    first, *rest = _END.split(sentence, maxsplit=1)
    trial = rest and _RESULT.match(rest[0])
    return first if re.search(NAME, first) and not trial else sentence.partition(";")[0]


def _only_objects(sentence: str, patterns: Sequence[str]) -> bool:
    """Whether a sentence is objects, a machine and nothing else: "Only the brown torus."."""
    known = {pattern.lower() for pattern in patterns}
    words = _FILLER.sub(" ", re.sub(NAME, " ", sentence)).split()
    return set(words) - _JOINING <= known
