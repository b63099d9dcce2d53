"""What every registered benchmark must keep, tested over the registry."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict

import orjson
import pytest

from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.core.benchmark import AnyBenchmark, Solver
from trivium.core.dialogue import attempt, record
from trivium.core.files import dump_line
from trivium.core.results import summarise
from trivium.core.spec import spec_from_dict, spec_to_dict

SEED = 11
PRESETS = [(name, preset) for name in benchmark_names() for preset in get_benchmark(name).presets]
SOLVERS = [(name, solver) for name in benchmark_names() for solver in get_benchmark(name).solvers]


def ceilings(benchmark: AnyBenchmark) -> Iterator[Solver]:
    return (solver for solver in benchmark.solvers.values() if solver.role == "ceiling")


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_the_ceiling_is_perfect_through_the_whole_pipeline(name: str, preset: str) -> None:
    benchmark = get_benchmark(name)
    for heading, _, view in benchmark.gallery_examples():
        for solver in ceilings(benchmark):
            rows = [
                asdict(attempt(benchmark, item, solver, view))
                for item in benchmark.generate(benchmark.presets[preset], SEED, 0, 40)
            ]
            summary = summarise(rows, benchmark.metrics)
            headline = benchmark.metrics[0]
            assert summary.metrics[headline.name].value == headline.best, (heading, solver.name)
            assert summary.violations == 0


@pytest.mark.parametrize(("name", "solver"), SOLVERS)
def test_every_solver_walks_the_whole_pipeline(name: str, solver: str) -> None:
    benchmark = get_benchmark(name)
    spec = next(iter(benchmark.presets.values()))
    view = benchmark.view_type()
    for item in benchmark.generate(spec, SEED, 0, 5):
        first = attempt(benchmark, item, benchmark.solvers[solver], view)
        again = attempt(benchmark, item, benchmark.solvers[solver], view)
        assert first.reply == again.reply
        assert first.error is None
        assert set(first.scores) <= {metric.name for metric in benchmark.metrics}
        assert all(value is None or math.isfinite(value) for value in first.scores.values())
        orjson.loads(dump_line(first))


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_items_depend_on_spec_seed_and_index_alone(name: str, preset: str) -> None:
    benchmark = get_benchmark(name)
    spec = benchmark.presets[preset]
    whole = b"".join(benchmark.generate_lines(spec, SEED, 0, 30))
    parts = b"".join(b"".join(benchmark.generate_lines(spec, SEED, at, 1)) for at in range(30))
    assert whole == parts
    assert whole != b"".join(benchmark.generate_lines(spec, SEED + 1, 0, 30))
    # Neighbouring seeds and indexes share nothing: seeds are hashed, never added.
    next_seed = b"".join(benchmark.generate_lines(spec, SEED + 1, 0, 1))
    next_index = b"".join(benchmark.generate_lines(spec, SEED, 1, 1))
    assert _content(next_seed) != _content(next_index)


def _content(line: bytes) -> dict[str, object]:
    row = orjson.loads(line)
    return {key: value for key, value in row.items() if key not in ("id", "seed", "index")}


@pytest.mark.parametrize("name", benchmark_names())
def test_items_do_not_depend_on_the_hash_seed(name: str) -> None:
    code = (
        "import hashlib; from trivium.benchmarks import get_benchmark; "
        f"b = get_benchmark({name!r}); v = b.view_type(); h = hashlib.sha256()\n"
        "for s in b.presets.values():\n"
        "  for item in b.generate(s, 5, 0, 20): h.update(b.render(item, v).encode())\n"
        "print(h.hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(digests) == 1


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_items_survive_a_file(name: str, preset: str) -> None:
    benchmark = get_benchmark(name)
    spec = benchmark.presets[preset]
    items = list(benchmark.generate(spec, SEED, 0, 20))
    lines = b"".join(benchmark.generate_lines(spec, SEED, 0, 20)).splitlines(keepends=True)
    for number, (item, line) in enumerate(zip(items, lines, strict=True)):
        assert dump_line(benchmark.to_row(item)) == line
        read = benchmark.from_row(orjson.loads(line), number)
        assert dump_line(benchmark.to_row(read)) == line
        for _, _, view in benchmark.gallery_examples():
            assert benchmark.render(read, view) == benchmark.render(item, view)


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_writing_and_parsing_are_inverse(name: str, preset: str) -> None:
    benchmark = get_benchmark(name)
    headline = benchmark.metrics[0]
    for item in benchmark.generate(benchmark.presets[preset], SEED, 0, 20):
        for _, _, view in benchmark.gallery_examples():
            gold = benchmark.gold(item)
            text = benchmark.write(item, gold, view)
            read = benchmark.parse(item, [text], view)
            assert read is not None
            assert benchmark.write(item, read, view) == text
            # A headline may be undefined for some items, and then for every answer to them.
            assert benchmark.score(item, read)[headline.name] in (headline.best, None)
            assert benchmark.kind(item, read) == "right"


@pytest.mark.parametrize("name", benchmark_names())
def test_nonsense_is_a_violation_and_not_a_wrong_answer(name: str) -> None:
    benchmark = get_benchmark(name)
    spec, view = benchmark.spec_type(), benchmark.view_type()
    item = next(iter(benchmark.generate(spec, SEED)))
    for nonsense in ("", " ", "I would rather not say.", "\x00\ud800", "[" * 1000, "🙂" * 100):
        row = record(benchmark, item, "nobody", [nonsense], view)
        assert row.kind == "violation", nonsense
        assert row.answer is None
        orjson.loads(dump_line(row))


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_reordering_keeps_the_answer(name: str, preset: str) -> None:
    benchmark = get_benchmark(name)
    for item in benchmark.generate(benchmark.presets[preset], SEED, 0, 10):
        assert benchmark.reshuffle(item, 0) == item
        other = benchmark.reshuffle(item, 3)
        assert benchmark.gold(other) == benchmark.gold(item)
        assert benchmark.floor(other) == benchmark.floor(item)
        assert benchmark.reshuffle(item, 3) == other


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_specs_survive_a_mapping(name: str, preset: str) -> None:
    benchmark = get_benchmark(name)
    spec = benchmark.presets[preset]
    plain = orjson.loads(orjson.dumps(spec_to_dict(spec)))
    assert spec_from_dict(benchmark.spec_type, plain) == spec


@pytest.mark.parametrize("name", benchmark_names())
def test_chance_is_a_share_and_groups_are_plain(name: str) -> None:
    benchmark = get_benchmark(name)
    assert benchmark.name == name
    assert benchmark.title
    for item in benchmark.generate(benchmark.spec_type(), SEED, 0, 5):
        assert 0 <= benchmark.floor(item) < 1
        assert all(
            isinstance(value, (int, float, str)) for value in benchmark.groups(item).values()
        )
