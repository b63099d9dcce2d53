"""What answers to blicket prompts score, and of which kinds they are."""

from __future__ import annotations

import pytest

from trivium.benchmarks.blicket.prompts import PROMPTS
from trivium.benchmarks.blicket.prompts.evidence import PromptAnswer
from trivium.benchmarks.blicket.prompts.spec import PromptSpec, PromptView

ITEM = next(iter(PROMPTS.generate(PromptSpec("given", "conjunctive", stimuli="paper"), 0)))
B, F, T = "brown torus", "pink frustum", "teal prism"


def test_only_the_first_sentences_count_where_the_view_says_so() -> None:
    reply = "The brown torus is a blicket. It behaves like the dotted machine. Nothing else is."
    assert PROMPTS.parse(ITEM, [reply], PromptView(sentences=1)) == PromptAnswer((B,))
    assert PROMPTS.parse(ITEM, [reply], PromptView(sentences=2)) == PromptAnswer((B,), (), "dotted")


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


def test_a_maybe_where_all_is_decided_is_called_needless() -> None:
    item = next(iter(PROMPTS.generate(PROMPTS.default_spec, 0)))
    gold = PROMPTS.gold(item)
    other = next(name for name in item.new.objects if name not in (*gold.blickets, *gold.maybe))
    answer = PromptAnswer(gold.blickets, (*gold.maybe, other), gold.like)
    assert PROMPTS.kind(item, answer) == "needless-maybe:structure-right"
