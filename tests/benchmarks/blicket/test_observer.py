"""The ideal observer against brute force, and against every known figure."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.benchmarks.blicket.inference.explore import EXPLORERS, Planner, planner, progress
from trivium.benchmarks.blicket.inference.hypotheses import (
    ALL_ELEVEN,
    CONJUNCTIVE_THREE,
    DEFAULT_SIX,
    DISJUNCTIVE_THREE,
    Hypothesis,
    Space,
    lights,
    make_space,
    parse,
    space_of,
)
from trivium.benchmarks.blicket.inference.observer import (
    Trial,
    blicket_probability,
    entropy,
    family_probability,
    hierarchical_prior,
    information_gain,
    measure,
    posterior,
    quiz_reward,
    settled,
)
from trivium.core.errors import UserError

SIX, ELEVEN = space_of(DEFAULT_SIX), space_of(ALL_ELEVEN)
ODD = make_space(3, ("conjunctive", "disjunctive", "threshold-2", "parity", "inhibitor"))
NOISY = make_space(3, ("conjunctive", "disjunctive", "parity"), noise=0.1)
SPACES = {"six": SIX, "eleven": ELEVEN, "odd": ODD, "noisy": NOISY}


def enumerated(space: Space, trials: Sequence[Trial]) -> list[float]:
    """The posterior by plain multiplication in plain Python."""
    weights = list(space.prior) or [1.0] * len(space)
    for number, hypothesis in enumerate(space):
        for placed, light in trials:
            chance = lights(hypothesis, placed)
            weights[number] *= chance if light else 1 - chance
    return [weight / sum(weights) for weight in weights]


@given(st.sampled_from(sorted(SPACES)), st.data())
def test_posterior_equals_enumeration(name: str, data: st.DataObject) -> None:
    space = SPACES[name]
    true = data.draw(st.sampled_from(space.hypotheses))
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(space), max_size=len(space)))
    space = Space(space.hypotheses, tuple(map(float, weights)))
    trials = []
    for placed in data.draw(st.lists(st.integers(0, 7), max_size=6)):
        wrong = true.noise > 0 and data.draw(st.booleans())
        trials.append((placed, (lights(true, placed) > 0.5) != wrong))
    found = posterior(space, trials)
    np.testing.assert_allclose(found, enumerated(space, trials), atol=1e-12)
    shuffled = data.draw(st.permutations(trials))
    np.testing.assert_allclose(posterior(space, shuffled), found, atol=1e-12)
    marginal = [
        sum(p for p, each in zip(found, space, strict=True) if each.blickets >> bit & 1)
        for bit in range(3)
    ]
    np.testing.assert_allclose(blicket_probability(space, found), marginal, atol=1e-12)
    assert math.isclose(sum(family_probability(space, found).values()), 1)


@pytest.mark.parametrize("name", sorted(SPACES))
def test_information_gain_is_the_expected_fall_of_entropy(name: str) -> None:
    space = SPACES[name]
    belief = posterior(space, [(1, False)])
    for placed, gain in enumerate(information_gain(space, belief)):
        after = 0.0
        for light in (True, False):
            column = space.likelihood[:, placed]
            chance = float(belief @ (column if light else 1 - column))
            if chance > 0:
                after += chance * entropy(posterior(space, [(1, False), (placed, light)]))
        assert math.isclose(gain, entropy(belief) - after, abs_tol=1e-9)


def exhaustive_tests(space: Space, left: frozenset[Hypothesis]) -> Fraction:
    """The fewest expected tests, by trying every test on every set of hypotheses left."""
    if len(left) == 1:
        return Fraction(0)
    best = None
    for placed in range(1 << space.objects):
        lit = frozenset(each for each in left if lights(each, placed) == 1)
        if lit and lit != left:
            cost = Fraction(1)
            for part in (lit, left - lit):
                cost += Fraction(len(part), len(left)) * exhaustive_tests(space, part)
            best = cost if best is None else min(best, cost)
    assert best is not None
    return best


def exhaustive_reward(left: frozenset[Hypothesis], tests: int) -> Fraction:
    """The best expected quiz reward, by trying every sequence of tests."""
    count = len(left)
    yes = [sum(each.blickets >> bit & 1 for each in left) for bit in range(3)]
    best = sum((Fraction(abs(2 * each - count), count) for each in yes), Fraction(0))
    for placed in range(8) if tests else ():
        lit = frozenset(each for each in left if lights(each, placed) == 1)
        if lit and lit != left:
            parts = (lit, left - lit)
            shares = [Fraction(len(part), count) for part in parts]
            values = [exhaustive_reward(part, tests - 1) for part in parts]
            best = max(best, shares[0] * values[0] + shares[1] * values[1])
    return best


KNOWN = [
    (SIX, Fraction(8, 3), 3, ["0", "5/3", "7/3", "3"]),
    (ELEVEN, Fraction(39, 11), 4, ["9/11", "1", "21/11", "27/11", "3"]),
    (space_of(CONJUNCTIVE_THREE), Fraction(5, 3), 2, ["1", "5/3", "3"]),
    (space_of(DISJUNCTIVE_THREE), Fraction(5, 3), 2, ["1", "5/3", "3"]),
]


@pytest.mark.parametrize(("space", "tests", "worst", "rewards"), KNOWN)
def test_known_ceilings(space: Space, tests: Fraction, worst: int, rewards: list[str]) -> None:
    """The figures of the design, the planner and exhaustive search agree."""
    everything = frozenset(space)
    assert exhaustive_tests(space, everything) == tests
    assert math.isclose(planner(space).fewest_tests(space.belief), tests)
    found = progress(space, EXPLORERS["optimal"], tests=worst)
    assert math.isclose(found.expected_tests, tests)
    assert found.known[worst] > 1 - 1e-12 > found.known[worst - 1]
    for made, reward in enumerate(map(Fraction, rewards)):
        assert exhaustive_reward(everything, made) == reward
        assert math.isclose(planner(space).best_reward(space.belief, made), reward, abs_tol=1e-12)


def test_greedy_is_never_better_than_optimal_and_here_as_good() -> None:
    """On the paper's spaces the greedy explorer loses nothing in expected tests."""
    for space, tests, worst, _ in KNOWN:
        greedy = progress(space, EXPLORERS["information_gain"], tests=worst + 1)
        assert greedy.expected_tests >= float(tests) - 1e-12
        assert math.isclose(greedy.expected_tests, tests)


def test_greedy_can_lose() -> None:
    """Six machines whose most informative first test is not the best one: 17/6 against 8/3."""
    names = "conjunctive:AB inhibitor:AC-B inhibitor:C-A parity:BC inhibitor:B-A inhibitor:C-AB"
    space = space_of(names.split())
    greedy = progress(space, EXPLORERS["information_gain"], tests=6).expected_tests
    assert math.isclose(greedy, 17 / 6)
    assert exhaustive_tests(space, frozenset(space)) == Fraction(8, 3)
    assert math.isclose(progress(space, EXPLORERS["optimal"], tests=6).expected_tests, 8 / 3)


def test_optimal_exploration_of_a_mixed_space_equals_exhaustive_search() -> None:
    texts = ["conjunctive:AB", "parity:ABC", "inhibitor:A-C", "threshold-2:ABC", "disjunctive:B"]
    space = space_of(texts)
    found = planner(space).fewest_tests(space.belief)
    assert math.isclose(found, exhaustive_tests(space, frozenset(space)))


def test_explorers_that_never_reach_certainty_need_infinite_tests() -> None:
    never = progress(SIX, EXPLORERS["one_at_a_time"], tests=12)
    assert never.expected_tests == math.inf
    assert math.isclose(never.known[-1], 0.5)  # the three disjunctive machines
    slow = progress(SIX, EXPLORERS["random"], tests=300)
    assert 8 / 3 < slow.expected_tests < math.inf
    with pytest.raises(UserError, match="never known for certain"):
        planner(NOISY).fewest_tests(NOISY.belief)


def test_searches_that_take_too_long_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.benchmarks.blicket.inference.explore.MAX_WORK", 1000)
    space = make_space(4)
    with pytest.raises(UserError, match="26 machines over 4 objects are too many"):
        Planner(space).fewest_tests(space.belief)


def test_random_exploration_equals_enumeration() -> None:
    """All 8^2 pairs of random tests, each weighed the same."""
    total = 0.0
    for true, *placed in itertools.product(SIX, range(8), range(8)):
        trials = [(each, lights(true, each) == 1) for each in placed]
        total += quiz_reward(SIX, posterior(SIX, trials)) / (6 * 64)
    found = progress(SIX, EXPLORERS["random"], tests=2).reward[2]
    assert math.isclose(found, total, abs_tol=1e-12)


def test_noisy_rewards_never_fall_with_more_tests() -> None:
    space = make_space(3, noise=0.1)
    values = [planner(space).best_reward(space.belief, tests) for tests in range(4)]
    assert values == sorted(values)
    exact = [planner(ELEVEN).best_reward(ELEVEN.belief, tests) for tests in range(4)]
    assert all(noisy <= clear + 1e-12 for noisy, clear in zip(values, exact, strict=True))


def test_training_machines_change_the_prior() -> None:
    """Worked by hand: Dirichlet(1/2, 1/2) and one machine known to be conjunctive: 3/4, 1/4."""
    known = [(1, False), (2, False), (3, True)]  # neither A nor B alone, but both: conjunctive
    changed = hierarchical_prior(SIX, [(SIX, known)], concentration=1.0)
    shares = family_probability(changed, changed.belief)
    assert math.isclose(shares["conjunctive"], 3 / 4)
    assert math.isclose(shares["disjunctive"], 1 / 4)
    both = [(SIX, known), (SIX, [(1, True), (2, False)])]  # one of each: nothing leans
    even = hierarchical_prior(SIX, both)
    assert math.isclose(family_probability(even, even.belief)["conjunctive"], 0.5)


@given(st.lists(st.sampled_from(range(11)), max_size=4), st.sampled_from([0.2, 1.0, 7.0]))
def test_hierarchical_prior_equals_enumeration(seen: list[int], concentration: float) -> None:
    """Every assignment of families to the training machines, by the chain rule."""
    machines = [ELEVEN.hypotheses[number] for number in seen]
    training = [
        (ELEVEN, [(3, lights(each, 3) == 1), (4, lights(each, 4) == 1)]) for each in machines
    ]
    forms = list(family_probability(ELEVEN, ELEVEN.belief))
    base = concentration * np.array(list(family_probability(ELEVEN, ELEVEN.belief).values()))
    expected = np.zeros(2)
    for assigned in itertools.product(range(2), repeat=len(machines)):
        weight, counts = 1.0, np.zeros(2)
        for (space, trials), family in zip(training, assigned, strict=True):
            weight *= (base + counts)[family] / (base + counts).sum()
            own = [each for each in space if each.family == forms[family]]
            fits = [all((lights(each, on) == 1) == lit for on, lit in trials) for each in own]
            weight *= sum(fits) / len(own)
            counts[family] += 1
        expected += weight * (base + counts) / (base + counts).sum()
    changed = hierarchical_prior(ELEVEN, training, concentration)
    found = list(family_probability(changed, changed.belief).values())
    np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-12)


def test_measures_of_a_trajectory() -> None:
    """A, A again, B, AC, then C, on conjunctive AC among the six: worked by hand."""
    true = parse("conjunctive:AC")
    trials = [(placed, lights(true, placed) == 1) for placed in (1, 1, 2, 5, 4)]
    found = measure(SIX, trials)
    assert [step.left for step in found.steps] == [5, 5, 4, 2, 1]
    assert [step.redundant for step in found.steps] == [False, True, False, False, False]
    assert found.redundant == 1
    assert found.tests_to_certainty == 5
    assert math.isclose(found.bits, math.log2(6))
    assert found.steps[1].share == 0
    assert found.share == pytest.approx((0.6500224 + 0 + 0.7435271 + 1 + 1) / 5)
    assert [step.entropy for step in found.steps] == pytest.approx(
        [math.log2(5), math.log2(5), 2, 1, 0], abs=1e-12
    )
    assert math.isclose(found.steps[0].bits, math.log2(6 / 5))


def test_a_first_test_can_be_redundant() -> None:
    found = measure(SIX, [(0, False), (7, True), (3, True)])
    assert [step.redundant for step in found.steps] == [True, True, False]
    assert found.redundant == 2
    assert found.bits == pytest.approx(1)


def test_measures_after_certainty_have_no_share() -> None:
    true = parse("disjunctive:A")
    found = measure(SIX, [(1, lights(true, 1) == 1), (7, True)])
    assert found.tests_to_certainty == 1
    assert found.steps[1].share is None
    assert found.share == pytest.approx(0.6500224)  # of the only test with something to gain
    assert found.steps[1].redundant


def test_each_test_of_the_six_doubles_the_right_guesses() -> None:
    """AB divides the six into two threes, the next test each of them, the third what is left."""
    found = progress(SIX, EXPLORERS["optimal"], 3)
    assert found.correct == pytest.approx([1 / 6, 2 / 6, 4 / 6, 1])
    same = space_of(["conjunctive:A", "disjunctive:A", "disjunctive:B"])
    assert progress(same, EXPLORERS["optimal"], 1).correct == pytest.approx([2 / 3, 1])


def test_impossible_evidence_is_refused() -> None:
    with pytest.raises(UserError, match="nothing with light"):
        posterior(SIX, [(0, True)])


def test_equivalent_machines_count_as_one() -> None:
    space = space_of(["conjunctive:A", "disjunctive:A"])
    assert settled(space, space.belief)
    assert planner(space).fewest_tests(space.belief) == 0


def test_exact_inference_for_eight_objects_and_every_form() -> None:
    rules = ("conjunctive", "disjunctive", "threshold-2", "parity", "inhibitor")
    space = make_space(8, rules, noise=0.05)
    true = parse("inhibitor:AC-H~0.05")
    trials = [(placed, lights(true, placed) > 0.5) for placed in range(256)]
    belief = posterior(space, trials * 2)
    assert space.hypotheses[int(belief.argmax())] == true
    assert information_gain(space, space.belief).shape == (256,)


def test_explorers_prefer_few_objects_and_then_the_first_letters() -> None:
    """Of the six, pairs are best; of the eleven, A is as good as any; C is simpler than AB."""
    two = space_of(["disjunctive:C", "conjunctive:AB"])
    for space, best in ((SIX, 0b011), (ELEVEN, 0b001), (two, 0b100)):
        for name in ("information_gain", "optimal"):
            assert EXPLORERS[name](space, space.belief, 0) == [best]
    chosen = [EXPLORERS["one_at_a_time"](SIX, SIX.belief, n) for n in range(5)]
    assert chosen == [[1], [2], [4], [1], [2]]
