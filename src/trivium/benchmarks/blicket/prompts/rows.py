"""Items as rows of files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from trivium.benchmarks.blicket.names import PATTERNS, mentions
from trivium.benchmarks.blicket.prompts.evidence import Machine, Test, forms_of, ideal_answer
from trivium.benchmarks.blicket.prompts.generate import PromptItem, paper_item
from trivium.benchmarks.blicket.prompts.phrases import VOICES
from trivium.benchmarks.blicket.prompts.spec import MAX_OBJECTS
from trivium.core.benchmark import Origin
from trivium.core.errors import require


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
    if not item.paper:
        row["maybe"] = item.answer.maybe
    if item.two_shot:
        row["two_shot"] = True
    if item.origin is not None:
        row |= {"spec": item.origin.spec, "seed": item.origin.seed, "index": item.origin.index}
    return row


def from_row(row: Mapping[str, Any], number: int) -> PromptItem:
    """The item of a row, which may come from elsewhere; its answer must follow from the tests."""
    values: Iterator[Any] = (row.get(key) for key in ("id", "voice", "paper", "machines"))
    name, voice, paper, rows = values
    require(isinstance(name, str) and bool(name), "id must be text")
    require(isinstance(rows, list) and len(rows) == 3, "machines must be a list of three")
    machines = tuple(_machine(each, f"machines[{n}]") for n, each in enumerate(row["machines"]))
    names = [each for machine in machines for each in machine.objects]
    require(len(set(names)) == len(names), "all objects must be different from one another")
    patterns = {machine.pattern for machine in machines}
    require(len(patterns) == 3, "the patterns of the machines must be different")
    require(type(paper) is bool, f"paper must be true or false, got {paper!r}")
    valid = type(voice) is int and 0 <= voice < len(VOICES)
    require(valid, f"voice must be in 0..{len(VOICES) - 1}, got {voice!r}")
    first, second, form = forms_of(machines)
    hypotheses = "not_given" if None in (first, second) else "given"
    alike = hypotheses == "given" and first == second
    require(not alike, f"the first two machines must differ in form or leave it open: {first}")
    require(form is not None, "the tests of the new machine must show its form")
    two_shot = row.get("two_shot") is True
    if paper:
        original = paper_item(hypotheses, str(form), two_shot)
        same = machines == original.machines
        require(same, "a paper item must hold the machines of the paper's prompt")
        answer = original.answer
    else:
        answer = ideal_answer(machines, hypotheses == "given")
    origin = Origin.from_row(row)
    item = PromptItem(
        str(name), hypotheses, str(form), machines, voice, paper, answer, origin, two_shot
    )
    derived = orjson.loads(orjson.dumps(to_row(item)))
    for key in ("hypotheses", "form", "like", "blickets", "maybe"):
        if key in derived:
            stored, value = row.get(key), derived[key]
            if isinstance(stored, list):  # their order is irrelevant
                stored = sorted(map(str, stored))
            require(stored == value, f"{key} is {stored!r}, but the tests show {value!r}")
    return item


def _machine(value: Any, where: str) -> Machine:
    row: Any = value if isinstance(value, dict) else {}
    pattern, names, tests = row.get("pattern"), row.get("objects"), row.get("tests")
    known = ", ".join(PATTERNS)
    require(pattern in PATTERNS, f"{where}.pattern must be one of {known}, got {pattern!r}")
    require(
        isinstance(names, list)
        and 1 <= len(names) <= MAX_OBJECTS
        and all(isinstance(each, str) and mentions(each) == [each] for each in names),
        f"{where}.objects must be a list of 1 to {MAX_OBJECTS} shapes, as cube or red cube",
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
