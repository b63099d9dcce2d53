"""What all adapters share: splits, items made again, scores and rewards."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from trivium.adapters.episode import (
    Episode,
    Episodes,
    certificate,
    information_of,
    origin_of,
    score_of,
    split_item,
)
from trivium.auditing.overlap import held_out
from trivium.benchmarks import BENCHMARKS, load_task, recorded_item
from trivium.core.dialogue import next_reply
from trivium.core.errors import UserError
from trivium.core.task import PresentedItem, Task


def played(item: PresentedItem, solver: str) -> tuple[float, list[str]]:
    """The sum of all rewards of a built-in solver, and its replies."""
    episode, total = Episode(item), 0.0
    while not episode.dialogue.done:
        reply = next_reply(episode.dialogue, item.task.benchmark.solvers[solver])
        total += episode.step(reply).reward
    return total, episode.dialogue.replies


@pytest.mark.parametrize("name", BENCHMARKS)
def test_splits_share_no_structure(name: str) -> None:
    """Another seed of the test split shares none either, and no item is one of an evaluation."""
    task = load_task(name)
    train, test, other = (
        [split_item(task, split, seed, index) for index in range(20)]
        for split, seed in (("train", 7), ("test", 7), ("test", 8))
    )
    forms = [
        {
            (part, form)
            for item in items
            for part, form in (
                task.benchmark.parts(item.original)
                or {"item": task.benchmark.canonical(item.original)}
            ).items()
        }
        for items in (train, test, other)
    ]
    assert not forms[0] & (forms[1] | forms[2])
    assert {item.original.origin.seed >= 2**32 for item in train} == {True}
    assert {item.original.origin.seed < 2**32 for item in test} == {True}


def test_a_fifth_of_the_structures_is_held_out() -> None:
    task = load_task("identifying_variables")
    share = sum(held_out(task.benchmark, item.original) is True for item in task.items(300, 5))
    assert 35 <= share <= 85  # 60 are expected; others come up in one of 3,000 seeds


def test_splits_are_the_same_in_every_process() -> None:
    code = (
        "from trivium.adapters.episode import split_item\n"
        "from trivium.benchmarks import load_task\n"
        "task = load_task('identifying_variables')\n"
        "print([split_item(task, 'test', 3, index).original.origin.seed for index in range(4)])"
    )
    shown = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(shown) == 1


@pytest.mark.parametrize(("split", "seed"), [("train", -1), ("test", 2**32), ("eval", 0)])
def test_other_seeds_and_splits_are_refused(split: str, seed: int) -> None:
    with pytest.raises(UserError, match=r"^(seed must be in 0\.\.|split must be train or test)"):
        split_item(load_task("nhop_implicit"), split, seed, 0)


def test_a_split_without_structures_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    task = load_task("nhop_implicit")
    monkeypatch.setattr(type(task.benchmark), "parts", staticmethod(lambda item: {"one": 1}))
    sides = {held_out(task.benchmark, item.original) for item in task.items(3)}
    assert len(sides) == 1
    with pytest.raises(UserError, match="too few structures"):
        split_item(task, "train" if sides == {True} else "test", 0, 0)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_an_item_is_made_again_from_what_json_holds(name: str) -> None:
    item = load_task(name).item(5, 2**32 + 9)
    again = recorded_item(json.loads(json.dumps(origin_of(item))))
    assert (again.prompt, again.gold) == (item.prompt, item.gold)


def test_the_certificate_is_about_the_two_splits() -> None:
    found = certificate(load_task("nhop_implicit"), 7, 50)
    assert list(found["seeds"]) == [2**32 + 7, 7]
    assert int(found["space"]) > 2**64  # as text: other formats have no such integers
    same = {each["way"]: each["between"] for each in found["repeats"]}
    # Items of nhop are all alike but for names and order: that is how the names lose their meaning.
    alike = {"exact": 0, "renamed": 0, "renamed and reordered": 50}
    assert same == alike | {"chain of tokens": 0}


def test_the_certificate_counts_parts() -> None:
    found = certificate(load_task("blicket_prompts"), 7, 30)
    same = {each["way"]: each["between"] for each in found["repeats"]}
    assert same["new machine"] == 0


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
    task = load_task("blicket_game", "three-objects")
    for item in task.items(6, seed=2):
        total, replies = played(item, solver)
        scores = task.score(item, replies)
        bits, correct = scores["bits"], scores["correct"]
        assert bits is not None
        assert correct is not None
        unknown = 3.4594316186372973  # log2 of the 11 machines of three objects
        assert total == pytest.approx(correct + bits / unknown / 2)


def test_the_reward_of_a_question_is_its_score() -> None:
    task = load_task("identifying_variables")
    item = task.item(0)
    assert information_of(item, ["anything"]) is None
    for solver in ("oracle", "random"):
        total, replies = played(item, solver)
        assert total == task.score(item, replies)["correct"]


def test_episodes_take_one_item_after_the_other() -> None:
    episodes = Episodes("nhop_implicit", None, 0.5, {"hops": 4})
    with pytest.raises(UserError, match="call reset first"):
        _ = episodes.current
    indices = [
        episodes.start(split, seed, index).item.original.origin.index
        for split, seed, index in [
            ("train", None, None),
            ("train", None, None),
            ("test", 3, None),
            ("test", None, 9),
            ("test", None, None),
        ]
    ]
    assert indices == [0, 1, 0, 9, 10]
    last = split_item(episodes.task, "test", 3, 10)
    assert episodes.current.item.prompt == last.prompt
    assert episodes.current.item.original.origin.spec["hops"] == 4
