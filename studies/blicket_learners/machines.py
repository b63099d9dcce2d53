"""How many machines must be seen: training on some, tests on others, and ideal observers beside.

Rewards are per question, so that machines of any number of objects can be compared: 1 is all
right, -1 is all wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from studies.blicket_learners.machine_observers import (
    Played,
    bits_gained,
    constant_answer,
    memorising_observer,
    right_observer,
)
from studies.blicket_learners.machine_space import TESTED, Machine, test_sets, training_set
from studies.blicket_learners.machine_world import (
    PLACES,
    MachineWorld,
    machine_tables,
    machine_world,
)
from studies.blicket_learners.plan import MachinesUnit, ObserversUnit
from studies.blicket_learners.run import checkpoint_file
from trivium.agents.episodes import PolicyActor, greedy_episodes
from trivium.agents.learners import Learners
from trivium.agents.training import rounded, run_key, stack
from trivium.agents.worlds import Setting

TRAINED = "machines trained on"
QUIZ_AT_FIRST = (
    -3.0
)  # the quiz bit's logit before training: agents begin by testing, not by guessing


def train_machines(
    unit: MachinesUnit, out: Path, seconds: float | None, report: Callable[[str], None]
) -> dict[str, Any]:
    """The learning curves on every set of machines, and the final policies' tests in bits."""
    world, size = machine_world(), max(unit.counts)
    cases = [(count, seed) for count in unit.counts for seed in range(unit.seeds)]
    tested = [{TRAINED: training_set(seed, count), **test_sets()} for count, seed in cases]
    settings = [
        Setting(
            machine_tables(own[TRAINED], size),
            stack([machine_tables(each[:TESTED], TESTED) for each in own.values()]),
        )
        for own in tested
    ]
    keys = [run_key(unit.name, count, seed) for count, seed in cases]
    training = Learners(world, unit.agent, unit.length, settings, keys)
    training.runs = training.runs._replace(policy=_begin_by_testing(training.runs.policy))
    training.complete(
        checkpoint=checkpoint_file(out, unit),
        seconds=seconds,
        tell=lambda point: report(f"{unit.name}: {point}, {_now(training)}"),
    )
    shape = (len(unit.counts), unit.seeds)
    return {
        "kind": "machines",
        "name": unit.name,
        "agent": unit.agent.to_dict(),
        "counts": list(unit.counts),
        "finished": training.finished,
        "asked_steps": unit.length.steps,
        "seconds": round(training.seconds, 1),
        "device": jax.devices()[0].device_kind,
        "seeds": unit.seeds,
        "steps": [int(point.steps.max()) for point in training.curve],
        "curve": _curves(training, tested, shape),
        "tested": _test(world, training.runs.policy, tested, shape) if training.finished else None,
    }


def _begin_by_testing(policies: Any) -> Any:
    """The policies with a bias against asking for the quiz at once."""
    return eqx.tree_at(
        lambda policy: policy.heads.action.bias,
        policies,
        policies.heads.action.bias.at[..., 2 * PLACES + 1].set(QUIZ_AT_FIRST),
    )


def _now(training: Learners) -> str:
    """Rewards on the test sets, mean over the runs, as a line of progress."""
    reward = training.curve[-1].greedy.reward.mean(axis=(0, 2))
    return "greedy " + " ".join(f"{value:.2f}" for value in reward)


def _questions(machines: Sequence[Machine]) -> NDArray[np.float64]:
    """The number of questions about each machine, repeated as the tables repeat machines."""
    return np.resize([machine.objects for machine in machines[:TESTED]], TESTED)


def _curves(
    training: Learners, tested: Sequence[dict[str, list[Machine]]], shape: tuple[int, int]
) -> dict[str, Any]:
    """Reward and tests of the greedy policies at every point: [count][seed][point]."""
    questions = np.array([[_questions(each) for each in own.values()] for own in tested])
    rewards = [(point.greedy.reward / questions).mean(axis=-1) for point in training.curve]
    tests = [point.greedy.tests.mean(axis=-1) for point in training.curve]

    def layout(values: Sequence[Any], view: int) -> Any:
        return rounded(np.stack(values, axis=-1)[:, view].reshape(*shape, -1))

    return {
        name: {"reward": layout(rewards, view), "tests": layout(tests, view)}
        for view, name in enumerate(tested[0])
    }


class _Shown(NamedTuple):
    """What greedy episodes show: [run, machine, step], and the reward of each episode."""

    placed: Any
    light: Any
    tested: Any
    reward: Any


@partial(jax.jit, static_argnums=0)
def _play(world: MachineWorld, policies: Any, tables: Any) -> _Shown:
    def one(policy: Any, own: Any) -> _Shown:
        played = greedy_episodes(world, own, PolicyActor(policy))
        seen = played.observation[:, 1:].astype(jnp.int32)
        placed = (seen[..., PLACES : 2 * PLACES] << jnp.arange(PLACES)).sum(axis=-1)
        return _Shown(placed, seen[..., -2], played.tests, played.reward.sum(axis=1))

    return jax.vmap(one)(policies, tables)


def _test(
    world: MachineWorld,
    policies: Any,
    tested: Sequence[dict[str, list[Machine]]],
    shape: tuple[int, int],
) -> dict[str, Any]:
    """Reward, tests and bits of the greedy policies on every set: [count][seed]."""
    found: dict[str, Any] = {}
    for name in tested[0]:
        own = [each[name][:TESTED] for each in tested]
        shown = jax.tree.map(
            np.asarray,
            _play(world, policies, stack([machine_tables(each, TESTED) for each in own])),
        )
        means = [
            _mean(machines, _Shown(*(leaf[run] for leaf in shown)), name)
            for run, machines in enumerate(own)
        ]
        found[name] = {
            measure: rounded(np.reshape([getattr(mean, measure) for mean in means], shape))
            for measure in Played._fields
        }
    return found


def _mean(machines: Sequence[Machine], shown: _Shown, name: str) -> Played:
    rows = []
    for number, machine in enumerate(machines):
        tests = [
            (int(placed), bool(light))
            for placed, light, tested in zip(
                shown.placed[number], shown.light[number], shown.tested[number], strict=True
            )
            if tested
        ]
        reward = float(shown.reward[number]) / machine.objects
        rows.append(Played(reward, len(tests), bits_gained(machine, tests, name)))
    return Played(*np.mean(rows, axis=0))


def run_observers(unit: ObserversUnit) -> dict[str, Any]:
    """What observers earn on every test set: the right prior, and only the machines shown."""
    record: dict[str, Any] = {
        "kind": "observers",
        "name": unit.name,
        "counts": list(unit.counts),
        "seeds": unit.seeds,
        "finished": True,
        "constant": {},
        "right": {},
        "memorising": {},
    }
    for name, machines in test_sets().items():
        record["constant"][name] = rounded(constant_answer(machines))
        record["right"][name] = _plain([right_observer(machines, name)], ())
        shape = (len(unit.counts), unit.seeds)
        means = [
            memorising_observer(machines, training_set(seed, count), name)
            for count in unit.counts
            for seed in range(unit.seeds)
        ]
        record["memorising"][name] = _plain(means, shape)
    return record


def _plain(means: Sequence[Played], shape: tuple[int, ...]) -> dict[str, Any]:
    return {
        measure: rounded(np.reshape([getattr(mean, measure) for mean in means], shape))
        for measure in Played._fields
    }
