"""Items in files, in the shape of the original benchmark."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from trivium.benchmarks.nhop.item import Candidates, NhopItem, Triple, derive, read_question
from trivium.core.benchmark import Origin
from trivium.core.errors import require

# The original's names for the blocks of the last three functions.
SHORT_NAMES = ("candidates_fn_2", "candidates_fn_1", "candidates_fn")


def to_row(item: NhopItem) -> dict[str, Any]:
    """The row of a file that holds this item."""
    row: dict[str, Any] = {"id": item.id}
    if item.blocks:
        row |= {"type": "synthetic", "n": item.depth, "L": len(item.blocks)}
        row["facts_chain"] = item.facts
        for block in item.blocks:
            row[f"candidates_{block.function}"] = block.lines
            if block.aliases:
                row[f"alias_map_{block.function}"] = block.aliases
        for name, block in zip(reversed(SHORT_NAMES), reversed(item.blocks), strict=False):
            row[name] = block.lines
    else:
        row |= {"type": "implicit", "n": item.depth + 1, "m": len(item.candidates)}
        row["facts_bag"] = item.facts
    row |= {
        "question": item.question,
        "answer_id": item.answer,
        "answer_aliases": item.accepted,
    }
    if item.origin is not None:
        row |= {"spec": item.origin.spec, "seed": item.origin.seed, "index": item.origin.index}
    return row


def from_row(row: Mapping[str, Any], explicit: bool) -> NhopItem:
    """The item in a row, from here or elsewhere; the stored answer must be the derived one."""
    name = row.get("id")
    require(isinstance(name, str) and bool(name), f"id must be text, got {name!r}")
    depth, start = read_question(str(row.get("question")))
    facts_key = "facts_chain" if explicit else "facts_bag"
    facts = _triples(row.get(facts_key), facts_key)
    blocks = _blocks(row, depth) if explicit else []
    answer = row.get("answer_id")
    require(isinstance(answer, str) and bool(answer), f"answer_id must be text, got {answer!r}")
    accepted = row.get("answer_aliases", [answer])
    texts = isinstance(accepted, list) and all(isinstance(part, str) for part in accepted)
    require(
        texts and answer in accepted,
        f"answer_aliases must be a list of texts that holds {answer!r}, got {accepted!r}",
    )
    origin = Origin.from_row(row)
    item = NhopItem(str(name), facts, blocks, start, depth, str(answer), accepted, origin)
    require(bool(item.candidates), f"{facts_key} must hold lines of f{depth}, which is asked for")
    _check_aliases(item)
    derived = derive(item)
    require(len(derived) <= 1, f"more than one answer can be derived: {', '.join(derived)}")
    require(
        not derived or derived == [answer],
        f"answer_id is {answer!r}, but the facts lead to {''.join(derived)!r}",
    )
    # A link may be left out on purpose; the answer must be one that can be given.
    require(answer in item.candidates, f"answer_id is {answer!r}, which is none of the candidates")
    return item


def _triples(value: Any, key: str) -> list[Triple]:
    ok = isinstance(value, list) and all(
        isinstance(line, list) and len(line) == 3 and all(isinstance(part, str) for part in line)
        for line in value
    )
    require(ok, f"{key} must be a list of [head, function, tail]")
    return list(value)


def _blocks(row: Mapping[str, Any], depth: int) -> list[Candidates]:
    found: dict[int, list[Triple]] = {}
    for key, value in row.items():
        if not key.startswith("candidates_"):
            continue
        lines = _triples(value, key)
        functions = {line[1] for line in lines}
        require(
            len(functions) == 1 and re.fullmatch(r"f\d+", min(functions)) is not None,
            f"{key} must hold lines of one function",
        )
        hop = int(min(functions)[1:])
        same = found.setdefault(hop, lines) == lines
        require(same, f"{key} disagrees with another block of f{hop}")
    hops = sorted(found)
    require(
        bool(hops) and hops == list(range(hops[0], depth + 1)),
        f"candidate blocks must cover the functions up to f{depth} without a gap, got {hops}",
    )
    return [_candidates(f"f{hop}", found[hop], row.get(f"alias_map_f{hop}") or {}) for hop in hops]


def _candidates(function: str, lines: list[Triple], aliases: Any) -> Candidates:
    """A block whose alias map may have either direction, and its heads either spelling."""
    key = f"alias_map_{function}"
    require(
        isinstance(aliases, dict) and all(isinstance(token, str) for token in aliases.values()),
        f"{key} must map aliases to tokens",
    )
    # Tokens have an underscore and aliases have none: that tells the map's direction.
    if any("_" in alias for alias in aliases):
        aliases = {alias: token for token, alias in aliases.items()}
    if aliases:
        names = {token: alias for alias, token in aliases.items()} | {
            name: name for name in aliases
        }
        known = all(line[0] in names for line in lines)
        require(known, f"{key} must name every head of its block")
        lines = [[names[head], *rest] for head, *rest in lines]
    block = Candidates(function, lines, aliases)
    for side, tokens in zip(("heads", "tails"), zip(*block.resolved(), strict=True), strict=True):
        require(len(set(tokens)) == len(tokens), f"candidates_{function}: {side} must be unique")
    return block


def _check_aliases(item: NhopItem) -> None:
    """Refuse heads that look like aliases, link to nothing above and have no map."""
    above = {item.start, *(tail for _, _, tail in item.facts)}
    for block in item.blocks:
        heads = {head for head, _, _ in block.lines}
        known = bool(block.aliases) or not heads.isdisjoint(above)
        tokens = all("_" in head for head in heads)
        require(known or tokens, f"alias_map_{block.function} is missing")
        above.update(tail for _, _, tail in block.lines)
