"""The Gymnasium, vector and JAX environments as users call them."""

from __future__ import annotations

import itertools
import subprocess
import sys
from typing import Any, get_args

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from trivium.benchmarks.blicket.inference.hypotheses import DEFAULT_SIX
from trivium.benchmarks.blicket.world.dynamics import decode
from trivium.benchmarks.blicket.world.env import BlicketEnv
from trivium.benchmarks.blicket.world.render import Scene, draw
from trivium.benchmarks.blicket.world.spec import BlicketSpec, Interface, RewardStructure
from trivium.benchmarks.blicket.world.vector import BlicketVectorEnv, pack_bits
from trivium.core.errors import UserError


@pytest.mark.parametrize("name", ["trivium/Blicket-v0", "trivium/BlicketChild-v0"])
@pytest.mark.parametrize("structure", get_args(RewardStructure))
def test_gymnasium_accepts_the_environment(name: str, structure: str) -> None:
    env = gymnasium.make(name, reward_structure=structure, render_mode="rgb_array")
    check_env(env.unwrapped)


@pytest.mark.parametrize(
    "code",
    [
        "import gymnasium, trivium; env = gymnasium.make('trivium/Blicket-v0')",
        "import gymnasium; env = gymnasium.make('trivium:trivium/Blicket-v0')",
    ],
)
def test_both_ways_to_make_it_by_name(code: str) -> None:
    code += "; print(env.reset(seed=0)[0].shape)"
    command = [sys.executable, "-W", "error::UserWarning", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "(4,)\n", done.stderr


def test_stable_baselines_accepts_the_environment() -> None:
    checker = pytest.importorskip(
        "stable_baselines3.common.env_checker",
        reason="stable-baselines3 is not installed: its check of the environment was NOT run",
    )
    for structure, interface in itertools.product(get_args(RewardStructure), get_args(Interface)):
        checker.check_env(BlicketEnv(reward_structure=structure, interface=interface))


def test_make_vec_gives_the_batched_environment() -> None:
    env = gymnasium.make_vec(
        "trivium/Blicket-v0",
        num_envs=5,
        vectorization_mode="vector_entry_point",
        reward_structure="quiz",
    )
    assert isinstance(env.unwrapped, BlicketVectorEnv)
    seen, _ = env.reset(seed=3)
    assert env.observation_space.contains(np.ascontiguousarray(seen))
    seen, rewards, done, truncated, info = env.step(env.action_space.sample())
    assert seen.shape == (5, 5)
    assert rewards.shape == done.shape == truncated.shape == info["machine"].shape == (5,)


def test_registered_names_select_the_interface() -> None:
    spaces = [
        str(gymnasium.make(f"trivium/{name}", reward_structure="quiz").action_space)
        for name in ("Blicket-v0", "BlicketChild-v0")
    ]
    assert spaces == ["MultiDiscrete([2 2 2 2])", "Discrete(5)"]


def rollout(seed: int, action_seed: int) -> list[Any]:
    env = BlicketEnv(reward_structure="quiz", hypotheses=["disjunctive:A~0.3", *DEFAULT_SIX])
    env.action_space.seed(action_seed)
    log: list[Any] = []
    for _ in range(20):
        log.append(env.reset(seed=seed if not log else None)[1]["hypothesis"])
        done = False
        while not done:
            seen, reward, done, _, _ = env.step(env.action_space.sample())
            log.append((seen.tolist(), reward))
    return log


def vector_rollout(seed: int | list[int], mode: AutoresetMode) -> list[Any]:
    env = BlicketVectorEnv(7, autoreset_mode=mode, reward_structure="quiz")
    env.action_space.seed(5)
    seen, info = env.reset(seed=seed)
    log: list[Any] = [seen.tolist(), info["machine"].tolist()]
    for _ in range(200):
        seen, rewards, done, _, info = env.step(env.action_space.sample())
        log.append((seen.tolist(), rewards.tolist(), done.tolist(), info["machine"].tolist()))
    return log


def test_same_seed_same_episode() -> None:
    np.random.seed(1)
    first = rollout(4, 1)
    np.random.seed(2)
    assert rollout(4, 1) == first
    assert rollout(5, 1) != first
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        assert vector_rollout(4, mode) == vector_rollout(4, mode)
        assert vector_rollout(list(range(4, 11)), mode) == vector_rollout(4, mode)
        assert vector_rollout(4, mode) != vector_rollout(5, mode)


def test_a_seed_always_draws_the_same_machines() -> None:
    """The machines of seed 7, so that published runs can be reproduced."""
    env = BlicketEnv()
    assert [env.reset(seed=seed)[1]["machine"] for seed in (7, None, None, 7)] == [5, 3, 4, 5]
    batch = BlicketVectorEnv(8)
    for _ in range(2):
        drawn = [batch.reset(seed=seed)[1]["machine"].tolist() for seed in (7, None)]
        assert [drawn[0][0], drawn[1][0]] == [5, 3]


def test_a_seeded_batch_stays_reproducible_beyond_the_machines_drawn_ahead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At least 64 are drawn ahead for each environment; here it is no more than that."""
    monkeypatch.setattr("trivium.benchmarks.blicket.world.vector.DRAWN_AT_ONCE", 1)
    batches = [BlicketVectorEnv(3) for _ in range(2)]
    for number in range(140):
        seed = 3 if number == 0 else None
        first, second = (batch.reset(seed=seed)[1]["machine"] for batch in batches)
        assert first.tolist() == second.tolist()


def test_a_batch_draws_the_machines_of_single_environments() -> None:
    """Environment i with seed s is the single one with s + i, episode after episode."""
    batch = BlicketVectorEnv(3, autoreset_mode="SameStep", reward_structure="quiz-typeonly")
    alone = [BlicketEnv(reward_structure="quiz-typeonly") for _ in range(3)]
    machines = [env.reset(seed=40 + number)[1]["hypothesis"] for number, env in enumerate(alone)]
    assert batch.reset(seed=40)[1]["hypothesis"].tolist() == machines
    at_once: Any = np.array([[0, 0, 0, 1]] * 3)
    for _ in range(100):
        batch.step(at_once)
        done, info = batch.step(at_once)[2::2]
        assert done.all()
        assert info["machine"].tolist() == [env.reset()[1]["machine"] for env in alone]
    assert batch.reset(seed=[42, None, 40])[1]["machine"].tolist()[::2] == [
        env.reset(seed=seed)[1]["machine"] for env, seed in zip(alone, (42, 40), strict=False)
    ]
    with pytest.raises(UserError, match="seed must hold 3 seeds, got 2"):
        batch.reset(seed=[1, 2])


def test_a_split_names_its_machines() -> None:
    names = ["conjunctive:AB", "conjunctive:AC"]
    assert list(BlicketEnv(split="conjunctive_loo").rules.hypotheses) == names
    held_out = gymnasium.make("trivium/Blicket-v0", split="conjunctive_loo", split_part="test")
    assert held_out.reset(seed=0)[1]["hypothesis"] == "conjunctive:BC"


def test_actions_can_be_numbers() -> None:
    """With Gymnasium's own wrapper, as the README says."""
    space = spaces.Discrete(16)
    bits = np.arange(4)
    inner = BlicketEnv(reward_structure="quiz")
    env = gymnasium.wrappers.TransformAction(inner, lambda number: number >> bits & 1, space)
    assert env.action_space == space
    env.reset(seed=0, options={"hypothesis": "conjunctive:AC"})
    assert env.step(np.int64(0b101))[0].tolist() == [1, 0, 1, 1, 0]
    assert env.step(np.int64(0b1000))[0].tolist() == [1, 0, 0, 0, 1]
    assert [env.step(np.int64(answer))[1] for answer in (1, 0, 4)] == [1, 1, 1]


def test_a_key_always_draws_the_same_machines_and_lights_in_jax() -> None:
    jax = pytest.importorskip("jax")
    from trivium.benchmarks.blicket.world import jax_env

    def play(*hypotheses: str) -> tuple[list[int], list[int], list[float]]:
        """The machines before and after the second step, which is the last, and its lights."""
        spec = BlicketSpec(max_steps=0, hypotheses=hypotheses)
        params, action = jax_env.make_params(spec), jax.numpy.zeros(10, dtype=int)
        state, _ = jax_env.reset(params, jax.random.key(7), (10,))
        first = decode(spec, state).machine.tolist()
        for key in (1, 2):
            state, _, _, done, last = jax_env.step_autoreset(
                params, state, action, jax.random.key(key)
            )
        assert done.all()
        return first, decode(spec, state).machine.tolist(), last[:, 3].tolist()

    machines = ([4, 5, 1, 2, 4, 3, 2, 2, 0, 0], [3, 5, 1, 5, 2, 1, 4, 1, 4, 4])
    assert play(*DEFAULT_SIX) == (*machines, [0] * 10)
    machines = ([1, 1, 0, 0, 1, 1, 0, 0, 0, 0], [1, 1, 0, 1, 0, 0, 1, 0, 1, 1])
    lights = [0, 1, 0, 0, 0, 0, 0, 0, 1, 1]
    assert play("disjunctive:A~0.3", "disjunctive:B~0.3") == (*machines, lights)


def test_machines_are_drawn_uniformly() -> None:
    """Each count of 6000 draws is within 5 standard deviations: wrong once in about 10^5 runs."""
    env = BlicketEnv(reward_structure="quiz")
    env.reset(seed=11)
    single = [env.reset()[1]["machine"] for _ in range(6000)]
    batch = BlicketVectorEnv(6000).reset(seed=12)[1]["machine"]
    for drawn in (single, batch):
        counts = np.bincount(drawn, minlength=6)
        assert np.abs(counts - 1000).max() < 5 * np.sqrt(6000 / 6 * 5 / 6)


def test_noise_flips_the_light_as_often_as_it_says() -> None:
    """20,000 tests of each environment at noise 0.2, within 5 standard deviations (0.0141)."""
    jax = pytest.importorskip("jax")
    from trivium.benchmarks.blicket.world import jax_env

    options: dict[str, Any] = {"hypotheses": ("disjunctive:A~0.2",), "max_steps": 20_000}
    env = BlicketEnv(**options)
    env.reset(seed=1)
    dark = np.mean([env.step([0, 1, 1])[0][3] for _ in range(20_000)])
    batch = BlicketVectorEnv(20_000, **options)
    batch.reset(seed=1)
    lit = batch.step(np.tile([1, 0, 0], (20_000, 1)))[0][:, 3].mean()
    params = jax_env.make_params(BlicketSpec(**options))
    state = jax.numpy.zeros(20_000, dtype=int)
    keys = jax.random.split(jax.random.key(1), 20_000)
    seen = jax.vmap(jax_env.step, (None, 0, 0, 0))(params, state, state, keys)[1]
    assert dark == pytest.approx(0.2, abs=0.0142)
    assert lit == pytest.approx(0.8, abs=0.0142)
    assert float(seen[:, 3].mean()) == pytest.approx(0.2, abs=0.0142)


def test_splits_of_one_universe_can_be_stacked() -> None:
    jax = pytest.importorskip("jax")
    from trivium.benchmarks.blicket.world import jax_env

    splits = [DEFAULT_SIX[:2], DEFAULT_SIX[3:], ("disjunctive:C",)]
    params = [
        jax_env.make_params(BlicketSpec(reward_structure="quiz", hypotheses=each), DEFAULT_SIX)
        for each in splits
    ]
    stacked = jax.tree.map(lambda *leaves: jax.numpy.stack(leaves), *params)
    keys = jax.random.split(jax.random.key(0), 64)
    reset_many = jax.vmap(jax.vmap(jax_env.reset, (None, 0)), (0, None))
    states = reset_many(stacked, keys)[0]
    machines = np.asarray(decode(BlicketSpec(reward_structure="quiz"), states).machine)
    for drawn, names in zip(machines, splits, strict=True):
        assert {DEFAULT_SIX[machine] for machine in drawn} == set(names)


def test_more_forms_answer_the_type_question_by_number() -> None:
    names = ["conjunctive:AB", "disjunctive:A", "threshold-2:ABC", "parity:AB", "inhibitor:A-C"]
    env = BlicketEnv(reward_structure="quiz-typeonly", hypotheses=names)
    for number, name in enumerate(names):
        for answer in range(8):
            env.reset(seed=0, options={"hypothesis": name})
            env.step([0, 0, 0, 1])
            _, reward, done, _, _ = env.step([answer & 1, answer >> 1 & 1, answer >> 2, 0])
            assert (reward, done) == (0.5 if answer == number else -0.5, True)


@pytest.mark.parametrize("width", range(1, 10))
def test_packing_equals_counting(width: int) -> None:
    every = np.arange(1 << width)
    bits = every[:, None] >> np.arange(width) & 1
    assert pack_bits(bits).tolist() == every.tolist()
    assert pack_bits(bits.astype(np.int8)).tolist() == every.tolist()
    with pytest.raises(UserError, match="0 or 1"):
        pack_bits(bits + 1)


def test_disabled_autoreset_waits_for_the_mask() -> None:
    env = BlicketVectorEnv(2, autoreset_mode="Disabled", reward_structure="quiz-typeonly")
    env.reset(seed=0)
    for _ in range(2):
        _, _, done, _, _ = env.step(np.array([[0, 0, 0, 1], [1, 0, 0, 0]]))
    assert done.tolist() == [True, False]
    seen, _ = env.reset(options={"reset_mask": np.array([True, False])})
    assert seen.tolist()[0] == [0, 0, 0, 0, 0]
    assert seen.tolist()[1][0] == 1
    _, _, done, _, _ = env.step(np.array([[0, 0, 0, 1], [1, 0, 0, 0]]))
    assert done.tolist() == [False, False]


@pytest.mark.parametrize("field", ["reward_structure", "interface", "demonstrations"])
def test_a_spec_made_in_python_refuses_unknown_choices(field: str) -> None:
    with pytest.raises(UserError, match=f"{field} must be one of .*, got 'prize'"):
        BlicketSpec(**{field: "prize"})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reward_structure": "prize"}, "reward_structure must be one of"),
        ({"max_steps": -1}, "max_steps must be at least 0"),
        ({"quiz_disabled_steps": -2}, "quiz_disabled_steps must be at least -1"),
        ({"hypotheses": ["nothing"]}, "a hypothesis is written"),
        ({"hypotheses": []}, "hypotheses must hold at least one"),
        ({"max_step": 3}, "unknown key 'max_step'"),
        ({"render_mode": "human"}, "render_mode must be one of"),
        ({"objects": 8, "max_steps": 10**6, "hypotheses": ["disjunctive:H"]}, "choose fewer"),
        ({"objects": 4}, "objects = 4 needs hypotheses of 4 objects"),
        ({"demonstrations": "given"}, "demonstrations go with a quiz"),
        (
            {"demonstrations": "given", "reward_structure": "quiz", "hypotheses": ["parity:A"]},
            "demonstrations go with a quiz",
        ),
        ({"split": "half"}, "split must be one of"),
        ({"split": "both_loo", "hypotheses": ["disjunctive:A"]}, "exclude each other"),
        ({"split_part": "test"}, "split_part needs a split"),
    ],
)
def test_bad_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        BlicketEnv(**options)


def test_bad_actions_are_refused() -> None:
    env = BlicketEnv()
    env.reset(seed=0)
    for action in ([0, 0, 2], [0, 0], [0, 0, -1]):
        with pytest.raises(UserError, match="action must be in"):
            env.step(action)
    child = BlicketVectorEnv(2, interface="child")
    child.reset(seed=0)
    with pytest.raises(UserError, match=r"actions must be in 0\.\.4"):
        child.step(np.array([0, 5]))


def test_a_batch_names_its_machines_in_both_orders_of_the_examples() -> None:
    env = BlicketVectorEnv(200, demonstrations="given", reward_structure="quiz-type")
    _, info = env.reset(seed=3)
    names = env.rules.hypotheses
    assert {*info["hypothesis"]} == {*names}
    assert [names[number] for number in info["machine"]] == [*info["hypothesis"]]


def test_rendering_shows_the_state() -> None:
    picture = BlicketEnv(render_mode="rgb_array", reward_structure="quiz")
    text = BlicketEnv(render_mode="ansi", reward_structure="quiz")
    frames: list[Any] = []
    texts: list[Any] = []
    for env in (picture, text):
        env.reset(seed=0, options={"hypothesis": "conjunctive:AB"})
    actions = ([1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0])
    for action in actions:
        for env, collected in ((picture, frames), (text, texts)):
            env.step(action)
            collected.append(env.render())
    assert all(frame.dtype == np.uint8 and frame.shape[2] == 3 for frame in frames)
    assert all((one != other).any() for one, other in itertools.combinations(frames, 2))
    assert "dark" in texts[0]
    assert "LIGHT" in texts[1]
    assert "is A a blicket?" in texts[2]
    assert "is B a blicket?" in texts[3]
    for mode, expected in (("rgb_array", frames), ("ansi", texts)):
        many = BlicketVectorEnv(3, render_mode=mode, reward_structure="quiz")
        many.reset(seed=0, options={"hypothesis": "conjunctive:AB"})
        for action, one in zip(actions, expected, strict=True):
            many.step(np.array([action] * 3))
            shown = many.render()
            assert shown is not None
            assert len(shown) == 3
            assert all(np.array_equal(each, one) for each in shown)


def test_objects_in_a_picture_lie_side_by_side_on_the_table() -> None:
    """Every object shows its colour, and half way to its neighbours it is only the table."""
    picture = draw(Scene(4)).astype(int)
    colours = [picture[275, 198 + 84 * place // 2].tolist() for place in (-3, -1, 1, 3)]
    assert len(set(map(tuple, colours))) == 4
    for column in (114, 198, 282):
        assert abs(picture[225:295, column] - (217, 204, 186)).max() <= 2


def test_every_object_in_a_picture_has_a_letter_of_its_own_in_its_middle() -> None:
    """In white, on the machine and on the table."""
    for placed in (0b0000, 0b0101):
        white = draw(Scene(4, placed)).min(axis=2) > 252
        seen = []
        for number in range(4):
            x, y = 72 + 84 * number, 108 if placed >> number & 1 else 256
            letter = white[y - 16 : y + 16, x - 16 : x + 16]
            assert letter.sum() >= 20  # pixels
            assert np.abs(np.median(letter.nonzero(), axis=1) - 15.5).max() <= 3
            seen.append(letter)
        assert all((one != other).any() for one, other in itertools.combinations(seen, 2))


@pytest.mark.parametrize("value", [2, 256, -1, 0.7])
@pytest.mark.parametrize("position", [0, 8])
def test_a_batch_with_an_invalid_action_is_refused(value: float, position: int) -> None:
    env = BlicketVectorEnv(2, objects=8, hypotheses=["conjunctive:AB"], reward_structure="quiz")
    env.reset(seed=0)
    actions: Any = np.zeros((2, 9), dtype=np.float64 if value == 0.7 else np.int64)
    actions[1, position] = value
    with pytest.raises(UserError, match="actions must be"):
        env.step(actions)


def test_same_step_autoreset_reports_the_finished_machine() -> None:
    env = BlicketVectorEnv(64, autoreset_mode="SameStep", max_steps=0)
    _, before = env.reset(seed=0)
    actions: Any = np.zeros(np.shape(env.action_space.sample()), dtype=np.int64)
    for _ in range(4):
        _, _, done, _, info = env.step(actions)
        if done.any():
            break
    assert (info["final_info"]["machine"] == before["machine"]).all()
    assert (info["machine"] != before["machine"]).any()


def test_hypotheses_are_normalised() -> None:
    spec = BlicketSpec(hypotheses=("conjunctive:BA", "disjunctive:AB~.1"))
    assert spec.hypotheses == ("conjunctive:AB", "disjunctive:AB~0.1")
    BlicketVectorEnv(2, hypotheses=["conjunctive:BA"]).reset(seed=0)


def test_a_batch_can_be_reset_to_a_named_machine() -> None:
    env = BlicketVectorEnv(3)
    _, info = env.reset(seed=0, options={"hypothesis": "disjunctive:C"})
    assert info["machine"].tolist() == [5, 5, 5]
    assert env.step(np.tile([1, 1, 0], (3, 1)))[0][:, 3].tolist() == [0, 0, 0]
    assert env.step(np.tile([0, 0, 1], (3, 1)))[0][:, 3].tolist() == [1, 1, 1]
    with pytest.raises(UserError, match="hypothesis must be one of"):
        env.reset(options={"hypothesis": "disjunctive:Z"})
    with pytest.raises(UserError, match="reset_mask must have shape"):
        env.reset(options={"reset_mask": np.ones(2, dtype=np.bool_)})
    for each in (env, BlicketEnv()):
        with pytest.raises(UserError, match=r"options may hold hypothesis.*, got .machine."):
            each.reset(options={"machine": 3})


def test_a_batch_takes_every_kind_of_seed() -> None:
    machines = []
    for seed in (7, np.int64(7)):
        env = BlicketVectorEnv(50)
        machines.append(env.reset(seed=seed)[1]["machine"].tolist())  # type: ignore[arg-type]
        assert env.np_random_seed == 7
    assert machines[0] == machines[1]
    BlicketVectorEnv(2).reset(seed=[1, None])


def test_what_a_step_returns_may_be_overwritten() -> None:
    env = BlicketVectorEnv(2, max_steps=0)
    env.reset(seed=0)
    actions: Any = np.ones((2, 3), dtype=np.int64)
    for ended in (False, True, False, False, True):  # the step after the last one is the reset
        seen, rewards, done, _, info = env.step(actions)
        assert done.tolist() == [ended] * 2
        for array in (seen, rewards, done, info["machine"]):
            array[:] = 0


def same_colours(frame: Any, colours: dict[tuple[int, int], tuple[int, int, int]]) -> bool:
    """Whether the picture has these colours at these points (x, y), up to rounding."""
    return all(np.abs(frame[y, x] - np.array(rgb)).max() <= 2 for (x, y), rgb in colours.items())


def test_a_picture_shows_objects_light_and_question() -> None:
    red, blue, yellow, dark = (227, 74, 69), (51, 133, 217), (255, 219, 64), (61, 69, 87)
    wall, table = (237, 242, 250), (217, 204, 186)
    # Points beside the letters: A on the machine and on the table, B on the table and around it.
    a_up, a_down, lamp, b_down, b_ring = (54, 90), (54, 238), (156, 178), (138, 256), (122, 256)
    lit = draw(Scene(3, placed=0b001, light=True))
    assert lit.shape == (300, 312, 3)
    assert same_colours(lit, {a_up: red, lamp: yellow, b_down: blue})
    off = draw(Scene(3))
    assert same_colours(off, {a_up: wall, a_down: red, lamp: dark, b_down: blue, b_ring: table})
    assert same_colours(off, {(20, 20): wall, (20, 290): table})
    assert same_colours(draw(Scene(3, asked=1)), {a_down: red, b_down: blue, b_ring: yellow})
    about_form = draw(Scene(3, asks_type=True))
    assert (about_form[160:196, 138:174] != off[160:196, 138:174]).any()
    env = BlicketEnv(render_mode="rgb_array", reward_structure="quiz-type")
    env.reset(seed=0)
    for _ in range(4):  # into the quiz, and three answers about objects
        env.step([0, 0, 0, 1])
    assert (env.render() == about_form).all()
    assert same_colours(draw(Scene(3, over=True)), {a_down: (232, 158, 160)})  # half faded
    assert draw(Scene(8)).shape == (300, 732, 3)


def test_the_picture_of_a_finished_episode_is_half_faded() -> None:
    env = BlicketEnv(render_mode="rgb_array", max_steps=0)
    env.reset(seed=0, options={"hypothesis": "disjunctive:C"})
    red, yellow = (227, 74, 69), (255, 219, 64)
    half_red, half_yellow = (232, 158, 160), (246, 230, 157)
    for a_up, lamp in ((red, yellow), (half_red, half_yellow)):
        env.step([1, 0, 1])
        assert same_colours(env.render(), {(54, 90): a_up, (156, 178): lamp})


def test_the_text_of_every_phase() -> None:
    env = BlicketEnv(render_mode="ansi", reward_structure="quiz-type", max_steps=1)
    env.reset(seed=0, options={"hypothesis": "disjunctive:C"})
    texts = [env.render()]
    for _ in range(7):
        env.step([1, 0, 1, 0])
        texts.append(env.render())
    assert [text.partition("\n")[0] for text in texts] == [
        "exploring, 0 steps taken",
        "exploring, 1 step taken",
        "exploring, 2 steps taken",
        "quiz: is A a blicket?",
        "quiz: is B a blicket?",
        "quiz: is C a blicket?",
        "quiz: what is the form of the machine?",
        "the episode is over",
    ]
    box = " ┏━━━━━━━━━━━━━━━┓\n ┃   {}   ┃\n ┗━━━━━━━━━━━━━━━┛\n"
    on, off = "   (A)       (C)\n", "        (B)\n"
    assert texts[1] == f"exploring, 1 step taken\n{on}{box.format('* LIGHT *')}{off}"
    quiet = f"\n\n{box.format(' . dark .')}   (A)  (B)  (C)\n"
    assert [text[text.index("\n") :] for text in texts[3:]] == [quiet] * 5
    baseline = BlicketEnv(render_mode="ansi", max_steps=0)
    baseline.reset(seed=0, options={"hypothesis": "disjunctive:C"})
    for _ in range(2):
        baseline.step([1, 0, 1])
    assert baseline.render() == f"the episode is over\n{on}{box.format('* LIGHT *')}{off}"
