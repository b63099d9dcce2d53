"""The moves of a game as tools for models; names and docstrings are part of the prompt."""

from __future__ import annotations

from trivium.benchmarks.blicket.game.answer import write_answer, write_test
from trivium.benchmarks.blicket.game.generate import GameAnswer


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
TOOLS = (place, answer)
TOOLS_AFTER_EXAMPLES = (place, answer_after_examples)
