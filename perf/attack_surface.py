"""Learned attack on any benchmark: scikit-learn's boosted trees on every feature of the audit.

Trained on two thirds of the items and tested on the others, which are of another seed; one row for
each question of each view, with a 95% interval. Larger than the audit's own trees: all features,
ranks and text pieces, and as many items as there are.

    python perf/attack_surface.py nhop_explicit.explicit-hard --items 30000 --seed 4711 --views 0
    python perf/attack_surface.py nhop_implicit.implicit --set answerable=mixed --seed 4711
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier  # type: ignore[import-untyped]

from trivium.auditing.engine import Study
from trivium.auditing.outcomes import judge
from trivium.auditing.samples import Floats, Sample
from trivium.auditing.text import TextModel
from trivium.benchmarks import get_benchmark
from trivium.core.spec import changed_fields
from trivium.core.task import Task

ROWS = 120_000  # candidates on which trees are trained


def table(sample: Sample, names: list[str]) -> Floats:
    """A row for every candidate, also for the padding."""
    columns = [sample.column(name).ravel() for name in names]
    number = (sample.candidates if sample.fixed else np.zeros_like(sample.candidates)).ravel()
    return np.stack([*columns, number.astype(np.float32)], axis=1)


def attack(task: Task, items: int, seed: int) -> None:
    """Print how well trees answer each question of an item."""
    study = Study(task, seed)
    many = items * 2 // 3
    originals = [item.original for item in task.generate(seed, 0, many)]
    fresh = [item.original for item in task.generate(seed + 1, 0, items - many)]
    train = study.samples(originals, range(len(originals)))
    texts = {name: TextModel(sample) for name, sample in train.items() if sample.judged.any()}
    test = study.samples(fresh, range(len(fresh)))
    for name, text in texts.items():
        known, asked = text.extend(train[name]), text.extend(test[name])
        names = known.telling
        there = np.flatnonzero(known.there.ravel())[:ROWS]
        model = HistGradientBoostingClassifier(max_iter=150, learning_rate=0.08)
        model.fit(table(known, names)[there], known.right.ravel()[there])
        odds = model.decision_function(table(asked, names)).reshape(asked.right.shape)
        share = float(known.right[known.there].mean())
        start = np.log(share / (1 - share)) if known.kind == "label" else 0.0
        outcome = judge(asked, (odds - start).astype(np.float32))
        low, high = outcome.interval(0.025)
        reach = f"{outcome.mean:.3f} [{low:.3f}, {high:.3f}] of {outcome.chance:.3f}"
        about = f"{len(names)} features, {items:,} items, seeds {seed} and {seed + 1}"
        view = changed_fields(task.view) or "default"
        print(f"{task.benchmark.name} {view} {name}: {reach} ({about})", flush=True)


def main() -> None:
    """Attack every view of the presets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", help="NAME.PRESET")
    parser.add_argument("--items", type=int, default=30_000)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--views", type=int, nargs="*", default=[], help="numbers of views")
    parser.add_argument("--set", nargs="*", default=[], help="FIELD=TEXT of the spec")
    asked = parser.parse_args()
    for name in asked.names:
        benchmark = get_benchmark(name.partition(".")[0])
        changed = dict(each.split("=", 1) for each in asked.set)
        spec = replace(benchmark.presets[name.partition(".")[2]], **changed)
        for number, view in enumerate(benchmark.audit_views()):
            if not asked.views or number in asked.views:
                attack(Task(benchmark, spec, view), asked.items, asked.seed)


if __name__ == "__main__":
    main()
