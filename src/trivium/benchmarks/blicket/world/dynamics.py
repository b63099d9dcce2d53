"""The rules of Blicket-v0, written once as array functions and unrolled into one table.

The environment is a Mealy machine: a state is one integer (the hypothesis and the phase of the
episode), an action is one integer, and one lookup gives the next state, the observation, the
reward and whether the episode is over. The Gymnasium, vector and JAX environments all use it.

    spec = BlicketSpec(reward_structure="quiz")
    tables = make_tables(spec)
    state = tables.starts[0]                                  # machine 0, before the first step
    state, seen, reward, done = transition(tables, state, action=0b0011)     # A and B placed
    tables.observations[seen]                                 # the observation as floats

`Tables` is a NamedTuple of arrays, so it is a pytree for JAX; `transition` works on NumPy and JAX
arrays of states and actions.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.blicket.inference.hypotheses import (
    EXAMPLE_TESTS,
    FORMS,
    Space,
    rules_shown,
    space_of,
)
from trivium.benchmarks.blicket.world.spec import TYPE_REWARD, BlicketSpec
from trivium.core.errors import require

NOT_SURE = 2  # the answer about the form, after demonstrations, that it cannot be known
# An entry of the table, from its lowest bit: the next state, the observation, the reward.
STATE_BITS, OBSERVATION_BITS = 18, 10
STATE_MASK, OBSERVATION_MASK = (1 << STATE_BITS) - 1, (1 << OBSERVATION_BITS) - 1
REWARDS = 1 << 32 - STATE_BITS - OBSERVATION_BITS
MAX_ENTRIES = 1 << 25
Array = NDArray[np.integer[Any]]


class Tables(NamedTuple):
    """The unrolled rules; a pytree of arrays."""

    entries: Any  # uint32, [1 or 2, states * actions]: packed; row 1 has the light inverted
    rewards: Any  # float, [16]: the values that the reward part of an entry numbers
    observations: Any  # float32, [observations, width]
    noise: Any  # float32, [states]: the probability that the light is inverted
    starts: Any  # int32: the first states, of each machine in every order of the examples
    start_count: Any  # int32: how many of the starts are used; the rest is padding
    actions: Any  # int32: the number of actions
    over: Any  # int32: the state after the last step


def transition(tables: Tables, state: Any, action: Any, flip: Any = 0) -> tuple[Any, Any, Any, Any]:
    """The next state, the number of the observation, the reward, and whether the episode is over.

    `flip` is 1 where the light is inverted (noisy machines only).
    """
    entry = tables.entries[flip, state * tables.actions + action]
    after = (entry & STATE_MASK).astype(np.int32)
    seen = entry >> STATE_BITS & OBSERVATION_MASK
    reward = tables.rewards[entry >> STATE_BITS + OBSERVATION_BITS]
    return after, seen, reward, after == tables.over


class Lookup:
    """Tables as plain lists, in which one step at a time is faster than in arrays."""

    def __init__(self, tables: Tables) -> None:
        self.entries: list[list[int]] = tables.entries.tolist()
        self.rewards: list[float] = tables.rewards.tolist()
        self.starts: list[int] = tables.starts[: int(tables.start_count)].tolist()
        self.actions, self.over = int(tables.actions), int(tables.over)

    def step(self, state: int, action: int, flip: int = 0) -> tuple[int, int, float]:
        """The next state, the number of the observation, and the reward."""
        entry = self.entries[flip][state * self.actions + action]
        reward = self.rewards[entry >> STATE_BITS + OBSERVATION_BITS]
        return entry & STATE_MASK, entry >> STATE_BITS & OBSERVATION_MASK, reward


@lru_cache(maxsize=64)
def make_tables(spec: BlicketSpec, universe: tuple[str, ...] = ()) -> Tables:
    """The tables of a spec, as NumPy arrays.

    `universe` lists all machines in the tables, by default those of the spec; tables of the same
    universe have the same shape.
    """
    space = space_of(universe or spec.hypotheses, spec.objects)
    known = list(map(str, space))
    missing = [name for name in spec.hypotheses if name not in known]
    require(not missing, f"universe must hold every hypothesis, {', '.join(missing)} missing")
    over = len(space) * spec.states
    flips = 2 if space.noisy else 1
    size = flips * (over + 1) * spec.actions
    for value, limit, what in (
        (over, STATE_MASK, "states"),
        (size, MAX_ENTRIES, "entries of the table"),
    ):
        require(
            value <= limit,
            f"{len(space)} hypotheses make {value} {what}, more than {limit}: "
            f"choose fewer hypotheses, objects or steps",
        )
    flip, number, action = np.ogrid[:flips, :over, : spec.actions]
    state = decode(spec, number)
    phase, seen, reward, done = _rules(spec, space, state, action, flip)
    after = np.where(done, over, number - state.phase + phase)
    rewards = np.unique(np.append(reward, 0.0))
    # The last state: a step after the end changes nothing and has no reward.
    end = _pack(over, _question_seen(spec, np.array(spec.questions)), rewards.searchsorted(0.0))
    entries = np.full((flips, over + 1, spec.actions), end, dtype=np.uint32)
    entries[:, :over] = _pack(after, seen, rewards.searchsorted(reward))
    first = [known.index(name) * spec.states for name in spec.hypotheses]
    used = np.add.outer(first, spec.phases * np.arange(spec.orders)).reshape(-1)
    starts = np.zeros(len(space) * spec.orders, dtype=np.int32)
    starts[: used.size] = used
    noise = np.repeat([hypothesis.noise for hypothesis in space], spec.states)
    codes = np.arange(1 << spec.width)[:, None]
    return Tables(
        entries=entries.reshape(flips, -1),
        rewards=np.pad(rewards, (0, REWARDS - len(rewards))),
        observations=(codes >> np.arange(spec.width) & 1).astype(np.float32),
        noise=np.append(noise, 0).astype(np.float32),
        starts=starts,
        start_count=np.int32(used.size),
        actions=np.int32(spec.actions),
        over=np.int32(over),
    )


def _pack(after: Any, seen: Any, reward: Any) -> Any:
    return after | seen << STATE_BITS | reward << STATE_BITS + OBSERVATION_BITS


class State(NamedTuple):
    """The parts of a state's number; all are arrays if the number is one."""

    machine: Any  # the number of the hypothesis; their count after the end
    order: Any  # of the example machines
    phase: Any  # the demonstrations, then every step count with every set, then the questions
    count: Any  # steps taken while exploring
    on_machine: Any  # the set that a child has left on the machine
    question: Any  # the number of the question asked; negative before the first


def decode(spec: BlicketSpec, number: Any) -> State:
    """The parts of a state's number."""
    machine, rest = number // spec.states, number % spec.states
    order, phase = rest // spec.phases, rest % spec.phases
    exploring = np.maximum(phase - spec.shown, 0)
    count, on_machine = exploring // spec.positions, exploring % spec.positions
    return State(machine, order, phase, count, on_machine, phase - spec.first_question)


def _rules(
    spec: BlicketSpec, space: Space, state: State, action: Array, flip: Array
) -> tuple[Array, Array, NDArray[np.float64], NDArray[np.bool_]]:
    """The next phase, the observation, the reward, and whether the episode is over."""
    placed, checked, wants_quiz = _decode_action(spec, state.on_machine, action)
    lit = checked & (space.fires[state.machine, placed] ^ (flip == 1))
    light_reward = np.where(lit, spec.detector_reward, 0.0)
    penalty = spec.step_reward_penalty if spec.add_step_reward_penalty else 0.0
    stays = placed if spec.interface == "child" else 0 * placed
    onward = spec.shown + (state.count + 1) * spec.positions + stays
    shown = placed | lit.astype(np.int64) << spec.objects
    late = state.count > spec.max_steps
    if not spec.has_quiz:
        return onward, shown, light_reward - penalty, late | wants_quiz
    showing = state.phase < spec.shown  # a demonstration, whatever the action
    answering = state.question >= 0
    leaves = late | wants_quiz & (state.count > spec.quiz_disabled_steps)
    exploring = ~showing & ~answering & ~leaves
    next_question = np.where(answering, state.question + 1, 0)
    bonus = light_reward if spec.add_detector_state_reward_for_quiz else 0.0
    right = _is_right(spec, space, state, action)
    earned = np.where(right, spec.quiz_positive_reward, spec.quiz_negative_reward)
    about_type = state.question == spec.asks_objects
    earned = np.where(about_type, np.where(right, TYPE_REWARD, -TYPE_REWARD), earned)
    phase = np.where(exploring, onward, spec.first_question + next_question)
    seen = np.where(exploring, shown, _question_seen(spec, next_question))
    reward = np.where(answering, earned, np.where(showing | exploring, 0.0, bonus - penalty))
    if spec.has_examples:
        examples = np.array([examples_seen(spec, order) for order in range(spec.orders)])
        example = examples[state.order, np.minimum(state.phase, spec.shown - 1)]
        phase = np.where(showing, state.phase + 1, phase)
        seen = np.where(showing, example, seen)
    return phase, seen, reward, answering & (next_question == spec.questions)


def examples_seen(spec: BlicketSpec, order: int) -> list[int]:
    """The observations, as numbers, of the demonstrations in one of their orders."""
    light, flags = 1 << spec.objects, spec.objects + 1
    return [
        sum(1 << number for number in placed) | light * lit | 1 << flags + example
        for example, rule in enumerate(rules_shown(spec.demonstrations == "given", order == 1))
        for placed, lit in EXAMPLE_TESTS[rule]
    ]


def _decode_action(
    spec: BlicketSpec, on_machine: Array, action: Array
) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
    """The set that an action places, whether it is tested, and the quiz bit."""
    if spec.interface == "child":
        toggled = np.where(action < spec.objects, 1 << np.minimum(action, spec.objects), 0)
        return on_machine ^ toggled, action == spec.objects, action == spec.objects + 1
    placed = action & (1 << spec.objects) - 1
    return placed, placed >= 0, action >> spec.objects == 1


def _is_right(spec: BlicketSpec, space: Space, state: State, action: Array) -> NDArray[np.bool_]:
    """Whether the answer is right: yes or no about an object, or the number of the form.

    With the paper's two forms bit 0 is the form's number; with more forms bits 0 to 2 are. After
    demonstrations bits 0 and 1 say which example machine the new one is like, or "not sure".
    A child says yes by the object's own action, and a form by its number.
    """
    question = np.maximum(state.question, 0)
    blickets = np.array([hypothesis.blickets for hypothesis in space])[state.machine]
    forms = np.array([FORMS.index(hypothesis.form) for hypothesis in space])[state.machine]
    if spec.has_examples:
        forms = forms ^ state.order if spec.demonstrations == "given" else 0 * forms + NOT_SURE
    child = spec.interface == "child"
    yes = action == question if child else action >> question & 1 == 1
    named = action if child else action & (1 << spec.type_bits) - 1
    right_about_object = yes == (blickets >> question & 1 == 1)
    return np.asarray(np.where(question < spec.asks_objects, right_about_object, named == forms))


def _question_seen(spec: BlicketSpec, question: Array) -> Array:
    """The observation with a question: the object asked about, and the quiz flag."""
    asked = np.where(question < spec.asks_objects, 1 << np.minimum(question, spec.objects), 0)
    return asked | spec.has_quiz << spec.width - 1
