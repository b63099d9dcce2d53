"""What every benchmark must do, as checks that can be run on any of them.

`trivium.check_benchmark(benchmark)` runs them all; the tests run each of them on every registered
benchmark.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import orjson

from trivium.audit.engine import audit
from trivium.core.benchmark import AnyBenchmark, rename_text
from trivium.core.dialogue import Dialogue, solve
from trivium.core.errors import UserError
from trivium.core.files import dump_line
from trivium.core.records import NO_ANSWER, Scores
from trivium.core.results import summarise
from trivium.core.spec import spec_from_dict, spec_to_dict
from trivium.core.streams import Stream, stream_key
from trivium.core.task import PresentedItem, Task

SEED = 11
FLOOR_ITEMS = 400
AUDIT_ITEMS = 100
AUDIT_TREES = 8  # a check that it runs, not of what it finds
NONSENSE = ("", " ", "I would rather not say.", "\x00\ud800", "[" * 1000, "🙂" * 100)


class ContractError(AssertionError):
    """A benchmark breaks the contract; the text says how."""


def check_benchmark(benchmark: AnyBenchmark) -> None:
    """Run every check of the contract; raises ContractError where one fails."""
    for check in CHECKS:
        check(benchmark)


def _expect(condition: bool, message: str) -> None:
    if not condition:
        raise ContractError(message)


def _tasks(benchmark: AnyBenchmark) -> Iterator[Task]:
    """Every preset in the default view."""
    for spec in benchmark.presets.values():
        yield Task(benchmark, spec, benchmark.view_type())


def _tasks_in_all_views(benchmark: AnyBenchmark) -> Iterator[Task]:
    views = list({repr(view): view for _, _, view in benchmark.gallery_examples()}.values())
    for spec in benchmark.presets.values():
        for view in views:
            yield Task(benchmark, spec, view)


def _items(task: Task, count: int) -> list[PresentedItem]:
    """The first items of a task, generated once for all checks of its benchmark."""
    generated = _generated(task.benchmark, task.spec, max(20, count))
    return [PresentedItem(task, item) for item in generated[:count]]


@lru_cache(maxsize=64)
def _generated(benchmark: AnyBenchmark, spec: Any, count: int) -> tuple[Any, ...]:
    return tuple(benchmark.generate(spec, SEED, 0, count))


def names_are_there(benchmark: AnyBenchmark) -> None:
    """A title, presets, metrics, and a floor, a shortcut and a ceiling solver."""
    _expect(bool(benchmark.name and benchmark.title), "name and title must not be empty")
    _expect(bool(benchmark.presets and benchmark.metrics), "there must be a preset and a metric")
    roles = {solver.role for solver in benchmark.solvers.values()}
    for role in ("floor", "shortcut", "ceiling"):
        _expect(role in roles, f"{benchmark.name} has no {role} solver")
    for name, solver in benchmark.solvers.items():
        _expect(name == solver.name, f"solver {solver.name} is registered as {name}")


def ceiling_is_perfect(benchmark: AnyBenchmark) -> None:
    """Every ceiling solver reaches the best value through the whole pipeline, in every view."""
    headline = benchmark.metrics[0]
    ceilings = [one for one in benchmark.solvers.values() if one.role == "ceiling"]
    for task in _tasks_in_all_views(benchmark):
        items = _items(task, 20)
        for solver in ceilings:
            rows = [asdict(solve(item, solver)) for item in items]
            summary = summarise(rows, benchmark.metrics)
            value = summary.metrics[headline.name].value
            _expect(value == headline.best, f"{solver.name} reaches {value} on {task}")
            _expect(summary.no_answers == 0, f"{solver.name} gives no answer on {task}")


def solvers_are_deterministic(benchmark: AnyBenchmark) -> None:
    """Every solver makes the same attempt twice, with known metrics and finite scores."""
    known = {metric.name for metric in benchmark.metrics}
    task = next(_tasks(benchmark))
    for solver in benchmark.solvers.values():
        for item in _items(task, 5):
            first, again = solve(item, solver), solve(item, solver)
            _expect(first.reply == again.reply, f"{solver.name} replies differently each time")
            _expect(set(first.scores) <= known, f"{solver.name}: unknown metrics {first.scores}")
            finite = all(value is None or math.isfinite(value) for value in first.scores.values())
            _expect(finite, f"{solver.name}: scores must be finite, got {first.scores}")
            orjson.loads(dump_line(first))


def floor_is_reached(benchmark: AnyBenchmark) -> None:
    """No floor solver beats the stated floor, and the one it names reaches it (4 sigma)."""
    headline = benchmark.metrics[0].name
    for task in _tasks(benchmark):
        items = _items(task, FLOOR_ITEMS)
        for solver in (one for one in benchmark.solvers.values() if one.role == "floor"):
            pairs = [
                (score, item.floor)
                for item in items
                if (score := solve(item, solver).scores[headline]) is not None
            ]
            scores, floors = np.array(pairs).T
            # Right or wrong: as the floor says, for no item may be right where that is rare.
            binary = set(scores) <= {0.0, 1.0}
            spread = math.sqrt((floors * (1 - floors)).mean()) if binary else scores.std()
            allowed = 4 * spread / math.sqrt(len(scores)) + 1e-9
            gap = scores.mean() - floors.mean()
            played = solver.name == task.floor.name
            _expect(
                (abs(gap) if played else gap) <= allowed,
                f"{solver.name} reaches {scores.mean():.3f} on {task.spec}, "
                f"the stated floor is {floors.mean():.3f}",
            )


def items_are_pure(benchmark: AnyBenchmark) -> None:
    """An item depends on spec, seed and index only, and seeds share nothing."""
    for task in _tasks(benchmark):

        def lines(seed: int, start: int, count: int, task: Task = task) -> bytes:
            return b"".join(benchmark.generate_lines(task.spec, seed, start, count))

        whole = lines(SEED, 0, 30)
        parts = b"".join(lines(SEED, index, 1) for index in range(30))
        _expect(whole == parts, f"items of {task.spec} depend on how many are generated")
        _expect(whole != lines(SEED + 1, 0, 30), "another seed gives the same items")
        # Seeds are hashed, never added: seed 12 item 0 is not seed 11 item 1.
        _expect(
            _content(lines(SEED + 1, 0, 1)) != _content(lines(SEED, 1, 1)),
            "neighbouring seeds and indexes share items",
        )


def _content(line: bytes) -> dict[str, Any]:
    row = orjson.loads(line)
    return {key: value for key, value in row.items() if key not in ("id", "seed", "index")}


def items_survive_a_file(benchmark: AnyBenchmark) -> None:
    """An item read back from its row is the same row, and renders the same."""
    for task in _tasks_in_all_views(benchmark):
        lines = b"".join(benchmark.generate_lines(task.spec, SEED, 0, 20)).splitlines(True)
        for number, (item, line) in enumerate(zip(_items(task, 20), lines, strict=True)):
            _expect(dump_line(benchmark.to_row(item.original)) == line, "to_row differs from lines")
            read = PresentedItem(task, benchmark.from_row(orjson.loads(line), number))
            _expect(dump_line(benchmark.to_row(read.original)) == line, "a row changes when read")
            _expect(read.prompt == item.prompt, "a prompt changes when its item is read from a row")


def corrupted_answers_are_refused(benchmark: AnyBenchmark) -> None:
    """A row whose stored answer is that of another item is refused."""
    name = benchmark.answer_field
    for task in _tasks(benchmark):
        rows = [benchmark.to_row(item.original) for item in _items(task, 20)]
        _expect(name in rows[0], f"rows have no field {name!r}: set answer_field")
        for row, other in pairwise(rows):
            if row[name] == other[name]:
                continue
            try:
                benchmark.from_row(orjson.loads(dump_line(row | {name: other[name]})), 0)
            except UserError:
                continue
            raise ContractError(f"a row with a wrong {name} is accepted: {row['id']}")


def writing_and_parsing_are_inverse(benchmark: AnyBenchmark) -> None:
    """The gold reply is read back as the gold answer and scores perfectly."""
    headline = benchmark.metrics[0]
    for task in _tasks_in_all_views(benchmark):
        for item in _items(task, 20):
            read = benchmark.parse(item.content, [item.gold], task.view)
            _expect(read is not None, f"the gold reply of {item.id} is not read: {item.gold!r}")
            again = benchmark.write(item.content, read, task.view)
            _expect(
                again == item.gold, f"the gold reply of {item.id}, {item.gold!r}, is read as {read}"
            )
            # A headline may be undefined for some items, and then for every answer to them.
            score = task.score(item, item.gold)[headline.name]
            _expect(score in (headline.best, None), f"the gold reply of {item.id} scores {score}")
            _expect(benchmark.kind(item.content, read) == "right", "a right answer is not 'right'")


def nonsense_is_no_answer(benchmark: AnyBenchmark) -> None:
    """What has no answer in it is no answer, and has the worst score of the headline."""
    headline = benchmark.metrics[0]
    item = next(_tasks(benchmark)).item(0, SEED)
    for nonsense in NONSENSE:
        dialogue = Dialogue(item)
        dialogue.send(nonsense)
        made = dialogue.attempt("nonsense")
        _expect(
            made.kind == NO_ANSWER and made.answer is None,
            f"{nonsense[:30]!r} is read as {made.answer} ({made.kind})",
        )
        score = made.scores[headline.name]
        _expect(score in (headline.worst, None), f"no answer scores {score}, not {headline.worst}")
        orjson.loads(dump_line(made))


def reordering_keeps_the_score(benchmark: AnyBenchmark) -> None:
    """Another order of presentation changes neither the answer nor the floor."""
    headline = benchmark.metrics[0]
    for task in _tasks(benchmark):
        for item in _items(task, 10):
            _expect(benchmark.reshuffle(item.original, 0) == item.original, "trial 0 is reordered")
            other = PresentedItem(task, item.original, 3)
            _expect(benchmark.reshuffle(item.original, 3) == other.content, "trials are not fixed")
            _expect(other.floor == item.floor, "reordering changes the floor")
            _expect(
                benchmark.gold(other.content) == benchmark.gold(item.content)
                and task.score(other, item.gold)[headline.name] in (headline.best, None),
                "reordering changes the answer",
            )


def renaming_keeps_the_score(benchmark: AnyBenchmark) -> None:
    """With its names exchanged, an item gives renamed replies the same scores."""
    for task in _tasks(benchmark):
        for item in _items(task, 5):
            mapping = _exchanged(benchmark, item)
            renamed = PresentedItem(task, benchmark.rename(item.original, mapping))
            _expect(renamed.floor == item.floor, "renaming changes the floor")
            for solver in benchmark.solvers.values():
                reply = solve(item, solver).reply
                replies = [reply] if isinstance(reply, str) else list(reply or ())
                scores = task.score(item, replies)
                again = task.score(renamed, [rename_text(text, mapping) for text in replies])
                _expect(
                    _same(again, scores), f"renaming changes scores of {solver.name} on {item.id}"
                )


def _same(first: Scores, second: Scores) -> bool:
    """Whether scores are equal but for rounding: sums may run in another order."""

    def same(one: float | None, other: float | None) -> bool:
        if one is None or other is None:
            return one is other
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)

    return first.keys() == second.keys() and all(same(first[name], second[name]) for name in first)


def _exchanged(benchmark: AnyBenchmark, item: PresentedItem) -> dict[str, str]:
    """Every name of an item mapped to another one of its group, at random."""
    stream = Stream(stream_key("rename", item.id))
    mapping: dict[str, str] = {}
    for group in benchmark.names(item.original):
        mapping |= dict(zip(group, stream.shuffled(group), strict=True))
    return mapping


def specs_survive_a_mapping(benchmark: AnyBenchmark) -> None:
    """Every preset can be written as JSON and read back."""
    for spec in benchmark.presets.values():
        plain = orjson.loads(orjson.dumps(spec_to_dict(spec)))
        _expect(spec_from_dict(benchmark.spec_type, plain) == spec, f"{spec} changes in JSON")


def floors_and_groups_are_plain(benchmark: AnyBenchmark) -> None:
    """Floors are in [0, 1), groups are numbers or text."""
    for task in _tasks(benchmark):
        for item in _items(task, 5):
            _expect(0 <= item.floor < 1, f"the floor must be in [0, 1), got {item.floor}")
            plain = all(isinstance(value, (int, float, str)) for value in item.groups.values())
            _expect(plain, f"groups must be numbers or text, got {item.groups}")


def audit_runs(benchmark: AnyBenchmark) -> None:
    """The audit of the default preset has something to try, and its figures are in order."""
    try:
        found = audit(benchmark, benchmark.default_spec, SEED, AUDIT_ITEMS, AUDIT_TREES)
    except UserError as problem:
        raise ContractError(str(problem)) from None
    for cue in found.cues:
        in_order = cue.low <= cue.value <= cue.high
        _expect(in_order, f"cue {cue.name}: {cue.value} is outside its own interval")


CHECKS: tuple[Callable[[AnyBenchmark], None], ...] = (
    names_are_there,
    specs_survive_a_mapping,
    items_are_pure,
    items_survive_a_file,
    corrupted_answers_are_refused,
    floors_and_groups_are_plain,
    writing_and_parsing_are_inverse,
    nonsense_is_no_answer,
    solvers_are_deterministic,
    ceiling_is_perfect,
    floor_is_reached,
    reordering_keeps_the_score,
    renaming_keeps_the_score,
    audit_runs,
)
