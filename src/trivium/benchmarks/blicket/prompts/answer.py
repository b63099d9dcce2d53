"""Writing an answer, and reading it back from free text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trivium.benchmarks.blicket.prompts.evidence import PromptAnswer
from trivium.benchmarks.blicket.prompts.generate import PromptItem
from trivium.benchmarks.blicket.prompts.parse_blickets import Claims
from trivium.benchmarks.blicket.prompts.parse_structure import parse_structure
from trivium.benchmarks.blicket.prompts.render import in_sentences
from trivium.benchmarks.blicket.prompts.spec import PromptView


def write_answer(answer: PromptAnswer, view: PromptView) -> str:
    """A reply that gives this answer."""
    if view.reply == "free":
        return in_sentences(answer)
    lines = [f"Blickets: {', '.join(answer.blickets) or 'none'}"]
    if answer.maybe:
        lines.append(f"Maybe blickets: {', '.join(answer.maybe)}")
    if answer.like is not None:
        lines.append(f"Machine: {answer.like}")
    return "\n".join(lines)


def parse(item: PromptItem, replies: Sequence[str], view: PromptView) -> PromptAnswer | None:
    """The answer in the last reply; None where it says nothing about blickets or machines."""
    sentences = split_sentences(replies[-1])[: view.sentences]
    if view.reply == "lines":
        starts = [n for n, line in enumerate(sentences) if line.startswith("blickets:")]
        sentences = sentences[starts[-1] :] if starts else sentences
    claims = Claims(item.objects, item.new.objects)
    for sentence in sentences:
        claims.read(sentence)
    like = parse_structure(sentences, item.known, item.new.pattern)
    if not claims.any_claim and like is None:
        return None
    return PromptAnswer(claims.named("yes"), claims.named("maybe"), like)


_MARKUP = re.compile(r"[*_`\"\u201c\u201d#]+|\\\\boxed")
# Check marks as words, arrows as colons; a dash is a colon only before words that say what an
# object is.
_REPLACEMENTS = (
    (re.compile("\u2019"), "'"),
    (re.compile("[\u2705\u2713\u2714\u2611]\ufe0f?"), " \u2713 "),
    (re.compile("[\u274c\u2717\u2718\u2716\u2612]\ufe0f?"), " \u2717 "),
    (re.compile("\u2260"), " is not "),
    (re.compile("->|=>|\u2192|\u21d2"), " : "),
    (re.compile("[<>{}]"), " "),
    (
        re.compile(r"\s[-\u2013\u2014]\s(?=(?:yes|no|not|non|an?|is|it|maybe|possibly|blicket)\b)"),
        ": ",
    ),
    (re.compile(r"\s[\u2013\u2014]\s"), ", "),
)
_BULLET = re.compile(
    r"(?<=[^\s?])\s*\n\s{0,9}(?:[-\u2022]|\d{1,2}[.)])\s(?![^\n?]{0,200}\?\s*?(?:\n|$))"
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


def split_sentences(reply: str) -> list[str]:
    """The sentences of a reply in lower case; a bulleted list is one sentence."""
    plain = _MARKUP.sub("", reply.lower())
    for pattern, words in _REPLACEMENTS:
        plain = pattern.sub(words, plain)
    plain = _BULLET.sub(", ", plain)
    return [sentence for part in _SENTENCE_END.split(plain) if (sentence := part.strip())]
