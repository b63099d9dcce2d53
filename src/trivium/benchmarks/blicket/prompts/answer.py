"""Writing an answer, and reading it back from free text.

A reply is made plain and split into sentences (`trivium.core.reading`); `parse_blickets` finds what
each sentence says about objects, `parse_structure` which machine the new one is said to be like.
JSON, tables and lists become sentences first: a bulleted list is one sentence, a field is a line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from trivium.benchmarks.blicket.prompts.evidence import PromptAnswer, forms_of
from trivium.benchmarks.blicket.prompts.generate import PromptItem
from trivium.benchmarks.blicket.prompts.parse_blickets import Claims
from trivium.benchmarks.blicket.prompts.parse_structure import Known, parse_structure
from trivium.benchmarks.blicket.prompts.render import in_sentences
from trivium.benchmarks.blicket.prompts.spec import PromptView
from trivium.core import reading


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


def strict(item: PromptItem, replies: Sequence[str], view: PromptView) -> bool | None:
    """Whether a reply ends with the two lines that were asked for; None in any words."""
    if view.reply == "free":
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
    if view.reply == "lines":
        starts = [n for n, line in enumerate(sentences) if line.startswith("blickets:")]
        sentences = sentences[starts[-1] :] if starts else sentences
    claims = Claims(item.objects, item.new.objects, [*item.known, item.new.pattern])
    for sentence in sentences:
        claims.read(sentence)
    *forms, _ = forms_of(item.machines)
    like = parse_structure(sentences, Known(item.known, tuple(forms), item.new.pattern))
    if not claims.any_claim and like is None:
        return None
    return PromptAnswer(claims.named("yes"), claims.named("maybe"), like)


# A field of JSON or of a list on one line becomes a line of its own.
_FIELD = re.compile(
    r"[\s,;{|-]{1,9}\"?((?:maybe|not|non|possible|uncertain)?[\s_-]?blickets?|machine|detector|like"
    r"|behaves[\s_]like|similar[\s_]to|structure|machine[\s_]type|type)\"?\s{0,3}:(?!\s{0,3}\")"
    r"|[{,]\s{0,9}\"([a-z_ ]{1,40})\"\s{0,3}:"
)
_ROW = re.compile(
    r"^\|\s?((?:maybe |non-)?blickets|machine|detector|structure)\s?\|(?!\s?(?:machine|detector))",
    re.M,
)
_LIST_LINE = re.compile(r"^(?:- )?(?:maybe |non-)?blickets?:[^\n]{0,500}$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"<[^<>\n]{0,80}\bor\b[^<>\n]{0,40}>")  # the form, copied from the prompt
_QUOTES = re.compile(r"[\"{}<>]+|(?<![a-z])'|'(?![a-z])")
# A dash is a colon only before words that say what an object is, and a comma otherwise.
_DASH = re.compile(
    r"\s-\s(?=(?:yes|no|not|non|an?|is|it|maybe|possibly|blicket|true|false|likely|unclear)\b)"
)
_SPACED_DASH = re.compile(r"(?<=[^\s|])[ \t]-[ \t]")
_BULLET = re.compile(
    r"(?<=[^\s?])\s*\n\s{0,9}(?:-|\d{1,2}[.)])\s(?!\s?[\u2713\u2717]|[^\n?]{0,200}\?)"
)
_NOTHING = re.compile(
    r"^(?:the )?((?:maybe )?blickets?(?: are| is)?\s?:)\s{0,3}([^\n]{1,60})$", re.M
)


def split_sentences(reply: str) -> list[str]:
    """The sentences of a reply in lower case; a bulleted list is one sentence."""
    text = _PLACEHOLDER.sub(" ", reading.plain(reply).lower())
    text = _ROW.sub(r"\1: ", text)
    text = _FIELD.sub(lambda found: f"\n{_field_name(found[1] or found[2])}: ", text)
    text = _QUOTES.sub(" ", text.replace("->", " : ").replace("=>", " : "))
    text = _LIST_LINE.sub(lambda found: re.sub(r"[;|]", ",", found[0]), text)
    text = _NOTHING.sub(
        lambda found: f"{found[1]} none" if reading.is_none(found[2]) else found[0], text
    )
    text = _SPACED_DASH.sub(", ", _DASH.sub(": ", text))
    return reading.sentences(re.sub(r"[ \t]{2,}", " ", _BULLET.sub(", ", text)))


def _field_name(key: str) -> str:
    """A key of JSON as an answer line has it; a name of an object stays."""
    words = re.sub(r"[\s_-]+", " ", key).strip()
    if words.endswith(("blicket", "blickets")):
        denied = words.startswith(("not", "non"))
        hedged = words.startswith(("maybe", "possible", "uncertain"))
        return "non-blickets" if denied else "maybe blickets" if hedged else "blickets"
    return "machine" if words in _MACHINE_KEYS else words


_MACHINE_KEYS = (
    "machine",
    "detector",
    "like",
    "behaves like",
    "similar to",
    "structure",
    "machine type",
    "type",
)
