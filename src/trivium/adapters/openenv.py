"""A benchmark as an OpenEnv environment: environment, client and server.

`uvicorn --factory trivium.adapters.openenv:make_app` serves it.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any
from uuid import uuid4

from fastapi import FastAPI
from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
from pydantic import Field

from trivium import __version__
from trivium.adapters.episode import INFORMATION_WEIGHT, Episodes, origin_of
from trivium.benchmarks import benchmark_names
from trivium.core.errors import require

MAX_SESSIONS = 64  # concurrent clients, each with its own environment


class TriviumAction(Action):
    """A reply in the form that the prompt asks for."""

    reply: str = Field(description="The reply, such as TEST A, B")


class TriviumObservation(Observation):
    """The next text for the player; `metadata` has the scores when the attempt is over."""

    text: str = Field(default="", description="The prompt, or the response to the last reply")


class TriviumState(State):
    """Which item is played."""

    origin: dict[str, Any] = Field(default_factory=dict)


class TriviumEnvironment(Environment[TriviumAction, TriviumObservation, TriviumState]):
    """Replies in, responses out; `fields` are those of the spec and the view."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self,
        benchmark: str,
        *,
        preset: str | None = None,
        information_weight: float = INFORMATION_WEIGHT,
        **fields: Any,
    ) -> None:
        super().__init__()
        self._episodes = Episodes(benchmark, preset, information_weight, fields)
        self._state = TriviumState()

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        *,
        split: str = "train",
        index: int | None = None,
        **others: Any,
    ) -> TriviumObservation:
        """The prompt of the next item, of a seed's first item, or of the one with this index."""
        require(not others, f"reset takes seed, split and index, got {', '.join(others)}")
        item = self._episodes.start(split, seed, index).item
        self._state = TriviumState(episode_id=episode_id or str(uuid4()), origin=origin_of(item))
        return TriviumObservation(text=item.prompt)

    def step(
        self, action: TriviumAction, timeout_s: float | None = None, **others: Any
    ) -> TriviumObservation:
        """The response to a reply, with its reward."""
        outcome = self._episodes.current.step(action.reply)
        self._state.step_count += 1
        return TriviumObservation(
            text=outcome.text,
            reward=outcome.reward,
            done=outcome.done,
            metadata={"scores": dict(outcome.scores)} if outcome.done else {},
        )

    @property
    def state(self) -> TriviumState:
        """The current item, and the number of replies."""
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """The description of the server."""
        about = self._episodes.task.benchmark
        return EnvironmentMetadata(name=about.name, description=about.title, version=__version__)


class TriviumClient(EnvClient[TriviumAction, TriviumObservation, TriviumState]):
    """A connection to a server, which has one environment for each."""

    def _step_payload(self, action: TriviumAction) -> dict[str, Any]:
        return {"reply": action.reply}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[TriviumObservation]:
        beside = {key: payload.get(key) for key in ("reward", "done", "metadata")}
        known = {key: value for key, value in beside.items() if value is not None}
        observation = TriviumObservation.model_validate({**payload["observation"], **known})
        return StepResult(observation, observation.reward, observation.done, observation.metadata)

    def _parse_state(self, payload: dict[str, Any]) -> TriviumState:
        return TriviumState(**payload)


def make_app(benchmark: str | None = None, **options: Any) -> FastAPI:
    """The server of a benchmark; options are those of `TriviumEnvironment`.

    By default, of the one that the variable TRIVIUM_BENCHMARK names, or of the first one.
    """
    name = benchmark or os.environ.get("TRIVIUM_BENCHMARK") or benchmark_names()[0]
    made: FastAPI = create_app(
        partial(TriviumEnvironment, name, **options),
        TriviumAction,
        TriviumObservation,
        env_name=f"trivium_{name}",
        max_concurrent_envs=MAX_SESSIONS,
        state_cls=TriviumState,
    )
    return made
