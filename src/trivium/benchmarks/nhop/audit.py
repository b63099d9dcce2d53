"""Audit probes of an n-hop item, and its form up to names and order."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from trivium.auditing.overlap import line_structure
from trivium.benchmarks.nhop.item import UNKNOWN, NhopItem, true_chain
from trivium.benchmarks.nhop.render import Symbols, surface_of
from trivium.benchmarks.nhop.spec import NhopView
from trivium.core.probes import Probe

_SPELLED = ("number", "parity", "length", "first character")


def probes(item: NhopItem, view: NhopView) -> list[Probe]:
    """One probe for each block, or for a bag's last function: which line is the true one?"""
    words = surface_of(item, view)
    shown = [words.word(token) for layer in item.layers() for token in layer]
    found = []
    if item.may_be_unknown:
        known = item.answer != UNKNOWN
        place = [line[0] for line in item.facts].index(item.start)
        marked, features = {"start": words.word(item.start)}, {"place of the start": float(place)}
        found.append(Probe("answerable", ["answerable"], [known], marked, {}, features, shown))
        if not known:
            return found
    if not item.blocks:
        right = [tail == item.answer for tail in item.candidates]
        return [*found, _probe(words, item.depth, item.last_lines, right, 0, shown)]
    chain = true_chain(item)
    for number, block in enumerate(item.blocks):
        lines, hop = block.resolved(), int(block.function[1:])
        if item.may_be_unknown and hop < item.depth:
            # The line at which a chain ends early is wrong if there is an answer, which is asked
            # first; the last block does not have that chain.
            heads = {head for head, _ in item.blocks[number + 1].resolved()}
            lines = [line for line in lines if line[1] in heads]
        if hop > 1:  # the line of f1 is found by reading: it has the question's token
            right = [line == (chain[hop - 1], chain[hop]) for line in lines]
            found.append(_probe(words, hop, lines, right, number, shown))
    return found


def _probe(  # noqa: PLR0917
    words: Symbols,
    hop: int,
    lines: Sequence[tuple[str, str]],
    right: Sequence[bool],
    block: int,
    shown: Sequence[str],
) -> Probe:
    """A probe whose candidates are these lines, named by their tails."""
    from trivium.auditing.features import spelling  # noqa: PLC0415  (only audits need it)

    item = words.item
    heads, tails = [head for head, _ in lines], [tail for _, tail in lines]
    # A head of f2 is in one fact with the question's token, so nearness is evidence there.
    marked = {"start": words.word(item.start)} if hop > 2 else {}
    above = item.token_counts(block)
    before = {tail for _, tail in item.blocks[block - 1].resolved()} if block else set()
    below = item.blocks[block + 1].resolved() if block + 1 < len(item.blocks) else []
    after = {head for head, _ in below}
    facts = {token: at for at, line in reversed([*enumerate(item.facts)]) for token in line[::2]}
    aliases: Mapping[str, str] = item.blocks[block].aliases if item.blocks else {}
    number_of = {token: number for number, token in enumerate(aliases.values(), 1)}
    names = {token: words.word(alias) for alias, token in aliases.items()}
    rank_of = {token: rank for rank, token in enumerate(sorted(names, key=names.__getitem__))}
    spelled = [spelling(words.word(head)) for head in heads]
    missing = len(item.facts)
    features: dict[str, Sequence[float]] = {
        "head's mentions above": [above[head] for head in heads],
        "tail's mentions above": [above[tail] for tail in tails],
        "head is a tail of the block above": [head in before for head in heads],
        "tail is a head of the block below": [tail in after for tail in tails],
        **{f"head's {name}": [head[name] for head in spelled] for name in _SPELLED},
        "head's number plus its own": [
            spelling(head)["number"] + spelling(tail)["number"] for head, tail in lines
        ],
        "number of its alias": [number_of.get(head, 0) for head in heads],
        "alphabetical rank of its alias": [rank_of.get(head, 0) for head in heads],
        "first fact with its head": [facts.get(head, missing) for head in heads],
        "first fact with its tail": [facts.get(tail, missing) for tail in tails],
    }
    return Probe(f"line of f{hop}", [*map(words.word, tails)], right, marked, features, names=shown)


def parts(item: NhopItem) -> Mapping[str, Hashable]:
    """The chain of the answer with its tokens: up to names, all items of a spec are alike."""
    return {"chain of tokens": tuple(true_chain(item))}


def canonical(item: NhopItem) -> Hashable:
    """The form of an item up to its tokens, its aliases and the order of its lines."""
    lines = [f"fact {head} {function} {tail}" for head, function, tail in item.facts]
    for block in item.blocks:
        lines += [f"candidate {head} {block.function} {tail}" for head, tail in block.resolved()]
    return line_structure("\n".join([*lines, item.question]), item.layers())
