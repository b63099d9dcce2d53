"""What a player says: tests and answers as lines of text, and as calls of tools."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trivium.benchmarks.blicket.game.generate import GameAnswer


def write_test(objects: str) -> str:
    """The line that asks for a test."""
    return f"TEST {' '.join(objects) or 'none'}"


def write_answer(answer: GameAnswer) -> str:
    """The line that gives an answer."""
    inhibitors = f"inhibitors: {' '.join(answer.inhibitors)}; " if answer.inhibitors else ""
    blickets = " ".join(answer.blickets) or "none"
    unsure = f"unsure: {' '.join(answer.unsure)}; " if answer.unsure else ""
    return f"ANSWER blickets: {blickets}; {inhibitors}{unsure}form: {answer.form}"


_ASKED = re.compile(
    r"TEST (?:none|[A-Z](?: [A-Z])*)|ANSWER blickets: (?:none|[A-Z](?: [A-Z])*); "
    r"(?:inhibitors: [A-Z](?: [A-Z])*; )?(?:unsure: [A-Z](?: [A-Z])*; )?form: [a-z]+(?:-[1-9])?"
)


def strict(item: object, replies: Sequence[str], view: object) -> bool:
    """Whether every reply is one move in exactly the asked form, and the last an answer."""
    exact = all(_ASKED.fullmatch(reply.strip()) for reply in replies)
    return exact and bool(replies) and replies[-1].strip().startswith("ANSWER")


def place(objects: list[str]) -> str:
    """Put these objects on the machine, and nothing else, and see whether it lights up.

    Args:
        objects: The letters of the objects, such as A and B; none for an empty machine.
    """
    return write_test("".join(objects))


def answer(blickets: list[str], form: str, inhibitors: list[str] | None = None) -> str:
    """Say how the machine works, once; the game ends with it.

    Args:
        blickets: The letters of the objects that are blickets.
        form: The way in which the machine works, by its name in the rules.
        inhibitors: The letters of the objects that are inhibitors, if there are any.
    """
    return write_answer(GameAnswer("".join(blickets), form, "".join(inhibitors or ())))


def answer_after_examples(blickets: list[str], form: str, unsure: list[str] | None = None) -> str:
    """Say how the new machine works, once; the game ends with it.

    Args:
        blickets: The letters of the objects that are blickets.
        form: Which machine the new one works like: striped, dotted or unsure.
        unsure: The letters of the objects that you are not sure about, if there are any.
    """
    return write_answer(GameAnswer("".join(blickets), form, unsure="".join(unsure or ())))


answer_after_examples.__name__ = answer.__name__
# For models that call tools; their names and docstrings are prompts.
TOOLS = (place, answer)
TOOLS_AFTER_EXAMPLES = (place, answer_after_examples)
