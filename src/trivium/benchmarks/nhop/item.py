"""Items: their facts and blocks of candidates."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

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
