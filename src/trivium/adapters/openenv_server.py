"""The OpenEnv server of a benchmark: `uvicorn trivium.adapters.openenv_server:app`.

The variable TRIVIUM_BENCHMARK names the benchmark; without it, the first one is served.
"""

from __future__ import annotations

import os
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
from trivium.benchmarks import benchmark_names

MAX_SESSIONS = 64  # concurrent clients, each with its own environment


def make_app(benchmark: str, **options: Any) -> FastAPI:
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


app = make_app(os.environ.get("TRIVIUM_BENCHMARK") or benchmark_names()[0])
