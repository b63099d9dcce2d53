"""Audit probes and their features, taken from single columns, sets and mentions.

No feature compares two columns row by row, follows a hypothesis, or says whether two variables
belong to one set: that would be the reasoning itself. After a change of a feature raise ENGINE in
`trivium.auditing.results`, or stored audits are not repeated.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

import numpy as np

from trivium.auditing.overlap import line_structure
from trivium.benchmarks.variables.item import VariablesItem
from trivium.benchmarks.variables.render import Prompt, read_prompt, render, texts
from trivium.benchmarks.variables.spec import VariablesView
from trivium.benchmarks.variables.table import Floats, in_root_range
from trivium.core.probes import Probe

Columns = dict[str, list[float]]  # the values of a feature, in the order of the prompt's names


_SET = re.compile(r"(?<=\d): [A-Z](?:, [A-Z])*$", re.MULTILINE)


def surface(item: VariablesItem, view: VariablesView) -> str:
    """The prompt without the preamble that all items share, and without the letters of sets.

    That two variables have the same letter is what was observed.
    """
    return _SET.sub(": -", render(item, view)[len(texts(view).preamble) :])


def probes(item: VariablesItem, view: VariablesView) -> Sequence[Probe]:
    """One probe for validity, and one for control variables if the target is valid."""
    prompt = read_prompt(render(item, view), view)
    names = prompt.names
    features = variable_features(prompt)
    about = item_features(prompt)
    at = [names.index(name) for name in prompt.target]
    marked = dict(zip(("ind", "dep"), prompt.target, strict=True))
    of_target = {
        f"{role}_{feature}": values[place]
        for feature, values in features.items()
        for role, place in zip(marked, at, strict=True)
    }
    valid, control = item.gold
    validity = Probe("validity", ["valid"], [valid], marked, {}, {**about, **of_target})
    if not valid:
        return [validity]
    right = {item.names[variable] for variable in control}
    others = [place for place in range(len(names)) if place not in at]
    candidates = [names[place] for place in others]
    columns = {feature: [values[place] for place in others] for feature, values in features.items()}
    asked = [name in right for name in candidates]
    return [validity, Probe("control", candidates, asked, marked, columns, {**about, **of_target})]


def item_features(prompt: Prompt) -> dict[str, float]:
    """Features of a whole item."""
    shown = prompt.observations
    found: dict[str, float] = {
        "variables": len(prompt.names),
        "hypotheses": len(prompt.hypotheses),
        "target_at": prompt.hypotheses.index(prompt.target),
    }
    if shown.sets is not None:
        sizes = sorted(map(len, shown.sets))
        found |= {"sets": len(sizes), "smallest_set": sizes[0], "largest_set": sizes[-1]}
        found["largest_sets"] = sizes.count(sizes[-1])
        found["middle_set"] = sizes[len(sizes) // 2]
        found["single"] = sizes.count(1)
        found["unobserved"] = len(prompt.names) - len(set().union(*shown.sets))
    elif shown.table is not None:
        missing = np.isnan(shown.table)
        found |= {"missing": float(missing.mean()), "whole_rows": float((~missing).all(1).sum())}
    return found


def variable_features(prompt: Prompt) -> Columns:
    """Features of every variable by itself."""
    names, edges = prompt.names, prompt.hypotheses
    mentions = {name: [at for at, edge in enumerate(edges) if name in edge] for name in names}
    found: Columns = {
        "place": [float(place) for place in range(len(names))],
        "number": [float(name[2:]) for name in names],
        "as_cause": [float(sum(cause == name for cause, _ in edges)) for name in names],
        "as_effect": [float(sum(effect == name for _, effect in edges)) for name in names],
        "mentioned_first": [float(min(mentions[name], default=len(edges))) for name in names],
        "mentioned_last": [float(max(mentions[name], default=-1)) for name in names],
    }
    shown = prompt.observations
    if shown.table is not None:
        return found | column_statistics(shown.table)
    # Only the size of a set: which set it is, or the place within it, would be reading, since the
    # candidates that a set lacks are those of the target.
    sizes = {name: len(members) for members in shown.sets or [] for name in members}
    return found | {"set_size": [float(sizes.get(name, 0)) for name in names]}


def column_statistics(table: Floats) -> Columns:
    """Statistics of single columns; 0 if a column has too few values for one."""
    there = ~np.isnan(table)
    values = np.where(there, table, 0.0)
    ordered = np.sort(table, axis=0)  # missing values come last
    column = np.arange(table.shape[1])
    count = there.sum(axis=0)
    last = np.maximum(count - 1, 0)
    with np.errstate(all="ignore"):  # columns without values, or with one
        mean = values.sum(axis=0) / count
        from_mean = np.where(there, table - mean, 0.0)
        square = from_mean * from_mean
        spread = np.sqrt(square.sum(axis=0) / count)
        lowest, highest = ordered[0], ordered[last, column]
        median = (ordered[last // 2, column] + ordered[(last + 1) // 2, column]) / 2
        thousandths = np.round(values * 1000)
        repeated = (np.diff(ordered, axis=0) == 0).sum(axis=0)
        found = {
            "missing": 1 - count / len(table),
            "whole": (there & (table == np.round(table))).sum(axis=0) / count,
            "two_decimals": (there & (thousandths % 10 == 0)).sum(axis=0) / count,
            "odd": (there & (thousandths % 2 == 1)).sum(axis=0) / count,
            "like_root": (there & in_root_range(values)).sum(axis=0) / count,
            "negative": (values < 0).sum(axis=0) / count,
            "mean": mean,
            "spread": spread,
            "lowest": lowest,
            "highest": highest,
            "largest": np.maximum(np.abs(lowest), np.abs(highest)),
            "spread_of_range": spread / (highest - lowest),
            "median_of_range": (median - lowest) / (highest - lowest),
            "skew": (square * from_mean).sum(axis=0) / count / spread**3,
            "kurtosis": (square * square).sum(axis=0) / count / spread**4,
            "distinct": (count - repeated) / count,
        }
    known = np.array(list(found.values()))
    known[~np.isfinite(known)] = 0.0
    return dict(zip(found, known.tolist(), strict=True))


def canonical(item: VariablesItem) -> Hashable:
    """The form of an item up to its names, orders, wordings and values."""
    names, sets = item.names, item.observed.sets()
    labels = [f"set_{number}" for number in range(len(sets))]
    lines = [
        f"{names[variable]} is in {label}"
        for label, members in zip(labels, sets, strict=True)
        for variable in members
    ]
    lines += [f"{names[cause]} may cause {names[effect]}" for cause, effect in item.hypotheses]
    lines.append(f"{names[item.target[0]]} is to be tested on {names[item.target[1]]}")
    return line_structure("\n".join(lines), [names, labels])
