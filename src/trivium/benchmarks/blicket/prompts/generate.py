"""Blicket prompts: the item, and how it is generated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trivium.benchmarks.blicket.names import PATTERNS, THINGS
from trivium.benchmarks.blicket.prompts import matched
from trivium.benchmarks.blicket.prompts.evidence import (
    UNSURE,
    Machine,
    PromptAnswer,
    Test,
    ideal_answer,
    members,
    read_page,
)
from trivium.benchmarks.blicket.prompts.phrases import VOICES
from trivium.benchmarks.blicket.prompts.spec import MAX_OBJECTS, PromptSpec
from trivium.benchmarks.blicket.prompts.stimuli import prompt_text
from trivium.core.benchmark import Origin
from trivium.core.spec import spec_to_dict
from trivium.core.streams import Stream, balanced_kinds, spec_key, stream_key


class PromptItem(NamedTuple):
    """Two example machines, then the new one."""

    id: str
    hypotheses: str
    form: str
    machines: tuple[Machine, ...]
    voice: int  # an index of VOICES
    paper: bool  # one of the paper's own prompts
    answer: PromptAnswer
    origin: Origin | None
    two_shot: bool = False  # the paper's two-shot prompt, whose preamble names the kinds

    @property
    def named(self) -> bool:
        """Whether the prompt names the kinds of machines."""
        return self.paper or self.hypotheses == "given"

    @property
    def new(self) -> Machine:
        """The machine of the question."""
        return self.machines[-1]

    @property
    def known(self) -> tuple[str, ...]:
        """The patterns of the machines that the new one may be like."""
        return tuple(machine.pattern for machine in self.machines[:-1])

    @property
    def objects(self) -> tuple[str, ...]:
        """Every object of every machine."""
        return tuple(name for machine in self.machines for name in machine.objects)


def generate(spec: PromptSpec, seed: int, start: int = 0, count: int = 1) -> Iterator[PromptItem]:
    """The items start .. start + count - 1; every block of items has each cell once."""
    fields, cells = spec_to_dict(spec), spec.cells
    key = spec_key(spec, seed)
    order: list[int] = balanced_kinds(key, len(cells), start, count).tolist()
    two_shot = spec.stimuli == "paper_two_shot"
    for index, cell in zip(range(start, start + count), order, strict=True):
        item = (
            _matched_item(spec, *cells[cell], key, index)
            if spec.matched
            else paper_item(*cells[cell], two_shot)
        )
        yield item._replace(id=f"BLK-{index:06d}", origin=Origin(fields, seed, index))


def paper_item(hypotheses: str, form: str, two_shot: bool) -> PromptItem:
    """The paper's own item: the machines of its story, and the answer that its prompt leads to."""
    story = read_page(prompt_text("freeform", hypotheses, form))
    page = read_page(prompt_text("two_shot", hypotheses, form)) if two_shot else story
    answer = ideal_answer(page.machines, page.named, page.stated)
    return PromptItem("", hypotheses, form, story.machines, 0, True, answer, None, two_shot)


def _matched_item(spec: PromptSpec, hypotheses: str, form: str, key: int, index: int) -> PromptItem:
    stream = Stream(stream_key(key, index, "matched"))
    voice = stream.below(len(VOICES))
    size = matched.EXAMPLE_OBJECTS
    names = stream.sample(THINGS, 2 * size + spec.objects)
    patterns = stream.sample(PATTERNS, 3)
    given = hypotheses == "given"
    roles = stream.shuffled(["conjunctive", "disjunctive"]) if given else ["open", "open"]
    first, _ = _named(patterns[0], names[:size], _shuffled(roles[0], stream), stream)
    second, _ = _named(patterns[1], names[size : 2 * size], _shuffled(roles[1], stream), stream)
    tests, (sure, maybe) = matched.new_machine(spec.objects, spec.tests, form, stream)
    new, cast = _named(patterns[2], names[2 * size :], tests, stream)
    like = patterns[roles.index(form)] if given else UNSURE
    answer = PromptAnswer(members(cast, sure), members(cast, maybe), like)
    machines = (first, second, new)
    return PromptItem("", hypotheses, form, machines, voice, False, answer, None)


def _shuffled(role: str, stream: Stream) -> matched.Printed:
    """The tests of an example in random order, as are the objects of each."""
    uniform = stream.random
    shown: matched.Printed = []
    for placed, light in stream.shuffled(matched.example(role, stream)):
        on = [*_BITS[placed]]
        for last in range(len(on) - 1, 0, -1):  # Stream.shuffle inlined, which is twice as fast
            other = int(uniform() * (last + 1))
            on[last], on[other] = on[other], on[last]
        shown.append((on, light))
    return shown


def _named(
    pattern: str, names: list[str], tests: matched.Printed, stream: Stream
) -> tuple[Machine, list[str]]:
    """A machine with these tests, and the name of each object of the tests."""
    cast = stream.shuffled(names)
    shown: list[Test] = [(tuple([cast[bit] for bit in on]), light) for on, light in tests]
    return Machine(pattern, tuple(names), tuple(shown)), cast


_BITS = [
    [bit for bit in range(MAX_OBJECTS) if placed >> bit & 1] for placed in range(1 << MAX_OBJECTS)
]


def reshuffle(item: PromptItem, trial: int) -> PromptItem:
    """The same item with objects and tests in another order; trial 0 is the item itself."""
    if trial == 0 or item.paper:
        return item  # the paper's prompts have a fixed order
    stream = Stream(stream_key("reshuffle", item.machines, trial))
    machines = [
        machine._replace(
            objects=tuple(stream.shuffled(machine.objects)),
            tests=tuple(stream.shuffled(machine.tests)),
        )
        for machine in item.machines
    ]
    return item._replace(machines=tuple(machines))
