"""How replies to blicket prompts are read: which sentences count, and hostile input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.benchmarks.blicket.prompts import PROMPTS
from trivium.benchmarks.blicket.prompts.evidence import PromptAnswer
from trivium.benchmarks.blicket.prompts.spec import PromptSpec, PromptView

ITEM = next(iter(PROMPTS.generate(PromptSpec("given", "conjunctive", stimuli="paper"), 0)))
B, F, T = "brown torus", "pink frustum", "teal prism"
EXPLAINED = """**Striped detector:** The blue pyramid alone does not light it, but with the orange
sphere it does. So the blue pyramid and the orange sphere are both blickets.

**Dotted detector:** The purple cone is a blicket, and the yellow cylinder is not.

**Checkerboard detector:**
- Brown torus: no light
- Teal prism + brown torus: light

Therefore, the **teal prism** and the **brown torus** are blickets. It behaves like the **striped**
detector, since it needs two blickets."""


def test_explanations_of_other_machines_name_no_blickets() -> None:
    answer = PROMPTS.parse(ITEM, [EXPLAINED], PromptView())
    assert answer == PromptAnswer((B, T), (), "striped")
    other = "So the blue pyramid and the orange sphere are both blickets."
    answer = PROMPTS.parse(ITEM, [other], PromptView())
    assert answer == PromptAnswer(("blue pyramid", "orange sphere"))


def test_a_later_list_replaces_an_earlier_one() -> None:
    reply = (
        "At first it seems that the blickets are the pink frustum and the teal prism. "
        "No: the blickets are the teal prism and the brown torus."
    )
    answer = PROMPTS.parse(ITEM, [reply], PromptView())
    assert answer == PromptAnswer((B, T))


def test_only_the_first_sentences_count_where_the_view_says_so() -> None:
    reply = "The brown torus is a blicket. It behaves like the dotted machine. So is nothing else."
    assert PROMPTS.parse(ITEM, [reply], PromptView(sentences=1)) == PromptAnswer((B,))
    assert PROMPTS.parse(ITEM, [reply], PromptView(sentences=2)) == PromptAnswer((B,), (), "dotted")


def test_thoughts_before_the_two_lines_do_not_count() -> None:
    reply = (
        "The pink frustum is a blicket, I first thought, like the dotted machine.\n"
        "Blickets: teal prism, brown torus\nMachine: striped"
    )
    answer = PROMPTS.parse(ITEM, [reply], PromptView(reply="lines"))
    assert answer == PromptAnswer((B, T), (), "striped")
    twice = f"Blickets: pink frustum\nMaybe blickets: blue pyramid\nWait.\n{reply}"
    assert PROMPTS.parse(ITEM, [twice], PromptView(reply="lines")) == answer


def test_objects_of_other_machines_are_kept() -> None:
    answer = PROMPTS.parse(
        ITEM, ["The blue pyramid and the brown torus are blickets."], PromptView()
    )
    assert answer == PromptAnswer(("blue pyramid", B))
    scores = PROMPTS.score(ITEM, answer)
    assert scores["other_machine"] == 1
    assert scores["wrong"] == 1
    assert scores["blickets_right"] == 0.5
    assert PROMPTS.kind(ITEM, answer) == "objects-of-other-machines:structure-not-said"


@pytest.mark.parametrize(
    ("blickets", "maybe", "right", "wrong", "other", "kind"),
    [
        ((B, T), (), 1, 0, 0, "wrong-structure"),
        ((B,), (), 0.5, 0, 0, "too-few-blickets"),
        ((), (), 0, 0, 0, "no-blickets"),
        ((B, F, T), (), 1, 1, 0, "too-many-blickets"),
        ((B, F), (), 0.5, 1, 0, "wrong-blickets"),
        ((B, T), (F,), 1, 0, 0, "needless-maybe"),
        ((B,), (F, T), 0.5, 0, 0, "too-few-blickets"),
        (("blue pyramid", "green cube", B), (), 0.5, 2, 2, "objects-of-other-machines"),
    ],
)
@pytest.mark.parametrize("like", [None, "unsure", "dotted"])
def test_scores_in_numbers(  # noqa: PLR0917
    blickets: tuple[str, ...],
    maybe: tuple[str, ...],
    right: float,
    wrong: int,
    other: int,
    kind: str,
    like: str | None,
) -> None:
    answer = PromptAnswer(blickets, maybe, like)
    assert PROMPTS.score(ITEM, answer) == {
        "correct": 0,
        "blickets": float(kind == "wrong-structure"),
        "blickets_right": right,
        "wrong": wrong,
        "other_machine": other,
        "maybe": len(maybe),
        "structure": 0,
    }
    structure = {None: "not-said", "unsure": "unsure", "dotted": "wrong"}[like]
    assert PROMPTS.kind(ITEM, answer) == f"{kind}:structure-{structure}"


NAMES = st.lists(st.sampled_from(ITEM.objects), unique=True, max_size=9)


@given(
    yes=NAMES,
    maybe=NAMES,
    like=st.sampled_from([None, "unsure", *ITEM.known]),
    reply=st.sampled_from(["free", "lines"]),
)
def test_every_answer_reads_back(
    yes: list[str], maybe: list[str], like: str | None, reply: str
) -> None:
    view = PromptView(reply="free" if reply == "free" else "lines")
    hedged = sorted(set(maybe) - set(yes))
    answer = PromptAnswer(tuple(sorted(yes)), tuple(hedged), like)
    assert PROMPTS.parse(ITEM, [PROMPTS.write(ITEM, answer, view)], view) == answer


WORDS = """brown torus|blicket|blickets|not|maybe|is|are|,|and|but|like|striped|the|(|:|.|?|if|
- |machine|cannot be told|none|all objects|*|\U0001f642|\x00|'"""
PIECES = st.sampled_from([*WORDS.split("|"), "\ud800"])


@given(st.lists(PIECES, max_size=60).map(" ".join) | st.text(max_size=200))
def test_no_text_breaks_the_parser(text: str) -> None:
    for view in (PromptView(), PromptView(reply="lines", sentences=3)):
        answer = PROMPTS.parse(ITEM, [text], view)
        PROMPTS.score(ITEM, answer)
        assert (PROMPTS.kind(ITEM, answer) == "no-answer") == (answer is None)


HOSTILE = """brown torus |is not |blickets, |(|like the striped |brown torus and |\n- |not like |a|
maybe if |is (not a blicket|all of the |* |. |cannot be |red and |non-|it is |: no|both are |so is |
dotted is the |the other two |rather than the cone, |, the blicket, |\u2713 brown torus"""


@pytest.mark.parametrize("piece", HOSTILE.split("|"))
def test_long_hostile_text_ends(piece: str) -> None:
    """Time must be linear: a backtracking expression would not end."""
    PROMPTS.parse(ITEM, [piece * (50_000 // len(piece)) + "is a blicket"], PromptView())


def test_a_maybe_where_all_is_decided_is_called_needless() -> None:
    item = next(iter(PROMPTS.generate(PROMPTS.presets["given-disjunctive"], 0)))
    gold = PROMPTS.gold(item)
    others = [each for each in item.new.objects if each not in gold.blickets]
    answer = PromptAnswer(gold.blickets, (others[0],), gold.like)
    assert PROMPTS.kind(item, answer) == "needless-maybe:structure-right"
