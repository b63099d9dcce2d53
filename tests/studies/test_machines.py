"""Machines of the large space: their lights, their questions, who is shown what, and observers."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from studies.blicket_learners.ideal import ideal_actor
from studies.blicket_learners.machine_network import EquivariantPolicy
from studies.blicket_learners.machine_observers import ERROR, blind, observe
from studies.blicket_learners.machine_space import (
    CONJUNCTIVE,
    DISJUNCTIVE,
    FORMS,
    HELD_OUT_TYPES,
    MAX_TESTS,
    NEW_FORM,
    NEW_MACHINES,
    NEW_TYPES,
    PARITY,
    Machine,
    Type,
    all_machines,
    lights,
    training_set,
)
from studies.blicket_learners.machine_space import (
    test_sets as held_out_sets,
)
from studies.blicket_learners.machine_world import machine_tables, machine_world
from studies.blicket_learners.plan import Labels

from trivium.agents.config import TaskConfig
from trivium.agents.episodes import greedy_episodes
from trivium.agents.worlds import task_setting, task_world
from trivium.benchmarks.blicket.inference.hypotheses import fires, parse


@pytest.mark.parametrize(
    ("own", "name"),
    [
        (Machine(DISJUNCTIVE, 0b101, 0), "disjunctive:AC"),
        (Machine(PARITY, 0b1011, 0), "parity:ABD"),
        (Machine(CONJUNCTIVE, 0b110, 0), "conjunctive:BC"),
        (Machine(DISJUNCTIVE, 0b11, 0b100), "inhibitor:AB-C"),
    ],
)
def test_lights_are_those_of_the_hypotheses(own: Machine, name: str) -> None:
    assert lights([own])[0].tolist() == fires(parse(name), np.arange(256)).tolist()


def test_the_world_lights_as_the_machines_do() -> None:
    """Each of 60 machines of every form, with each of the 256 sets."""
    for form in FORMS:
        found = all_machines((form,))[::47][:60]
        world, tables = machine_world("fixed"), machine_tables(found, len(found))
        state, _ = world.starts(tables)
        for placed in range(256):
            action = jnp.array([[placed >> n & 1 for n in range(8)] + [0]] * len(found))
            seen = world.step(tables, state, action, jax.random.key(0)).observation
            assert np.array_equal(np.asarray(seen[:, 8]) > 0, lights(found)[:, placed])


def play(own: Machine, actions: list[list[int]]) -> list[tuple[list[int], float, bool]]:
    """What every action shows, earns, and whether it ends the episode."""
    world, tables = machine_world("fixed"), machine_tables([own], 1)
    state, seen = world.reset(tables, jax.random.key(0), (1,))
    assert not seen.any()  # nothing is visible of the machine
    found = []
    for action in actions:
        step = world.step(tables, state, jnp.array([action]), jax.random.key(0))
        state = step.state
        shown = np.asarray(step.observation[0], dtype=int)
        found.append((shown.tolist(), float(step.reward[0]), bool(step.done[0])))
    return found


def only(*places: int, quiz: int = 0) -> list[int]:
    return [int(place in places) for place in range(8)] + [quiz]


def test_an_episode_step_by_step() -> None:
    """B and E are blickets, H is an inhibitor; the agent says yes about B and C."""
    own = Machine(DISJUNCTIVE, 0b10010, 0b10000000)
    answers = [only(place) if place in (1, 2) else only() for place in range(8)]
    rows = play(own, [only(1), only(1, 7), only(0), only(quiz=1), *answers])
    shown = [row[0] for row in rows]
    assert shown[0] == [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    assert shown[1] == [0, 1, 0, 0, 0, 0, 0, 1, 0, 0]
    assert shown[2] == [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    asked = [np.flatnonzero(each).tolist() for each in shown[3:11]]
    assert asked == [[place, 9] for place in range(8)]
    # Yes about C and no about E are wrong.
    assert [row[1] for row in rows] == [0, 0, 0, 0, 1, 1, -1, 1, -1, 1, 1, 1]
    assert [row[2] for row in rows] == [False] * 11 + [True]


def test_the_quiz_comes_after_the_last_test() -> None:
    rows = play(Machine(DISJUNCTIVE, 1, 0), [only()] * (MAX_TESTS + 1 + 8))
    assert [row[0][-1] for row in rows] == [0] * MAX_TESTS + [1] * 9
    assert [row[1] for row in rows][-8:] == [-1] + [1] * 7  # no about A is wrong
    assert [row[2] for row in rows] == [False] * (MAX_TESTS + 8) + [True]
    assert machine_world("fixed").longest == MAX_TESTS + 1 + 8


@pytest.mark.parametrize("labels", ["fixed", "relabelled", "tagged"])
def test_labels_move_objects_or_number_them(labels: Labels) -> None:
    own = Machine(PARITY, 0b111, 0b11000)
    world, tables = machine_world(labels), machine_tables([own], 1)
    state, seen = world.reset(tables, jax.random.key(1), (400,))
    sets = np.asarray(state.blickets), np.asarray(state.inhibitors)
    assert (np.bitwise_count(sets[0]) == 3).all()
    assert not (sets[0] & sets[1]).any()
    assert (len(set(sets[0].tolist())) > 40) == (labels == "relabelled")
    numbers = np.asarray(seen[:, 10:]).reshape(400, -1, 8)
    if labels == "tagged":
        assert (numbers.sum(axis=1) == 1).all()
        assert (numbers.sum(axis=2) == 1).all()
        assert abs(numbers[:, 0].mean(axis=0) - 1 / 8).max() < 0.08  # six standard errors are .1
    else:
        assert not numbers.size


def test_what_is_tested_was_never_shown() -> None:
    assert len(set(all_machines(tuple(FORMS)))) == 3035 + 2 * 2803
    sets = held_out_sets()
    assert {name: len(set(own)) for name, own in sets.items()} == {
        NEW_MACHINES: 120,
        NEW_TYPES: 82,
        NEW_FORM: 120,
    }
    shown = training_set(0, 4096)
    assert len(set(shown)) == 4096
    answers = {each.blickets for each in shown}
    types = {each.type for each in shown}
    for own in sets.values():
        assert not answers & {each.blickets for each in own}
    assert {each.type for each in sets[NEW_MACHINES]} <= types
    assert {each.type for each in sets[NEW_TYPES]} == set(HELD_OUT_TYPES)
    assert not types & HELD_OUT_TYPES
    assert {each.form for each in sets[NEW_FORM]} == {CONJUNCTIVE}
    assert {each.form for each in shown} == {DISJUNCTIVE, PARITY}
    assert Machine(PARITY, 0b111, 0b1000).type == Type(PARITY, 3, 1)
    assert training_set(0, 60) == shown[:60]
    assert training_set(1, 60) != shown[:60]


def test_observers_know_what_they_were_shown() -> None:
    shown = training_set(3, 40)
    assert observe(shown, shown, ERROR).whole > 0.95
    for name in (NEW_MACHINES, NEW_TYPES):
        new = held_out_sets()[name]
        memory, ceiling = observe(new, training_set(3, 1000), ERROR), observe(new, all_machines())
        assert memory.whole == 0  # the right answer is not among those it knows
        assert memory.reward < ceiling.reward
        assert ceiling.whole > 0.98
    two = [Machine(DISJUNCTIVE, 0b1, 0), Machine(DISJUNCTIVE, 0b11, 0)]
    assert blind(two).whole == 0.5
    assert blind(two).reward == pytest.approx(7 / 8)  # B is as often one as not
    assert observe(two, two).tests == 1


def test_renaming_objects_renames_the_actions_of_the_equivariant_network() -> None:
    policy = EquivariantPolicy(16, jax.random.key(4))
    world = machine_world("tagged")
    state, seen = world.reset(
        machine_tables([Machine(DISJUNCTIVE, 0b11, 0)], 1), jax.random.key(5), (3,)
    )
    del state
    order = np.array([3, 1, 7, 0, 2, 6, 5, 4])
    seen = seen.at[:, [0, 2, 8]].set(1.0)  # two objects lie there, and it lights
    numbers = seen[:, 10:].reshape(3, 8, 8)[:, order].reshape(3, 64)
    moved = jnp.concatenate([seen[:, :8][:, order], seen[:, 8:10], numbers], axis=1)
    carry, start = policy.initial(3), jnp.ones(3)
    _, one = policy.step(carry, seen, start)
    _, two = policy.step(carry, moved, start)
    assert np.allclose(one.logits[:, :8][:, order], two.logits[:, :8], atol=1e-7)
    assert np.allclose(one.logits[:, 8], two.logits[:, 8], atol=1e-7)
    assert np.allclose(one.value, two.value, atol=1e-6)
    assert np.abs(one.logits[:, 0] - one.logits[:, 1]).max() > 1e-5


def test_the_ideal_actor_earns_all_with_the_fewest_tests() -> None:
    task = TaskConfig("quiz-type")
    world, setting = task_world(task), task_setting(task)
    played = greedy_episodes(world, setting.train, ideal_actor())
    assert np.asarray(played.reward).sum(axis=1).tolist() == [3.5] * 6
    assert float(np.asarray(played.tests).sum(axis=1).mean()) == pytest.approx(8 / 3)
