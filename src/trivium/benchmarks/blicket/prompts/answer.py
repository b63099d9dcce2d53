"""Writing an answer and reading it back from free text."""

from __future__ import annotations

import re

from trivium.benchmarks.blicket.prompts.item import PromptAnswer, PromptItem
from trivium.benchmarks.blicket.prompts.parse_blickets import Claims
from trivium.benchmarks.blicket.prompts.parse_structure import likeness
from trivium.benchmarks.blicket.prompts.render import speak
from trivium.benchmarks.blicket.prompts.spec import PromptView


def write(answer: PromptAnswer, view: PromptView) -> str:
    """The reply that states this answer."""
    if view.reply == "free":
        return speak(answer)
    lines = [f"Blickets: {', '.join(answer.blickets) or 'none'}"]
    if answer.maybe:
        lines.append(f"Maybe blickets: {', '.join(answer.maybe)}")
    if answer.like is not None:
        lines.append(f"Machine: {answer.like}")
    return "\n".join(lines)


def parse(item: PromptItem, reply: str, view: PromptView) -> PromptAnswer | None:
    """The answer in a reply; None where it says nothing of blickets or machines."""
    told = sentences(reply)
    if view.sentences is not None:
        told = told[: view.sentences]
    if view.reply == "lines":
        told = _last_lines(told)
    claims = Claims(item.objects, item.new.objects)
    for sentence in told:
        claims.read(sentence)
    like = likeness(told, item.known, item.new.pattern)
    if not claims.said and like is None:
        return None
    return PromptAnswer(claims.named("yes"), claims.named("maybe"), like)


_DECORATION = re.compile(r"[*_`\"\u201c\u201d#]+|\\\\boxed")
# Marks as words, arrows as colons; a dash says what an object is only before such words.
_WRITTEN_OUT = (
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


def sentences(reply: str) -> list[str]:
    """The sentences of a reply in lower case; a list of bullets is one sentence."""
    plain = _DECORATION.sub("", reply.lower())
    for pattern, words in _WRITTEN_OUT:
        plain = pattern.sub(words, plain)
    plain = _BULLET.sub(", ", plain)
    return [sentence for part in _SENTENCE_END.split(plain) if (sentence := part.strip())]


def _last_lines(told: list[str]) -> list[str]:
    """From the last line that starts with "Blickets:", where there is one."""
    starts = [place for place, line in enumerate(told) if line.startswith("blickets:")]
    return told[starts[-1] :] if starts else told
