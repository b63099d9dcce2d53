"""The text of a blicket prompt."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.benchmarks.blicket.names import article
from trivium.benchmarks.blicket.prompts import phrases
from trivium.benchmarks.blicket.prompts.evidence import (
    UNSURE,
    Machine,
    PromptAnswer,
    forms_of,
    ideal_answer,
)
from trivium.benchmarks.blicket.prompts.generate import PromptItem
from trivium.benchmarks.blicket.prompts.spec import PromptView
from trivium.benchmarks.blicket.prompts.stimuli import prompt_text
from trivium.core.benchmark import ask
from trivium.core.text import listed

ANSWER = "blickets: <the new objects that are blickets, or none>; machine: <{machines}>"
ANSWER_WITH_MAYBE = (
    "blickets: <the new objects that must be blickets, or none>; "
    "maybe: <the new objects that may be blickets or not, or none>; machine: <{machines}>"
)
STEP_BY_STEP = "Let's think step by step."


def render(item: PromptItem, view: PromptView) -> str:
    """The prompt: the paper's own text, a story, or two solved examples."""
    if item.paper:
        prompt = "two_shot" if item.two_shot else view.prompt
        text = prompt_text(prompt, item.hypotheses, item.form)
    else:
        text = _freeform(item) if view.prompt == "freeform" else _two_shot(item)
    if asks_for_lines(item, view):
        first, second = item.known
        value = ANSWER if item.paper else ANSWER_WITH_MAYBE
        text += "\n\n" + ask(value.format(machines=f"{first}, {second} or {UNSURE}"))
    if view.reasoning == "chain_of_thought":
        text += (" " if text.endswith("Output:") else "\n\n") + STEP_BY_STEP
    return text


def asks_for_lines(item: PromptItem, view: PromptView) -> bool:
    """Whether the prompt asks for an ANSWER line."""
    if view.reply == "auto":
        steps = view.reasoning == "chain_of_thought"
        return steps or (not item.paper and view.prompt == "freeform")
    return view.reply == "lines"


def _freeform(item: PromptItem) -> str:
    voice = phrases.VOICES[item.voice]
    paragraphs = [voice.opening if item.named else phrases.OPENINGS_NOT_GIVEN[item.voice]]
    for words, machine in zip(voice.machines, item.machines, strict=True):
        lines = [words.format(pattern=machine.pattern, objects=", ".join(machine.objects))]
        for placed, lit in machine.tests:
            lines.append(f"- {', '.join(placed)}: {voice.lit if lit else voice.dark}")
        paragraphs.append("\n".join(lines))
    first, second = item.known
    question = voice.question.format(pattern=item.new.pattern, first=first, second=second)
    return "\n\n".join([*paragraphs, f"{question} {phrases.SURE_OR_MAYBE}"])


def _two_shot(item: PromptItem) -> str:
    first, second = item.known
    given = item.hypotheses == "given"
    kinds = phrases.KINDS_NOT_GIVEN.format(first=first, second=second)
    if given:
        forms = forms_of(item.machines)
        kinds = phrases.KINDS_GIVEN.format(**dict(zip(map(str, forms), item.known, strict=False)))
    opening = phrases.TWO_SHOT_OPENING.format(kinds=kinds, first=first, second=second)
    paragraphs = [f"{opening} {phrases.SURE_OR_MAYBE}"]
    for machine in item.machines[:-1]:
        ideal = ideal_answer([machine], item.named)
        example = PromptAnswer(ideal.blickets, ideal.maybe, machine.pattern if given else UNSURE)
        paragraphs += [_input(machine), f"Output: {in_sentences(example)}"]
    return "\n\n".join([*paragraphs, _input(item.new), "Output:"])


def _input(machine: Machine) -> str:
    sentences = [f"Input: There is {listed([article(name) for name in machine.objects])}."]
    for placed, light in machine.tests:
        lit = "lights up" if light else "does not light up"
        sentences.append(f"If we put {_the(placed)} on the machine, then it {lit}.")
    return " ".join(sentences)


def in_sentences(answer: PromptAnswer) -> str:
    """An answer as sentences."""
    claims = []
    for names, maybe in ((answer.blickets, ""), (answer.maybe, "maybe ")):
        if names:
            verb = f"is {maybe}a blicket" if len(names) == 1 else f"are {maybe}blickets"
            claims.append(f"{_the(names)} {verb}")
    sentences = [", and ".join(claims) or "none of the objects is a blicket"]
    if answer.like == UNSURE:
        sentences.append("it cannot be known which machine this one behaves like")
    elif answer.like is not None:
        sentences.append(f"this machine behaves like the {answer.like} machine")
    return " ".join(f"{each[0].upper()}{each[1:]}." for each in sentences)


def _the(names: Sequence[str]) -> str:
    if len(names) < 2:
        return f"the {names[0]}"
    return f"the {', the '.join(names[:-1])} and the {names[-1]}"
