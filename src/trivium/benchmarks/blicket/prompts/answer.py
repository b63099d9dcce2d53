"""Writing and reading answers, by the answer contract if the prompt asks for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from trivium.benchmarks.blicket.prompts.evidence import UNSURE, PromptAnswer
from trivium.benchmarks.blicket.prompts.free_reply import read_sentences
from trivium.benchmarks.blicket.prompts.generate import PromptItem
from trivium.benchmarks.blicket.prompts.render import STEP_BY_STEP, asks_for_lines, in_sentences
from trivium.benchmarks.blicket.prompts.spec import PromptView
from trivium.core.benchmark import answer_line, object_schema
from trivium.core.reading import find_answer, read_fields, read_list, without_remarks


def write(item: PromptItem, answer: PromptAnswer, view: PromptView) -> str:
    """The reply that states this answer."""
    if not asks_for_lines(item, view):
        return in_sentences(answer)
    return _line(answer, maybe_asked=not item.paper)


def write_to(prompt: str, answer: PromptAnswer) -> str:
    """The reply that states this answer in the form requested by a prompt."""
    *_, last = prompt.removesuffix(f"\n\n{STEP_BY_STEP}").split("\n")
    if not last.startswith("ANSWER: "):
        return in_sentences(answer)
    return _line(answer, maybe_asked="; maybe: " in last)


def _line(answer: PromptAnswer, *, maybe_asked: bool) -> str:
    fields = {"blickets": ", ".join(answer.blickets) or "none"}
    if maybe_asked or answer.maybe:
        fields["maybe"] = ", ".join(answer.maybe) or "none"
    if answer.like is not None:
        fields["machine"] = answer.like
    return answer_line("; ".join(f"{name}: {value}" for name, value in fields.items()))


def schema(item: PromptItem, view: PromptView) -> dict[str, Any] | None:
    """The JSON schema of an answer; None if the prompt requests no form."""
    if not asks_for_lines(item, view):
        return None
    objects = {"type": "array", "items": {"type": "string", "enum": list(item.objects)}}
    machine = {"type": "string", "enum": [*item.known, UNSURE]}
    maybe = {} if item.paper else {"maybe": objects}
    fields = {"blickets": objects, **maybe, "machine": machine}
    return object_schema(fields)


def in_asked_form(item: PromptItem, reply: str, answer: PromptAnswer, view: PromptView) -> bool:
    """Whether a reply ends with its answer in the requested form, with the objects in any order."""
    last = reply.strip().rpartition("\n")[2]
    said, written = (
        sorted(re.split(r"([:;,] )", line)) for line in (last, write(item, answer, view))
    )
    return said == written and not (item.paper and answer.maybe)


def parse(item: PromptItem, replies: Sequence[str], view: PromptView) -> PromptAnswer | None:
    """The answer in the last reply; None if there is none."""
    reply = without_remarks(replies[-1], "|".join((*item.objects, *item.known)))
    answers = (_value(value, item) for value in find_answer(reply, _FIELDS.values()).values)
    answer = next(filter(None, answers), None)
    if answer is not None or asks_for_lines(item, view):
        return answer
    return read_sentences(item, reply, view.sentences)


_FIELDS = {"blickets": "blickets?", "maybe": "maybe", "machine": "machine"}
_MAYBE = re.compile(r"\bmaybe blickets?\b", re.IGNORECASE)
_ARTICLE = re.compile(r"(?:the|an?) ", re.IGNORECASE)
_MACHINE = re.compile(
    r"(?:(?:works|behaves) )?(?:like )?(?:the )?(\w+)(?: pattern(?:ed)?)?"
    r"(?: blicket)?(?: (?:machine|detector|one))?"
)


def _value(text: str, item: PromptItem) -> PromptAnswer | None:
    """The answer in a value, which must have all fields, with each object in one list."""
    fields = read_fields(_MAYBE.sub("maybe", text), _FIELDS)
    asked = {"blickets", "machine"} if item.paper else set(_FIELDS)
    if fields is None or not asked <= set(fields):
        return None
    sure, maybe = (_objects(fields.get(name, "none"), item) for name in ("blickets", "maybe"))
    machine = _MACHINE.fullmatch(fields["machine"].casefold())
    known = machine is not None and machine[1] in (*item.known, UNSURE)
    if sure is None or maybe is None or set(sure) & set(maybe) or machine is None or not known:
        return None
    return PromptAnswer(sure, maybe, machine[1])


def _objects(text: str, item: PromptItem) -> tuple[str, ...] | None:
    """The objects in a list, sorted; None if it is empty or names one that is not in the prompt."""
    names = {_ARTICLE.sub("", name, count=1).casefold() for name in read_list(text)}
    return tuple(sorted(names)) if text and names <= set(item.objects) else None
