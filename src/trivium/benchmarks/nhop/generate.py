"""Items drawn in batches; each depends on spec, seed and index only, not on its batch.

The layout of a spec says which paths of tokens its items have and which lines they print; a batch
holds the numbers drawn for many items at once. Every path has its own token in each layer that it
crosses, so chains are disjoint and the printed part of every hop is a bijection. A target and a
distractor that must look alike are paths of one shape: only the question distinguishes them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.nhop.item import UNKNOWN, Candidates, NhopItem, layer_letters
from trivium.benchmarks.nhop.spec import ImplicitSpec, Spec
from trivium.core.benchmark import Origin
from trivium.core.spec import spec_to_dict
from trivium.core.streams import Stream, spec_key, stream_key, word_block

Ints = NDArray[np.int64]
Path = tuple[int, int]  # first and last layer
Line = tuple[int, int]  # a path, and the hop between two of its tokens
Printed = tuple[int, str, int]  # the column of a line's head, its function, the column of its tail
BATCH = 2048


@dataclass(frozen=True)
class Layout:
    """The tokens of an item, layer by layer, and the lines that it prints of them."""

    widths: list[int]  # the number of tokens in each layer
    facts: list[Printed]
    blocks: list[list[Printed]]  # the candidates of each block
    depth: int  # the number of functions in the question
    answer: int  # the column of the answer; the question's token is in column 0


@lru_cache(maxsize=256)
def layout(spec: Spec) -> Layout:
    """The layout of a spec; the target is its first path."""
    paths, facts, blocks = _plan(spec)
    depth = max(last for _, last in paths)
    tokens = [
        (path, layer)
        for layer in range(depth + 1)
        for path, (first, last) in enumerate(paths)
        if first <= layer <= last
    ]
    columns = {token: column for column, token in enumerate(tokens)}

    def printed(lines: Sequence[Line]) -> list[Printed]:
        return [(columns[path, hop - 1], f"f{hop}", columns[path, hop]) for path, hop in lines]

    widths = np.bincount([layer for _, layer in tokens]).tolist()
    return Layout(widths, printed(facts), [*map(printed, blocks)], depth, columns[0, depth])


def item_space(spec: Spec) -> int | None:
    """The number of different items: tokens for every path, times orders of lines.

    Exchanging paths of one shape that print the same lines does not change an item.
    """
    if spec.answerable == "mixed":
        return None
    paths, facts, blocks = _plan(spec)
    shape = layout(spec)
    space = math.prod(math.perm(spec.M, width) for width in shape.widths)
    space *= 1 if spec.chain_only_ordered else math.factorial(len(facts))
    shuffled = blocks * 2 if spec.alias_heads_per_block else blocks  # lines, and their aliases
    space *= math.prod(math.factorial(len(lines)) for lines in shuffled)
    printed: list[list[Line]] = [[] for _ in paths]
    for part, lines in enumerate([facts, *blocks]):
        for path, hop in lines:
            printed[path].append((part, hop))
    # The first path, the target, cannot be exchanged: the question names it.
    shapes = Counter((paths[at], *lines) for at, lines in enumerate(printed) if at > 0)
    return space // math.prod(math.factorial(same) for same in shapes.values())


def _plan(spec: Spec) -> tuple[list[Path], list[Line], list[list[Line]]]:
    """The paths of a spec, the lines of its facts and the lines of its blocks."""
    if isinstance(spec, ImplicitSpec):
        bag = [(chain, hop) for hop in spec.relations for chain in range(spec.m)]
        return [(0, spec.hops - 1)] * spec.m, bag, []
    n, wrong = spec.hops, spec.block_sizes[0] - 1
    # With head balance, the first context chains continue through the blocks.
    shown = wrong if spec.block_head_balance else 0
    end = n if spec.path_collision_stress or spec.L == 1 else n - 1
    paths = [(0, n), *[(0, end)] * shown, *[(0, spec.fact_hops)] * (spec.contexts - shown)]
    printed = 1 if spec.chain_only_ordered else len(paths)
    facts = [(chain, hop) for hop in range(1, spec.fact_hops + 1) for chain in range(printed)]
    if rest := spec.filling.rest:
        paths.append((0, rest))
        facts += [(len(paths) - 1, hop) for hop in range(1, rest + 1)]

    def add(count: int, first: int, last: int) -> list[int]:
        paths.extend([(first, last)] * count)
        return list(range(len(paths) - count, len(paths)))

    ladder = list(range(1, 1 + wrong))
    if spec.path_collision_stress and not spec.block_head_balance:
        ladder = add(wrong, n - spec.L, n)
    blocks = []
    for block, size in zip(spec.blocks, spec.block_sizes, strict=True):
        if block == n and spec.decoys:
            others = add(spec.decoys, n - 2, n)
            facts += [(decoy, n - 1) for decoy in others if not spec.chain_only_ordered]
        elif spec.path_collision_stress or spec.block_head_balance:
            others = ladder
        else:
            others = add(size - 1, block - 1, block)
        blocks.append([(path, block) for path in [0, *others]])
    return paths, facts, blocks


@dataclass(frozen=True)
class Batch:
    """The numbers drawn for many items, one row for each."""

    tokens: Ints  # in the columns of the layout
    facts: Ints  # the lines of the layout in printed order; -1 for one that is left out
    blocks: list[Ints]  # the same for each block
    aliases: list[Ints | None]  # the number of each line's alias, from 1
    unknown: NDArray[np.bool_]  # whether the target's chain ends early


def draw(spec: Spec, seed: int, start: int, count: int) -> Batch:
    """The numbers of items start .. start + count - 1."""
    shape = layout(spec)
    aliased = spec.alias_heads_per_block
    facts, candidates = len(shape.facts), sum(map(len, shape.blocks))
    needed = 2 * sum(shape.widths) + facts + (2 if aliased else 1) * candidates
    key = spec_key(spec, seed, ignore=("answerable",))  # twins have the same tokens and order
    words = _Words(word_block(key, start, count, needed))
    tokens = np.concatenate([_distinct(words, width, spec.M) for width in shape.widths], axis=1)
    in_order = np.tile(np.arange(facts), (count, 1))
    order = in_order if spec.chain_only_ordered else words.order(facts)
    orders, aliases = [order], []
    for lines in shape.blocks:
        orders.append(words.order(len(lines)))
        aliases.append(words.order(len(lines)) + 1 if aliased else None)
    unknown = np.zeros(count, dtype=np.bool_)
    if spec.answerable == "mixed":
        # One of the chains that lead to a candidate ends early, the target's (path 0) if the answer
        # is unknown; only the question distinguishes these chains.
        _, fact_lines, blocks = _plan(spec)
        drawn = word_block(stream_key("answerable", key), start, count, 3).astype(np.int64)
        unknown = drawn[:, 0] % 2 == 1
        chain = np.where(unknown, 0, 1 + drawn[:, 1] % (spec.alternatives - 1))[:, None]
        first = 2 + drawn[:, 2:] % (shape.depth - 1)  # the first hop that is missing, after f1
        for number, plan in enumerate([fact_lines, *blocks]):
            path, hop = np.array(plan).T[:, orders[number]]
            # A line that is left out has the place -1.
            orders[number] = np.where((path == chain) & (hop >= first), -1, orders[number])
    return Batch(tokens, orders[0], orders[1:], aliases, unknown)


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
        # With the position in their low bits keys never tie, so the result is well defined.
        keys = (self.take(count) >> bits << bits) | np.arange(count, dtype=np.uint32)
        keys.sort(axis=1)
        return (keys & np.uint32((1 << bits) - 1)).astype(np.int64)


def _distinct(words: _Words, count: int, bound: int) -> Ints:
    """`count` different numbers below `bound` in every row, in random order (Floyd's method)."""
    drawn = words.take(count).T.astype(np.uint64, order="C")
    chosen = np.empty(drawn.shape, dtype=np.int64)
    for step in range(count):
        top = bound - count + step
        number = ((drawn[step] * np.uint64(top + 1)) >> np.uint64(32)).astype(np.int64)
        seen = (chosen[:step] == number).any(axis=0)
        chosen[step] = np.where(seen, top, number)
    return np.take_along_axis(chosen.T, words.order(count), axis=1)


def generate(spec: Spec, seed: int, start: int = 0, count: int = 1) -> Iterator[NhopItem]:
    """The items start .. start + count - 1."""
    for first in range(start, start + count, BATCH):
        yield from _batch(spec, seed, first, min(BATCH, start + count - first))


def _batch(spec: Spec, seed: int, start: int, count: int) -> Iterator[NhopItem]:
    shape, batch = layout(spec), draw(spec, seed, start, count)
    prefix = "IMP" if isinstance(spec, ImplicitSpec) else "SYN"
    fields = spec_to_dict(spec)
    numbers = batch.tokens + np.repeat(np.arange(len(shape.widths)), shape.widths) * spec.M
    name = _names(spec, numbers)
    facts = batch.facts.tolist()
    orders = [order.tolist() for order in batch.blocks]
    aliases = [None if drawn is None else drawn.tolist() for drawn in batch.aliases]
    for row, tokens in enumerate(numbers.tolist()):
        names = [name[token] for token in tokens]
        candidates = []
        for lines, order, drawn in zip(shape.blocks, orders, aliases, strict=True):
            printed = _triples(names, lines, order[row])
            alias_map: dict[str, str] = {}
            if drawn is not None:
                left = [n for n, line in zip(drawn[row], order[row], strict=True) if line >= 0]
                for number, line in sorted(zip(left, printed, strict=True)):
                    alias = f"{spec.alias_prefix}{number}"
                    alias_map[alias], line[0] = line[0], alias
            candidates.append(Candidates(lines[0][1], printed, alias_map))
        index = start + row
        answer = UNKNOWN if batch.unknown[row] else names[shape.answer]
        yield NhopItem(
            id=f"{prefix}-{index:06d}",
            facts=_triples(names, shape.facts, facts[row]),
            blocks=candidates,
            start=names[0],
            depth=shape.depth,
            answer=answer,
            accepted=[answer],
            origin=Origin(fields, seed, index),
            may_be_unknown=spec.answerable == "mixed",
        )


def _names(spec: Spec, tokens: Ints) -> dict[int, str]:
    """The names of tokens, which are numbered through all layers."""
    tokens = np.sort(tokens, axis=None)
    tokens = tokens[np.diff(tokens, prepend=-1) > 0]  # np.unique is slower
    layers, numbers = np.divmod(tokens, spec.M)
    # Formatting all names at once is several times faster than one by one.
    letters = [layer_letters(layer) for layer in range(layers[-1] + 1)]
    template = " ".join(f"{letters[layer]}_%0{spec.id_width}d" for layer in layers.tolist())
    names = (template % tuple(numbers.tolist())).split(" ")
    return dict(zip(tokens.tolist(), names, strict=True))


def _triples(names: list[str], lines: list[Printed], order: list[int]) -> list[list[str]]:
    """The lines in this order, as triples of names."""
    printed = [lines[number] for number in order if number >= 0]
    return [[names[head], function, names[tail]] for head, function, tail in printed]


def reshuffle(item: NhopItem, trial: int) -> NhopItem:
    """The same item with its lines in another order; trial 0 is the item itself."""
    if trial == 0:
        return item
    stream = Stream(stream_key("reshuffle", item.facts, item.start, trial))
    blocks = [block._replace(lines=stream.shuffled(block.lines)) for block in item.blocks]
    return item._replace(facts=stream.shuffled(item.facts), blocks=blocks)
