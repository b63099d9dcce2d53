"""What all adapters share: splits, items made again, scores and rewards."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.adapters.episode import (
    Episode,
    Episodes,
    certificate,
    information_of,
    item_of,
    origin_of,
    score_of,
    split_seed,
)
from trivium.benchmarks import BENCHMARKS, load_task
from trivium.core.dialogue import next_reply
from trivium.core.errors import UserError
from trivium.core.task import PresentedItem, Task

SEEDS = st.integers(0, 2**32 - 1)


def played(item: PresentedItem, solver: str) -> tuple[float, list[str]]:
    """The sum of all rewards of a built-in solver, and its replies."""
    episode, total = Episode(item), 0.0
    while not episode.dialogue.done:
        reply = next_reply(episode.dialogue, item.task.benchmark.solvers[solver])
        total += episode.step(reply).reward
    return total, episode.dialogue.replies


@given(SEEDS, SEEDS)
def test_no_seed_of_training_is_one_of_an_evaluation(one: int, other: int) -> None:
    assert split_seed("train", one) != split_seed("eval", other)
    assert split_seed("eval", one) == one
    assert (split_seed("train", one) == split_seed("train", other)) == (one == other)


@pytest.mark.parametrize(("split", "seed"), [("train", -1), ("eval", 2**32), ("test", 0)])
def test_other_seeds_and_splits_are_refused(split: str, seed: int) -> None:
    with pytest.raises(UserError, match=r"^(seed must be in 0\.\.|split must be train or eval)"):
        split_seed(split, seed)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_an_item_is_made_again_from_what_json_holds(name: str) -> None:
    item = load_task(name).item(5, 2**32 + 9)
    again = item_of(json.loads(json.dumps(origin_of(item))))
    assert (again.prompt, again.gold) == (item.prompt, item.gold)


def test_the_certificate_is_about_the_two_splits() -> None:
    found = certificate(load_task("nhop_implicit"), 7, 50)
    assert list(found["seeds"]) == [2**32 + 7, 7]
    assert int(found["space"]) > 2**64  # as text: other formats have no such integers
    same = {each["way"]: each["between"] for each in found["repeats"]}
    # Items of nhop are all alike but for names and order: that is how the names lose their meaning.
    assert same == {"exact": 0, "renamed": 0, "renamed and reordered": 50}


def test_the_certificate_shows_items_that_both_splits_have() -> None:
    found = certificate(load_task("blicket_game", "paper"), 7, 50)  # six machines in all
    assert found["repeats"][-1]["between"] == 50


def test_a_call_that_failed_is_not_scored() -> None:
    item = load_task("nhop_implicit").item(0)
    with pytest.raises(UserError, match="has no reply"):
        score_of(item, [])
    assert score_of(item, [""]) == 0.0  # an empty reply is an answer that cannot be read
    assert score_of(item, [item.gold]) == 1.0


def test_an_undefined_score_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    item = load_task("nhop_implicit").item(0)
    monkeypatch.setattr(Task, "score", lambda *_: {"correct": None})
    with pytest.raises(UserError, match="correct is not defined"):
        score_of(item, ["E_0001"])


@pytest.mark.parametrize("solver", ["optimal", "posterior", "constant_answer"])
def test_rewards_of_a_game_add_up_to_score_and_half_the_information(solver: str) -> None:
    task = load_task("blicket_game", "four-objects")
    for item in task.items(6, seed=2):
        total, replies = played(item, solver)
        scores = task.score(item, replies)
        bits, correct = scores["bits"], scores["correct"]
        assert bits is not None
        assert correct is not None
        unknown = 4.700439718141092  # log2 of the 26 machines of four objects
        assert total == pytest.approx(correct + bits / unknown / 2)


def test_the_reward_of_a_question_is_its_score() -> None:
    task = load_task("identifying_variables")
    item = task.item(0)
    assert information_of(item, ["anything"]) is None
    for solver in ("oracle", "random"):
        total, replies = played(item, solver)
        assert total == task.score(item, replies)["ctrl_nDCG"]


def test_episodes_take_one_item_after_the_other() -> None:
    episodes = Episodes("nhop_implicit", None, 0.5, {"hops": 4})
    with pytest.raises(UserError, match="call reset first"):
        _ = episodes.current
    indices = [
        episodes.start(split, seed, index).item.original.origin.index
        for split, seed, index in [
            ("train", None, None),
            ("train", None, None),
            ("eval", 3, None),
            ("eval", None, 9),
            ("eval", None, None),
        ]
    ]
    assert indices == [0, 1, 0, 9, 10]
    assert episodes.current.item.original.origin.seed == 3
    assert episodes.current.item.original.origin.spec["hops"] == 4
