"""Blicket prompts made on demand: (spec, seed, index) decides one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from trivium.benchmarks.blicket.prompts.item import Machine, PromptItem, Seen, ideal_answer
from trivium.benchmarks.blicket.prompts.phrases import COLOURS, PATTERNS, SHAPES, VOICES
from trivium.benchmarks.blicket.prompts.read import read_page
from trivium.benchmarks.blicket.prompts.spec import PromptSpec
from trivium.benchmarks.blicket.prompts.stimuli import prompt_text
from trivium.core.benchmark import Origin
from trivium.core.spec import spec_to_dict
from trivium.core.streams import Stream, item_stream

# What is placed on a machine to learn from, in terms of its first three objects, and what
# lights in each role. Open evidence fits one blicket as well as two.
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


def generate(spec: PromptSpec, seed: int, start: int = 0, count: int = 1) -> Iterator[PromptItem]:
    """The items start .. start + count - 1; the cells of the spec take turns."""
    fields = spec_to_dict(spec)
    cells = spec.cells
    for index in range(start, start + count):
        hypotheses, form = cells[index % len(cells)]
        voice = 0
        if spec.stimuli == "paper":
            machines = paper_machines(hypotheses, form)
        else:
            stream = item_stream(spec, seed, index)
            voice = stream.below(len(VOICES))
            machines = _machines(spec, hypotheses, form, stream)
        yield PromptItem(
            id=f"BLK-{index:06d}",
            hypotheses=hypotheses,
            form=form,
            machines=machines,
            voice=voice,
            paper=spec.stimuli == "paper",
            answer=ideal_answer(machines),
            origin=Origin(fields, seed, index),
        )


def paper_machines(hypotheses: str, form: str) -> tuple[Machine, ...]:
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
        tests: list[Seen] = [
            (tuple(stream.shuffled([cast[part] for part in placed])), light)
            for placed, light in PLACEMENTS[spec.placements][role]
        ]
        machines.append(Machine(patterns[number], tuple(own), tuple(stream.shuffled(tests))))
    own = names[2 * size :]
    machines.append(Machine(patterns[2], tuple(own), tuple(_full_tests(own, form, stream))))
    return tuple(machines)


def _full_tests(names: Sequence[str], form: str, stream: Stream) -> list[Seen]:
    """Every object alone, every pair and all together: every object is named equally often."""
    needed = 1 if form == "disjunctive" else 2
    blickets = set(stream.sample(names, needed))
    sets = [
        *itertools.combinations(names, 1),
        *itertools.combinations(names, 2),
        tuple(names),
    ]
    return stream.shuffled(
        [(tuple(stream.shuffled(placed)), blickets <= set(placed)) for placed in sets]
    )
