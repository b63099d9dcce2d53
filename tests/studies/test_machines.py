"""Machines of the large space: their lights, their questions, who is shown what, and observers."""

from __future__ import annotations

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from studies.blicket_learners.ideal import ideal_actor
from studies.blicket_learners.machine_observers import (
    bits_gained,
    constant_answer,
    memorising_observer,
    right_observer,
    spread,
    squeeze,
)
from studies.blicket_learners.machine_space import (
    Machine,
    move,
    right_prior,
    training_set,
)
from studies.blicket_learners.machine_space import (
    test_sets as held_out_sets,
)
from studies.blicket_learners.machine_world import (
    MAX_TESTS,
    lights,
    machine_tables,
    machine_world,
)

from trivium.agents.config import TaskConfig
from trivium.agents.episodes import greedy_episodes
from trivium.agents.worlds import task_setting, task_world
from trivium.benchmarks.blicket.inference.hypotheses import fires, parse


def machine(text: str, present: int) -> Machine:
    return Machine(parse(text), present)


def test_lights_are_those_of_the_hypotheses() -> None:
    found = [each for own in held_out_sets().values() for each in own[::40]]
    tables, placed = machine_tables(found, len(found)), np.arange(256)
    for number, each in enumerate(found):
        lit = lights(tables, jnp.full(256, number), jnp.asarray(placed))
        assert np.asarray(lit).tolist() == fires(each.rule, placed).tolist(), str(each.rule)


def play(own: Machine, actions: list[list[int]]) -> list[tuple[list[int], float, bool]]:
    """What every action shows, earns, and whether it ends the episode."""
    world, tables = machine_world(), machine_tables([own], 1)
    state, seen = world.reset(tables, jax.random.key(0), (1,))
    assert np.flatnonzero(seen[0]).tolist() == [n for n in range(8) if own.present >> n & 1]
    found = []
    for action in actions:
        step = world.step(tables, state, jnp.array([action]), jax.random.key(0))
        state = step.state
        shown = np.asarray(step.observation[0], dtype=int)
        found.append((shown[8:].tolist(), float(step.reward[0]), bool(step.done[0])))
    return found


def test_an_episode_step_by_step() -> None:
    """Objects B, D and E; B and E are blickets, and both are needed."""
    own = machine("conjunctive:BE", 0b00011010)
    everything, quiz = [1] * 8 + [0], [0] * 8 + [1]
    only_b, only_e = ([int(place == n) for n in range(8)] + [0] for place in (1, 4))
    rows = play(own, [everything, only_b, quiz, only_b, only_b, only_e])
    shown = [row[0] for row in rows]
    assert shown[0] == [0, 1, 0, 1, 1, 0, 0, 0, 1, 0]  # what is not there is not placed; it lights
    assert shown[1] == [0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
    assert [np.flatnonzero(each).tolist() for each in shown[2:]] == [[1, 9], [3, 9], [4, 9], [9]]
    # Yes about B and no about D are right; yes about E too.
    assert [row[1] for row in rows] == [0, 0, 0, 1, 1, 1]
    assert [row[2] for row in rows] == [False] * 5 + [True]


def test_the_quiz_comes_after_the_last_test() -> None:
    rows = play(machine("disjunctive:A", 0b111), [[0] * 9] * (MAX_TESTS + 1 + 3))
    flags = [row[0][-1] for row in rows]
    assert flags == [0] * MAX_TESTS + [1] * 4
    assert [row[1] for row in rows][-3:] == [-1, 1, 1]  # no about A is wrong
    assert rows[-1][2]
    assert machine_world().longest == MAX_TESTS + 1 + 8


def test_no_machine_is_both_shown_and_tested() -> None:
    sets = held_out_sets()
    assert {name: len(set(own)) for name, own in sets.items()} == dict.fromkeys(sets, 240)
    shown = training_set(0, 500)
    assert len(set(shown)) == 500
    assert not set(shown) & {each for own in sets.values() for each in own}
    assert {each.objects for each in shown} == {3, 4, 5, 6}
    assert {each.rule.form for each in shown} == {"disjunctive", "conjunctive", "inhibitor"}
    assert {each.objects for each in sets["new numbers of objects"]} == {7, 8}
    assert {each.rule.rule for each in sets["new form: threshold-2"]} == {"threshold-2"}
    assert training_set(0, 60) == shown[:60]
    assert training_set(1, 60) != shown[:60]
    for each in shown:
        assert not (each.rule.blickets | each.rule.inhibitors) & ~each.present


def test_objects_are_moved_and_numbered() -> None:
    assert str(move(parse("inhibitor:AB-C"), [1, 4, 7])) == "inhibitor:BE-H"
    for mask, present in product(range(8), (0b111, 0b10010010)):
        assert squeeze(spread(mask, present), present) == mask


def test_bits_are_those_of_the_belief() -> None:
    """Three objects, one lit: half of the disjunctive share goes, and more of the others."""
    own = machine("disjunctive:B", 0b11010)
    space = right_prior(3, ("disjunctive", "conjunctive", "inhibitor"))
    prior = {form: 1 / 3 / count for form, count in zip(("d", "c", "i"), (7, 4, 12), strict=True)}
    assert space.belief.sum() == pytest.approx(1)
    # B alone lights: disjunctive with it (4 of 7) and inhibitor machines with it as blicket (5).
    left = [prior["d"]] * 4 + [prior["i"]] * 5
    before = -sum(3 / 9 * np.log2(each) for each in prior.values())
    shares = np.array(left) / sum(left)
    after = -(shares * np.log2(shares)).sum()
    assert bits_gained(own, [(0b10, True)], "new machines") == pytest.approx(before - after)
    assert bits_gained(own, [], "new machines") == pytest.approx(0)


def test_observers_know_what_they_were_shown() -> None:
    shown = training_set(3, 40)
    assert memorising_observer(shown, shown, "new machines").reward > 0.95
    new = held_out_sets()["new machines"][:60]
    ceiling, memory = (
        right_observer(new, "new machines"),
        memorising_observer(new, shown, "new machines"),
    )
    assert ceiling.reward == 1.0
    assert memory.reward < 0.6
    assert memory.bits < ceiling.bits <= ceiling.tests
    assert constant_answer([machine("disjunctive:A", 0b111)]) == pytest.approx(1 / 3)


def test_the_ideal_actor_earns_all_with_the_fewest_tests() -> None:
    task = TaskConfig("quiz-type")
    world, setting = task_world(task), task_setting(task)
    played = greedy_episodes(world, setting.train, ideal_actor())
    assert np.asarray(played.reward).sum(axis=1).tolist() == [3.5] * 6
    assert float(np.asarray(played.tests).sum(axis=1).mean()) == pytest.approx(8 / 3)
