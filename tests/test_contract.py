"""Every registered benchmark keeps the contract, and broken benchmarks are noticed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType

import orjson
import pytest

import trivium
from trivium.benchmarks import benchmark_names, get_benchmark, load_task
from trivium.benchmarks.contract import (
    CHECKS,
    ContractError,
    check_benchmark,
    writing_and_parsing_are_inverse,
)
from trivium.core.benchmark import AnyBenchmark, ChartAxis, Floor, Solver, by_name
from trivium.core.dialogue import solve
from trivium.core.errors import UserError
from trivium.core.files import dump_line
from trivium.core.probes import Probe
from trivium.core.question import PlainView, Question, QuestionBenchmark, oracle, random_option
from trivium.core.records import Scores
from trivium.core.streams import Stream
from trivium.core.task import PresentedItem, Task

Check = Callable[[AnyBenchmark], None]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", benchmark_names())
def test_registered_benchmark(name: str, check: Check) -> None:
    assert get_benchmark(name).name == name
    check(get_benchmark(name))


def test_items_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "import hashlib; from trivium.benchmarks import benchmark_names, get_benchmark\n"
        "for b in map(get_benchmark, benchmark_names()):\n"
        "  for s in b.presets.values():\n"
        "    for item in b.generate(s, 5, 0, 20):\n"
        "      print(hashlib.sha256(b.render(item, b.view_type()).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "4242")
    }
    assert len(digests) == 1
    assert len(digests.pop().split()) >= 20 * len(benchmark_names())


@pytest.mark.parametrize("name", benchmark_names())
def test_the_digest_of_an_item_is_that_of_its_row_in_a_file(name: str) -> None:
    """Equal for every trial and after reading the item back, and different for other items."""
    task = load_task(name)
    first, second = task.items(2)
    row = orjson.loads(dump_line(task.benchmark.to_row(first.original)))
    again = PresentedItem(task, task.benchmark.from_row(row, 0), trial=2)
    assert again.digest == first.digest != second.digest
    record = solve(first, next(iter(task.benchmark.solvers.values())))
    assert (record.digest, record.version) == (first.digest, task.benchmark.version)
    assert record.trivium == trivium.__version__


@pytest.mark.parametrize("name", benchmark_names())
def test_items_are_generated_from_the_first_one_by_default(name: str) -> None:
    benchmark, task = get_benchmark(name), load_task(name)
    (item,) = benchmark.generate(task.spec, 7)
    first = task.item(0, 7).original
    assert dump_line(benchmark.to_row(item)) == dump_line(benchmark.to_row(first))
    assert (item.origin.seed, item.origin.index) == (7, 0)


@dataclass(frozen=True)
class CoinSpec:
    """No fields."""


class Coin(QuestionBenchmark[CoinSpec]):
    """A coin that is shown: as small as a benchmark can be."""

    name = "coin"
    title = "say what the coin shows"
    spec_type = CoinSpec
    presets = MappingProxyType({"coin": CoinSpec()})
    solvers = by_name(
        [
            oracle(),
            random_option(),
            Solver("heads", "always heads", lambda turn: "Answer: heads", "shortcut"),
        ]
    )

    def question(self, spec: CoinSpec, stream: Stream) -> Question:
        side, number = stream.choice(("heads", "tails")), stream.below(10**9)
        return Question(f"Coin {number} shows {side}.", ("heads", "tails"), side)


class NoShortcut(Coin):
    solvers = by_name([oracle(), random_option()])


class Untitled(Coin):
    title = ""


class WrongFloor(Coin):
    def floor(self, spec: CoinSpec, view: PlainView) -> Floor:
        return Floor("random", 0.35)


class WeakCeiling(Coin):
    solvers = Coin.solvers | by_name(
        [Solver("sleepy", "says heads", lambda turn: "Answer: heads", "ceiling")]
    )


class AddedSeeds(Coin):
    def generate(
        self, spec: CoinSpec, seed: int, start: int = 0, count: int = 1
    ) -> Iterator[Question]:
        for index in range(start, start + count):
            made = next(super().generate(spec, seed + index))
            assert made.origin is not None
            yield Question(
                made.prompt, made.options, made.answer, {}, f"Q-{index:06d}", made.origin
            )


class TrustsFiles(Coin):
    def from_row(self, row: object, number: int) -> Question:
        assert isinstance(row, dict)
        item = next(self.generate(CoinSpec(), row["seed"], row["index"]))
        return Question(item.prompt, item.options, row["answer"], {}, item.id, item.origin)


class ReadsAnything(Coin):
    def parse(self, item: Question, replies: object, view: object) -> str | None:
        return "heads" if "tails" not in str(replies) else "tails"


class NoAnswerIsHalfRight(Coin):
    def score(self, item: Question, answer: str | None) -> Scores:
        return {"correct": 0.5} if answer is None else super().score(item, answer)


class NothingToAudit(NoShortcut):
    def probes(self, item: Question, view: PlainView) -> list[Probe]:
        return []


class UnreadGold(Coin):
    def parse(self, item: Question, replies: object, view: object) -> str | None:
        return None


class WrongAxis(Coin):
    chart_axes = (ChartAxis("weight"),)


class WrongHighlight(Coin):
    def highlights(self, item: Question, view: PlainView) -> list[str]:
        return ["Coin", "an edge"]


class Restless(Coin):
    def reshuffle(self, item: Question, trial: int) -> Question:
        other = {"heads": "tails", "tails": "heads"}[item.answer]
        if trial == 0:
            return item
        return Question(item.prompt, item.options, other, {}, item.id, item.origin)


class ReorderedAtFirst(Coin):
    def reshuffle(self, item: Question, trial: int) -> Question:
        return replace(item, options=item.options[::-1])


class ScoredByPlace(Coin):
    def reshuffle(self, item: Question, trial: int) -> Question:
        return replace(item, options=item.options[::-1]) if trial else item

    def score(self, item: Question, answer: str | None) -> Scores:
        return {"correct": float(answer == item.options[0])}


def test_a_small_benchmark_keeps_the_contract() -> None:
    check_benchmark(Coin())


def test_one_check_that_fails_is_enough() -> None:
    with pytest.raises(ContractError):
        check_benchmark(Restless())


@pytest.mark.parametrize(
    ("broken", "failing"),
    [
        (NoShortcut, "names_are_there"),
        (Untitled, "names_are_there"),
        (WrongAxis, "reports_can_be_written"),
        (WrongHighlight, "reports_can_be_written"),
        (WrongFloor, "floor_is_reached"),
        (WeakCeiling, "ceiling_is_reached"),
        (AddedSeeds, "items_are_pure"),
        (TrustsFiles, "corrupted_answers_are_refused"),
        (ReadsAnything, "nonsense_is_no_answer"),
        (NoAnswerIsHalfRight, "nonsense_is_no_answer"),
        (NothingToAudit, "audit_runs"),
        (UnreadGold, "writing_and_parsing_are_inverse"),
        (Restless, "reordering_keeps_the_score"),
        (ReorderedAtFirst, "reordering_keeps_the_score"),
        (ScoredByPlace, "reordering_keeps_the_score"),
    ],
)
def test_a_broken_benchmark_is_noticed(broken: type[Coin], failing: str) -> None:
    checks = {check.__name__: check for check in CHECKS}
    with pytest.raises(ContractError):
        checks[failing](broken())


def test_an_item_without_a_spec_has_a_perfect_ceiling_and_no_floor() -> None:
    """Unless its benchmark says otherwise; an origin is what the floor is computed from."""
    coin, spec, view = Coin(), CoinSpec(), PlainView()
    item = replace(next(coin.generate(spec, 0)), origin=None)
    task = Task(coin, spec, view)
    assert (task.item_ceiling(item).value, task.item_ceiling(item).exact) == (1.0, True)
    with pytest.raises(UserError, match="Q-000000 does not say which spec"):
        task.item_floor(item)


def test_a_gold_reply_that_is_not_read_is_shown() -> None:
    with pytest.raises(ContractError, match="is not read: 'ANSWER: "):
        writing_and_parsing_are_inverse(UnreadGold())
