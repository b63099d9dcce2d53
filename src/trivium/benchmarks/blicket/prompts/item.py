"""One blicket prompt: three machines, what was seen on each, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from trivium.benchmarks.blicket.inference.hypotheses import Space, make_space
from trivium.benchmarks.blicket.inference.observer import (
    CERTAIN,
    Trial,
    blicket_probability,
    family_probability,
    hierarchical_prior,
    posterior,
)
from trivium.benchmarks.blicket.prompts.phrases import PATTERNS, mentions
from trivium.benchmarks.blicket.prompts.spec import MAX_OBJECTS
from trivium.core.benchmark import Origin
from trivium.core.errors import require

UNSURE = "unsure"
Seen = tuple[tuple[str, ...], bool]  # the objects that were placed, and whether it lit


class Machine(NamedTuple):
    """A machine, its objects and what was seen on it."""

    pattern: str
    objects: tuple[str, ...]
    tests: tuple[Seen, ...]


@dataclass(frozen=True, slots=True)
class PromptAnswer:
    """What is said of the new machine; names in the order of the alphabet."""

    blickets: tuple[str, ...]
    maybe: tuple[str, ...] = ()
    like: str | None = None  # a machine's pattern, "unsure", or None where nothing was said


class PromptItem(NamedTuple):
    """An item as told: two machines to learn from, then the new one."""

    id: str
    hypotheses: str
    form: str
    machines: tuple[Machine, ...]
    voice: int  # which way of telling
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


@lru_cache(maxsize=16)
def space_of_machines(objects: int) -> Space:
    """Every conjunctive and disjunctive machine, both forms equally likely beforehand."""
    space = make_space(objects)
    members = space.family_members
    weights = members.T @ (1 / members.sum(axis=1))
    return Space(space.hypotheses, tuple(map(float, weights)), objects)


def trials(machine: Machine) -> list[Trial]:
    """What was seen, as sets of objects by number."""
    place = {name: number for number, name in enumerate(machine.objects)}
    return [(sum(1 << place[name] for name in placed), light) for placed, light in machine.tests]


def judge(machines: Sequence[Machine]) -> tuple[list[str | None], dict[str, float]]:
    """The form of each machine, where it is certain, and how likely each new object is a blicket.

    Each machine is judged by its own tests, with a prior over forms that the other machines
    have changed.
    """
    seen = tuple((len(machine.objects), tuple(sorted(trials(machine)))) for machine in machines)
    forms, chances = _judge(seen)
    return list(forms), dict(zip(machines[-1].objects, chances, strict=True))


# The same evidence under other names comes up again and again: a cache of it saves most work.
@lru_cache(maxsize=4096)
def _judge(
    seen: tuple[tuple[int, tuple[Trial, ...]], ...],
) -> tuple[tuple[str | None, ...], tuple[float, ...]]:
    told = [(space_of_machines(objects), own) for objects, own in seen]
    forms: list[str | None] = []
    for number, (space, own) in enumerate(told):
        expected = hierarchical_prior(space, told[:number] + told[number + 1 :])
        belief = posterior(expected, own)
        shares = family_probability(expected, belief)
        forms.append(next((form for form, share in shares.items() if share >= CERTAIN), None))
    # The new machine is the last, so the belief at the end of the loop is about it.
    return tuple(forms), tuple(map(float, blicket_probability(expected, belief)))


def ideal_answer(machines: Sequence[Machine]) -> PromptAnswer:
    """What follows from the evidence, and no more: the exact observer's answer."""
    forms, chances = judge(machines)
    sure = sorted(name for name, chance in chances.items() if chance >= CERTAIN)
    maybe = sorted(name for name, chance in chances.items() if 1 - CERTAIN < chance < CERTAIN)
    *known, form = forms
    alike = [
        machine.pattern for machine, each in zip(machines, known, strict=False) if each == form
    ]
    decided = None not in forms and len(alike) == 1
    return PromptAnswer(tuple(sure), tuple(maybe), alike[0] if decided else UNSURE)


def to_row(item: PromptItem) -> dict[str, Any]:
    """The item as it stands in a file."""
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


def from_row(row: Mapping[str, Any], voices: int) -> PromptItem:
    """The item in a row; its answer is worked out anew from what was seen."""
    name = row.get("id")
    require(isinstance(name, str) and bool(name), "id must be text")
    told = row.get("machines")
    require(isinstance(told, list) and len(told) == 3, "machines must be a list of three")
    assert isinstance(told, list)
    machines = tuple(_machine(each, f"machines[{place}]") for place, each in enumerate(told))
    names = [object_ for machine in machines for object_ in machine.objects]
    require(len(set(names)) == len(names), "all objects must be different from one another")
    patterns = {machine.pattern for machine in machines}
    require(len(patterns) == 3, "the patterns of the machines must be different")
    for key, allowed in (
        ("hypotheses", ("given", "not_given")),
        ("form", ("disjunctive", "conjunctive")),
        ("paper", (False, True)),
        ("voice", tuple(range(voices))),
    ):
        value = row.get(key)
        known = any(value == each and type(value) is type(each) for each in allowed)
        require(known, f"{key} must be one of {', '.join(map(str, allowed))}, got {value!r}")
    forms, _ = judge(machines)
    shown = "not_given" if None in forms[:-1] else "given"
    require(
        shown == "not_given" or forms[0] != forms[1],
        f"the first two machines must differ in form or leave it open; both are {forms[0]}",
    )
    for key, derived in (("hypotheses", shown), ("form", forms[-1])):
        require(row[key] == derived, f"{key} is {row[key]!r}, but the tests show {derived!r}")
    answer = ideal_answer(machines)
    for key, right in (("blickets", list(answer.blickets)), ("like", answer.like)):
        stored = row.get(key)
        require(stored == right, f"{key} is {stored!r}, but the tests lead to {right!r}")
    return PromptItem(
        id=str(name),
        hypotheses=row["hypotheses"],
        form=row["form"],
        machines=machines,
        voice=row["voice"],
        paper=row["paper"],
        answer=answer,
        origin=_origin(row),
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
    return Machine(str(pattern), tuple(names), tuple(_seen(each, names, where) for each in tests))


def _seen(test: Any, names: Sequence[str], where: str) -> Seen:
    placed = test.get("placed") if isinstance(test, dict) else None
    require(
        isinstance(placed, list)
        and all(isinstance(each, str) and each in names for each in placed)
        and 0 < len(placed) == len(set(placed))
        and isinstance(test.get("light"), bool),
        f"{where}.tests must hold {{placed: [some of its objects], light: true or false}}",
    )
    return tuple(test["placed"]), test["light"]


def _origin(row: Mapping[str, Any]) -> Origin | None:
    spec, seed, index = row.get("spec"), row.get("seed"), row.get("index")
    if isinstance(spec, dict) and isinstance(seed, int) and isinstance(index, int):
        return Origin(spec, seed, index)
    return None
