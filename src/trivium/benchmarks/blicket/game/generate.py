"""Blicket games: the item, and how it is generated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from trivium.benchmarks.blicket.game.spec import EXAMPLES, UNSURE, GameSpec, mixed_games
from trivium.benchmarks.blicket.inference.hypotheses import (
    EXAMPLE_TESTS,
    LETTERS,
    OPEN,
    Hypothesis,
    Space,
    letters,
    mask_of,
    parse,
    rules_shown,
)
from trivium.core.benchmark import Origin
from trivium.core.spec import spec_to_dict
from trivium.core.streams import Stream, item_stream, stream_key

Tests = tuple[tuple[str, bool], ...]  # the objects of each test, and whether the machine lit up


ExampleTest = tuple[tuple[str, ...], bool]  # the objects on the machine, and whether it lit up
# The objects of the example machines, from Appendix C of the paper.
EXAMPLE_OBJECTS = {
    EXAMPLES[0]: ("blue pyramid", "green cube", "orange sphere"),
    EXAMPLES[1]: ("yellow cylinder", "purple cone", "red dome"),
}


@dataclass(frozen=True, slots=True)
class GameAnswer:
    """An answer about the machine, and the tests before it."""

    blickets: str  # letters such as AC
    form: str  # conjunctive, threshold-2, ...; after demonstrations striped, dotted or unsure
    inhibitors: str = ""
    tests: Tests = ()
    unsure: str = ""  # objects that the player is unsure about, after demonstrations

    @staticmethod
    def of(machine: Hypothesis) -> GameAnswer:
        """The answer that names a machine."""
        return GameAnswer(letters(machine.blickets), machine.rule, letters(machine.inhibitors))


class Example(NamedTuple):
    """An example machine shown before a game, as in the experiment with children."""

    name: str  # one of EXAMPLES
    tests: tuple[ExampleTest, ...]

    @staticmethod
    def of(name: str, rule: str) -> Example:
        """The example machine of this name, with the tests that demonstrate a rule."""
        objects = EXAMPLE_OBJECTS[name]
        shown = [
            (tuple(objects[number] for number in placed), light)
            for placed, light in EXAMPLE_TESTS[rule]
        ]
        return Example(name, tuple(shown))


class GameItem(NamedTuple):
    """A game before it is played."""

    id: str
    spec: GameSpec
    machine: Hypothesis
    flips: tuple[bool, ...]  # for each test, whether noise inverts the light
    listing: str  # the objects in the order of the prompt
    origin: Origin | None
    swapped: bool = False  # whether the first example machine is the disjunctive one

    @property
    def examples(self) -> dict[str, str]:
        """The rule that each example machine demonstrates; empty if the tests leave it open."""
        if self.spec.demonstrations != "given":
            return {}
        return dict(zip(EXAMPLES, rules_shown(True, self.swapped), strict=True))

    @property
    def example_machines(self) -> list[Example]:
        """The example machines, in order; none without demonstrations."""
        names = EXAMPLES if self.spec.demonstrations != "none" else ()
        return [Example.of(name, self.examples.get(name, OPEN)) for name in names]

    @property
    def truth(self) -> str:
        """The machine as text, without noise."""
        return str(replace(self.machine, noise=0.0))

    @property
    def space(self) -> Space:
        """The possible machines."""
        return self.spec.space

    @property
    def objects(self) -> str:
        """The names of the objects."""
        return LETTERS[: self.spec.objects]


def generate(spec: GameSpec, seed: int, start: int = 0, count: int = 1) -> Iterator[GameItem]:
    """The items start .. start + count - 1, every machine of a game equally likely."""
    fields = spec_to_dict(spec)
    for index in range(start, start + count):
        stream = item_stream(spec, seed, index)
        item_spec = stream.choice(mixed_games()).spec if spec.mixed else spec
        yield GameItem(
            id=f"GAME-{index:06d}",
            spec=item_spec,
            machine=stream.choice(item_spec.space.hypotheses),
            flips=tuple(stream.random() < item_spec.noise for _ in range(item_spec.tests)),
            listing="".join(stream.shuffled(LETTERS[: item_spec.objects])),
            origin=Origin(fields, seed, index),
            swapped=item_spec.demonstrations == "given" and stream.random() < 0.5,
        )


def reshuffle(item: GameItem, trial: int) -> GameItem:
    """The same game with its objects in another order; trial 0 is the game itself."""
    if trial == 0:
        return item
    stream = Stream(stream_key("reshuffle", item.listing, item.truth, trial))
    return item._replace(listing="".join(stream.shuffled(item.listing)))


def rename(item: GameItem, mapping: Mapping[str, str]) -> GameItem:
    """The same game with its objects' letters exchanged."""
    listed = tuple(str(rename_machine(parse(text), mapping)) for text in item.spec.hypotheses)
    return item._replace(
        spec=replace(item.spec, hypotheses=listed),
        machine=rename_machine(item.machine, mapping),
        listing="".join(mapping[letter] for letter in item.listing),
    )


def rename_machine(machine: Hypothesis, mapping: Mapping[str, str]) -> Hypothesis:
    """The same machine with its objects' letters exchanged."""

    def renamed(mask: int) -> int:
        return mask_of("".join(mapping[letter] for letter in letters(mask)))

    return replace(
        machine, blickets=renamed(machine.blickets), inhibitors=renamed(machine.inhibitors)
    )


def gold(item: GameItem) -> GameAnswer:
    """The right answer, given without a test."""
    return in_words_of(item.spec, item.examples, GameAnswer.of(item.machine))


def in_words_of(spec: GameSpec, examples: Mapping[str, str], answer: GameAnswer) -> GameAnswer:
    """The answer with the form as an example machine, if there are demonstrations."""
    if spec.demonstrations == "none":
        return answer
    like = next((name for name, rule in examples.items() if rule == answer.form), UNSURE)
    return replace(answer, form=like)
