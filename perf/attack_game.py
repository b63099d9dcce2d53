"""Attacks on blicket_game that do not reason: habits and tables of recorded games.

Example: python perf/attack_game.py --seed 4711 --items 1000

Every row is a player with its share of right answers on the same items and a 95% interval. Tables
are learned from the optimal player's games of another seed. `blind` tables read only the number of
objects; `space` tables also read the whole stated space and are kept for each space separately.
`+ inference` replaces the table's answer by the likeliest machine of the stated space.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable

import numpy as np

import trivium
from trivium.benchmarks.blicket.game.generate import GameItem, Tests
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.benchmarks.blicket.inference.budget import budget_planner
from trivium.benchmarks.blicket.inference.hypotheses import letters, mask_of
from trivium.core.dialogue import solve
from trivium.core.statistics import proportion

Read = Callable[[GameSpec], Hashable]
KEYS: dict[str, Read] = {
    "blind": lambda spec: spec.objects,
    "space": lambda spec: (spec.objects, spec.rules, spec.tests),
}


def optimal_game(item: GameItem) -> Tests:
    """The tests of the optimal player."""
    planner = budget_planner(item.space)
    tests: list[tuple[str, bool]] = []
    possible = planner.every
    while len(tests) < item.spec.tests and possible.bit_count() > 1:
        left = item.spec.tests - len(tests)
        placed = planner.best_test(possible, left, planner.tests(possible))
        light = bool(item.space.fires[item.space.hypotheses.index(item.machine), placed])
        possible &= planner.lit[placed] if light else ~planner.lit[placed]
        tests.append((letters(placed), light))
    return tuple(tests)


class Table:
    """The most frequent test and answer after the same tests and lights."""

    def __init__(self, games: list[tuple[GameItem, Tests]], read: Read) -> None:
        self.read = read
        self.tests: dict[Hashable, Counter[str]] = defaultdict(Counter)
        self.answers: dict[Hashable, Counter[str]] = defaultdict(Counter)
        for item, tests in games:
            for made in range(len(tests) + 1):
                key = (read(item.spec), tests[:made])
                self.answers[key][item.truth] += 1
                if made < len(tests):
                    self.tests[key][tests[made][0]] += 1

    def play(self, item: GameItem, infer: bool) -> float:
        """The probability that the table's answer is right."""
        space, own = item.space, item.space.hypotheses.index(item.machine)
        tests: Tests = ()
        possible = np.ones(len(space), dtype=bool)
        while len(tests) < item.spec.tests:
            known = self.tests.get((self.read(item.spec), tests))
            if not known:
                break
            placed = known.most_common(1)[0][0]
            lights = space.fires[:, mask_of(placed)]
            possible &= lights == lights[own]
            tests = (*tests, (placed, bool(lights[own])))
        if infer:
            return 1 / int(possible.sum())
        for made in range(len(tests), -1, -1):
            answers = self.answers.get((self.read(item.spec), tests[:made]))
            if answers:
                return float(answers.most_common(1)[0][0] == item.truth)
        return 0.0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--preset", default="mixed")
    args = parser.parse_args()
    task = trivium.load("blicket_game", preset=args.preset)
    items = task.items(args.items, seed=args.seed)
    floor = float(np.mean([item.floor for item in items]))
    ceiling = float(np.mean([item.ceiling for item in items]))
    print(f"{args.preset}, seed {args.seed}, {args.items} items: {floor:.3f} to {ceiling:.3f}")

    def show(name: str, scores: list[float]) -> None:
        value = float(np.mean(scores))
        estimate = proportion(sum(scores), len(scores))
        lift = (value - floor) / (ceiling - floor) if ceiling > floor else float("nan")
        print(f"{name:40} {estimate} lift {lift:.2f}", flush=True)

    for name, solver in task.benchmark.solvers.items():
        show(name, [solve(item, solver).scores["correct"] or 0.0 for item in items])
    recorded = [item.original for item in task.items(args.games, seed=args.seed + 1)]
    games = [(item, optimal_game(item)) for item in recorded]
    for name, read in KEYS.items():
        table = Table(games, read)
        for infer in (False, True):
            words = f"{name} table of {args.games} games{' + inference' * infer}"
            show(words, [table.play(item.original, infer) for item in items])


if __name__ == "__main__":
    main()
