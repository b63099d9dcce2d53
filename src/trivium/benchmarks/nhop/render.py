"""The prompt of an item: in symbols, or in plain English about invented people.

A surface maps an item's tokens, functions and aliases one to one to words. The mapping and the
wording of every line depend on the item's lines but not on their order, so that an item reads the
same in all its order trials.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from trivium.benchmarks.nhop.item import UNKNOWN, Candidates, NhopItem, Triple, read_question
from trivium.core.benchmark import answer_line, ask
from trivium.core.errors import require
from trivium.core.reading import plain
from trivium.core.streams import Stream, stream_key

if TYPE_CHECKING:  # a spec measures its prompts, so it imports this module
    from trivium.benchmarks.nhop.spec import NhopView


class Symbols:
    """Tokens, functions and aliases are their own words."""

    value = "token"  # what an answer is called
    step = "hop"
    intro = "Each line states one fact: 'X ->f-> Y' says that f of X is Y."
    block = "Candidates for {}: {} one of these lines continues the chain in question."
    nicknames = "Names used in this block only:"
    nickname = "{} = {}"
    bullet = ""  # before a candidate

    def __init__(self, item: NhopItem) -> None:
        self.item = item

    def word(self, symbol: str) -> str:
        """The word for a token, a function or an alias."""
        return symbol

    def line(self, line: Triple) -> str:
        """The text of a fact or a candidate."""
        head, function, tail = line
        return f"{head} ->{function}-> {tail}"

    def question(self) -> str:
        """The question in words."""
        return self.item.question

    def symbols(self, reply: str) -> str:
        """A reply with words for tokens and functions replaced by them."""
        return reply


# Other words change the prompts of all items: raise the benchmark's version with them.
# Roles without an inverse among them and without symmetry: a fact says nothing but itself.
_ROLES = """accountant agent architect banker barber biographer builder butcher carpenter chemist
    coach cook dentist doctor driver editor florist gardener guardian hairdresser instructor
    jeweller landlord lawyer librarian mechanic mentor optician painter patron photographer
    pilot plumber printer publisher secretary sponsor tailor translator tutor"""
_ROLE_ADJECTIVES = "former future favourite temporary"
_ANIMALS = """Badger Bear Beaver Bison Cat Cobra Crane Cricket Crow Deer Dove Eagle Falcon Finch
    Fox Goose Hare Hawk Heron Ibis Jackal Kestrel Lark Lion Lynx Magpie Marten Mole Moose Newt
    Otter Owl Panther Raven Robin Seal Sparrow Tiger Wolf Wren"""
_ANIMAL_ADJECTIVES = """Amber Big Black Blue Brave Bright Calm Cold Fast Golden Green Grey Happy
    Kind Little Loud Old Proud Quiet Red Shy Silver Tall White"""
_FIRST_NAMES = (
    """Al An Bel Bren Cal Cor Dan Dor El Em Fen Fin Gal Gwen Hal Hel Il Im Jal Jos Kal Kel Lar Lin
    Mar Mil Nal Nor Ol Or Pel Per Ral Ros Sal Sel Tam Tom Ul Ver""",
    "a an as en ena eth ia ian id in ina io is ita o on ora os ric us",
)
_LAST_NAMES = (  # none ends in s, so that 's can follow
    """Ash Bar Birk Bran Brom Cald Carr Dal Dorn Eld Far Fell Gar Grim Hald Hart Hol Jarr Kess Lang
    Lorn Mal Mor Nord Oak Pell Quin Rad Rey Sand Stor Tarn Thorn Ulm Vand Vorn Wald West Wyn Yar""",
    "ak berg by dale dell ek er feld ford holm ick ing land ley low man mond ner well wood",
)
_FIRSTS, _LASTS = (
    [start + end for start in starts.split() for end in ends.split()]
    for starts, ends in (_FIRST_NAMES, _LAST_NAMES)
)


def _any(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"


_PERSON = " ".join(_any(starts) + _any(ends) for starts, ends in (_FIRST_NAMES, _LAST_NAMES))
_ROLE = f"(?:{_any(_ROLE_ADJECTIVES)} )?{_any(_ROLES)}"
_WORD = re.compile(rf"(?<!\w)(?:{_PERSON}|{_ROLE})(?!\w)", re.IGNORECASE)
SENTENCES = (
    "The {function} of {head} is {tail}.",
    "{head}'s {function} is {tail}.",
    "{tail} is the {function} of {head}.",
    "{tail} is {head}'s {function}.",
)


class Relations(Symbols):
    """Tokens are invented people, functions are roles, and aliases are nicknames."""

    value = "full name"
    step = "step"
    intro = "Each line states one fact about a group of people."
    block = "Candidates for the {}: {} one line of this list continues the chain in question."
    nicknames = "Nicknames used in this list only:"
    nickname = "{} is {}."
    bullet = "- "

    def __init__(self, item: NhopItem) -> None:
        super().__init__(item)
        printed = [line for block in item.blocks for line in block.lines]
        lines = sorted({tuple(line) for line in [*item.facts, *printed]})
        stream = Stream(stream_key("relations", item.start, lines))
        shown = item.triples()
        tokens = sorted({item.start, *(token for line in shown for token in line[::2])})
        functions = [f"f{hop}" for hop in range(1, item.depth + 1)]
        functions += sorted({line[1] for line in shown} - set(functions))
        aliases = sorted({alias for block in item.blocks for alias in block.aliases})
        self._read = _people(stream, tokens) | _nouns(stream, functions, _ROLES, _ROLE_ADJECTIVES)
        self._words = self._read | _nouns(stream, aliases, _ANIMALS, _ANIMAL_ADJECTIVES)
        self._sentences = {line: stream.choice(SENTENCES) for line in lines}

    def word(self, symbol: str) -> str:
        return self._words.get(symbol, symbol)

    def line(self, line: Triple) -> str:
        head, function, tail = map(self.word, line)
        return self._sentences[tuple(line)].format(head=head, function=function, tail=tail)

    def question(self) -> str:
        roles = (self.word(f"f{hop}") for hop in range(self.item.depth, 0, -1))
        chain = " of ".join(f"the {role}" for role in roles)
        return f"Who is {chain} of {self.word(self.item.start)}?"

    def symbols(self, reply: str) -> str:
        known = {word.casefold(): symbol for symbol, word in self._read.items()}
        return _WORD.sub(lambda found: known.get(found[0].casefold(), found[0]), plain(reply))


def _people(stream: Stream, tokens: Sequence[str]) -> dict[str, str]:
    """A name for every token; first and last names repeat only in items of over 800 tokens."""
    size = len(_FIRSTS)
    require(len(tokens) <= size * size, f"surface relations has {size * size} names only")
    firsts, lasts = (stream.sample(names, min(size, len(tokens))) for names in (_FIRSTS, _LASTS))
    places = ((place % size, (place + place // size) % size) for place in range(len(tokens)))
    return {
        token: f"{firsts[first]} {lasts[last]}"
        for token, (first, last) in zip(tokens, places, strict=True)
    }


def _nouns(stream: Stream, symbols: Sequence[str], nouns: str, adjectives: str) -> dict[str, str]:
    """A noun for every symbol, with an adjective once the nouns are used up."""
    words, before = stream.shuffled(nouns.split()), adjectives.split()
    many = len(words) * (1 + len(before))
    require(len(symbols) <= many, f"surface relations has {many} words only")
    more = (f"{adjective} {noun}" for adjective in before for noun in words)
    return dict(zip(symbols, chain(words, more), strict=False))


def surface_of(item: NhopItem, view: NhopView) -> Symbols:
    """The surface of an item in a view."""
    return Relations(item) if view.surface == "relations" else Symbols(item)


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
