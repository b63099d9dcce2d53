"""Training speed beside Stable-Baselines3 and sb3-contrib at equal settings, and a decision
transformer beside the same network in PyTorch. The peers are optional: without them ours alone
is measured (pip install stable-baselines3 sb3-contrib, and torch for the last part)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import numpy as np

from timing import best_seconds
from trivium.agents.config import (
    AgentConfig,
    ImitationConfig,
    LengthConfig,
    TaskConfig,
    paper,
)
from trivium.agents.episodes import RandomActor, sample_episodes
from trivium.agents.imitation import Imitators, pack
from trivium.agents.learners import Learners
from trivium.agents.worlds import task_setting, task_world
from trivium.benchmarks.blicket.world.env import BlicketEnv

try:
    import torch
    from sb3_contrib import RecurrentPPO
    from stable_baselines3 import A2C, PPO
    from stable_baselines3.common.vec_env import DummyVecEnv
except ImportError:
    torch = None

REPEATS = 3
EPISODES = 1500
TASK = TaskConfig()


def ours(config: AgentConfig, steps: int) -> float:
    """Environment steps a second, compiling left out; the best of some repeats."""
    length = LengthConfig(steps=steps * (REPEATS + 1), points=REPEATS + 1)
    training = Learners(task_world(TASK), config, length, [task_setting(TASK)], [jax.random.key(0)])
    training.advance()
    return training.segment_steps / min(training.advance() for _ in range(REPEATS))


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


def imitation_step() -> tuple[float, tuple[int, int]]:
    """Seconds a training step of our decision transformer takes, and its rows and steps.

    128 episodes, packed; the best of some epochs, without compiling and packing.
    """
    task = TaskConfig("quiz-type", forced=5)
    world, tables = task_world(task), task_setting(task).train
    sample = jax.jit(partial(sample_episodes, world, episodes=EPISODES))
    data = jax.tree.map(np.asarray, sample(tables, RandomActor(), key=jax.random.key(0)))
    config = ImitationConfig()
    training = Imitators(config, world, [data], [jax.random.key(0)])
    training.advance()  # compiles
    epoch = min(training.advance() for _ in range(REPEATS))
    kept = round(EPISODES * (1 - config.validation))
    rows = len(pack(data.lengths, np.arange(kept), world.longest).episode)
    per_batch = max(1, round(config.batch * rows / kept))
    return epoch / -(-rows // per_batch), (per_batch, world.longest)


def torch_model(length: int) -> Any:
    """The same network in PyTorch: embeddings, three layers, norms, one head."""
    nn, width = torch.nn, ImitationConfig().width

    class Model(nn.Module):  # type: ignore[misc,name-defined,unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.to_go, self.action = nn.Linear(1, width), nn.Linear(4, width)
            self.observation, self.time = nn.Embedding(32, width), nn.Embedding(length, width)
            self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
            self.layers = nn.ModuleList(
                nn.TransformerEncoderLayer(
                    width, 1, 4 * width, 0.1, "gelu", batch_first=True, norm_first=True
                )
                for _ in range(3)
            )
            self.head, self.dropout = nn.Linear(width, 4), nn.Dropout(0.1)

        def forward(self, to_go: Any, observation: Any, action: Any, mask: Any) -> Any:
            time = self.time(torch.arange(length))
            parts = [self.to_go(to_go), self.observation(observation), self.action(action)]
            tokens = torch.stack([part + time for part in parts], dim=2).flatten(1, 2)
            values = self.dropout(self.before(tokens))
            for layer in self.layers:
                values = layer(values, src_mask=mask, is_causal=True)
            return self.head(self.after(values[:, 1::3]))

    return Model()


def torch_step(rows: int, length: int) -> float | None:
    """Seconds a training step of the same network takes in PyTorch on rows of this many steps."""
    if torch is None:
        return None
    model = torch_model(length)
    optimiser = torch.optim.AdamW(model.parameters(), 1e-4, weight_decay=1e-4)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(3 * length)
    action = torch.rand(rows, length, 4).round()
    inputs = (torch.rand(rows, length, 1), torch.randint(32, (rows, length)), action)

    def step() -> None:
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(*inputs, mask), action)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    step()
    return best_seconds(step, REPEATS)


def compare_transformers() -> None:
    """Print ours beside PyTorch's as is usual, padded to the paper's K, and on packed rows."""
    own, packed = imitation_step()
    print(f"decision transformer, 128 episodes    ours {own:.3f} s a step")
    shapes = {"PyTorch, padded to 30 moments": (128, 30), "PyTorch, rows packed as ours": packed}
    for name, shape in shapes.items():
        other = torch_step(*shape)
        if other is not None:
            print(f"  {name}, {shape[0]} x {shape[1]:<4} {other:.3f}   ratio {other / own:.1f}")


def main() -> None:
    """Print every comparison."""
    lstm = replace(paper("ppo-lstm", 256), trunk=())
    compare("A2C MLP 64, 4 environments", paper("a2c-mlp", 64), a2c, 100_000)
    compare("PPO MLP 64, 4 environments", paper("ppo-mlp", 64), ppo, 100_000)
    compare("PPO LSTM 256, 4 environments", lstm, recurrent_ppo, 8_192)
    many = replace(lstm, environments=256)
    compare("PPO LSTM 256, 256 environments", many, recurrent_ppo, 2 * many.batch)
    compare_transformers()


if __name__ == "__main__":
    main()
