"""The length of prompts in lines or tokens, so that specs of different shapes can be matched."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from trivium.benchmarks.nhop.item import Candidates, NhopItem, layer_letters
from trivium.benchmarks.nhop.render import render
from trivium.core.text import approximate_tokens

if TYPE_CHECKING:  # a spec measures its own prompts, so it imports this module
    from trivium.benchmarks.nhop.spec import ExplicitSpec, NhopView


class Filling(NamedTuple):
    """The context chains of a prompt: whole ones, and the first `rest` hops of one more."""

    chains: int
    rest: int


class Sizes(NamedTuple):
    """The length of a prompt without context chains, and what each hop of a chain adds."""

    base: int
    hops: Sequence[int]

    def with_chains(self, chains: int) -> int:
        """The length of a prompt with this many context chains."""
        return self.base + chains * sum(self.hops)

    def filling(self, budget: int) -> Filling:
        """The context chains that fill a budget."""
        chains, left = divmod(budget - self.base, sum(self.hops))
        return Filling(chains, sum(total <= left for total in accumulate(self.hops)))


def prompt_sizes(spec: ExplicitSpec, view: NhopView) -> Sizes:
    """The sizes of a spec's prompts in the unit of its budget, tokens or lines."""

    def token(layer: int) -> str:
        return f"{layer_letters(layer)}_{'0' * spec.id_width}"

    def line(hop: int) -> list[str]:
        return [token(hop - 1), f"f{hop}", token(hop)]

    blocks = []
    for block, size in zip(spec.blocks, spec.block_sizes, strict=True):
        head, function, tail = line(block)
        names = {}
        if spec.alias_heads_per_block:
            names = {f"{spec.alias_prefix}{number}": head for number in range(size)}
        lines = [[printed, function, tail] for printed in names or [head] * size]
        blocks.append(Candidates(function, lines, names))

    def size_of(lines: Sequence[Sequence[str]]) -> int:
        item = NhopItem("", lines, blocks, token(0), spec.hops, "", (), None)
        prompt = render(item, view)
        if spec.budget_tokens is None:
            return prompt.count("\n") + 1
        return approximate_tokens(prompt)

    own = [line(hop) for hop in range(1, spec.fact_hops + 1)]
    facts = [*own, *[line(spec.hops - 1)] * spec.decoys]
    base = size_of(facts)
    return Sizes(base, [size_of([*facts, one]) - base for one in own])
