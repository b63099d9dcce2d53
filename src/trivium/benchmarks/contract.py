"""The contract of a benchmark as checks that run on any of them.

`trivium.check_benchmark(benchmark)` runs them all; the tests run each of them on every registered
benchmark.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import orjson

from trivium.auditing.engine import audit
from trivium.benchmarks import get_benchmark
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
AUDIT_ITEMS = 40
AUDIT_TREES = 8  # few, since only running is checked and not what is found
NONSENSE = ("", " ", "I would rather not say.", "\x00\ud800", "[" * 1000, "🙂" * 100)


class ContractError(AssertionError):
    """A benchmark breaks the contract."""


def check_benchmark(benchmark: AnyBenchmark | str) -> None:
    """Run every check of the contract on a benchmark; raise ContractError if one fails."""
    if isinstance(benchmark, str):
        benchmark = get_benchmark(benchmark)
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
    """Every preset in the default view, and the default preset in every other view."""
    yield from _tasks(benchmark)
    default = benchmark.view_type()
    views = {repr(view): view for _, _, view in benchmark.gallery_examples() if view != default}
    for view in views.values():
        yield Task(benchmark, benchmark.default_spec, view)


def _items(task: Task, count: int) -> list[PresentedItem]:
    """The first items of a task."""
    return [PresentedItem(task, item) for item in _generate(task.benchmark, task.spec, count)]


@lru_cache(maxsize=64)
def _generate(benchmark: AnyBenchmark, spec: Any, count: int) -> tuple[Any, ...]:
    return tuple(benchmark.generate(spec, SEED, 0, count))


def names_are_there(benchmark: AnyBenchmark) -> None:
    """There are a title, presets, metrics, and floor, shortcut and ceiling solvers."""
    _expect(bool(benchmark.name and benchmark.title), "name and title must not be empty")
    _expect(bool(benchmark.presets and benchmark.metrics), "there must be a preset and a metric")
    roles = {solver.role for solver in benchmark.solvers.values()}
    for role in ("floor", "shortcut", "ceiling"):
        _expect(role in roles, f"{benchmark.name} has no {role} solver")
    for name, solver in benchmark.solvers.items():
        _expect(name == solver.name, f"solver {solver.name} is registered as {name}")
    fields = {field.name for field in dataclasses.fields(benchmark.spec_type)}
    unknown = sorted(benchmark.easier_with_more - fields)
    _expect(not unknown, f"easier_with_more names no field of the spec: {', '.join(unknown)}")


def reports_can_be_written(benchmark: AnyBenchmark) -> None:
    """Chart axes name groups, fields or metrics, and highlights are parts of the prompt."""
    task = next(_tasks(benchmark))
    (item,) = task.items(1, SEED)
    metrics = {metric.name for metric in benchmark.metrics}
    fields = {field.name for field in dataclasses.fields(benchmark.spec_type)}
    known = set(benchmark.groups(item.original)) | fields
    for axis in benchmark.chart_axes:
        names = {axis.name} if axis.metric or not axis.groups else set(axis.groups)
        unknown = sorted(names - (metrics if axis.metric else known))
        _expect(not unknown, f"a chart axis names an unknown {', '.join(unknown)}")
    for text in benchmark.highlights(item.content, task.view):
        _expect(text in item.prompt, f"the highlight {text!r} is not in the prompt")


def ceiling_is_reached(benchmark: AnyBenchmark) -> None:
    """Every ceiling solver reaches the ceiling through the whole pipeline, in every view.

    A ceiling of 1 exactly, a lower one within 4 standard errors, and never more than it.
    """
    headline = benchmark.metrics[0].name
    ceilings = [one for one in benchmark.solvers.values() if one.role == "ceiling"]
    for task in _tasks_in_all_views(benchmark):
        items = _items(task, 20)
        for solver in ceilings:
            rows = [asdict(solve(item, solver)) for item in items]
            summary = summarise(rows, benchmark.metrics)
            value, ceiling = summary.metrics[headline].value or 0.0, summary.ceiling
            allowed = 4 * math.sqrt(ceiling * (1 - ceiling) / len(items))
            exact = all(task.item_ceiling(item.original).exact for item in items)
            gap = value - ceiling
            reached = (abs(gap) if exact else gap) <= allowed + 1e-9
            message = f"{solver.name} reaches {value} on {task}, the ceiling is {ceiling:.3f}"
            _expect(reached, message)
            _expect(summary.no_answers == 0, f"{solver.name} gives no answer on {task}")


def solvers_are_deterministic(benchmark: AnyBenchmark) -> None:
    """Every solver replies the same twice, with known metrics and finite scores."""
    known = {metric.name for metric in benchmark.metrics}
    task = next(_tasks(benchmark))
    for solver in benchmark.solvers.values():
        for item in _items(task, 5):
            first, again = solve(item, solver), solve(item, solver)
            _expect(first.reply == again.reply, f"{solver.name} replies differently each time")
            _expect(set(first.scores) <= known, f"{solver.name}: unknown metrics {first.scores}")
            kind = first.kind.partition(":")[0]
            _expect(kind in benchmark.kinds, f"`kinds` does not say what {kind!r} means")
            finite = all(value is None or math.isfinite(value) for value in first.scores.values())
            _expect(finite, f"{solver.name}: scores must be finite, got {first.scores}")
            orjson.loads(dump_line(first))


def floor_is_reached(benchmark: AnyBenchmark) -> None:
    """No floor solver beats the stated floor, and the one that it names reaches it (4 sigma)."""
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
            # The sample's own spread would be 0 if a rare hit never occurs.
            binary = set(scores) <= {0.0, 1.0}
            spread = math.sqrt((floors * (1 - floors)).mean()) if binary else scores.std()
            allowed = 4 * spread / math.sqrt(len(scores)) + 1e-9
            gap = scores.mean() - floors.mean()
            _expect(
                (abs(gap) if solver.name == task.floor.name else gap) <= allowed,
                f"{solver.name} reaches {scores.mean():.3f} on {task.spec}, "
                f"the stated floor is {floors.mean():.3f}",
            )


def items_are_pure(benchmark: AnyBenchmark) -> None:
    """An item depends on spec, seed and index only, and seeds share no items."""
    for task in _tasks(benchmark):

        def lines(seed: int, start: int, count: int, task: Task = task) -> bytes:
            made = benchmark.generate(task.spec, seed, start, count)
            return b"".join(dump_line(benchmark.to_row(item)) for item in made)

        whole = lines(SEED, 0, 30)
        parts = b"".join(lines(SEED, index, 1) for index in range(30))
        _expect(whole == parts, f"items of {task.spec} depend on how many are generated")
        _expect(whole != lines(SEED + 1, 0, 30), "another seed gives the same items")
        # Seeds are hashed, never added: seed 12 item 0 is not seed 11 item 1.
        first, second = (orjson.loads(lines(SEED + 1 - index, index, 1)) for index in (0, 1))
        origin = {"id", "seed", "index"}
        differ = any(first[key] != second.get(key) for key in first.keys() - origin)
        _expect(differ, "neighbouring seeds and indexes share items")


def items_survive_a_file(benchmark: AnyBenchmark) -> None:
    """An item read back from its row has the same row and the same prompt."""
    for task in _tasks_in_all_views(benchmark):
        for number, item in enumerate(_items(task, 20)):
            line = dump_line(benchmark.to_row(item.original))
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
    """A reply without an answer is read as no answer and gets the worst headline score."""
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
    """Reordering changes neither the answer nor the floor."""
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
            stream = Stream(stream_key("rename", item.id))
            mapping: dict[str, str] = {}
            for group in benchmark.names(item.original):
                mapping |= dict(zip(group, stream.shuffled(group), strict=True))
            renamed = PresentedItem(task, benchmark.rename(item.original, mapping))
            _expect(renamed.floor == item.floor, "renaming changes the floor")
            for solver in benchmark.solvers.values():
                reply = solve(item, solver).reply
                replies = [reply] if isinstance(reply, str) else list(reply or ())
                scores = task.score(item, replies)
                again = task.score(renamed, [rename_text(text, mapping) for text in replies])
                _expect(
                    _rounded(again) == _rounded(scores),
                    f"renaming changes scores of {solver.name} on {item.id}",
                )


def _rounded(scores: Scores) -> Scores:
    """Scores without the last digits, which depend on the order of sums."""
    return {name: None if value is None else round(value, 9) for name, value in scores.items()}


def specs_survive_a_mapping(benchmark: AnyBenchmark) -> None:
    """Every preset can be written as JSON and read back."""
    for spec in benchmark.presets.values():
        plain = orjson.loads(orjson.dumps(spec_to_dict(spec)))
        _expect(spec_from_dict(benchmark.spec_type, plain) == spec, f"{spec} changes in JSON")


def floors_and_groups_are_plain(benchmark: AnyBenchmark) -> None:
    """Floors are in [0, 1], ceilings not below them, groups are numbers or text."""
    for task in _tasks(benchmark):
        for item in _items(task, 5):
            _expect(0 <= item.floor <= 1, f"the floor must be in [0, 1], got {item.floor}")
            limits = f"floor {item.floor}, ceiling {item.ceiling}"
            _expect(item.floor <= item.ceiling <= 1, f"the ceiling must be in [floor, 1]: {limits}")
            plain = all(isinstance(value, (int, float, str)) for value in item.groups.values())
            _expect(plain, f"groups must be numbers or text, got {item.groups}")


def audit_runs(benchmark: AnyBenchmark) -> None:
    """The audit of the default preset tries some cues, and their intervals are consistent."""
    try:
        found = audit(benchmark, benchmark.default_spec, SEED, AUDIT_ITEMS, AUDIT_TREES)
    except UserError as problem:
        raise ContractError(str(problem)) from None
    for cue in found.cues:
        consistent = cue.low <= cue.value <= cue.high
        _expect(consistent, f"cue {cue.name}: {cue.value} is outside its own interval")


CHECKS: tuple[Callable[[AnyBenchmark], None], ...] = (
    names_are_there,
    reports_can_be_written,
    specs_survive_a_mapping,
    items_are_pure,
    items_survive_a_file,
    corrupted_answers_are_refused,
    floors_and_groups_are_plain,
    writing_and_parsing_are_inverse,
    nonsense_is_no_answer,
    solvers_are_deterministic,
    ceiling_is_reached,
    floor_is_reached,
    reordering_keeps_the_score,
    renaming_keeps_the_score,
    audit_runs,
)
