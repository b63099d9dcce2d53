"""One n-hop item, and its row in a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from trivium.benchmarks.nhop.generate import Sheet, Spec, plan, sheets
from trivium.benchmarks.nhop.spec import ImplicitSpec
from trivium.core.benchmark import Origin
from trivium.core.errors import require
from trivium.core.spec import spec_to_dict

Triple = Sequence[str]  # head, function, tail
# The seed's own names for the blocks of the last three functions.
SEED_NAMES = ("candidates_fn_2", "candidates_fn_1", "candidates_fn")


class Candidates(NamedTuple):
    """The block of one function: lines as printed, and what its aliases stand for."""

    function: str
    lines: Sequence[Triple]
    aliases: Mapping[str, str]  # alias to token; empty where heads are printed plainly

    def resolved(self) -> list[tuple[str, str]]:
        """The heads and tails as tokens, in the order of print."""
        return [(self.aliases.get(head, head), tail) for head, _, tail in self.lines]


class NhopItem(NamedTuple):
    """An item as told: facts, blocks (none in a bag of facts), a question and its answer."""

    id: str
    facts: Sequence[Triple]
    blocks: Sequence[Candidates]
    start: str
    depth: int  # functions asked for, f1 .. f{depth}
    answer: str
    accepted: Sequence[str]  # every spelling of the answer that counts
    origin: Origin | None

    @property
    def question(self) -> str:
        """The question in words."""
        return question_text(self.depth, self.start)

    @property
    def candidates(self) -> list[str]:
        """The tokens that could be the answer by their place alone, in order of print."""
        if self.blocks:
            return [tail for _, _, tail in self.blocks[-1].lines]
        last = f"f{self.depth}"
        return [tail for _, function, tail in self.facts if function == last]


def layer_letters(layer: int) -> str:
    """A..Z, AA, AB, ...: the name of a layer."""
    name = ""
    layer += 1
    while layer:
        layer, letter = divmod(layer - 1, 26)
        name = chr(ord("A") + letter) + name
    return name


def question_text(depth: int, start: str) -> str:
    """The question that asks for f{depth} of ... of f1 of a token."""
    functions = " of ".join(f"f{hop}" for hop in range(depth, 0, -1))
    return f"What is {functions} of {start}?"


def item_id(spec: Spec, index: int) -> str:
    """The readable name of an item."""
    return f"{'IMP' if isinstance(spec, ImplicitSpec) else 'SYN'}-{index:06d}"


def generate(spec: Spec, seed: int, start: int = 0, count: int = 1) -> Iterator[NhopItem]:
    """The items start .. start + count - 1."""
    for sheet in sheets(spec, seed, start, count):
        yield from _items(spec, seed, sheet)


def _items(spec: Spec, seed: int, sheet: Sheet) -> Iterator[NhopItem]:
    shape = plan(spec)
    fields = spec_to_dict(spec)
    prefix = "" if isinstance(spec, ImplicitSpec) else spec.alias_prefix
    names = [layer_letters(layer) for layer in range(shape.depth + 1)]

    def token(layer: int, number: int) -> str:
        return f"{names[layer]}_{number:0{spec.id_width}d}"

    def triple(hop: int, head: int, tail: int) -> list[str]:
        return [token(hop - 1, head), f"f{hop}", token(hop, tail)]

    for row in range(len(sheet)):
        blocks = []
        for block in sheet.blocks:
            lines = [
                triple(block.hop, head, tail)
                for head, tail in zip(block.heads[row], block.tails[row], strict=True)
            ]
            aliases: dict[str, str] = {}
            if block.aliases is not None:
                for line, number in zip(lines, block.aliases[row], strict=True):
                    aliases[f"{prefix}{number}"], line[0] = line[0], f"{prefix}{number}"
                aliases = {
                    f"{prefix}{k}": aliases[f"{prefix}{k}"] for k in range(1, len(lines) + 1)
                }
            blocks.append(Candidates(f"f{block.hop}", lines, aliases))
        facts = zip(sheet.hops[row], sheet.heads[row], sheet.tails[row], strict=True)
        index = sheet.start + row
        answer = token(shape.depth, sheet.answers[row])
        yield NhopItem(
            id=item_id(spec, index),
            facts=[triple(*fact) for fact in facts],
            blocks=blocks,
            start=token(0, sheet.questions[row]),
            depth=shape.depth,
            answer=answer,
            accepted=[answer],
            origin=Origin(fields, seed, index),
        )


def to_row(item: NhopItem) -> dict[str, Any]:
    """The item as it stands in a file, in the seed's shape."""
    row: dict[str, Any] = {"id": item.id}
    if item.blocks:
        row |= {"type": "synthetic", "n": item.depth, "L": len(item.blocks)}
        row["facts_chain"] = item.facts
        for block in item.blocks:
            row[f"candidates_{block.function}"] = block.lines
            if block.aliases:
                row[f"alias_map_{block.function}"] = block.aliases
        for name, last in zip(reversed(SEED_NAMES), reversed(item.blocks), strict=False):
            row[name] = last.lines
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


_QUESTION = re.compile(r"what is ((?:f\d+ of )+)(\S+?)\s*\?", re.IGNORECASE)


def from_row(row: Mapping[str, Any], explicit: bool) -> NhopItem:
    """The item in a row, made here or elsewhere; its answer is derived anew."""
    name = row.get("id")
    require(isinstance(name, str) and bool(name), "id must be text")
    depth, start = read_question(row.get("question"))
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
    item = NhopItem(str(name), facts, blocks, start, depth, str(answer), accepted, _origin(row))
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


def _check_aliases(item: NhopItem) -> None:
    """Refuse heads that look like aliases, link to nothing above and have no map."""
    above = {item.start, *(tail for _, _, tail in item.facts)}
    for block in item.blocks:
        heads = {head for head, _, _ in block.lines}
        known = bool(block.aliases) or not heads.isdisjoint(above)
        # Tokens have an underscore and aliases have none.
        plain = all("_" in head for head in heads)
        require(known or plain, f"alias_map_{block.function} is missing")
        above.update(tail for _, _, tail in block.lines)


def read_question(question: Any) -> tuple[int, str]:
    """How many functions a question asks for, and of which token."""
    found = _QUESTION.search(question) if isinstance(question, str) else None
    require(found is not None, f"question must read 'What is f2 of f1 of X?', got {question!r}")
    assert found is not None
    functions = [int(part[1:]) for part in found[1].lower().split(" of ")[:-1]]
    require(
        functions == list(range(len(functions), 0, -1)),
        f"question must ask for f1 and all functions after it in order, got {question!r}",
    )
    return len(functions), found[2]


def derive(item: NhopItem) -> list[str]:
    """Every answer that composing the printed lines leads to: one, or none after an ablation."""
    steps: dict[tuple[str, str], list[str]] = {}
    for head, function, tail in item.facts:
        steps.setdefault((function, head), []).append(tail)
    for block in item.blocks:
        for head, tail in block.resolved():
            steps.setdefault((block.function, head), []).append(tail)
    reached = [item.start]
    for hop in range(1, item.depth + 1):
        after = (tail for head in reached for tail in steps.get((f"f{hop}", head), ()))
        reached = list(dict.fromkeys(after))
    return reached


def _triples(value: Any, where: str) -> list[list[str]]:
    ok = isinstance(value, list) and all(
        isinstance(line, list) and len(line) == 3 and all(isinstance(part, str) for part in line)
        for line in value
    )
    require(ok, f"{where} must be a list of [head, function, tail]")
    return list(value)


def _blocks(row: Mapping[str, Any], depth: int) -> list[Candidates]:
    found: dict[int, list[list[str]]] = {}
    for key, value in row.items():
        if key.startswith("candidates_"):
            lines = _triples(value, key)
            functions = {line[1] for line in lines}
            require(
                len(functions) == 1 and re.fullmatch(r"f\d+", min(functions)) is not None,
                f"{key} must hold lines of one function",
            )
            hop = int(min(functions)[1:])
            require(
                found.setdefault(hop, lines) == lines,
                f"{key} disagrees with another block of f{hop}",
            )
    hops = sorted(found)
    require(
        bool(hops) and hops == list(range(hops[0], depth + 1)),
        f"candidate blocks must cover the functions up to f{depth} without a gap, got {hops}",
    )
    return [_candidates(f"f{hop}", found[hop], row.get(f"alias_map_f{hop}") or {}) for hop in hops]


def _candidates(function: str, lines: list[list[str]], aliases: Any) -> Candidates:
    """A block, its alias map in either direction and its heads printed either way."""
    where = f"alias_map_{function}"
    require(
        isinstance(aliases, dict) and all(isinstance(token, str) for token in aliases.values()),
        f"{where} must map aliases to tokens",
    )
    # Tokens have an underscore and aliases have none: that tells the map's direction.
    if any("_" in key for key in aliases):
        aliases = {alias: token for token, alias in aliases.items()}
    if aliases:
        names = {token: alias for alias, token in aliases.items()} | {key: key for key in aliases}
        require(
            all(line[0] in names for line in lines), f"{where} must name every head of its block"
        )
        lines = [[names[head], *rest] for head, *rest in lines]
    block = Candidates(function, lines, aliases)
    for side, tokens in zip(("heads", "tails"), zip(*block.resolved(), strict=True), strict=True):
        require(len(set(tokens)) == len(tokens), f"candidates_{function}: {side} must be unique")
    return block


def _origin(row: Mapping[str, Any]) -> Origin | None:
    spec, seed, index = row.get("spec"), row.get("seed"), row.get("index")
    if isinstance(spec, dict) and isinstance(seed, int) and isinstance(index, int):
        return Origin(spec, seed, index)
    return None
