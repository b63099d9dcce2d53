"""Stub models whose skill is known: their lift falls with the hops along a given curve."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.models.server import Server, SolverModel
from trivium.benchmarks import load_task


@dataclass(frozen=True)
class Skill:
    """A log-logistic curve: lift is 0.5 at the threshold, less the lapse rate above it."""

    threshold: float
    slope: float = 6.0

    def lift(self, hops: int) -> float:
        return float(1 / (1 + (hops / self.threshold) ** self.slope))


def skilled_server(
    skills: Mapping[str, Skill], values: Sequence[int], items: int, seed: int
) -> Server:
    """A server with a model of each name: it knows the answer, or guesses at the floor."""
    right: dict[str, str] = {}
    guess: dict[str, str] = {}
    hops_of: dict[str, int] = {}
    for hops in values:
        task = load_task("nhop_implicit", fields={"hops": hops})
        made = task.items(items, seed)
        for known, solver in ((right, "oracle"), (guess, "random_candidate")):
            answers = SolverModel(task, solver, made)
            known.update({item.prompt: answers([item.prompt]) for item in made})
        hops_of.update({item.prompt: hops for item in made})

    def alter(body: dict[str, Any], nth: int) -> None:
        message = body["choices"][0]["message"]
        prompt, model = message["content"], body["model"]
        digest = hashlib.blake2b(f"{model} {prompt}".encode(), digest_size=7).digest()
        share = int.from_bytes(digest, "little") / 2**56
        knows = share < skills[model].lift(hops_of[prompt])
        message["content"] = (right if knows else guess)[prompt]

    return Server(lambda messages: messages[0], alter=alter, protocols=("chat",))
