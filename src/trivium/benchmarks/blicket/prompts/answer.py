"""Writing an answer, and reading it back from free text.

A reply is made plain and split into sentences (`trivium.core.reading`); `parse_blickets` finds what
each sentence says about objects, `parse_structure` which machine the new one is said to be like.
JSON, tables and fields become lines first; a line is a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from trivium.benchmarks.blicket.prompts.evidence import UNSURE, PromptAnswer, forms_of
from trivium.benchmarks.blicket.prompts.generate import PromptItem
from trivium.benchmarks.blicket.prompts.parse_blickets import Claims
from trivium.benchmarks.blicket.prompts.parse_structure import Known, parse_structure
from trivium.benchmarks.blicket.prompts.phrases import SHAPES, mentions
from trivium.benchmarks.blicket.prompts.render import asks_for_lines, in_sentences
from trivium.benchmarks.blicket.prompts.spec import PromptView
from trivium.core import reading
from trivium.core.languages import in_english


def write_answer(answer: PromptAnswer, view: PromptView) -> str:
    """A reply that gives this answer."""
    if view.reply == "free" or (view.reply == "auto" and view.prompt == "two_shot"):
        return in_sentences(answer)
    lines = [f"Blickets: {', '.join(answer.blickets) or 'none'}"]
    if answer.maybe:
        lines.append(f"Maybe blickets: {', '.join(answer.maybe)}")
    if answer.like is not None:
        lines.append(f"Machine: {answer.like}")
    return "\n".join(lines)


def strict(item: PromptItem, replies: Sequence[str], view: PromptView) -> bool | None:
    """Whether a reply ends with the two lines that were asked for; None in any words."""
    if not asks_for_lines(item, view):
        return None
    lines = ["", "", *replies[-1].strip().split("\n")]
    if item.matched and lines[-2].startswith("Maybe blickets: "):
        del lines[-2]  # the third line that matched evidence asks for
    *_, blickets, machine = lines
    names = blickets.removeprefix("Blickets: ").split(", ")
    listed = names == ["none"] or set(names) <= set(item.objects)
    answers = [f"Machine: {each}" for each in (*item.known, "unsure")]
    return blickets.startswith("Blickets: ") and listed and machine in answers


def parse(item: PromptItem, replies: Sequence[str], view: PromptView) -> PromptAnswer | None:
    """The answer in the last reply; None where it says nothing about blickets or machines."""
    sentences = split_sentences(replies[-1])[: view.sentences]
    *forms, _ = forms_of(item.machines)
    known = Known(item.known, tuple(forms), item.new.pattern)
    said = _read(item, sentences, known)
    part = _without_explanations(sentences[_final_part(sentences, asks_for_lines(item, view))])
    final = said if len(part) == len(sentences) else _read(item, part, known)
    # What a final part says counts, and the rest of the reply where it says nothing.
    claims = final[0] if final[0].status else said[0]
    like = final[1] or said[1]
    if not claims.any_claim and (like is None or _is_left_open(replies[-1], like)):
        return None
    return PromptAnswer(claims.named("yes"), claims.named("maybe"), like)


def _is_left_open(reply: str, like: str) -> bool:
    """Whether the doubt is about whole answers: "Option 1: ... Option 2: ... I can't tell."."""
    text = reading.plain(reply)
    return like == UNSURE and reading.chosen_option(text) != text


def _read(item: PromptItem, sentences: list[Sentence], known: Known) -> tuple[Claims, str | None]:
    claims = Claims(item.objects, item.new.objects, [*item.known, item.new.pattern])
    for sentence in sentences:
        claims.read(sentence.text, opens_line=sentence.opens_line)
    return claims, parse_structure([sentence.text for sentence in sentences], known)


_FINAL = re.compile(
    rf"(?:so |my |the |in ){{0,2}}(?:(?:{reading.ANSWER_WORDS}|final (?:answer|verdict)s?|summary"
    r"|conclusions?|in short|to sum up|overall|to summari[sz]e)[\s:]{0,3}(?:$|(?<=:)))"
)


def _final_part(sentences: Sequence[Sentence], lines_asked: bool) -> slice:
    """The final part of a reply: what follows the last heading, or the asked lines."""
    start, end = 0, len(sentences)
    texts = [sentence.text for sentence in sentences]
    for number, sentence in enumerate(texts):
        if _FINAL.match(sentence) or (lines_asked and sentence.startswith("blickets:")):
            start = number
    while start and texts[start - 1].startswith(("maybe blickets:", "machine:")):
        start -= 1
    if lines_asked and texts[start:]:
        last = [n for n in range(start, end) if texts[n].startswith(("machine:", "maybe bl"))]
        if last and not any(_CORRECTED.search(each) for each in texts[last[-1] :]):
            end = last[-1] + 1 + texts[last[-1]].endswith(":")
    return slice(start, end)


_EXPLANATION = re.compile(
    r"(?:brief |short |my |the |here's |here is ){0,2}(?:explanation|reasoning|rationale"
    r"|justification"
    r"|why|because|how|details?|derivation|notes?|proof|confidence)\b[a-z' ]{0,30}[:?]"
)
_ANSWER_LINE = re.compile(
    r"(?:the )?(?:objects? that )?(?:must|may|might|can(?:not|'t)?|definite|certain|possible|not"
    r"|non"
    r"|maybe|sure|blicket|machine|detector|answer|final|conclusion|result|summary)"
)


def _without_explanations(sentences: list[Sentence]) -> list[Sentence]:
    """The sentences without sections that explain: from "Explanation:" to the next answer line."""
    kept: list[Sentence] = []
    explains = False
    for sentence in sentences:
        if sentence.opens_line:
            explains = _EXPLANATION.match(sentence.text) is not None or (
                explains and _ANSWER_LINE.match(sentence.text) is None
            )
        if not explains:
            kept.append(sentence)
    return kept


_CORRECTED = re.compile(reading.CORRECTION_WORDS)


# A field in the middle of a line becomes a line of its own.
_FIELD = re.compile(
    r"(^|[,;.)\]|] {1,9})((?:(?:maybe|no|not|non|possibl[ey]|possibly|uncertain|must|may|or|be"
    r"|might"
    r"|can|cannot|could|definite|definitely|certain|certainly|sure|a|an|the|only|new|known)[\s-])"
    r"{0,8}blickets?|machine(?: type)?|detector|(?:behaves|works) like)\s{0,3}[:=](?!\s{0,3}\")"
    rf"|(\b(?:{'|'.join(SHAPES)}|none)s? {{1,3}})((?:maybe |not |non-|possible )?blickets?"
    r"|machine)\s{0,3}[:=]",
    re.MULTILINE,
)
_QUOTES = re.compile(r"[\"{<]+|(?<![-=])>+|(?<![a-z])'|'(?![a-z])")
_BULLET = re.compile(r"^[ \t|&]{0,9}(?:(?:-|\d{1,2}[.)])[ \t]+)?", re.MULTILINE)
_LEADER = re.compile(r"(?<![.!?\n])[ \t](?:-{1,2}|\.{3,60})[ \t]|\.{4,60}")
_VERDICT = re.compile(
    r"\b(?:blickets?|must|may|might|maybe|possibl[ey]|definite(?:ly)?|certain|not|no|non|unsure"
    r"|uncertain|unknown|undetermined|ruled out|open|verdict|status|conclusion|assessment)\b"
)


_SAYS = re.compile(r"[^\W\d_]|[?\u2713\u2717]")


def _is_verdict(cell: str) -> bool:
    return _VERDICT.search(cell) is not None and not mentions(cell)


class Sentence(NamedTuple):
    """A sentence of a reply, and whether it opens a line."""

    text: str
    opens_line: bool


def split_sentences(reply: str) -> list[Sentence]:
    """The sentences of a reply in lower case; a bullet, a row and a field are sentences."""
    text = in_english(reading.chosen_option(reading.plain(reply)).lower()).replace(
        "tl;dr", "answer: "
    )
    text = reading.tables_as_lines(text, _is_verdict, one_column=True)
    text = reading.json_as_lines(text)
    text = _BULLET.sub("", re.sub(r"[ \t]{2,}", " ", text))
    text = _QUOTES.sub(" ", _FIELD.sub(r"\1\3\n\2\4:", text))
    text = _LEADER.sub(": ", text)
    found: list[Sentence] = []
    for line in re.sub(r"[ \t]{2,}", " ", text).split("\n"):
        parts = [part for part in reading.sentences(line) if _SAYS.search(part)]
        found += [Sentence(part, number == 0) for number, part in enumerate(parts)]
    return found
