"""Context chains that fill a budget of lines or tokens, so that prompts of specs are as long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from trivium.benchmarks.nhop.item import Candidates, NhopItem, layer_letters
from trivium.benchmarks.nhop.render import render
from trivium.core.errors import require
from trivium.core.text import approximate_tokens

if TYPE_CHECKING:  # a spec measures its own prompts, so it imports this module
    from trivium.benchmarks.nhop.spec import ExplicitSpec, NhopView


class Filling(NamedTuple):
    """The context chains of a prompt: whole ones, and the first `rest` hops of one more."""

    chains: int
    rest: int


def fill(spec: ExplicitSpec, view: NhopView, name: str, max_chains: int) -> Filling:
    """The context chains that fill the budget in the spec's field of this name."""
    budget: int = getattr(spec, name)
    base, hops = _sizes(spec, view, approximate_tokens if name == "budget_tokens" else _lines)
    low, high = (base + chains * sum(hops) for chains in (spec.min_contexts, max_chains))
    bound = f"at least {low}" if budget < low else f"at most {high}"
    require(low <= budget <= high, f"{name} must be {bound} for these blocks, got {budget}")
    chains, left = divmod(budget - base, sum(hops))
    return Filling(chains, sum(total <= left for total in accumulate(hops)))


def _lines(prompt: str) -> int:
    return prompt.count("\n") + 1


def _sizes(
    spec: ExplicitSpec, view: NhopView, length: Callable[[str], int]
) -> tuple[int, list[int]]:
    """The length of a prompt without context chains, and what each hop of a chain adds."""

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
        return length(render(item, view))

    own = [line(hop) for hop in range(1, spec.fact_hops + 1)]
    facts = [*own, *[line(spec.hops - 1)] * spec.decoys]
    base = size_of(facts)
    return base, [size_of([*facts, one]) - base for one in own]
