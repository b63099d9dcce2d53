"""Writing the prompt of an item, and reading it back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trivium.benchmarks.nhop.item import UNKNOWN, Candidates, NhopItem, Triple, read_question
from trivium.benchmarks.nhop.surface import SENTENCES, surface_of
from trivium.core.reading import answer_line, ask

if TYPE_CHECKING:  # a spec measures its prompts, so it imports this module
    from trivium.benchmarks.nhop.spec import NhopView

_MODES = {
    "direct": "Answer with one {value} and nothing else.",
    "steps": "Fill in one line for every {step}, then the answer, and write nothing else:\n{slots}",
    "free": ask("<{value}>"),
}
_UNKNOWN = f"If a fact that this needs is missing, the answer is {UNKNOWN}."


def render(item: NhopItem, view: NhopView) -> str:
    """The prompt: facts, blocks, the question and how to answer."""
    words = surface_of(item, view)
    parts = [words.intro, "\n".join(["Facts:", *map(words.line, item.facts)])]
    for block in item.blocks:
        how_many = "at most" if item.may_be_unknown else "exactly"
        lines = [words.block.format(words.word(block.function), how_many)]
        if block.aliases:
            names = block.aliases.items()
            lines.append(words.nicknames)
            lines += [words.nickname.format(*map(words.word, name)) for name in names]
        lines += [words.bullet + words.line(line) for line in block.lines]
        parts.append("\n".join(lines))
    value = f"<{words.value}>"
    slots = [f"{words.word(f'f{hop}')}: {value}" for hop in range(1, item.depth + 1)]
    how = _MODES[view.mode].format(
        value=words.value, step=words.step, slots="\n".join([*slots, answer_line(value)])
    )
    unknown = f"\n{_UNKNOWN}" if item.may_be_unknown else ""
    return "\n\n".join([*parts, f"Question: {words.question()}{unknown}", how])


_SECTION = re.compile(r"^(?:Facts:|Candidates for (?:the )?([a-z0-9 ]+):.*)$", re.MULTILINE)
_TRIPLE = re.compile(r"^(.+) ->(.+)-> (.+)$", re.MULTILINE)
_ALIAS = re.compile(r"^(.+) = (.+)$", re.MULTILINE)
# The same in the words of relations.
_NAME = r"[A-Z]\w+(?: [A-Z]\w+)?"
_WHO = re.compile(rf"^Question: Who is the (.+) of ({_NAME})\?$", re.MULTILINE)
_NICKNAME = re.compile(rf"^({_NAME}) is ({_NAME})\.$", re.MULTILINE)
_SENTENCES = [
    re.compile(
        "^(?:- )?"
        + sentence.format(
            head=f"(?P<head>{_NAME})", function="(?P<function>[a-z ]+)", tail=f"(?P<tail>{_NAME})"
        ).replace(".", r"\.")
        + "$",
        re.MULTILINE,
    )
    for sentence in SENTENCES
]


def read_prompt(prompt: str, *, literal: bool = False) -> NhopItem:
    """The item that a prompt shows, without its answer; tokens are spelled as in the prompt.

    A literal reader knows no aliases, and only the facts in the words of the question.
    """
    functions: dict[str, str] = {}
    if found := _WHO.search(prompt):
        roles, start = found[1].split(" of the "), found[2]
        depth = len(roles)
        functions = {role: f"f{hop}" for role, hop in zip(roles, range(depth, 0, -1), strict=True)}
        for sentence in _SENTENCES[:1] if literal else _SENTENCES:
            prompt = sentence.sub(r"\g<head> ->\g<function>-> \g<tail>", prompt)
        prompt = _NICKNAME.sub(r"\1 = \2", prompt)
    else:
        depth, start = read_question(prompt)
    sections = list(_SECTION.finditer(prompt))
    ends = [section.start() for section in sections[1:]] + [prompt.rindex("\nQuestion:")]
    facts: Sequence[Triple] = []
    blocks: list[Candidates] = []
    for section, end in zip(sections, ends, strict=True):
        text = prompt[section.end() : end]
        triples = [(head, functions.get(f, f), tail) for head, f, tail in _TRIPLE.findall(text)]
        if section[1] is None:
            facts = triples
        else:
            aliases = {} if literal else dict(_ALIAS.findall(text))
            blocks.append(Candidates(functions.get(section[1], section[1]), triples, aliases))
    return NhopItem("", facts, blocks, start, depth, "", (), None, _UNKNOWN in prompt)
