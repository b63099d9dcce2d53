"""Stub models have the skill that they are said to have, and answer over the real protocol."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("aiohttp")

from studies.example_reports import AUDITED, example_runs, reply_of, stub_server
from studies.small_model import SmallModel

import trivium
from trivium.auditing.stored import audit_verdict
from trivium.benchmarks import benchmark_names, get_benchmark


@pytest.mark.parametrize(("model", "low", "high"), [("careful", 0.8, 1.0), ("middling", 0.4, 0.75)])
def test_a_stub_model_composes_as_often_as_its_skill_says(
    model: str, low: float, high: float
) -> None:
    """0.99 and 0.9 to the power of 5 are 95% and 59%; the bounds leave out 1 in 1,000 runs."""
    task = trivium.load("nhop_implicit", hops=5)
    items = task.items(80, seed=3)
    scores = [task.score(item, reply_of(model, [item.prompt])[0])["correct"] for item in items]
    assert low < sum(score or 0.0 for score in scores) / 80 <= high


def test_stub_models_are_asked_as_real_ones_are() -> None:
    task = trivium.load("blicket_game")
    with stub_server() as url:
        result = trivium.evaluate(
            task,
            "stub/middling",
            items=3,
            seed=7,
            base_url=url,
            api="chat",
            backend="direct",
        )
    (summary,) = result.summaries
    assert (summary.failed, summary.items) == (0, 3)
    assert summary.tokens["reasoning_tokens"].total > 0


def test_every_prompt_of_the_small_model_has_a_stored_reply() -> None:
    """So that the pages can be made without the small model."""
    words = example_runs()["small"]
    items = int(words[words.index("--items") + 1])
    small = SmallModel()
    checked = 0
    for name in benchmark_names():
        benchmark = get_benchmark(name)
        for preset in [one for one in benchmark.presets if one in AUDITED[:3]]:
            task = trivium.load(name, preset=preset)
            assert audit_verdict(task) == "passed"
            for item in task.items(items, seed=7):
                answer = asyncio.run(small.reply({}, [item.prompt]))
                assert isinstance(answer["choices"][0]["message"]["content"], str)
                checked += 1
    assert checked == items * 3
