"""Training many runs at once, point by point: reports, time limits, and going on later."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

from trivium.agents.checkpoints import Arrays, from_arrays, load_arrays, save_arrays, to_arrays
from trivium.agents.configuration import AgentConfig, LengthConfig
from trivium.agents.training import Point, Run, Setting, segment_all, stack, start_all
from trivium.agents.worlds import World

SECONDS_BETWEEN_CHECKPOINTS = 120.0


@dataclass(frozen=True)
class Report:
    """How far training has come, for whoever watches."""

    point: int
    points: int
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
    """Some runs of one agent under way."""

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
        keys: Sequence[jax.Array],
    ) -> Training:
        """Fresh runs, one for each setting and key."""
        runs, stacked = start_all(world, agent, settings, keys)
        return cls(world, agent, length, stacked, runs)

    @classmethod
    def load(
        cls,
        world: World,
        agent: AgentConfig,
        length: LengthConfig,
        settings: Sequence[Setting],
        path: Path,
    ) -> Training:
        """The runs of a checkpoint, to be gone on with as if nothing had happened."""
        arrays = load_arrays(path)
        shapes = jax.eval_shape(lambda: _shapes(world, agent, length, settings))
        run = from_arrays(shapes[0], _part(arrays, "run"), path)
        held = int(arrays["points"])
        points = [
            from_arrays(shapes[1], _part(arrays, f"point{place}"), path) for place in range(held)
        ]
        curve = [jax.tree.map(np.asarray, point) for point in points]
        return cls(world, agent, length, stack(settings), run, curve, float(arrays["seconds"]))

    def save(self, path: Path) -> None:
        """A checkpoint."""
        arrays: Arrays = {f"run{name}": leaf for name, leaf in to_arrays(self.runs).items()}
        for place, point in enumerate(self.curve):
            arrays |= {f"point{place}{name}": leaf for name, leaf in to_arrays(point).items()}
        arrays["points"] = np.array(len(self.curve))
        arrays["seconds"] = np.array(self.seconds)
        save_arrays(path, arrays)

    @property
    def points(self) -> int:
        """Points of the whole curve."""
        return self.length.looks(self.agent.batch)

    @property
    def finished(self) -> bool:
        """Whether every run has reached its last point or ended early."""
        if len(self.curve) >= self.points:
            return True
        return bool(self.curve) and bool((self.curve[-1].converged >= 0).all())

    def advance(self) -> Report:
        """Go on to the next point of the curve."""
        began = time.perf_counter()
        before = int(self.curve[-1].steps.max()) if self.curve else 0
        runs, made = segment_all(self.world, self.agent, self.length, self.runs, self.settings)
        point = jax.tree.map(np.asarray, made)
        # Only now, so that Ctrl-C while waiting leaves runs and curve at the same step.
        self.runs = runs
        self.curve.append(point)
        spent = time.perf_counter() - began
        self.seconds += spent
        episodes = max(1.0, float(point.training.episodes.sum()))
        steps = int(point.steps.max())
        return Report(
            point=len(self.curve),
            points=self.points,
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
        """Go on to the end, or until the time is up; whether the end was reached."""
        began = saved = time.monotonic()
        while not self.finished:
            report = self.advance()
            if tell is not None:
                tell(report)
            now = time.monotonic()
            out_of_time = seconds is not None and now - began > seconds
            if checkpoint is not None and (
                out_of_time or now - saved > SECONDS_BETWEEN_CHECKPOINTS
            ):
                self.save(checkpoint)
                saved = time.monotonic()
            if out_of_time:
                break
        return self.finished


def _part(arrays: Arrays, prefix: str) -> Arrays:
    return {name[len(prefix) :]: leaf for name, leaf in arrays.items() if name.startswith(prefix)}


def _shapes(
    world: World, agent: AgentConfig, length: LengthConfig, settings: Sequence[Setting]
) -> Any:
    runs, stacked = start_all(world, agent, settings, [jax.random.key(0)] * len(settings))
    return segment_all(world, agent, length, runs, stacked)
