"""Attack on identifying_variables: gradient boosting on everything but relations.

For each preset, and for tables and prose: a classifier of validity and one of control status see
the statistics of all columns, the sizes of all sets, and all mentions; they are trained on one seed
and tested on another. Tables are attacked once more with statistics of the order of rows (steps,
runs, trend). Beside them are the built-in shortcuts, and trees that know all correlations but have
not read the hypotheses, have read them without their direction, or have only counted mentions.
Needs scikit-learn.

    python perf/attack_variables.py [ITEMS] [PRESET ...]
    python perf/attack_variables.py --mentions SEED [ITEMS]
    python perf/attack_variables.py --row-order SEED [ITEMS]
    python perf/attack_variables.py --habits SEED [ITEMS]

`--habits` plays rules that leave something unread: the built-in shortcuts; a set in prose or a
threshold of correlation in a table, with every hypothesis called valid; and guesses of validity
from that of earlier items.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier  # type: ignore[import-untyped]

from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.answer import VariablesAnswer
from trivium.benchmarks.variables.audit import probes
from trivium.benchmarks.variables.item import VariablesItem
from trivium.benchmarks.variables.score import ndcg
from trivium.benchmarks.variables.spec import PRESETS, VariablesSpec, VariablesView
from trivium.core.dialogue import attempt

Rows = Any
NAMES = ("original-hypotheses", "balanced-hypotheses", "original-ctrl", "balanced-ctrl")
SHORTCUTS = ("no_hypotheses", "undirected", "always_valid", "surface")
THRESHOLDS = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7)


def order_statistics(column: Rows) -> list[float]:
    """What a column looks like from row to row: no surface, for it changes with the row order."""
    known = column[~np.isnan(column)]
    if len(known) < 4:
        return [0.0] * 5
    values = (known - known.mean()) / known.std()
    steps = np.diff(values)
    trend = values @ np.arange(len(values)) / len(values)
    lag = values[1:] @ values[:-1] / len(values)
    turns = (steps[1:] * steps[:-1] < 0).mean()
    return [np.abs(steps).mean(), (steps > 0).mean(), abs(trend), lag, turns]


def features(
    item: VariablesItem, view: VariablesView, row_order: bool
) -> list[tuple[Rows, Rows, Sequence[bool]]]:
    """For each question of an item: candidates' features, the item's, and which are right."""
    found = []
    by_name = {}
    if row_order:
        columns = zip(item.names, item.table.values.T, strict=True)
        by_name = {name: order_statistics(column) for name, column in columns}
    for probe in probes(item, view):
        about = list(probe.item_features.values())
        about += [value for name in probe.marked.values() for value in by_name.get(name, [])]
        own = np.array(list(probe.candidate_features.values())).T
        if by_name and probe.name == "control":
            own = np.hstack([own, [by_name[name] for name in probe.candidates]])
        found.append((own, about, probe.right))
    return found


class Examples:
    """Features and labels of both questions, on the items of one seed."""

    def __init__(
        self, spec: VariablesSpec, view: VariablesView, row_order: bool, seed: int, count: int
    ) -> None:
        validity, valid, control = [], [], []
        right: list[bool] = []
        owner: list[int] = []
        sizes: list[tuple[int, int]] = []
        for item in VARIABLES.generate(spec, seed, 0, count):
            (_, about, is_valid), *asked = features(item, view, row_order)
            validity.append(about)
            valid.append(is_valid[0])
            for own, about, wanted in asked:
                ranks = own.argsort(axis=0).argsort(axis=0)
                control.append(np.hstack([own, ranks, np.tile(about, (len(own), 1))]))
                right += wanted
                owner += [len(sizes)] * len(own)
                sizes.append((sum(wanted), len(item.names)))
        self.validity, self.valid = np.array(validity, dtype=np.float32), np.array(valid)
        self.control = np.vstack(control).astype(np.float32)
        self.right, self.owner, self.sizes = np.array(right), np.array(owner), sizes

    def ndcg(self, scores: Rows, threshold: float) -> float:
        """The mean nDCG of listing what scores above a threshold, best first."""
        values = []
        bounds = np.searchsorted(self.owner, np.arange(len(self.sizes) + 1))
        for number, (wanted, variables) in enumerate(self.sizes):
            part = slice(bounds[number], bounds[number + 1])
            order = np.argsort(-scores[part], kind="stable")
            listed = order[scores[part][order] > threshold]
            hits = self.right[part][listed].tolist()
            values.append(ndcg(hits, wanted, variables - wanted))
        return float(np.mean(values))


def learn(features: Rows, labels: Rows) -> HistGradientBoostingClassifier:
    model = HistGradientBoostingClassifier(
        max_iter=200, learning_rate=0.1, early_stopping=True, random_state=0
    )
    return model.fit(features, labels)


def attack(preset: str, view: VariablesView, count: int, row_order: bool = False) -> None:
    spec = PRESETS[preset]
    train, test = (Examples(spec, view, row_order, seed, count) for seed in (101, 202))
    floors = VARIABLES.floor(spec, view).others
    found = []
    if not train.valid.all():
        model = learn(train.validity, train.valid)
        accuracy = (model.predict(test.validity) == test.valid).mean()
        found.append(f"validity {accuracy:.3f} (floor {floors['hyp_valid_acc']:.2f})")
    half = len(train.right) // 2
    model = learn(train.control[:half], train.right[:half])
    tuning = np.where(np.arange(len(train.right)) < half, -1.0, 0.0)
    tuning[half:] = model.predict_proba(train.control[half:])[:, 1]
    threshold = max(THRESHOLDS, key=lambda level: train.ndcg(tuning, level))
    scores = model.predict_proba(test.control)[:, 1]
    best, floor = test.ndcg(scores, threshold), floors["ctrl_nDCG"]
    lift = (best - floor) / (1 - floor)
    found.append(f"control nDCG {best:.3f} (floor {floor:.3f}, lift {lift:.3f})")
    first = [
        test.right[part][scores[part].argmax()]
        for number in range(min(3000, len(test.sizes)))
        if (part := test.owner == number).any()
    ]
    share = np.mean([wanted / max(1, size - 2) for wanted, size in test.sizes])
    found.append(f"its first candidate is right {np.mean(first):.3f} (share {share:.3f})")
    seen = view.renderer + ", with row order" * row_order
    print(f"{preset}, {seen}: {'; '.join(found)}", flush=True)


def interval(name: str, right: Sequence[float], floor: float) -> str:
    mean = float(np.mean(right))
    half = 1.96 * (mean * (1 - mean) / len(right)) ** 0.5
    lifts = [(value - floor) / (1 - floor) for value in (mean, mean - half, mean + half)]
    lift = f"{lifts[0]:.3f} [{lifts[1]:.3f}, {lifts[2]:.3f}]"
    return f"{name}: correct {mean:.3f} +- {half:.3f}, lift {lift}"


def rules(preset: str, view: VariablesView, count: int, seed: int = 303) -> None:
    items = list(VARIABLES.generate(PRESETS[preset], seed, 0, count))
    floor = VARIABLES.floor(PRESETS[preset], view)
    print(f"{preset}, {view.renderer}, {count} items, floor {floor.value:.3f} ({floor.name})")
    for name in SHORTCUTS:
        made = [attempt(VARIABLES, item, VARIABLES.solvers[name], view).scores for item in items]
        print(interval(name, [row["correct"] or 0.0 for row in made], floor.value), flush=True)


def unread(item: VariablesItem, directed: bool | None) -> tuple[list[int], Rows]:
    """The unobserved variables, and what is known of them without the hypotheses.

    Or with these hypotheses, if `directed` is False, as an undirected graph: distances to both
    variables of the target, degrees, and the unobserved variables that are as near.
    """
    hidden = [variable for variable, seen in enumerate(item.seen) if not seen]
    sizes = [len(item.names), len(hidden), len(item.hypotheses)]
    rows = []
    near: dict[int, set[int]] = {variable: set() for variable in range(len(item.names))}
    for cause, effect in item.hypotheses:
        near[cause].add(effect)
        near[effect].add(cause)

    def distances(start: int) -> dict[int, int]:
        found, waiting = {start: 0}, [start]
        for variable in waiting:
            new = near[variable] - set(found)
            found |= dict.fromkeys(new, found[variable] + 1)
            waiting += new
        return found

    far = [distances(variable) for variable in item.target]
    connected = sum(variable in far[0] for variable in hidden)
    for variable in hidden:
        row = [variable, int(item.names[variable][2:]), item.rates[variable], *sizes]
        if directed is False:
            row += [own.get(variable, 99) for own in far]
            row += [len(near[variable]), connected]
            row += sorted(len(near[other]) for other in near[variable])[:1]
            row += [min(own.get(other, 99) for other in near[variable]) for own in far]
            row += [
                sum(own.get(other, 99) == own.get(variable, 99) for other in hidden) for own in far
            ]
        rows.append(row)
    return hidden, np.array(rows, dtype=np.float32)


def exact_sets(preset: str, count: int, directed: bool | None) -> None:
    """Whole answers of trees that know validity and the controls among observed variables.

    They decide about all unobserved variables at a threshold, or take the best k of them.
    """
    labels, seen, spans = [], [], []
    for seed in (6061, 7071):
        rows, right, owner = [], [], []
        for item in VARIABLES.generate(PRESETS[preset], seed, 0, count):
            hidden, features = unread(item, directed)
            valid, control = item.gold
            owner.append(len(hidden) if valid else 0)
            if valid:
                rows.append(features)
                right += [variable in control for variable in hidden]
        seen.append(np.vstack(rows))
        labels.append(np.array(right))
        spans.append(owner)
    scores = learn(seen[0], labels[0]).predict_proba(seen[1])[:, 1]
    best = {}
    for rule in (*THRESHOLDS, 0.2, 0.25, 1, 2, 3):
        start, hits = 0, []
        for size in spans[1]:
            own, wanted = scores[start : start + size], labels[1][start : start + size]
            picked = own > rule if rule < 1 else own.argsort().argsort() >= size - rule
            hits.append(float((picked == wanted).all()))
            start += size
        best[rule] = hits
    rule = max(best, key=lambda own: np.mean(best[own]))
    name = "hypotheses unread" if directed is None else "direction unread"
    floor = VARIABLES.floor(PRESETS[preset], VariablesView()).value
    print(interval(f"{preset}, trees, {name} ({rule})", best[rule], floor), flush=True)


def mention_counts(item: VariablesItem) -> list[int]:
    """The numbers of variables, and how many of them are mentioned how often, as cause or effect.

    Whose mentions are next to whose is not among them, so no hypothesis is followed.
    """
    mentions = Counter(variable for edge in item.hypotheses for variable in edge)
    effects = Counter(effect for _, effect in item.hypotheses)
    roles = Counter(
        (item.seen[variable], min(mentions[variable], 5), effects[variable])
        for variable in range(len(item.names))
        if variable not in item.target and (item.seen[variable] or mentions[variable])
    )
    every = [(seen, times, of) for seen in (True, False) for times in range(6) for of in range(6)]
    own = [count for variable in item.target for count in (mentions[variable], effects[variable])]
    return [len(item.hidden), sum(item.seen), *own, *map(roles.__getitem__, every)]


def attack_by_mentions(spec: VariablesSpec, seed: int, count: int) -> str:
    """How much the counts of mentions say about the number of unobserved control variables.

    Trees predict that number; unobserved variables are ranked above or below the observed ones by
    it, and the most probable set of unobserved variables is guessed.
    """
    seen, numbers = [], []
    for each in (seed, seed + 1):
        valid = [item for item in VARIABLES.generate(spec, each, 0, count) if item.gold.valid]
        seen.append(np.array(list(map(mention_counts, valid))))
        numbers.append(
            np.array([len(set(item.gold.control).intersection(item.hidden)) for item in valid])
        )
    hidden, observed = seen[1][:, 0], seen[1][:, 1]
    known = observed // 2 - 2  # observed control variables, of all but the target's
    found = []
    for name, columns in (("numbers of variables", 2), ("counts of mentions", None)):
        model = learn(seen[0][:, :columns], numbers[0])
        shares = model.predict_proba(seen[1][:, :columns])
        right = model.classes_[shares.argmax(axis=1)] == numbers[1]
        above = np.sign(shares @ model.classes_ / hidden - known / (observed - 2))
        won = numbers[1] * (observed - 2 - known) - known * (hidden - numbers[1])
        every, control = hidden + observed - 2, known + numbers[1]
        weight = control * (every - control) / every
        pairs = 0.5 + 0.5 * above * won / every / weight.mean()
        sets = np.array([[comb(size, number) for number in model.classes_] for size in hidden])
        guess = (shares / sets).argmax(axis=1)
        whole = (model.classes_[guess] == numbers[1]) / sets[np.arange(len(sets)), guess]
        means = [
            f"{values.mean():.4f} +- {1.96 * values.std() / len(values) ** 0.5:.4f}"
            for values in (right, pairs, whole)
        ]
        found.append(f"{name}: number {means[0]}, pairs {means[1]}, whole set {means[2]}")
    return "\n  ".join(found)


def first_candidate(preset: str, seed: int, count: int, row_order: bool) -> str:
    """How much more often than a random one the best candidate of a table is a control variable."""
    view = next(view for view in VARIABLES.audit_views() if view.renderer == "markdown")
    train, test = (
        Examples(PRESETS[preset], view, row_order, each, count) for each in (seed, seed + 1)
    )
    scores = learn(train.control, train.right).predict_proba(test.control)[:, 1]
    bounds = np.searchsorted(test.owner, np.arange(1, len(test.sizes)))
    items = list(zip(np.split(scores, bounds), np.split(test.right, bounds), strict=True))
    shares = np.array([right.mean() for _, right in items])
    gains = np.array([right[own.argmax()] for own, right in items]) - shares
    mean, half = gains.mean(), 1.96 * gains.std() / len(gains) ** 0.5
    reach = f"{shares.mean() + mean:.3f} of {shares.mean():.3f}"
    return f"first candidate {reach}, gain {mean:.3f} [{mean - half:.3f}, {mean + half:.3f}]"


def together(item: VariablesItem, view: VariablesView, threshold: float) -> list[str]:
    """The variables that change together with the dependent one, as the page or the table shows."""
    names, (independent, dependent) = item.names, item.target
    rest = [variable for variable in range(len(names)) if variable not in (independent, dependent)]
    if view.renderer == "language-corrset":
        return [names[other] for other in rest if item.observed.correlated(other, dependent)]
    values: Rows = item.table.values
    found = {}
    for variable in rest:
        pair = values[:, [dependent, variable]]
        pair = pair[~np.isnan(pair).any(axis=1)]
        if len(pair) > 3 and (pair.std(axis=0) > 0).all():
            found[variable] = abs(np.corrcoef(pair.T)[0, 1])
    ranked = sorted(found, key=found.__getitem__, reverse=True)
    return [names[variable] for variable in ranked if found[variable] > threshold]


def unread_habit(preset: str, view: VariablesView, seed: int, count: int, threshold: float) -> None:
    """Print what controlling the variables that change together reaches, always valid."""
    floor = VARIABLES.floor(PRESETS[preset], view)
    right, gains = [], []
    for item in VARIABLES.generate(PRESETS[preset], seed, 0, count):
        independent, dependent = (item.names[variable] for variable in item.target)
        control = tuple(together(item, view, threshold))
        scores = VARIABLES.score(item, VariablesAnswer(True, independent, dependent, control))
        right.append(scores["correct"] or 0.0)
        if scores["ctrl_nDCG"] is not None:
            gains.append(scores["ctrl_nDCG"])
    words = f"{preset}, {view.renderer}, together with the dependent one (above {threshold})"
    half = 1.96 * float(np.std(gains)) / len(gains) ** 0.5
    base = floor.others["ctrl_nDCG"]
    print(interval(words, right, floor.value), end="; ")
    print(f"nDCG {np.mean(gains):.3f} +- {half:.3f} of {len(gains)} (floor {base:.3f})", flush=True)


def feedback(preset: str, seed: int, count: int, block: int = 50) -> None:
    """Print how often a guess of validity is right if the validity of earlier items is known."""
    valid = [item.gold.valid for item in VARIABLES.generate(PRESETS[preset], seed, 0, count)]
    rarer, other = [], []
    for number, own in enumerate(valid):
        before = valid[number - number % block : number]
        more = 2 * sum(before) - len(before)
        rarer.append(0.5 if more == 0 else own == (more < 0))
        if number % 2:
            other.append(own != valid[number - 1])
    print(interval(f"{preset}, the rarer of its block so far", list(map(float, rarer)), 0.5))
    print(interval(f"{preset}, item 2k+1 unlike item 2k", list(map(float, other)), 0.5))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--habits"]:
        seed, count = int(sys.argv[2]), int((*sys.argv[3:], "2000")[0])
        for preset in ("balanced-ctrl", "balanced-hypotheses"):
            feedback(preset, seed, 4 * count)
            for view in VARIABLES.audit_views():
                if view.renderer in {"language-corrset", "markdown"}:
                    rules(preset, view, count, seed)
                    for threshold in (0.3, 0.5, 0.7)[: 3 if view.renderer == "markdown" else 1]:
                        unread_habit(preset, view, seed, count, threshold)
        sys.exit()
    if sys.argv[1:2] == ["--row-order"]:
        seed, count = int(sys.argv[2]), int((*sys.argv[3:], "5000")[0])
        for preset in ("balanced-ctrl", "balanced-hypotheses"):
            for row_order in (False, True):
                found = first_candidate(preset, seed, count, row_order)
                print(f"{preset}, row order {row_order}: {found}", flush=True)
        sys.exit()
    if sys.argv[1:2] == ["--mentions"]:
        seed, count = int(sys.argv[2]), int((*sys.argv[3:], "20000")[0])
        for preset in ("balanced-ctrl", "balanced-hypotheses"):
            for graph in ("forest", "dag"):
                spec = replace(PRESETS[preset], graph=graph)
                print(f"{preset}, {graph}, {count} items, seeds {seed} and {seed + 1}")
                print(" ", attack_by_mentions(spec, seed, count), flush=True)
        sys.exit()
    items = int(sys.argv[1]) if len(sys.argv) > 1 else 30_000
    for preset in sys.argv[2:] or NAMES:
        if preset.startswith("balanced"):
            for directed in (None, False):
                exact_sets(preset, items, directed)
        for view in VARIABLES.audit_views():
            rules(preset, view, min(items, 3000))
            attack(preset, view, items)
            if view.renderer == "markdown":
                attack(preset, view, items, row_order=True)
