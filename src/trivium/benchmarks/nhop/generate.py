"""Items drawn in batches: (spec, seed, index) decides an item, whatever the batch.

A plan says, once for a spec, which strands of tokens there are and which lines are
printed from them; a sheet holds the numbers drawn for a batch of items. Every strand
has its own token in each layer that it crosses, so chains are disjoint and the printed
part of every hop is a bijection. Where the target and a distractor are printed alike,
they are strands of one shape in one plan: nothing but the question tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.nhop.spec import ExplicitSpec, ImplicitSpec
from trivium.core.streams import spec_key, word_block

Spec = ImplicitSpec | ExplicitSpec
Ints = NDArray[np.int64]
BATCH = 1024


@dataclass(frozen=True)
class Line:
    """A triple of a strand: its tokens before and after one hop."""

    strand: int
    hop: int


@dataclass(frozen=True)
class Plan:
    """Which strands an item has and which of their lines it prints."""

    strands: tuple[tuple[int, int], ...]  # first and last layer of each; the target is the first
    facts: tuple[Line, ...]
    blocks: tuple[tuple[Line, ...], ...]
    depth: int  # how many functions the question asks for

    def slots(self) -> dict[tuple[int, int], int]:
        """Where each token (strand, layer) stands in a sheet: layer by layer."""
        places: dict[tuple[int, int], int] = {}
        for layer in range(1 + max(last for _, last in self.strands)):
            for strand, (first, last) in enumerate(self.strands):
                if first <= layer <= last:
                    places[strand, layer] = len(places)
        return places

    def widths(self) -> list[int]:
        """How many tokens each layer holds."""
        layers = 1 + max(last for _, last in self.strands)
        return [
            sum(first <= layer <= last for first, last in self.strands) for layer in range(layers)
        ]


@lru_cache(maxsize=256)
def plan(spec: Spec) -> Plan:
    """The plan of a spec."""
    if isinstance(spec, ImplicitSpec):
        chains = ((0, spec.hops - 1),) * spec.m
        facts = tuple(Line(chain, hop) for hop in spec.relations for chain in range(spec.m))
        return Plan(chains, facts, (), spec.hops - 1)
    return _explicit_plan(spec)


def _explicit_plan(spec: ExplicitSpec) -> Plan:
    n, wrong = spec.hops, spec.block_sizes[0] - 1
    strands = [(0, n)]
    for context in range(spec.contexts):
        # With head balance, the first context chains go on through the blocks.
        shown = spec.block_head_balance and context < wrong
        strands.append((0, (n if spec.path_collision_stress or spec.L == 1 else n - 1))
                       if shown else (0, spec.fact_hops))  # fmt: skip
    told = range(1 + spec.contexts)
    facts = [Line(chain, hop) for hop in range(1, spec.fact_hops + 1) for chain in told]

    def add(count: int, first: int, last: int) -> list[int]:
        strands.extend([(first, last)] * count)
        return list(range(len(strands) - count, len(strands)))

    ladder = list(range(1, 1 + wrong))
    if spec.path_collision_stress and not spec.block_head_balance:
        ladder = add(wrong, n - spec.L, n)
    blocks = []
    for block, size in zip(spec.blocks, spec.block_sizes, strict=True):
        if block == n and spec.decoys:
            others = add(spec.decoys, n - 2, n)
            facts += [Line(decoy, n - 1) for decoy in others]
        elif spec.path_collision_stress or spec.block_head_balance:
            others = ladder
        else:
            others = add(size - 1, block - 1, block)
        blocks.append(tuple(Line(strand, block) for strand in [0, *others]))
    return Plan(tuple(strands), tuple(facts), tuple(blocks), n)


@dataclass(frozen=True)
class Block:
    """The candidates of one function for a batch of items, in the order of print."""

    hop: int
    heads: Ints
    tails: Ints
    aliases: Ints | None  # from 1


@dataclass(frozen=True)
class Sheet:
    """The numbers of a batch of items, one row for each."""

    start: int
    hops: Ints  # of each printed fact
    heads: Ints
    tails: Ints
    blocks: tuple[Block, ...]
    questions: Ints  # the token asked about
    answers: Ints

    def __len__(self) -> int:
        return len(self.answers)


def sheets(spec: Spec, seed: int, start: int, count: int) -> Iterator[Sheet]:
    """The items start .. start + count - 1 in batches."""
    for first in range(start, start + count, BATCH):
        yield draw(spec, seed, first, min(BATCH, start + count - first))


def draw(spec: Spec, seed: int, start: int, count: int) -> Sheet:
    """One batch of items."""
    shape = plan(spec)
    widths = shape.widths()
    aliased = isinstance(spec, ExplicitSpec) and spec.alias_heads_per_block
    ordered = isinstance(spec, ExplicitSpec) and spec.chain_only_ordered
    sizes = [len(block) for block in shape.blocks]
    needed = 2 * sum(widths) + len(shape.facts) + (2 if aliased else 1) * sum(sizes)
    words = _Words(word_block(spec_key(spec, seed), start, count, needed))
    tokens = np.concatenate([_distinct(words, width, spec.M) for width in widths], axis=1)
    slots = shape.slots()

    def pick(lines: tuple[Line, ...], order: Ints, after: int) -> Ints:
        """The tokens of these lines before (0) or after (1) their hop, in this order."""
        columns = np.array([slots[line.strand, line.hop - 1 + after] for line in lines])
        return np.take_along_axis(tokens, columns[order], axis=1)

    facts = shape.facts
    order = np.tile(np.arange(len(facts)), (count, 1)) if ordered else words.order(len(facts))
    blocks = []
    for lines in shape.blocks:
        place = words.order(len(lines))
        alias = words.order(len(lines)) + 1 if aliased else None
        blocks.append(Block(lines[0].hop, pick(lines, place, 0), pick(lines, place, 1), alias))
    return Sheet(
        start=start,
        hops=np.array([line.hop for line in facts])[order],
        heads=pick(facts, order, 0),
        tails=pick(facts, order, 1),
        blocks=tuple(blocks),
        questions=tokens[:, slots[0, 0]],
        answers=tokens[:, slots[0, shape.depth]],
    )


class _Words:
    """Hands out the columns of a block of random words."""

    def __init__(self, words: NDArray[np.uint32]) -> None:
        self._words = words
        self._next = 0

    def take(self, count: int) -> NDArray[np.uint32]:
        self._next += count
        return self._words[:, self._next - count : self._next]

    def order(self, count: int) -> Ints:
        """A random order of 0 .. count - 1 in every row."""
        bits = max(1, (count - 1).bit_length())
        # The place rides in the low bits: keys never tie, so every sort gives one result.
        keys = (self.take(count) >> bits << bits) | np.arange(count, dtype=np.uint32)
        keys.sort(axis=1)
        return (keys & np.uint32((1 << bits) - 1)).astype(np.int64)


def _distinct(words: _Words, count: int, bound: int) -> Ints:
    """`count` different numbers below `bound` in every row, in random order (Floyd's way)."""
    drawn = words.take(count)
    chosen = np.empty(drawn.shape, dtype=np.int64)
    for step in range(count):
        top = bound - count + step
        number = ((drawn[:, step].astype(np.uint64) * np.uint64(top + 1)) >> np.uint64(32)).astype(
            np.int64
        )
        seen = (chosen[:, :step] == number[:, None]).any(axis=1)
        chosen[:, step] = np.where(seen, top, number)
    return np.take_along_axis(chosen, words.order(count), axis=1)
