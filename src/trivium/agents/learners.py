"""Training of reinforcement learners, and the record of their learning curves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import Array

from trivium.agents.actor_critic import Run, Sums, start, update
from trivium.agents.config import AgentConfig, LengthConfig, TaskConfig
from trivium.agents.episodes import Greedy, greedy
from trivium.agents.training import Training, rounded, stack
from trivium.agents.worlds import VIEWS, Setting, World, task_spec
from trivium.benchmarks.blicket.world.spec import TYPE_REWARD


class Point(NamedTuple):
    """One point of the learning curve."""

    steps: Array
    training: Sums  # of the episodes that ended since the last point
    greedy: Greedy  # [views, starts] in every array
    streak: Array
    converged: Array  # the step at which training ended early, -1 until then


@partial(jax.jit, static_argnums=(0, 1, 2))
def segment_all(
    world: World, config: AgentConfig, length: LengthConfig, runs: Run, settings: Setting
) -> tuple[Run, Point]:
    """Every run at its next point of the curve."""

    def segment(run: Run, setting: Setting) -> tuple[Run, Point]:
        def body(run: Run, _: None) -> tuple[Run, Sums]:
            return update(world, config, length.streak, setting.train, run)

        run, sums = jax.lax.scan(body, run, length=length.updates(config.batch))
        totals = Sums(*(part.sum() for part in sums))
        views = jax.vmap(partial(greedy, world, run.policy))(setting.views)
        return run, Point(run.steps, totals, views, run.environments.streak, run.converged)

    return jax.vmap(segment)(runs, settings)


class Learners(Training):
    """Runs of one reinforcement learner, one for each setting and key."""

    def __init__(
        self,
        world: World,
        agent: AgentConfig,
        length: LengthConfig,
        settings: Sequence[Setting],
        keys: Sequence[Array],
    ) -> None:
        self.world, self.agent, self.length = world, agent, length
        self.settings: Setting = stack(settings)
        # Not vmapped: computing orthogonal matrices of several runs in one call can hang on a CPU.
        runs = [
            start(world, agent, setting.train, key)
            for setting, key in zip(settings, keys, strict=True)
        ]
        super().__init__(stack(runs), length.curve_points(agent.batch))

    def segment(self, runs: Run) -> Any:
        return segment_all(self.world, self.agent, self.length, runs, self.settings)

    @property
    def finished(self) -> bool:
        """Whether every run has reached its last point or ended early."""
        return super().finished or (
            bool(self.curve) and bool((self.curve[-1].converged >= 0).all())
        )

    @property
    def segment_steps(self) -> int:
        """Environment steps of a segment, over all runs."""
        batch = self.agent.batch
        return self.length.updates(batch) * batch * int(self.runs.steps.size)

    def describe(self, seconds: float) -> str:
        point = self.curve[-1]
        reward = point.training.reward.sum() / max(1.0, point.training.episodes.sum())
        return (
            f"{point.steps.max():,} steps, {self.segment_steps / seconds:,.0f} steps/s, "
            f"reward {reward:z.2f}, {(point.converged >= 0).sum()} converged"
        )


def curve_record(task: TaskConfig, curve: Sequence[Point], runs: slice) -> dict[str, Any]:
    """The learning curves of the runs of one task: [seed][point] under every name."""
    points: Any = jax.tree.map(lambda *leaves: np.stack(leaves, axis=1)[runs], *curve)
    sums, played = points.training, points.greedy
    asks_form = task.reward_structure in ("quiz-type", "quiz-typeonly")
    episodes = np.maximum(sums.episodes, 1)
    form_reward = TYPE_REWARD * (2 * sums.form_right - sums.form_asked)
    form_reward *= task.reward != "information"
    record: dict[str, Any] = {
        "task": task.to_dict(),
        "steps": points.steps[0].tolist(),
        "converged": points.converged[:, -1].tolist(),
        "reward": rounded((sums.reward - form_reward) / episodes),
        "tests": rounded(sums.tests / episodes),
        "maximal": rounded(sums.maximal / episodes),
    }
    measures = {
        "reward": played.reward - asks_form * TYPE_REWARD * (2 * played.form_right - 1),
        "tests": played.tests,
        "bits": played.bits,
    }
    if asks_form:
        record["form"] = rounded(sums.form_right / np.maximum(sums.form_asked, 1))
        measures["form"] = played.form_right
    orders = task_spec(task).orders
    groups = {
        group: [name in set(map(str, space)) for name in task.universe for _ in range(orders)]
        for group, space in zip(("train", "test"), task.spaces, strict=True)
    }
    # The greedy reward at every point, and all measures of the greedy policy at the end.
    record["greedy_reward"] = {
        group: rounded(measures["reward"][:, :, 0, chosen].mean(axis=-1))
        for group, chosen in groups.items()
    }
    record["greedy"] = {
        name: {
            group: {
                measure: rounded(values[:, -1, view, chosen].mean(axis=-1))
                for measure, values in measures.items()
            }
            for group, chosen in groups.items()
        }
        for view, name in enumerate(VIEWS[: 1 + (task.forced > 0)])
    }
    return record
