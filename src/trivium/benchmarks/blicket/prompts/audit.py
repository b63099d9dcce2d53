"""The audit's probes of a prompt, and the canonical form of an item."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from trivium.benchmarks.blicket.prompts.evidence import Machine
from trivium.benchmarks.blicket.prompts.generate import PromptItem
from trivium.benchmarks.blicket.prompts.phrases import VOICES
from trivium.benchmarks.blicket.prompts.render import render
from trivium.benchmarks.blicket.prompts.spec import PromptView
from trivium.core.probes import Probe

TWO_SHOT_LIGHTS = ("lights up", "does not light up")


def surface(item: PromptItem, view: PromptView) -> str:
    """The prompt with every light masked; the probes have the counts of lights."""
    text = render(item, view)
    for lit, dark in [*[(voice.lit, voice.dark) for voice in VOICES], TWO_SHOT_LIGHTS]:
        text = text.replace(dark, lit)
    return text


def audit_views() -> Sequence[PromptView]:
    """The story, and the solved examples."""
    return PromptView(), PromptView(prompt="two_shot")


def probes(item: PromptItem, view: PromptView) -> Sequence[Probe]:
    """Which of the possible blickets must be blickets, and which machine the new one is like.

    Objects that single tests rule out are not candidates, since ruling them out is sound. Features
    count how often an object was on a lit or dark machine, but not which objects were on with it.
    """
    new, answer = item.new, item.answer
    open_objects = sorted({*answer.blickets, *answer.maybe}, key=new.objects.index)
    found = []
    if answer.maybe and answer.blickets:
        found.append(
            Probe(
                "blicket",
                open_objects,
                [name in answer.blickets for name in open_objects],
                candidate_features=_counts(new, open_objects),
            )
        )
    if answer.like in item.known:
        features = [_shape(machine) for machine in item.machines[:-1]]
        found.append(
            Probe(
                "structure",
                item.known,
                [pattern == answer.like for pattern in item.known],
                candidate_features={key: [each[key] for each in features] for key in features[0]},
            )
        )
    return found


def _counts(machine: Machine, names: Sequence[str]) -> dict[str, list[float]]:
    """The counts of each object on its own."""
    features: dict[str, list[float]] = {}
    for light in (False, True):
        word = "lit" if light else "dark"
        for name in names:
            own = [placed for placed, lit in machine.tests if lit == light and name in placed]
            sizes = list(map(len, own))
            values = {
                f"{word}_tests": len(sizes),
                f"{word}_alone": sizes.count(1),
                f"{word}_credit": sum(1 / size for size in sizes),
                f"{word}_smallest": min(sizes, default=0),
            }
            for key, value in values.items():
                features.setdefault(key, []).append(float(value))
    return features


def _shape(machine: Machine) -> dict[str, float]:
    """The counts of a machine: lights, sizes of tests, and tests of each object."""
    lit = [placed for placed, light in machine.tests if light]
    dark = [placed for placed, light in machine.tests if not light]
    often = sorted(sum(name in placed for placed in lit) for name in machine.objects)
    rarely = sorted(sum(name in placed for placed in dark) for name in machine.objects)
    return {
        "lit": float(len(lit)),
        "placed_lit": float(sum(map(len, lit))),
        "placed_dark": float(sum(map(len, dark))),
        "largest_dark": float(max(map(len, dark), default=0)),
        "smallest_lit": float(min(map(len, lit), default=0)),
        "most_often_lit": float(often[-1]),
        "in_all_lit": float(often.count(len(lit))),
        "never_dark": float(rarely.count(0)),
        "most_often_dark": float(rarely[-1]),
        "first_light": float(machine.tests[0][1]),
        "first_size": float(len(machine.tests[0][0])),
        "last_size": float(len(machine.tests[-1][0])),
    }


def canonical(item: PromptItem) -> Hashable:
    """The condition, and the tests of every machine up to names and order."""
    return item.hypotheses, item.matched, tuple(map(machine_structure, item.machines))


def parts(item: PromptItem) -> Mapping[str, Hashable]:
    """The tests of the new machine, and those of the examples."""
    *examples, new = map(machine_structure, item.machines)
    return {"new machine": new, "examples": tuple(examples)}


def machine_structure(machine: Machine) -> Hashable:
    """A value that is equal for machines that differ only in names and order, and rarely otherwise.

    Every object is hashed by its tests and every test by its objects, in turns, until each hash
    depends on the whole machine.
    """
    objects: dict[str, int] = dict.fromkeys(machine.objects, 0)
    tests: list[int] = []
    for _ in range(4):
        tests = [
            hash((light, tuple(sorted(objects[name] for name in placed))))
            for placed, light in machine.tests
        ]
        sets = [placed for placed, _ in machine.tests]
        objects = {
            name: hash(tuple(sorted(t for t, on in zip(tests, sets, strict=True) if name in on)))
            for name in machine.objects
        }
    return tuple(sorted(tests))
