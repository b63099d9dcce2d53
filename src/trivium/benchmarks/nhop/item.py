"""Items: their facts and blocks of candidates, and their rows in files."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from trivium.core.benchmark import Origin
from trivium.core.errors import UserError, require

Triple = Sequence[str]  # head, function, tail
UNKNOWN = "unknown"  # the answer where a needed fact is missing


class Candidates(NamedTuple):
    """The block of one function: its printed lines, and the tokens behind its aliases."""

    function: str
    lines: Sequence[Triple]
    aliases: Mapping[str, str]  # alias to token; empty if heads are printed as tokens

    def resolved(self) -> list[tuple[str, str]]:
        """The heads and tails as tokens, in printed order."""
        return [(self.aliases.get(head, head), tail) for head, _, tail in self.lines]


class NhopItem(NamedTuple):
    """Facts in printed order, candidate blocks (none in a bag of facts), a question, its answer."""

    id: str
    facts: Sequence[Triple]
    blocks: Sequence[Candidates]
    start: str
    depth: int  # the question asks for f1 .. f{depth}
    answer: str
    accepted: Sequence[str]  # every accepted spelling of the answer
    origin: Origin | None
    may_be_unknown: bool = False  # the prompt says what to answer if a needed fact is missing

    @property
    def question(self) -> str:
        """The question in words."""
        return f"What is {_composed(self.depth)} of {self.start}?"

    @property
    def last_lines(self) -> list[tuple[str, str]]:
        """The head and tail of every printed line of the last function."""
        if self.blocks:
            return self.blocks[-1].resolved()
        last = f"f{self.depth}"
        return [(head, tail) for head, function, tail in self.facts if function == last]

    @property
    def chains(self) -> int:
        """The number of chains that lead to a possible answer, one of which may end early."""
        return len(self.candidates) + self.may_be_unknown

    @property
    def candidates(self) -> list[str]:
        """The possible answers, in printed order."""
        return [tail for _, tail in self.last_lines]

    def layers(self) -> list[list[str]]:
        """The tokens of every layer, sorted."""
        found: dict[str, set[str]] = {}
        for head, _, tail in self.triples():
            for token in (head, tail):
                found.setdefault(token.partition("_")[0], set()).add(token)
        return [sorted(found[layer]) for layer in sorted(found, key=lambda name: (len(name), name))]

    def triples(self) -> list[Triple]:
        """Every printed line, with aliases resolved."""
        lines = list(self.facts)
        for block in self.blocks:
            lines += [(head, block.function, tail) for head, tail in block.resolved()]
        return lines

    def token_counts(self, blocks: int) -> Counter[str]:
        """How often each token is printed in the facts and the first `blocks` blocks.

        Alias maps are left out, since they name every head of their block once.
        """
        above = self._replace(blocks=self.blocks[:blocks])
        return Counter(token for head, _, tail in above.triples() for token in (head, tail))


@lru_cache(maxsize=256)
def _composed(depth: int) -> str:
    """The functions that a question asks for, such as f2 of f1."""
    return " of ".join(f"f{hop}" for hop in range(depth, 0, -1))


def derive(item: NhopItem) -> list[str]:
    """The answers that the printed lines lead to: one, or none after an ablation."""
    tails = defaultdict(list)
    for head, function, tail in item.triples():
        tails[function, head].append(tail)
    reached = [item.start]
    for hop in range(1, item.depth + 1):
        reached = list(dict.fromkeys(tail for head in reached for tail in tails[f"f{hop}", head]))
    return reached


def possible_answers(item: NhopItem) -> list[str]:
    """The candidates that printed facts leave open: one, unless a link of the chain is missing.

    A candidate is ruled out if the lines before it lead back to a token beside the chain.
    """
    chain = true_chain(item)
    heads = {(function, tail): head for head, function, tail in item.triples()}

    def is_open(token: str) -> bool:
        hop = item.depth
        while hop >= len(chain) and (head := heads.get((f"f{hop}", token))):
            token, hop = head, hop - 1
        return hop >= len(chain) or token == chain[hop]

    return [token for token in item.candidates if is_open(token)] or item.candidates


def true_chain(item: NhopItem) -> list[str]:
    """The target chain from the question's token, as far as the printed lines lead."""
    tails = {(function, head): tail for head, function, tail in item.triples()}
    chain = [item.start]
    while len(chain) <= item.depth and (tail := tails.get((f"f{len(chain)}", chain[-1]))):
        chain.append(tail)
    return chain


def layer_letters(layer: int) -> str:
    """The name of a layer: A..Z, AA, AB, ..."""
    name = ""
    layer += 1
    while layer:
        layer, letter = divmod(layer - 1, 26)
        name = chr(ord("A") + letter) + name
    return name


_QUESTION = re.compile(r"what is ((?:f\d+ of )+)(\S+?)\s*\?", re.IGNORECASE)


def read_question(text: str) -> tuple[int, str]:
    """The number of functions that the question in a text asks for, and its token."""
    found = _QUESTION.search(text)
    if found is None:
        raise UserError(f"question must read 'What is f2 of f1 of X?', got {text!r}")
    functions = [int(part[1:]) for part in found[1].lower().split(" of ")[:-1]]
    require(
        functions == list(range(len(functions), 0, -1)),
        f"question must ask for f1 and all functions after it in order, got {text!r}",
    )
    return len(functions), found[2]


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
            block_lines = [line for line in triples if line[1] != IS]
            hop = _function(block_lines, key)
            lines.setdefault(hop, []).append((key, block_lines))
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
