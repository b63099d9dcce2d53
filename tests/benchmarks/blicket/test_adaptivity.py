"""The best fixed script and the optimal tests of a budget, against brute force and play."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.benchmarks.blicket.games import BUDGETED, machines_up_to_renaming, play
from trivium.benchmarks.blicket.commands.ceilings import game_table
from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.adaptivity import Adaptivity, adaptivity
from trivium.benchmarks.blicket.game.generate import generate
from trivium.benchmarks.blicket.game.spec import PRESETS, GameSpec
from trivium.benchmarks.blicket.inference.budget import BudgetPlanner
from trivium.benchmarks.blicket.inference.distinct import Distinct
from trivium.benchmarks.blicket.inference.hypotheses import Space, lights, make_space
from trivium.benchmarks.blicket.inference.scripts import best_fixed_script, max_groups
from trivium.cli import main
from trivium.core.errors import UserError

DOCS = Path(__file__).parents[3] / "docs" / "blicket_game.md"
FIVE = ("conjunctive", "disjunctive", "threshold-2", "parity", "inhibitor")
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


def all_groups(space: Space, tests: int) -> list[list[tuple[float, ...]]]:
    """The lights of every machine, for every script."""
    return [
        [tuple(lights(machine, placed) for placed in script) for machine in space]
        for script in itertools.combinations(range(8), tests)
    ]


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
    count = max(len(set(groups)) for groups in all_groups(space, tests))
    assert count <= max_groups(Distinct(space), tests)
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
        machines = Distinct(space)
        script = best_fixed_script(space, tests, 10**9)
        assert script.bound <= script.value + 1e-12
        assert script.value <= max_groups(machines, tests) / len(space) + 1e-12
        hurried = best_fixed_script(space, tests, 1)
        assert hurried.value <= script.value <= hurried.bound + 1e-12
        assert machines.value(hurried.placed) == pytest.approx(hurried.value)


def test_the_bound_of_a_large_space_is_the_one_worked_by_hand() -> None:
    """Two objects tell 4 lights; with one test, disjunctive A, B, AB fall into 2 groups."""
    space = make_space(2, ("disjunctive",))
    # A alone: 2 of 3 light, 0.918 bits; groups of 2 and 1 have exactly that entropy.
    assert max_groups(Distinct(space), 1) == 2
    assert max_groups(Distinct(space), 2) == 3


EXACT = {  # right answers of the best fixed script and of the optimal player, of all machines
    "paper": (6, 6, 6),
    "three-objects": (9, 11, 11),
    "four-objects": (17, 26, 26),
    "five-rules": (28, 28, 28),
    "five-objects": (33, 57, 57),
    "six-objects": (78, 184, 184),
    "eight-objects": (316, 884, 884),
    "inhibitors": (162, 237, 237),
}
NODES = {"inhibitors": 100_000}  # as many as it takes; others take few or too many for a test


@cache
def computed(name: str) -> Adaptivity:
    return adaptivity(PRESETS[name], NODES.get(name, 1000))


@pytest.mark.parametrize("name", BUDGETED)
def test_every_preset_says_what_adaptivity_is_worth(name: str) -> None:
    script, best, machines = EXACT[name]
    found = computed(name)
    players = found.players
    assert len(PRESETS[name].space) == machines
    assert players["best_fixed_script"].low == pytest.approx(script / machines)
    assert players["optimal"].low == pytest.approx(best / machines)
    assert players["optimal"].high == pytest.approx(best / machines)
    assert players["information_gain"].low == pytest.approx(1)
    exact = name not in ("six-objects", "eight-objects")
    assert (players["best_fixed_script"].high == pytest.approx(script / machines)) == exact
    none = name in ("paper", "five-rules")
    assert (found.gap.high == pytest.approx(0)) == none
    assert none or found.gap.low > 0.15
    order = ("constant_answer", "posterior", "best_fixed_script", "optimal")
    lows = [players[each].low for each in order]
    assert lows == sorted(lows)


def test_players_reach_what_is_computed() -> None:
    """160 games each: five standard errors, so that one of 2 million such tests fails by chance."""
    for name, solvers in {
        "three-objects": ("posterior", "one_at_a_time", "best_fixed_script", "information_gain"),
        "six-objects": ("best_fixed_script",),
    }.items():
        items = list(generate(PRESETS[name], 8, 0, 160))
        for solver in solvers:
            expected = computed(name).players[solver].low
            right = sum(play(solver, item).kind == "right" for item in items)
            deviation = math.sqrt(160 * expected * (1 - min(expected, 1)))
            assert abs(right - 160 * expected) <= 5 * deviation + 1e-6, (name, solver)


def test_random_tests_are_sampled_where_they_cannot_be_followed() -> None:
    exact = computed("four-objects").players["posterior"]
    assert not exact.sampled
    assert computed("six-objects").players["posterior"].sampled
    # The six machines of the paper after one of eight random tests: nothing and all three reveal
    # nothing (1 of 6 right), every other placement makes two groups (2 of 6).
    one = adaptivity(GameSpec(hypotheses=PRESETS["paper"].hypotheses, tests=1))
    assert one.players["posterior"].low == pytest.approx((2 / 8) * (1 / 6) + (6 / 8) * (2 / 6))


def test_a_budget_below_certainty_is_played_as_well_as_it_can_be() -> None:
    spec = GameSpec(objects=4, rules=FIVE, tests=5)
    best = adaptivity(spec).players["optimal"]
    assert best.low == best.high < 1
    right = [play("optimal", item).kind == "right" for item in generate(spec, 4, 0, 200)]
    deviation = math.sqrt(200 * best.low * (1 - best.low))
    assert abs(sum(right) - 200 * best.low) <= 5 * deviation


def test_noise_has_no_exact_gap(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match="without noise"):
        adaptivity(GameSpec(noise=0.1))
    assert main(["ceilings", "--game", "--noise", "0.1"]) == 2
    assert "noise must be 0" in capsys.readouterr().err


def test_the_command_prints_the_gap(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ceilings", "--game", "--objects", "4", "--tests", "5"]) == 0
    shown = capsys.readouterr().out
    row = next(line for line in shown.splitlines() if "this game" in line)
    assert row.split()[2:] == [
        *("26", "5", "0.038", "0.326", "0.615", "0.654", "1.000", "1.000", "0.346"),
    ]
    assert main(["ceilings", "--game", "--tests", "0"]) == 0
    assert "0.000: none" in capsys.readouterr().out


@pytest.mark.parametrize("name", BUDGETED)
def test_the_documented_figures_are_those_of_the_code(name: str) -> None:
    """Where proving the best script takes long, the figures must lie within what a short search
    proves."""
    lines = [line for line in DOCS.read_text().splitlines() if line.startswith(f"| {name} |")]
    documented, games = lines
    spec = PRESETS[name]
    kinds = machines_up_to_renaming(spec)
    assert games == f"| {name} | {GAME.item_space(spec):,} | {len(spec.space)} | {kinds} |"
    line = game_table({name: computed(name)}).markdown().splitlines()[-1]
    if name != "six-objects":
        assert documented == line
        return
    cells, known = (text.strip("| ").split(" | ") for text in (documented, line))
    script, gap = float(cells.pop(6)), float(cells.pop(-1))
    low, high = map(float, known.pop(6).split(" to "))
    known.pop(-1)
    assert cells == known
    assert script == low < high
    assert gap == pytest.approx(1 - script)
