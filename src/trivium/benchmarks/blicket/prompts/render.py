"""A blicket prompt as a model sees it."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.benchmarks.blicket.prompts.item import (
    Machine,
    PromptAnswer,
    PromptItem,
    ideal_answer,
    judge,
)
from trivium.benchmarks.blicket.prompts.phrases import (
    KINDS_GIVEN,
    KINDS_NOT_GIVEN,
    TWO_SHOT_OPENING,
    VOICES,
    article,
    listed,
)
from trivium.benchmarks.blicket.prompts.spec import PromptView
from trivium.benchmarks.blicket.prompts.stimuli import prompt_text

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
LINES = (
    "Finish with these two lines:\n"
    "Blickets: <the new objects that are blickets, or none>\n"
    "Machine: <{first}, {second} or unsure>"
)


def render(item: PromptItem, view: PromptView) -> str:
    """The prompt: the paper's own text, a story, or two solved examples."""
    if item.paper:
        text = prompt_text(view.prompt, item.hypotheses, item.form)
    else:
        text = _freeform(item) if view.prompt == "freeform" else _two_shot(item)
    if view.reply == "lines":
        first, second = item.known
        text += "\n\n" + LINES.format(first=first, second=second)
    return text


def _freeform(item: PromptItem) -> str:
    voice = VOICES[item.voice]
    paragraphs = [voice.opening]
    for introduction, machine in zip(voice.machines, item.machines, strict=True):
        sentences = [
            introduction.format(
                pattern=machine.pattern,
                count=NUMBERS[len(machine.objects)],
                objects=listed([article(name) for name in machine.objects]),
            )
        ]
        for number, (placed, light) in enumerate(machine.tests):
            sentence = voice.then if number else voice.first
            sentences.append(
                sentence.format(
                    objects=listed([f"the {name}" for name in placed]),
                    pattern=machine.pattern,
                    light=voice.lit if light else voice.dark,
                )
            )
        paragraphs.append(" ".join(sentences))
    first, second = item.known
    question = voice.question.format(pattern=item.new.pattern, first=first, second=second)
    return "\n\n".join([*paragraphs, question])


def _two_shot(item: PromptItem) -> str:
    first, second = item.known
    given = item.hypotheses == "given"
    kinds = KINDS_NOT_GIVEN.format(first=first, second=second)
    if given:
        forms, _ = judge(item.machines)
        kinds = KINDS_GIVEN.format(**dict(zip(map(str, forms), item.known, strict=False)))
    paragraphs = [TWO_SHOT_OPENING.format(kinds=kinds, first=first, second=second)]
    for machine in item.machines[:-1]:
        paragraphs += [_input(machine), f"Output: {_example(machine, given)}"]
    return "\n\n".join([*paragraphs, _input(item.new), "Output:"])


def _input(machine: Machine) -> str:
    objects = listed([article(name) for name in machine.objects])
    sentences = [f"Input: There is {objects}."]
    for placed, light in machine.tests:
        on = listed([f"the {name}" for name in placed])
        lit = "lights up" if light else "does not light up"
        sentences.append(f"If we put {on} on the machine, then it {lit}.")
    return " ".join(sentences)


def _example(machine: Machine, given: bool) -> str:
    """What is known of a machine to learn from, said as a reply should say it."""
    own = ideal_answer([machine])
    like = machine.pattern if given else "unsure"
    return speak(PromptAnswer(own.blickets, own.maybe, like))


def speak(answer: PromptAnswer) -> str:
    """An answer in sentences."""
    said = [
        _claim(names, maybe)
        for names, maybe in ((answer.blickets, ""), (answer.maybe, "maybe "))
        if names
    ]
    sentences = [", and ".join(said) if said else "none of the objects is a blicket"]
    if answer.like == "unsure":
        sentences.append("it cannot be told which machine this one behaves like")
    elif answer.like is not None:
        sentences.append(f"this machine behaves like the {answer.like} machine")
    return " ".join(f"{each[0].upper()}{each[1:]}." for each in sentences)


def _claim(names: Sequence[str], maybe: str) -> str:
    subject = listed([f"the {name}" for name in names])
    return f"{subject} is {maybe}a blicket" if len(names) == 1 else f"{subject} are {maybe}blickets"
