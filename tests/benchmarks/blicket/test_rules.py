"""Blicket-v0 transition by transition: every environment against the slow reference."""

from __future__ import annotations

import itertools
from typing import Any, get_args

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from tests.benchmarks.blicket.reference import Reference
from trivium.benchmarks.blicket.inference.hypotheses import ALL_ELEVEN
from trivium.benchmarks.blicket.world.dynamics import decode, make_tables
from trivium.benchmarks.blicket.world.env import BlicketEnv
from trivium.benchmarks.blicket.world.spec import BlicketSpec, Interface, RewardStructure
from trivium.benchmarks.blicket.world.vector import BlicketVectorEnv

GRID: list[dict[str, Any]] = [
    {
        "reward_structure": structure,
        "quiz_disabled_steps": disabled,
        "max_steps": steps,
        "add_step_reward_penalty": penalty,
        "add_detector_state_reward_for_quiz": bonus,
    }
    for structure, disabled, steps, penalty, bonus in itertools.product(
        get_args(RewardStructure), (-1, 0, 3, 10), (5, 20), (False, True), (False, True)
    )
]
MIN_STEPS = 100_000  # of each environment and interface
PER_SETTING = -(-MIN_STEPS // len(GRID))


def draw_actions(
    generator: np.random.Generator, spec: BlicketSpec, shape: tuple[int, ...]
) -> NDArray[np.int64]:
    """Random actions, many of which do not ask for the quiz, so that episodes grow long."""
    eager = generator.random(shape) < 0.2
    if spec.interface == "child":
        calm = generator.integers(0, spec.objects + 1, shape)
        return np.where(eager, generator.integers(0, spec.actions, shape), calm)
    bits = generator.integers(0, 2, (*shape, spec.action_bits))
    bits[..., spec.objects :] &= eager[..., None]
    return bits


@pytest.mark.parametrize("interface", get_args(Interface))
def test_single_env_equals_the_reference(interface: str) -> None:
    steps = 0
    generator = np.random.default_rng(1)
    for options in GRID:
        env = BlicketEnv(hypotheses=ALL_ELEVEN, interface=interface, **options)
        actions = draw_actions(generator, env.rules, (PER_SETTING,))
        machines = itertools.cycle(ALL_ELEVEN)
        reference: Reference | None = None
        for action in actions:
            if reference is None:
                name = next(machines)
                seen, info = env.reset(seed=0, options={"hypothesis": name})
                reference = Reference(name, interface=interface, **options)
                assert info["hypothesis"] == name
                assert seen.tolist() == reference.first()
            wanted_seen, wanted_reward, wanted_done = reference.step(action)
            seen, reward, done, truncated, info = env.step(action)
            assert seen.dtype == np.float32
            assert seen.tolist() == wanted_seen
            assert abs(float(reward) - wanted_reward) < 1e-12
            assert (done, truncated) == (wanted_done, False)
            steps += 1
            if done:
                reference = None
    assert steps >= MIN_STEPS


def compare(reference: Reference, action: Any, seen: Any, reward: float, done: bool) -> None:
    wanted_seen, wanted_reward, wanted_done = reference.step(action)
    assert seen.tolist() == wanted_seen
    assert abs(reward - wanted_reward) < 1e-6
    assert bool(done) == wanted_done


@pytest.mark.parametrize("interface", get_args(Interface))
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_vector_env_equals_the_reference(interface: str, mode: AutoresetMode) -> None:
    batch, steps = 22, 0
    generator = np.random.default_rng(2)
    for seed, options in enumerate(GRID):
        env = BlicketVectorEnv(
            batch, autoreset_mode=mode, hypotheses=ALL_ELEVEN, interface=interface, **options
        )
        seen, info = env.reset(seed=seed)
        live: list[Reference | None] = [
            Reference(ALL_ELEVEN[machine], interface=interface, **options)
            for machine in info["machine"]
        ]
        assert not seen.any()
        rounds = -(-PER_SETTING // batch) + 10  # extra for the steps that only reset
        for actions in draw_actions(generator, env.rules, (rounds, batch)):
            seen, rewards, done, truncated, info = env.step(actions)
            assert not truncated.any()
            for number, reference in enumerate(live):
                fresh = Reference(
                    ALL_ELEVEN[info["machine"][number]], interface=interface, **options
                )
                if reference is None:  # the step that only resets
                    assert not seen[number].any()
                    assert (rewards[number], done[number]) == (0, False)
                    live[number] = fresh
                    continue
                steps += 1
                shown = seen[number]
                if done[number] and mode == AutoresetMode.SAME_STEP:
                    assert not shown.any()
                    assert info["_final_obs"][number]
                    shown = info["final_obs"][number]
                compare(reference, actions[number], shown, rewards[number], done[number])
                if done[number]:
                    live[number] = fresh if mode == AutoresetMode.SAME_STEP else None
    assert steps >= MIN_STEPS


@pytest.mark.parametrize("interface", get_args(Interface))
def test_jax_env_equals_the_reference(interface: Interface) -> None:
    jax = pytest.importorskip("jax")
    from trivium.benchmarks.blicket.world import jax_env

    batch, rounds = 22, -(-PER_SETTING // 22)
    generator = np.random.default_rng(3)

    @jax.jit  # type: ignore[untyped-decorator]
    def play(params: Any, actions: Any, key: Any) -> Any:
        first, rest = jax.random.split(key)
        state, seen = jax.vmap(jax_env.reset, (None, 0))(params, jax.random.split(first, batch))
        stepper = jax.vmap(jax_env.step_autoreset, (None, 0, 0, 0))

        def one(state: Any, given: Any) -> Any:
            action, key = given
            after, *outputs = stepper(params, state, action, jax.random.split(key, batch))
            return after, (after, *outputs)

        outputs = jax.lax.scan(one, state, (actions, jax.random.split(rest, rounds)))[1]
        return state, seen, outputs

    def same_shape(tables: Any) -> Any:
        """Tables padded to one size, so that one compilation serves all settings."""
        entries = np.pad(tables.entries, ((0, 0), (0, 40_000 - tables.entries.shape[1])))
        noise = np.zeros(8_000, dtype=np.float32)
        return tables._replace(entries=entries, noise=noise)

    steps = 0
    for seed, options in enumerate(GRID):
        spec = BlicketSpec(hypotheses=ALL_ELEVEN, interface=interface, **options)
        actions = draw_actions(generator, spec, (rounds, batch))
        bits = jax.numpy.asarray(actions)
        codes = actions if interface == "child" else np.asarray(jax_env.action_code(bits))
        params = same_shape(jax_env.make_params(spec))
        state, seen, outputs = jax.tree.map(
            np.asarray, play(params, codes.astype(np.int32), jax.random.key(seed))
        )
        states, shown, rewards, done, last = outputs
        assert not seen.any()
        live = [
            Reference(ALL_ELEVEN[machine], interface=interface, **options)
            for machine in decode(spec, state).machine
        ]
        for turn, number in itertools.product(range(rounds), range(batch)):
            at = (turn, number)
            compare(live[number], actions[at], last[at], rewards[at], done[at])
            steps += 1
            if done[at]:
                assert not shown[at].any()
                name = ALL_ELEVEN[decode(spec, states[at]).machine]
                live[number] = Reference(name, interface=interface, **options)
            else:
                assert (shown[at] == last[at]).all()
    assert steps >= MIN_STEPS


def test_the_known_figures_of_the_quiz() -> None:
    """150 states, 16 actions, at most 25 steps; 3 + 1 - 0.01 with both optional rewards."""
    spec = BlicketSpec(reward_structure="quiz")
    assert int(make_tables(spec).over) == 150
    assert spec.actions == 16
    env = BlicketEnv(
        reward_structure="quiz",
        add_step_reward_penalty=True,
        add_detector_state_reward_for_quiz=True,
    )
    env.reset(seed=0, options={"hypothesis": "disjunctive:B"})
    total, steps, done = 0.0, 0, False
    while not done:
        _, reward, done, _, _ = env.step([0, 1, 0, 0])  # B lights, and B is the blicket
        total, steps = total + float(reward), steps + 1
    assert steps == 25
    assert total == pytest.approx(3.99)
