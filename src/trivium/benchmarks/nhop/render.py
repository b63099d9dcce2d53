"""Writing the prompt of an item, and reading it back."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from trivium.benchmarks.nhop.item import Candidates, NhopItem, Triple, read_question
from trivium.core.reading import answer_line, ask

if TYPE_CHECKING:  # a spec measures its prompts, so it imports this module
    from trivium.benchmarks.nhop.spec import NhopView

_FACT = "Each line states one fact: 'X ->f-> Y' says that f of X is Y."
_BLOCK = "Candidates for {function}: exactly one of these lines continues the chain in question."
_ALIASES = "Names used in this block only:"
_MODES = {
    "direct": "Answer with one token and nothing else.",
    "steps": "Fill in one line for every hop, then the answer, and write nothing else:\n{slots}",
    "free": ask("<token>"),
}


def render(item: NhopItem, view: NhopView) -> str:
    """The prompt: facts, blocks, the question and how to answer."""
    parts = [_FACT, "Facts:\n" + _lines(item.facts)]
    for block in item.blocks:
        head = _BLOCK.format(function=block.function)
        if block.aliases:
            names = "\n".join(f"{alias} = {token}" for alias, token in block.aliases.items())
            head += f"\n{_ALIASES}\n{names}"
        parts.append(f"{head}\n{_lines(block.lines)}")
    slots = [f"f{hop}: <token>" for hop in range(1, item.depth + 1)]
    how = _MODES[view.mode].format(slots="\n".join([*slots, answer_line("<token>")]))
    return "\n\n".join([*parts, f"Question: {item.question}", how])


def _lines(triples: Iterable[Triple]) -> str:
    return "\n".join([f"{head} ->{function}-> {tail}" for head, function, tail in triples])


_SECTION = re.compile(r"^(?:Facts:|Candidates for (f\d+):.*)$", re.MULTILINE)
_TRIPLE = re.compile(r"^(\S+) ->(f\d+)-> (\S+)$", re.MULTILINE)
_ALIAS = re.compile(r"^(\S+) = (\S+)$", re.MULTILINE)


def read_prompt(prompt: str) -> NhopItem:
    """The item that a prompt shows, without its answer."""
    depth, start = read_question(prompt)
    sections = list(_SECTION.finditer(prompt))
    ends = [section.start() for section in sections[1:]] + [prompt.rindex("\nQuestion:")]
    facts: list[Triple] = []
    blocks: list[Candidates] = []
    for section, end in zip(sections, ends, strict=True):
        text = prompt[section.end() : end]
        triples = _TRIPLE.findall(text)
        if section[1] is None:
            facts = triples
        else:
            blocks.append(Candidates(section[1], triples, dict(_ALIAS.findall(text))))
    return NhopItem("", facts, blocks, start, depth, "", (), None)
