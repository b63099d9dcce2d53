"""Planted leaks are caught, clean items pass, and the error rates are those that are stated."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.audit.kinds import KINDS, NEW
from tests.audit.leaks import Constant, LeakSpec, Leaky, LeakyLabel, LeakySet
from trivium.auditing.engine import (
    ALARM,
    NOTHING,
    SELECT,
    Attack,
    Study,
    confirmation_size,
    cue,
    is_hopeless,
)
from trivium.auditing.engine import audit as run_audit
from trivium.auditing.outcomes import Outcome, binomial_tail, judge
from trivium.auditing.results import Audit
from trivium.auditing.samples import Bools, Sample, ranks
from trivium.auditing.trees import grow
from trivium.core.benchmark import Solver, Turn, by_name
from trivium.core.probes import Probe
from trivium.core.question import PlainView, Question


def names_of_caught(audit: Audit) -> str:
    return "; ".join(found.name for found in audit.cues if found.caught)


# What the leak shows in: one of these must be among the cues that are caught.
CAUGHT_BY = {
    "middle places": "answer: place;",
    "first place": "answer: place;",
    "never the first place": "answer: ruled out by place;",
    "odd number": "answer: parity of the number beside it, first mention;",
    "leading zero": "answer: leading zeros of the number beside it, first mention;",
    "decimals": "answer: decimals of the number beside it, first mention;",
    "negative number": "answer: negative of the number beside it, first mention;",
    "word before it": "answer: text piece",
    "longest name": "answer: rank by length of its name;",
    "spelling": "answer: last character of its name;",
    "capitals": "answer: capitals of its name;",
    "lexical rank": "answer: alphabetical rank;",
    "mention count": "answer: mentions;",
    "first mention": "answer: ",
    "last mention": "answer: ",
    "largest group": "answer: ",
    "column order": "answer: ",
    "column with decimals": "answer: share of whole numbers in its column;",
    "missing cell": "answer: missing cells in its column;",
    "index": "answer: place with item's index mod 3;",
    "xor of two features": "with",
    "xor of place and index": "with item's index mod 2",
}


QUICK = {  # one for each part of the engine; the others are slow
    "middle places",
    "never the first place",
    "word before it",
    "xor of two features",
    "divisible by three",
    "sign by seed",
    "place follows the one before",
    "marked in 15%",
    "letters in the name",
    "number and length",
    "label: wording",
    "yes/no: number mod 4",
    "yes/no: alphabetical order of two names",
    "yes/no: xor of two comparisons",
}
# Kinds of which the boosted trees on all features must be among the cues that are caught.
BY_TREES = {"middle places", "word before it", "xor of two features", "label: wording"}
TOYS = [name for name, kind in KINDS.items() if isinstance(kind.spec, LeakSpec)]


def test_there_are_enough_kinds_of_leaks() -> None:
    assert set(CAUGHT_BY) | QUICK <= set(TOYS)
    assert set(TOYS) >= NEW
    assert len(TOYS) - len(NEW) >= 48
    assert len(KINDS) - len(NEW) >= 70


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in TOYS],
)
def test_planted_leaks_are_caught(name: str) -> None:
    """The leaks of our own benchmarks are tested beside these."""
    audit = KINDS[name].audit(3, 200)
    assert audit.verdict == "caught"
    assert CAUGHT_BY.get(name, ": ") in names_of_caught(audit) + ";"
    assert name not in BY_TREES or ": learned probe" in names_of_caught(audit)


def test_trees_learn_what_several_features_say_together_and_nothing_from_noise() -> None:
    """What most of three columns among eight say: at most 1% of 2,000 new rows are wrong."""
    random = np.random.default_rng(4)
    codes, fresh = random.integers(0, 4, (2, 8, 2000)).astype(np.uint8)

    def most(of: Any) -> Any:
        return ((of[:3] > 1).sum(axis=0) > 1).astype(np.float32)

    trees = grow(codes, most(codes), 40, 4)
    assert np.mean((trees(fresh) > 0) != most(fresh)) <= 0.01
    # The first tree asks of each of the three whether it is above 1.
    assert {(0, 1), (1, 1), (2, 1)} <= set(trees.questions[0])
    # Labels at random: the log-odds of new rows stay near those of their share, a quarter.
    noise = (random.random(2000) < 0.25).astype(np.float32)
    odds = grow(codes, noise, 40, 4)(fresh)
    assert abs(float(odds.mean()) - math.log(1 / 3)) < 0.2
    assert float(odds.std()) < 0.5
    # Before the first tree, every row has those of the share itself.
    half = np.arange(2000) % 2 == 0
    assert set(grow(codes, half.astype(np.float32), 0, 4)(fresh).tolist()) == {0.0}


def test_a_leak_of_several_right_candidates_is_caught() -> None:
    audit = run_audit(LeakySet(), LeakSpec("middle places"), 3, 300, trees=12)
    assert "members: place" in names_of_caught(audit)
    assert {found.chance for found in audit.cues} == {0.5}


def test_a_leak_of_five_points_is_caught() -> None:
    """A sixth plus 5 points: 6% of the items have their answer in the first place on purpose."""
    audit = run_audit(Leaky(), LeakSpec("first place", 0.06), 3, 1500, trees=12)
    found = next(found for found in audit.cues if found.name == "answer: place")
    assert found.caught
    assert 0.18 < found.value < 0.25


@pytest.mark.parametrize("benchmark", [Leaky(), LeakyLabel(), LeakySet()])
@pytest.mark.parametrize("seed", [0, 1])
def test_clean_items_pass(benchmark: Leaky, seed: int) -> None:
    audit = run_audit(benchmark, LeakSpec(), seed, 250, trees=12)
    assert audit.passed, names_of_caught(audit)


def test_an_obvious_leak_ends_the_test_at_the_first_look() -> None:
    audit = run_audit(Leaky(), LeakSpec("middle places"), 3, 1200, trees=12)
    assert "answer: place;" in names_of_caught(audit) + ";"
    assert audit.items == 300  # one of four looks
    assert max(found.n for found in audit.cues if not found.confirmed) == 300


def test_a_test_goes_on_if_an_obvious_leak_is_not_confirmed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes: dict[str, list[int]] = {"test": [], "confirm": []}
    score = Study.score

    def scored(
        study: Study, part: str, attacks: Sequence[Attack], *asked: Any
    ) -> Sequence[Outcome]:
        found = score(study, part, attacks, *asked)
        first = part == "confirm" and not sizes[part]
        sizes[part].append(max(len(outcome.values) for outcome in found))
        return [NOTHING] * len(found) if first else found

    monkeypatch.setattr(Study, "score", scored)
    audit = run_audit(Leaky(), LeakSpec("middle places"), 3, 600, trees=12)
    assert audit.verdict == "caught"
    assert (sizes["test"], len(sizes["confirm"])) == ([300, 600], 2)
    assert audit.items == 600


def test_a_floor_below_the_best_constant_answer_is_caught() -> None:
    audit = run_audit(Constant(), LeakSpec(strength=0.65), 0, 400, trees=12)
    assert names_of_caught(audit) == "heads; answer: always 'heads'"
    assert run_audit(Constant(), LeakSpec(strength=0.5), 0, 400, trees=12).passed


def game_player(name: str, allowed_lift: float = 0.0) -> Solver:
    """A shortcut that knows the answer of two in three items."""

    def reply(turn: Turn) -> str:
        known = turn.stream.random() < 0.67
        return f"Answer: {turn.item.answer if known else 'nothing'}"

    return Solver(name, "", reply, "shortcut", omniscient=True, allowed_lift=allowed_lift)


def test_a_shortcut_may_reach_the_lift_that_it_is_allowed() -> None:
    class Allowed(Constant):
        multi_turn = True
        solvers = by_name([game_player("none"), game_player("half", 0.5), game_player("few", 0.05)])

    audit = run_audit(Allowed(), LeakSpec(strength=0.5), 0, 600, trees=12)
    limits = {found.name: round(found.chance, 3) for found in audit.cues if ":" not in found.name}
    assert limits == {"none": 0.53, "half": 0.75, "few": 0.53}
    assert names_of_caught(audit) == "none; few"


def test_an_audit_needs_no_extra() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None; import trivium.cli as c; c.main(sys.argv[1:])"
    )
    words = ["audit", "nhop_implicit", "--items", "100"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )
    assert "PASSED" in done.stdout


# Error rates, by simulation of what the verdict is made from.


def hits(generator: np.random.Generator, share: float, n: int) -> Outcome:
    return Outcome((generator.random(n) < share).astype(np.float64), 1 / 6)


def test_scores_are_tested_as_students_t() -> None:
    """The standard error is at least a third, so t is 1 or -1, with two degrees of freedom."""
    above, below = (Outcome(np.array([0.25, 0.5, 0.75]), chance) for chance in (1 / 6, 5 / 6))
    assert above.p == pytest.approx(0.5 - 0.5 / math.sqrt(3))
    assert below.p == pytest.approx(0.5 + 0.5 / math.sqrt(3))


def caught(tested: list[Outcome], fresh: Callable[[int], Outcome]) -> list[int]:
    """The numbers of the cues that an audit with these outcomes reports."""
    chosen = [number for number, outcome in enumerate(tested) if outcome.p < SELECT]
    error = ALARM / max(1, len(chosen))
    return [number for number in chosen if cue("", "", tested[number], fresh(number), error).caught]


def items_needed(chance: float) -> int:
    """The items of a test of hits against this chance."""
    return Outcome(np.empty(0), chance).needed(SELECT)


def test_at_most_one_clean_audit_in_a_hundred_raises_an_alarm() -> None:
    """800 audits of 50 cues: more than 19 alarms would come up with probability 0.0003."""
    generator = np.random.default_rng(1)
    alarms = 0
    for _ in range(800):
        tested = [hits(generator, 1 / 6, 200) for _ in range(50)]
        alarms += bool(caught(tested, lambda _: hits(generator, 1 / 6, 200)))
    assert alarms <= 19


def test_three_points_over_chance_are_seen() -> None:
    """One such cue among 40 clean ones, 150 audits: fewer than 134 come up with 0.002."""
    generator = np.random.default_rng(2)
    n = items_needed(1 / 6)
    shares = [1 / 6 + 0.03, *[1 / 6] * 40]
    seen = 0
    for _ in range(150):
        tested = [hits(generator, share, n) for share in shares]
        seen += 0 in caught(tested, lambda number: hits(generator, shares[number], n))
    assert seen >= 134


def test_looks_and_confirmation_see_three_points_with_95_percent_power() -> None:
    """1,000 cues of 3 points, in eight looks, then confirmed among three in eight more.

    95.2% are expected; fewer than 925 come up with probability 0.0003.
    """
    generator = np.random.default_rng(5)
    share = 1 / 6 + 0.03
    seen = 0
    for _ in range(1000):
        parts = []
        for level in (SELECT, ALARM / 3):
            n = Outcome(np.empty(0), 1 / 6).needed(level)
            whole = hits(generator, share, n)
            looks = (Outcome(whole.values[: n * look // 8], 1 / 6) for look in range(1, 8))
            parts.append(whole.p < level and not any(is_hopeless(o, level) for o in looks))
        seen += all(parts)
    assert seen >= 925


def test_most_useless_attacks_are_dropped_half_way() -> None:
    generator = np.random.default_rng(6)
    half = items_needed(1 / 6) // 2
    dropped = sum(is_hopeless(hits(generator, 1 / 6, half), SELECT) for _ in range(300))
    assert dropped >= 190  # 73% are expected


def test_strong_cues_are_confirmed_on_few_items_and_weak_ones_on_many() -> None:
    strong, weak = (Outcome((np.arange(1000) < n).astype(float), 1 / 6) for n in (1000, 197))
    assert confirmation_size([strong]) == 300
    assert confirmation_size([weak]) > 3000  # 3 points over a sixth
    assert confirmation_size([weak, strong]) == 300


def test_hopeless_attacks_are_dropped_and_real_ones_are_not() -> None:
    """Shortcuts with hit rates of 0.3 and 0.6 where 0.5 is the floor."""
    rates = {"below": 0.3, "above": 0.6}

    def player(name: str) -> Solver:
        def reply(turn: Turn) -> str:
            known = turn.stream.random() < rates[name]
            return f"Answer: {turn.item.answer if known else 'nothing'}"

        return Solver(name, "", reply, "shortcut", omniscient=True)

    class Played(Constant):
        solvers = by_name([player(name) for name in rates])

        def probes(self, item: Question, view: PlainView) -> Sequence[Probe]:
            return ()

    audit = run_audit(Played(), LeakSpec(strength=0.5), 0, 2400, trees=1)
    found = {cue.name: cue for cue in audit.cues}
    assert found["below"].n == 300  # one of eight looks
    assert found["above"].caught


@pytest.mark.parametrize("chance", [0.05, 0.125, 1 / 6, 0.25, 0.5, 0.8])
def test_the_power_is_that_of_the_exact_test(chance: float) -> None:
    """Both tests together, with three cues to confirm."""
    n = items_needed(chance)

    def passes(level: float) -> float:
        least = next(h for h in range(int(n * chance), n) if binomial_tail(h, n, chance) < level)
        return binomial_tail(least, n, chance + 0.03)

    assert passes(0.001) * passes(0.01 / 3) >= 0.95


def test_accuracy_is_tested_against_guesses_of_other_items() -> None:
    """Labels of which 70% are true, guesses that know nothing: p < 0.01 in 1% of 4,000 tests."""
    generator = np.random.default_rng(3)
    alarms = 0
    for _ in range(4000):
        truth, guess = generator.random(300) < 0.7, generator.random(300) < 0.6
        sample = without_features(truth[:, None])
        outcome = judge(sample, np.where(guess, 1, -1).astype(np.float32)[:, None])
        alarms += outcome.p < 0.01
    assert alarms <= 62  # 40 are expected, and more than 62 in one of 2,000 repetitions


def test_pairs_in_order_are_tested_with_items_as_units() -> None:
    """Six candidates, some of them right, scores that know nothing: p < 0.01 in 1% of tests."""
    generator = np.random.default_rng(4)
    right = generator.random((2000 * 100, 6)) < 0.4
    sample = without_features(right)
    outcome = judge(sample, generator.integers(0, 4, right.shape).astype(np.float32))
    parts = np.array_split(outcome.values, 2000)
    alarms = sum(Outcome(part, 0.5).p < 0.01 for part in parts)
    assert alarms <= 36  # 20 are expected, and more than 36 in one of 2,000 repetitions


def without_features(right: Bools) -> Sample:
    """A sample in which every item has the same candidates."""
    names = np.tile(np.arange(right.shape[1]), (len(right), 1))
    return Sample({}, {}, right, np.ones_like(right), names)


def test_features_that_are_constant_empty_or_known_already_tell_nothing() -> None:
    """What stands in the padding, here the second candidate of the last item, does not count."""
    there = np.array([[True, True], [True, True], [True, False]])

    def column(last: float, *others: float) -> NDArray[np.float32]:
        return np.array([*others, last], dtype=np.float32).reshape(3, 2)

    own = {
        "size": column(9, 1, 2, 3, 4, 5),
        "size again": column(0, 1, 2, 3, 4, 5),
        "constant": column(3, 2, 2, 2, 2, 2),
        "empty": column(*[np.nan] * 6),
    }
    number = np.arange(3, dtype=np.float32)
    sample = replace(
        without_features(there), of_candidate=own, of_item={"number": number}, there=there
    )
    assert sample.telling == ["size", "number"]
    assert replace(sample, of_item={"number": number, "same": number}).telling == sample.telling


def test_items_whose_candidates_are_all_right_or_all_wrong_are_not_judged() -> None:
    """There is nothing to choose in them, whatever a rule says."""
    right = np.array([[True, True, False], [True, True, True], [False, False, False]])
    assert without_features(right).judged.tolist() == [True, False, False]


def test_guesses_among_the_same_candidates_are_compared_with_their_shares() -> None:
    """Of two answers, one is right in three of four items: naming it always is no cue."""
    right = np.array([[True, False]] * 3 + [[False, True]])
    always = judge(without_features(right), np.array([[1, 0]] * 4, dtype=np.float32))
    assert (always.values.mean(), always.chance) == (0.75, 0.75)
    informed = judge(without_features(right), right.astype(np.float32))
    assert (informed.values.mean(), informed.chance) == (1.0, 0.625)


@pytest.mark.parametrize(("benchmark", "needed"), [(Leaky(), 4269), (LeakyLabel(), 7283)])
def test_an_audit_says_how_many_items_its_probes_need(benchmark: Leaky, needed: int) -> None:
    """A guess among six is right in a sixth of the items, and a yes or no in half of them."""
    audit = run_audit(benchmark, LeakSpec(), 0, 100, trees=1)
    assert (audit.items, audit.needed) == (100, needed)


def test_a_probe_that_only_the_training_items_ask_is_no_alarm() -> None:
    class Rare(Leaky):
        asked = 0

        def probes(self, item: Question, view: PlainView) -> Sequence[Probe]:
            self.asked += 1
            return [Probe("rare", ["a", "b"], [True, False])] if self.asked < 300 else []

    audit = run_audit(Rare(), LeakSpec(), 0, 100, trees=12)
    assert {found.n for found in audit.cues} == {0}
    assert not any(found.caught for found in audit.cues)


def test_ranks_count_ties_half() -> None:
    values = np.array([[[3.0], [1.0], [3.0], [np.nan]]], dtype=np.float32)
    assert ranks(values)[0, :3, 0].tolist() == [2.0, 0.5, 2.0]
    assert np.isnan(ranks(values)[0, 3, 0])
