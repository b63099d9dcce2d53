"""Text as models write it, made plain.

A reply is read in three steps: reasoning blocks are split off (`split_reasoning`, once, by the
dialogue), what is left is made plain (`plain`: no markup, one spelling of every sign; JSON and
tables as lines), and the grammar of the benchmark finds the answer in it (`trivium.core.reading`).
Every pattern is bounded or stops at the sign that it looks for, so that the time is linear in the
length of a reply, whatever it holds.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

MAX_READ = 50_000  # characters at the end of a reply that are read: the last word counts


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply without its reasoning blocks, and the text of those."""

    visible: str
    reasoning: str = ""
    finished: bool = True  # False where a reasoning block was opened and never closed


_NAME = (
    r"(?:[a-z]{1,12}[:_-]?)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflect(?:ion)?|monologue)"
    r"(?:[_ -](?:process|content|steps|trace|block))?|scratch_?pad|analysis|chain_of_thought|cot"
)
_SQUARE = r"(?:think|thinking|thoughts?|reasoning|scratchpad)\]"
_LEFT, _RIGHT = r"(?:[<\uff1c\u25c1]|&lt;)\s?", r"\s?(?:[>\uff1e\u25b7]|&gt;)"
_BAR = r"[|\uff5c]"
_CHANNEL = r"(?:<\|start\|>\s?assistant\s?)?<\|channel\|>\s?"
_MARKS = {  # what opens a block, what closes one, and what closes one only where it was opened
    "open": (
        rf"{_LEFT}(?:{_NAME})(?:\s[^<>]{{0,80}})?{_RIGHT}|\[{_SQUARE}",  # <think>, [THINK]
        rf"<{_BAR}(?:(?:begin|start)_(?:of_)?)?(?:{_NAME})(?:_start)?{_BAR}>",
        rf"{_CHANNEL}(?:analysis|commentary|thought)\b[^<]{{0,80}}(?:<\|message\|>)?",
        r"<details\s[^<>]{0,80}reasoning[^<>]{0,80}>",
        r"<details>\s{0,9}<summary>[^<>]{0,60}(?:think|thought|reason)[^<>]{0,60}</summary>",
        r"<unused94>|\A(?-i:analysis(?=[A-Z]))",
    ),
    "close": (
        rf"{_LEFT}/\s?(?:{_NAME}){_RIGHT}|\[/{_SQUARE}",
        rf"<{_BAR}(?:end_(?:of_)?|/)(?:{_NAME}){_BAR}>|<{_BAR}(?:{_NAME})_end{_BAR}>",
        r"^\.{3}\s?done thinking\.?$|^here is my (?:final )?response:|\[begin final response\]",
        r"<unused95>|(?-i:assistantfinal)",
    ),
    "end": (rf"</details>|<\|end\|>|{_CHANNEL}final\s?(?:<\|message\|>)?",),
}
_BLOCK = re.compile(
    "|".join(f"(?P<{kind}>{'|'.join(marks)})" for kind, marks in _MARKS.items()),
    re.IGNORECASE | re.MULTILINE,
)
# "Thinking: ..." up to the last "Answer:" at the start of a line.
_THINKING = re.compile(
    r"\W{0,9}(?:thinking|thoughts?|thought process|my thinking|inner monologue|chain of thought"
    r"|scratchpad)\W{0,4}(?::|\n)",
    re.IGNORECASE,
)
_ANSWER_LINE = re.compile(
    r"^\W{0,9}(?:(?:final|my) )?(?:answer|response|reply|output)\W{0,4}(?::|$)",
    re.IGNORECASE | re.MULTILINE,
)


def split_reasoning(text: str) -> Reply:
    """A reply split into what it says and its reasoning blocks, closed, unfinished or unopened."""
    visible: list[str] = []
    reasoning: list[str] = []
    depth = start = 0
    length = len(text.rstrip())
    for found in _BLOCK.finditer(text):
        piece = text[start : found.start()]
        if found["open"]:
            (reasoning if depth else visible).append(piece)
            # A channel follows a channel; other blocks may stand inside each other.
            depth = 1 if "|channel|" in found[0] else depth + 1
        elif depth:
            reasoning.append(piece)
            depth -= 1
        elif found["close"] and not (reasoning and found.end() == length):
            # The opening tag stood in the prompt: all before the closing one is reasoning.
            reasoning += [*visible, piece]
            visible = []
        else:
            visible.append(piece)
        start = found.end()
    (reasoning if depth else visible).append(text[start:])
    said = "".join(visible).strip()
    if _THINKING.match(said) and (answers := list(_ANSWER_LINE.finditer(said))):
        place = answers[-1].start()
        reasoning.append(said[:place])
        said = said[place:].strip()
    return Reply(said[-MAX_READ:], "".join(reasoning).strip(), depth == 0)


def visible_replies(replies: Sequence[str]) -> list[str]:
    """Replies without their reasoning blocks: what benchmarks read."""
    return [split_reasoning(reply).visible for reply in replies]


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
        **dict.fromkeys("\u2022\u25cf\u25aa\u2023\u25e6", "-"),
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
        **dict.fromkeys("\u2248\u2245\u2243\u223c\u2259\u2261", " is like "),
        **dict.fromkeys("\u2247\u2241\u2249\u2262", " is not like "),
        "\u2208": " is in ",
        "\u2209": " is not in ",
        "\u2227": " and ",
        "\u2228": " or ",
        "\u2205": " none ",
        "\u00a0": " ",
    }
)
_LATEX_WORDS = {
    "to|(?:long)?rightarrow|(?:R|Longr)ightarrow|implies|(?:long)?mapsto|leadsto": " -> ",
    "emptyset|varnothing": " none ",
    "neq|ne": " is not ",
    "checkmark": " \u2713 ",
    "supseteq|supset|ni": " = ",
    "in": " is in ",
    "notin": " is not in ",
    "land|wedge": " and ",
    "lor|vee": " or ",
    "therefore": " therefore ",
    "textunderscore": "_",
    "newline": "\n",
}
_LATEX = re.compile(
    "|".join(
        rf"(?P<l{number}>\\(?:{words})(?![A-Za-z]))" for number, words in enumerate(_LATEX_WORDS)
    )
)
_LATEX_VALUES = list(_LATEX_WORDS.values())
_WRAPPED = re.compile(  # a command and its argument
    r"\\(?:text)?color\s?\{[^{}]{0,40}\}|\\(?:begin|end)\{[a-z*]{1,20}\}(?:\{[a-z|]{0,20}\})?"
    r"|\\(?P<box>boxed|fbox|framebox|answer)\s?\{(?P<boxed>[^{}]*)\}"
    r"|\\[A-Za-z]{2,20}\*?\s?\{(?P<text>[^{}]*)\}|_\{(?P<below>[^{}]*)\}"
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
_BBCODE = re.compile(
    r"\[(b|i|u|s|code|quote|spoiler|center)\]([^\[\]]{0,2000})\[/\1\]"
    r"|\[(?:final[ _-]?)?answer\]([^\[\]]{0,2000})\[/(?:final[ _-]?)?answer\]",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"<!--(?:[^-]|-(?!->)){0,2000}-->")
_ENTITY = re.compile(r"&(?:#[0-9]{1,6}|#x[0-9a-f]{1,5}|[a-z]{2,20}[0-9]{0,2});", re.IGNORECASE)
_MARKDOWN = (
    (re.compile(r"^[ \t]{0,9}(?:```|~~~)[^\n`]{0,40}$", re.MULTILINE), ""),  # code fences
    (re.compile(r"~~[^~\n]{1,300}~~"), " "),  # what is struck out was taken back
    (re.compile(r"^[ \t>]{0,20}(?:#{1,6}[ \t]+)?", re.MULTILINE), ""),  # quotes and headings
    (re.compile(r"^(?:[-*+][ \t]+)\[x\][ \t]", re.MULTILINE | re.IGNORECASE), "- \u2713 "),
    (re.compile(r"^(?:[-*+][ \t]+)\[[ \t]?\][ \t]", re.MULTILINE), "- \u2717 "),
    (re.compile(r"^[*+\u00b7](?=[ \t])", re.MULTILINE), "-"),  # bullets
    (re.compile(r" {0,3}\u00b7 {0,3}"), ", "),
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

    Unwraps LaTeX, Markdown, XML-like tags, BBCode and special tokens. `boxed` is put before what
    stands in a box or in answer tags.
    """
    if "&" in text:
        text = _ENTITY.sub(lambda found: html.unescape(found[0]), text)
    text = unicodedata.normalize("NFKC", text.translate(_SIGNS)).translate(_SIGNS)
    if not text.isascii():
        text = _WRITING.sub(" ", text)
    if "<" in text:
        text = _PLACEHOLDER.sub(" ", _COMMENT.sub(" ", text))
        text = _TAG.sub(lambda found: _untagged(found, boxed), text)
        text = _TAGGED.sub(lambda found: f"\n{found[1].replace('_', ' ')}: {found[2]}\n", text)
    if "[/" in text:
        text = _BBCODE.sub(lambda found: found[2] or f"\n{boxed}{found[3] or ''}\n", text)
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
    text = re.sub(r"\\verb([|!+#])([^\n|!+#]{0,200})\1", r"\2", text)
    # Lines end in "\\\\", or in the "\n" of a JSON string.
    text = re.sub(r"\\\\(?=[\s\[&\\]|$)&?|\\n(?!e\b|eq|ewline|ot)", "\n", text)
    # Escaped braces are those of a set; escaped brackets and parentheses only open a formula.
    text = re.sub(r"\\([{}])", lambda found: "[" if found[1] == "{" else "]", text)
    text = re.sub(r"\\([_%&#*`~.!>\"'-])", r"\1", text)
    text = re.sub(r"(\\begin\{[a-z*]{1,20}\})\s{0,3}&|&(?=\s{0,3}[=\\])", r"\1 ", text)  # aligned
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
    text = re.sub(r"\\[A-Za-z]{2,20}", " ", text)  # \left, \bf, \quad, ...
    # "\[" opens a formula, unless it is an escaped bracket: "\[@ANSWER ...\]".
    text = re.sub(r"\\\[(?=\s{0,3}@)", "[", text)
    text = re.sub(r"\\\](?![^\[]{0,400}\\\[)", "]", text) if "[@" in text else text
    return re.sub(r"\\[\[\]()]", " ", text)


_KEY = re.compile(r"(?:^|[{,])\s{0,9}[\"']([^\W\d_][\w -]{0,60})[\"']\s{0,3}:", re.MULTILINE)


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
    first = ""  # the line of the header, until a row follows
    for line in text.split("\n"):
        row = line.strip().removeprefix("|").removesuffix("|")
        cells = [cell.strip() for cell in row.split("|")]
        if not line.strip().startswith("|"):
            if line.strip():
                lines += [first] if first else []
                header, first = [], ""
            lines.append(line)
        elif header and len(header) == len(cells):
            pairs = [(label, cell) for label, cell in zip(header, cells, strict=True) if cell]
            ticked = [
                label
                for label, cell in pairs
                if cell.lower() in ("\u2713", "x", "yes") and not is_label(header[0])
            ]
            first = ""
            said = [(label, cell) for label, cell in pairs if is_label(label)]
            if sum(map(is_label, header)) == 1:
                lines += [f"{cells[0]}: {cell}" for _, cell in said]
            else:
                rows = [f"{label}: {cell}" for label, cell in said]
                lines += [f"{cells[0]}: {' '.join(ticked)}"] if ticked else rows
        elif not header and sum(map(is_label, cells)) > 1 - (one_column and not is_label(cells[0])):
            header, first = cells, line
        else:
            lines += [first, line] if first else [line]
            header, first = [], ""
    return "\n".join([*lines, first] if first else lines)
