"""Training speed beside Stable-Baselines3 and sb3-contrib at equal settings, and a decision
transformer beside the same model in PyTorch. The peers are optional: without them ours alone
is measured (pip install stable-baselines3 sb3-contrib, and torch for the last part)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import numpy as np

from trivium.agents.acting import RandomActor, sample_episodes
from trivium.agents.blicket_world import task_setting, task_world
from trivium.agents.configuration import (
    AgentConfig,
    ImitationConfig,
    LengthConfig,
    TaskConfig,
    paper,
)
from trivium.agents.imitation import fit
from trivium.agents.progress import Training
from trivium.blicket.env import BlicketEnv

try:
    import torch
    from sb3_contrib import RecurrentPPO
    from stable_baselines3 import A2C, PPO
    from stable_baselines3.common.vec_env import DummyVecEnv
except ImportError:
    torch = None

REPEATS = 3
TASK = TaskConfig()


def ours(config: AgentConfig, steps: int) -> float:
    """Environment steps a second, compiling left out; the best of some repeats."""
    length = LengthConfig(steps=steps * (REPEATS + 1), points=REPEATS + 1)
    training = Training.begin(
        task_world(TASK), config, length, [task_setting(TASK)], [jax.random.key(0)]
    )
    training.advance()
    return max(training.advance().pace for _ in range(REPEATS))


def theirs(make: Callable[[Any], Any], environments: int, steps: int) -> float | None:
    """The same of a Stable-Baselines3 model on the Gymnasium environment."""
    if torch is None:
        return None
    world = DummyVecEnv([partial(BlicketEnv, reward_structure="quiz")] * environments)
    model = make(world)
    model.learn(steps // 4)
    began = time.perf_counter()
    model.learn(steps, reset_num_timesteps=False)
    return steps / (time.perf_counter() - began)


def a2c(world: Any) -> Any:
    """A2C with the paper's settings."""
    return A2C("MlpPolicy", world, vf_coef=0.25, ent_coef=0.01, device="cpu")


def ppo(world: Any) -> Any:
    """PPO with the paper's settings."""
    batch = 128 * world.num_envs // 4
    options = {"ent_coef": 0.01, "learning_rate": 2.5e-4, "clip_range_vf": 0.2}
    return PPO(
        "MlpPolicy", world, n_steps=128, batch_size=batch, n_epochs=4, device="cpu", **options
    )


def recurrent_ppo(world: Any) -> Any:
    """Recurrent PPO with one shared LSTM of 256 units, as in the paper."""
    policy = {
        "lstm_hidden_size": 256,
        "shared_lstm": True,
        "enable_critic_lstm": False,
        "net_arch": [],
    }
    return RecurrentPPO(
        "MlpLstmPolicy",
        world,
        n_steps=128,
        batch_size=128 * world.num_envs // 4,
        n_epochs=4,
        ent_coef=0.01,
        learning_rate=2.5e-4,
        device="cpu",
        policy_kwargs=policy,
    )


def compare(name: str, config: AgentConfig, make: Callable[[Any], Any], steps: int) -> None:
    """Print one line; theirs gets a tenth of the steps, since it needs longer for them."""
    own = ours(config, steps)
    shown = f"{name:<36} ours {own:>10,.0f} steps/s"
    other = theirs(make, config.environments, max(2 * config.batch, steps // 10))
    print(shown + ("" if other is None else f"   theirs {other:>8,.0f}   ratio {own / other:.1f}"))


def imitation_step() -> float:
    """Seconds a training step of our decision transformer takes: 128 episodes, packed."""
    task = TaskConfig("quiz-type", forced=5)
    world, tables = task_world(task), task_setting(task).train
    sample = jax.jit(partial(sample_episodes, world, episodes=1500))
    data = jax.tree.map(np.asarray, sample(tables, RandomActor(), key=jax.random.key(0)))
    times = []
    for epochs in (1, 2):
        began = time.perf_counter()
        fit(replace(ImitationConfig(), epochs=epochs), world, [data], [jax.random.key(0)])
        times.append(time.perf_counter() - began)
    steps = round(0.9 * 1500 / 128)
    return (times[1] - times[0]) / steps


def torch_step() -> float | None:
    """The same of the usual implementation: 128 episodes padded to 30 moments, in PyTorch."""
    if torch is None:
        return None
    width, rows, tokens = 128, 128, 90
    layers = [
        torch.nn.TransformerEncoderLayer(
            width, 1, 4 * width, 0.1, "gelu", batch_first=True, norm_first=True
        )
        for _ in range(3)
    ]
    mask = torch.nn.Transformer.generate_square_subsequent_mask(tokens)
    head = torch.nn.Linear(width, 4)
    optimiser = torch.optim.AdamW(
        [parameter for part in (*layers, head) for parameter in part.parameters()],
        1e-4,
    )
    inputs, wanted = torch.randn(rows, tokens, width), torch.rand(rows, tokens // 3, 4).round()
    times = []
    for _ in range(4):
        began = time.perf_counter()
        values = inputs
        for layer in layers:
            values = layer(values, src_mask=mask, is_causal=True)
        logits = head(values[:, 1::3])
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, wanted)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> None:
    """Print every comparison."""
    lstm = replace(paper("ppo-lstm", 256), trunk=())
    compare("A2C MLP 64, 4 environments", paper("a2c-mlp", 64), a2c, 100_000)
    compare("PPO MLP 64, 4 environments", paper("ppo-mlp", 64), ppo, 100_000)
    compare("PPO LSTM 256, 4 environments", lstm, recurrent_ppo, 8_192)
    many = replace(lstm, environments=256)
    compare("PPO LSTM 256, 256 environments", many, recurrent_ppo, 2 * many.batch)
    own, other = imitation_step(), torch_step()
    shown = f"decision transformer, 128 episodes    ours {own:.3f} s a step"
    print(
        shown
        + ("" if other is None else f"   padded PyTorch {other:.3f}   ratio {other / own:.1f}")
    )


if __name__ == "__main__":
    main()
