"""Blicket prompts: the item, how it is generated, and its row in a file."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from trivium.benchmarks.blicket.prompts.evidence import (
    Machine,
    PromptAnswer,
    Test,
    ideal_answer,
    judge,
    read_page,
)
from trivium.benchmarks.blicket.prompts.phrases import COLOURS, PATTERNS, SHAPES, VOICES, mentions
from trivium.benchmarks.blicket.prompts.spec import MAX_OBJECTS, PromptSpec
from trivium.benchmarks.blicket.prompts.stimuli import prompt_text
from trivium.core.benchmark import Origin
from trivium.core.errors import require
from trivium.core.spec import spec_to_dict
from trivium.core.streams import Stream, item_stream, stream_key

# What is placed on a machine to learn from, in terms of its first three objects, and what lights
# it in each role. "open" evidence fits one blicket as well as two.
PLACEMENTS: dict[str, dict[str, tuple[tuple[str, bool], ...]]] = {
    "balanced": {
        "conjunctive": (("a", False), ("b", False), ("ab", True), ("ac", False)),
        "disjunctive": (("a", True), ("b", False), ("ab", True), ("ac", True)),
        "open": (("a", False), ("b", False), ("ab", False), ("ac", True)),
    },
    "paper": {
        "conjunctive": (("a", False), ("b", False), ("ab", True)),
        "disjunctive": (("a", True), ("b", False), ("ab", True)),
        "open": (("a", False), ("c", False), ("ab", True)),
    },
}


class PromptItem(NamedTuple):
    """Two machines to learn from, then the new one."""

    id: str
    hypotheses: str
    form: str
    machines: tuple[Machine, ...]
    voice: int  # which of VOICES tells it
    paper: bool  # one of the paper's own prompts
    answer: PromptAnswer
    origin: Origin | None

    @property
    def new(self) -> Machine:
        """The machine that is asked about."""
        return self.machines[-1]

    @property
    def known(self) -> tuple[str, ...]:
        """The patterns of the machines that the new one may be like."""
        return tuple(machine.pattern for machine in self.machines[:-1])

    @property
    def objects(self) -> tuple[str, ...]:
        """Every object of every machine."""
        return tuple(name for machine in self.machines for name in machine.objects)


def gold(item: PromptItem) -> PromptAnswer:
    """The right answer."""
    return item.answer


def generate(spec: PromptSpec, seed: int, start: int = 0, count: int = 1) -> Iterator[PromptItem]:
    """The items start .. start + count - 1; the cells of the spec take turns."""
    fields, cells = spec_to_dict(spec), spec.cells
    paper = spec.stimuli == "paper"
    for index in range(start, start + count):
        hypotheses, form = cells[index % len(cells)]
        stream = item_stream(spec, seed, index)
        voice = 0 if paper else stream.below(len(VOICES))
        machines = (
            _paper_machines(hypotheses, form)
            if paper
            else _machines(spec, hypotheses, form, stream)
        )
        answer, origin = ideal_answer(machines), Origin(fields, seed, index)
        name = f"BLK-{index:06d}"
        yield PromptItem(name, hypotheses, form, machines, voice, paper, answer, origin)


def _paper_machines(hypotheses: str, form: str) -> tuple[Machine, ...]:
    """The machines of the paper's own story, read from its freeform prompt."""
    return read_page(prompt_text("freeform", hypotheses, form)).machines


def _machines(spec: PromptSpec, hypotheses: str, form: str, stream: Stream) -> tuple[Machine, ...]:
    size = spec.objects
    colours, shapes = stream.sample(COLOURS, 3 * size), stream.sample(SHAPES, 3 * size)
    names = [f"{colour} {shape}" for colour, shape in zip(colours, shapes, strict=True)]
    patterns = stream.sample(PATTERNS, 3)
    roles = stream.shuffled(["conjunctive", "disjunctive"])
    if hypotheses == "not_given":
        roles = ["open", "open"]
    machines = []
    for number, role in enumerate(roles):
        own = names[number * size : (number + 1) * size]
        cast = dict(zip("abc", stream.sample(own, 3), strict=True))
        tests: list[Test] = [
            (tuple(stream.shuffled([cast[part] for part in placed])), light)
            for placed, light in PLACEMENTS[spec.placements][role]
        ]
        machines.append(Machine(patterns[number], tuple(own), tuple(stream.shuffled(tests))))
    own = names[2 * size :]
    machines.append(Machine(patterns[2], tuple(own), tuple(_full_tests(own, form, stream))))
    return tuple(machines)


def _full_tests(names: Sequence[str], form: str, stream: Stream) -> list[Test]:
    """Every object alone, every pair and all together: every object is named equally often."""
    blickets = set(stream.sample(names, 1 if form == "disjunctive" else 2))
    sets = [*itertools.combinations(names, 1), *itertools.combinations(names, 2), tuple(names)]
    return stream.shuffled(
        [(tuple(stream.shuffled(placed)), blickets <= set(placed)) for placed in sets]
    )


def reshuffle(item: PromptItem, trial: int) -> PromptItem:
    """The same item with objects and tests in another order; trial 0 is the item itself."""
    if trial == 0 or item.paper:
        return item  # the paper's prompts have one order only
    stream = Stream(stream_key("reshuffle", item.machines, trial))
    machines = [
        machine._replace(
            objects=tuple(stream.shuffled(machine.objects)),
            tests=tuple(stream.shuffled(machine.tests)),
        )
        for machine in item.machines
    ]
    return item._replace(machines=tuple(machines))


def to_row(item: PromptItem) -> dict[str, Any]:
    """The item as a row of a file."""
    row: dict[str, Any] = {
        "id": item.id,
        "hypotheses": item.hypotheses,
        "form": item.form,
        "machines": [
            {
                "pattern": machine.pattern,
                "objects": machine.objects,
                "tests": [{"placed": placed, "light": light} for placed, light in machine.tests],
            }
            for machine in item.machines
        ],
        "voice": item.voice,
        "paper": item.paper,
        "blickets": item.answer.blickets,
        "like": item.answer.like,
    }
    if item.origin is not None:
        row |= {"spec": item.origin.spec, "seed": item.origin.seed, "index": item.origin.index}
    return row


def from_row(row: Mapping[str, Any], number: int) -> PromptItem:
    """The item in a row, generated here or elsewhere; what is stored must follow from the tests."""
    name, voice, paper = row.get("id"), row.get("voice"), row.get("paper")
    require(isinstance(name, str) and bool(name), "id must be text")
    rows = row.get("machines")
    require(isinstance(rows, list) and len(rows) == 3, "machines must be a list of three")
    machines = tuple(_machine(each, f"machines[{n}]") for n, each in enumerate(row["machines"]))
    names = [each for machine in machines for each in machine.objects]
    require(len(set(names)) == len(names), "all objects must be different from one another")
    patterns = {machine.pattern for machine in machines}
    require(len(patterns) == 3, "the patterns of the machines must be different")
    require(type(paper) is bool, f"paper must be true or false, got {paper!r}")
    voices = ", ".join(map(str, range(len(VOICES))))
    valid = type(voice) is int and 0 <= voice < len(VOICES)
    require(valid, f"voice must be one of {voices}, got {voice!r}")
    (first, second, form), _ = judge(machines)
    hypotheses = "not_given" if None in (first, second) else "given"
    require(
        hypotheses == "not_given" or first != second,
        f"the first two machines must differ in form or leave it open; both are {first}",
    )
    require(form is not None, "the tests of the new machine must show its form")
    answer = ideal_answer(machines)
    derived: dict[str, Any] = {"hypotheses": hypotheses, "form": form, "like": answer.like}
    derived["blickets"] = list(answer.blickets)
    for key, value in derived.items():
        stored = row.get(key)
        same = stored == value
        if isinstance(stored, list) and key == "blickets":
            same = sorted(map(str, stored)) == value  # their order does not matter
        require(same, f"{key} is {stored!r}, but the tests show {value!r}")
    require(
        not paper or machines == _paper_machines(hypotheses, str(form)),
        "a paper item must hold the machines of the paper's prompt",
    )
    return PromptItem(
        str(name),
        hypotheses,
        str(form),
        machines,
        row["voice"],
        row["paper"],
        answer,
        Origin.from_row(row),
    )


def _machine(value: Any, where: str) -> Machine:
    require(isinstance(value, dict), f"{where} must be an object")
    pattern, names, tests = value.get("pattern"), value.get("objects"), value.get("tests")
    require(
        pattern in PATTERNS,
        f"{where}.pattern must be one of {', '.join(PATTERNS)}, got {pattern!r}",
    )
    require(
        isinstance(names, list)
        and 1 <= len(names) <= MAX_OBJECTS
        and all(isinstance(each, str) and mentions(each) == [each] for each in names),
        f"{where}.objects must be a list of 1 to {MAX_OBJECTS} colours and shapes, as red cube",
    )
    require(isinstance(tests, list) and bool(tests), f"{where}.tests must be a list of tests")
    return Machine(str(pattern), tuple(names), tuple(_test(each, names, where) for each in tests))


def _test(value: Any, names: Sequence[str], where: str) -> Test:
    placed = value.get("placed") if isinstance(value, dict) else None
    require(
        isinstance(placed, list)
        and all(isinstance(each, str) and each in names for each in placed)
        and 0 < len(placed) == len(set(placed))
        and isinstance(value.get("light"), bool),
        f"{where}.tests must hold {{placed: [some of its objects], light: true or false}}",
    )
    return tuple(value["placed"]), value["light"]
