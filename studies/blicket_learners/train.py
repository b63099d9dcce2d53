"""How each kind of unit is trained, and the record that its file holds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from studies.blicket_learners.ideal import ideal_actor
from studies.blicket_learners.plan import (
    RANDOM_DATA,
    TRAINED_OBJECTS,
    ImitatorUnit,
    LearnerUnit,
    QUnit,
    TransferUnit,
    UntrainedUnit,
)
from studies.blicket_learners.run import checkpoint_file, policy_file
from studies.blicket_learners.slot_world import SlotWorld, slot_world
from trivium.agents.actor_critic import start
from trivium.agents.config import TaskConfig
from trivium.agents.episodes import (
    Actor,
    Episodes,
    Moment,
    PolicyActor,
    RandomActor,
    form_accuracy,
    greedy,
    object_reward,
    sample_episodes,
)
from trivium.agents.imitation import Imitators
from trivium.agents.imitators import ImitatorActor
from trivium.agents.learners import Learners, curve_record
from trivium.agents.networks import make_policy
from trivium.agents.qlearning import Trial
from trivium.agents.training import load_tree, pick, rounded, run_key, save_tree
from trivium.agents.worlds import (
    VIEWS,
    BlicketWorld,
    Setting,
    World,
    task_setting,
    task_world,
)
from trivium.core.errors import require

Report = Callable[[str], None]
SLOTS = 5  # places for objects, of which a machine uses some
TESTED_OBJECTS = (3, 4, 5)
TESTED_FORMS = ("disjunctive", "conjunctive", "threshold-2", "parity", "inhibitor")


def train_learners(
    unit: LearnerUnit, out: Path, seconds: float | None, report: Report
) -> dict[str, Any]:
    """The learning curves of every task; a time limit leaves a checkpoint to resume from."""
    settings = {task: task_setting(task) for task in unit.tasks}
    runs = [
        (settings[task], _key(unit, task, seed))
        for task in unit.tasks
        for seed in range(unit.seeds)
    ]
    training = _train(
        unit, task_world(unit.tasks[0]), runs, out=out, seconds=seconds, report=report
    )
    if unit.keep and training.finished:  # the policies of the first task
        for seed in range(unit.seeds):
            policy = pick(training.runs.policy, seed)
            save_tree(policy_file(out, unit.name, seed), policy)
    return {
        "kind": "learner",
        "name": unit.name,
        "preset": unit.preset,
        "agent": unit.agent.to_dict(),
        "finished": training.finished,
        "asked_steps": unit.length.steps,
        "seconds": round(training.seconds, 1),
        "device": jax.devices()[0].device_kind,
        "seeds": unit.seeds,
        "tasks": [
            curve_record(
                task, training.curve, slice(number * unit.seeds, (number + 1) * unit.seeds)
            )
            for number, task in enumerate(unit.tasks)
        ],
    }


def _key(unit: LearnerUnit, task: TaskConfig, seed: int) -> jax.Array:
    return run_key(unit.preset, unit.agent.name, unit.agent.width, task.to_dict(), seed)


def play_untrained(unit: UntrainedUnit) -> dict[str, Any]:
    """The mean reward, or share of forms named correctly, of every task and seed untrained."""
    values: dict[str, Any] = {}
    for learner in unit.learners:
        own = []
        for task in learner.tasks:
            if task.forced or (task.split != "none" and task.reward_structure == "quiz"):
                continue  # drawn in no learning curve; such tasks come last
            world, tables = task_world(task), task_setting(task).train
            means = []
            for seed in range(unit.seeds):
                key = _key(learner, task, seed)
                run = start(world, learner.agent, tables, key)
                played = _sample(
                    world,
                    unit.episodes,
                    tables,
                    PolicyActor(run.policy),
                    jax.random.fold_in(key, 4),
                )
                asked = task.reward_structure != "quiz"
                means.append(form_accuracy(played) if asked else object_reward(played))
            own.append(rounded(np.mean(means, axis=1)))
        values[learner.name] = own
    return {
        "kind": "untrained",
        "name": unit.name,
        "finished": True,
        "episodes": unit.episodes,
        "seeds": unit.seeds,
        "units": [learner.name for learner in unit.learners],
        "values": values,
    }


def train_transfer(
    unit: TransferUnit, out: Path, seconds: float | None, report: Report
) -> dict[str, Any]:
    """The learning curve, and the accuracy on every form and number of objects."""
    world, tables = slot_world(TRAINED_OBJECTS, SLOTS, unit.forms)
    setting = Setting(tables, jax.tree.map(lambda leaf: leaf[None], tables))
    runs = [(setting, run_key(unit.name, seed)) for seed in range(unit.seeds)]
    training = _train(unit, world, runs, out=out, seconds=seconds, report=report)
    curve = [point.greedy.reward.mean(axis=(1, 2)) for point in training.curve]
    return {
        "kind": "transfer",
        "name": unit.name,
        "agent": unit.agent.to_dict(),
        "forms": list(unit.forms),
        "finished": training.finished,
        "asked_steps": unit.length.steps,
        "seeds": unit.seeds,
        "steps": [int(point.steps.max()) for point in training.curve],
        "reward": rounded(np.stack(curve, axis=1)),
        "converged": training.curve[-1].converged.tolist(),
        "seconds": round(training.seconds, 1),
        "device": jax.devices()[0].device_kind,
        "tested": [
            _transferred(training.runs.policy, form, objects)
            for form in TESTED_FORMS
            for objects in TESTED_OBJECTS
        ],
    }


def _train(
    unit: LearnerUnit | TransferUnit,
    world: World,
    runs: Sequence[tuple[Setting, jax.Array]],
    *,
    out: Path,
    seconds: float | None,
    report: Report,
) -> Learners:
    """The unit's runs from their start or their checkpoint to the end, or until time is up."""
    settings, keys = [setting for setting, _ in runs], [key for _, key in runs]
    training = Learners(world, unit.agent, unit.length, settings, keys)
    training.complete(
        checkpoint=checkpoint_file(out, unit),
        seconds=seconds,
        tell=lambda point: report(f"{unit.name}: {point}"),
    )
    return training


def _transferred(policies: Any, form: str, objects: int) -> dict[str, Any]:
    """Every machine of one form and number of objects, played greedily by every seed."""
    world, tables = slot_world(objects, SLOTS, (form,))
    played = _play_greedily(world, policies, tables)
    return {
        "form": form,
        "objects": objects,
        "machines": int(tables.arranged.shape[0]),
        "accuracy": rounded((played.reward.mean(axis=1) / objects + 1) / 2),
        "tests": rounded(played.tests.mean(axis=1)),
        "perfect": rounded((played.reward > objects - 1e-4).mean(axis=1)),
    }


@partial(jax.jit, static_argnums=0)
def _play_greedily(world: SlotWorld, policies: Any, tables: Any) -> Any:
    return jax.vmap(lambda policy: greedy(world, policy, tables))(policies)


def train_imitators(
    unit: ImitatorUnit, out: Path, seconds: float | None, report: Report
) -> dict[str, Any]:
    """The imitators of one dataset, one for each seed, and what they earn when they play."""
    began = time.monotonic()
    task = TaskConfig("quiz-type", forced=RANDOM_DATA.get(unit.data, 0))
    world, setting = task_world(task), task_setting(task)
    keys = [run_key(unit.data, seed) for seed in range(unit.seeds)]
    datasets: list[Episodes] = []
    for seed, key in enumerate(keys):
        maker = _data_actor(unit, world, out, seed)
        data_key = jax.random.fold_in(key, 2)
        episodes = _sample(world, unit.episodes, setting.train, maker, data_key)
        datasets.append(jax.tree.map(np.asarray, episodes))
    left = None if seconds is None else seconds - (time.monotonic() - began)
    fitted = Imitators(unit.config, world, datasets, keys)
    fitted.complete(seconds=left, checkpoint=checkpoint_file(out, unit))
    record = {
        "kind": "imitator",
        "name": unit.name,
        "label": unit.label,
        "config": asdict(unit.config),
        "data": unit.data,
        "finished": fitted.finished,
        "episodes": unit.episodes,
        "rollouts": unit.rollouts,
        "seeds": unit.seeds,
        "target": unit.target,
        "greedy": unit.greedy,
        "device": jax.devices()[0].device_kind,
        "data_length": rounded(np.mean([data.lengths.mean() for data in datasets])),
        "data_reward": rounded(np.mean([object_reward(data).mean() for data in datasets])),
        "epochs": len(fitted.curve),
        "validation_loss": rounded(fitted.losses.validation),
        "played": _play(unit, world, task, fitted.runs.best, keys),
    }
    losses = record["validation_loss"][0]
    reward = np.mean(record["played"]["as collected"]["reward"])
    report(f"{unit.name}: loss {losses[0]} to {losses[-1]}, reward {reward:.2f}")
    return record


def _play(
    unit: ImitatorUnit,
    world: BlicketWorld,
    task: TaskConfig,
    models: Any,
    keys: Sequence[jax.Array],
) -> dict[str, Any]:
    """What every seed earns, with the forced steps of its data and without them."""
    played: dict[str, Any] = {}
    views = task_setting(task).views
    # Where no step is forced, the second view equals the first.
    players: list[Actor] = [
        ImitatorActor(world, pick(models, seed), unit.target) for seed in range(unit.seeds)
    ]
    if unit.greedy:
        players = list(map(Likeliest, players))
    for number, name in enumerate(("as collected", VIEWS[1])[: 1 + (task.forced > 0)]):
        view = pick(views, number)
        runs = [
            _sample(world, unit.rollouts, view, player, jax.random.fold_in(key, 3))
            for player, key in zip(players, keys, strict=True)
        ]
        played[name] = {
            "reward": [rounded(object_reward(run).mean()) for run in runs],
            "sd": [rounded(object_reward(run).std()) for run in runs],
            "form": [rounded(form_accuracy(run).mean()) for run in runs],
            "tests": [rounded(run.tests.sum(axis=1).mean()) for run in runs],
        }
    return played


def _data_actor(unit: ImitatorUnit, world: BlicketWorld, out: Path, seed: int) -> Actor:
    """What plays the episodes: chance, the ideal observer, or the policy that was kept."""
    if unit.data in RANDOM_DATA:
        return RandomActor()
    if unit.maker is None:
        return ideal_actor()
    path = policy_file(out, unit.data, seed)
    require(path.exists(), f"{path} is missing: run the study's part table1 as a whole")
    maker = unit.maker
    shape = jax.eval_shape(lambda: make_policy(maker, world, jax.random.key(0)))
    return PolicyActor(load_tree(path, lambda _: shape)[0])


class Likeliest(eqx.Module):
    """An actor that takes the likelier value of every bit."""

    actor: Any

    def initial(self, batch: int) -> Any:
        return self.actor.initial(batch)

    def act(self, carry: Any, moment: Moment, uniform: jax.Array) -> tuple[Any, jax.Array]:
        acted: tuple[Any, jax.Array] = self.actor.act(carry, moment, jnp.full_like(uniform, 0.5))
        return acted


@partial(jax.jit, static_argnums=(0, 1))
def _sample(
    world: BlicketWorld, episodes: int, tables: Any, player: Actor, key: jax.Array
) -> Episodes:
    return sample_episodes(world, tables, player, episodes, key)


def run_trials(unit: QUnit) -> dict[str, Any]:
    """Every trial of Q-learning."""
    results = [Trial(unit.config, seed).learn() for seed in range(unit.trials)]
    return {
        "kind": "q",
        "name": unit.name,
        "config": asdict(unit.config),
        "finished": True,
        "trials": unit.trials,
        "episodes": [result.episodes for result in results],
        "steps": [result.steps for result in results],
        "converged": sum(result.converged for result in results),
        "histories": [result.histories for result in results],
    }
