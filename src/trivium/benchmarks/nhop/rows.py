"""Items as rows of files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from trivium.benchmarks.nhop.item import (
    UNKNOWN,
    Candidates,
    NhopItem,
    Triple,
    derive,
    read_question,
)
from trivium.core.benchmark import Origin
from trivium.core.errors import require

IS = "="  # between an alias and its token in the original's rows of aliases
# The original's names for the blocks of the last three functions.
SHORT_NAMES = ("candidates_fn_2", "candidates_fn_1", "candidates_fn")


def to_row(item: NhopItem) -> dict[str, Any]:
    """The item as a row of a file."""
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
        row |= {"type": "implicit", "n": item.depth + 1, "m": item.chains}
        row["facts_bag"] = item.facts
    row |= {
        "question": item.question,
        "answer_id": item.answer,
        "answer_aliases": item.accepted,
    }
    if item.may_be_unknown:
        row["may_be_unknown"] = True
    if item.origin is not None:
        row |= {"spec": item.origin.spec, "seed": item.origin.seed, "index": item.origin.index}
    return row


def from_row(row: Mapping[str, Any], explicit: bool) -> NhopItem:
    """The item in a row of any file; refused if its answer does not follow from its facts."""
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
        f"answer_aliases must be a list of texts that includes {answer!r}, got {accepted!r}",
    )
    origin = Origin.from_row(row)
    asks = bool(row.get("may_be_unknown")) or answer == UNKNOWN
    item = NhopItem(str(name), facts, blocks, start, depth, str(answer), accepted, origin, asks)
    require(bool(item.candidates), f"{facts_key} must hold lines of f{depth}, which is asked for")
    _check_aliases(item)
    derived = derive(item)
    require(len(derived) <= 1, f"more than one answer can be derived: {', '.join(derived)}")
    require(
        derived == [answer] or (not derived and (answer == UNKNOWN or not asks)),
        f"answer_id is {answer!r}, but the facts lead to {''.join(derived)!r}",
    )
    # A link may be left out on purpose, but a solver must be able to name the answer.
    known = answer in item.candidates or answer == UNKNOWN
    require(known, f"answer_id is {answer!r}, which is none of the candidates")
    return item


def _triples(value: Any, key: str) -> list[Triple]:
    ok = isinstance(value, list) and all(
        isinstance(line, list) and len(line) == 3 and all(isinstance(part, str) for part in line)
        for line in value
    )
    require(ok, f"{key} must be a list of [head, function, tail]")
    return list(value)


def _blocks(row: Mapping[str, Any], depth: int) -> list[Candidates]:
    """The blocks of a row, which may hold a block twice: by two names, or also without aliases."""
    lines: dict[int, list[tuple[str, list[Triple]]]] = {}
    aliases: dict[int, dict[str, str]] = {}
    for key, value in row.items():
        if key.startswith("candidates_"):
            triples = _triples(value, key)
            names = [line for line in triples if line[1] == IS]
            own = [line for line in triples if line[1] != IS]
            hop = _function(own, key)
            lines.setdefault(hop, []).append((key, own))
            aliases.setdefault(hop, {}).update(_alias_map(names, key))
    hops = sorted(lines)
    require(
        bool(hops) and hops == list(range(hops[0], depth + 1)),
        f"candidate blocks must cover the functions up to f{depth} without a gap, got {hops}",
    )
    for hop in hops:
        short = SHORT_NAMES[hop - depth - 1 :][:1] if depth - hop < len(SHORT_NAMES) else ()
        for name in (f"f{hop}", *(key.removeprefix("candidates_") for key in short)):
            key = f"alias_map_{name}"
            aliases[hop] |= _alias_map(row.get(key) or {}, key)
    return [_candidates(hop, lines[hop], aliases[hop]) for hop in hops]


def _function(lines: list[Triple], key: str) -> int:
    """The number of the one function in a block."""
    functions = {line[1] for line in lines}
    require(
        len(functions) == 1 and re.fullmatch(r"f\d{1,9}", min(functions)) is not None,
        f"{key} must hold lines of one function",
    )
    return int(min(functions)[1:])


def _alias_map(value: Any, key: str) -> dict[str, str]:
    """Aliases to tokens, from a table in either direction or rows of [alias, "=", token]."""
    if isinstance(value, list):
        rows = all(isinstance(line, list) and len(line) == 3 and line[1] == IS for line in value)
        require(rows, f"{key} must map aliases to tokens")
        value = {line[0]: line[2] for line in value}
    texts = isinstance(value, dict) and all(isinstance(part, str) for part in value.values())
    require(texts, f"{key} must map aliases to tokens")
    # Only tokens have an underscore, which shows the map's direction.
    if any("_" in alias for alias in value):
        value = {alias: token for token, alias in value.items()}
    return dict(value)


def _candidates(
    hop: int, versions: list[tuple[str, list[Triple]]], aliases: dict[str, str]
) -> Candidates:
    """One block, whose heads may be stored as tokens or as aliases; some may have no alias."""
    names = {token: alias for alias, token in aliases.items()}
    for key, lines in versions:
        known = all(head in aliases or head in names or "_" in head for head, _, _ in lines)
        require(known or not aliases, f"alias_map_f{hop} must name every alias in {key}")
    first, *others = [
        [[names.get(head, head), *rest] for head, *rest in lines] for _, lines in versions
    ]
    for (key, _), other in zip(versions[1:], others, strict=True):
        require(sorted(other) == sorted(first), f"{key} disagrees with another block of f{hop}")
    block = Candidates(f"f{hop}", first, aliases)
    for side, tokens in zip(("heads", "tails"), zip(*block.resolved(), strict=True), strict=True):
        require(len(set(tokens)) == len(tokens), f"candidates_f{hop}: {side} must be unique")
    return block


def _check_aliases(item: NhopItem) -> None:
    """Refuse heads that look like aliases, link to nothing above and have no alias map."""
    above = {item.start, *(tail for _, _, tail in item.facts)}
    for block in item.blocks:
        heads = {head for head, _, _ in block.lines}
        known = bool(block.aliases) or not heads.isdisjoint(above)
        tokens = all("_" in head for head in heads)
        require(known or tokens, f"alias_map_{block.function} is missing")
        above.update(tail for _, _, tail in block.lines)
