"""Every benchmark as a taskset and environment of verifiers, with unlimited items.

verifiers finds them by the name of the package `trivium_verifiers`:

    vf-eval trivium-verifiers --env.taskset.benchmark nhop_explicit -n 20
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal

import verifiers.v1 as vf
from pydantic import Field

from trivium.adapters.episode import (
    INFORMATION_WEIGHT,
    certificate,
    information_of,
    item_of,
    origin_of,
    score_of,
    split_seed,
)
from trivium.benchmarks import load_task
from trivium.core.streams import DEFAULT_SEED
from trivium.core.task import PresentedItem, Task

AT_ONCE = 64  # items that are generated together: fast, and few when only one is asked for


class TriviumTaskConfig(vf.TaskConfig):
    """How rollouts are rewarded: under `--env.taskset.task.*`."""

    information: bool = True
    """Reward what the tests of a game find out; not known for machines with noise."""


class TriviumConfig(vf.TasksetConfig):
    """Which items: under `--env.taskset.*`."""

    task: TriviumTaskConfig = TriviumTaskConfig()
    benchmark: str = "nhop_explicit"
    preset: str | None = None
    fields: dict[str, Any] = Field(default_factory=dict)
    """Fields of spec and view laid over the preset."""
    split: Literal["train", "eval"] = "train"
    """The items of `eval` are those of `trivium eval` with this seed; `train` shares none."""
    seed: int = DEFAULT_SEED
    certificate_items: int = Field(1000, ge=2)
    """Items of each split that are compared for the overlap certificate."""


class TriviumData(vf.TaskData):
    """What is sent to the model, and what makes the item again."""

    origin: dict[str, Any]


class TriviumTask(vf.Task[TriviumData, vf.State, TriviumTaskConfig]):
    """One item; its replies are read and scored as everywhere in Trivium."""

    @property
    def item(self) -> PresentedItem:
        """The item that this task presents."""
        return item_of(self.data.origin)

    @vf.reward
    async def trivium_score(self, trace: vf.Trace) -> float:
        """The headline metric; a rollout without a reply raises, and has no reward."""
        return score_of(self.item, replies_of(trace))

    @vf.reward(weight=INFORMATION_WEIGHT)
    async def information(self, trace: vf.Trace) -> dict[str, float]:
        """What a game's tests found out over what the optimum finds out; `info` has each test."""
        found = information_of(self.item, replies_of(trace)) if self.config.information else None
        if found is None:
            return {}
        trace.info["information"] = found
        return {"information": sum(found)}

    @vf.metric
    async def scores(self, trace: vf.Trace) -> dict[str, float]:
        """Every metric that is defined."""
        scores = self.item.task.score(self.item, replies_of(trace))
        return {name: value for name, value in scores.items() if value is not None}

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Whether the gold answer scores perfectly."""
        return score_of(self.item, [self.item.gold]) == 1.0


def replies_of(trace: vf.Trace) -> list[str]:
    """Every reply that the model ended a turn with; all it said, where another environment asks."""
    said = [message.content or "" for message in trace.assistant_messages]
    return list(trace.info.get("replies", said))


class TriviumTaskset(vf.Taskset[TriviumTask, TriviumConfig]):
    """The items of a seed and split, one after the other without end."""

    INFINITE = True

    @cached_property
    def task(self) -> Task:
        """What is asked."""
        return load_task(self.config.benchmark, self.config.preset, self.config.fields)

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """The overlap certificate of the two splits."""
        return certificate(self.task, self.config.seed, self.config.certificate_items)

    def load(self) -> Iterator[TriviumTask]:
        """Items as they are asked for."""
        task, seed = self.task, split_seed(self.config.split, self.config.seed)
        for start in itertools.count(step=AT_ONCE):
            for item in task.generate(seed, start, AT_ONCE):
                shown = {"name": item.id, "prompt": item.prompt, "system_prompt": item.system}
                yield TriviumTask(TriviumData(**shown, origin=origin_of(item)), self.config.task)


class TriviumEnvConfig(vf.EnvConfig):
    """The model under test, which needs no sandbox."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class TriviumEnv(vf.Env[TriviumEnvConfig]):
    """Leads the dialogue of an item: one turn, or as many as a game takes."""

    taskset: TriviumTaskset

    async def start(self) -> None:
        """Compute once what all episodes need, so that what cannot be computed ends the run."""
        _ = self.taskset.certificate
        if self.taskset.config.task.information:
            information_of(self.taskset.task.item(0), [])

    async def run(self, task: TriviumTask, agents: vf.Agents) -> None:
        """Reply to every reply until the attempt is over, or the model gave none."""
        dialogue = task.item.task.start(task.item)
        async with agents.player.interaction(task) as interaction:
            info = {"overlap": self.taskset.certificate, "replies": dialogue.replies}
            interaction.trace.info.update(info)
            segment = await interaction.turn()
            while not segment.terminated:
                said = [one.content for one in segment.messages if one.role == "assistant"]
                response = dialogue.send(said[-1] or "")
                if dialogue.done or response is None:
                    break
                segment = await interaction.turn(response)
