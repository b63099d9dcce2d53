"""Does anything on the surface give validity or control status away?

Labels are probed in pairs: a valid and an invalid item, or a control variable and another
one of the same item, and a cue must tell which is which (chance is one half). The two of a
pair are alike in what the item is about, since that is content and no surface cue:
- validity: as many variables and as many sets, both variables of the target observed (where
  one is not, the hypothesis is valid by rule).
- control status: observed variables that no hypothesis calls a cause of the dependent one,
  so that neither missing data nor beliefs decide.
In a table the order of names is probed; in a text of sets the place of a variable's set and
its place within the set, since which variables stand together is what such a text is for;
where sets overlap, in how many a variable stands is content, so such items are left out.
Values are content too: a root's are whole numbers, a child's need not be.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from trivium.benchmarks.variables.item import VariablesItem, generate
from trivium.benchmarks.variables.render import Page, read_page, render
from trivium.benchmarks.variables.spec import VariablesSpec, VariablesView
from trivium.benchmarks.variables.trees import causes
from trivium.core.probes import Audit, Cue, cue_level, cue_of_hits, items_needed, probe_choice
from trivium.core.streams import Stream, stream_key

Features = dict[str, float]
TABLE, SETS = VariablesView("csv"), VariablesView("corrset")
VALIDITY, CONTROL = "validity", "control"
ABOUT = {
    "place": "place among the names as printed",
    "first": "whether it is printed first",
    "last": "whether it is printed last",
    "number": "the number in its name",
    "set_at": "place of its set among the sets",
    "set_first": "whether its set is printed first",
    "set_last": "whether its set is printed last",
    "within": "place within its set, from 0 (first) to 1 (last)",
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
MIN_PAIRS = 200


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

    @property
    def blocks(self) -> list[list[str]]:
        """The sets as printed."""
        order = self.sets.told.names.index
        return [sorted(own, key=order) for own in self.sets.told.sets or []]

    def can_tell(self, layout: str) -> bool:
        """Whether places in this layout are surface: not where sets overlap."""
        told = [name for own in self.blocks for name in own]
        return layout == "table" or len(told) == len(set(told))


def audit(spec: VariablesSpec, seed: int, items: int | None) -> Audit:
    """Every cue with its interval, on fresh items."""
    needed = ceil(items_needed(0.5, 4 * len(ABOUT)) / PAIRS_PER_ITEM)
    count = needed if items is None else items
    return replace(audit_items(list(generate(spec, seed, 0, count))), needed=needed)


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
        if len(probe.pairs) < MIN_PAIRS
    ]
    probes = [probe for probe in probes if len(probe.pairs) >= MIN_PAIRS]
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
        both_seen = all(item.seen[number] for number in item.target)
        if not (both_seen and sheet.can_tell(layout)):
            continue
        about = (len(item.names), len(sheet.blocks))
        waiting[about][item.gold.valid].append(sheet)
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
        both_seen = all(item.seen[number] for number in item.target)
        if not (valid and both_seen and sheet.can_tell(layout)):
            continue
        believed = causes(item.hypotheses, item.target[1])
        open_ = [
            number
            for number, known in enumerate(item.seen)
            if known and number not in believed and number not in item.target
        ]
        right = [number for number in open_ if number in control]
        wrong = [number for number in open_ if number not in control]
        if right and wrong:
            yield (
                variable_features(sheet, layout, stream.choice(right)),
                variable_features(sheet, layout, stream.choice(wrong)),
            )


def target_features(sheet: Sheet, layout: str) -> Features:
    """What stands on the surface of a target hypothesis."""
    page = sheet.table
    found: Features = {}
    for role, name in zip(("ind", "dep"), page.target, strict=True):
        own = _told(sheet, name) if layout == "sets" else _printed(page, name)
        found |= {f"{role}_{key}": value for key, value in own.items()}
    if layout == "table":
        independent, dependent = map(page.told.names.index, page.target)
        at = page.hypotheses.index(page.target)
        found |= {
            "gap": abs(independent - dependent),
            "ahead": independent < dependent,
            "hypotheses": len(page.hypotheses),
            "target_at": at,
            "wording": sheet.item.wording[at],
        }
    return found


def variable_features(sheet: Sheet, layout: str, number: int) -> Features:
    """What stands on the surface of a variable that is not in the target."""
    page, name = sheet.table, sheet.item.names[number]
    if layout == "sets":
        return _told(sheet, name)
    found = _printed(page, name)
    for role, other in zip(("ind", "dep"), page.target, strict=True):
        steps = page.told.names.index(name) - page.told.names.index(other)
        found |= {f"from_{role}": abs(steps), f"after_{role}": steps > 0}
    return found


def _told(sheet: Sheet, name: str) -> Features:
    """Where a text of sets tells a variable."""
    blocks = sheet.blocks
    at = next(place for place, own in enumerate(blocks) if name in own)
    own = blocks[at]
    return {
        "set_at": at,
        "set_first": at == 0,
        "set_last": at == len(blocks) - 1,
        "within": own.index(name) / (len(own) - 1) if len(own) > 1 else 0.5,
    }


def _printed(page: Page, name: str) -> Features:
    """Where a table and the list of hypotheses name a variable."""
    place = page.told.names.index(name)
    return {
        "place": place,
        "first": place == 0,
        "last": place == len(page.told.names) - 1,
        "number": int(name[2:]),
        "as_cause": sum(cause == name for cause, _ in page.hypotheses),
        "as_effect": sum(effect == name for _, effect in page.hypotheses),
        "mentioned_at": next(
            (at for at, edge in enumerate(page.hypotheses) if name in edge), len(page.hypotheses)
        ),
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
