"""Writing an answer and reading it back.

The grammar, clause by clause, on the pieces of `trivium.core.reading`:

    reply       one clause after another; the last commitment counts
    commitment  a cue ("answer", a box, answer tags) and a chain after it ("Answer: F_0824"),
                or a token before it ("F_0824 is the answer"), or a clause that is a chain and
                nothing else but small words ("So it is F_0824.")
    chain       tokens joined by arrows or "=": its last token is meant
    no answer   two chains joined by "or", "and", a comma or a slash
    mention     any other token that is not negated ("not X"), an argument ("f2 of X") or part of a
                supposition ("if it were X"); the last one counts where nothing is committed to
    correction  "Wait", "Actually", ...: mentions after it replace a commitment before it

A chain after a commitment with a cue is an explanation, and the start of the question is no mention
of an answer. Reading stops where the reply goes on to ask something else.

In steps mode a slot is a function and the token that is said to be its value; the last filling
counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

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
    answer = parse(item, replies, view)
    if answer is None:
        return False
    reply = replies[-1].strip()
    said = reply.rpartition("\n")[2] if view.mode == "free" else reply
    return said == write(item, answer, view)


_TOKEN = r"(?<![A-Za-z0-9_])[A-Za-z]{1,4}_[0-9]{1,18}(?![A-Za-z0-9_])"
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
        "correction": reading.CORRECTION_WORDS + r"|\bno,",
        "unsure": reading.UNSURE_WORDS
        + r"|\bundefined\b|\bno (?:such )?(?:fact|answer|mapping)s?\b",
        "not before": r"\bis not,",
        "not": rf"{reading.NEGATION_WORDS}|\bover\b",
        "also": r"\b(?:as well|too|equally|also (?:possible|plausible|fits?|works?|could|might"
        r"|may))\b",
        "or": r"\b(?:or|and|either|versus|vs|one of|any of|both|between)\b|[/&,|]",
        "would": r"\bwould(?: then| thus)? be(?=\W{1,6}[A-Za-z]{1,4}_[0-9])",  # "would be E_0441"
        "hypothetical": reading.HYPOTHETICAL_WORDS,
        "arrow": r"-{0,2}->|=>|=(?!=)|\bmaps to\b",
        "of": r"\b(?:of|from)\b|\(",
        "close": r"\)",
        "small": rf"\b(?:{'|'.join(_SMALL.split())})\b",
        "word": r"[A-Za-z][A-Za-z'-]{0,40}|[^\W\d_A-Za-z]",
    }
)
_CLAUSE = re.compile(
    r"\b(?:but|however|(?:even |al)?though)\b|;|\s-\s"
    r"|\b(?:so|because|since|as(?! well)|whereas|while)\b",
    re.IGNORECASE,
)
# "If I followed the chain correctly, X" supposes nothing else than that X is right.
_IF_RIGHT = re.compile(
    r"\b(?:if|assuming|unless) (?:i|i'm|i've|my|we)\b[^,.\n]{0,80}"
    r"\b(?:mistaken|right|correct(?:ly)?|well|properly|error|mistake|wrong)\b[^,.\n]{0,20},?",
    re.IGNORECASE,
)
_LOOSE = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z]{1,4})[\s-]?([0-9]{1,18})(?![A-Za-z0-9_])")
_OPEN = re.compile(r"or|either|one of|any of|both|between", re.IGNORECASE)
_QUESTION = re.compile(r"(?:\W{0,3}question|q)\b.{0,20}:", re.IGNORECASE)
_ASKS = re.compile(
    r"(?:is|are|could|should|would|might|may|can|does|do) (?:it|this|that|the|i|we)\b", re.I
)
_SEVERAL = re.compile(r"\b(?:possible|candidates?|options?|choices|answers)\b", re.IGNORECASE)
_PARENTHESES = re.compile(r"\([^()]{0,300}\)")
# What a clause may hold and still be nothing but an answer.
_BARE = {"token", "small", "arrow", "or", "not", "correction", "close", "of", "would"}
MAX_PHRASE = 200  # characters of a reply that is compared as a whole with other spellings


@dataclass
class _Reader:
    """What has been committed to, and what has been mentioned, so far."""

    layers: set[str]  # the letters of tokens that could be the answer
    start: str  # the token that the question is about
    committed: str | None = None
    ambiguous: bool = False  # the last commitment names two tokens
    open: bool = False  # two tokens are left open in passing: "both X and Y fit"
    corrected: bool = False  # something was corrected after the last commitment
    sure: bool = False  # the last commitment had a cue
    asked: bool = False  # the last commitment was a question: "X?"
    several: bool = False  # the sentence before opened a list: "Possible answers:"
    cue: bool = False  # the sentence before ended in a cue: "The answer is:"
    mentions: list[str] = field(default_factory=list)  # since the last correction
    named: set[str] = field(default_factory=set)  # all that could be an answer

    def commit(self, tokens: list[str], *, sure: bool = False) -> None:
        """Take in a commitment to one token, or to several, which is none."""
        self.sure, self.asked = sure, False
        # A list that runs through the layers ends in the answer.
        named = set(self._fitting(tokens)) or set(tokens)
        self.named |= named
        self.ambiguous = len(named) != 1
        self.committed = None if self.ambiguous else named.pop()
        self.corrected = self.open = False
        self.mentions = []

    def _fitting(self, tokens: list[str]) -> list[str]:
        return [token for token in tokens if token.partition("_")[0] in self.layers]

    def result(self) -> str | None:
        """The token that was meant in the end."""
        fitting = self._fitting(self.mentions)
        if (self.corrected or self.asked) and self.committed is not None:
            return fitting[-1] if fitting else self.committed
        if self.committed is not None or (self.ambiguous and not (self.open and fitting)):
            return self.committed
        return fitting[-1] if fitting else None

    def read(self, sentence: str) -> None:
        """Take in one sentence."""
        if sentence.endswith("?") and _ASKS.match(sentence):
            return
        if len(self.named) > 1 and not self.sure and reading.is_undecided(sentence):
            self.commit([])  # "I get X. The second time I get Y. I don't know which is right."
        bare = _PARENTHESES.sub(" ", sentence)
        for number, clause in enumerate(_CLAUSE.split(bare)):
            symbols = list(_LEXER.symbols(clause))
            kinds = {kind for kind, _ in symbols}
            if "correction" in kinds:
                self._correct(clause)
            self._clause(symbols, kinds, first=number == 0, asks=sentence.endswith("?"))
        for remark in _PARENTHESES.findall(sentence):
            self._remark(list(_LEXER.symbols(remark.strip("()"))))

    def _remark(self, symbols: list[reading.Symbol]) -> None:
        """Take in a remark in parentheses: "(or E_0255)" leaves open what was committed to."""
        if self.committed is None:
            self._mention(symbols)
        elif symbols and symbols[0][1].lower() == "or":
            self.commit([self.committed, *_values(symbols)], sure=self.sure)

    def _correct(self, clause: str) -> None:
        if reading.withdraws(clause):
            self.committed, self.ambiguous = None, False
        self.corrected = True
        self.mentions = []

    def _clause(
        self, symbols: list[reading.Symbol], kinds: set[str], *, first: bool, asks: bool
    ) -> None:
        cued, self.cue = self.cue and first, False
        if "token" not in kinds:
            if "cue" in kinds and "unsure" in kinds:
                self.commit([])  # "Answer: unknown"
            # The heading of a column is no cue: "| Step | Result |".
            heading = sum(word == "|" for _, word in symbols) > 2
            self.several = _SEVERAL.search(" ".join(word for _, word in symbols)) is not None
            self.cue = (first and "cue" in kinds and "unsure" not in kinds and not heading) or (
                cued and not kinds & {"word", "unsure"}
            )
            return
        if "unsure" in kinds and not cued:
            named = self._fitting(_values(symbols))
            if len(set(named)) > 1:
                self.commit(named)
            return
        if "hypothetical" in kinds and not cued:
            return
        asserted = _asserted(symbols)
        cues = [place for place, (kind, _) in enumerate(symbols) if kind == "cue"]
        if cued or cues:
            start = 0 if not cues else cues[-1] + 1
            stated = _stated(asserted[start:]) or _stated(asserted[:start][::-1])
            # "The answer for A_0111 is ..." names what was asked; "Answer: A_0111" is an answer.
            if stated and (stated != [self.start] or kinds <= {"cue", "token"}):
                self.commit(stated, sure=True)
                return
        goes_on = symbols[0][0] == "arrow"  # "Answer: A_0001 -> ... -> F_0824"
        table = any(word == "|" for _, word in symbols)
        steps = ("arrow" in kinds and not goes_on) or table
        explains = self.sure and not self.corrected and steps
        # A slot is a step on the way, unless nothing else comes.
        if "also" in kinds and self.committed:
            self.commit([self.committed, *_values(symbols)])  # "Y fits as well"
            return
        if kinds <= _BARE and not explains:
            stated = self._fitting(_stated(asserted))
            again = symbols[0][1].lower() == "or" or (self.asked and asks)
            if stated and self.committed and ((first and again) or self.several):
                stated.append(self.committed)  # "X? Or maybe Y?", "X? Y?", "Candidates: X. Y."
            if stated:
                self.commit(stated)
                self.asked = asks
                return
        self._mention(symbols)

    def _mention(self, symbols: list[reading.Symbol]) -> None:
        if any(kind in ("hypothetical", "unsure") for kind, _ in symbols):
            return
        tokens = [token for token in _values(symbols) if token != self.start]
        fitting = set(self._fitting(tokens))
        if len(fitting) > 2 and not any(kind in ("arrow", "slot") for kind, _ in symbols):
            return  # a list of what there is
        others = self.sure and not self.corrected and self.committed not in fitting
        if len(fitting) > 1 and not others and any(_OPEN.fullmatch(word) for _, word in symbols):
            self.commit(sorted(fitting))
            self.open = True
            return
        self.mentions += tokens
        self.named |= fitting


def _asserted(symbols: list[reading.Symbol]) -> list[reading.Symbol]:
    """The symbols of a clause, in which only a token that is said to be a value is still one.

    What is denied ("not X") and what a function is applied to ("f2 of X") is of another kind.
    """
    found: list[reading.Symbol] = []
    denied = argument = False
    for kind, word in symbols:
        if kind == "token":
            found.append(("other" if denied or argument else "token", word.upper()))
            argument = False
            continue
        found.append((kind, word))
        if kind == "not":
            denied = True
        elif kind == "not before" and len(found) > 1:
            found[-2] = ("other", found[-2][1])
        elif kind == "of":
            argument = True
        elif kind in ("arrow", "small", "close"):
            argument = False
            denied = denied and kind != "arrow"
        elif kind == "or":
            denied = denied and word != ","
    if found and found[-1][0] == "not":  # "X is not"
        places = [place for place, (kind, _) in enumerate(found) if kind == "token"]
        if places:
            found[places[-1]] = ("other", found[places[-1]][1])
    return found


def _values(symbols: list[reading.Symbol]) -> list[str]:
    """The tokens of a clause that are said to be values."""
    return [word for kind, word in _asserted(symbols) if kind == "token"]


def _stated(symbols: list[reading.Symbol]) -> list[str]:
    """The tokens that open these symbols: the end of a chain, and others joined to it by "or"."""
    stated: list[str] = []
    joined = "start"
    for kind, word in symbols:
        if kind == "token":
            if joined == "arrow" and stated:
                stated[-1] = word
            elif joined in ("start", "or"):
                stated.append(word)
            else:
                break
            joined = "end"
        elif kind == "arrow":
            joined = "arrow" if stated else joined
        elif kind == "slot" and joined == "arrow":
            continue
        elif kind == "or" and stated:
            joined = "or"
        elif stated and (kind in ("word", "cue", "of") or (kind == "small" and joined != "or")):
            joined = "end"
    return stated


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
        if reader.committed and _QUESTION.match(sentence) and reader.start not in sentence.upper():
            break  # it goes on with a question of its own
        reader.read(sentence)
    if _breaks_off(text, known):
        token = reader.committed if reader.sure else None
    else:
        token = reader.result()
    token = token or _all_that_is_said(text)
    if token is None:
        return None
    token = spellings.get(token, token)
    return NhopAnswer(token, _slots(text, item.depth) if view.mode == "steps" else ())


_LAST_TOKEN = re.compile(rf"{_TOKEN}$")


def _breaks_off(text: str, known: set[str]) -> bool:
    """Whether a text ends inside a token: with one that the item does not have and too few digits.

    What stands before it are steps on the way then.
    """
    last = _LAST_TOKEN.search(text[-40:])
    return (
        last is not None
        and last[0].upper() not in known
        and len(last[0]) < min(map(len, known), default=0)
    )


def _all_that_is_said(text: str) -> str | None:
    """The token of a reply that says nothing else, whatever its layer."""
    symbols = list(_LEXER.symbols(text[:MAX_PHRASE]))
    tokens = {word.upper() for kind, word in symbols if kind == "token"}
    bare = {kind for kind, _ in symbols} <= {"token", "small", "cue"} and len(text) < MAX_PHRASE
    bare = bare and not _ASKS.match(text)
    return tokens.pop() if bare and len(tokens) == 1 else None


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
