"""Every benchmark as an environment of verifiers, with unlimited items.

vf-eval trivium-verifiers --env.taskset.benchmark nhop_explicit -n 20
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import count
from typing import Any, Literal

import verifiers.v1 as vf
from openai import AsyncOpenAI
from pydantic import Field
from verifiers.v1.dialects.chat import message_to_wire

from trivium.adapters import episode
from trivium.benchmarks import benchmark_names, load_task, recorded_item
from trivium.core.streams import DEFAULT_SEED
from trivium.core.task import PresentedItem, Task


class TriviumConfig(vf.TasksetConfig):
    """Which items: under `--env.taskset.*`."""

    benchmark: str = benchmark_names()[0]
    preset: str | None = None
    fields: dict[str, Any] = Field(default_factory=dict)
    """Fields of spec and view laid over the preset."""
    split: Literal["train", "test"] = "train"
    """`train` and `test` share no structure."""
    seed: int = DEFAULT_SEED
    certificate_items: int = Field(1000, ge=2)
    """Items of each split that are compared for the overlap certificate."""
    information: bool = True
    """Reward the information of a game's tests."""


class TriviumData(vf.TaskData):
    """The prompt, and what regenerates the item."""

    origin: dict[str, Any]
    information: bool


class TriviumTask(vf.Task[TriviumData, vf.State, vf.TaskConfig]):
    """An item, whose replies are parsed and scored as everywhere in Trivium."""

    @property
    def item(self) -> PresentedItem:
        """The item that this task presents."""
        return recorded_item(self.data.origin)

    @vf.reward
    async def trivium_score(self, trace: vf.Trace) -> float:
        """The headline metric; a rollout without a reply raises, and has no reward."""
        return episode.score_of(self.item, replies_of(trace))

    @vf.reward(weight=episode.INFORMATION_WEIGHT)
    async def information(self, trace: vf.Trace) -> dict[str, float]:
        """The information of a game's tests relative to the optimum; `info` has each test."""
        if not self.data.information or not self.item.task.benchmark.multi_turn:
            return {}
        found = trace.info["information"] = episode.information_of(self.item, replies_of(trace))
        return {"information": sum(found or ())}

    @vf.metric
    async def scores(self, trace: vf.Trace) -> dict[str, float]:
        """Every metric that is defined."""
        scores = self.item.task.score(self.item, replies_of(trace))
        return {name: value for name, value in scores.items() if value is not None}

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Whether the gold answer scores perfectly."""
        return episode.score_of(self.item, [self.item.gold]) == 1.0


def replies_of(trace: vf.Trace) -> list[str]:
    """The model's reply of every turn; in other environments, all its messages."""
    texts = [message.content or "" for message in trace.assistant_messages]
    return list(trace.info.get("replies", texts))


class TriviumTaskset(vf.Taskset[TriviumTask, TriviumConfig]):
    """The endless items of a seed and split."""

    INFINITE = True

    @cached_property
    def task(self) -> Task:
        """The task of the config."""
        return load_task(self.config.benchmark, self.config.preset, self.config.fields)

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """The overlap certificate of the two splits."""
        return episode.certificate(self.task, self.config.seed, self.config.certificate_items)

    def load(self) -> Iterator[TriviumTask]:
        """The items, generated on demand."""
        for index in count():
            item = episode.split_item(self.task, self.config.split, self.config.seed, index)
            shown = {"name": item.id, "prompt": item.prompt}
            made = {"origin": episode.origin_of(item), "information": self.config.information}
            yield TriviumTask(TriviumData(**shown, **made), self.config.task)


class TriviumEnvConfig(vf.EnvConfig):
    """The model under test, which needs no sandbox."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class TriviumEnv(vf.Env[TriviumEnvConfig]):
    """Runs the dialogue of an item: one turn, or the turns of a game."""

    taskset: TriviumTaskset

    async def start(self) -> None:
        """Compute what all episodes share, so that an impossible config fails at once."""
        _ = self.taskset.certificate
        if self.taskset.config.information:
            episode.information_of(self.taskset.task.item(0), [])

    async def run(self, task: TriviumTask, agents: vf.Agents) -> None:
        """Respond to every reply until the attempt is over or the model stops replying."""
        dialogue = task.item.task.start(task.item)
        async with agents.player.interaction(task) as interaction:
            info = {"overlap": self.taskset.certificate, "replies": dialogue.replies}
            interaction.trace.info.update(info)
            segment = await interaction.turn()
            while not segment.terminated:
                response = dialogue.send(segment.last_reply)
                if dialogue.done:
                    break
                segment = await interaction.turn(response)


class ChatHarness(vf.Harness[vf.HarnessConfig]):
    """Sends the conversation to the model from this process: no program, tools or sandbox."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(  # noqa: PLR0917 - verifiers passes them by place
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
        **options: Any,
    ) -> vf.ProgramResult:
        """Make one call, whose reply verifiers records; a failed call raises."""
        system, prompt = self.resolve_prompt(data)
        opening = [vf.UserMessage(content=prompt)] if isinstance(prompt, str) else prompt or []
        messages = [message_to_wire(message) for message in opening]
        if system is not None:
            messages.insert(0, {"role": "system", "content": system})
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, max_retries=0) as client:
            await client.chat.completions.create(model=ctx.model, messages=messages)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")
