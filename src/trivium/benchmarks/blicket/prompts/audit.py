"""What the audit looks at, and what stays of an item when names and orders are taken away."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

from trivium.benchmarks.blicket.prompts.evidence import Machine
from trivium.benchmarks.blicket.prompts.generate import PromptItem
from trivium.benchmarks.blicket.prompts.render import render
from trivium.benchmarks.blicket.prompts.spec import PromptView
from trivium.core.probes import Probe

_LIGHT = re.compile(
    r"(?:it|the machine) (?:lights up|does not light up|stays dark|turned on|did not turn on"
    r"|did light up|does light up)[.!]"
)


def surface(item: PromptItem, view: PromptView) -> str:
    """The prompt with its lights covered: what was seen on the machines is the evidence."""
    return _LIGHT.sub("it did something.", render(item, view))


def probes(item: PromptItem, view: PromptView) -> Sequence[Probe]:
    """Which of the objects that may be blickets must be, and which machine the new one is like.

    Objects that single tests rule out are no candidates: to rule them out is sound. How often an
    object was on a lit machine, and on a dark one, may be used; what was on with it may not.
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
    """Everything that can be counted about an object by itself."""
    features: dict[str, list[float]] = {}
    for light in (False, True):
        word = "lit" if light else "dark"
        tests = [(number, t[0]) for number, t in enumerate(machine.tests) if t[1] == light]
        for name in names:
            on = [(number, placed) for number, placed in tests if name in placed]
            sizes = [len(placed) for _, placed in on]
            values = {
                f"{word}_tests": len(on),
                f"{word}_alone": sizes.count(1),
                f"{word}_credit": sum(1 / size for size in sizes),
                f"{word}_smallest": min(sizes, default=0),
                f"{word}_first": on[0][0] if on else -1,
                f"{word}_last": on[-1][0] if on else -1,
            }
            for key, value in values.items():
                features.setdefault(key, []).append(float(value))
    return features


def _shape(machine: Machine) -> dict[str, float]:
    """What can be counted about a machine: lights, sizes, and how often objects are placed."""
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
    """The tests of every machine without names and orders, and the condition."""
    return item.hypotheses, item.matched, tuple(map(_pattern_of_tests, item.machines))


def _pattern_of_tests(machine: Machine) -> Hashable:
    """The same for machines that differ in names and orders, and else nearly always different.

    Every object is described by its tests and every test by its objects, in turns, until each
    description knows the whole machine.
    """
    objects: dict[str, int] = dict.fromkeys(machine.objects, 0)
    tests: list[int] = []
    for _ in range(4):
        tests = [
            hash((light, tuple(sorted(objects[name] for name in placed))))
            for placed, light in machine.tests
        ]
        objects = {
            name: hash(
                tuple(
                    sorted(t for t, (on, _) in zip(tests, machine.tests, strict=True) if name in on)
                )
            )
            for name in machine.objects
        }
    return tuple(sorted(tests))
