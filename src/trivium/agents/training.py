"""Training many runs at once, point by point of the learning curve.

Between two points lies one compiled segment. After each, the training may report, write a
checkpoint or stop; none of these changes the runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from trivium.agents.actor_critic import Run, Sums, start, update
from trivium.agents.checkpoints import load_tree, save_tree
from trivium.agents.config import AgentConfig, LengthConfig
from trivium.agents.episodes import Greedy, greedy
from trivium.agents.worlds import Setting, World

SECONDS_BETWEEN_CHECKPOINTS = 120.0


class Point(NamedTuple):
    """One point of the learning curve."""

    steps: Array
    training: Sums  # of the episodes that ended since the last point
    greedy: Greedy  # [views, starts] in every array
    streak: Array
    converged: Array


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


def stack(trees: Sequence[Any]) -> Any:
    """Pytrees of the same shape as one pytree with a leading axis."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def pick(tree: Any, index: int) -> Any:
    """One entry of a stacked pytree."""
    return jax.tree.map(lambda leaf: leaf[index], tree)


@dataclass(frozen=True)
class Report:
    """The progress of a training at one point of the curve."""

    steps: int  # environment steps of one run
    pace: float  # environment steps a second, over all runs
    reward: float  # mean reward of the episodes since the last point, over all runs
    converged: int  # runs that ended early
    seconds_left: float

    def __str__(self) -> str:
        return (
            f"{self.steps:,} steps, {self.pace:,.0f} steps/s, reward {self.reward:z.2f}, "
            f"{self.converged} converged, about {self.seconds_left:.0f} s left"
        )


@dataclass
class Training:
    """The state of a training: runs of one agent and their curves so far."""

    world: World
    agent: AgentConfig
    length: LengthConfig
    settings: Setting  # stacked
    runs: Run  # stacked
    curve: list[Point] = field(default_factory=list)  # numpy, one entry for each point
    seconds: float = 0.0  # spent so far, compiling included

    @classmethod
    def begin(
        cls,
        world: World,
        agent: AgentConfig,
        length: LengthConfig,
        settings: Sequence[Setting],
        keys: Sequence[Array],
    ) -> Training:
        """New runs, one for each setting and key."""
        # Not vmapped: computing orthogonal matrices of several runs in one call can hang on a CPU.
        runs = [
            start(world, agent, setting.train, key)
            for setting, key in zip(settings, keys, strict=True)
        ]
        return cls(world, agent, length, stack(settings), stack(runs))

    @classmethod
    def load(
        cls,
        world: World,
        agent: AgentConfig,
        length: LengthConfig,
        settings: Sequence[Setting],
        path: Path,
    ) -> Training:
        """The training in a checkpoint, which continues as if it had not been interrupted."""
        keys = [jax.random.key(0)] * len(settings)
        new = jax.eval_shape(lambda: cls.begin(world, agent, length, settings, keys).runs)
        stacked = stack(settings)
        _, point = jax.eval_shape(partial(segment_all, world, agent, length), new, stacked)
        (runs, curve), about = load_tree(path, lambda about: (new, [point] * about["points"]))
        curve = jax.tree.map(np.asarray, curve)
        return cls(world, agent, length, stacked, runs, curve, about["seconds"])

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
        save_tree(path, (self.runs, self.curve), points=len(self.curve), seconds=self.seconds)

    @property
    def points(self) -> int:
        """The number of points of the whole curve."""
        return self.length.curve_points(self.agent.batch)

    @property
    def finished(self) -> bool:
        """Whether every run has reached its last point or ended early."""
        if len(self.curve) >= self.points:
            return True
        return bool(self.curve) and bool((self.curve[-1].converged >= 0).all())

    def advance(self) -> Report:
        """Train to the next point of the curve."""
        began = time.perf_counter()
        before = int(self.curve[-1].steps.max()) if self.curve else 0
        runs, computed = segment_all(self.world, self.agent, self.length, self.runs, self.settings)
        point = jax.tree.map(np.asarray, computed)
        # Assigned last, so that Ctrl-C while waiting leaves runs and curve at the same step.
        self.runs = runs
        self.curve.append(point)
        spent = time.perf_counter() - began
        self.seconds += spent
        episodes = max(1.0, float(point.training.episodes.sum()))
        steps = int(point.steps.max())
        return Report(
            steps=steps,
            pace=(steps - before) * point.steps.size / spent,
            reward=float(point.training.reward.sum()) / episodes,
            converged=int((point.converged >= 0).sum()),
            seconds_left=spent * (self.points - len(self.curve)),
        )

    def complete(
        self,
        *,
        checkpoint: Path | None = None,
        seconds: float | None = None,
        tell: Callable[[Report], None] | None = None,
    ) -> bool:
        """Train to the end or until the time is up; returns whether it reached the end."""
        began = saved = time.monotonic()
        while not self.finished:
            report = self.advance()
            if tell is not None:
                tell(report)
            now = time.monotonic()
            out_of_time = seconds is not None and now - began > seconds
            due = out_of_time or now - saved > SECONDS_BETWEEN_CHECKPOINTS
            if checkpoint is not None and due:
                self.save(checkpoint)
                saved = time.monotonic()
            if out_of_time:
                break
        return self.finished
