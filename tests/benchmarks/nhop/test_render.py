"""The exact prompts of hand-made items, and prompts read back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hypothesis import given

from tests.benchmarks.nhop.examples import bag, explicit_specs, implicit_specs, ladder
from trivium.benchmarks.nhop import EXPLICIT, IMPLICIT
from trivium.benchmarks.nhop.generate import generate
from trivium.benchmarks.nhop.render import Relations, read_prompt, render
from trivium.benchmarks.nhop.spec import ExplicitSpec, ImplicitSpec, NhopView, Spec

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


def test_prompts_in_plain_english() -> None:
    """Every line of the symbols is one line here, and each wording says the same fact."""
    row = ladder() | {"alias_map_f3": {"H1": "C_0220", "H2": "C_0420"}}
    item = EXPLICIT.from_row(row, 0)
    prompt, symbols = render(item, NhopView("steps", "relations")), render(item, NhopView("steps"))
    assert prompt.count("\n") == symbols.count("\n")
    word = Relations(item).word
    start, first, role = word("A_0047"), word("B_0132"), word("f1")
    wordings = {
        f"The {role} of {start} is {first}.",
        f"{start}'s {role} is {first}.",
        f"{first} is the {role} of {start}.",
        f"{first} is {start}'s {role}.",
    }
    assert len(wordings & set(prompt.split("\n"))) == 1
    roles = " of the ".join(word(f"f{hop}") for hop in (5, 4, 3, 2, 1))
    assert f"Question: Who is the {roles} of {start}?\n" in prompt
    assert f"only:\n{word('H1')} is {word('C_0220')}.\n{word('H2')} is {word('C_0420')}." in prompt
    assert prompt.endswith(f"{word('f5')}: <full name>\nANSWER: <full name>")
    assert not {part for line in item.triples() for part in line if part in prompt}
    assert all(line in prompt for line in EXPLICIT.highlights(item, NhopView(surface="relations")))


def test_wordings_and_names_are_those_of_the_item_in_every_order() -> None:
    used: Counter[bool] = Counter()
    for item in generate(ImplicitSpec(), 4, 0, 20):
        again = EXPLICIT.reshuffle(item, 1)
        lines, others = ([Relations(one).line(line) for line in one.facts] for one in (item, again))
        assert lines != others
        assert sorted(lines) == sorted(others)
        assert Relations(item).question() == Relations(again).question()
        used.update(line.partition(" ")[0] == "The" for line in lines)
    assert 0.2 < used[True] / used.total() < 0.3  # one of four wordings


def test_there_are_words_for_the_largest_items() -> None:
    spec = ImplicitSpec(hops=200, m=60, M=60)
    item = next(generate(spec, 1))
    words = Relations(item)
    tokens = [token for layer in item.layers() for token in layer]
    roles = [words.word(f"f{hop}") for hop in range(1, 200)]
    assert len({*map(words.word, tokens), *roles}) == len(tokens) + len(roles) == 12_000 + 199
    aliases = ExplicitSpec(hops=3, L=1, k=1000, M=2005, alias_heads_per_block=True)
    (item,) = generate(aliases, 1)
    shown = read_prompt(render(item, NhopView(surface="relations")))
    assert len(shown.blocks[0].aliases) == 1000


@given(explicit_specs() | implicit_specs())
def test_plain_english_is_read_back_as_the_same_item(spec: Spec) -> None:
    (item,) = generate(spec, 3)
    shown = read_prompt(render(item, NhopView(surface="relations")))
    word = Relations(item).word

    def worded(lines: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
        return [(word(head), function, word(tail)) for head, function, tail in lines]

    assert shown.facts == worded(item.facts)
    assert [block.lines for block in shown.blocks] == [worded(block.lines) for block in item.blocks]
    assert (shown.start, shown.depth) == (word(item.start), item.depth)
    for block, its in zip(shown.blocks, item.blocks, strict=True):
        assert block.function == its.function
        assert block.aliases == {word(alias): word(its.aliases[alias]) for alias in its.aliases}


@given(explicit_specs() | implicit_specs())
def test_prompts_are_read_back(spec: Spec) -> None:
    (item,) = generate(spec, 3)
    shown = read_prompt(render(item, NhopView()))
    assert [list(fact) for fact in shown.facts] == item.facts
    assert [block.resolved() for block in shown.blocks] == [b.resolved() for b in item.blocks]
    assert [block.aliases for block in shown.blocks] == [block.aliases for block in item.blocks]
    assert (shown.start, shown.depth, shown.answer) == (item.start, item.depth, "")
