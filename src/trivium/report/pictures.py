"""Which pictures suit some records, and their files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from trivium.core.errors import import_extra
from trivium.core.files import atomic_write
from trivium.report import charts, frames
from trivium.report.results import Digest
from trivium.report.sections import Picture

MAX_PANELS = 6  # of one picture
MAX_SETTINGS = 12  # of the picture of standings
MAX_VALUES = 24  # along an axis; beyond that a table says it better
PNG_SCALE = 2


def pictures(digest: Digest, *, variants: bool = False, label: str | None = None) -> list[Picture]:
    """Every picture that these records have the data for."""
    made = list(_pictures(digest, variants))
    return [_labelled(picture, label) for picture in made] if label else made


def _pictures(digest: Digest, variants: bool) -> Iterator[Picture]:
    headline = digest.benchmark.metrics[0].name
    name = digest.benchmark.name
    if variants:
        yield from _variants(digest, headline)
    elif len(digest.settings) <= MAX_SETTINGS:
        rows = frames.standings(digest, headline)
        drawn = charts.standing(rows, frames.lines(rows, ["setting"]), headline)
        yield _picture(f"{name}_standing", drawn)
    yield from _heatmaps(digest, headline)
    yield from _curves(digest, headline)
    yield from _sweeps(digest, headline)
    if digest.benchmark.trace_label is not None and (rows := frames.traces(digest)):
        drawn = charts.exploration(rows, frames.trace_lines(rows), digest.benchmark.trace_label)
        yield _picture(f"{name}_exploration", drawn)
    shares = frames.metrics(digest)
    if len({row["metric"] for row in shares}) > 1:
        titles = {metric.name: metric.about for metric in digest.benchmark.metrics}
        blocks = "Block by block: where answers go wrong" if name == "nhop_explicit" else ""
        heading = (blocks or "Every share that is scored") + _pooled(digest)
        first = [row for row in shares if row["metric"] == headline]
        drawn = charts.metric_bars(shares, frames.lines(first, []), titles, heading)
        yield _picture(f"{name}_metrics", drawn)
    yield _picture(f"{name}_kinds", charts.kind_bars(frames.kinds(digest), _pooled(digest)))
    if any(tally.has_trials for tally in digest.tallies.values()):
        rows = frames.agreement(digest)
        yield _picture(f"{name}_order_trials", charts.calibration(rows, headline))


def _pooled(digest: Digest) -> str:
    """What a title adds where settings are taken together."""
    count = len(digest.settings)
    return f" ({count} settings together)" if count > 1 else ""


def _variants(digest: Digest, headline: str) -> Iterator[Picture]:
    for metric in (headline, "lift"):
        rows = frames.standings(digest, metric)
        lines = frames.lines(rows, ["setting"], lift=metric == "lift")
        drawn = charts.variant_bars(rows, lines, metric)
        yield _picture(f"{digest.benchmark.name}_variants_{metric}", drawn)


def _heatmaps(digest: Digest, headline: str) -> Iterator[Picture]:
    """Over every pair of parameters that both vary, where that is a small table."""
    numbers = [name for name in digest.varying if _axis(digest, name)]
    if len(numbers) < 2 or not _is_grid(digest, numbers):
        return
    x, y = numbers[0], numbers[1]
    for metric in (headline, "lift"):
        rows = frames.grouped(digest, metric, [x, y])
        extra: frames.Rows = []
        if metric == headline:
            extra = [*_chance_panel(rows, x, y), *frames.published(digest, [x, y])]
        drawn = charts.heatmap([*rows, *extra], x, y, metric, lift=metric == "lift")
        yield _picture(f"{digest.benchmark.name}_{metric}_{x}_{y}", drawn)


def _chance_panel(rows: frames.Rows, x: str, y: str) -> frames.Rows:
    across, down = frames.column(x), frames.column(y)
    chances = {(row[across], row[down]): row["chance"] for row in rows}
    return [
        {across: a, down: b, "solver": "chance", "value": chance}
        for (a, b), chance in chances.items()
    ]


def _curves(digest: Digest, headline: str) -> Iterator[Picture]:
    """The headline against every parameter; by the second one where just two vary."""
    names = [name for name in digest.varying if _axis(digest, name)]
    panel = None
    if (
        len(names) == 2
        and _is_grid(digest, names)
        and (len(digest.group_values(names[1])) <= MAX_PANELS)
    ):
        names, panel = names[:1], names[1]
    for name in names:
        by = [name] if panel is None else [name, panel]
        rows = frames.grouped(digest, headline, by)
        lines = frames.lines(rows, [frames.column(group) for group in by])
        shown = [] if panel is None else _fitting(frames.published(digest, by), rows, panel)
        drawn = charts.curve(rows, lines, shown, name, panel, metric=headline)
        yield _picture(f"{digest.benchmark.name}_{headline}_by_{name}", drawn)


def _sweeps(digest: Digest, headline: str) -> Iterator[Picture]:
    """The headline against numbers that were swept and that no group tells."""
    found = {name: set(values.values()) for name, values in digest.swept().items()}
    names = sorted(
        (name for name, values in found.items() if len(values) <= MAX_VALUES),
        key=lambda name: -len(found[name]),
    )
    panel = names[1] if len(names) > 1 else None
    for name in names[:1]:
        by = names[:2]
        rows = frames.swept(digest, headline, by)
        lines = frames.lines(rows, [frames.column(field) for field in by])
        drawn = charts.curve(rows, lines, [], name, panel, metric=headline)
        yield _picture(f"{digest.benchmark.name}_{headline}_by_{name}", drawn)


def _fitting(published: frames.Rows, rows: frames.Rows, panel: str) -> frames.Rows:
    """The published figures that have a panel to stand in."""
    panels = {row[frames.column(panel)] for row in rows}
    return [row for row in published if row[frames.column(panel)] in panels]


def _axis(digest: Digest, name: str) -> bool:
    return 1 < len(digest.group_values(name)) <= MAX_VALUES


def _is_grid(digest: Digest, names: Sequence[str]) -> bool:
    """Whether these groups were set and not just found: constant within every setting."""
    seen: dict[str, set[tuple[Any, ...]]] = {}
    for key in digest.tallies:
        seen.setdefault(key.setting, set()).add(tuple(map(key.group, names)))
    return all(len(values) == 1 for values in seen.values())


def _picture(name: str, chart: Any) -> Picture:
    spec = chart.to_dict()
    # Vega-Lite hands this on to Vega, which stacks the legends; Altair's schema omits it.
    spec["config"]["legend"]["layout"] = {"bottom": {"direction": "vertical", "anchor": "start"}}
    title = spec["title"]
    subtitle = " ".join(title.get("subtitle", []))
    return Picture(name, f"{title['text']}. {subtitle}", spec)


def _labelled(picture: Picture, label: str) -> Picture:
    title = {**picture.spec["title"], "text": f"{label}: {picture.spec['title']['text']}"}
    return Picture(picture.name, f"{label}: {picture.about}", {**picture.spec, "title": title})


def save(made: Sequence[Picture], folder: Path) -> list[Path]:
    """Every picture as PNG and SVG."""
    converter = import_extra("vl_convert", "plots")
    paths = []
    for picture in made:
        png = converter.vegalite_to_png(picture.spec, scale=PNG_SCALE)
        svg = converter.vegalite_to_svg(picture.spec).encode()
        for suffix, content in ((".png", png), (".svg", svg)):
            path = folder / f"{picture.name}{suffix}"
            with atomic_write(path) as file:
                file.write(content)
            paths.append(path)
    return paths
