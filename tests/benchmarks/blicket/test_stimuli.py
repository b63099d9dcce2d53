"""The paper's prompts and replies, byte for byte, and its Table 2."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
from pathlib import Path
from typing import Literal

import orjson
import pytest

from trivium.benchmarks.blicket.prompts import PROMPTS
from trivium.benchmarks.blicket.prompts.evidence import PromptAnswer
from trivium.benchmarks.blicket.prompts.generate import PromptItem
from trivium.benchmarks.blicket.prompts.score import TableLine, table_line
from trivium.benchmarks.blicket.prompts.spec import PromptSpec, PromptView
from trivium.benchmarks.blicket.prompts.stimuli import (
    PrintedReply,
    printed_replies,
    prompt_text,
    stimuli,
)
from trivium.core.dialogue import attempt

CELLS = list(itertools.product(("given", "not_given"), ("disjunctive", "conjunctive")))
PAPER = "003_8f3fcb4a6c72056a.txt"
# The first 16 digits of the SHA-256 of each assembled prompt, and of all replies.
PROMPT_DIGESTS = {
    ("freeform", "given", "disjunctive"): "3817d4b6c3116ce3",
    ("freeform", "given", "conjunctive"): "570779ca4e8cfcde",
    ("freeform", "not_given", "disjunctive"): "97ce7a8ec90de1ec",
    ("freeform", "not_given", "conjunctive"): "b9231a1c7ae9fb79",
    ("two_shot", "given", "disjunctive"): "23d76367407c8e2d",
    ("two_shot", "given", "conjunctive"): "282397a2b67aa16d",
    ("two_shot", "not_given", "disjunctive"): "5f7e305e23ae6eb6",
    ("two_shot", "not_given", "conjunctive"): "278299a583cbbbaf",
}
REPLIES_DIGEST = "dd5d83308d3cbfe0"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def paper_item(
    hypotheses: str, form: str, stimuli: Literal["paper", "paper_two_shot"] = "paper"
) -> PromptItem:
    items = PROMPTS.generate(PromptSpec(stimuli=stimuli), 0, 0, 4)
    return next(each for each in items if (each.hypotheses, each.form) == (hypotheses, form))


@pytest.mark.parametrize(("prompt", "hypotheses", "form"), PROMPT_DIGESTS)
def test_every_prompt_is_the_stored_one(prompt: str, hypotheses: str, form: str) -> None:
    text = prompt_text(prompt, hypotheses, form)
    assert digest(text) == PROMPT_DIGESTS[prompt, hypotheses, form]
    shown = PROMPTS.render(
        paper_item(hypotheses, form),
        PromptView("freeform") if prompt == "freeform" else PromptView("two_shot"),
    )
    assert shown == text


def test_the_replies_are_the_stored_ones() -> None:
    assert digest("\n".join(each.reply for each in printed_replies())) == REPLIES_DIGEST
    assert len(printed_replies()) == 12


def the_paper() -> str:
    beside = Path(__file__).parents[3].parent / "shared" / "seeds" / PAPER
    path = Path(os.environ.get("TRIVIUM_PAPER", beside))
    if not path.exists():
        pytest.skip(f"THE PAPER IS NOT THERE: {path.name}; its text was not compared")
    return path.read_bytes().decode("utf-8")


def test_the_stimuli_stand_in_the_paper_byte_for_byte() -> None:
    paper = the_paper()
    # A line of Appendix C without its label ("- **Disjunctive:** ").
    lines = {re.sub(r"^- \*\*[^*]+:\*\* ", "", line) for line in paper.split("\n")}
    texts = [pieces for parts in stimuli()["prompts"].values() for pieces in parts.values()] + [
        [each.reply] for each in printed_replies()
    ]
    assert len(texts) == 6 + 5 + 12
    for pieces in texts:
        assert all(piece in lines for piece in pieces)
        # Paragraphs that follow one another here do so there, with one empty line between.
        assert "\n\n".join(pieces) in paper


def test_the_only_join_is_at_the_turn_of_a_page() -> None:
    assert stimuli()["page_breaks"] == ["freeform disjunctive"]
    first, second = stimuli()["prompts"]["freeform"]["disjunctive"]
    assert not first.endswith((".", "!", "?"))
    assert f"{first} {second}" in prompt_text("freeform", "given", "disjunctive")


def view_of(printed: PrintedReply) -> PromptView:
    """Of PaLM's freeform replies, only the first two sentences count."""
    two = (printed.model, printed.prompt) == ("PaLM", "freeform")
    return PromptView(sentences=2 if two else None)


@pytest.mark.parametrize(
    "printed", printed_replies(), ids=lambda r: f"{r.model}-{r.prompt}-{r.hypotheses}-{r.form}"
)
def test_the_printed_replies_score_as_table_2(printed: PrintedReply) -> None:
    item = paper_item(printed.hypotheses, printed.form)
    answer = PROMPTS.parse(item, [printed.reply], view_of(printed))
    assert table_line(item, answer) == TableLine(
        printed.right, printed.of, printed.wrong, printed.structure
    )


def test_table_2_counts_a_maybe_as_named() -> None:
    """With maybes left out, the two cells of two-shot, not given, come out otherwise."""
    off = []
    for printed in printed_replies():
        item = paper_item(printed.hypotheses, printed.form)
        answer = PROMPTS.parse(item, [printed.reply], view_of(printed))
        named = set(answer.blickets) if answer is not None else set()
        blickets = set(item.answer.blickets)
        counts = (len(named & blickets), len(named - blickets))
        if counts != (printed.right, printed.wrong):
            off.append((printed.prompt, printed.hypotheses))
    assert off == [("two_shot", "not_given")] * 2


def test_one_cell_is_misprinted() -> None:
    """Two-shot, not given, disjunctive: the table says 1/2 where there is one blicket."""
    misprinted = [each for each in printed_replies() if each.printed_of is not None]
    assert [(each.prompt, each.hypotheses, each.form) for each in misprinted] == [
        ("two_shot", "not_given", "disjunctive")
    ]
    assert (misprinted[0].printed_of, misprinted[0].of) == (2, 1)


@pytest.mark.parametrize(("hypotheses", "form"), CELLS)
@pytest.mark.parametrize("stimuli", ["paper", "paper_two_shot"])
def test_the_ideal_observer_answers_the_papers_prompts(
    stimuli: Literal["paper", "paper_two_shot"], hypotheses: str, form: str
) -> None:
    """The two-shot preamble says how striped and dotted machines work, in all conditions."""
    item = paper_item(hypotheses, form, stimuli)
    row = attempt(PROMPTS, item, PROMPTS.solvers["ideal_observer"], PromptView())
    assert row.kind == "right"
    blickets = {"disjunctive": ("brown torus",), "conjunctive": ("brown torus", "teal prism")}
    assert item.answer.blickets == blickets[form]
    like = {"disjunctive": "dotted", "conjunctive": "striped"}[form]
    known = hypotheses == "given" or stimuli == "paper_two_shot"
    assert item.answer.like == (like if known else "unsure")
    # The printed key says unsure wherever hypotheses are not given.
    key = {"paper_key": float(hypotheses == "given")} if stimuli == "paper_two_shot" else {}
    assert {name: row.scores[name] for name in row.scores if name == "paper_key"} == key
    assert PROMPTS.from_row(orjson.loads(orjson.dumps(PROMPTS.to_row(item))), 0) == item


def test_the_printed_key_is_scored_beside_exact_inference() -> None:
    item = paper_item("not_given", "disjunctive", "paper_two_shot")
    printed = PromptAnswer(("brown torus",), (), "unsure")
    scores = PROMPTS.score(item, printed)
    assert (scores["correct"], scores["blickets"], scores["paper_key"]) == (0.0, 1.0, 1.0)
    assert PROMPTS.score(item, None)["paper_key"] == 0.0
    generated = next(iter(PROMPTS.generate(PROMPTS.default_spec, 0)))
    assert "paper_key" not in PROMPTS.score(generated, PROMPTS.gold(generated))
