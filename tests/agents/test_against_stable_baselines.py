"""Losses and gradients of one batch, beside Stable-Baselines3's own training step.

Where Stable Baselines (the paper's) and Stable-Baselines3 define a term differently, the batch
is made such that both definitions agree: advantages are normalised beforehand, and old values
equal the present ones, so that clipping the value changes nothing.
"""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.agents.cue_world import CueWorld
from trivium.agents.actor_critic import Batch, Rollout, advantages, log_probability, loss
from trivium.agents.config import AgentConfig, paper
from trivium.agents.networks import MemorylessPolicy, RecurrentPolicy

try:
    import gymnasium
    import stable_baselines3
    import torch
    from sb3_contrib import RecurrentPPO
    from sb3_contrib.common.recurrent.type_aliases import RNNStates
except ImportError as missing:
    pytest.skip(
        f"NOT CHECKED against Stable-Baselines3: {missing.name} is not installed "
        "(pip install stable-baselines3 sb3-contrib)",
        allow_module_level=True,
    )

SIZE, BITS, WIDTH, TIME, ENVIRONMENTS = 5, 4, 12, 7, 3


class Blank(gymnasium.Env):
    """The spaces of Blicket-v0 and nothing else; the batch is made by hand."""

    observation_space = gymnasium.spaces.Box(0, 1, (SIZE,), np.float32)
    action_space = gymnasium.spaces.MultiDiscrete([2] * BITS)

    def reset(self, **options: Any) -> Any:
        return np.zeros(SIZE, np.float32), {}

    def step(self, action: Any) -> Any:
        return np.zeros(SIZE, np.float32), 0.0, False, False, {}


def batch_for(policy: Any, config: AgentConfig) -> tuple[Batch, Any]:
    """A random batch that began with a random memory."""
    generator = np.random.default_rng(3)
    shape = (TIME, ENVIRONMENTS)
    observation = generator.integers(0, 2, (*shape, SIZE)).astype(np.float32)
    start = (generator.random(shape) < 0.25).astype(np.float32)
    start[0] = [1, 0, 1]
    action = generator.integers(0, 2, (*shape, BITS)).astype(np.int32)
    carry = policy.initial(ENVIRONMENTS)
    carry = jax.tree.map(lambda leaf: leaf + generator.normal(size=leaf.shape) * 0.3, carry)
    _, output = policy.unroll(carry, jnp.asarray(observation), jnp.asarray(start))
    advantage = generator.normal(size=shape)
    if config.algorithm == "ppo":
        advantage = (advantage - advantage.mean()) / advantage.std()
    value = np.asarray(output.value)
    logs = (
        np.asarray(log_probability(output.logits, jnp.asarray(action)))
        + generator.normal(size=shape) * 0.3
    )
    nothing, target = np.zeros(shape), value + generator.normal(size=shape)
    taken: Any = (observation, start, action, logs, value, nothing, nothing)
    rollout = Rollout(*(jnp.asarray(part, jnp.float32) for part in taken))
    return Batch(rollout, *(jnp.asarray(part, jnp.float32) for part in (advantage, target))), carry


def fill(model: Any, batch: Batch) -> None:
    """The batch in the model's own buffer."""
    buffer = model.rollout_buffer
    buffer.reset()
    names = {
        "observations": batch.rollout.observation,
        "actions": batch.rollout.action,
        "values": batch.rollout.value,
        "log_probs": batch.rollout.log_probability,
        "advantages": batch.advantage,
        "returns": batch.target,
        "episode_starts": batch.rollout.start,
    }
    for name, values in names.items():
        setattr(buffer, name, np.array(values, dtype=np.float32))
    buffer.full, buffer.pos = True, TIME


def gradients(model: Any) -> dict[str, Any]:
    """What the model's own `train` hands to its optimiser."""
    caught: dict[str, Any] = {}

    def catch(*arguments: Any, **options: Any) -> None:
        for name, parameter in model.policy.named_parameters():
            if parameter.grad is not None:
                caught[name] = parameter.grad.numpy().copy()

    model.policy.optimizer.step = catch
    model.train()
    return caught


def common(config: AgentConfig) -> dict[str, Any]:
    return {
        "n_steps": TIME,
        "gamma": config.discount,
        "gae_lambda": config.gae_lambda,
        "ent_coef": config.entropy_coefficient,
        "max_grad_norm": 1e9,
        "seed": 0,
        "device": "cpu",
    }


def environments() -> Any:
    from stable_baselines3.common.vec_env import DummyVecEnv

    return DummyVecEnv([Blank] * ENVIRONMENTS)


def dense(module: Any) -> dict[str, Any]:
    return {
        "weight": jnp.asarray(module.weight.detach().numpy().T),
        "bias": jnp.asarray(module.bias.detach().numpy()),
    }


def close(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=2e-4, atol=2e-6)


@pytest.mark.parametrize("algorithm", ["a2c", "ppo"])
def test_memoryless(algorithm: str) -> None:
    config = replace(paper(f"{algorithm}-mlp", WIDTH), epochs=1, minibatches=1)
    layers = {"net_arch": {"pi": [WIDTH] * 2, "vf": [WIDTH] * 2}, "activation_fn": torch.nn.Tanh}
    if algorithm == "a2c":
        model: Any = stable_baselines3.A2C(
            "MlpPolicy",
            environments(),
            vf_coef=config.value_coefficient,
            policy_kwargs=layers,
            **common(config),
        )
    else:
        model = stable_baselines3.PPO(
            "MlpPolicy",
            environments(),
            vf_coef=config.value_coefficient / 2,  # theirs has no factor of one half
            batch_size=TIME * ENVIRONMENTS,
            n_epochs=1,
            clip_range=config.clip,
            normalize_advantage=False,
            policy_kwargs=layers,
            **common(config),
        )
    model.set_logger(stable_baselines3.common.logger.configure(None, []))
    policy: Any = MemorylessPolicy(config, CueWorld(SIZE, BITS), jax.random.key(0))
    theirs = model.policy
    pairs = [
        ("action_layers", 0, theirs.mlp_extractor.policy_net[0], "mlp_extractor.policy_net.0"),
        ("action_layers", 1, theirs.mlp_extractor.policy_net[2], "mlp_extractor.policy_net.2"),
        ("value_layers", 0, theirs.mlp_extractor.value_net[0], "mlp_extractor.value_net.0"),
        ("value_layers", 1, theirs.mlp_extractor.value_net[2], "mlp_extractor.value_net.2"),
    ]
    for group, place, module, _ in pairs:
        for name, value in dense(module).items():
            object.__setattr__(getattr(policy, group)[place], name, value)
    for head, module in (("action", theirs.action_net), ("value", theirs.value_net)):
        for name, value in dense(module).items():
            object.__setattr__(getattr(policy.heads, head), name, value)
    batch, carry = batch_for(policy, config)
    fill(model, batch)
    caught = gradients(model)
    ours = jax.grad(loss)(policy, config, carry, batch)
    for group, place, _, name in pairs:
        layer = getattr(ours, group)[place]
        close(layer.weight.T, caught[f"{name}.weight"])
        close(layer.bias, caught[f"{name}.bias"])
    close(ours.heads.action.weight.T, caught["action_net.weight"])
    close(ours.heads.value.weight.T, caught["value_net.weight"])
    same_loss(policy, config, carry, batch, model)


def same_loss(policy: Any, config: AgentConfig, carry: Any, batch: Batch, model: Any) -> None:
    """Our loss of the batch is the sum of the parts that their training step has logged."""
    logged = model.logger.name_to_value
    parts = (
        logged.get("train/policy_loss", logged.get("train/policy_gradient_loss")),
        logged["train/value_loss"] * model.vf_coef,
        logged["train/entropy_loss"] * config.entropy_coefficient,
    )
    assert float(loss(policy, config, carry, batch)) == pytest.approx(sum(parts), rel=1e-4)


def reordered(gates: Any) -> Any:
    """torch's gates (input, forget, update, output) in this project's order."""
    into, keep, update, out = np.split(np.asarray(gates), 4)
    return np.concatenate([into, keep, out, update])


@pytest.mark.parametrize("with_value", [False, True])
def test_recurrent(with_value: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    config = replace(paper("ppo-lstm", WIDTH), trunk=(), epochs=1, minibatches=1)
    network: Any = "MlpLstmPolicy"
    if with_value:
        # Theirs keeps the value's gradient from a shared LSTM; a thin policy lets it through.
        monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "perf"))
        network = importlib.import_module("sb3_learners").LstmPolicy
    else:
        config = replace(config, value_coefficient=0.0)
    model = RecurrentPPO(
        network,
        environments(),
        vf_coef=config.value_coefficient / 2,  # theirs has no factor of one half
        batch_size=TIME * ENVIRONMENTS,
        n_epochs=1,
        clip_range=config.clip,
        normalize_advantage=False,
        policy_kwargs={
            "net_arch": [],
            "lstm_hidden_size": WIDTH,
            "shared_lstm": True,
            "enable_critic_lstm": False,
        },
        **common(config),
    )
    model.set_logger(stable_baselines3.common.logger.configure(None, []))
    lstm = model.policy.lstm_actor
    policy: Any = RecurrentPolicy(config, CueWorld(SIZE, BITS), jax.random.key(0))
    both = lstm.bias_ih_l0 + lstm.bias_hh_l0
    values = {
        "input_weights": reordered(lstm.weight_ih_l0.detach()).T,
        "hidden_weights": reordered(lstm.weight_hh_l0.detach()).T,
        "vectors": policy.vectors._replace(bias=jnp.asarray(reordered(both.detach()))),
    }
    for name, value in values.items():
        kept = value if name == "vectors" else jnp.asarray(value)
        object.__setattr__(policy, name, kept)
    for head, module in (("action", model.policy.action_net), ("value", model.policy.value_net)):
        for name, value in dense(module).items():
            object.__setattr__(getattr(policy.heads, head), name, value)
    batch, carry = batch_for(policy, config)
    fill(model, batch)
    states = _states(policy, batch, carry)
    buffer = model.rollout_buffer
    buffer.hidden_states_pi = buffer.hidden_states_vf = states[0][:, None]
    buffer.cell_states_pi = buffer.cell_states_vf = states[1][:, None]
    # Their buffer cuts one sequence at a random place; place 0 cuts none.
    monkeypatch.setattr(np.random, "randint", lambda *arguments: 0)
    caught = gradients(model)
    ours = jax.grad(loss)(policy, config, carry, batch)
    close(ours.input_weights.T, reordered(caught["lstm_actor.weight_ih_l0"]))
    close(ours.hidden_weights.T, reordered(caught["lstm_actor.weight_hh_l0"]))
    close(ours.vectors.bias, reordered(caught["lstm_actor.bias_ih_l0"]))
    close(ours.heads.action.weight.T, caught["action_net.weight"])
    close(ours.heads.value.weight.T, caught["value_net.weight"])
    same_loss(policy, config, carry, batch, model)


def _states(policy: Any, batch: Batch, carry: Any) -> tuple[Any, Any]:
    """The memory before every moment, as their buffer keeps it."""
    hidden, cell = [], []
    for time in range(TIME):
        hidden.append(np.asarray(carry.hidden))
        cell.append(np.asarray(carry.cell))
        carry, _ = policy.step(carry, batch.rollout.observation[time], batch.rollout.start[time])
    return np.stack(hidden), np.stack(cell)


def test_advantages() -> None:
    from stable_baselines3.common.buffers import RolloutBuffer

    generator = np.random.default_rng(0)
    shape = (TIME, ENVIRONMENTS)
    config = paper("ppo-lstm")
    buffer = RolloutBuffer(
        TIME,
        Blank.observation_space,
        Blank.action_space,
        device="cpu",
        gamma=config.discount,
        gae_lambda=config.gae_lambda,
        n_envs=ENVIRONMENTS,
    )
    reward, value, last = generator.normal(size=shape), generator.normal(size=shape), np.ones(3)
    done = (generator.random(shape) < 0.3).astype(np.float32)
    buffer.rewards, buffer.values = reward.astype(np.float32), value.astype(np.float32)
    buffer.episode_starts = np.concatenate([np.zeros((1, 3)), done[:-1]]).astype(np.float32)
    buffer.compute_returns_and_advantage(torch.ones(3), done[-1])
    ours = advantages(config, *map(jnp.asarray, (reward, done, value, last)))
    close(ours, buffer.advantages)


def test_the_states_type_is_known() -> None:
    """sb3-contrib keeps hidden and cell states apart, as the buffer above assumes."""
    assert RNNStates._fields == ("pi", "vf")
