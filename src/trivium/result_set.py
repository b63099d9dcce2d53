"""Results in Python: records with their summaries, tables, charts and page."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from html import escape
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import orjson
from rich.console import Console

from trivium.benchmarks import get_benchmark
from trivium.core.errors import import_extra, require, require_known
from trivium.core.files import Appender, write_file
from trivium.core.records import MANIFEST, RECORDS, SUMMARY, Row
from trivium.core.results import Summary, summarise
from trivium.core.text import excerpt
from trivium.evaluation.plan import plain
from trivium.report.compare import Difference
from trivium.report.page import write_plots, write_report
from trivium.report.results import rows_of, setting_name
from trivium.report.tables import WIDTH, Table, metric_table, result_table
from trivium.thresholds.results import TABLE, threshold_of
from trivium.thresholds.search import Search

if TYPE_CHECKING:
    import pandas
    import polars

KEPT = {MANIFEST, RECORDS, SUMMARY, TABLE}  # the files of a search, without logs and charts
NESTED = ("scores", "groups", "usage")  # parts of a record whose entries become columns
MAX_SHOWN = 15  # summaries or attempts in the representation of results
MAX_REPLY = 60  # characters of a reply there


class ResultSet:
    """Records of attempts, with their summaries, tables, charts and page.

    `print(results)` is the table that the command line prints.
    """

    def __init__(self, records: Iterable[Row]) -> None:
        self.records = list(records)

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.records)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> ResultSet: ...
    def __getitem__(self, index: int | slice) -> Row | ResultSet:
        found = self.records[index]
        return ResultSet(found) if isinstance(found, list) else found

    def __str__(self) -> str:
        # Without force_jupyter, rich would display its output in a notebook while it is made.
        console = Console(
            width=WIDTH, highlight=False, file=StringIO(), color_system=None, force_jupyter=False
        )
        for table in self._tables():
            table.show(console)
        lines = console.file.getvalue().split("\n")  # type: ignore[attr-defined]
        return "\n".join(line.rstrip() for line in lines).rstrip()

    def __repr__(self) -> str:
        names = self._settings
        several = len(set(names)) > 1
        shown = [
            f"{name}: {one!r}" if several else repr(one)
            for name, one in zip(names[:MAX_SHOWN], self.summaries, strict=False)
        ]
        left = len(self.summaries) - len(shown)
        more = [f"... and {left:,} more; print() shows them all"] if left else []
        return "\n".join([f"<results of {len(self):,} attempts>", *shown, *more])

    def _repr_html_(self) -> str:
        return "\n".join(table.html() for table in self._tables())

    def _tables(self) -> list[Table]:
        """The table of the only evaluation, or one for each benchmark."""
        if len(self.summaries) == 1:
            return [metric_table(self.summary)]
        named: dict[str, list[tuple[str, Summary]]] = {}
        for setting, summary in zip(self._settings, self.summaries, strict=True):
            named.setdefault(summary.benchmark, []).append((setting, summary))
        return [result_table(get_benchmark(name), rows) for name, rows in named.items()]

    def filter(self, **wanted: Any) -> ResultSet:
        """The records with these values of fields, groups or scores.

        `kind="wrong"` also finds `wrong:objects`; a function is asked whether it accepts a value.

        >>> results = evaluate("nhop_implicit", "last_line", items=20)
        >>> len(results.filter(kind="right")) + len(results.failures())
        20
        """
        known = {key for row in self.records for key in _flat(row)} | {
            key for row in self.records for part in NESTED for key in row.get(part) or ()
        }
        for name in wanted:
            require_known(name, known, f"field {name!r}")
        return ResultSet(row for row in self.records if _matches(row, wanted))

    def failures(self) -> Failures:
        """The attempts that are not right: wrong ones, those without an answer, failed calls."""
        return Failures(row for row in self.records if row["kind"] != "right")

    @property
    def _groups(self) -> list[list[Row]]:
        groups: dict[bytes, list[Row]] = {}
        for row in self.records:
            parts = [row.get(key) for key in ("benchmark", "solver", "spec", "view")]
            groups.setdefault(orjson.dumps(parts), []).append(row)
        return list(groups.values())

    @property
    def _settings(self) -> list[str]:
        """The name of the setting of every summary: a preset, or the fields that vary."""
        firsts = [group[0] for group in self._groups]
        names = [setting_name(row) for row in firsts]
        benchmarks = {row["benchmark"] for row in firsts}
        if len({*names}) < 2 or len(benchmarks) > 1:
            return names
        if {*names} <= {*get_benchmark(*benchmarks).presets}:
            return names
        every = [{**(row.get("spec") or {}), **(row.get("view") or {})} for row in firsts]
        varying = [key for key in every[0] if len({str(one.get(key)) for one in every}) > 1]
        return [" ".join(f"{key}={plain(one.get(key))}" for key in varying) for one in every]

    @cached_property
    def summaries(self) -> list[Summary]:
        """A summary for each solver on each spec and view, in the order of the records."""
        metrics = [get_benchmark(group[0]["benchmark"]).metrics for group in self._groups]
        return list(map(summarise, self._groups, metrics))

    @property
    def summary(self) -> Summary:
        """The summary of a single evaluation: metrics with intervals, floor, ceiling, errors."""
        found = len(self.summaries)
        require(found == 1, f"these are the results of {found} evaluations: use summaries")
        return self.summaries[0]

    def to_polars(self) -> polars.DataFrame:
        """One row per attempt; every score, group and usage is a column."""
        rows = [_flat(row) for row in self.records]
        frame: polars.DataFrame = import_extra("polars", "polars").DataFrame(
            rows, infer_schema_length=None
        )
        return frame

    def to_pandas(self) -> pandas.DataFrame:
        """One row per attempt; every score, group and usage is a column."""
        frame: pandas.DataFrame = import_extra("pandas", "notebook").DataFrame(
            [_flat(row) for row in self.records]
        )
        return frame

    def plot(self) -> Charts:
        """The charts of the page, which a notebook shows."""
        with tempfile.TemporaryDirectory() as folder:
            paths = write_plots(self.save(Path(folder) / "results"))
            return Charts({path.stem: path.read_text(encoding="utf-8") for path in paths})

    def save(self, folder: str | Path) -> Path:
        """Write the records to a new folder, which `open_results` and `trivium report` read."""
        path = Path(folder) / RECORDS
        require(not path.exists(), f"{folder} holds records already; choose another folder")
        with Appender(path) as file:
            file.add(self.records)
        return Path(folder)

    def report(self, path: str | Path) -> Path:
        """Write the page of these results as one HTML file."""
        with tempfile.TemporaryDirectory() as folder:
            page = write_report(self.save(Path(folder) / "results"))
            write_file(path, page.read_bytes())
        return Path(path)


class Failures(ResultSet):
    """Attempts that are not right, shown one by one."""

    def __repr__(self) -> str:
        return excerpt(f"<{len(self):,} attempts that are not right>\n{self}")

    def _tables(self) -> list[Table]:
        shown = self.records[:MAX_SHOWN]
        rows = [
            (row["solver"], row["id"], row["kind"], _short(row["gold"]), _short(row["reply"]))
            for row in shown
        ]
        left = len(self) - len(shown)
        note = f"... and {left:,} more; records has them all" if left else ""
        return [Table("", ("solver", "item", "kind", "expected", "reply"), tuple(rows), note)]


class Charts(dict[str, str]):
    """Charts as SVG, by name; a notebook shows them."""

    def __repr__(self) -> str:
        if not self:
            return "<no charts: they show how results vary over a field, such as steps>"
        return f"<charts {', '.join(self)}; save(FOLDER) writes them as SVG>"

    def _repr_html_(self) -> str:
        # As images, so that the style of one chart does not reach another.
        texts = (base64.b64encode(svg.encode()).decode() for svg in self.values())
        return "\n".join(f'<img src="data:image/svg+xml;base64,{text}">' for text in texts)

    def save(self, folder: str | Path) -> list[Path]:
        """Write every chart to a file in this folder."""
        paths = [Path(folder) / f"{name}.svg" for name in self]
        for path, svg in zip(paths, self.values(), strict=True):
            write_file(path, svg)
        return paths


class Differences(list[Difference]):
    """Paired differences, a line each when printed."""

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "<no differences: no two solvers have common items>"

    def __repr__(self) -> str:
        return excerpt(str(self))


class Thresholds(ResultSet):
    """Thresholds of solvers, with the records behind them."""

    def __init__(self, searches: Sequence[Search], folder: Path) -> None:
        super().__init__(rows_of([folder]))
        self.thresholds = [threshold_of(search) for search in searches]
        paths = [path for path in folder.rglob("*") if path.name in KEPT]
        self._files = {path.relative_to(folder): path.read_bytes() for path in paths}

    def __str__(self) -> str:
        return "\n".join(map(str, self.thresholds))

    def __repr__(self) -> str:
        return excerpt(str(self))

    def _repr_html_(self) -> str:
        lines = "".join(f"<p><b>{escape(line)}</b></p>" for line in str(self).split("\n"))
        return lines + super()._repr_html_()

    def save(self, folder: str | Path) -> Path:
        """Write the run to a new folder, in which the same search can resume."""
        path = Path(folder)
        require(not path.exists(), f"{folder} exists already; choose another folder")
        for name, content in self._files.items():
            write_file(path / name, content)
        return path


def open_results(*paths: str | Path) -> ResultSet:
    """The results in run folders or files of records."""
    return ResultSet(rows_of([Path(path) for path in paths]))


def _short(value: Any) -> str:
    """A reply on one line, or the last reply of a game, at most 60 characters from its end."""
    text = " ".join(str(value[-1] if isinstance(value, list) and value else value or "").split())
    return text if len(text) <= MAX_REPLY else f"...{text[-MAX_REPLY:]}"


def _flat(row: Row) -> Row:
    """A record without nesting: dictionaries become columns, replies and answers become text."""
    flat: Row = {}
    for key, value in row.items():
        if key in NESTED:
            flat |= {f"{key}.{name}": part for name, part in value.items()}
        elif isinstance(value, (dict, list)):
            flat[key] = orjson.dumps(value).decode()
        else:
            flat[key] = value
    return flat


def _matches(row: Row, wanted: Mapping[str, Any]) -> bool:
    """Whether a record has these values."""
    flat = _flat(row) | {
        key: value for part in NESTED for key, value in (row.get(part) or {}).items()
    }
    for name, value in wanted.items():
        found = flat.get(name)
        if callable(value):
            if not value(found):
                return False
        elif found != value and not (name == "kind" and str(found).partition(":")[0] == value):
            return False
    return True
