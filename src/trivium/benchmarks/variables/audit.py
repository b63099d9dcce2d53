"""Does anything on the surface give validity or control status away?

Labels are probed in pairs: a valid and an invalid item, or a control variable and another
one of the same item, and a cue must tell which is which (chance is one half). The two of a
pair are alike in what the item is about, since that is content and no surface cue:
- validity: as many variables and as many sets, both variables of the target observed (where
  one is not, the hypothesis is valid by rule).
- control status: observed variables that no hypothesis calls a cause of the dependent one,
  so that neither missing data nor beliefs decide.
In a table the order of names is probed. In a text of sets it is the position of a variable's
set and its position within the set, since which variables share a set is what such a text is
for; where sets overlap, in how many a variable is counts as content, so such items are left out.
Values are content too: a root's are whole numbers, a child's need not be.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from trivium.benchmarks.variables.decision import causes
from trivium.benchmarks.variables.generate import generate
from trivium.benchmarks.variables.item import VariablesItem
from trivium.benchmarks.variables.render import Prompt, read_prompt, render
from trivium.benchmarks.variables.spec import VariablesSpec, VariablesView
from trivium.core.probes import Audit, Cue, cue_level, feature_cues, items_needed
from trivium.core.streams import Stream, stream_key

Features = dict[str, float]
Pair = tuple[Features, Features]  # of which the first is valid, or a control variable
TABLE, SETS = VariablesView("csv"), VariablesView("corrset")
ABOUT = {
    "place": "position among the names as printed",
    "first": "whether it is printed first",
    "last": "whether it is printed last",
    "number": "the number in its name",
    "set_at": "position of its set among the sets",
    "set_first": "whether its set is printed first",
    "set_last": "whether its set is printed last",
    "within": "position within its set, from 0 (first) to 1 (last)",
    "gap": "distance between the two variables of the target",
    "ahead": "whether the independent variable is printed before the dependent one",
    "from_ind": "distance from the independent variable",
    "from_dep": "distance from the dependent variable",
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
PAIRS_PER_ITEM = 0.4  # about how many pairs an item gives, for the label that gives fewest
MIN_PAIRS = 200


@dataclass(frozen=True)
class Sample:
    """An item with what its prompts show: a table and a text of sets."""

    item: VariablesItem
    table: Prompt
    sets: list[list[str]]  # in printed order

    @classmethod
    def of(cls, item: VariablesItem) -> Sample:
        """An item, rendered and read back."""
        table, sets = (read_prompt(render(item, view), view) for view in (TABLE, SETS))
        position = sets.observations.names.index
        printed = [sorted(own, key=position) for own in sets.observations.sets or []]
        return cls(item, table, printed)

    def usable(self, layout: str) -> bool:
        """Whether positions in this layout are surface and no missing data decides validity."""
        names = [name for own in self.sets for name in own]
        surface = layout == "table" or len(names) == len(set(names))
        return surface and all(self.item.seen[variable] for variable in self.item.target)


def audit(spec: VariablesSpec, seed: int, items: int | None = None) -> Audit:
    """Every cue with its interval, on fresh items."""
    needed = ceil(items_needed(0.5, 4 * len(ABOUT)) / PAIRS_PER_ITEM)
    count = needed if items is None else items
    return replace(audit_items(list(generate(spec, seed, 0, count))), needed=needed)


def audit_items(items: Sequence[VariablesItem]) -> Audit:
    """Every cue with its interval, on these items."""
    samples = [Sample.of(item) for item in items]
    stream = Stream(stream_key("audit of variables"))
    found = {
        (label, layout): list(pairs([s for s in samples if s.usable(layout)], layout, stream))
        for label, pairs in (("validity", validity_pairs), ("control", control_pairs))
        for layout in ("table", "sets")
    }
    probed = {key: pairs for key, pairs in found.items() if len(pairs) >= MIN_PAIRS}
    notes = [
        f"{label}@{layout} was not probed: {len(pairs)} pairs of items"
        for (label, layout), pairs in found.items()
        if (label, layout) not in probed
    ]
    level = cue_level(sum(len(pairs[0][0]) + 1 for pairs in probed.values()))
    cues: list[Cue] = []
    for (label, layout), pairs in probed.items():
        names = [*pairs[0][0], "all"]
        about = {name: ABOUT[name.removeprefix("ind_").removeprefix("dep_")] for name in names}
        values = np.array([[list(one.values()) for one in pair] for pair in pairs], dtype=float)
        # Which of the two comes first is drawn, so that the right one is not always the same.
        gold = np.random.default_rng(0).integers(0, 2, len(values))
        values[gold == 1] = values[gold == 1, ::-1]
        own, constant = feature_cues(about, values, gold, level, f"{label}:{{}}@{layout}")
        cues += own
        notes += [f"equal for all pairs: {name}" for name in constant]
    return Audit(tuple(cues), len(items), level, tuple(notes))


def validity_pairs(samples: Sequence[Sample], layout: str, stream: Stream) -> Iterator[Pair]:
    """A valid and an invalid item that are alike in what they are about."""
    waiting: dict[Hashable, dict[bool, list[Sample]]] = defaultdict(lambda: {True: [], False: []})
    for sample in samples:
        about = (len(sample.item.names), len(sample.sets))
        waiting[about][sample.item.gold.valid].append(sample)
    for kinds in waiting.values():
        for valid, invalid in zip(kinds[True], kinds[False], strict=False):
            yield target_features(valid, layout), target_features(invalid, layout)


def control_pairs(samples: Sequence[Sample], layout: str, stream: Stream) -> Iterator[Pair]:
    """A control variable and another one of the same item, alike in what is known of them."""
    for sample in samples:
        item = sample.item
        valid, control = item.gold
        decided = {*causes(item.hypotheses, item.target[1]), *item.target}
        undecided = [v for v, known in enumerate(item.seen) if known and v not in decided]
        right = [variable for variable in undecided if variable in control]
        wrong = [variable for variable in undecided if variable not in control]
        if valid and right and wrong:
            yield (
                variable_features(sample, layout, stream.choice(right)),
                variable_features(sample, layout, stream.choice(wrong)),
            )


def target_features(sample: Sample, layout: str) -> Features:
    """The surface features of a target hypothesis."""
    prompt = sample.table
    found: Features = {}
    for role, name in zip(("ind", "dep"), prompt.target, strict=True):
        own = _in_sets(sample, name) if layout == "sets" else _in_table(prompt, name)
        found |= {f"{role}_{key}": value for key, value in own.items()}
    if layout == "table":
        independent, dependent = map(prompt.observations.names.index, prompt.target)
        at = prompt.hypotheses.index(prompt.target)
        found |= {
            "gap": abs(independent - dependent),
            "ahead": independent < dependent,
            "hypotheses": len(prompt.hypotheses),
            "target_at": at,
            "wording": sample.item.wording[at],
        }
    return found


def variable_features(sample: Sample, layout: str, variable: int) -> Features:
    """The surface features of a variable that is not in the target."""
    prompt, name = sample.table, sample.item.names[variable]
    if layout == "sets":
        return _in_sets(sample, name)
    found = _in_table(prompt, name)
    position = prompt.observations.names.index
    for role, other in zip(("ind", "dep"), prompt.target, strict=True):
        steps = position(name) - position(other)
        found |= {f"from_{role}": abs(steps), f"after_{role}": steps > 0}
    return found


def _in_sets(sample: Sample, name: str) -> Features:
    """Where a text of sets prints a variable."""
    at, own = next((at, own) for at, own in enumerate(sample.sets) if name in own)
    return {
        "set_at": at,
        "set_first": at == 0,
        "set_last": at == len(sample.sets) - 1,
        "within": own.index(name) / (len(own) - 1) if len(own) > 1 else 0.5,
    }


def _in_table(prompt: Prompt, name: str) -> Features:
    """Where a table and the list of hypotheses print a variable."""
    names, hypotheses = prompt.observations.names, prompt.hypotheses
    mentions = [at for at, edge in enumerate(hypotheses) if name in edge]
    return {
        "place": names.index(name),
        "first": name == names[0],
        "last": name == names[-1],
        "number": int(name[2:]),
        "as_cause": sum(cause == name for cause, _ in hypotheses),
        "as_effect": sum(effect == name for _, effect in hypotheses),
        "mentioned_at": mentions[0] if mentions else len(hypotheses),
    }
