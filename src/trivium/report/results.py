"""Results read from any number of records in one pass, by solver, setting, seed and group."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import orjson

from trivium.auditing.stored import CAUGHT, audit_verdict
from trivium.benchmarks import get_benchmark, recorded_item, recorded_task
from trivium.core.benchmark import AnyBenchmark, ChartAxis
from trivium.core.errors import UserError, require
from trivium.core.reading import visible_replies
from trivium.core.records import (
    PARTICIPANTS,
    RECORDS,
    Row,
    is_participant,
    read_manifest,
    read_records,
    solver_group,
)
from trivium.core.results import Summary, Tally, merged
from trivium.core.spec import changed_fields, short, spec_from_dict
from trivium.core.statistics import Estimate, mean_interval
from trivium.core.task import Task
from trivium.evaluation.plan import plain

MAX_ATTEMPTS = 20_000  # in one page; smaller runs are kept whole
EXAMPLES = 20  # attempts kept for every solver, setting and kind of answer of larger ones
ROLES = ("person", "model", "ceiling", "program", "shortcut", "floor")  # in this order
STUDIED = ("person", "model")  # the roles that a report is about; the others are baselines
MAX_TRACED = 60  # games of every solver and setting that are followed step by step
MIN_CROSSED = 10  # items behind each combination of groups, for a table of combinations
Traces = Mapping[tuple[str, str], Sequence[Estimate]]  # by setting and solver


class GroupKey(NamedTuple):
    """What a record is counted under."""

    setting: str
    solver: str
    seed: int | None
    groups: tuple[tuple[str, Any], ...]

    def group(self, name: str) -> Any:
        """The value of one group; None if the record has no such group."""
        return dict(self.groups).get(name)


@dataclass
class BenchmarkResults:
    """The records of one benchmark, counted."""

    benchmark: AnyBenchmark
    kind: str | None = None  # of the run: sweep, diag, run, ...
    setting_order: Sequence[str] = ()  # as the run lists its settings, if it does
    records: int = 0
    kept: int = 0  # of them as examples
    tallies: dict[GroupKey, Tally] = field(default_factory=dict)
    specs: dict[str, Row | None] = field(default_factory=dict)  # by setting
    views: dict[str, Row] = field(default_factory=dict)
    examples: dict[tuple[str, str, str], list[Row]] = field(default_factory=dict)
    traced: dict[tuple[str, str], list[Row]] = field(default_factory=dict)
    # by setting and solver, the headline scores of every item; only of a diagnosis
    scores: dict[tuple[str, str], dict[tuple[Any, ...], list[float]]] = field(default_factory=dict)
    versions: set[str] = field(default_factory=set)  # of the benchmark, in the records
    _within: dict[frozenset[str], dict[str, Summary]] = field(default_factory=dict)

    def add(self, row: Row, setting: str, system: str | None = None) -> None:
        """Count one record; `system` is the system message of its run, if that had its own."""
        self.records += 1
        solver = solver_group(row["solver"])
        # A plain tuple is equal to the key, and much faster to make.
        fields = (setting, solver, row.get("seed"), tuple(row["groups"].items()))
        tally = self.tallies.get(fields)  # type: ignore[call-overload]
        if tally is None:
            tally = self.tallies[GroupKey(*fields)] = Tally(self.benchmark.metrics)
            self.specs.setdefault(setting, row.get("spec"))
            self.views.setdefault(setting, row.get("view") or {})
            self.versions.add(row.get("version") or "unknown")
        tally.add(row)
        kind = row["kind"].partition(":")[0]
        examples = self.examples.setdefault((setting, solver, kind), [])
        if self.kept < MAX_ATTEMPTS or len(examples) < EXAMPLES:
            examples.append({**row, "system": system})
            self.kept += 1
        value = row["scores"].get(self.benchmark.metrics[0].name)
        if self.kind == "diag" and value is not None:
            # Variants change the spec, so only the seed and the index match an item to another's.
            by_item = self.scores.setdefault((setting, solver), {})
            by_item.setdefault((row.get("seed"), row.get("index"), row["id"]), []).append(value)
        if self.benchmark.multi_turn and row.get("spec") is not None:
            traced = self.traced.setdefault((setting, solver), [])
            if len(traced) < MAX_TRACED:
                traced.append(row)

    @property
    def chart_axes(self) -> list[ChartAxis]:
        """The axes that the benchmark names, or the first two groups that vary."""
        named = [axis for axis in self.benchmark.chart_axes if not axis.metric]
        return named or [ChartAxis(name) for name in self.varying_groups[:2]]

    def split(
        self,
        by: Callable[[GroupKey], Any],
        settings: Collection[str] | None = None,
        solver: str | None = None,
    ) -> dict[Any, Summary]:
        """A summary for each value of `by` other than None, in order of first appearance."""
        parts: dict[Any, list[Tally]] = defaultdict(list)
        for key, tally in self.tallies.items():
            if (settings is None or key.setting in settings) and solver in (None, key.solver):
                parts[by(key)].append(tally)
        parts.pop(None, None)
        return {
            # Merging copies, which a single tally can do without.
            value: (part[0] if len(part) == 1 else merged(part, self.benchmark.metrics)).summary()
            for value, part in parts.items()
        }

    def item_scores(self, solver: str) -> dict[int, float]:
        """The mean headline score of a solver at every item of the settings that count."""
        tallies = [
            tally
            for key, tally in self.tallies.items()
            if key.solver == solver and key.setting in self.sound_settings
        ]
        return merged(tallies, self.benchmark.metrics).item_scores() if tallies else {}

    @property
    def by_solver(self) -> dict[str, Summary]:
        """A summary for each solver, of all records read so far when it is first used."""
        return self.within(self.specs)

    def within(self, settings: Collection[str] | None = None) -> dict[str, Summary]:
        """The same for some settings only, by default for those that are pooled."""
        chosen = frozenset(self.sound_settings if settings is None else settings)
        if chosen not in self._within:
            self._within[chosen] = self.split(lambda key: key.solver, chosen)
        return self._within[chosen]

    @cached_property
    def sound_settings(self) -> list[str]:
        """The settings that are pooled: those without known shortcuts, or all if each has some."""
        sound = [name for name in self.settings if self.audit_verdict(name) != CAUGHT]
        return sound or self.settings

    def task(self, setting: str) -> Task:
        """The task of a setting; that of items from a file has no spec."""
        benchmark, fields = self.benchmark, self.specs[setting]
        spec = None if fields is None else spec_from_dict(benchmark.spec_type, fields)
        return Task(benchmark, spec, spec_from_dict(benchmark.view_type, self.views[setting]))

    def audit_verdict(self, setting: str) -> str:
        """What an audit says about the items of a setting as they were presented."""
        return audit_verdict(self.task(setting))

    @cached_property
    def traces(self) -> Traces:
        """The mean number of bits left after every step of a game."""
        return mean_traces(self.benchmark, self.traced)

    @property
    def solvers(self) -> list[str]:
        """All solvers: models first, then programs as the benchmark lists them."""
        known = list(self.benchmark.solvers)
        names = dict.fromkeys(key.solver for key in self.tallies)
        return sorted(names, key=lambda name: known.index(name) if name in known else -1)

    @property
    def models(self) -> list[str]:
        """The solvers that are no baselines: models, agents, programs of the user's, people."""
        return [solver for solver in self.solvers if self.role(solver) in STUDIED]

    @property
    def shows_failures(self) -> bool:
        """Whether failures are news: those of baselines in a run without models are not."""
        return bool(self.models) or self.kind != "run"

    @property
    def settings(self) -> list[str]:
        """All settings, in the order of the run or of the benchmark's presets; others first."""
        order = [*self.setting_order, *self.benchmark.presets]
        return sorted(self.specs, key=lambda name: order.index(name) if name in order else -1)

    @property
    def seeds(self) -> list[int]:
        """All known seeds."""
        return sorted({key.seed for key in self.tallies if key.seed is not None})

    @property
    def group_names(self) -> list[str]:
        """The names of all groups."""
        return list(dict.fromkeys(name for key in self.tallies for name, _ in key.groups))

    @property
    def groupings(self) -> list[list[str]]:
        """The groups that share a table: all of them, or each its own where items are few."""
        names = self.group_names
        combinations = len({key.groups for key in self.tallies})
        longest = max((len(self.values(ChartAxis(name).value)) for name in names), default=0)
        items = max(part.items for part in self.by_solver.values())
        if names and (combinations <= longest or items >= MIN_CROSSED * combinations):
            return [names]
        return [[name] for name in names]

    def values(
        self, of: Callable[[GroupKey], Any], settings: Collection[str] | None = None
    ) -> list[Any]:
        """The values of a function of the keys, in order and without None."""
        keys = [key for key in self.tallies if settings is None or key.setting in settings]
        return sorted({of(key) for key in keys} - {None}, key=natural)

    @property
    def varying_groups(self) -> list[str]:
        """The groups that take more than one value."""
        return [name for name in self.group_names if len(self.values(ChartAxis(name).value)) > 1]

    def swept_fields(self) -> dict[str, dict[str, Any]]:
        """Spec and view fields that differ between settings and that no group mirrors.

        Their values are numbers, or names such as those of renderers.
        """
        settings = {name: {**(spec or {}), **self.views[name]} for name, spec in self.specs.items()}
        swept: dict[str, dict[str, Any]] = {}
        for field_name in dict.fromkeys(key for fields in settings.values() for key in fields):
            values = {name: fields.get(field_name) for name, fields in settings.items()}
            numeric = all(type(value) in (int, float) for value in values.values())
            named = all(isinstance(v, str) and v == short(v) for v in values.values())
            if (
                (numeric or named)
                and len(set(values.values())) > 1
                and not any(self._mirrors(name, values) for name in self.varying_groups)
            ):
                swept[field_name] = values
        return swept

    def _mirrors(self, group: str, values: Mapping[str, Any]) -> bool:
        """Whether the values of a group and of a field correspond one to one."""
        pairs = {(values[key.setting], key.group(group)) for key in self.tallies}
        return len(pairs) == len(set(values.values())) == len({value for _, value in pairs})

    def role(self, solver: str) -> str:
        """The role of a solver in results."""
        return role_of(self.benchmark, solver)

    def best(
        self, parts: Mapping[str, Summary], role: str, metric: str
    ) -> tuple[str, Estimate] | None:
        """The solver of a role with the highest value of a metric, and its estimate."""
        found = [
            (solver, part.metrics[metric])
            for solver, part in parts.items()
            if self.role(solver) == role and part.metrics[metric].value is not None
        ]
        return max(found, key=lambda one: one[1].value or 0.0, default=None)


def axis_words(benchmark: AnyBenchmark, name: str) -> str:
    """The words for a group or a field on an axis."""
    return next((axis.label for axis in benchmark.chart_axes if axis.name == name), name)


def kind_words(kind: str) -> str:
    """A kind of answer in words: "wrong step 3" for wrong-step:3."""
    return kind.replace("-", " ").replace(":", " ")


def natural(value: Any) -> list[tuple[bool, bool, Any]]:
    """A sorting key for values or tuples of them: numbers, then texts, then missing ones."""
    values = value if isinstance(value, tuple) else (value,)
    return [(one is None, isinstance(one, str), one) for one in values]


def role_of(benchmark: AnyBenchmark, solver: str) -> str:
    """The role of a built-in solver, person for people; any other solver counts as a model."""
    if solver in PARTICIPANTS.values():
        return "person"
    known = benchmark.solvers.get(solver)
    return "model" if known is None else known.role


def studied_solvers(all_results: Sequence[BenchmarkResults], order: Iterable[str]) -> list[str]:
    """The models and people of some results, in this order."""
    found = {solver for results in all_results for solver in results.models}
    return [solver for solver in order if solver in found]


def read_results(
    paths: Sequence[Path], kind: str | None = None, setting_order: Sequence[str] = ()
) -> dict[str, BenchmarkResults]:
    """The results of each benchmark in these files and folders, by its name.

    A model that was asked the same in several ways, such as with two templates, is several solvers.
    """
    results: dict[str, BenchmarkResults] = {}
    files = record_files(paths)
    manifests = _manifests(files)
    folders = _folders_by_file(manifests)
    for path in files:
        manifest, folder = manifests.get(path, {}), folders.get(path)
        run_setting, shaping = manifest.get("setting"), manifest.get("shaping") or {}
        names: dict[bytes, str] = {}  # of settings, by spec and view
        for number, row in read_records(path):
            try:
                of_benchmark = results.get(row["benchmark"])
                if of_benchmark is None:
                    benchmark = get_benchmark(row["benchmark"])
                    of_benchmark = BenchmarkResults(benchmark, kind, setting_order)
                    results[benchmark.name] = of_benchmark
                setting = run_setting
                if setting is None:
                    fields = orjson.dumps([row.get("spec"), row.get("view")])
                    setting = names.get(fields)
                    if setting is None:
                        setting = names[fields] = setting_name(row)
            except UserError as problem:
                raise UserError(f"{path} line {number}: {problem}") from None
            of_benchmark.add(_in_folder(row, folder), setting, shaping.get("system"))
    require(bool(results), f"{', '.join(map(str, paths))}: there are no records")
    return results


def _manifests(files: Iterable[Path]) -> dict[Path, dict[str, Any]]:
    return {path: read_manifest(path.parent) for path in files if path.name == RECORDS}


def _in_folder(row: Row, folder: str | None) -> Row:
    return {**row, "solver": f"{row['solver']} in {folder}"} if folder else row


def _folders_by_file(manifests: Mapping[Path, Mapping[str, Any]]) -> dict[Path, str]:
    """For each file whose model was asked the same in several ways: the folder that names its way.

    It is the first folder with that way of asking.
    """
    asked: dict[bytes, dict[bytes, list[Path]]] = {}
    for path, held in manifests.items():
        if "shaping" not in held:
            continue
        same = orjson.dumps([held.get(name) for name in ("benchmark", "solver", "spec", "view")])
        shaping = orjson.dumps(held["shaping"], option=orjson.OPT_SORT_KEYS)
        asked.setdefault(same, {}).setdefault(shaping, []).append(path)
    ways = [files for found in asked.values() if len(found) > 1 for files in found.values()]
    parents = [files[0].parent.absolute() for files in ways]
    common = Path(os.path.commonpath(parents)) if parents else Path()
    names = [(*parent.relative_to(common).parts, parent.name)[0] for parent in parents]
    return {path: name for files, name in zip(ways, names, strict=True) for path in files}


def record_files(paths: Sequence[Path]) -> list[Path]:
    """The files named, and every records.jsonl under the folders named, each file once."""
    files: list[Path] = []
    for path in paths:
        found = sorted(path.rglob(RECORDS), key=_natural_order) if path.is_dir() else [path]
        require(bool(found), f"{path}: no {RECORDS} in this folder")
        files += found
    return list({os.path.realpath(file): file for file in files}.values())


def rows_of(paths: Sequence[Path]) -> Iterator[Row]:
    """The records in these files and folders, with solvers named as by `read_results`."""
    files = record_files(paths)
    folders = _folders_by_file(_manifests(files))
    return (_in_folder(row, folders.get(path)) for path in files for _, row in read_records(path))


def _natural_order(path: Path) -> list[tuple[bool, int, str]]:
    """A sorting key that puts hops4 before hops10."""
    parts = re.split(r"(\d+)", str(path))
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


def setting_name(row: Row) -> str:
    """A short name for a record's spec and view: a preset, or what differs from the defaults."""
    if row.get("spec") is None:
        return "items from a file"
    task = recorded_task(row)
    changed = ({} if task.preset else changed_fields(task.spec)) | changed_fields(task.view)
    parts = [f"{key}={short(plain(value))}" for key, value in changed.items()]
    return " ".join(([task.preset] if task.preset else []) + parts) or "default"


def replies_of(row: Row) -> list[str]:
    """The replies of a record, one for each turn."""
    reply = row.get("reply")
    return [reply] if isinstance(reply, str) else [str(part) for part in reply or []]


def mean_traces(benchmark: AnyBenchmark, games: Mapping[tuple[str, str], Sequence[Row]]) -> Traces:
    """The mean bits left after every step; a game that has ended keeps its last value."""
    # What one person does at several items is one trace, their mean.
    traces: dict[tuple[str, str], dict[Any, list[Sequence[float]]]] = {}
    for key, records in games.items():
        by_player: dict[Any, list[Sequence[float]]] = defaultdict(list)
        for number, record in enumerate(records):
            item = recorded_item(record)
            visible = visible_replies(replies_of(record))
            steps = benchmark.explain(item.content, visible, item.task.view)
            if steps:
                person = is_participant(record["solver"])
                player = record["solver"] if person else number
                by_player[player].append([step.bits for step in steps])
        if by_player:
            traces[key] = by_player
    longest: dict[str, int] = defaultdict(int)
    for (setting, _), by_player in traces.items():
        lengths = [len(trace) for part in by_player.values() for trace in part]
        longest[setting] = max(longest[setting], *lengths)
    return {
        (setting, solver): [
            mean_interval(
                [fmean(one[min(step, len(one) - 1)] for one in part) for part in by_player.values()]
            )
            for step in range(longest[setting])
        ]
        for (setting, solver), by_player in traces.items()
    }
