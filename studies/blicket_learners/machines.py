"""How many machines must be seen: training on some, tests on others, and observers beside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from studies.blicket_learners.machine_network import EquivariantPolicy
from studies.blicket_learners.machine_observers import ERROR, Played, blind, observe
from studies.blicket_learners.machine_space import (
    FORMS,
    NEW_FORM,
    OBJECTS,
    TESTED,
    TRAINED,
    TRAINED_FORMS,
    all_machines,
    test_sets,
    training_set,
)
from studies.blicket_learners.machine_world import machine_tables, machine_world
from studies.blicket_learners.plan import MachinesUnit, ObserversUnit
from studies.blicket_learners.run import checkpoint_file
from trivium.agents.actor_critic import make_optimiser
from trivium.agents.learners import Learners
from trivium.agents.training import rounded, run_key, stack
from trivium.agents.worlds import Setting


def train_machines(
    unit: MachinesUnit, out: Path, seconds: float | None, report: Callable[[str], None]
) -> dict[str, Any]:
    """Learning curves on the machines shown, on new ones and on new types."""
    cases = [(count, seed) for count in unit.counts for seed in range(unit.seeds)]
    settings = []
    for count, seed in cases:
        shown = training_set(seed, count)
        sets = (shown[:TESTED], *test_sets().values())
        views = stack([machine_tables(machines, TESTED) for machines in sets])
        settings.append(Setting(machine_tables(shown, max(unit.counts)), views))
    keys = [run_key(unit.name, count, seed) for count, seed in cases]
    world = machine_world(unit.labels)
    training = Learners(world, unit.agent, unit.length, settings, keys)
    _prepare(training, unit, keys)
    training.complete(
        checkpoint=checkpoint_file(out, unit),
        seconds=seconds,
        tell=lambda point: report(f"{unit.name}: {point}, {_now(training)}"),
    )
    return {
        "kind": "machines",
        "name": unit.name,
        "label": unit.label,
        "labels": unit.labels,
        "quiz_bias": unit.quiz_bias,
        "place_bias": unit.place_bias,
        "agent": unit.agent.to_dict(),
        "counts": list(unit.counts),
        "finished": training.finished,
        "asked_steps": unit.length.steps,
        "seconds": round(training.seconds, 1),
        "device": jax.devices()[0].device_kind,
        "seeds": unit.seeds,
        "steps": [int(point.steps.max()) for point in training.curve],
        **_curves(training, (len(unit.counts), unit.seeds)),
    }


def _prepare(training: Learners, unit: MachinesUnit, keys: Sequence[jax.Array]) -> None:
    """The unit's network if it is its own, and what it tends to do before it has learned."""
    runs = training.runs
    if unit.label == "equivariant":
        policies = [EquivariantPolicy(unit.agent.width, jax.random.fold_in(key, 1)) for key in keys]
        environments = unit.agent.environments
        runs = runs._replace(
            policy=stack(policies),
            optimiser=stack([make_optimiser(unit.agent).init(policy) for policy in policies]),
            environments=runs.environments._replace(
                carry=stack([policy.initial(environments) for policy in policies])
            ),
        )
        place, quiz = _equivariant_biases(runs.policy)
        new = place.at[..., 1].set(unit.place_bias), quiz.at[..., 1].set(unit.quiz_bias)
        policy = eqx.tree_at(_equivariant_biases, runs.policy, new)
    else:
        bias = _action_bias(runs.policy).at[..., 1 : 2 * OBJECTS : 2].set(unit.place_bias)
        bias = bias.at[..., 2 * OBJECTS + 1].set(unit.quiz_bias)
        policy = eqx.tree_at(_action_bias, runs.policy, bias)
    training.runs = runs._replace(policy=policy)


def _equivariant_biases(policy: Any) -> tuple[jax.Array, jax.Array]:
    return policy.object_head.bias, policy.quiz_head.bias


def _action_bias(policy: Any) -> jax.Array:
    bias: jax.Array = policy.heads.action.bias
    return bias


def _now(training: Learners) -> str:
    """The shares of whole answers that are right, mean over the runs, as a line of progress."""
    whole = training.curve[-1].greedy.reward > OBJECTS - 0.5
    return "whole answers " + " ".join(f"{value:.2f}" for value in whole.mean(axis=(0, 2)))


def _curves(training: Learners, shape: tuple[int, int]) -> dict[str, Any]:
    """Every measure of the greedy policies: [count][seed][point]; and episodes per machine."""
    reward = np.stack([point.greedy.reward for point in training.curve], axis=-1)
    tests = np.stack([point.greedy.tests for point in training.curve], axis=-1)
    measures = {"whole": reward > OBJECTS - 0.5, "reward": reward / OBJECTS, "tests": tests}
    episodes = np.stack([point.training.episodes for point in training.curve], axis=-1)
    return {
        "curve": {
            name: {
                measure: rounded(values[:, view].mean(axis=1).reshape(*shape, -1))
                for measure, values in measures.items()
            }
            for view, name in enumerate((TRAINED, *test_sets()))
        },
        "episodes": rounded(episodes.cumsum(axis=-1).reshape(*shape, -1).mean(axis=1)),
    }


def run_observers(unit: ObserversUnit) -> dict[str, Any]:
    """What is earned on the test sets blindly, by memory of the machines shown, by inference."""
    record: dict[str, Any] = {
        "kind": "observers",
        "name": unit.name,
        "counts": list(unit.counts),
        "seeds": unit.seeds,
        "finished": True,
        "blind": {},
        "ideal": {},
        "memoriser": {},
    }
    for name, machines in test_sets().items():
        record["blind"][name] = _plain([blind(machines)], ())
        forms = FORMS if name == NEW_FORM else TRAINED_FORMS
        record["ideal"][name] = _plain([observe(machines, all_machines(tuple(forms)))], ())
        shape = (len(unit.counts), unit.seeds)
        played = [
            observe(machines, training_set(seed, count), ERROR)
            for count in unit.counts
            for seed in range(unit.seeds)
        ]
        record["memoriser"][name] = _plain(played, shape)
    return record


def _plain(played: Sequence[Played], shape: tuple[int, ...]) -> dict[str, Any]:
    return {
        measure: rounded(np.reshape([getattr(one, measure) for one in played], shape))
        for measure in Played._fields
    }
