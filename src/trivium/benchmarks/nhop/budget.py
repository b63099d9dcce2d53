"""How many lines or tokens a prompt takes, so that prompts of different shapes can be as long."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from trivium.benchmarks.nhop.item import Candidates, NhopItem, layer_letters
from trivium.benchmarks.nhop.render import render
from trivium.core.tokens import approximate_tokens

if TYPE_CHECKING:  # which asks for the sizes of its own prompts
    from trivium.benchmarks.nhop.spec import ExplicitSpec, NhopView


class Filling(NamedTuple):
    """The distractors that fill a budget: whole chains, and the first hops of one more."""

    chains: int
    rest: int


class Sizes(NamedTuple):
    """What a prompt takes without context chains, and what each hop of one more chain adds."""

    base: int
    hops: Sequence[int]

    @property
    def chain(self) -> int:
        """What one more whole chain adds."""
        return sum(self.hops)

    def with_chains(self, chains: int) -> int:
        """What a prompt takes with this many context chains."""
        return self.base + chains * self.chain

    def filling(self, budget: int) -> Filling:
        """The most that fits into the budget."""
        chains, left = divmod(budget - self.base, self.chain)
        rest = sum(total <= left for total in accumulate(self.hops))
        return Filling(chains, rest)


def prompt_sizes(
    spec: ExplicitSpec, view: NhopView, *, tokens: bool, extra: Sequence[int] = ()
) -> Sizes:
    """The sizes of a spec's prompts, in tokens or in lines, blank ones included.

    The target's own facts are there, and `extra` facts of these hops.
    """

    def token(layer: int) -> str:
        return f"{layer_letters(layer)}_{'0' * spec.id_width}"

    def line(hop: int) -> list[str]:
        return [token(hop - 1), f"f{hop}", token(hop)]

    blocks = []
    for block, size in zip(spec.blocks, spec.block_sizes, strict=True):
        head, function, tail = line(block)
        prefix = spec.alias_prefix if spec.alias_heads_per_block else ""
        names = {f"{prefix}{number}": head for number in range(size)} if prefix else {}
        lines = [[alias, function, tail] for alias in names] or [[head, function, tail]] * size
        blocks.append(Candidates(function, lines, names))

    def size_of(lines: Sequence[Sequence[str]]) -> int:
        item = NhopItem("", lines, blocks, token(0), spec.hops, "", (), None)
        prompt = render(item, view)
        return approximate_tokens(prompt) if tokens else prompt.count("\n") + 1

    own = [line(hop) for hop in range(1, spec.fact_hops + 1)]
    base = size_of([*own, *map(line, extra)])
    return Sizes(base, [size_of([*own, *map(line, extra), one]) - base for one in own])
