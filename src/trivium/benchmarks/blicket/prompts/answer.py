"""Writing an answer, and reading it back from free text.

A reply is made plain and split into sentences; `blicket.replies` finds what each of them says about
objects (`claims`) and which machine the new one is said to be like (`machines`).
JSON, tables and fields become lines first; a line is a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from trivium.benchmarks.blicket.prompts.evidence import UNSURE, PromptAnswer, forms_of
from trivium.benchmarks.blicket.prompts.generate import PromptItem
from trivium.benchmarks.blicket.prompts.render import asks_for_lines, in_sentences
from trivium.benchmarks.blicket.prompts.spec import PromptView
from trivium.benchmarks.blicket.replies.parse_blickets import Claims
from trivium.benchmarks.blicket.replies.parse_structure import Known, parse_structure
from trivium.benchmarks.blicket.replies.sentences import Sentence, split_sentences
from trivium.core import reading


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
    sentences = split_sentences(reading.chosen_option(reading.plain(replies[-1])))[: view.sentences]
    *forms, _ = forms_of(item.machines)
    known = Known(item.known, tuple(forms), item.new.pattern, item.new.objects)
    said = _read(item, sentences, known)
    part = _without_explanations(sentences[_final_part(sentences, asks_for_lines(item, view))])
    texts = [sentence.text for sentence in sentences]
    final = said if len(part) == len(sentences) else _read(item, part, known)
    # What a final part says counts, and the rest of the reply where it says nothing.
    claims = final[0] if final[0].status else said[0]
    like = final[1] or said[1]
    answer = PromptAnswer(claims.named("yes"), claims.named("maybe"), like)
    if not claims.any_claim and (like is None or _is_left_open(replies[-1], like)):
        return None
    said_nothing = not claims.status and not claims.none and like is None
    if said_nothing and not texts[-1].endswith((".", "!")):
        return None  # an analysis that was cut off, a question in return
    if _is_undecided(texts):
        return None
    if claims.either and not answer.blickets and like in (None, UNSURE):
        return None  # "It is A or B."
    if answer.blickets:
        return answer
    declines = any(map(_NO_ANSWER.search, texts)) or reading.is_refusal(replies[-1])
    return None if declines else answer


def _is_undecided(texts: Sequence[str]) -> bool:
    """Whether a reply leaves a choice of answers: "(a) Blickets: A (b) Blickets: B"."""
    answers = sum(text.startswith("blickets:") for text in texts)
    if answers < 2 or any(map(_CORRECTED.search, texts)):
        return False
    return any(map(reading.is_undecided, texts))


_NO_ANSWER = re.compile(
    r"\b(?:[a-z]{2,6}n't|cannot|not|unable to)(?: [a-z]{2,9}){0,2}"
    r" (?:commit to|give|offer|settle on)(?: you)? (?:an|any|one)(?: [a-z]{2,9})? answer\b"
)


def _is_left_open(reply: str, like: str) -> bool:
    """Whether the doubt is about whole answers: "Option 1: ... Option 2: ... I can't tell."."""
    text = reading.plain(reply)
    return like == UNSURE and (reading.chosen_option(text) != text or reading.is_refusal(text))


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
    r"(?:brief |short |quick |sanity |a |my |the |here's |here is |as a ){0,3}(?:(?:explanation"
    r"|reasoning|rationale|justification|why|because|how|details?|derivation|notes?|proof"
    r"|confidence|verification|check|caveat|evidence|what would help|next steps?|further tests?)"
    r"\b[a-z' ]{0,30}(?:[:?.]|$)"
    r"|(?:let me |let's |to |i )?(?:double[- ]?)?(?:check(?:ing)?|verify(?:ing)?)\b"
    r"|for completeness|(?:to|in order to) (?:settle|resolve|find out|decide)\b)"
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
