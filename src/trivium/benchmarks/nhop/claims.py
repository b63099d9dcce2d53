"""What a reply claims to be the answer.

The grammar, on the pieces of `trivium.core.reading`:

    reply       sentences of clauses, in order; a claim replaces one that is not stronger
    clause      what stands between "but", "so", "because", ";", a dash or a correction
    claim       what a clause says the answer is, by strength:
      stated      a cue ("answer", a box, answer tags) and the chain after it or before it, or a
                  clause that is a chain and small words only ("So it is F_0824.")
      shown       the same with an arrow or in a row of a table: a step that leads to an answer
      mentioned   the last token of any other clause
      asked       a token and a question mark
    chain       tokens joined by arrows or "=": its last token is meant
    or          chains joined by "or", "and", a comma or a slash claim no answer
    not         a denied token ("not X", "X is not") claims nothing, nor does a clause that supposes
                ("if it were X") or says what is unknown
    heading     a clause without a token, which says what the next ones are about: the answer,
                several candidates, or the others
    correction  "Wait", "Actually", ...: what was claimed before counts as mentioned, or as nothing
                where it is said to be wrong

A token is one of the layer that was asked for. One of another layer is a step on the way, unless
all that a clause or the whole reply says is that this is the answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trivium.core import reading

TOKEN = r"(?<![A-Za-z0-9_])[A-Za-z]{1,4}_[0-9]{1,18}(?![A-Za-z0-9_])"
# Small words that a clause may have around its token and still be nothing but an answer.
_SMALL = (
    "so thus hence therefore then it its it's is that this the a an i we you my our me think "
    "believe say go going with i'd i'll i'm we'd let's get gets got be must should will here "
    "here's there's for to of token question final last value sure okay ok certainly course "
    "probably likely perhaps maybe possibly apparently presumably might could may pick choose "
    "select have has been found equals obtain obtained finally yes"
)
LEXER = reading.Lexer(
    {
        "slot": r"\b(?:f|(?-i:f)_|hop\s?|step\s?)[1-9][0-9]{0,2}\b(?![_A-Za-z])",
        "token": TOKEN,
        "cue": reading.ANSWER_WORDS,
        "correction": rf"{reading.CORRECTION_WORDS}|\bno,",
        "unsure": reading.UNSURE_WORDS
        + r"|\b(?:undefined|null|none(?! o)|no (?:such )?(?:fact|answer|mapping|token)s?)\b",
        "sure": r"\b(?:without (?:a |any )?(?:doubt|question)|none other than|nothing but)\b",
        "not": rf"{reading.NEGATION_WORDS}|\bover\b",
        "also": r"\b(?:as well|too|equally|also (?:possible|plausible|fits?|works?|could|might"
        r"|may))\b",
        "break": r"\b(?:but|however|(?:even |al)?though|so|because|since|as|whereas|while)\b"
        r"|;|(?<=\s)-(?=\s)",
        "or": r"\b(?:or|either|one of|any of|both|between|alternatively|otherwise)\b",
        "and": r"\b(?:and|versus|vs)\b|[/&,]",
        "bar": r"\|",
        "would": r"\bwould(?: then| thus)? be(?=\W{1,6}[A-Za-z]{1,4}_[0-9])",  # "would be E_0441"
        "hypothetical": reading.HYPOTHETICAL_WORDS,
        "arrow": r"-{0,2}->|=>|=(?!=)|\bmaps to\b",
        "small": rf"\b(?:{'|'.join(_SMALL.split())})\b",
        "word": r"[A-Za-z][A-Za-z'-]{0,40}|[^\W\d_A-Za-z]",
    }
)
_TALK = {"slot", "cue", "word"}  # what a clause does not hold that is nothing but an answer
_ASKS = re.compile(
    r"(?:is|are|could|should|would|might|may|can|does|do) (?:it|this|that|the|i|we)\b", re.I
)
_SEVERAL = re.compile(r"\b(?:possible|candidates?|options?|choices|answers)\b", re.IGNORECASE)
_OTHERS = re.compile(
    r"\b(?:others?|alternatives?|remaining|distractors?|decoys?|rejected|wrong|incorrect|excluded"
    r"|eliminated|ruled out|discarded)\b",
    re.IGNORECASE,
)
_REMARK = re.compile(r"(?<=\S)\s{0,9}\(([^()]{0,300})\)")
ASKED, MENTIONED, SHOWN, STATED = range(4)
Words = Sequence[reading.Symbol]


class Claim(NamedTuple):
    """What is said to be the answer; no token, or more than one, is none."""

    strength: int = ASKED
    tokens: frozenset[str] = frozenset()


NO_CLAIM = Claim()


@dataclass
class Reader:
    """What has been claimed so far."""

    layers: set[str]  # the letters of tokens that could be the answer
    claim: Claim = NO_CLAIM
    named: frozenset[str] = frozenset()  # all that was claimed
    heading: str = ""  # what the clauses are about: "answer", "several" or "others"

    @property
    def token(self) -> str | None:
        """The one token that is claimed to be the answer."""
        return next(iter(self.claim.tokens)) if len(self.claim.tokens) == 1 else None

    def read(self, sentence: str) -> None:
        """Take in one sentence."""
        asks = sentence.endswith("?")
        if asks and _ASKS.match(sentence):
            return
        if self.heading != "answer" and sentence.endswith((".", "!")):
            self.heading = ""  # the list is over
        if len(self.named) > 1 and reading.is_undecided(sentence):
            self._take(STATED, [])  # "I get X. The second time I get Y. I don't know which."
        for clause in self._clauses(_REMARK.sub(" ", sentence)):
            kinds = {kind for kind, _ in clause}
            if "correction" in kinds:
                self._correct(clause)
            if kinds & {"token", "other", "denied"}:
                self._read_clause(clause, kinds, asks=asks)
            elif not sentence.endswith((".", "!")):
                self._read_heading(clause, kinds)
        for remark in _REMARK.findall(sentence):
            for clause in self._clauses(remark):
                self._read_remark(clause, {kind for kind, _ in clause})

    def _clauses(self, sentence: str) -> Iterator[Words]:
        """Yields the words of every clause; a correction opens one."""
        clause: list[reading.Symbol] = []
        for kind, word in LEXER.symbols(sentence):
            if kind in ("break", "correction") and clause:
                yield _with_denied(clause)
                clause = []
            if kind == "token":
                fits = word.partition("_")[0].upper() in self.layers
                clause.append(("token" if fits else "other", word.upper()))
            elif kind != "break":
                clause.append((kind, word))
        if clause:
            yield _with_denied(clause)

    def _take(self, strength: int, tokens: Collection[str]) -> None:
        """Take in a claim, unless a stronger one stands."""
        self.named = self.named.union(tokens)
        if strength >= self.claim.strength:
            self.claim = Claim(strength, frozenset(tokens))

    def _add(self, tokens: Collection[str]) -> None:
        """Leave open which of these and of what is claimed is the answer."""
        self.claim = Claim(self.claim.strength, self.claim.tokens.union(tokens))

    def _correct(self, clause: Words) -> None:
        withdrawn = reading.withdraws(" ".join(word for _, word in clause))
        strength = min(self.claim.strength, MENTIONED)
        self.claim = NO_CLAIM if withdrawn else Claim(strength, self.claim.tokens)

    def _read_heading(self, clause: Words, kinds: set[str]) -> None:
        """Take in a clause without a token: what it announces."""
        text = " ".join(word for _, word in clause)
        # The heading of a column is no cue: "| Step | Result |".
        cue = "cue" in kinds and text.count("|") < 3
        self.heading = ""
        if cue and "unsure" in kinds:
            self._take(STATED, [])  # "Answer: unknown"
        elif _OTHERS.search(text):
            self.heading = "others"
        elif _SEVERAL.search(text):
            self.heading = "several"
        elif cue:
            self.heading = "answer"

    def _read_clause(self, clause: Words, kinds: set[str], *, asks: bool) -> None:
        heading = self.heading
        self.heading = "" if heading == "answer" else heading
        tokens = _of_kind("token", clause)
        if kinds & {"unsure", "hypothetical"}:
            if "unsure" in kinds and len(set(tokens)) > 1:
                self._take(STATED, tokens)
        elif ("cue" in kinds or heading == "answer") and (stated := _stated(clause, kinds)):
            self._take(STATED, stated)
        elif heading == "others":
            return
        elif "also" in kinds:
            self._add(tokens)  # "Y fits as well"
        elif not kinds & _TALK and (chains := _chains(clause)):
            asked_again = asks and self.claim.strength == ASKED
            if clause[0][0] == "or" or asked_again or heading == "several":
                self._add(chains)  # "X. Or maybe Y.", "X? Y?", "Candidates: X. Y."
            else:
                steps = kinds & {"arrow", "bar"}
                self._take(ASKED if asks else SHOWN if steps else STATED, chains)
        else:
            self._mention(tokens, kinds)

    def _read_remark(self, remark: Words, kinds: set[str]) -> None:
        """Take in a remark in parentheses: "(or E_0255)" leaves open what was claimed."""
        tokens = _of_kind("token", remark)
        if remark[0][0] == "or" or "also" in kinds:
            self._add(tokens)
        elif not kinds & {"hypothetical", "unsure"}:
            self._mention(tokens, kinds)

    def _mention(self, tokens: Sequence[str], kinds: set[str]) -> None:
        several = set(tokens)
        if len(several) > 2 and not kinds & {"arrow", "slot"}:
            return  # a list of what there is
        if len(several) > 1 and "or" in kinds:
            if self.claim.strength < STATED or self.claim.tokens & several:
                self.claim = Claim(MENTIONED, frozenset(several))
        elif tokens:
            self._take(MENTIONED, tokens[-1:])


def _with_denied(clause: Words) -> Words:
    """The words of a clause in which what is denied ("not X", "X is not") is no token."""
    found = [*clause, ("and", ",")]
    denied = False
    before: int | None = None  # the place of the token that "is not" denies
    for place, (kind, word) in enumerate(found):
        if kind in ("token", "other"):
            before = None if denied else place
            found[place] = ("denied" if denied else kind, word)
        elif kind == "not":
            denied = True
        elif kind == "arrow":
            denied = False
        elif word == ",":
            if denied and before is not None:
                found[before] = ("denied", found[before][1])
            denied, before = False, None
    return found[:-1]


def _of_kind(wanted: str, words: Words) -> list[str]:
    return [word for kind, word in words if kind == wanted]


def _stated(clause: Words, kinds: set[str]) -> list[str]:
    """The tokens that a clause with a cue, or below one, says to be the answer."""
    cues = [place for place, (kind, _) in enumerate(clause) if kind == "cue"]
    after = cues[-1] + 1 if cues else 0
    # "The answer for A_0111 is ..." names what was asked; "Answer: A_0111" is an answer.
    others = [] if kinds & {"slot", "word", "arrow"} else _chains(clause[after:], "other")
    return _chains(clause[after:]) or _chains(clause[:after][::-1]) or others


def _chains(words: Words, wanted: str = "token") -> list[str]:
    """The tokens that open these words: the end of a chain, and others joined to it by "or"."""
    ends: list[str] = []
    joined = "or"
    for kind, word in words:
        if kind == wanted:
            if joined == "arrow":
                ends[-1] = word
            elif joined == "or":
                ends.append(word)
            else:
                break
            joined = ""
        elif kind == "arrow" and ends:
            joined = "arrow"
        elif kind in ("or", "and", "bar") and ends:
            joined = "or"
        elif ends and (kind in ("word", "cue") or (kind == "small" and joined != "or")):
            joined = ""
    return ends


def all_that_is_said(text: str) -> str | None:
    """The token of a text that says nothing else, whatever its layer."""
    if _ASKS.match(text):
        return None
    words = list(LEXER.symbols(text))
    tokens = {word.upper() for kind, word in words if kind == "token"}
    is_all = {kind for kind, _ in words} <= {"token", "small", "cue"} and len(tokens) == 1
    return tokens.pop() if is_all else None
