"""The conventions of reasoning-gym's own tests, on our datasets."""

from __future__ import annotations

import json
import re
from itertools import islice

import pytest

from tests.adapters import required

reasoning_gym = required("reasoning_gym")

from reasoning_gym.composite import DatasetSpec  # noqa: E402
from reasoning_gym.dataset import ReseedingDataset  # noqa: E402
from reasoning_gym.factory import DATASETS, get_score_answer_fn  # noqa: E402

import trivium.adapters.reasoning_gym as adapter  # noqa: E402
from trivium.adapters.episode import split_item  # noqa: E402
from trivium.benchmarks import load_task  # noqa: E402

NAMES = [
    "trivium_nhop_explicit",
    "trivium_nhop_implicit",
    "trivium_identifying_variables",
    "trivium_blicket_prompts",
]


def test_every_benchmark_that_asks_once_is_registered() -> None:
    assert [name for name in DATASETS if name.startswith("trivium_")] == NAMES
    adapter.register()  # again, without an error


@pytest.mark.parametrize("name", NAMES)
def test_items(name: str) -> None:
    dataset = reasoning_gym.create_dataset(name, size=10, seed=42)
    assert len(dataset) == 10
    for index, item in enumerate(dataset):
        assert item["metadata"]["source_dataset"] == name
        assert item["metadata"]["source_index"] == index
        assert isinstance(item["question"], str)
        assert isinstance(item["answer"], str)
        assert item["metadata"]["difficulty"]
        json.dumps(item)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_makes_the_same_items(name: str) -> None:
    one, same, other = (
        reasoning_gym.create_dataset(name, size=5, seed=seed) for seed in (42, 42, 43)
    )
    assert list(one) == list(same) == [one[index] for index in range(5)] == list(one)
    assert not {item["question"] for item in one} & {item["question"] for item in other}


@pytest.mark.parametrize("name", NAMES)
def test_scores(name: str) -> None:
    dataset = reasoning_gym.create_dataset(name, size=10, seed=1234)
    elsewhere = get_score_answer_fn(name)
    for item in dataset:
        assert dataset.score_answer(answer=item["answer"], entry=item) == 1.0
        assert elsewhere(item["answer"], json.loads(json.dumps(item))) == 1.0
        assert dataset.score_answer(answer=None, entry=item) == 0.0
        assert dataset.score_answer(answer="", entry=item) == 0.0
        assert dataset.score_answer(answer="nonsense", entry=item) == 0.0


def test_scores_of_wrong_answers_are_our_own() -> None:
    task = load_task("identifying_variables")
    dataset = reasoning_gym.create_dataset("trivium_identifying_variables", size=12, seed=3)
    answers = [re.sub("control: .*", "control: none", item["answer"]) for item in dataset]
    pairs = list(zip(answers, dataset, strict=True))
    scores = [dataset.score_answer(answer, item) for answer, item in pairs]
    items = [split_item(task, "train", 3, index) for index in range(12)]
    ours = [
        task.score(item, answer)["correct"] for item, answer in zip(items, answers, strict=True)
    ]
    assert scores == ours
    assert set(scores) == {0.0, 1.0}  # invalid hypotheses have no control variables


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 0}, "size must be at least 1"),
        ({"split": "eval"}, "split must be train or test"),
        ({"preset": "none"}, "unknown preset"),
        ({"fields": {"colour": 1}}, "unknown key 'colour'"),
        ({"fields": {"hops": 0}}, "hops"),
    ],
)
def test_wrong_configs_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        reasoning_gym.create_dataset("trivium_nhop_implicit", **options)


def test_splits_are_those_of_every_adapter() -> None:
    options = {"split": "test", "seed": 7, "size": 3, "fields": {"hops": 4}}
    dataset = reasoning_gym.create_dataset("trivium_nhop_implicit", **options)
    task = load_task("nhop_implicit", None, {"hops": 4})
    ours = [split_item(task, "test", 7, index) for index in range(3)]
    assert [item["question"] for item in dataset] == [item.prompt for item in ours]
    train = reasoning_gym.create_dataset("trivium_nhop_implicit", **options | {"split": "train"})
    assert not {item["question"] for item in train} & {item.prompt for item in ours}


def test_other_tools_of_the_library_take_them() -> None:
    mixed = reasoning_gym.create_dataset(
        "composite",
        size=6,
        seed=1,
        datasets=[DatasetSpec(name=name, weight=1, config={}) for name in NAMES[:2]],
    )
    assert all(mixed.score_answer(item["answer"], item) == 1.0 for item in mixed)
    endless = ReseedingDataset(
        reasoning_gym.create_dataset(NAMES[1], size=2, seed=2**32 - 1), chunk_size=2
    )
    questions = [item["question"] for item in islice(endless, 6)]
    assert len(set(questions)) == 6
