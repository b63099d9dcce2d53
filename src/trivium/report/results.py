"""Records read once, of any number: counts for every table and picture, and some examples."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from trivium.benchmarks import get_benchmark
from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import UserError, require
from trivium.core.records import MANIFEST, RECORDS, Row, read_records
from trivium.core.results import Summary, Tally, merged
from trivium.core.spec import changed_fields, read_mapping, spec_from_dict
from trivium.evaluation.plan import plain

EXAMPLES = 4  # attempts kept of every solver, setting and kind
TRACED = 200  # attempts of every solver and setting that are followed step by step


class Key(NamedTuple):
    """What a record is counted under."""

    setting: str
    solver: str
    seed: int | None
    groups: tuple[tuple[str, Any], ...]

    def group(self, name: str) -> Any:
        """The value of one group; None where the record has none such."""
        return dict(self.groups).get(name)


@dataclass
class Digest:
    """The records of one benchmark, counted."""

    benchmark: AnyBenchmark
    tallies: dict[Key, Tally] = field(default_factory=dict)
    specs: dict[str, Row | None] = field(default_factory=dict)  # of every setting
    views: dict[str, Row] = field(default_factory=dict)
    examples: dict[tuple[str, str, str], list[Row]] = field(default_factory=dict)
    traced: dict[tuple[str, str], list[Row]] = field(default_factory=dict)
    records: int = 0
    most_examples: int = EXAMPLES
    order: tuple[str, ...] = ()  # of settings, where it is known

    def add(self, row: Row, setting: str, system: str | None = None) -> None:
        """Count one record; `system` is what the run sent before the task, if it sent its own."""
        self.records += 1
        key = Key(setting, row["solver"], row.get("seed"), tuple(row["groups"].items()))
        tally = self.tallies.get(key)
        if tally is None:
            tally = self.tallies[key] = Tally(self.benchmark.metrics)
            self.specs.setdefault(setting, row.get("spec"))
            self.views.setdefault(setting, row.get("view") or {})
        tally.add(row)
        kept = self.examples.setdefault((setting, row["solver"], row["kind"].partition(":")[0]), [])
        if len(kept) < self.most_examples:
            kept.append({**row, "system": system})
        if self.benchmark.trace_label is not None and row.get("spec") is not None:
            own = self.traced.setdefault((setting, row["solver"]), [])
            if len(own) < TRACED:
                own.append(row)

    def tally(self, keep: Callable[[Key], bool]) -> Tally:
        """All records whose key is kept, as one tally."""
        chosen = (tally for key, tally in self.tallies.items() if keep(key))
        return merged(chosen, self.benchmark.metrics)

    def split(self, by: Callable[[Key], Any]) -> dict[Any, Summary]:
        """A summary for each value of `by` (None is left out), in order of first appearance."""
        parts: dict[Any, list[Tally]] = defaultdict(list)
        for key, tally in self.tallies.items():
            value = by(key)
            if value is not None:
                parts[value].append(tally)
        return {
            value: merged(tallies, self.benchmark.metrics).summary()
            for value, tallies in parts.items()
        }

    @property
    def solvers(self) -> list[str]:
        """Who made the records: models first, then programs as the benchmark lists them."""
        known = list(self.benchmark.solvers)
        names = dict.fromkeys(key.solver for key in self.tallies)
        return sorted(names, key=lambda name: known.index(name) if name in known else -1)

    @property
    def settings(self) -> list[str]:
        """Every setting: as the run or the benchmark orders them, or as the records came."""
        order = [*self.order, *self.benchmark.presets]
        return sorted(self.specs, key=lambda name: order.index(name) if name in order else -1)

    @property
    def seeds(self) -> list[int]:
        """Every seed that is known."""
        return sorted({key.seed for key in self.tallies if key.seed is not None})

    @property
    def keys(self) -> list[str]:
        """What records are grouped by."""
        return list(dict.fromkeys(name for key in self.tallies for name, _ in key.groups))

    @property
    def crossings(self) -> list[list[str]]:
        """The groups that belong into one table: all of them, or each on its own."""
        keys = self.keys
        crossed = [keys] if keys else []
        return crossed if self.benchmark.crossed_groups else [[name] for name in keys]

    def group_values(self, name: str) -> list[Any]:
        """The values that a group takes, in their natural order."""
        values = {key.group(name) for key in self.tallies} - {None}
        return sorted(values, key=lambda value: (isinstance(value, str), value))

    @property
    def varying(self) -> list[str]:
        """The groups that take more than one value."""
        return [name for name in self.keys if len(self.group_values(name)) > 1]

    def swept(self) -> dict[str, dict[str, Any]]:
        """Numbers in specs and views that differ between settings, where no group says the same."""
        told = {name: {**(self.specs[name] or {}), **self.views[name]} for name in self.specs}
        found: dict[str, dict[str, Any]] = {}
        for field_name in dict.fromkeys(key for values in told.values() for key in values):
            values = {name: own.get(field_name) for name, own in told.items()}
            numbers = all(type(value) in (int, float) for value in values.values())
            if numbers and len(set(values.values())) > 1 and not self._said_by_group(values):
                found[field_name] = values
        return found

    def _said_by_group(self, values: Mapping[str, Any]) -> bool:
        for name in self.varying:
            pairs = {(values[key.setting], key.group(name)) for key in self.tallies}
            if len(pairs) == len(set(values.values())) == len({group for _, group in pairs}):
                return True
        return False

    def role(self, solver: str) -> str:
        """What a solver is for; whoever is not built in is a model."""
        known = self.benchmark.solvers.get(solver)
        return "model" if known is None else known.role


def digest(paths: Sequence[Path], examples: int = EXAMPLES) -> dict[str, Digest]:
    """All records of these files and folders, one digest for each benchmark."""
    digests: dict[str, Digest] = {}
    for path in record_files(paths):
        name, system = _told_by_the_run(path)
        names: dict[bytes, str] = {}
        for number, row in read_records(path):
            own = digests.get(row["benchmark"])
            if own is None:
                with _placed(path, number):
                    benchmark = get_benchmark(row["benchmark"])
                own = digests[row["benchmark"]] = Digest(benchmark, most_examples=examples)
            setting = name
            if setting is None:
                told = orjson.dumps([row.get("spec"), row.get("view")])
                setting = names.get(told)
                if setting is None:
                    with _placed(path, number):
                        setting = names[told] = setting_name(own.benchmark, row)
            own.add(row, setting, system)
    require(bool(digests), f"{', '.join(map(str, paths))}: there are no records")
    return digests


@contextmanager
def _placed(path: Path, number: int) -> Iterator[None]:
    """What is wrong with a record, with its place."""
    try:
        yield
    except UserError as problem:
        raise UserError(f"{path} line {number}: {problem}") from None


def record_files(paths: Sequence[Path]) -> list[Path]:
    """The files named, and every records.jsonl under the folders named."""
    files: list[Path] = []
    for path in paths:
        found = sorted(path.rglob(RECORDS), key=_in_order) if path.is_dir() else [path]
        require(bool(found), f"{path}: no {RECORDS} in this folder")
        files += found
    # A file that is named twice, itself and by its folder, is counted once.
    return list({file.resolve(): file for file in files}.values())


def _in_order(path: Path) -> list[tuple[bool, int, str]]:
    """Sorts names by the numbers in them: hops4 before hops10."""
    parts = re.split(r"(\d+)", str(path))
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def _told_by_the_run(path: Path) -> tuple[str | None, str | None]:
    """The setting and the system message that the run of these records was given, if any."""
    manifest = path.parent / MANIFEST
    if path.name != RECORDS or not manifest.exists():
        return None, None
    held = read_mapping(manifest)
    shaping = held.get("shaping")
    told = held.get("setting"), shaping.get("system") if isinstance(shaping, dict) else None
    setting, system = (text if isinstance(text, str) else None for text in told)
    return setting, system


def setting_name(benchmark: AnyBenchmark, row: Mapping[str, Any]) -> str:
    """A short name for the spec and view of a record: a preset, or what differs from defaults."""
    if row.get("spec") is None:
        return "items from a file"
    spec = spec_from_dict(benchmark.spec_type, row["spec"])
    view = spec_from_dict(benchmark.view_type, row.get("view") or {})
    preset = next((name for name, made in benchmark.presets.items() if made == spec), None)
    changed = {} if preset else changed_fields(spec)
    parts = [f"{key}={plain(value)}" for key, value in {**changed, **changed_fields(view)}.items()]
    return " ".join(([preset] if preset else []) + parts) or "default"
