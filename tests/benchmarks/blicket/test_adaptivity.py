"""The best fixed script and the optimal tests of a budget, against brute force and play."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.benchmarks.blicket.games import BUDGETED, FIVE_RULES, play
from trivium.benchmarks.blicket.commands.ceilings import game_table
from trivium.benchmarks.blicket.game import limits
from trivium.benchmarks.blicket.game.generate import generate
from trivium.benchmarks.blicket.game.limits import fixed_script
from trivium.benchmarks.blicket.game.spec import PRESETS, GameSpec
from trivium.benchmarks.blicket.inference import noise
from trivium.benchmarks.blicket.inference.budget import BudgetPlanner
from trivium.benchmarks.blicket.inference.distinct import DistinctMachines
from trivium.benchmarks.blicket.inference.hypotheses import (
    Hypothesis,
    Space,
    lights,
    make_space,
)
from trivium.benchmarks.blicket.inference.scripts import best_fixed_script, max_groups
from trivium.cli import main
from trivium.core.benchmark import Ceiling

DOCS = Path(__file__).parents[3] / "docs" / "benchmarks" / "blicket_game.md"
FIVE = FIVE_RULES
EVERY = [
    machine for rules in (FIVE, ("threshold-1", "threshold-3")) for machine in make_space(3, rules)
]


@st.composite
def some_spaces(draw: st.DrawFn) -> Space:
    """Some machines of three objects, some of them perhaps the same, not all equally likely."""
    machines = draw(st.lists(st.sampled_from(EVERY), min_size=2, max_size=9, unique=True))
    weights = draw(st.lists(st.integers(1, 3), min_size=len(machines), max_size=len(machines)))
    return Space(tuple(machines), tuple(map(float, weights)))


def value_of_script(space: Space, script: tuple[int, ...]) -> float:
    """How often the best lookup is right, in plain Python."""
    groups: dict[tuple[float, ...], dict[tuple[float, ...], float]] = defaultdict(
        lambda: defaultdict(float)
    )
    for machine, chance in zip(space, space.belief, strict=True):
        behaviour = tuple(lights(machine, placed) for placed in range(8))
        groups[tuple(lights(machine, placed) for placed in script)][behaviour] += chance
    return sum(max(group.values()) for group in groups.values())


def value_of_tree(space: Space, tests: int) -> float:
    """How often the best player is right, by trying every test in every situation."""
    behaviour = {machine: tuple(lights(machine, each) for each in range(8)) for machine in space}
    chance = dict(zip(space, space.belief.tolist(), strict=True))

    @cache
    def best(machines: frozenset[object], left: int) -> float:
        same: dict[tuple[float, ...], float] = defaultdict(float)
        for machine in machines:
            same[behaviour[machine]] += chance[machine]  # type: ignore[index]
        found = max(same.values(), default=0.0)
        for placed in range(8) if left else ():
            lit = frozenset(each for each in machines if behaviour[each][placed] == 1)  # type: ignore[index]
            if lit and lit != machines:
                found = max(found, best(lit, left - 1) + best(machines - lit, left - 1))
        return found

    return best(frozenset(space), tests)


@settings(max_examples=60)
@given(some_spaces(), st.integers(0, 4))
def test_scripts_and_players_are_the_best(space: Space, tests: int) -> None:
    script = best_fixed_script(space, tests, 10**9)
    best = max(value_of_script(space, each) for each in itertools.combinations(range(8), tests))
    assert script.bound <= script.value + 1e-12
    assert script.value == pytest.approx(best)
    assert value_of_script(space, script.placed) == pytest.approx(best)
    planner = BudgetPlanner(space)
    assert planner.value(planner.every, tests) == pytest.approx(value_of_tree(space, tests))


@pytest.mark.parametrize("tests", range(1, 7))
def test_no_script_of_four_objects_exceeds_its_bound(tests: int) -> None:
    for rules in (FIVE[:2], FIVE[:3], FIVE[3:], FIVE):
        space = make_space(4, rules)
        machines = DistinctMachines(space)
        script = best_fixed_script(space, tests, 10**9)
        assert script.bound <= script.value + 1e-12
        assert script.value <= max_groups(machines, tests) / len(space) + 1e-12
        hurried = best_fixed_script(space, tests, 1)
        assert hurried.value <= script.value <= hurried.bound + 1e-12
        assert machines.value(hurried.placed) == pytest.approx(hurried.value)


EXACT = {  # right answers of the best fixed script and of the optimal player, of all machines
    "paper": (6, 6, 6),
    "three-objects": (9, 11, 11),
    "four-objects": (17, 26, 26),
    "five-rules": (28, 28, 28),
    "five-objects": (33, 57, 57),
    "six-objects": (78, 184, 184),
}


@pytest.mark.parametrize("name", BUDGETED)
def test_the_limits_of_a_game_are_known(name: str) -> None:
    script, best, machines = EXACT[name]
    spec = BUDGETED[name]
    floor, ceiling = limits.script_floor(spec), limits.player_ceiling(spec)
    assert len(spec.space) == machines
    assert ceiling == Ceiling("optimal", pytest.approx(best / machines))  # type: ignore[arg-type]
    assert floor.exact == (name != "six-objects")  # a minute of search would prove it
    assert floor.value >= script / machines - 1e-12
    assert not floor.exact or floor.value == pytest.approx(script / machines)
    none = name in ("paper", "five-rules")
    assert (floor.value == ceiling.value) == none
    assert fixed_script(spec).value == pytest.approx(script / machines)


def test_players_reach_the_limits() -> None:
    """80 games each: five standard errors, so that one of 2 million such tests fails by chance."""
    games = [BUDGETED["three-objects"], PRESETS["mixed"], GameSpec(tests=4, noise=0.1)]
    for spec in games:
        items = list(generate(spec, 8, 0, 80))
        limit = {
            "best_fixed_script": [limits.script_floor(item.spec).value for item in items],
            "optimal": [limits.player_ceiling(item.spec).value for item in items],
        }
        for solver, expected in limit.items():
            right = sum(play(solver, item).kind == "right" for item in items)
            deviation = math.sqrt(sum(each * (1 - min(each, 1)) for each in expected))
            assert abs(right - sum(expected)) <= 5 * deviation + 1e-6, (spec, solver)


def test_a_budget_below_certainty_is_played_as_well_as_it_can_be() -> None:
    spec = GameSpec(objects=4, rules=FIVE_RULES, tests=5)
    best = limits.player_ceiling(spec).value
    assert best < 1
    right = [play("optimal", item).kind == "right" for item in generate(spec, 4, 0, 200)]
    deviation = math.sqrt(200 * best * (1 - best))
    assert abs(sum(right) - 200 * best) <= 5 * deviation


def best_with_noise(spec: GameSpec) -> tuple[float, float]:
    """How often the best script and the best player are right, in plain Python."""
    machines, wrong = [*spec.space], spec.noise
    shown = [[lights(each, placed) > 0.5 for placed in range(8)] for each in machines]

    def guess(joint: tuple[float, ...]) -> float:
        same: dict[tuple[bool, ...], float] = defaultdict(float)
        for behaviour, chance in zip(shown, joint, strict=True):
            same[tuple(behaviour)] += chance
        return max(same.values())

    def after(joint: tuple[float, ...], placed: int, light: bool) -> tuple[float, ...]:
        return tuple(
            chance * (1 - wrong if behaviour[placed] == light else wrong)
            for behaviour, chance in zip(shown, joint, strict=True)
        )

    def player(joint: tuple[float, ...], left: int) -> float:
        if left == 0:
            return guess(joint)
        return max(
            player(after(joint, placed, True), left - 1)
            + player(after(joint, placed, False), left - 1)
            for placed in range(8)
        )

    def script(joint: tuple[float, ...], tests: tuple[int, ...]) -> float:
        if not tests:
            return guess(joint)
        return sum(script(after(joint, tests[0], light), tests[1:]) for light in (True, False))

    start = (1 / len(machines),) * len(machines)
    every = itertools.combinations_with_replacement(range(8), spec.tests)
    return max(script(start, tests) for tests in every), player(start, spec.tests)


SMALL = [
    GameSpec(hypotheses=PRESETS["paper"].hypotheses, tests=2),
    GameSpec(tests=3, noise=0.1),
    GameSpec(tests=2, noise=0.2),
    GameSpec(rules=("inhibitor:1-1", "disjunctive:1"), tests=3, noise=0.05),
    GameSpec(rules=("threshold-2", "inhibitor:1,2-1", "conjunctive:2"), tests=3),
    GameSpec(
        hypotheses=("conjunctive:A", "disjunctive:A", "disjunctive:B", "parity:AB"),
        tests=3,
        noise=0.1,
    ),
]


@pytest.mark.parametrize("spec", SMALL)
def test_limits_are_those_of_plain_enumeration(spec: GameSpec) -> None:
    script, player = best_with_noise(spec)
    floor, ceiling = limits.script_floor(spec), limits.player_ceiling(spec)
    assert floor.exact
    assert ceiling.exact
    assert floor.value == pytest.approx(script)
    assert ceiling.value == pytest.approx(player)


@given(
    st.lists(st.sampled_from(EVERY), min_size=2, max_size=6, unique=True),
    st.integers(0, 3),
    st.sampled_from([0.05, 0.2, 0.4]),
)
@settings(max_examples=15, deadline=None)
def test_bounds_are_never_below_the_best_player(
    machines: list[Hypothesis], tests: int, wrong: float
) -> None:
    noisy = tuple(replace(machine, noise=wrong) for machine in machines)
    distinct = DistinctMachines(Space(noisy))
    best = noise.placement_values(distinct, tests).max()
    script = noise.best_script(distinct, tests)
    assert script.value <= best + 1e-12
    assert best <= noise.max_correct(distinct, tests) + 1e-12


def test_limits_of_a_long_noisy_game_are_bounds() -> None:
    spec = GameSpec(objects=4, tests=12, noise=0.1)
    floor, ceiling = limits.script_floor(spec), limits.player_ceiling(spec)
    assert not floor.exact
    assert not ceiling.exact
    assert not limits.script_floor(replace(spec, tests=6)).exact  # too many scripts to try
    assert floor.value <= ceiling.value < 1
    right = [play("information_gain", item).kind == "right" for item in generate(spec, 4, 0, 60)]
    assert sum(right) <= 60 * ceiling.value + 5 * math.sqrt(60 * ceiling.value / 4)


def test_the_command_prints_the_gap(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ceilings", "--game", "--objects", "4", "--tests", "5"]) == 0
    shown = capsys.readouterr().out
    row = next(line for line in shown.splitlines() if "this game" in line)
    assert row.split()[2:] == ["26", "5", "0.038", "0.654", "1.000", "0.346"]
    assert main(["ceilings", "--game", "--tests", "0"]) == 0
    assert "none" in capsys.readouterr().out
    assert main(["ceilings", "--game", "--noise", "0.1", "--tests", "2"]) == 0


@pytest.mark.parametrize("name", PRESETS)
def test_the_documented_figures_are_those_of_the_code(name: str) -> None:
    lines = [line for line in DOCS.read_text().splitlines() if line.startswith(f"| {name} |")]
    assert lines == [game_table({name: PRESETS[name]}).markdown().splitlines()[-1]]
