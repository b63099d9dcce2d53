"""Replies to blicket prompts: by the answer contract, and in the words of the paper's replies."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.benchmarks.blicket.wrappings import WRAPPINGS
from tests.replies import with_windows_line_ends
from trivium.benchmarks.blicket.prompts import PROMPTS
from trivium.benchmarks.blicket.prompts.evidence import PromptAnswer
from trivium.benchmarks.blicket.prompts.generate import PromptItem
from trivium.benchmarks.blicket.prompts.spec import PromptSpec, PromptView
from trivium.core.reading import split_reasoning
from trivium.core.spec import spec_from_dict

PAPER = next(iter(PROMPTS.generate(PromptSpec("given", "conjunctive", stimuli="paper"), 0)))
STORY = next(iter(PROMPTS.generate(PROMPTS.default_spec, 7)))
LINES, FREE = PromptView(reply="lines"), PromptView(reply="free")
B, F, T = "brown torus", "pink frustum", "teal prism"
RIGHT = PromptAnswer((B, T), (), "striped")


def read(reply: str, view: PromptView = LINES, item: PromptItem = PAPER) -> PromptAnswer | None:
    return PROMPTS.parse(item, [split_reasoning(reply).visible], view)


@st.composite
def answers(draw: st.DrawFn, item: PromptItem, *, machine: bool) -> PromptAnswer:
    """Any answer to an item."""
    said = draw(st.tuples(*[st.sampled_from(["no", "yes", "maybe"])] * len(item.objects)))
    pairs = list(zip(item.objects, said, strict=True))
    sure = tuple(sorted(name for name, word in pairs if word == "yes"))
    maybe = tuple(sorted(name for name, word in pairs if word == "maybe"))
    likes: list[str | None] = [*item.known, "unsure"] + [None] * (not machine)
    return PromptAnswer(sure, maybe, draw(st.sampled_from(likes)))


@given(st.data(), st.sampled_from([PAPER, STORY]), st.sampled_from([str, str.lower, str.upper]))
@settings(max_examples=80, deadline=None)
def test_what_is_written_is_read_back_in_every_wrapping(
    data: st.DataObject, item: PromptItem, letters: Callable[[str], str]
) -> None:
    answer = data.draw(answers(item, machine=True))
    written = PROMPTS.write(item, answer, LINES)
    assert PROMPTS.strict(item, [written], LINES) == (not item.paper or not answer.maybe)
    for name, wrapping in WRAPPINGS.items():
        reply = wrapping.format(letters(written))
        assert read(reply, LINES, item) == answer, name


@given(st.data(), st.sampled_from([PAPER, STORY]))
@settings(max_examples=80, deadline=None)
def test_json_is_read_and_fits_the_schema(data: st.DataObject, item: PromptItem) -> None:
    answer = data.draw(answers(item, machine=True))
    fields = {"blickets": answer.blickets, "maybe": answer.maybe, "machine": answer.like}
    for value in (fields, {"answer": fields}, {"reasoning": "It lit.", "answer": fields}):
        assert read(json.dumps(value), LINES, item) == answer
        assert read(f"```json\n{json.dumps(value, indent=2)}\n```", LINES, item) == answer


def test_the_schema_has_the_words_of_the_item() -> None:
    schema = PROMPTS.schema(STORY, LINES)
    assert schema is not None
    assert schema["required"] == ["blickets", "maybe", "machine"]
    assert schema["properties"]["maybe"]["items"]["enum"] == list(STORY.objects)
    assert schema["properties"]["machine"]["enum"] == [*STORY.known, "unsure"]
    paper = PROMPTS.schema(PAPER, LINES)
    assert paper is not None
    assert paper["required"] == ["blickets", "machine"]
    assert PROMPTS.schema(PAPER, FREE) is None


@given(st.data(), st.sampled_from([PAPER, STORY]))
@settings(max_examples=80, deadline=None)
def test_sentences_are_read_back(data: st.DataObject, item: PromptItem) -> None:
    answer = data.draw(answers(item, machine=False))
    assert read(PROMPTS.write(item, answer, FREE), FREE, item) == answer


FOLLOWING = [
    "ANSWER: blickets: brown torus, teal prism; machine: striped",
    "ANSWER: blickets: teal prism, brown torus; machine: striped",
    "ANSWER: blickets: teal prism and brown torus; machine: striped",
    "ANSWER: blickets: the teal prism and the brown torus; machine: the striped machine",
    "ANSWER: blickets: [teal prism, brown torus]; machine: like striped",
    "ANSWER: machine: striped; blickets: teal prism, brown torus",
    "ANSWER: blickets: brown torus, teal prism; maybe: none; machine: striped",
    "ANSWER: blickets: brown torus, teal prism; maybe blickets: none; machine: striped",
    "ANSWER: Blickets: Brown Torus, Teal Prism; Machine: Striped",
    "answer: blickets: brown torus, teal prism; machine: striped",
    "Answer: blickets = brown torus, teal prism; machine = striped",
    "ANSWER: blickets brown torus, teal prism; machine striped",
    "ANSWER: blickets: brown torus, teal prism, machine: striped",
    "ANSWER: blickets: brown torus & teal prism; machine: striped.",
    "ANSWER:\nblickets: brown torus, teal prism\nmachine: striped",
    "ANSWER:\n- blickets: brown torus, teal prism\n- machine: striped",
    "**ANSWER:** blickets: brown torus, teal prism; machine: striped",
    "**Final answer:** blickets: brown torus, teal prism; machine: striped",
    "### ANSWER\n**Blickets:** brown torus, teal prism\n**Machine:** striped",
    "ANSWER: **blickets:** brown torus, teal prism; **machine:** striped",
    "ANSWER: `blickets: brown torus, teal prism; machine: striped`",
    "ANSWER: \\boxed{\\text{blickets: brown torus, teal prism; machine: striped}}",
    "$$\\boxed{\\text{ANSWER: blickets: brown torus, teal prism; machine: striped}}$$",
    "```\nANSWER: blickets: brown torus, teal prism; machine: striped\n```",
    '{"blickets": ["brown torus", "teal prism"], "machine": "striped"}',
    '```json\n{"answer": {"blickets": ["teal prism", "brown torus"], "machine": "striped"}}\n```',
    'ANSWER: {"blickets": ["brown torus", "teal prism"], "machine": "striped"}',
    "| Answer | blickets: brown torus, teal prism; machine: striped |",
    "<answer>blickets: brown torus, teal prism; machine: striped</answer>",
    "ANSWER: blickets: brown torus, teal prism; machine: striped. Neither lights it alone.",
    "ANSWER: blickets: brown torus, teal prism; machine: striped (it needs two blickets)",
    "ANSWER: blickets: brown torus, teal prism; machine: striped\n\nThe frustum is none.",
    "ANSWER: blickets: brown torus; machine: dotted\n\nWait, it needs two.\n\n"
    "ANSWER: blickets: brown torus, teal prism; machine: striped",
    "The brown torus alone is dark, so it is like the striped one.\n\n"
    "ANSWER: blickets: brown torus, teal prism; machine: striped",
    "Blickets: brown torus, teal prism\nMachine: striped",
    "blickets: brown torus, teal prism; machine: striped",
    "- **Blickets**: brown torus, teal prism\n- **Machine**: striped",
    "<think>Maybe dotted?</think>ANSWER: blickets: brown torus, teal prism; machine: striped",
    "ANSWER\uff1ablickets\uff1abrown torus, teal prism; machine\uff1astriped",
    "ANSWER: blickets: \u201cbrown torus\u201d, 'teal prism'; machine: \u201cstriped\u201d",
]


@pytest.mark.parametrize("reply", FOLLOWING)
def test_replies_that_follow_the_contract_are_read(reply: str) -> None:
    assert read(reply) == RIGHT


NOT_FOLLOWING = [
    "ANSWER: blickets: brown torus or teal prism; machine: striped",
    "ANSWER: blickets: brown torus, possibly teal prism; machine: striped",
    "ANSWER: blickets: brown torus, teal prism?; machine: striped",
    "ANSWER: blickets: brown torus (maybe the pink frustum); machine: striped",
    "ANSWER: blickets: brown torus, teal prism; machine: striped or dotted",
    "ANSWER: blickets: brown torus, teal prism; machine: striped, dotted",
    "ANSWER: blickets: brown torus, teal prism; machine: not striped",
    "ANSWER: blickets: brown torus, teal prism; machine: striped (or dotted)",
    "ANSWER: blickets: brown torus, teal prism; machine: striped. Or dotted, who knows.",
    "ANSWER: blickets: brown torus, teal prism; machine: striped. No wait, dotted.",
    "ANSWER: blickets: brown torus, teal prism; machine: zigzag",
    "ANSWER: blickets: brown torus, teal prism; machine: conjunctive",
    "ANSWER: blickets: brown torus, teal prism; machine:",
    "ANSWER: blickets: brown torus, teal prism",
    "ANSWER: machine: striped",
    "ANSWER: blickets: torus, prism; machine: striped",
    "ANSWER: blickets: brown prism, teal torus; machine: striped",
    "ANSWER: blickets: red bell; machine: striped",
    "ANSWER: blickets: all of them; machine: striped",
    "ANSWER: blickets: all except the pink frustum; machine: striped",
    "ANSWER: blickets: not pink frustum; machine: striped",
    "ANSWER: blickets: 2; machine: striped",
    "ANSWER: blickets: brown torus; maybe: brown torus; machine: striped",
    "ANSWER: blickets: brown torus; blickets: teal prism; machine: striped",
    "ANSWER: blickets: brown torus; machine: striped; machine: dotted",
    "ANSWER: blickets: brown torus; confidence: high; machine: striped",
    "ANSWER: brown torus, teal prism; striped",
    "ANSWER: brown torus and teal prism",
    "ANSWER: striped",
    "ANSWER: I cannot tell.",
    "ANSWER: <the new objects that are blickets, or none>",
    "ANSWER:",
    "Blickets: brown torus, teal prism.",
    "I think that the brown torus and the teal prism are blickets, as on the striped machine.",
    "The brown torus is a blicket. This machine behaves like the dotted machine.",
    "My guess: blickets: brown torus, teal prism; machine: striped",
    "Either blickets: brown torus; machine: dotted, or blickets: teal prism; machine: striped",
    "brown torus, teal prism",
    "striped",
    "I'm sorry, I can't help with that.",
    '{"blickets": ["brown torus", "red bell"], "machine": "striped"}',
    '{"blickets": ["brown torus"], "machine": null}',
    '{"blickets": ["brown torus"]',
]


@pytest.mark.parametrize("reply", [*NOT_FOLLOWING, "", "\x00", "\ud800"])
def test_replies_that_do_not_follow_the_contract_have_no_answer(reply: str) -> None:
    assert read(reply) is None


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("The brown torus and teal prism are blickets.", PromptAnswer((B, T))),
        ("Blickets: brown torus and teal prism.", PromptAnswer((B, T))),
        ("The blickets are:\n- the brown torus\n- the teal prism", PromptAnswer((B, T))),
        ("The brown torus is a blicket; the teal prism isn't.", PromptAnswer((B,))),
        ("- brown torus: blicket\n- teal prism: maybe a blicket", PromptAnswer((B,), (T,))),
        ("| Brown torus | not a blicket |\n| Teal prism | blicket |", PromptAnswer((T,))),
        ("None of the objects is a blicket. It works like the dotted one.", "dotted"),
        ("The brown torus alone is dark. The teal prism is a blicket.", PromptAnswer((T,))),
        (
            "So the blue pyramid is a blicket. The brown torus is a blicket.",
            PromptAnswer((B,)),
        ),
        ("The blue pyramid is a blicket.", PromptAnswer(("blue pyramid",))),
        ("The brown torus may be a blicket.", PromptAnswer((), ("brown torus",))),
        ("The brown torus is a blicket. The teal prism may be one too.", None),
        ("The brown torus is a blicket. So is the teal prism.", None),
        ("The brown torus is a blicket, I guess.", None),
        ("The brown torus or the teal prism is a blicket.", None),
        ("Is the brown torus a blicket?", None),
        ("The brown torus is a blicket. The brown torus is not a blicket.", None),
        ("The blickets are the brown torus. The blickets are the teal prism.", None),
        ("The brown torus is a blicket. It is like the striped or the dotted machine.", None),
        ("The brown torus is a blicket. It does not behave like the striped machine.", None),
        ("It behaves like the striped machine. It behaves like the dotted machine.", None),
        ("This machine behaves like the striped machine.", None),
        ("The red bell is a blicket.", None),
        ("It is not possible to figure out which objects are blickets.", None),
        ("All objects are blickets.", None),
        ("torus, prism", None),
        (
            "**Blickets:** brown torus\n**Maybe:** teal prism\n**Machine:** like the dotted one",
            PromptAnswer((B,), (T,), "dotted"),
        ),
        (
            "From the tests:\n- brown torus: blicket\n- teal prism: not a blicket",
            PromptAnswer((B,)),
        ),
        ("These are not blickets:\n- brown torus", None),
    ],
)
def test_free_replies(reply: str, answer: PromptAnswer | str | None) -> None:
    """In the words of the paper's replies; all else is no answer."""
    expected = PromptAnswer((), (), answer) if isinstance(answer, str) else answer
    assert read(reply, FREE) == expected


def test_names_may_come_in_any_order_in_the_asked_form() -> None:
    reply = "So.\nANSWER: blickets: teal prism, brown torus; machine: striped"
    assert PROMPTS.strict(PAPER, [reply], LINES)
    assert not PROMPTS.strict(PAPER, [reply.replace("; ", ", ")], LINES)
    assert not PROMPTS.strict(PAPER, [f"{reply}\nBye."], LINES)
    assert PROMPTS.strict(PAPER, ["The brown torus is a blicket."], FREE) is None


CORPUS = Path(__file__).parents[2] / "replies"


def stored() -> list[dict[str, Any]]:
    lines = (CORPUS / "blicket_prompts.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_every_reply_of_the_corpus_is_read_as_stored() -> None:
    items = json.loads((CORPUS / "items.json").read_text(encoding="utf-8"))
    for case in (*stored(), *map(with_windows_line_ends, stored())):
        item = PROMPTS.from_row(items[case["item"]]["row"], 0)
        found = read(case["reply"], spec_from_dict(PromptView, case["view"]), item)
        meaning = None if found is None else json.loads(json.dumps(asdict(found)))
        assert meaning == case["meaning"], case["reply"]


WORDS = """brown torus|blicket|blickets|not|maybe|is|are|,|and|but|like|striped|the|(|:|.|?|if|
- |machine|cannot be known|none|all objects|*|\U0001f642|\x00|'|ANSWER:|;|{"""
PIECES = st.sampled_from([*WORDS.split("|"), "\ud800"])


@given(st.lists(PIECES, max_size=60).map(" ".join) | st.text(max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    for view in (PromptView(), PromptView(sentences=3), LINES):
        answer = PROMPTS.parse(PAPER, [text], view)
        PROMPTS.score(PAPER, answer)
        assert (PROMPTS.kind(PAPER, answer) == "no-answer") == (answer is None)


HOSTILE = """brown torus |is not |blickets, |(|like the striped |brown torus and |\n- |not like |a|
is (not a blicket|* |. |: no|the brown torus, |the brown torus is a blicket and |:\n|ANSWER: |
blickets: |; machine: |blickets: brown torus; | (a |{"a": """


@pytest.mark.parametrize("piece", HOSTILE.split("|"))
@pytest.mark.parametrize("view", [FREE, LINES])
def test_long_hostile_text_ends(piece: str, view: PromptView) -> None:
    """Time must be linear: a backtracking expression would not end."""
    PROMPTS.parse(PAPER, [piece * (50_000 // len(piece)) + "is a blicket"], view)
