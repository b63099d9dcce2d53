"""Reasoning blocks, refusals and the asked form, through a whole dialogue."""

from __future__ import annotations

import re
from importlib import resources

import pytest

import trivium
from trivium.core.languages import in_english
from trivium.core.reading import (
    is_none,
    is_refusal,
    is_unsure,
    json_as_lines,
    plain,
    sentences,
    split_reasoning,
    tables_as_lines,
    withdraws,
)

TASK = trivium.load("nhop_implicit", hops=4)
ITEM = TASK.item(0, seed=7)


@pytest.mark.parametrize(
    ("reply", "kind", "strict"),
    [
        (ITEM.gold, "right", 1.0),
        (f"<think>Hmm.</think>\n{ITEM.gold}", "right", 1.0),
        (f"**{ITEM.gold}**", "right", 0.0),
        ("A thought. " * 100_000 + f"Answer: {ITEM.gold}", "right", 0.0),
        ("<think>" + "A thought. " * 100_000 + f"</think>{ITEM.gold}", "right", 1.0),
        ("<think>It is", "cut-off", 0.0),
        ("I'm sorry, but I can't help with that.", "no-answer", 0.0),
        ("I do not know.", "no-answer", 0.0),
    ],
)
def test_an_attempt_has_a_kind_and_says_whether_the_form_was_kept(
    reply: str, kind: str, strict: float
) -> None:
    dialogue = TASK.start(ITEM)
    dialogue.send(reply)
    made = dialogue.attempt("somebody")
    assert (made.reply, made.kind, made.scores["strict"]) == (reply, kind, strict)
    assert TASK.score(ITEM, reply) == made.scores


@pytest.mark.parametrize(
    ("text", "visible", "finished"),
    [
        ("<think>a</think>b", "b", True),
        ("a</think>b", "b", True),
        ("<think>a<think>b</think>c</think>d", "d", True),
        ("x <reasoning>a", "x", False),
        ("<|channel|>analysis<|message|>a<|end|><|channel|>final<|message|>b", "b", True),
        ("[@ANSWER valid_hyp: false]", "[@ANSWER valid_hyp: false]", True),
        ("[THINK]a[/THINK]b", "b", True),
        ("<seed:think>a</seed:think>b", "b", True),
        ("<Thought_Process>a</Thought_Process>b", "b", True),
        ('<thinking budget="9">a</thinking>b', "b", True),
        ("&lt;think&gt;a&lt;/think&gt;b", "b", True),
        ("\uff1cthink\uff1ea\uff1c/think\uff1eb", "b", True),
        ("\u25c1think\u25b7a\u25c1/think\u25b7b", "b", True),
        ("<|START_THINKING|>a<|END_THINKING|>b", "b", True),
        ("<|begin_of_thought|>a<|end_of_thought|>b", "b", True),
        ("<unused94>thought\na<unused95>b", "b", True),
        ('<details type="reasoning" done="true">a</details>b', "b", True),
        ("<details>\n<summary>Thought for 3 seconds</summary>a</details>\nb", "b", True),
        ("Thinking...\na\n...done thinking.\n\nb", "b", True),
        ("Here is my thought process:\na\nHere is my response:\nb", "b", True),
        ("analysisI see.assistantfinalb", "b", True),
        ("analysisI see", "", False),
        ("**Thinking:**\na\nAnswer: c?\n\n**Answer:** b", "**Answer:** b", True),
        ("<think>a</think>b</think>", "b", True),
        ("<think>a</think>", "", True),
        ("Thinking: b", "Thinking: b", True),
        ("<details><summary>Data</summary>b</details>", "<details><summary>Data</summary>b", True),
    ],
)
def test_reasoning_is_split_off(text: str, visible: str, finished: bool) -> None:
    split = split_reasoning(text)
    assert (split.visible, split.finished) == (visible, finished)


UNSURE = """unsure|uncertain|unclear|undetermined|unknown|ambiguous|undecided|unresolved
indeterminate|inconclusive|an open question|impossible to say|consistent with both|fits both
could be either|both are possible|equally likely|a toss-up|50/50|anyone's guess|up in the air
I have no idea|I have no clue|not obvious|unable to tell|not able to say|insufficient information
hard to say|difficult to tell|no definite answer|no way to know|not sure|not certain|not clear
not known|not possible to say|cannot be determined|can't tell|do not know|cannot be inferred
can't be settled|does not reveal it|not enough information|don't have enough evidence|cannot decide
no clear answer"""


@pytest.mark.parametrize("phrase", UNSURE.replace("\n", "|").split("|"))
def test_forty_ways_to_be_unsure(phrase: str) -> None:
    assert is_unsure(f"Well, {phrase}.")


@pytest.mark.parametrize(
    "text",
    [
        "Es tut mir leid, aber dabei kann ich nicht helfen.",
        "Lo siento, no puedo ayudarte con eso.",
        "Désolé, je ne peux pas vous aider.",
        "Извините, я не могу помочь с этим.",  # noqa: RUF001
        "抱歉，我无法提供帮助。",  # noqa: RUF001
        "申し訳ありませんが、お手伝いできません。",
        "죄송하지만 도와드릴 수 없습니다.",
        "Sorry, ik kan je daar niet mee helpen.",
    ],
)
def test_refusals_in_other_languages_are_refusals(text: str) -> None:
    assert is_refusal(text)


REFUSED = """I'm sorry, but I can't help with that.|I cannot assist with this request.
I won't be able to help with this.|I must decline to answer.|I respectfully decline.|I refuse.
As an AI language model, I cannot do that.|This request violates our usage policies.|I can't comply.
Sorry, I can't.|I'm afraid I can't do that.|I don't feel comfortable answering this.
I'd prefer not to answer.|I'm not allowed to answer such questions.|I choose not to answer.
That's not something I can help with.|This is outside my capabilities.|Content policy violation.
My guidelines prohibit me from answering.|I'm going to have to decline.|I can't fulfill this.
I do not wish to continue this conversation.|I'm not going to play this game.|I can't share that."""
NOT_REFUSED = """I cannot determine the answer.|I can't tell.|There is too little to answer.
I can't help but notice that facts are missing.|The facts do not allow me to determine it.
This cannot be answered from the facts.|A cannot be a blicket.|Sorry, which block do you mean?
I can't say more than that.|I'm sorry, but I can't be sure."""


@pytest.mark.parametrize("text", REFUSED.replace("\n", "|").split("|"))
def test_refusals_are_known_in_many_wordings(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize("text", NOT_REFUSED.replace("\n", "|").split("|"))
def test_who_does_not_know_does_not_refuse(text: str) -> None:
    assert not is_refusal(text)


NONE = (
    "none|N/A|[]|{}|-|no control variables|null.|\u2205|\u7121|nessuno|none of the variables|zero"
)


def test_what_is_none() -> None:
    assert [text for text in NONE.split("|") if not is_none(plain(text).strip())] == []
    assert not any(map(is_none, ["x_3", "no x_3", "nonet", ""]))


@pytest.mark.parametrize(
    "text",
    [
        r"\boxed{\mathbf{\text{x\_9}}}",
        r"$$\mathrm{x}_{9}$$",
        r"\[ \textcolor{red}{\texttt{x\_9}} \]",
        r"{\large x\_9}",
        r"\begin{aligned} & x_{9} \end{aligned}",
        r"\verb|x_9|",
        "x&#95;9",
        "<b>x</b><sub>9</sub>",
        "[b]x_9[/b]",
        "\uff58\uff3f\uff19",
        "<!-- not y --> x_9",
        r"x\textunderscore9",
    ],
)
def test_markup_is_unwrapped(text: str) -> None:
    assert plain(text).strip(" {}\n&") == "x_9"


def test_lines_of_formulas_and_of_quoted_strings_are_lines() -> None:
    assert plain(r"f(x) &= y \\ y &\neq z").split("\n") == ["f(x) = y ", "y is not z"]
    assert plain(r'{"why": "a.\nSo b."}').split("\n") == ['{"why": "a.', 'So b."}']


@pytest.mark.parametrize(
    ("text", "taken_back"),
    [
        ("Oops, that's wrong", True),
        ("Scratch that", True),
        ("I made a mistake", True),
        ("Let me double-check for mistakes", False),
        ("Wait, nothing is wrong here", False),
    ],
)
def test_what_is_withdrawn(text: str, taken_back: bool) -> None:
    assert withdraws(text) == taken_back


def test_fields_of_json_and_tags_become_lines() -> None:
    assert json_as_lines('{"may_be": ["a", "b"], "like": "c"}').split("\n") == [
        "",
        'may be:  ["a", "b"]',
        'like:  "c"}',
    ]
    assert plain("<may_be>a, b</may_be>").strip() == "may be: a, b"


@pytest.mark.parametrize(
    ("table", "one_column", "lines"),
    [
        ("|yes|no|\n|a|b|", False, "yes: a\nno: b"),
        ("|name|yes|no|\n|a|\u2713||\n|b||\u2713|", False, "a: yes\nb: no"),
        ("|name|tests|yes|\n|a|3|sure|", True, "a: sure"),
        ("|name|tests|yes|\n|a|3|sure|", False, "|name|tests|yes|\n|a|3|sure|"),
    ],
)
def test_tables_with_labels_become_lines(table: str, one_column: bool, lines: str) -> None:
    assert tables_as_lines(table, {"yes", "no"}.__contains__, one_column=one_column) == lines


def test_words_of_other_languages_become_english() -> None:
    assert in_english("Ob das so ist, l\u00e4sst sich nicht sagen").split()[-2:] == [
        "cannot",
        "tell",
    ]
    assert in_english("x \u548c y").split()[1] == "and"
    assert in_english("The wiser one") == "The wiser one"


def test_the_words_of_other_languages_are_bounded() -> None:
    """An unbounded quantifier could make reading slow, a space would be lost."""
    lines = resources.files("trivium.core").joinpath("languages.txt").read_text("utf-8").split("\n")
    entries = [line.partition(": ") for line in lines if line and not line.startswith("#")]
    assert len({english for english, _, _ in entries}) == len(entries) > 40
    for _, colon, words in entries:
        assert colon == ": "
        assert words == words.strip(" |")
        assert not re.search(r"(?<!\\)[*+]|\|\|", words)


def test_an_abbreviation_ends_no_sentence() -> None:
    assert sentences("See e.g. this. And that.") == ["See e.g. this.", "And that."]
