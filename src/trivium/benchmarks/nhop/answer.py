"""Writing an answer and reading it back.

The grammar, on the pieces of `trivium.core.reading`:

    reply       sentences of clauses, in order; a claim replaces one that is not stronger
    clause      what stands between "but", "so", "because", ";", a dash or a correction
    claim       what a clause says the answer is, by strength:
      stated      a cue ("answer", a box, answer tags) and the chain after it or before it, or a
                  clause that is a chain and small words only ("So it is F_0824.")
      shown       a chain of steps, or a row of a table, that is all that a clause says
      mentioned   the last token of any other clause, if it could be an answer
    chain       tokens joined by arrows or "=": its last token is meant
    or          chains joined by "or", "and", a comma, a slash: a claim to no answer, if more than
                one of the tokens could be one
    not         a token after "not", an argument ("f2 of X") and the start of the question claim
                nothing, nor does a clause that supposes ("if it were X") or says what is unknown
    correction  "Wait", "Actually", ...: what was claimed before is no more than mentioned, or
                nothing where it is said to be wrong

Reading stops where the reply goes on to ask something else. A reply of one token and small words
means that token, whatever its layer. In steps mode a slot is a function and the token that is said
to be its value; the last filling counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from trivium.benchmarks.nhop.item import NhopItem
from trivium.benchmarks.nhop.spec import NhopView
from trivium.core import reading
from trivium.core.languages import in_english


@dataclass(frozen=True, slots=True)
class NhopAnswer:
    """The token that was named, and in steps mode the token in every slot."""

    token: str
    steps: tuple[str | None, ...] = ()  # empty where no slot was filled


def write(item: NhopItem, answer: NhopAnswer, view: NhopView) -> str:
    """The reply that states this answer."""
    if view.mode == "direct":
        return answer.token
    slots = answer.steps if view.mode == "steps" else ()
    lines = [f"f{hop}: {token}" for hop, token in enumerate(slots, 1) if token is not None]
    return "\n".join([*lines, f"Answer: {answer.token}"])


def strict(item: NhopItem, replies: Sequence[str], view: NhopView) -> bool:
    """Whether the last reply is what was asked for; free mode asks for its last line only."""
    reply = replies[-1].strip()
    said = reply.rpartition("\n")[2] if view.mode == "free" else reply
    token = said.rpartition(" ")[2]
    slots = _slots(said, item.depth) if view.mode == "steps" else ()
    is_token = _LAST_TOKEN.fullmatch(token) is not None and token.isupper()
    return is_token and said == write(item, NhopAnswer(token, slots), view)


_TOKEN = r"(?<![A-Za-z0-9_])[A-Za-z]{1,4}_[0-9]{1,18}(?![A-Za-z0-9_])"
_LAST_TOKEN = re.compile(rf"{_TOKEN}$")
# Small words that a clause may have around its token and still be nothing but an answer.
_SMALL = (
    "so thus hence therefore then it its it's is that this the a an i we you my our me think "
    "believe say go going with i'd i'll i'm we'd let's get gets got be must should will here "
    "here's there's for to of token final last value sure okay ok certainly course probably "
    "likely perhaps maybe possibly apparently presumably might could may pick choose select "
    "have has been found equals obtain obtained finally yes "
)
_LEXER = reading.Lexer(
    {
        "slot": r"\b(?:f|(?-i:f)_|hop\s?|step\s?)[1-9][0-9]{0,2}\b(?![_A-Za-z])",
        "token": _TOKEN,
        "cue": reading.ANSWER_WORDS,
        "correction": rf"{reading.CORRECTION_WORDS}|\bno,",
        "unsure": reading.UNSURE_WORDS
        + r"|\bundefined\b|\bno (?:such )?(?:fact|answer|mapping)s?\b",
        "not": rf"{reading.NEGATION_WORDS}|\bover\b",
        "also": r"\b(?:as well|too|equally|also (?:possible|plausible|fits?|works?|could|might"
        r"|may))\b",
        "break": r"\b(?:but|however|(?:even |al)?though|so|because|since|as|whereas|while)\b"
        r"|;|(?<=\s)-(?=\s)",
        "or": r"\b(?:or|either|one of|any of|both|between|alternatively)\b",
        "and": r"\b(?:and|versus|vs)\b|[/&,|]",
        "would": r"\bwould(?: then| thus)? be(?=\W{1,6}[A-Za-z]{1,4}_[0-9])",  # "would be E_0441"
        "hypothetical": reading.HYPOTHETICAL_WORDS,
        "arrow": r"-{0,2}->|=>|=(?!=)|\bmaps to\b",
        "of": r"\b(?:of|from)\b|\(",
        "close": r"\)",
        "small": rf"\b(?:{'|'.join(_SMALL.split())})\b",
        "word": r"[A-Za-z][A-Za-z'-]{0,40}|[^\W\d_A-Za-z]",
    }
)
# What a clause may hold and still be nothing but an answer.
_BARE = {"token", "small", "arrow", "or", "and", "not", "correction", "close", "of", "would"}
# "If I followed the chain correctly, X" and "If I had to guess, X" suppose nothing about X.
_IF_RIGHT = re.compile(
    r"\b(?:if|assuming|unless) (?:(?:i|i'm|i've|my|we|you)\b[^,.:\n]{0,80}\b(?:mistaken|right"
    r"|correct(?:ly)?|well|properly|errors?|mistakes?|wrong|guess|choose|pick|bet|decide|insist)"
    r"|(?:forced|pressed|pushed))\b[^,.:\n]{0,20}[,:]?",
    re.IGNORECASE,
)
_LOOSE = re.compile(
    r"(?<![A-Za-z0-9_])([A-Za-z]{1,4})(?:[\s-]?| underscore )([0-9]{1,18})(?![A-Za-z0-9_])"
)
_QUESTION = re.compile(r"(?:\W{0,3}question|q)\b.{0,20}:", re.IGNORECASE)
_ASKS = re.compile(
    r"(?:is|are|could|should|would|might|may|can|does|do) (?:it|this|that|the|i|we)\b", re.I
)
_SEVERAL = re.compile(r"\b(?:possible|candidates?|options?|choices|answers)\b", re.IGNORECASE)
_PARENTHESES = re.compile(r"(?<=\S)\s*\(([^()]{0,300})\)")
MAX_PHRASE = 200  # characters of a reply that is compared as a whole with other spellings
MENTIONED, SHOWN, STATED = range(3)
Words = Sequence[reading.Symbol]


class _Claim(NamedTuple):
    """What is said to be the answer; no token, or more than one, is none."""

    strength: int
    tokens: frozenset[str]
    cued: bool = False
    asked: bool = False


@dataclass
class _Reader:
    """What has been claimed so far."""

    layers: set[str]  # the letters of tokens that could be the answer
    start: str  # the token that the question is about
    claim: _Claim | None = None
    named: set[str] = field(default_factory=set)  # all that could be an answer
    cue: bool = False  # the clause before ended in a cue: "The answer is:"
    several: bool = False  # the clause before opened a list: "Possible answers:"

    @property
    def token(self) -> str | None:
        """The one token that is claimed to be the answer."""
        return next(iter(self.claim.tokens)) if self.claim and len(self.claim.tokens) == 1 else None

    def read(self, sentence: str) -> None:
        """Take in one sentence."""
        asks = sentence.endswith("?")
        if asks and _ASKS.match(sentence):
            return
        cued = self.claim is not None and self.claim.cued
        if len(self.named) > 1 and not cued and reading.is_undecided(sentence):
            self._take(STATED, [])  # "I get X. The second time I get Y. I don't know which."
        for clause in _clauses(_PARENTHESES.sub(" ", sentence)):
            self._read_clause(clause, {kind for kind, _ in clause}, asks=asks)
        for remark in _PARENTHESES.findall(sentence):
            self._read_remark(list(_LEXER.symbols(remark)))

    def _take(
        self, strength: int, tokens: Iterable[str], *, cued: bool = False, asked: bool = False
    ) -> None:
        """Take in a claim, unless a stronger one stands."""
        # A list that runs through the layers ends in the answer.
        meant = frozenset(self._fitting(tokens) or tokens)
        self.named |= meant
        if self.claim is None or strength >= self.claim.strength:
            self.claim = _Claim(strength, meant, cued, asked)

    def _fitting(self, tokens: Iterable[str]) -> list[str]:
        return [token for token in tokens if token.partition("_")[0] in self.layers]

    def _add(self, tokens: Iterable[str]) -> None:
        """Leave open which of these and of what is claimed is the answer."""
        if self.claim is not None:
            more = self.claim.tokens.union(self._fitting(tokens))
            self.claim = self.claim._replace(tokens=more)

    def _correct(self, clause: Words) -> None:
        if self.claim is not None:
            self.claim = self.claim._replace(strength=MENTIONED, cued=False)
        if reading.withdraws(" ".join(word for _, word in clause)):
            self.claim = None

    def _read_remark(self, remark: Words) -> None:
        """Take in a remark in parentheses: "(or E_0255)" leaves open what was claimed."""
        if remark and (remark[0][0] == "or" or any(kind == "also" for kind, _ in remark)):
            self._add(_values(remark))
        else:
            self._mention(remark)

    def _read_clause(self, clause: Words, kinds: set[str], *, asks: bool) -> None:
        if "correction" in kinds:
            self._correct(clause)
        cued, self.cue = self.cue, False
        if "token" not in kinds:
            self._read_heading(clause, kinds, cued=cued)
            return
        if kinds & {"unsure", "hypothetical"} and not cued:
            if "unsure" in kinds and len(set(self._fitting(_values(clause)))) > 1:
                self._take(STATED, _values(clause))
            return
        asserted = _asserted(clause)
        cues = [place for place, (kind, _) in enumerate(clause) if kind == "cue"]
        if cued or cues:
            after = cues[-1] + 1 if cues else 0
            stated = _chains(asserted[after:]) or _chains(asserted[:after][::-1])
            # "The answer for A_0111 is ..." names what was asked; "Answer: A_0111" is an answer.
            if stated and (stated != [self.start] or kinds <= {"cue", "token"}):
                self._take(STATED, stated, cued=True)
                return
        chains = self._fitting(_chains(asserted))
        if "also" in kinds and self.claim is not None:
            self._add(chains)  # "Y fits as well"
        elif kinds <= _BARE and chains:
            again = clause[0][0] == "or" or (asks and self.claim is not None and self.claim.asked)
            if again or self.several:
                self._add(chains)  # "X? Or maybe Y?", "X? Y?", "Candidates: X. Y."
            else:
                # "Answer: A_0001 -> ... -> F_0824" goes on with an arrow after a cue.
                steps = "arrow" in kinds and clause[0][0] != "arrow"
                strength = SHOWN if steps or ("and", "|") in clause else STATED
                self._take(MENTIONED if asks else strength, chains, asked=asks)
        else:
            self._mention(clause)

    def _read_heading(self, clause: Words, kinds: set[str], *, cued: bool) -> None:
        """Take in a clause without a token: what it announces."""
        if {"cue", "unsure"} <= kinds:
            self._take(STATED, [], cued=True)  # "Answer: unknown"
        # The heading of a column is no cue: "| Step | Result |".
        is_row = sum(word == "|" for _, word in clause) > 2
        opens = "cue" in kinds and not is_row
        goes_on = cued and "word" not in kinds
        self.cue = (opens or goes_on) and "unsure" not in kinds
        self.several = _SEVERAL.search(" ".join(word for _, word in clause)) is not None

    def _mention(self, clause: Words) -> None:
        kinds = {kind for kind, _ in clause}
        tokens = [token for token in self._fitting(_values(clause)) if token != self.start]
        if not tokens or kinds & {"hypothetical", "unsure"}:
            return
        if len(set(tokens)) > 2 and not kinds & {"arrow", "slot"}:
            return  # a list of what there is
        if len(set(tokens)) > 1 and "or" in kinds:
            if self.claim is None or not self.claim.cued or self.claim.tokens & set(tokens):
                self.claim = _Claim(MENTIONED, frozenset(tokens))
                self.named |= set(tokens)
        else:
            self._take(MENTIONED, tokens[-1:])


def _clauses(sentence: str) -> Iterator[Words]:
    """Yields the words of every clause; a correction opens one."""
    clause: list[reading.Symbol] = []
    for kind, word in _LEXER.symbols(sentence):
        if kind in ("break", "correction") and clause:
            yield clause
            clause = []
        if kind != "break":
            clause.append((kind, word))
    if clause:
        yield clause


def _asserted(clause: Words) -> Words:
    """The words of a clause, in which only a token that is said to be a value is still one.

    What is denied ("not X", "X is not") and what a function is applied to ("f2 of X") is of
    another kind.
    """
    found: list[reading.Symbol] = []
    denied = argument = False
    before: int | None = None  # the place of the last token, which "is not" denies
    for kind, word in [*clause, ("and", ",")]:
        if kind == "token":
            found.append(("other" if denied or argument else "token", word.upper()))
            before, argument = None if denied else len(found) - 1, False
            continue
        if word == ",":
            if denied and before is not None:
                found[before] = ("other", found[before][1])
            denied, before = False, None
        elif kind == "not":
            denied = True
        elif kind == "of":
            argument = True
        elif kind in ("arrow", "small", "close"):
            argument = False
            denied = denied and kind != "arrow"
        found.append((kind, word))
    return found[:-1]


def _values(clause: Words) -> list[str]:
    """The tokens of a clause that are said to be values."""
    return [word for kind, word in _asserted(clause) if kind == "token"]


def _chains(words: Words) -> list[str]:
    """The tokens that open these words: the end of a chain, and others joined to it by "or"."""
    ends: list[str] = []
    joined = "start"
    for kind, word in words:
        if kind == "token":
            if joined == "arrow" and ends:
                ends[-1] = word
            elif joined in ("start", "or"):
                ends.append(word)
            else:
                break
            joined = "end"
        elif kind == "arrow":
            joined = "arrow" if ends else joined
        elif kind == "slot" and joined == "arrow":
            continue
        elif kind in ("or", "and") and ends:
            joined = "or"
        elif ends and (kind in ("word", "cue", "of") or (kind == "small" and joined != "or")):
            joined = "end"
    return ends


def parse(item: NhopItem, replies: Sequence[str], view: NhopView) -> NhopAnswer | None:
    """The answer in the last reply; None where it states none."""
    text = reading.chosen_option(reading.plain(replies[-1], "Answer: ").replace('"', ""))
    spellings = {normalise(spelling): item.answer for spelling in item.accepted}
    if len(replies[-1]) < MAX_PHRASE and normalise(text) in spellings:
        return NhopAnswer(item.answer)
    known = {token for head, _, tail in item.triples() for token in (head, tail)}
    text = _IF_RIGHT.sub("", in_english(text))
    text = _LOOSE.sub(lambda found: _token_in(found, known), text)
    layers = {token.partition("_")[0].upper() for token in item.candidates}
    reader = _Reader(layers, item.start.upper())
    for sentence in reading.sentences(text):
        if reader.token and _QUESTION.match(sentence) and reader.start not in sentence.upper():
            break  # it goes on with a question of its own
        reader.read(sentence)
    token = reader.token
    if _breaks_off(text, known) and not (reader.claim and reader.claim.cued):
        token = None  # what stands before are steps on the way
    token = token or _all_that_is_said(text)
    if token is None:
        return None
    return NhopAnswer(
        spellings.get(token, token), _slots(text, item.depth) if view.mode == "steps" else ()
    )


def _breaks_off(text: str, known: set[str]) -> bool:
    """Whether a text ends inside a token: with one that the item lacks and too few digits."""
    last = _LAST_TOKEN.search(text[-40:])
    shortest = min(map(len, known), default=0)
    return last is not None and last[0].upper() not in known and len(last[0]) < shortest


def _all_that_is_said(text: str) -> str | None:
    """The token of a reply that says nothing else, whatever its layer."""
    if len(text) >= MAX_PHRASE or _ASKS.match(text):
        return None
    words = list(_LEXER.symbols(text))
    tokens = {word.upper() for kind, word in words if kind == "token"}
    is_all = {kind for kind, _ in words} <= {"token", "small", "cue"} and len(tokens) == 1
    return tokens.pop() if is_all else None


def normalise(text: str) -> str:
    """A token or a short reply without case, spaces and decoration."""
    return "".join(text.split()).strip("\"'`*_.<>()[]").upper()


def _token_in(found: re.Match[str], known: set[str]) -> str:
    """A token of the item that is written without its underscore, such as F0824."""
    token = f"{found[1].upper()}_{found[2]}"
    return token if token in known else found[0]


def _slots(text: str, depth: int) -> tuple[str | None, ...]:
    """The token in every slot, the last filling of each; empty where none is filled."""
    filled: dict[int, str] = {}
    for line in text.split("\n"):
        hop, fresh = None, True
        for kind, word in _LEXER.symbols(line):
            if kind == "slot":
                # In "f2 of f1 of A_0001 = C_0003" the first function has the value.
                hop = int(re.sub(r"\D", "", word)) if fresh or hop is None else hop
                fresh = False
            elif kind == "token" and hop is not None:
                filled[hop] = word.upper()
                fresh = True
            elif kind == "cue":
                hop = None
    slots = tuple(filled.get(hop) for hop in range(1, depth + 1))
    return slots if any(slots) else ()
