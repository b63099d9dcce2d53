"""A2C and PPO as pure functions: collect a rollout, estimate advantages, update the policy.

`update` is one iteration of the algorithm. The state of a run is a pytree of arrays, so many runs
are one vmapped run. Losses and optimisers are those of Stable Baselines, the paper's library.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array

from trivium.agents.config import AgentConfig
from trivium.agents.layers import Output
from trivium.agents.lstm import sequence_layout
from trivium.agents.networks import Carry, Policy, make_policy
from trivium.agents.worlds import State, Tables, World

RMS_DECAY = 0.99
EPSILON = 1e-5  # of both optimisers
TOLERANCE = 1e-4  # for rounding, when a reward is compared with the largest possible one


class Sums(NamedTuple):
    """Totals over one episode or many."""

    episodes: Array
    reward: Array
    tests: Array
    form_asked: Array
    form_right: Array
    maximal: Array  # episodes with the largest possible reward


class Environments(NamedTuple):
    """The environments of a run between two rollouts."""

    state: State
    observation: Array
    start: Array  # 1 where an episode begins with this observation
    carry: Carry  # the policy's memory
    running: Sums  # of the unfinished episodes, one entry for each environment
    streak: Array  # maximal episodes in a row


class Rollout(NamedTuple):
    """Observations, actions and rewards, [time, batch] in every array."""

    observation: Array
    start: Array
    action: Array
    log_probability: Array  # of the action when it was taken
    value: Array  # as estimated when the action was taken
    reward: Array
    done: Array


class Batch(NamedTuple):
    """A rollout with its advantages and value targets."""

    rollout: Rollout
    advantage: Array
    target: Array  # of the value


class Run(NamedTuple):
    """A training run between two updates; the policy is a pytree of arrays."""

    policy: Any
    optimiser: Any
    environments: Environments
    key: Array
    steps: Array  # environment steps so far
    converged: Array  # the step at which training ended early, -1 until then


@partial(jax.jit, static_argnums=(0, 1))
def start(world: World, config: AgentConfig, tables: Tables, key: Array) -> Run:
    """A run before its first step."""
    policy_key, world_key, key = jax.random.split(key, 3)
    policy = make_policy(config, world, policy_key)
    batch = config.environments
    state, observation = world.reset(tables, world_key, (batch,))
    nothing = Sums(*[jnp.zeros(batch)] * 6)
    count = jnp.zeros((), jnp.int32)
    environments = Environments(
        state, observation, jnp.ones(batch), policy.initial(batch), nothing, count
    )
    return Run(policy, make_optimiser(config).init(policy), environments, key, count, count - 1)


def update(
    world: World, config: AgentConfig, streak: int, tables: Tables, run: Run
) -> tuple[Run, Sums]:
    """The run after one rollout and all gradient steps on it; a converged run stops learning."""
    collect_key, learn_key, key = jax.random.split(run.key, 3)
    environments, rollout, finished = collect(world, config, tables, run, collect_key)
    _, last = run.policy.step(environments.carry, environments.observation, environments.start)
    advantage = advantages(config, rollout.reward, rollout.done, rollout.value, last.value)
    batch = Batch(rollout, advantage, advantage + rollout.value)
    before = (run.policy, run.optimiser)
    after = learn(config, before, run.environments.carry, batch, learn_key)
    steps = run.steps + config.batch
    learning = run.converged < 0
    policy, optimiser = jax.tree.map(lambda new, old: jnp.where(learning, new, old), after, before)
    converged = jnp.where(learning & (environments.streak >= streak), steps, run.converged)
    return Run(policy, optimiser, environments, key, steps, converged), finished


def collect(
    world: World, config: AgentConfig, tables: Tables, run: Run, key: Array
) -> tuple[Environments, Rollout, Sums]:
    """A rollout of one horizon, and the totals of the episodes that ended in it."""
    shape = (config.horizon, config.environments)
    act_key, step_key, reset_key = jax.random.split(key, 3)
    # Everything is drawn before the scan: one large draw costs far less than many small ones.
    draws = (
        jax.random.uniform(act_key, (*shape, world.action_bits)),
        jax.random.split(step_key, config.horizon),
        world.reset(tables, reset_key, shape),
    )

    none = jnp.zeros(config.environments)

    def act(
        carried: tuple[Environments, Sums], drawn: tuple[Array, Array, tuple[State, Array]]
    ) -> tuple[tuple[Environments, Sums], Rollout]:
        now, finished = carried
        uniform, key, fresh = drawn
        carry, output = run.policy.step(now.carry, now.observation, now.start)
        likely = jax.nn.sigmoid(output.logits[..., 1] - output.logits[..., 0])
        action = (uniform < likely).astype(jnp.int32)
        step = world.step(tables, now.state, action, key)
        counts = Sums(none, step.reward, step.tests, step.form_asked, step.form_right, none)
        running = jax.tree.map(jnp.add, now.running, counts)
        maximal = (running.reward >= world.maximum - TOLERANCE).astype(jnp.float32)
        totals = running._replace(episodes=jnp.ones_like(maximal), maximal=maximal)
        ended = Sums(*(jnp.where(step.done, part, 0.0) for part in totals))
        state, observation = jax.tree.map(
            lambda new, old: jnp.where(step.done.reshape(-1, *[1] * (new.ndim - 1)), new, old),
            fresh,
            (step.state, step.observation),
        )
        done = step.done.astype(jnp.float32)
        after = Environments(
            state,
            observation,
            done,
            carry,
            Sums(*(jnp.where(step.done, 0.0, part) for part in running)),
            count_streak(now.streak, step.done, ended.maximal > 0),
        )
        logs = log_probability(output.logits, action)
        taken = Rollout(now.observation, now.start, action, logs, output.value, step.reward, done)
        finished = jax.tree.map(lambda total, part: total + part.sum(), finished, ended)
        return (after, finished), taken

    nothing = Sums(*[jnp.zeros(())] * 6)
    # Steps unrolled in the compiled loop: for speed only, the results are the same.
    block = min(sequence_layout(config, world).block, config.horizon)
    (environments, finished), rollout = jax.lax.scan(
        act, (run.environments, nothing), draws, unroll=block
    )
    return environments, rollout, finished


def count_streak(streak: Array, done: Array, maximal: Array) -> Array:
    """Maximal episodes in a row so far, in the order of the environments."""
    order = jnp.arange(done.shape[0])
    failed = done.astype(bool) & ~maximal
    last_failure = jnp.where(failed, order, -1).max()
    since = (maximal & (order > last_failure)).sum()
    return jnp.where(last_failure >= 0, since, streak + since)


def advantages(
    config: AgentConfig, reward: Array, done: Array, value: Array, last_value: Array
) -> Array:
    """Generalised advantage estimates (GAE) of [time, batch] arrays."""
    continues = 1.0 - done
    next_value = jnp.concatenate([value[1:], last_value[None]])
    error = reward + config.discount * next_value * continues - value

    def accumulate(later: Array, now: tuple[Array, Array]) -> tuple[Array, Array]:
        error, continues = now
        advantage = error + config.discount * config.gae_lambda * continues * later
        return advantage, advantage

    nothing = jnp.zeros_like(last_value)
    _, estimates = jax.lax.scan(accumulate, nothing, (error, continues), reverse=True, unroll=5)
    return estimates


def log_probability(logits: Array, action: Array) -> Array:
    """The log-probability of actions, summed over their bits."""
    logs = jax.nn.log_softmax(logits)
    chosen = jnp.where(action > 0, logs[..., 1], logs[..., 0])
    return chosen.sum(axis=-1)


def entropy(logits: Array) -> Array:
    """The entropy of the distribution over actions, in nats."""
    logs = jax.nn.log_softmax(logits)
    return -(jnp.exp(logs) * logs).sum(axis=(-2, -1))


def a2c_loss(config: AgentConfig, output: Output, batch: Batch) -> Array:
    """Policy gradient, squared error of the value, and an entropy bonus."""
    logs = log_probability(output.logits, batch.rollout.action)
    policy = -(batch.advantage * logs).mean()
    value = jnp.square(batch.target - output.value).mean()
    bonus = entropy(output.logits).mean()
    return policy + config.value_coefficient * value - config.entropy_coefficient * bonus


def ppo_loss(config: AgentConfig, output: Output, batch: Batch) -> Array:
    """The clipped loss of PPO2, which clips the value as well."""
    spread = jnp.std(batch.advantage) + 1e-8
    advantage = (batch.advantage - batch.advantage.mean()) / spread
    logs = log_probability(output.logits, batch.rollout.action)
    ratio = jnp.exp(logs - batch.rollout.log_probability)
    clipped = jnp.clip(ratio, 1 - config.clip, 1 + config.clip)
    policy = -jnp.minimum(advantage * ratio, advantage * clipped).mean()
    old_value = batch.rollout.value
    moved = old_value + jnp.clip(output.value - old_value, -config.clip, config.clip)
    errors = jnp.square(output.value - batch.target), jnp.square(moved - batch.target)
    value = 0.5 * jnp.maximum(*errors).mean()
    bonus = entropy(output.logits).mean()
    return policy + config.value_coefficient * value - config.entropy_coefficient * bonus


LOSSES = {"a2c": a2c_loss, "ppo": ppo_loss}


def loss(policy: Policy, config: AgentConfig, carry: Carry, batch: Batch) -> Array:
    """The loss of a policy on a batch; `carry` is its memory before the first step."""
    _, output = policy.unroll(carry, batch.rollout.observation, batch.rollout.start)
    return LOSSES[config.algorithm](config, output, batch)


def make_optimiser(config: AgentConfig) -> optax.GradientTransformation:
    """RMSProp for A2C and Adam for PPO, after clipping the gradient's norm."""
    if config.algorithm == "a2c":
        rule = optax.rmsprop(config.learning_rate, RMS_DECAY, EPSILON, initial_scale=1.0)
    else:
        rule = optax.adam(config.learning_rate, eps=EPSILON)
    return optax.chain(optax.clip_by_global_norm(config.gradient_norm), rule)


def learn(
    config: AgentConfig, learner: tuple[Any, Any], carry: Carry, batch: Batch, key: Array
) -> tuple[Any, Any]:
    """Policy and optimiser after all gradient steps on one batch."""
    optimiser_rule = make_optimiser(config)

    def improve(learner: tuple[Any, Any], carry: Carry, batch: Batch) -> tuple[Any, Any]:
        policy, optimiser = learner
        gradient = jax.grad(loss)(policy, config, carry, batch)
        change, optimiser = optimiser_rule.update(gradient, optimiser, policy)
        return optax.apply_updates(policy, change), optimiser

    if config.epochs == config.minibatches == 1:
        return improve(learner, carry, batch)
    if config.policy == "mlp":
        # Without memory, steps are independent: minibatches are drawn from all of them.
        batch = jax.tree.map(lambda leaf: leaf.reshape(1, -1, *leaf.shape[2:]), batch)
    count = batch.target.shape[1]

    def minibatch(learner: tuple[Any, Any], chosen: Array) -> tuple[tuple[Any, Any], None]:
        own_carry = jax.tree.map(lambda leaf: leaf[chosen], carry)
        own_batch = jax.tree.map(lambda leaf: leaf[:, chosen], batch)
        return improve(learner, own_carry, own_batch), None

    def epoch(learner: tuple[Any, Any], key: Array) -> tuple[tuple[Any, Any], None]:
        order = jax.random.permutation(key, count).reshape(config.minibatches, -1)
        return jax.lax.scan(minibatch, learner, order)

    return jax.lax.scan(epoch, learner, jax.random.split(key, config.epochs))[0]
