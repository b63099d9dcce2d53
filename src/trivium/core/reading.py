"""Words and sentences that every benchmark reads replies with.

What the grammars of the benchmarks share, on the plain text of `trivium.core.markup`: sentences and
a lexer, words that open an answer, correct, suppose, deny or doubt, options, "none", refusals.
Every pattern is bounded, so that the time is linear in the length of a reply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from trivium.core.languages import in_english
from trivium.core.markup import (
    json_as_lines,
    plain,
    split_reasoning,
    tables_as_lines,
    visible_replies,
)

__all__ = [
    "ANSWER_WORDS",
    "CORRECTION_WORDS",
    "HYPOTHETICAL_WORDS",
    "NEGATION_WORDS",
    "UNSURE_WORDS",
    "YES_OR_NO",
    "Found",
    "Lexer",
    "Symbol",
    "chosen_option",
    "is_none",
    "is_refusal",
    "is_undecided",
    "is_unsure",
    "json_as_lines",
    "plain",
    "sentences",
    "split_reasoning",
    "tables_as_lines",
    "visible_replies",
    "withdraws",
]

_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)[\"')\]]{0,3}\s+|\n+")


def sentences(text: str) -> list[str]:
    """The sentences and lines of a plain text, without empty ones."""
    return [part for piece in _SENTENCE_END.split(text) if (part := piece.strip())]


Symbol = tuple[str, str]  # what kind of word it is, and the word


class Found(NamedTuple):
    """A word of a text, its kind and where it stands."""

    kind: str
    start: int
    end: int
    text: str


class Lexer:
    """Turns a text into symbols: one pattern for each kind of word, the first that fits counts."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self._kinds = list(words)
        parts = [f"(?P<k{number}>{pattern})" for number, pattern in enumerate(words.values())]
        self._pattern = re.compile("|".join(parts), re.IGNORECASE | re.MULTILINE)

    def found(self, text: str) -> Iterator[Found]:
        """Yields every word that has a kind."""
        for found in self._pattern.finditer(text):
            kind = self._kinds[int(str(found.lastgroup)[1:])]
            yield Found(kind, found.start(), found.end(), found[0])

    def symbols(self, text: str) -> Iterator[Symbol]:
        """Yields the kind and the text of every word that has a kind."""
        return ((word.kind, word.text) for word in self.found(text))


# What opens an answer.
ANSWER_WORDS = (
    r"\b(?:final[\s_-]?)?(?:answer|ans|result|solution|conclusion|output|verdict|guess)\b"
)
# What opens a correction of what was said before.
CORRECTION_WORDS = (
    r"\b(?:wait(?! (?:for|until|to))|actually|(?:scratch|strike|scrap|forget) that|correction"
    r"|hold on|hmm+|oops|on second thought|never ?mind|my bad|typo|should read"
    r"|make (?:that|it)(?= [a-z]_?[0-9])"
    r"|let me (?:re-?(?:check|consider|do|think|trace|verify|examine|read|compute)|double[\s-]check"
    r"|correct)|i (?:made|see|found|spotted) (?:a|an|my|the) (?:mistake|error|slip)|my mistake"
    r"|i (?:misread|misspoke|mean|meant|was wrong|stand corrected|take that back)|sorry|apologies"
    r"|(?:or )?rather(?! than)|edit|revised|corrected|no,"
    r"|that(?:'s| is| was) (?:wrong|incorrect|not right)|re-?check(?:ing)?)\b"
)
_WITHDRAWN = re.compile(
    r"\b(?:(?:scratch|strike|scrap|forget|disregard|ignore) (?:that|the above|my)|never ?mind"
    r"|take that back|withdraw|i was wrong|misread|not right|mistaken"
    r"|(?:is|was|that's|it's|made an?|my) (?:wrong|incorrect|mistake|error))\b",
    re.IGNORECASE,
)


def withdraws(sentence: str) -> bool:
    """Whether a correction says that what was said before is wrong."""
    return _WITHDRAWN.search(sentence) is not None


# Words that make a statement about something else than what is: "if it were ...".
HYPOTHETICAL_WORDS = (
    r"\b(?:would|were|had|if|unless|suppose|supposing|assuming|wrong|incorrect|distractors?|decoys?"
    r"|tempting|trap|mislead\w{0,5}|ignor\w{1,4}|irrelevant|unlike|ruled? out|rules out"
    r"|eliminat\w{1,4}|exclud\w{1,4}|rejects?|rejected|discard\w{0,3}|other candidates?"
    r"|other (?:chains?|options?|lines?)|alternatives?)\b"
)
NEGATION_WORDS = (
    r"\b(?:not|never|neither|nor|isn't|aren't|wasn't|weren't|cannot|can't|don't|doesn't"
    r"|won't|rather than|instead of|except|excluding|other than|as opposed to|without|no longer)\b"
)
# "Unsure" as a claim about what can be known.
_NOT = (
    r"(?:[a-z]{2,6}n't|not|cannot|never|no one can|nobody can|hardly|fails? to"
    r"|(?:unable|able|impossible|hard|difficult|insufficient|(?:no|any|a) way) (?:to|of))"
)
_RATHER = (
    r"(?:be|so|that|yet|entirely|fully|completely|quite|totally|very|100%|really|reliably|nearly"
    r"|definitively|possible to|let us|let me|allow us to|help us|sufficient to|enough to)"
)
_KNOW = (
    r"(?:tell(?:ing)?|told|know(?:n|ing|able)?|say(?:ing)?|said|sure|certain|clear|possible|obvious"
    r"|determin(?:e|ed|ing|able)|decid(?:e|ed|ing|able)|infer(?:red)?|conclu(?:de|ded|sive)"
    r"|distinguish(?:ed)?|reveal|settled?|establish(?:ed)?|identif(?:y|ied|iable)|resolved?|discern"
    r"|pin(?:ned)? down|rule (?:out )?either|differentiate|discriminate|figure out|commit"
    r"|sufficient"
    r"|confident|show which|indicate which|work out|ascertain|matched|assigned|classified|likened"
    r"|worked out|made out|revealed|choose|chosen|pick(?:ed)?|claim|answer(?:ed)?|made|drawn"
    r"|enough (?:information|info|evidence|data|to))"
)
UNSURE_WORDS = (
    r"\b(?:un(?:sure|certain\w{0,3}|clear|(?:der-?)?determined|known|knowable|decided|decidable"
    r"|resolved|settled|specified|answerable|answered|determinable|identified)"
    r"|in(?:determinate|determinable|distinguishable|conclusive|sufficient\w{0,2})"
    r"|ambiguous|ambiguity|underspecified|open question"
    r"|impossible (?:to|for)"
    r"|(?:leaves?|left|remains?|stays?|kept|keeps?)(?: [a-z]{1,9}){0,2} open"
    r"|unable to|not able to|in doubt|doubtful"
    r"|(?:consistent|compatible) with both|fits? both|either could|(?:could|may|might"
    r"|can) be either"
    r"|both (?:are |remain )?possible|equally (?:likely|possible|consistent|plausible|well)"
    r"|a toss-?up|50(?=\s?%[^.\n]{1,60}\b50\s?%)|50[/-]50|coin[\s-]flip|who knows|either way"
    r"|no (?:telling|knowing|saying|idea|clue)|anyone's guess|your guess is as good as mine"
    r"|up in the air|beats me|idk|dunno|agnostic|too (?:little|few|early)|lacks?|lacking"
    r"|no (?:(?:definite|definitive|clear|certain|firm|unique|single|determinate|final|safe) )?"
    r"(?:answer|conclusion|way|match|verdict|decision|judge?ment)(?! (?:of|that))"
    r"|(?:withhold|reserve|suspend)(?:ing)? (?:[a-z]{1,6} )?judge?ment|(?:have to|must|i'll) pass"
    r"|no (?:evidence|information|indication|basis|grounds|reason|way)(?: [a-z]{1,6}){0,2}"
    r" (?:to|for|of|about|on|as to) (?:[a-z]{1,6} ){0,2}"
    r"(?:tell|say|cho|decid|know|prefer|which|either|pick|favou?r|distinguish|one over)[a-z]{0,5}"
    r"|(?:[a-z]{2,6}n't|not) (?:allow|permit|support|justify) (?:a|any|me|us|the)"
    r"(?: [a-z]{1,10}){0,2} (?:decision|conclusion|choice|answer|verdict|comparison)"
    r"|(?:[a-z]{2,6}n't|not|without|no) (?:have |having |give |provide )?(?:enough|sufficient"
    r"|adequate)"
    r" (?:information|info|evidence|data)"
    r"|nothing (?:[a-z]{2,9} ){0,4}(?:separates?|distinguish|favou?rs?|tells?|settles?|decides?)"
    rf"|{_NOT} (?:{_RATHER} |(?!blicket|li[gtk]|an? |the |one |that )[a-z]{{2,9}} ){{0,3}}"
    rf"{_KNOW})\b"
)
_UNSURE = re.compile(UNSURE_WORDS, re.IGNORECASE)


def is_unsure(sentence: str) -> bool:
    """Whether a sentence says that something cannot be known."""
    return _UNSURE.search(sentence) is not None


# The answer to a question, at once or after some thought: "Yes.", "So no."
YES_OR_NO = re.compile(
    r"(?P<so>(?:so|therefore|hence|thus|answer|verdict)[,:]? (?:the answer is )?)?"
    r"(?:(?P<yes>yes|definitely)|(?P<no>no|not)|(?P<maybe>maybe|perhaps|possibly|unclear|unknown))"
    r"\b(?(so)(?=[.,;!]|$)|(?! (?:one|object|other)))",
    re.IGNORECASE,
)
_CHOICE_LEFT = re.compile(
    r"\b(?:undecided|preference|n(?:'t|ot) prefer|depends on (?:how|what|whether|which)"
    r"|torn between|on the fence"
    r"|(?:cannot|can't|couldn't|could not|unable to|rather not|won't|will not)"
    r" (?:choose|pick|decide|commit|take sides|make up my mind))\b",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\b(?:which|either|between|the two|them|these)\b", re.IGNORECASE)


def is_undecided(sentence: str) -> bool:
    """Whether a sentence says that no choice is made between what was named before."""
    left = is_unsure(sentence) and _BETWEEN.search(sentence) is not None
    return left or _CHOICE_LEFT.search(sentence) is not None


_OPTION_WORD = r"(?:option|possibility|alternative|candidate|scenario|interpretation|reading)"
_OPTION_NUMBER = r"#?([1-9a-d]|one|two|three)\b"
_OPTION = re.compile(
    rf"(?:^\W{{0,4}}|(?<=[.;:] )){_OPTION_WORD} {_OPTION_NUMBER}"
    r"(?:[ \t]{0,3}\([^()\n]{0,60}\))?[ \t]{0,3}(?:[:.)-]|$)\s{0,9}",
    re.IGNORECASE | re.MULTILINE,
)
_CHOICE = re.compile(
    r"\b(?:go(?:ing)? with|choose|choosing|pick|prefer|select|take|favou?r|opt for|commit to|final"
    rf"|stick with)\b[^.\n]{{0,40}}\b{_OPTION_WORD} {_OPTION_NUMBER}"
    rf"|\b{_OPTION_WORD} {_OPTION_NUMBER} (?:is|seems|looks) (?:my |the |more |most )?"
    r"(?:right|better|best|correct|likely|answer|choice|final|plausible)",
    re.IGNORECASE,
)


def chosen_option(text: str) -> str:
    """The text without the numbered options that it does not choose.

    "Option 1: X. Option 2: Y. I can't tell." chooses none of them. A text that goes on otherwise
    stays as it is.
    """
    found = list(_OPTION.finditer(text))
    if len(found) < 2:
        return text
    end = _end_of_option(text, found[-1].end())
    ends = [*(option.start() for option in found[1:]), end]
    before, after = text[: found[0].start()], text[end:]
    for choice in reversed(list(_CHOICE.finditer(after))):
        number = (choice[1] or choice[2]).lower()
        for option, stop in zip(found, ends, strict=True):
            if option[1].lower() == number:
                return before + text[option.end() : stop] + after
    left_open = any(is_undecided(each) or is_unsure(each) for each in sentences(after)[-2:])
    return before + after if left_open else text


def _end_of_option(text: str, start: int) -> int:
    """Where the last option ends: at a blank line, or at a line that is about the options."""
    end = start
    for line in text[start:].splitlines(keepends=True):
        if end > start and (
            not line.strip() or _CHOICE.search(line) or is_undecided(line) or is_unsure(line)
        ):
            break
        end += len(line)
    return end


_NONE = re.compile(
    r"(?:there (?:are|is) |we |i )?(?:(?:need|require|have)s? )?"
    r"(?:n/?a|n\.a\.?|nil|null|nobody|empty(?: set| list)?|not applicable|void|0|-{1,3}|not any"
    r"|\[\s?\]|\{\s?\}|\(\s?\)|set\(\)"
    r"|(?:not (?:needed|required|necessary)|unnecessary)(?: [a-z]{1,9}){0,3}"
    r"|(?:none|no|zero|nothing|without)(?: of (?:the|them|these)\b)?(?: [a-z-]{1,14}){0,7}"
    r"|ningun[ao]?|aucune?|keine[rs]?|nenhuma?|nessun[ao]?|geen|ing(?:a|en|et)|brak|žádn[áéý]"
    r"|yok|tidak ada|không(?: có)?|ei mitään|nincs|нет|немає|कोई नहीं|لا شيء|אין|ไม่มี"
    r"|[\u65e0\u7121]|没有|沒有|なし|없음)",
    re.IGNORECASE,
)


def is_none(text: str) -> bool:
    """Whether a value says that a list is empty: none, N/A, [], -, "no control variables"."""
    return len(text) < 80 and _NONE.fullmatch(text.strip(" \t\n.\"'!<>")) is not None


# A refusal: "I can't" with "help", or words that decline, name a policy or a limit.
_CANNOT = (
    r"(?:can(?:no|')t|can not|won't|will not|unable to|not able to|(?:unwilling|declin(?:e|ing)"
    r"|refus(?:e|ing)|(?:choose|prefer|rather) not|(?:do not|don't) (?:wish|want|feel comfortable)"
    r"|not (?:going|willing|permitted|allowed|authori[sz]ed|prepared|supposed|comfortable"
    r"|at liberty|in a position|programmed|designed))(?: to| with)?)"
)
_SERVE = (
    r"(?:help(?:ing)?(?! but)|assist|comply|support you|be of (?:help|assistance)|take part"
    r"|participat|engag(?:e|ing)|proceed|continu(?:e|ing) (?:with|this)|fulfil|discuss|share"
    r"|respond(?:ing)? to|(?:do|complete|process)(?:ing)? (?:that"
    r"|this|your|so)\b|answer(?:ing)? (?:that|this|these|such|your|(?:any )?questions?)"
    r"|provid(?:e|ing) (?:that|this|(?:an?|the|any) (?:answer|response)|assistance|help)"
    r"|play(?:ing)? (?:this|the|that)|make (?:a|any) moves?|design (?:this|that|the|an)\b"
    r"|responsibly (?:say|answer|tell))"
)
_POLICY = r"(?:guidelines|polic(?:y|ies))"
_REFUSAL = re.compile(
    rf"\b{_CANNOT} (?:(?:\w{{2,12}} ){{0,3}}{_SERVE}|(?:answer|say more)[.!]?$)"
    rf"|\b(?:against|violat\w{{1,3}}|breach\w{{0,3}}) (?:[a-z']{{2,9}} ){{0,3}}{_POLICY}"
    rf"|\b{_POLICY} (?:do(?:es)? not|don't|doesn't|prohibits?|forbids?|prevents?|violation)\b"
    r"|\bi (?:(?:must|have to|will|am going to|respectfully) ){0,3}(?:decline|refuse)\b"
    r"|\bgoing to have to (?:decline|refuse|pass)\b|\brequest (?:declined|denied|refused)\b"
    r"|\b(?:sorry|afraid|no),? (?:but )?i (?:can't|cannot|won't|will not)[.!]?$"
    r"|\bas an? (?:\w{2,6} )?(?:language model|ai|assistant)\b[^.\n]{0,60}"
    r"\b(?:can't|cannot|am (?:not able|unable))\b|\bnot something (?:that )?i(?: can| am|'m)\b"
    r"|\b(?:outside|beyond) (?:of )?(?:the scope of )?(?:what i|my (?:capabilit|scope|abilit))",
    re.IGNORECASE | re.MULTILINE,
)
MAX_REFUSAL = 1000  # characters; a refusal is short


def is_refusal(text: str) -> bool:
    """Whether a reply, in which no answer was found, clearly declines to give one."""
    short = plain(text[: MAX_REFUSAL + 1])
    said = (short.strip(), in_english(short).strip())
    return len(short) <= MAX_REFUSAL and any(map(_REFUSAL.search, said))
