"""Pieces that every benchmark reads replies with.

A reply is read in three steps: reasoning blocks are split off (`split_reasoning`, once, by the
dialogue), what is left is made plain (`plain`: no markup, one spelling of every sign), and the
grammar of the benchmark finds the answer in it. What grammars share is here too: sentences,
lists, "none", "or", corrections, hedges and refusals. Every pattern is bounded or stops at the
sign that it looks for, so that the time is linear in the length of a reply, whatever it holds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trivium.core.languages import in_english


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply without its reasoning blocks, and the text of those."""

    visible: str
    reasoning: str = ""
    finished: bool = True  # False where a reasoning block was opened and never closed


_TAGS = (
    "think|thinking|thought|thoughts|reasoning|reason|reflection|scratchpad|analysis"
    "|inner_monologue|internal_monologue|antthinking|chain_of_thought|cot|seed:think"
)
_BLOCK = re.compile(
    rf"(?P<open><\s?(?:{_TAGS})(?:\s[^<>]{{0,80}})?>|\[(?:think|thinking|reasoning)\]"
    r"|<\|(?:begin_of_thought|start_thinking|begin_of_thinking|think_start|thinking)\|>"
    r"|\u25c1think\u25b7|<unused94>"
    r"|(?:<\|start\|>\s?assistant\s?)?<\|channel\|>\s?(?:analysis|commentary|thought)\b[^<]{0,80}"
    r"(?:<\|message\|>)?)"
    rf"|(?P<close><\s?/\s?(?:{_TAGS})\s?>|\[/(?:think|thinking|reasoning)\]"
    r"|<\|(?:end_of_thought|end_thinking|end_of_thinking|think_end|/thinking)\|>"
    r"|\u25c1/think\u25b7|<unused95>"
    r"|<\|end\|>|(?:<\|start\|>\s?assistant\s?)?<\|channel\|>\s?final\s?(?:<\|message\|>)?)",
    re.IGNORECASE,
)


MAX_READ = 50_000  # characters at the end of a reply that are read: the last word counts


def split_reasoning(text: str) -> Reply:
    """A reply split into what it says and its reasoning blocks, closed, unfinished or unopened."""
    if not any(mark in text for mark in "<[\u25c1"):
        return Reply(text.strip()[-MAX_READ:])
    visible: list[str] = []
    reasoning: list[str] = []
    depth = start = 0
    for found in _BLOCK.finditer(text):
        piece = text[start : found.start()]
        if found["open"]:
            (reasoning if depth else visible).append(piece)
            # A channel follows a channel; other blocks may stand inside each other.
            depth = 1 if "|channel|" in found[0] else depth + 1
        elif depth:
            reasoning.append(piece)
            depth -= 1
        elif not _is_end_of_message(found[0]):
            # The opening tag stood in the prompt: all before the closing one is reasoning.
            reasoning += [*visible, piece]
            visible = []
        else:
            visible.append(piece)
        start = found.end()
    (reasoning if depth else visible).append(text[start:])
    said = "".join(visible).strip()[-MAX_READ:]
    return Reply(said, "".join(reasoning).strip(), depth == 0)


def visible_replies(replies: Sequence[str]) -> list[str]:
    """Replies without their reasoning blocks: what benchmarks read."""
    return [split_reasoning(reply).visible for reply in replies]


def _is_end_of_message(mark: str) -> bool:
    """Whether a mark ends a message or opens the final one, and is no tag of a reasoning block."""
    return "|end|" in mark.lower() or "|channel|" in mark.lower()


# One spelling for every sign; NFKC does the rest (full-width letters and signs, spaces).
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2039\u203a\u00b4\u02bc", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u300c\u300d\u300e\u300f", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2212\ufe63", "-"),
        **dict.fromkeys("\u2013\u2014\u2015", " - "),
        **dict.fromkeys("\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad\ufe0e\ufe0f", ""),
        **dict.fromkeys("\u2028\u2029\u0085\x0b\x0c\r", "\n"),
        **dict.fromkeys("\u2192\u21d2\u27a1\u27f6\u2794\u21a6\u279c", " -> "),
        **dict.fromkeys("\u2022\u25cf\u25aa\u2023\u25e6\u00b7", "-"),
        **dict.fromkeys("\u3010\u3014\u27e8\u3016", "["),
        **dict.fromkeys("\u3011\u3015\u27e9\u3017", "]"),
        **dict.fromkeys("\u2705\u2713\u2714\u2611", " \u2713 "),
        **dict.fromkeys("\u274c\u2717\u2718\u2716\u2612\u274e", " \u2717 "),
        "\u3002": ". ",
        "\u0964": ". ",
        "\u060c": ", ",
        "\u061b": "; ",
        "\u3001": ", ",
        "\u2260": " is not ",
        "\u2248": " is like ",
        "\u2205": " none ",
        "\u00a0": " ",
    }
)
_LATEX_WORDS = {
    "to|rightarrow|Rightarrow|longrightarrow|implies|mapsto|leadsto": " -> ",
    "emptyset|varnothing": " none ",
    "neq|ne": " is not ",
    "checkmark": " \u2713 ",
    "land|wedge": " and ",
    "lor|vee": " or ",
    "therefore": " therefore ",
    "left|right|displaystyle|quad|qquad|large|Large|bf|it|rm|tt|centering|hfill": " ",
}
_LATEX = re.compile(
    "|".join(
        rf"(?P<l{number}>\\(?:{words})(?![A-Za-z]))" for number, words in enumerate(_LATEX_WORDS)
    )
)
_LATEX_VALUES = list(_LATEX_WORDS.values())
_WRAPPED = re.compile(
    r"\\(?P<box>boxed|fbox|framebox)\s?\{(?P<boxed>[^{}]*)\}"
    r"|\\(?:text|textbf|textit|texttt|textsf|textrm|textnormal|mathrm|mathbf|mathit|mathtt|mathsf"
    r"|mathcal|operatorname|mbox|emph|underline|bm|xrightarrow|color)\*?\s?\{(?P<text>[^{}]*)\}"
    r"|_\{(?P<below>[^{}]*)\}|\\(?:begin|end)\{[a-z*]{1,20}\}(?:\{[a-z|]{0,20}\})?"
)
_TAG = re.compile(
    r"<\s?(?P<answer>(?:final[_ -]?)?(?:answer|solution|result|output|response|reply))\s?>"
    r"|<sub>(?P<sub>[^<>]{1,20})</sub>|(?P<line><\s?/?\s?(?:br|p|div|li|ul|ol|tr|h[1-6])\s?/?\s?>"
    r"|<\s?/\s?(?:final[_ -]?)?(?:answer|solution|result|output|response|reply)\s?>)"
    r"|(?P<cell><\s?/?\s?(?:td|th|variable|item|name|value|var|entry|object)\s?/?>)"
    r"|<\|[a-z_]{1,30}\|>|</?s>|<\s?/?\s?(?:b|i|em|strong|code|pre|span|u|table|tbody|thead"
    r"|summary|details|final|tool_call|end_of_turn|eos|mark|sup|small|action|move|command)\s?/?>",
    re.IGNORECASE,
)
_TAGGED = re.compile(  # <field>value</field>
    r"<\s?([a-z][a-z_ -]{1,40})\s?>([^<>]{0,2000})<\s?/\s?[a-z][a-z_ -]{1,40}\s?>", re.IGNORECASE
)
_PLACEHOLDER = re.compile(r"<[^<>\n]{1,100} or [^<>\n]{1,100}>")  # of the form that was asked for
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&nbsp;": " ", "&amp;": "&"}
_ENTITY = re.compile("|".join(_ENTITIES))
_MARKDOWN = (
    (re.compile(r"^[ \t]{0,9}(?:```|~~~)[^\n`]{0,40}$", re.MULTILINE), ""),  # code fences
    (re.compile(r"~~[^~\n]{1,300}~~"), " "),  # what is struck out was taken back
    (re.compile(r"^[ \t>]{0,20}(?:#{1,6}[ \t]+)?", re.MULTILINE), ""),  # quotes and headings
    (re.compile(r"^(?:[-*+][ \t]+)\[x\][ \t]", re.MULTILINE | re.IGNORECASE), "- \u2713 "),
    (re.compile(r"^(?:[-*+][ \t]+)\[[ \t]?\][ \t]", re.MULTILINE), "- \u2717 "),
    (re.compile(r"^[*+](?=[ \t])", re.MULTILINE), "-"),  # bullets
    (re.compile(r"\[([^\[\]\n]{1,200})\]\((?:https?:|#)[^()\s]{1,300}\)"), r"\1"),  # links
    (re.compile(r"^[ \t]{0,9}(?:[-=_*][ \t]?){3,200}$|^[ \t|:-]{3,300}$", re.MULTILINE), ""),
    (re.compile(r"[`*]+"), ""),
    (re.compile(r"(?<=[A-Za-z])\s{0,9}_\s{0,9}(?=[0-9])"), "_"),
    (re.compile(r"(?<![A-Za-z0-9])_{1,9}|_{1,9}(?![A-Za-z0-9_])"), ""),  # emphasis
)
# Where letters of an alphabet and of another writing meet: "torus\u304c".
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_WRITING = re.compile(rf"(?<=[A-Za-z0-9])(?=[{_CJK}])|(?<=[{_CJK}])(?=[A-Za-z0-9])")
_BRACKETED = re.compile(r"\[[^\[\]]{0,2000}\]")
_NEWLINES = re.compile(r"\s*\n\s*")
_BLANK = re.compile(r"[ \t]{2,}")


def plain(text: str, boxed: str = "") -> str:
    """The text without markup and with one spelling of every sign.

    Unwraps LaTeX, Markdown, XML-like tags and special tokens. `boxed` is put before what stands
    in a box or in answer tags.
    """
    text = unicodedata.normalize("NFKC", text.translate(_SIGNS)).translate(_SIGNS)
    if not text.isascii():
        text = _WRITING.sub(" ", text)
    text = _ENTITY.sub(lambda found: _ENTITIES[found[0]], text)
    if "<" in text:
        text = _PLACEHOLDER.sub(" ", text)
        text = _TAG.sub(lambda found: _untagged(found, boxed), text)
        text = _TAGGED.sub(lambda found: f"\n{found[1].replace('_', ' ')}: {found[2]}\n", text)
    if "\\" in text or "_{" in text:
        text = _without_latex(text, boxed)
    text = text.replace("$", " ")
    for pattern, words in _MARKDOWN:
        text = pattern.sub(words, text)
    text = _BRACKETED.sub(lambda found: _NEWLINES.sub(" ", found[0]), text)
    return _BLANK.sub(" ", text)


def _untagged(found: re.Match[str], boxed: str) -> str:
    if found["answer"]:
        return f"\n{boxed}"
    if found["sub"]:
        return f"_{found['sub']}"
    return "\n" if found["line"] else " " if found["cell"] else ""


def _without_latex(text: str, boxed: str) -> str:
    # Escaped braces are those of a set; escaped brackets and parentheses only open a formula.
    text = re.sub(r"\\\\(?=[\s\[]|$)", "\n", text)
    text = re.sub(r"\\([{}])", lambda found: "[" if found[1] == "{" else "]", text)
    text = re.sub(r"\\([_%&#*`~.!>-])", r"\1", text)
    text = _LATEX.sub(lambda found: _LATEX_VALUES[int(str(found.lastgroup)[1:])], text)
    text = re.sub(r"\\[,;: ]", " ", text)

    def unwrapped(found: re.Match[str]) -> str:
        if found["box"]:
            return f"\n{boxed}{found['boxed']}\n" if boxed else f" {found['boxed']} "
        if found["below"] is not None:
            return f"_{found['below']}"
        return found["text"] or ""

    for _ in range(6):  # the innermost first
        text, count = _WRAPPED.subn(unwrapped, text)
        if not count:
            break
    # "\[" opens a formula, unless it is an escaped bracket: "\[@ANSWER ...\]".
    text = re.sub(r"\\\[(?=\s{0,3}@)", "[", text)
    text = re.sub(r"\\\](?![^\[]{0,400}\\\[)", "]", text) if "[@" in text else text
    return re.sub(r"\\[\[\]()]", " ", text)


_KEY = re.compile(r"(?:^|[{,])\s{0,9}[\"']([A-Za-z][A-Za-z_ -]{0,60})[\"']\s{0,3}:", re.MULTILINE)


def json_as_lines(text: str) -> str:
    """The text with every field of a JSON object on a line of its own: "key: value"."""
    return _KEY.sub(lambda found: f"\n{found[1].replace('_', ' ')}: ", text)


def tables_as_lines(text: str, is_label: Callable[[str], bool], *, one_column: bool = False) -> str:
    """The text with tables that have labels in their first row written as "label: cell" lines.

    A tick in a cell becomes "first cell: label". `one_column`: where one column has a label, its
    cells are what is said about the first ones. Other tables stay as they are.
    """
    lines: list[str] = []
    header: list[str] = []
    for line in text.split("\n"):
        row = line.strip().removeprefix("|").removesuffix("|")
        cells = [cell.strip() for cell in row.split("|")]
        if not line.strip().startswith("|"):
            header = header if not line.strip() else []
            lines.append(line)
        elif header and len(header) == len(cells):
            pairs = [(label, cell) for label, cell in zip(header, cells, strict=True) if cell]
            ticked = [
                label for label, cell in pairs if cell == "\u2713" and not is_label(header[0])
            ]
            said = [(label, cell) for label, cell in pairs if is_label(label)]
            if sum(map(is_label, header)) == 1:
                lines += [f"{cells[0]}: {cell}" for _, cell in said]
            else:
                rows = [f"{label}: {cell}" for label, cell in said]
                lines += [f"{cells[0]}: {' '.join(ticked)}"] if ticked else rows
        elif not header and sum(map(is_label, cells)) > 1 - (one_column and not is_label(cells[0])):
            header = cells
        else:
            header = []
            lines.append(line)
    return "\n".join(lines)


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
    r"\b(?:wait(?! (?:for|until|to))|actually|scratch that|strike that|correction|hold on"
    r"|hmm+|oops|on second thought"
    r"|let me (?:re-?(?:check|consider|do|think|trace|verify|examine|read|compute)|double[\s-]check"
    r"|correct)|i (?:made|see|found|spotted) (?:a|an|my|the) (?:mistake|error|slip)|my mistake"
    r"|i (?:misread|was wrong|misspoke|take that back)|i mean|sorry|apologies|rather(?! than)|edit"
    r"|revised|corrected|no,|that(?:'s| is| was) (?:wrong|incorrect|not right)|re-?check(?:ing)?)\b"
)
_WITHDRAWN = re.compile(
    r"\b(?:scratch|strike) that\b|\b(?:wrong|incorrect|mistaken|mistake|error|not right|misread"
    r"|take that back|withdraw|disregard|ignore (?:that|the above))\b",
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
    r"|enough (?:information|info|evidence|data|to))"
)
UNSURE_WORDS = (
    r"\b(?:un(?:sure|certain\w{0,3}|clear|(?:der-?)?determined|known|knowable|decided|decidable"
    r"|resolved|specified|answerable|determinable)|in(?:determinate|determinable|distinguishable"
    r"|conclusive|sufficient\w{0,2})|ambiguous|ambiguity|underspecified|open question|impossible"
    r"|(?:leaves?|left|remains?)(?: [a-z]{1,9}){0,2} open|unable to|not able to|in doubt|doubtful"
    r"|(?:consistent|compatible) with both|fits? both|either could|(?:could|may|might"
    r"|can) be either"
    r"|both (?:are |remain )?possible|equally (?:likely|possible|consistent|plausible|well)"
    r"|a toss-?up|50(?=\s?%[^.\n]{1,60}\b50\s?%)|50[/-]50|coin[\s-]flip|who knows|either way"
    r"|no (?:telling|knowing|saying|idea|clue)|anyone's guess|your guess is as good as mine"
    r"|up in the air|beats me|idk|dunno|agnostic|too (?:little|few|early)|lacks?|lacking"
    r"|no (?:definite|definitive|clear|certain|firm|unique|single) (?:answer|conclusion|way|match)"
    r"|no (?:evidence|information|indication|basis|grounds)"
    r" (?:to (?:tell|decide|say|choose)|(?:about|on|as to) which|for either)"
    r"|(?:[a-z]{2,6}n't|not|without|no) (?:have |having |give |provide )?(?:enough|sufficient"
    r"|adequate)"
    r" (?:information|info|evidence|data)"
    rf"|{_NOT} (?:{_RATHER} ){{0,3}}{_KNOW})\b"
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
    r"|(?:cannot|can't|couldn't|could not|unable to) (?:choose|pick))\b",
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
    r"(?:none|no|n/?a|n\.a\.?|nil|null|nothing|nobody|empty(?: set| list)?|not applicable"
    r"|void|zero|0"
    r"|(?:not (?:needed|required|necessary)|unnecessary)(?: [a-z]{1,9}){0,3}|not any"
    r"|-{1,3}|\[\s?\]|\{\s?\}|\(\s?\)|set\(\)"
    r"|(?:none|no|zero|nothing|without)(?: of (?:the|them|these)\b)?(?: [a-z-]{1,14}){0,7}"
    r"|ningun[ao]?|aucune?|keine[rs]?|nenhuma?|nessuna?|geen|inga?|brak|\u043d\u0435\u0442|\u65e0|\u7121"
    r"|\u6ca1\u6709|\u306a\u3057|\uc5c6\uc74c)",
    re.IGNORECASE,
)


def is_none(text: str) -> bool:
    """Whether a value says that a list is empty: none, N/A, [], -, "no control variables"."""
    return len(text) < 80 and _NONE.fullmatch(text.strip(" \t\n.\"'!<>")) is not None


_REFUSAL = re.compile(
    r"\b(?:can(?:no|')t|can not|am unable to|'m unable to|am not able to|'m not able to|won't"
    r"|will not|must decline to|have to decline to|decline to|refuse to|not going to"
    r"|unable to|not comfortable) ?(?:be able to )?(?:\w{2,12} )?"
    r"(?:help|assist|comply|take part|proceed|play (?:this|the|that)|fulfil|fulfill|engage"
    r"|participate|support you"
    r"|answer (?:that|this|(?:any )?questions?)"
    r"|respond to (?:that|this)|provide (?:that|this|an answer|the answer|assistance|help)"
    r"|do (?:that|this)|complete (?:that|this)|design (?:this|that|the|an)|discuss"
    r"|process (?:that|this) request|continue with)"
    r"|\b(?:against|violates?) (?:my|our|the|openai|company)[\w' ]{0,20} (?:guidelines|policy"
    r"|policies)"
    r"|\bi (?:must|have to|respectfully) (?:respectfully )?(?:decline|refuse)\b"
    r"|\b(?:i am|i'm) sorry,? (?:but )?i (?:can't|cannot|won't)\.?$"
    r"|\bas an? (?:\w{2,6} )?(?:language model|ai|assistant)\b[^.\n]{0,60}"
    r"\b(?:can't|cannot|am (?:not able|unable))\b"
    r"|\bnot something (?:i|that i)(?: can|'m able to) (?:help|assist)\b",
    re.IGNORECASE,
)
MAX_REFUSAL = 1000  # characters; a refusal is short


def is_refusal(text: str) -> bool:
    """Whether a reply, in which no answer was found, clearly declines to give one."""
    short = plain(text[: MAX_REFUSAL + 1])
    said = (short.strip(), in_english(short).strip())
    return len(short) <= MAX_REFUSAL and any(map(_REFUSAL.search, said))
