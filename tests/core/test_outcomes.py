"""How attempts end: the table of docs/concepts.md, and what each row means for the score."""

from __future__ import annotations

from pathlib import Path

import pytest

import trivium
from trivium.core.dialogue import Dialogue
from trivium.core.records import outcome

TASK = trivium.load("nhop_implicit")
ITEMS = TASK.items(200, seed=7)
GIVES_UP = "Sorry, I can't solve this."


@pytest.mark.parametrize("answer", ["an answer", None])
@pytest.mark.parametrize("in_reasoning", [False, True])
@pytest.mark.parametrize("stop_reason", [None, "stop", "length", "content_filter", "refusal"])
@pytest.mark.parametrize("error", [None, "503: busy"])
def test_how_an_attempt_ended(
    answer: str | None, in_reasoning: bool, stop_reason: str | None, error: str | None
) -> None:
    if error is not None:
        expected: str | None = "failed"
    elif stop_reason in ("content_filter", "refusal"):
        expected = "declined"
    elif answer is not None:
        expected = None
    elif stop_reason == "length" or in_reasoning:
        expected = "cut-off"
    else:
        expected = "no-answer"
    found = outcome(answer, stop_reason=stop_reason, in_reasoning=in_reasoning, error=error)
    assert found == expected


@pytest.mark.parametrize(
    ("reply", "stop_reason", "kind"),
    [
        ("ANSWER: {gold}", "stop", "right"),
        ("ANSWER: {gold}", None, "right"),
        ("ANSWER: {gold}", "length", "cut-off"),  # the line may go on
        ("ANSWER: {gold}\n", "length", "right"),
        ("ANSWER: {gold}\nI chose it since", "length", "right"),
        ("<think>It is {gold}.\nANSWER: {gold}\n", "stop", "cut-off"),
        ("<think>Hm.</think>ANSWER: {gold}\n", "length", "right"),
        ("ANSWER: {gold}", "content_filter", "declined"),
        (GIVES_UP, "stop", "no-answer"),
        ("", "stop", "no-answer"),
    ],
)
def test_a_line_that_may_be_incomplete_is_not_read(
    reply: str, stop_reason: str | None, kind: str
) -> None:
    item = ITEMS[0]
    dialogue = TASK.start(item)
    dialogue.send(reply.format(gold=item.gold), stop_reason)
    made = dialogue.attempt("solver")
    assert (made.kind, made.stop_reason) == (kind, stop_reason)
    score = {"right": 1.0, "cut-off": 0.0, "no-answer": 0.0, "declined": None}[kind]
    assert made.scores.get("correct") == score


@pytest.mark.parametrize("name", trivium.list_benchmarks())
def test_no_reply_counts_as_an_empty_one(name: str) -> None:
    task = trivium.load(name)
    item = task.item(0, seed=7)
    silent = task.start(item).attempt("solver")
    assert (silent.kind, silent.reply) == ("no-answer", None)
    assert silent.scores == task.score(item, []) == task.score(item, "")


def gives_up_on_most(prompt: str) -> str:
    right = {item.prompt: item.gold for item in ITEMS[:75]}
    return right.get(prompt, GIVES_UP)


def test_a_function_that_gives_up_on_125_of_200_items_scores_three_eighths(tmp_path: Path) -> None:
    found = trivium.evaluate(TASK, gives_up_on_most, items=200, seed=7, out=tmp_path / "run")
    figures = found.summary
    assert (figures.answered, figures.no_answers, figures.declined) == (75, 125, 0)
    assert (figures.metrics["correct"].value, figures.metrics["correct"].n) == (0.375, 200)


def test_an_answer_is_asked_for_once_more_but_never_in_a_game() -> None:
    dialogue = Dialogue(ITEMS[0], restate=True)
    response = dialogue.send("I think it is the second one.")
    assert response is not None
    assert "ANSWER:" in response
    assert dialogue.send("Still the second one.") is None
    assert dialogue.done
    read = Dialogue(ITEMS[0], restate=True)
    assert read.send(ITEMS[0].gold) is None
    game = trivium.load("blicket_game").item(0)
    asked, plain = (Dialogue(game, restate=restate).send("hm") for restate in (True, False))
    assert asked == plain
