"""Does anything on the surface give validity or control status away?

Labels are probed in pairs: a valid and an invalid item, or a control variable and another
one of the same item, and a cue must tell which is which (chance is one half). The two of a
pair are alike in what the item is about, since that is content and no surface cue:
- validity: as many variables, both variables of the target observed (where one is not, the
  hypothesis is valid by rule); for positions in a text of sets also as many sets, and sets
  of the same sizes around the target's variables, since sets are printed as blocks.
- control status: observed variables that no hypothesis calls a cause of the dependent one,
  so that neither missing data nor beliefs decide; for a text of sets, sets of one size.
Values are content too: a root's are whole numbers, a child's need not be.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from trivium.core.benchmark import Audit, Cue
from trivium.core.probe import cue_level, cue_of_hits, items_needed, probe_choice
from trivium.core.streams import Stream, stream_key
from trivium.variables.item import VariablesItem, generate
from trivium.variables.render import Page, read_page, render
from trivium.variables.spec import VariablesSpec, VariablesView
from trivium.variables.trees import causes

Features = dict[str, float]
TABLE, SETS = VariablesView("csv"), VariablesView("corrset")
VALIDITY, CONTROL = "validity", "control"
ABOUT = {
    "place": "place among the names as printed",
    "first": "whether it is printed first",
    "last": "whether it is printed last",
    "number": "the number in its name",
    "gap": "places between the two variables of the target",
    "ahead": "whether the independent variable is printed before the dependent one",
    "from_ind": "places from the independent variable",
    "from_dep": "places from the dependent variable",
    "after_ind": "whether it is printed after the independent variable",
    "after_dep": "whether it is printed after the dependent variable",
    "as_cause": "how many hypotheses call it a cause",
    "as_effect": "how many hypotheses call it an effect",
    "mentioned_at": "which hypothesis mentions it first",
    "hypotheses": "how many hypotheses there are",
    "target_at": "which hypothesis is the target",
    "wording": "how the target is worded",
    "all": "all of these together",
}
PAIRS_PER_ITEM = 0.4  # about how many pairs an item gives, of the kind that gives fewest
FEWEST_PAIRS = 200


@dataclass(frozen=True)
class Probe:
    """Pairs of which the first is valid or a control variable, told by these features."""

    label: str
    layout: str
    pairs: list[tuple[Features, Features]]


@dataclass(frozen=True)
class Sheet:
    """An item with its pages: a table and a text of sets."""

    item: VariablesItem
    table: Page
    sets: Page

    def page(self, layout: str) -> Page:
        return self.table if layout == "table" else self.sets

    def told_set(self, name: str) -> int:
        """The size of the set in which a variable is told."""
        return next((len(own) for own in self.sets.told.sets or [] if name in own), 0)


def audit(spec: VariablesSpec, seed: int, items: int | None) -> Audit:
    """Every cue with its interval, on fresh items."""
    count = ceil(items_needed(0.5, 4 * len(ABOUT)) / PAIRS_PER_ITEM) if items is None else items
    return audit_items(list(generate(spec, seed, 0, count)))


def audit_items(items: Sequence[VariablesItem]) -> Audit:
    """Every cue with its interval, on these items."""
    sheets = [
        Sheet(item, read_page(render(item, TABLE), TABLE), read_page(render(item, SETS), SETS))
        for item in items
    ]
    stream = Stream(stream_key("audit of variables"))
    probes = [
        Probe(label, layout, list(pairs(sheets, layout, stream)))
        for label, pairs in ((VALIDITY, validity_pairs), (CONTROL, control_pairs))
        for layout in ("table", "sets")
    ]
    notes = [
        f"{probe.label}@{probe.layout} was not probed: {len(probe.pairs)} pairs of items"
        for probe in probes
        if len(probe.pairs) < FEWEST_PAIRS
    ]
    probes = [probe for probe in probes if len(probe.pairs) >= FEWEST_PAIRS]
    level = cue_level(sum(len(probe.pairs[0][0]) + 1 for probe in probes))
    cues = [cue for probe in probes for cue in _cues(probe, level, notes)]
    return Audit(tuple(cues), len(items), level, tuple(notes))


def validity_pairs(
    sheets: Sequence[Sheet], layout: str, stream: Stream
) -> Iterator[tuple[Features, Features]]:
    """A valid and an invalid item that are alike in what they are about."""
    waiting: dict[Hashable, dict[bool, list[Sheet]]] = defaultdict(lambda: {True: [], False: []})
    for sheet in sheets:
        item = sheet.item
        independent, dependent = item.target
        if not (item.seen[independent] and item.seen[dependent]):
            continue
        about: list[Hashable] = [len(item.names)]
        if layout == "sets":
            sizes = [sheet.told_set(item.names[number]) for number in item.target]
            about += [sum(item.seen), len(sheet.sets.told.sets or []), *sizes]
        waiting[tuple(about)][item.gold.valid].append(sheet)
    for kinds in waiting.values():
        for valid, invalid in zip(kinds[True], kinds[False], strict=False):
            yield target_features(valid, layout), target_features(invalid, layout)


def control_pairs(
    sheets: Sequence[Sheet], layout: str, stream: Stream
) -> Iterator[tuple[Features, Features]]:
    """A control variable and another one of the same item, alike in what is known of them."""
    for sheet in sheets:
        item = sheet.item
        valid, control = item.gold
        if not valid or not all(item.seen[number] for number in item.target):
            continue
        believed = causes(item.hypotheses, item.target[1])
        open_ = [
            number
            for number, known in enumerate(item.seen)
            if known and number not in believed and number not in item.target
        ]
        right = [number for number in open_ if number in control]
        wrong = [number for number in open_ if number not in control]
        if layout == "sets":
            size = sheet.told_set(item.names[item.target[1]])
            wrong = [number for number in wrong if sheet.told_set(item.names[number]) == size]
        if right and wrong:
            yield (
                variable_features(sheet, layout, stream.choice(right)),
                variable_features(sheet, layout, stream.choice(wrong)),
            )


def target_features(sheet: Sheet, layout: str) -> Features:
    """What stands on the surface of a target hypothesis."""
    page = sheet.page(layout)
    places = {name: place for place, name in enumerate(page.told.names)}
    found: Features = {}
    for role, name in zip(("ind", "dep"), page.target, strict=True):
        found |= {f"{role}_{key}": value for key, value in _printed(page, name).items()}
    if layout == "table":  # in a text of sets, what is near belongs together
        independent, dependent = (places[name] for name in page.target)
        found["gap"] = abs(independent - dependent)
        found["ahead"] = independent < dependent
        found["hypotheses"] = len(page.hypotheses)
        found["target_at"] = page.hypotheses.index(page.target)
        found["wording"] = sheet.item.wording[page.hypotheses.index(page.target)]
        for role, name in zip(("ind", "dep"), page.target, strict=True):
            found |= {f"{role}_{key}": value for key, value in _mentions(page, name).items()}
    return found


def variable_features(sheet: Sheet, layout: str, number: int) -> Features:
    """What stands on the surface of a variable that is not in the target."""
    page, name = sheet.page(layout), sheet.item.names[number]
    found = _printed(page, name)
    if layout == "table":
        places = {other: place for place, other in enumerate(page.told.names)}
        for role, other in zip(("ind", "dep"), page.target, strict=True):
            steps = places[name] - places[other]
            found |= {f"from_{role}": abs(steps), f"after_{role}": steps > 0}
        found |= _mentions(page, name)
    return found


def _printed(page: Page, name: str) -> Features:
    place = page.told.names.index(name)
    return {
        "place": place,
        "first": place == 0,
        "last": place == len(page.told.names) - 1,
        "number": int(name[2:]),
    }


def _mentions(page: Page, name: str) -> Features:
    at = [place for place, edge in enumerate(page.hypotheses) if name in edge]
    return {
        "as_cause": sum(cause == name for cause, _ in page.hypotheses),
        "as_effect": sum(effect == name for _, effect in page.hypotheses),
        "mentioned_at": at[0] if at else len(page.hypotheses),
    }


def _cues(probe: Probe, level: float, notes: list[str]) -> Iterator[Cue]:
    """Each feature alone and all together, as rules that tell the two of a pair apart."""
    names = list(probe.pairs[0][0])
    values = np.array([[list(one.values()) for one in pair] for pair in probe.pairs], dtype=float)
    # Which of the two comes first is drawn, so that the right one is not always the same.
    gold = np.random.default_rng(0).integers(0, 2, len(values))
    values[gold == 1] = values[gold == 1, ::-1]
    for number, name in enumerate([*names, "all"]):
        column = values if name == "all" else values[:, :, number : number + 1]
        where = f"{probe.label}:{name}@{probe.layout}"
        if (column[:, 0] == column[:, 1]).all():
            notes.append(f"equal for all pairs: {where}")
            continue
        about = ABOUT[name.removeprefix("ind_").removeprefix("dep_")]
        yield cue_of_hits(where, about, list(probe_choice(column, gold)), 0.5, level)
