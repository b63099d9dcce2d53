"""The audit's probes of a prompt, and the canonical form of an item."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence

from trivium.benchmarks.blicket.prompts.evidence import Machine, proven
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


def probes(item: PromptItem, view: PromptView) -> Sequence[Probe]:
    """Which of the possible blickets must be blickets, and which machine is the new one like?

    Objects that single tests rule out or prove are no candidates, since such evidence is sound.
    Features count how often an object was on a lit or dark machine, with how many others and with
    how many that may be blickets, but not with which ones.
    """
    new, answer = item.new, item.answer
    found = []
    if not item.paper:
        possible = {*answer.blickets, *answer.maybe}
        asked = sorted(possible - proven(new), key=new.objects.index)
        right = [name in answer.blickets for name in asked]
        counts = _counts(new, asked, possible)
        found.append(Probe("blicket", asked, right, candidate_features=counts))
    # In two-shot, given, the preamble states the kinds of patterns, and the floor includes it.
    if answer.like in item.known and view.prompt == "freeform":
        shapes = [_shape(machine) for machine in item.machines[:-1]]
        features = {key: [each[key] for each in shapes] for key in shapes[0]}
        right = [pattern == answer.like for pattern in item.known]
        found.append(Probe("structure", item.known, right, candidate_features=features))
    return found


def _counts(machine: Machine, names: Sequence[str], unclear: set[str]) -> dict[str, list[float]]:
    """The counts of each object on its own.

    The number of its first test is left out: objects with the same one were together.
    """
    features: dict[str, list[float]] = defaultdict(list)
    for word, light in (("dark", False), ("lit", True)):
        tests = [placed for placed, lit in machine.tests if lit == light]
        for name in names:
            holding = [placed for placed in tests if name in placed]
            sizes = sorted(map(len, holding))
            features[f"{word}_tests"].append(len(holding))
            features[f"{word}_alone"].append(sizes.count(1))
            features[f"{word}_credit"].append(sum(1 / size for size in sizes))
            features[f"{word}_smallest"].append(min(sizes, default=0))
            features[f"{word}_largest"].append(max(sizes, default=0))
            features[f"{word}_beside"].append(sum(len(unclear & set(placed)) for placed in holding))
            features[f"{word}_named_first"].append(sum(placed[0] == name for placed in holding))
            features[f"{word}_named_last"].append(sum(placed[-1] == name for placed in holding))
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
    return item.hypotheses, tuple(map(machine_structure, item.machines))


def parts(item: PromptItem) -> Mapping[str, Hashable]:
    """The tests of the new machine; the examples of generated items are always alike."""
    return {"new machine": machine_structure(item.new)}


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
