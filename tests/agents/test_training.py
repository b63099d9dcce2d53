"""Every agent learns a trivial world; same key, same run; interrupted runs are the same runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.agents.cue_world import SETTING, CueWorld
from trivium.agents.config import AGENTS, AgentConfig, LengthConfig
from trivium.agents.training import Training, pick
from trivium.core.errors import UserError

LENGTH = LengthConfig(steps=16_000, points=4, streak=200)


def small(name: str) -> AgentConfig:
    """An agent that compiles in seconds."""
    config = replace(AGENTS[name], width=16, trunk=(8,), learning_rate=5e-3)
    return replace(config, horizon=16) if config.algorithm == "ppo" else config


def keys(count: int) -> list[jax.Array]:
    return list(jax.random.split(jax.random.key(3), count))


@pytest.mark.parametrize("name", sorted(AGENTS))
def test_every_agent_learns_a_trivial_world(name: str) -> None:
    world = CueWorld(shown=name.endswith("mlp"))
    training = Training.begin(world, small(name), LENGTH, [SETTING] * 2, keys(2))
    training.complete()
    # Both seeds: in 16 trials of this kind none failed, and the key is fixed.
    assert (training.curve[-1].greedy.reward == 1.0).all()
    assert training.curve[0].greedy.reward.shape == (2, 1, 2)


def test_a_memoryless_agent_cannot_learn_what_needs_memory() -> None:
    training = Training.begin(CueWorld(), small("a2c-mlp"), LENGTH, [SETTING], keys(1))
    training.complete()
    assert float(training.curve[-1].greedy.reward.mean()) == 0.0


def same(first: Any, second: Any, rtol: float, atol: float) -> None:
    def check(one: Any, other: Any) -> None:
        if jnp.issubdtype(one.dtype, jax.dtypes.prng_key):
            one, other = jax.random.key_data(one), jax.random.key_data(other)
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=rtol, atol=atol)

    jax.tree.map(check, first, second)


def test_same_key_same_run_and_vmapped_seeds_are_single_runs() -> None:
    length = LengthConfig(steps=400, points=2)
    many = Training.begin(CueWorld(), small("a2c-lstm"), length, [SETTING] * 3, keys(3))
    again = Training.begin(CueWorld(), small("a2c-lstm"), length, [SETTING] * 3, keys(3))
    single = Training.begin(CueWorld(), small("a2c-lstm"), length, [SETTING], keys(3)[1:2])
    for training in (many, again, single):
        training.complete()
    same(many.runs, again.runs, rtol=0, atol=0)
    # Products of other shapes are summed in another order: equal up to rounding.
    same(pick(many.runs.policy, 1), pick(single.runs.policy, 0), rtol=1e-4, atol=1e-5)
    assert np.array_equal(many.curve[-1].training.reward[1], single.curve[-1].training.reward[0])


def test_an_interrupted_run_is_the_same_run(tmp_path: Path) -> None:
    agent, length = small("ppo-lstm"), LengthConfig(steps=512, points=4)
    whole = Training.begin(CueWorld(), agent, length, [SETTING] * 2, keys(2))
    assert whole.complete()
    part = Training.begin(CueWorld(), agent, length, [SETTING] * 2, keys(2))
    checkpoint = tmp_path / "part.npz"
    assert not part.complete(checkpoint=checkpoint, seconds=0.0)  # one point, then time is up
    rest = Training.load(CueWorld(), agent, length, [SETTING] * 2, checkpoint)
    assert len(rest.curve) == 1
    assert rest.seconds == part.seconds > 0
    reports: list[str] = []
    assert rest.complete(tell=lambda report: reports.append(str(report)))
    same(whole.runs, rest.runs, rtol=0, atol=0)
    same(whole.curve, rest.curve, rtol=0, atol=0)
    assert [text.split(",")[0] for text in reports] == ["256 steps", "384 steps", "512 steps"]


def test_a_checkpoint_of_another_agent_is_refused(tmp_path: Path) -> None:
    length, path = LengthConfig(steps=40, points=1), tmp_path / "c.npz"
    Training.begin(CueWorld(), small("a2c-lstm"), length, [SETTING], keys(1)).save(path)
    wider = replace(small("a2c-lstm"), width=17)
    with pytest.raises(UserError, match="expected float32"):
        Training.load(CueWorld(), wider, length, [SETTING], path)
    with pytest.raises(UserError, match="belongs to another agent"):
        Training.load(CueWorld(), small("a2c-mlp"), length, [SETTING], path)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(UserError, match="not a file of arrays"):
        Training.load(CueWorld(), small("a2c-lstm"), length, [SETTING], path)


def test_a_run_that_has_converged_learns_no_more() -> None:
    length = LengthConfig(steps=LENGTH.steps, points=8, streak=30)
    training = Training.begin(CueWorld(), small("ppo-lstm"), length, [SETTING], keys(1))
    training.complete()
    assert len(training.curve) < 8
    assert training.curve[-1].converged[0] > 0
    policy = jax.tree.map(np.asarray, training.runs.policy)
    training.advance()
    same(policy, training.runs.policy, rtol=0, atol=0)
