"""Attacks on blicket prompts that do not follow which objects were on a machine together.

A table of structures, counts, pair counts, sizes, ranks of places and a learned attack, on fresh
seeds:

    python perf/attack_prompts.py --items 30000 --table 8000
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier  # type: ignore[import-untyped]

from trivium.benchmarks.blicket.prompts import PROMPTS
from trivium.benchmarks.blicket.prompts.audit import machine_structure as structure
from trivium.benchmarks.blicket.prompts.evidence import proven
from trivium.benchmarks.blicket.prompts.solvers import _open, answers_left
from trivium.benchmarks.blicket.prompts.spec import PromptView
from trivium.core.dialogue import attempt

Items = Sequence[Any]


def interval(hits: float, of: int) -> str:
    """A share with its 95% interval (Wilson)."""
    share, z = hits / of, 1.96
    middle = (share + z * z / 2 / of) / (1 + z * z / of)
    half = z * (share * (1 - share) / of + z * z / 4 / of / of) ** 0.5 / (1 + z * z / of)
    return f"{share:.3f} [{middle - half:.3f}, {middle + half:.3f}] of {of}"


def overlap(known: Items, fresh: Items) -> None:
    """New machines and examples of one seed that another seed has, up to renaming."""
    for name, part in (("new machines", slice(2, 3)), ("examples", slice(0, 2))):
        seen = {structure(machine) for item in known for machine in item.machines[part]}
        parts = [structure(machine) in seen for item in fresh for machine in item.machines[part]]
        print(f"  {name} known from the other seed: {interval(sum(parts), len(parts))}")


def roles(machine: Any, names: Sequence[str]) -> dict[str, Any]:
    """Each object's tests up to renaming, which a table maps to the object's part in the answer."""
    return {
        name: structure(machine._replace(tests=(*machine.tests, ((name,), True), ((name,), False))))
        for name in names
    }


def table_answer(known: Items, fresh: Items) -> None:
    """Blickets and structure from tables; where a table does not know, the floor's guess."""
    by_object: dict[Any, int] = {}
    by_example: dict[Any, str] = {}
    for item in known:
        for name, key in roles(item.new, item.new.objects).items():
            by_object[key] = (name in item.answer.blickets) + 2 * (name in item.answer.maybe)
        by_example |= dict(zip(map(structure, item.machines[:2]), kinds(item), strict=True))
    guess = PROMPTS.floor(PROMPTS.presets[OPTIONS.preset], PromptView()).others["blickets"]
    hits: dict[str, list[float]] = {"blickets": [], "structure": [], "correct": []}
    for item in fresh:
        found = [by_object.get(key) for key in roles(item.new, item.new.objects).values()]
        sure, maybe = item.answer.blickets, item.answer.maybe
        right = [(name in sure) + 2 * (name in maybe) for name in item.new.objects]
        like = 1.0
        if item.hypotheses == "given":
            said = [by_example.get(structure(machine)) for machine in item.machines[:2]]
            like = 0.5 if said == [None, None] else float(item.form == _kind_of(said, item))
        blickets = guess if None in found else float(found == right)
        for metric, value in (("blickets", blickets), ("structure", like)):
            hits[metric].append(value)
        hits["correct"].append(blickets * like)
    words = ", ".join(f"{name} {interval(sum(each), len(each))}" for name, each in hits.items())
    print(f"  tables of structures: {words}")


def kinds(item: Any) -> list[str]:
    """The kinds of the two examples; "open" if they show none."""
    if item.hypotheses != "given":
        return ["open", "open"]
    other = {"disjunctive": "conjunctive", "conjunctive": "disjunctive"}[item.form]
    return [item.form if pattern == item.answer.like else other for pattern in item.known]


def _kind_of(said: Sequence[str | None], item: Any) -> str:
    """The kind of the example that the new machine is like, according to a table."""
    like, rest = said if item.known[0] == item.answer.like else said[::-1]
    if like is not None:
        return like
    return "conjunctive" if rest == "disjunctive" else "disjunctive"


def kind_cues(items: Items) -> None:
    """The kind of the new machine from lights and sizes, in the better direction."""
    cues: dict[str, Callable[..., bool]] = {
        "mostly lit": lambda tests: 2 * sum(light for _, light in tests) > len(tests),
        "first light": lambda tests: tests[0][1],
        **{
            f"first test has more than {k}": lambda tests, k=k: len(tests[0][0]) > k
            for k in range(1, 8)
        },
    }
    kinds = [item.form == "disjunctive" for item in items]
    best: dict[str, int] = {}
    for name, cue in cues.items():
        same = sum(
            bool(cue(item.new.tests)) == kind for item, kind in zip(items, kinds, strict=False)
        )
        best[name] = max(same, len(items) - same)
    name = max(best, key=best.__getitem__)
    print(f"  kind from lights and sizes, best cue ({name}): {interval(best[name], len(items))}")


def features(item: Any, pairs: bool) -> NDArray[np.float64]:
    """For each object: counts, sizes and places, and with `pairs` how often it met others.

    Counts and sizes are compared with those of the other open objects. The number of an object's
    first test is not, except with `pairs`: two objects with the same first test were together.
    """
    tests, names = item.new.tests, item.new.objects
    lit = [set(placed) for placed, light in tests if light]
    dark = [set(placed) for placed, light in tests if not light]
    if min(map(len, lit)) > 1:  # a conjunctive machine, as single tests show; its mirror image
        everything = set(names)
        lit, dark = (
            [everything - placed for placed in dark],
            [everything - placed for placed in lit],
        )
    left = {name for name in names if not any(name in placed for placed in dark)}
    rows, order = [], []
    for place, name in enumerate(names):
        row: list[float] = [place, name in left, len(left)]
        for group in (lit, dark):
            own = [placed for placed in group if name in placed]
            sizes = sorted(map(len, own))
            row += [len(own), sum(sizes), *(sizes + [0] * 4)[:4], sizes[-1] if sizes else 0]
            order.append(next((n for n, t in enumerate(group) if name in t), -1))
            if pairs:
                together = [sum(name in t and other in t for t in group) for other in names]
                ruled = [c for c, o in zip(together, names, strict=False) if o not in left]
                rest = [c for c, o in zip(together, names, strict=False) if o in left and o != name]
                row += [sum(ruled), sum(rest), *sorted(rest)[:1], *sorted(rest)[-1:]]
                row += [0] * (4 - 2 - len(sorted(rest)[:1]) - len(sorted(rest)[-1:]))
                row += [max(ruled, default=0), min(ruled, default=0)]
                row += [sum(rest) / max(1, len(own)), sum(ruled) / max(1, len(own))]
        rows.append(row)
    table = np.array(rows, dtype=float)
    mine = table[[name in left for name in names]]
    mean = mine.mean(axis=0) if len(mine) else table.mean(axis=0)
    first = np.array(order, dtype=float).reshape(len(names), -1)
    compared = first - first[[name in left for name in names]].mean(axis=0)
    return np.hstack([table, table - mean, first, *([compared] if pairs else [])])


def learned(train: Items, fresh: Items, pairs: bool) -> None:
    """Boosted trees: every object must be, may be or is not a blicket."""
    size = len(train[0].new.objects)

    def label(item: Any) -> list[int]:
        sure, maybe = item.answer.blickets, item.answer.maybe
        return [(name in sure) + 2 * (name in maybe) for name in item.new.objects]

    model = HistGradientBoostingClassifier(max_iter=200, random_state=0)
    model.fit(np.vstack([features(i, pairs) for i in train]), np.ravel([label(i) for i in train]))
    said = model.predict(np.vstack([features(i, pairs) for i in fresh])).reshape(-1, size)
    truth = np.array([label(i) for i in fresh])
    whole = (said == truth).all(axis=1)
    words = "counts, sizes, order and pair counts" if pairs else "counts, sizes and order"
    print(f"  boosted trees on {words}, blickets: {interval(whole.sum(), len(fresh))}")
    unclear = np.array([[name in unproven(item) for name in item.new.objects] for item in fresh])
    hits = (said == truth)[unclear]
    print(
        f"    each object that is neither ruled out nor proven: {interval(hits.sum(), len(hits))}"
    )
    for form in ("disjunctive", "conjunctive"):
        for hypotheses in ("given", "not_given"):
            cell = [(item.hypotheses, item.form) == (hypotheses, form) for item in fresh]
            share = 0.5 if hypotheses == "given" else 1.0
            hits = whole[cell] * share
            print(f"    correct, {hypotheses}, {form}: {interval(hits.sum(), len(hits))}")


def unproven(item: Any) -> set[str]:
    """The possible blickets beside those that a single test proves."""
    return {*item.answer.blickets, *item.answer.maybe} - proven(item.new)


def order(train: Items, fresh: Items) -> None:
    """A table from the ranks of the open objects by first, last and mean mention to the answer.

    Among the answers that counts leave. In a random order of the tests it gains 4 points.
    """

    def row(item: Any) -> tuple[Any, tuple[bool, ...], list[tuple[bool, ...]]]:
        opened, _, tests = _open(item.new)
        names, masks = answers_left(item.new)
        at: dict[str, list[int]] = defaultdict(list)
        for place, name in enumerate(n for placed, _ in item.new.tests for n in placed):
            at[name].append(place)
        mean = {name: sum(at[name]) / len(at[name]) for name in names}
        ranked = sorted(names[1:], key=lambda name: at[name][-1])
        first = sorted(ranked, key=lambda name: at[name][0])
        middle = sorted(ranked, key=mean.__getitem__)
        left = sorted(
            tuple(bool(mask >> names.index(name) & 1) for name in ranked) for mask in masks
        )
        often = tuple(len(at[name]) for name in ranked)
        beside = tuple(sum(len(t & set(opened)) for t in tests if n in t) for n in ranked)
        places = tuple(ranked.index(name) for name in (*first, *middle))
        key = (tuple(left), often, beside, places)
        return key, tuple(name in item.answer.blickets for name in ranked), left

    table: dict[Any, Counter[tuple[bool, ...]]] = defaultdict(Counter)
    for key, right, _ in map(row, train):
        table[key][right] += 1
    hits, guesses = 0, 0.0
    for key, right, left in map(row, fresh):
        hits += max(left, key=table[key].__getitem__) == right
        guesses += 1 / len(left)
    print(f"  table of ranks of places, blickets: {interval(hits, len(fresh))}", end=", ")
    print(f"a guess among what counts leave {guesses / len(fresh):.3f}")


def beside_closed(fresh: Items) -> None:
    """Must be blickets: those that were most often with objects that are ruled out.

    Once on their own, as many as a random answer has that counts leave, and once among these.
    """
    alone = among = 0.0
    for item in fresh:
        opened, _, tests = _open(item.new)
        names, masks = answers_left(item.new)
        with_closed = [sum(len(t - set(opened)) for t in tests if name in t) for name in names]
        totals = [sum(n for at, n in enumerate(with_closed) if mask >> at & 1) for mask in masks]
        best = [mask for mask, total in zip(masks, totals, strict=True) if total == max(totals)]
        right = sum(1 << at for at, name in enumerate(names) if name in item.answer.blickets)
        among += (right in best) / len(best)
        size = masks[0].bit_count()
        sets = [sum(1 << at for at in own) for own in combinations(range(len(names)), size)]
        weight = {own: sum(n for at, n in enumerate(with_closed) if own >> at & 1) for own in sets}
        most = [own for own in sets if weight[own] == max(weight.values())]
        alone += (right in most) / len(most)
    print(f"  most often beside ruled-out objects, blickets: {interval(alone, len(fresh))}", end="")
    print(f", among the answers that counts leave {interval(among, len(fresh))}")


def examples(train: Items, fresh: Items) -> None:
    """Boosted trees: which example is the conjunctive one, from counts and sizes."""

    def row(item: Any) -> list[float]:
        values: list[float] = []
        for machine in item.machines[:2]:
            for light in (True, False):
                sizes = sorted(len(placed) for placed, lit in machine.tests if lit == light)
                counts: Counter[str] = Counter(
                    n for p, lit in machine.tests if lit == light for n in p
                )
                often = sorted((counts[name] for name in machine.objects), reverse=True)
                values += [*sizes[:3], sizes[-1], *often[:6]]
            values.append(float(machine.tests[0][1]))
        return values

    def conjunctive(item: Any) -> int:
        like = int(item.known.index(item.answer.like))
        return like if item.form == "conjunctive" else 1 - like

    train, fresh = ([i for i in each if i.hypotheses == "given"] for each in (train, fresh))
    model = HistGradientBoostingClassifier(max_iter=200, random_state=0)
    model.fit(np.array([row(i) for i in train]), [conjunctive(i) for i in train])
    right = model.predict(np.array([row(i) for i in fresh])) == [conjunctive(i) for i in fresh]
    print(f"  which example is conjunctive, boosted trees: {interval(right.sum(), len(right))}")


def habits(items: Items, view: PromptView) -> None:
    """Every built-in solver."""
    floor = PROMPTS.floor(PROMPTS.presets[OPTIONS.preset], view)
    print(f"  {view.prompt}: floor {floor.value:.3f} ({floor.name}), {dict(floor.others)}")
    for name, solver in PROMPTS.solvers.items():
        hits: dict[str, float] = defaultdict(float)
        for item in items:
            scores = attempt(PROMPTS, item, solver, view).scores
            for metric in ("correct", "blickets", "structure"):
                hits[metric] += float(scores[metric] or 0.0)
        words = ", ".join(f"{metric} {interval(hits[metric], len(items))}" for metric in hits)
        print(f"    {name}: {words}")


def main() -> None:
    spec = PROMPTS.presets[OPTIONS.preset]
    known = list(PROMPTS.generate(spec, OPTIONS.seed, 0, OPTIONS.table))
    start = time.process_time()
    fresh = list(PROMPTS.generate(spec, OPTIONS.seed + 1, 0, OPTIONS.fresh))
    print(
        f"{OPTIONS.preset}: {OPTIONS.fresh / (time.process_time() - start):.0f} items a CPU second"
    )
    overlap(known, fresh)
    table_answer(known, fresh)
    kind_cues(fresh)
    train = list(PROMPTS.generate(spec, OPTIONS.seed + 2, 0, OPTIONS.items))
    for pairs in (False, True):
        learned(train, fresh, pairs)
    order(train, fresh)
    beside_closed(fresh)
    examples(train, fresh)
    for view in (PromptView(), PromptView("two_shot")):
        habits(fresh[: OPTIONS.habits], view)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", default=PROMPTS.default_preset)
    parser.add_argument("--seed", type=int, default=4100)
    parser.add_argument("--table", type=int, default=8000)
    parser.add_argument("--items", type=int, default=30000, help="of the learned attacks")
    parser.add_argument("--fresh", type=int, default=4000)
    parser.add_argument("--habits", type=int, default=1000, help="items of every solver")
    OPTIONS = parser.parse_args()
    main()
