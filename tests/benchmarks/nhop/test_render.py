"""The exact prompts of hand-made items, and prompts read back."""

from __future__ import annotations

from hypothesis import given

from tests.benchmarks.nhop.examples import bag, explicit_specs, implicit_specs, ladder
from trivium.benchmarks.nhop import EXPLICIT, IMPLICIT
from trivium.benchmarks.nhop.generate import generate
from trivium.benchmarks.nhop.render import read_prompt, render
from trivium.benchmarks.nhop.spec import NhopView, Spec

BAG = """\
Each line states one fact: 'X ->f-> Y' says that f of X is Y.

Facts:
A_01 ->f1-> B_02
B_02 ->f2-> C_03
A_04 ->f1-> B_05
B_05 ->f2-> C_06

Question: What is f2 of f1 of A_04?

"""
BLOCK = """\
Candidates for f3: exactly one of these lines continues the chain in question.
Names used in this block only:
H1 = C_0220
H2 = C_0420
H1 ->f3-> D_0901
H2 ->f3-> D_0199

"""


def test_prompts_of_a_bag() -> None:
    item = IMPLICIT.from_row(bag(), 0)
    direct, steps, free = (render(item, NhopView(mode)) for mode in ("direct", "steps", "free"))
    assert direct == BAG + "Answer with one token and nothing else."
    assert steps == BAG + (
        "Fill in one line for every hop, then the answer, and write nothing else:\n"
        "f1: <token>\nf2: <token>\nANSWER: <token>"
    )
    assert free == BAG + (
        "Think as long as you like, then end with a line of its own:\nANSWER: <token>"
    )


def test_prompt_of_a_block_with_aliases() -> None:
    row = ladder() | {"alias_map_f3": {"H1": "C_0220", "H2": "C_0420"}}
    prompt = render(EXPLICIT.from_row(row, 0), NhopView())
    assert BLOCK in prompt
    assert prompt.count("Candidates for ") == 3
    assert "Question: What is f5 of f4 of f3 of f2 of f1 of A_0047?" in prompt


@given(explicit_specs() | implicit_specs())
def test_prompts_are_read_back(spec: Spec) -> None:
    (item,) = generate(spec, 3)
    shown = read_prompt(render(item, NhopView()))
    assert [list(fact) for fact in shown.facts] == item.facts
    assert [block.resolved() for block in shown.blocks] == [b.resolved() for b in item.blocks]
    assert [block.aliases for block in shown.blocks] == [block.aliases for block in item.blocks]
    assert (shown.start, shown.depth, shown.answer) == (item.start, item.depth, "")
