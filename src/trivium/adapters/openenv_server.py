"""The OpenEnv server of a benchmark: `uvicorn trivium.adapters.openenv_server:app`."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import FastAPI
from openenv.core.env_server.http_server import create_app

from trivium.adapters.openenv import (
    TriviumAction,
    TriviumEnvironment,
    TriviumObservation,
    TriviumState,
)

MAX_SESSIONS = 64  # clients at once, each with an environment of its own


def make_app(benchmark: str = "blicket_game", **options: Any) -> FastAPI:
    """The server of a benchmark; options are those of `TriviumEnvironment`."""
    made: FastAPI = create_app(
        partial(TriviumEnvironment, benchmark, **options),
        TriviumAction,
        TriviumObservation,
        env_name=f"trivium_{benchmark}",
        max_concurrent_envs=MAX_SESSIONS,
        state_cls=TriviumState,
    )
    return made


app = make_app()
