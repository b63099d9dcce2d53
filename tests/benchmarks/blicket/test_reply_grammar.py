"""The grammar of replies about blickets: rows and clauses, and one meaning in many shapes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.replies.corpus import item_of
from trivium.benchmarks.blicket.prompts import PROMPTS
from trivium.benchmarks.blicket.prompts.evidence import PromptAnswer
from trivium.benchmarks.blicket.prompts.spec import PromptView
from trivium.benchmarks.blicket.replies.grammar import read_sentence
from trivium.benchmarks.blicket.replies.words import words_of

OBJECTS = ("red cube", "blue cone", "green star")


def said(sentence: str, label: str | None = None) -> dict[str, str]:
    """What a sentence claims about each object that it names."""
    words = words_of(sentence, OBJECTS)
    claims = read_sentence([word.kind for word in words], label, seen=False)
    return {words[claim.place].name: claim.status for claim in claims}


@pytest.mark.parametrize(
    ("sentence", "yes", "no", "maybe"),
    [
        ("red cube: it lights up with blue cone -> must be a blicket", "red cube", "", ""),
        ("red cube: yes, blue cone: no, green star: ?,", "red cube", "blue cone", "green star"),
        ("must be blickets: red cube; maybe: green star", "red cube", "", "green star"),
        (
            "the blickets are the cube and the cone, not the star",
            "red cube, blue cone",
            "green star",
            "",
        ),
        ("the cube is a blicket and the cone is not", "red cube", "blue cone", ""),
        ("the cube is not certain to be a blicket", "", "", "red cube"),
        ("the cube or the cone is a blicket", "", "", "red cube, blue cone"),
        (
            "neither the cube nor the cone is a blicket, only the star is",
            "green star",
            "red cube, blue cone",
            "",
        ),
        ("if the cube is a blicket, it lights up", "", "", ""),
        ("the cube lights up the machine when a blicket is on it", "", "", ""),
        ("it is open whether the cube is a blicket", "", "", "red cube"),
        ("the cube does it alone: blicket", "red cube", "", ""),
    ],
)
def test_what_a_sentence_says(sentence: str, yes: str, no: str, maybe: str) -> None:
    meant = {"yes": yes, "no": no, "maybe": maybe}
    names = {name: status for status, each in meant.items() for name in each.split(", ") if name}
    assert said(sentence) == names


def test_a_list_below_a_label_takes_its_verdict_unless_it_has_its_own() -> None:
    assert said("red cube, because blue cone was dark", "maybe") == {"red cube": "maybe"}
    assert said("red cube: certainly not", "maybe") == {"red cube": "no"}


WORDS = {"yes": "must be a blicket", "maybe": "may or may not be a blicket", "no": "not a blicket"}
LABELS = {"yes": "Must be blickets", "maybe": "May be blickets", "no": "Not blickets"}
VERBS = {"yes": "definitely blickets", "maybe": "possibly blickets", "no": "not blickets"}
SHAPES = ("rows", "table", "lists", "one line", "below", "sentences", "json")


def written(meaning: dict[str, str], shape: str) -> str:
    """A reply that says this about each object, in one of many shapes."""
    if shape == "rows":
        return "\n".join(f"- {name}: {WORDS[status]}" for name, status in meaning.items())
    if shape == "table":
        rows = [f"| {name} | {WORDS[status]} |" for name, status in meaning.items()]
        return "\n".join(["| Object | Verdict |", "|---|---|", *rows])
    lists = {
        status: names
        for status in ("no", "yes", "maybe")
        if (names := [name for name, each in meaning.items() if each == status])
    }
    if shape == "below":
        items = (f"**{LABELS[each]}**\n- " + "\n- ".join(lists[each]) for each in lists)
        return "\n\n".join(items)
    if shape == "sentences":
        return " ".join(f"{', '.join(lists[each])} are {VERBS[each]}." for each in lists)
    if shape == "json":
        fields = (f'"{LABELS[each].lower()}": {lists[each]}' for each in lists)
        return "{" + ", ".join(fields).replace("'", '"') + "}"
    lines = (f"{LABELS[each]}: {', '.join(lists[each])}" for each in lists)
    return ("\n" if shape == "lists" else "; ").join(lines)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_one_meaning_in_many_shapes_is_one_answer(data: st.DataObject) -> None:
    _, item = item_of("matched conjunctive")
    statuses = st.sampled_from(sorted(WORDS))
    meaning = {name: data.draw(statuses) for name in data.draw(st.permutations(item.new.objects))}
    shape = data.draw(st.sampled_from(SHAPES))
    like = data.draw(st.sampled_from(item.known))
    reply = f"{written(meaning, shape)}\n\nThe machine works like the {like} one."
    named = {
        status: tuple(sorted(name for name, each in meaning.items() if each == status))
        for status in ("yes", "maybe")
    }
    expected = PromptAnswer(named["yes"], named["maybe"], like)
    assert PROMPTS.parse(item, [reply], PromptView(reply="free")) == expected
