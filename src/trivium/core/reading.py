"""How a reply is read: by the answer contract, the same in every benchmark.

A prompt asks for a last line of its own, `ANSWER: <value>`. Reasoning blocks are dropped, markup is
unwrapped, and the last ANSWER line counts, or the whole reply if it is nothing but a value. What
cannot be read is no answer. Every pattern is bounded, so that the time is linear in the length.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from trivium.core.benchmark import ASK

MAX_READ = 100_000  # characters at the end of a reply in which an answer is looked for


class SplitReply(NamedTuple):
    """A reply without its reasoning blocks."""

    visible: str
    finished: bool  # False where a reasoning block was opened and never closed


_TAG = r"(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|tool_calls?)"
_BLOCK = re.compile(
    r"[<\u25c1\[](?:"  # first, since a set of characters is searched for fastest
    rf"(?P<open>(?<=[<\u25c1]){_TAG}[>\u25b7]|(?<=\[){_TAG}\]"
    r"|(?<=<)\|channel\|>\s?(?:analysis|commentary)\b[^<\n]{0,80}(?:<\|message\|>)?)"
    rf"|(?P<close>(?<=[<\u25c1])/{_TAG}[>\u25b7]|(?<=\[)/{_TAG}\])"
    r"|(?P<end>(?<=<)\|(?:end\|>"
    r"|(?:start\|>assistant<\|)?channel\|>\s?final\s?(?:<\|message\|>)?)))",
    re.IGNORECASE,
)
# The end of a turn in the templates of models; what a model writes below it is another's turn.
_TURN_END = re.compile(r"<\|(?:im_end|eot_id|endoftext|end_of_text)\|>|<end_of_turn>|</s>")


def split_reasoning(text: str) -> SplitReply:
    """A reply without its reasoning blocks, and whether the last of them was closed."""
    visible: list[str] = []
    depth = start = 0
    for found in _BLOCK.finditer(text):
        if not depth:
            visible.append(text[start : found.start()])
        if found["open"]:
            depth = 1 if "channel" in found[0].lower() else depth + 1
        elif depth:
            depth -= 1
        elif found["close"]:
            visible = []  # the prompt opened the block: all before its end is reasoning
        start = found.end()
    if not depth:
        visible.append(text[start:])
    own_turn = _TURN_END.split("".join(visible), maxsplit=1)[0].strip()
    return SplitReply(own_turn[-MAX_READ:], depth == 0)


def visible_replies(replies: Sequence[str]) -> list[str]:
    """Replies without their reasoning blocks: what benchmarks read."""
    return [split_reasoning(reply).visible for reply in replies]


_SIGNS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u2032\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", ""),
        **dict.fromkeys("\u2028\u2029\u0085\r", "\n"),
        **dict.fromkeys("\u3010\u27e8", "["),
        **dict.fromkeys("\u3011\u27e9", "]"),
        **dict.fromkeys("\u2192\u21d2\u27f6", "->"),
        "\u3001": ",",
        "\u3002": ". ",
    }
)
_EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff\ufe0f"
_UNWRAPPED = (  # a sign that has to be there, a pattern and what takes its place, in this order
    ("its own", re.compile(rf"{ASK}\s{{0,3}}[^\n]*", re.IGNORECASE), ""),  # the prompt, repeated
    ("", re.compile(rf"(?<=\w) ?[{_EMOJI}]+ ?(?=[A-Z])"), ". "),  # an emoji ends a sentence
    ("", re.compile(rf"[{_EMOJI}\u2190-\u21ff]"), ""),  # other emoji, and arrows
    ("```", re.compile(r"^ ?(?:> )?```[^\n]*$", re.MULTILINE), ""),  # code fences
    ("\\", re.compile(r"\\([_#%&{}])"), r"\1"),
    ("\\", re.compile(r"\\\\(?=\s|$)"), "\n"),
    ("\\", re.compile(r"\\[()\[\],;:! ]|\\(?:quad|left|right|displaystyle)\b"), " "),
    ("\\", re.compile(r"\\[A-Za-z]{2,12} ?\{"), "{"),  # \boxed{, \text{
    ("_{", re.compile(r"_\{(\w{1,20})\}"), r"_\1"),
    ("$", re.compile(r"\$"), ""),
    ("<", re.compile(r"<[/|]?[A-Za-z][A-Za-z_|-]{0,20} ?[/|]?>"), " "),  # tags, special tokens
    ("", re.compile(r"^ ?(?:(?:-?>|#{1,6}|[-*+\u2022]|\d{1,2}[.)]) )+", re.MULTILINE), ""),
    ("#", re.compile(r" #{1,6} ?$", re.MULTILINE), ""),  # the end of a heading
    ("~~", re.compile(r"~~[^~\n]{1,999}~~"), ""),  # struck out
    ("", re.compile(r"[*`]+|~~"), ""),
    ("_", re.compile(r"(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)"), ""),  # emphasis
    ("|", re.compile(r"^ ?\| ?| ?\| ?$", re.MULTILINE), ""),  # the ends of table rows
)
_SPACES, _BLANK_LINES = re.compile(r"[^\S\n]+"), re.compile(r" ?\n ?\n\s*")


def plain(text: str) -> str:
    """The text without Markdown, LaTeX and tags, with one spelling of every sign."""
    text = html.unescape(text).replace("\r\n", "\n").translate(_SIGNS)
    text = unicodedata.normalize("NFKC", text).translate(_SIGNS)
    text = _BLANK_LINES.sub("\n\n", _SPACES.sub(" ", text))
    for sign, pattern, replacement in _UNWRAPPED:
        if sign in text:
            text = pattern.sub(replacement, text)
    return re.sub(r"(?<=[:=]) ?(?:\[ ?\]|\{ ?\})", " none", _json_as_lines(text))


_KEY = re.compile(r"\s*(?:final_)?answer\s*", re.IGNORECASE)
_OBJECT = re.compile(r"^ ?(?:answer ?[:=|] ?)?(\{)\s{0,9}\"", re.IGNORECASE | re.MULTILINE)


def _json_as_lines(text: str) -> str:
    """The text with JSON objects written as lines `key: value`, an object of answers as ANSWER."""
    for found in [*_OBJECT.finditer(text)][-3:][::-1]:  # only the last ones: each costs time
        try:
            held, end = json.JSONDecoder().raw_decode(text, found.start(1))
        except (ValueError, RecursionError):
            continue
        text = f"{text[: found.start(1)]}{'; '.join(_fields(held))}{text[end:]}"
    return text


def _fields(held: Mapping[str, Any]) -> Iterator[str]:
    """The entries of a JSON object as `key: value`; those from the answer on begin a line."""
    names = ["ANSWER" if _KEY.fullmatch(key) else key.replace("_", " ") for key in held]
    line = ""
    for name, value in zip(names, held.values(), strict=True):
        line = "\n" if name == "ANSWER" else line
        stated = isinstance(value, str) and value.startswith("ANSWER") and "ANSWER" not in names
        yield f"\n{value}" if stated else f"{line}{name}: {_written(value)}"


def _written(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(_fields(value)).strip()
    if isinstance(value, list):
        return ", ".join(map(_written, value)) or "none"
    return "none" if value is None else str(value)


_ANSWER = re.compile(
    r"(?:^|(?<=\| ))[ {\[(\"']{0,9}(?:(?:my|the) )?(?:final )?answer[\"'\])]{0,3}(?: is)?"
    r"(?: ?(?:[:=|\]]|->) ?| - |(?-i:(?<=ANSWER) )| ?$)",
    re.IGNORECASE | re.MULTILINE,
)
_WRAPPING = " \t\n\"'[](){}<>|"
_REMARK = re.compile(r" \(| - (?=[A-Za-z])|,? (?:because|since|as)\b|[.!](?= )")
raises_doubt = re.compile(  # whether a text has a word of choice or doubt
    r"\b(?:or|if|either(?! way)|unless|maybe|perhaps|might|could|(?:not |un)sure|alternatively"
    r"|actually|wait|instead)\b|\?",
    re.IGNORECASE,
).search
_CHOICE = re.compile(r"\b(?:or|if|either|alternatively|otherwise|suppose)\b", re.IGNORECASE)
_NO_WORD = re.compile(r"(?:[\s.,:]|\band\b)*", re.IGNORECASE)
# At the beginning of a line, "Option 1:" or "(b)"; steps follow each other.
_LABEL = re.compile(r"\W{0,4}(?!step)([a-z]{0,20}) ?\(?\b(\d\d?|[a-z])(?:[:.)]| \(|$)", re.I)
# An ANSWER line in the middle of a sentence: what is below it, and "I would have written" above it.
_LOWER_CASE = re.compile(r"\n?[a-z][^:=\n]*(?:\n|\Z)")
_CONTRAST = re.compile(r"\n?(?:but|however|yet)\b", re.IGNORECASE)
_HYPOTHESIS = re.compile(r"\b(?:if|would|suppose)\b[^.!?\n]*\Z", re.IGNORECASE)
# Where a base model goes on with a question of its own.
_NEXT_QUESTION = re.compile(
    r"(?i)\n(?:let's think step by step|(?:human|user|question|input|q|task|problem|example|facts"
    r"|observations)(?: \d{1,3})? ?:)"
)
# Whether a text below an ANSWER line takes it back; the first two words where they open a clause.
takes_back = re.compile(
    r"(?:^|[^\w\s]) ?(?:\w{1,9} )?(?:wait|actually)\b"
    r"|\b(?:correct(?:ion|ed)|on (?:second thought|reflection)|scratch that|never ?mind|i meant"
    r"|hold on|start over|discard|(?:is|was|does)n't (?:look |seem )?right"
    r"|(?:my|a) mistake|withdraw|retract|disregard|ignore (?:that|this|the|my)"
    r"|(?:is|was) (?:wrong|incorrect|not (?:right|correct)))\b",
    re.IGNORECASE | re.MULTILINE,
).search


class Stated(NamedTuple):
    """What a reply gives as its answer, without markup."""

    values: list[str]  # the value in each extent in which it may be read, the longest first
    labelled: bool  # whether there is an ANSWER line; without one the value is the whole reply
    text: str  # the whole reply
    after: str = ""  # what follows the line of the value, and any remark on it


def own_part(text: str, start: int) -> str:
    """The text up to where, after `start`, the model goes on with a question of its own."""
    found = _NEXT_QUESTION.search(text, start)
    return text[: found.start()] if found else text


def find_answer(reply: str, fields: Iterable[str] = ()) -> Stated:
    """The value of the last ANSWER line of a reply, or the whole reply where there is none."""
    text = plain(reply)
    first = _ANSWER.search(text)
    if first is None:
        text = own_part(text, 1)
        return Stated([stripped(text)], False, text)
    text = own_part(text, first.end())
    lines = list(_ANSWER.finditer(text))
    if _says_two(text, lines[-2:]):
        return Stated([], True, text)
    value = text[lines[-1].end() :].lstrip().replace(",\n", ", ")  # a list over several lines
    line, _, below = value.partition("\n")
    found = _REMARK.search(line)
    end = found.start() if found and not raises_doubt(line[found.start() :]) else len(line)
    after = f"{line[end:]}\n{below}"
    extents = [value.partition("\n\n")[0], line, line[:end]]
    above = text[: lines[-1].start()].rstrip()
    hypothetical = _CONTRAST.match(below) and _HYPOTHESIS.search(above[-300:])
    in_sentence = above[-1:] not in ".!?" and (hypothetical or _LOWER_CASE.match(below))
    if in_sentence and below.startswith("\n"):
        extents = []
    elif in_sentence or (fields and re.search(rf"(?i)\b(?:{'|'.join(fields)})\s?[:=]", after)):
        extents = extents[:1]  # a field below the value belongs to it
    values = [] if takes_back(after) else dict.fromkeys(map(stripped, extents))
    return Stated(list(values), True, text, after)


def _says_two(text: str, lines: list[re.Match[str]]) -> bool:
    """Whether the last two ANSWER lines have different values and nothing chooses between them."""
    if len(lines) < 2:
        return False
    line, _, between = text[lines[0].end() : lines[1].start()].partition("\n")
    last = text[lines[1].end() :].partition("\n")[0]
    first, second = ({stripped(line), stripped(_REMARK.split(line)[0])} for line in (line, last))
    chosen = not (_NO_WORD.fullmatch(between) or _CHOICE.search(between))
    chosen = chosen and not are_options(*(text[: line.start()] for line in lines))
    return not (chosen or "" in first | second or first & second)


def are_options(one: str, other: str) -> bool:
    """Whether the last lines of two texts have labels that differ in number or letter alone."""
    first, second = (_LABEL.match(text.rstrip().rpartition("\n")[2]) for text in (one, other))
    same_word = first and second and first[1].casefold() == second[1].casefold()
    return bool(first and second and same_word and first[2] != second[2])


def without_remarks(text: str, names: str) -> str:
    """The text without remarks in parentheses, unless they raise doubt or match these names."""
    if "(" not in text:
        return text  # most texts, for which compiling the names would take longest
    kept = re.compile(rf"\b(?:and|with|{names})\b", re.IGNORECASE)

    def shown(found: re.Match[str]) -> str:
        return found[0] if kept.search(found[0]) or raises_doubt(found[0]) else ""

    return re.sub(r"\s\([^()\n]{3,200}\)", shown, text)


def stripped(text: str) -> str:
    """The text without what wraps it: quotes, brackets around all of it, a full stop."""
    text = text.strip(_WRAPPING)
    return text if text.endswith("..") else text.rstrip(".!,;").strip(_WRAPPING)


def read_fields(text: str, names: Mapping[str, str], head: str = "") -> dict[str, str] | None:
    """The fields of a value, by name; None where one has two values.

    `names` has the pattern of each name. Fields come in any case and order, as `name: value` or
    `name value`, between semicolons or on lines. A part without a name continues the field before
    it, or is `head` if it comes first.
    """
    any_name = "|".join(names.values())
    text = re.sub(rf"(?i)(?<=[\s,;|])[\"']?(?=\b(?:{any_name})[\"']?\s?[:=|])", ";", f"\n{text}")
    fields: dict[str, list[str]] = {}
    name = head
    for part in filter(None, (stripped(part) for part in re.split(r"[;\n]", text))):
        own = [
            (key, stripped(found[1]))
            for key, pattern in names.items()
            if (found := re.fullmatch(rf"(?i)(?:{pattern})\b[\"']?(?: - |\s?[:=|]?\s?)(.*)", part))
        ]
        name, value = own[0] if own else (name, part)
        if not name or (own and fields.get(name, [value]) != [value]):
            return None
        if own:
            fields[name] = []
        fields.setdefault(name, []).append(value)
    return {name: "; ".join(filter(None, values)) for name, values in fields.items()}


_NONE = re.compile(r"none|nothing|no|null|nil|n/a|empty|-", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*(?:,|;|&|\band\b|\n)\s*", re.IGNORECASE)


def read_list(text: str) -> tuple[str, ...]:
    """The names in a list with commas, "and" or brackets; none for "none"."""
    if _NONE.fullmatch(stripped(text)):
        return ()
    parts = (stripped(part) for part in _BETWEEN.split(text))
    return tuple(dict.fromkeys(filter(None, parts)))
