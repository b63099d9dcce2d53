"""Learners of Stable-Baselines3 and sb3-contrib at the settings of one of ours.

Where their options allow it a setting is passed on; the policies below change what no option
reaches, so that network, first weights and gradients follow the same rules on both sides.
What still differs: PPO's value is clipped in both directions (PPO2 takes the worse of the
clipped and the free error), and the spread of the advantages has Bessel's correction.

There is no recurrent A2C and no layer-norm LSTM in sb3-contrib. One pass over one batch without
clipping and without normalised advantages makes its recurrent PPO A2C; layer norm remains without
a counterpart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from sb3_contrib import RecurrentPPO
from sb3_contrib.common.recurrent.buffers import RecurrentRolloutBuffer
from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.sb2_compat.rmsprop_tf_like import RMSpropTFLike
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv

from trivium.agents.config import AgentConfig
from trivium.benchmarks.blicket.world.env import BlicketEnv

NO_CLIPPING = 1e9
Finished = Callable[[int, float], bool]  # step and reward of an episode; whether to continue


class DensePolicy(ActorCriticPolicy):  # type: ignore[misc,unused-ignore]
    """Theirs, with an action head as large as the value's; theirs is a hundredth of it."""

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        torch.nn.init.orthogonal_(self.action_net.weight)


class Trunk(BaseFeaturesExtractor):  # type: ignore[misc,unused-ignore]
    """The dense layers before the LSTM; the policy draws their weights, orthogonal as ours."""

    def __init__(self, observation_space: Any, sizes: tuple[int, ...]) -> None:
        super().__init__(observation_space, sizes[-1])
        widths = (observation_space.shape[0], *sizes)
        layers: list[torch.nn.Module] = []
        for before, after in pairwise(widths):
            layers += [torch.nn.Linear(before, after), torch.nn.Tanh()]
        self.layers = torch.nn.Sequential(*layers)

    def forward(self, observations: Any) -> Any:
        """Features of observations."""
        return self.layers(observations)


class LstmPolicy(RecurrentActorCriticPolicy):  # type: ignore[misc,unused-ignore]
    """Theirs, with the LSTM of Stable Baselines: orthogonal, one bias, learning from the value.

    torch's LSTM has two biases that are added; each takes its own step of Adam, so that their
    sum moves twice as fast as one bias would.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        lstm = self.lstm_actor
        for matrix in (lstm.weight_ih_l0, lstm.weight_hh_l0, self.action_net.weight):
            torch.nn.init.orthogonal_(matrix)
        for bias in (lstm.bias_ih_l0, lstm.bias_hh_l0):
            torch.nn.init.zeros_(bias)
        lstm.bias_hh_l0.requires_grad_(False)

    def evaluate_actions(
        self, obs: Any, actions: Any, lstm_states: Any, episode_starts: Any
    ) -> tuple[Any, Any, Any]:
        """Value, log-probability and entropy; theirs cuts the value's gradient off the LSTM."""
        features = recurrent_features(
            self.extract_features(obs), lstm_states.pi, episode_starts, self.lstm_actor
        )
        distribution = self._get_action_dist_from_latent(features)
        value = self.value_net(features)
        return value, distribution.log_prob(actions), distribution.entropy()


def recurrent_features(
    features: Any, states: tuple[Any, Any], episode_starts: Any, lstm: torch.nn.LSTM
) -> Any:
    """What their `_process_sequence` returns, with episodes side by side instead of step by step.

    Several times as fast, which is what makes a million steps affordable.
    """
    sequences = states[0].shape[1]
    resets = episode_starts.reshape(sequences, -1) > 0
    begins = resets.clone()
    begins[:, 0] = True
    at = begins.flatten().nonzero().flatten()
    lengths = torch.diff(at, append=at.new_tensor([features.shape[0]]))
    episodes = torch.nn.utils.rnn.pad_sequence(torch.split(features, lengths.tolist()))
    first = at % resets.shape[1] == 0
    kept = (~resets[:, :1]).to(features.dtype)
    initial = []
    for state in states:
        zeros = state.new_zeros(1, len(at), state.shape[2])
        initial.append(
            zeros.index_put(
                (torch.zeros_like(at[first]), first.nonzero().flatten()), state[0] * kept
            )
        )
    output, _ = lstm(episodes, tuple(initial))
    steps = torch.arange(output.shape[0], device=at.device)
    return output.transpose(0, 1)[steps[None] < lengths[:, None]]


class WholeEnvironments(RecurrentRolloutBuffer):  # type: ignore[misc,unused-ignore]
    """Theirs, with minibatches of whole environments; theirs cuts sequences at a random step."""

    def get(self, batch_size: int | None = None) -> Iterator[Any]:
        """Minibatches of one pass, environments in random order."""
        if not self.generator_ready:
            next(super().get(batch_size))  # lays the arrays out, environment after environment
        steps = self.buffer_size
        changes = np.arange(steps * self.n_envs)[:, None] % steps == 0
        count = (batch_size or changes.size) // steps
        for chosen in np.random.permutation(self.n_envs).reshape(-1, count):
            moments = (chosen[:, None] * steps + np.arange(steps)).reshape(-1)
            yield self._get_samples(moments, changes)


class Watch(BaseCallback):  # type: ignore[misc,unused-ignore]
    """Reports every episode that ends; stops the learner when the callback says so."""

    def __init__(self, environments: int, finished: Finished) -> None:
        super().__init__()
        self.running = np.zeros(environments)
        self.finished = finished

    def _on_step(self) -> bool:
        self.running += self.locals["rewards"]
        proceed = True
        for index in np.flatnonzero(self.locals["dones"]):
            proceed &= self.finished(self.num_timesteps, float(self.running[index]))
            self.running[index] = 0.0
        return proceed


def train(
    config: AgentConfig, seed: int, steps: int, finished: Finished, device: str = "cpu"
) -> None:
    """Train their learner on blicket with quiz, reporting each episode."""
    torch.set_num_threads(1)
    torch.distributions.Distribution.set_default_validate_args(False)  # a tenth of the time
    world = DummyVecEnv([partial(BlicketEnv, reward_structure="quiz")] * config.environments)
    model = make_model(config, world, seed, device)
    model.learn(steps, callback=Watch(config.environments, finished))


def make_model(config: AgentConfig, world: Any, seed: int, device: str = "cpu") -> Any:
    """Their learner, untrained."""
    common = {
        "n_steps": config.horizon,
        "gamma": config.discount,
        "gae_lambda": config.gae_lambda,
        "learning_rate": config.learning_rate,
        "ent_coef": config.entropy_coefficient,
        "max_grad_norm": config.gradient_norm,
        "seed": seed,
        "device": device,
    }
    dense = {"net_arch": [config.width] * 2, "activation_fn": torch.nn.Tanh}
    rule = {"alpha": 0.99, "eps": 1e-5, "weight_decay": 0}
    as_tensorflow = {"optimizer_class": RMSpropTFLike, "optimizer_kwargs": rule}
    if config.name == "a2c-mlp":
        policy = dense | as_tensorflow
        coefficient = config.value_coefficient
        return A2C(DensePolicy, world, vf_coef=coefficient, policy_kwargs=policy, **common)
    common |= {"n_epochs": config.epochs, "batch_size": config.batch // config.minibatches}
    if config.algorithm == "ppo":
        common |= {
            "clip_range": config.clip,
            "clip_range_vf": config.clip,
            "vf_coef": config.value_coefficient / 2,  # theirs has no factor of one half
        }
    else:
        common |= {
            "clip_range": NO_CLIPPING,
            "normalize_advantage": False,
            "vf_coef": config.value_coefficient,
        }
    if config.policy == "mlp":
        return PPO(DensePolicy, world, policy_kwargs=dense, **common)
    shared = {"shared_lstm": True, "enable_critic_lstm": False}
    policy = shared | {"net_arch": [], "lstm_hidden_size": config.width}
    if config.trunk:
        sizes = {"features_extractor_kwargs": {"sizes": config.trunk}}
        policy |= {"features_extractor_class": Trunk} | sizes
    if config.algorithm == "a2c":
        policy |= as_tensorflow
    model = RecurrentPPO(LstmPolicy, world, policy_kwargs=policy, **common)
    theirs = model.rollout_buffer
    model.rollout_buffer = WholeEnvironments(
        theirs.buffer_size,
        theirs.observation_space,
        theirs.action_space,
        theirs.hidden_state_shape,
        theirs.device,
        gamma=theirs.gamma,
        gae_lambda=theirs.gae_lambda,
        n_envs=theirs.n_envs,
    )
    return model
