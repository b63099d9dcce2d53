"""The parts of a page as HTML; every text is escaped, whoever wrote it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from trivium.core.results import Summary
from trivium.core.statistics import Estimate, quantile
from trivium.report.results import Digest, Key
from trivium.report.tables import Table, denominator, kind_table, natural, number

MAX_PANELS = 12  # settings that get a standing of their own; more are pooled
MAX_ROWS = 1000  # of a table in the page
ROLES = ("ceiling", "model", "program", "shortcut", "floor")  # who stands first on a tie
BAR_WIDTH, BAR_HEIGHT, MARGIN = 280, 22, 6
_LINE = '<span><svg width="14" height="18"><line class="{}" x1="7" x2="7" y2="18"/></svg>{}</span>'
KEY = (
    '<p class="key" aria-hidden="true">'
    + _LINE.format("chance", "chance")
    + _LINE.format("shortcut", "best shortcut")
    + _LINE.format("ceiling", "ceiling")
    + '<span><svg width="30" height="18">'
    '<line class="interval model" x1="4" x2="26" y1="9" y2="9"/><circle class="dot model" '
    'cx="15" cy="9" r="5"/></svg>solver with its interval</span></p>'
)


@dataclass(frozen=True)
class Picture:
    """A chart with the name of its files and a sentence for those who cannot see it."""

    name: str
    about: str
    spec: dict[str, Any]  # Vega-Lite


def standings(digest: Digest) -> str:
    """Who is where between floor and ceiling, for each setting or pooled over many."""
    pooled = len(digest.settings) > MAX_PANELS
    settings = [None] if pooled else digest.settings
    title = digest.benchmark.title
    about = f"{title[:1].upper()}{title[1:]}."
    if pooled:
        about += f" Pooled over {len(digest.settings)} settings; the tables below tell them apart."
    parts = [f"<h3>{escape(digest.benchmark.name)}</h3><p>{escape(about)}</p>"]
    for setting in settings:
        own = digest.split(
            lambda key, only=setting: key.solver if only in (None, key.setting) else None  # type: ignore[misc]
        )
        parts.append(_standing(digest, setting, own))
    return "\n".join(parts)


def _standing(digest: Digest, setting: str | None, parts: Mapping[str, Summary]) -> str:
    metric = digest.benchmark.metrics[0]
    ranked = sorted(
        parts.items(),
        key=lambda part: (
            -(part[1].metrics[metric.name].value or 0.0),
            ROLES.index(digest.role(part[0])),
        ),
    )
    chance = next(iter(parts.values())).chance
    shortcut = _best(digest, parts, "shortcut")
    ceiling = _best(digest, parts, "ceiling")
    lines = [("chance", chance)]
    lines += [("shortcut", shortcut[1])] if shortcut else []
    lines += [("ceiling", ceiling[1])] if ceiling else []
    ends = (metric.worst, metric.best)
    rows = "\n".join(
        f'<tr><th scope="row">{_breakable(name)} <span class="role">{digest.role(name)}</span></th>'
        f"<td>{bar(summary, metric.name, digest.role(name), lines, ends)}</td>"
        f"<td>{escape(str(summary.metrics[metric.name]))}</td>"
        f"<td>{number(summary.metrics['lift'])}</td>"
        f"<td>{denominator(summary, metric.name)}</td></tr>"
        for name, summary in ranked
    )
    caption = f"<caption>{escape(setting)}</caption>" if setting else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(setting or "all")}">'
        f'<table class="standing">{caption}<thead><tr><th scope="col">solver</th>'
        f'<th scope="col">between floor and ceiling</th>'
        f'<th scope="col">{escape(metric.name)} [95%]</th><th scope="col">lift</th>'
        f'<th scope="col">items</th></tr></thead><tbody>{rows}</tbody></table></div>'
        f'<p class="verdict">{escape(verdict(digest, parts, chance, shortcut, ceiling))}</p>'
    )


def _breakable(name: str) -> str:
    """A name that a narrow page may break where a reader would."""
    return re.sub(r"([_/-])", r"\1<wbr>", escape(name))


def _best(digest: Digest, parts: Mapping[str, Summary], role: str) -> tuple[str, float] | None:
    metric = digest.benchmark.metrics[0].name
    values = [
        (value, name)
        for name, summary in parts.items()
        if digest.role(name) == role and (value := summary.metrics[metric].value) is not None
    ]
    return (max(values)[1], max(values)[0]) if values else None


def verdict(
    digest: Digest,
    parts: Mapping[str, Summary],
    chance: float,
    shortcut: tuple[str, float] | None,
    ceiling: tuple[str, float] | None,
) -> str:
    """The same in sentences: the floor, the best shortcut, the ceiling, and every model."""
    metric = digest.benchmark.metrics[0].name
    said = [f"Chance is {chance:.3f}."]
    if shortcut:
        tried = sum(digest.role(name) == "shortcut" for name in parts)
        beats = _above(parts[shortcut[0]].metrics[metric], chance, tried)
        said.append(
            f"The best shortcut, {shortcut[0]}, reaches {shortcut[1]:.3f}: "
            + ("above chance." if beats else "not above chance.")
        )
    if ceiling:
        said.append(f"The ceiling, {ceiling[0]}, is at {ceiling[1]:.3f}.")
    top = ceiling[1] if ceiling else digest.benchmark.metrics[0].best
    for name, summary in parts.items():
        value = summary.metrics[metric].value
        if digest.role(name) == "model" and value is not None and top > chance:
            way = (value - chance) / (top - chance)
            said.append(f"{name} is at {value:.3f}, {way:.0%} of the way from chance to ceiling.")
    return " ".join(said)


def _above(estimate: Estimate, chance: float, tried: int) -> bool:
    """Whether the best of so many is above chance, its interval widened for the choice."""
    if estimate.value is None or estimate.low is None:
        return False
    wider = quantile(1 - 0.05 / tried) / quantile(0.95)
    return estimate.value - (estimate.value - estimate.low) * wider > chance


def bar(
    summary: Summary,
    metric: str,
    role: str,
    lines: Sequence[tuple[str, float]],
    ends: tuple[float, float],
) -> str:
    """A dot with its interval on a line from worst to best; no script is needed to see it."""
    estimate = summary.metrics[metric]
    if estimate.value is None:
        return "undefined"
    worst, best = min(ends), max(ends)
    seen = [estimate.value, *(value for _, value in lines)]
    low, high = min(worst, *seen), max(best, *seen)

    def at(value: float) -> str:
        share = (value - low) / (high - low)
        return f"{MARGIN + share * (BAR_WIDTH - 2 * MARGIN):.1f}"

    middle = BAR_HEIGHT / 2
    marks = "".join(
        f'<line class="{name}" x1="{at(value)}" x2="{at(value)}" y1="1" y2="{BAR_HEIGHT - 1}"/>'
        for name, value in lines
    )
    ends_of = [estimate.value if end is None else end for end in (estimate.low, estimate.high)]
    told = f"{estimate} between {', '.join(f'{name} {value:.3f}' for name, value in lines)}"
    return (
        f'<svg class="bar" width="{BAR_WIDTH}" height="{BAR_HEIGHT}" role="img" '
        f'viewBox="0 0 {BAR_WIDTH} {BAR_HEIGHT}" aria-label="{escape(told)}">'
        f'<line class="track" x1="{at(low)}" x2="{at(high)}" y1="{middle}" y2="{middle}"/>{marks}'
        f'<line class="interval {role}" x1="{at(ends_of[0])}" x2="{at(ends_of[1])}" '
        f'y1="{middle}" y2="{middle}"/>'
        f'<circle class="dot {role}" cx="{at(estimate.value)}" cy="{middle}" r="5"/></svg>'
    )


def page_tables(digest: Digest) -> list[Table]:
    """The tables of a page: solvers stand in a column, so that sorting compares them."""
    headline = digest.benchmark.metrics[0].name
    pooled = digest.split(lambda key: key.solver)
    name = digest.benchmark.name
    figures = tuple(
        (solver, metric, number(estimate), _end(estimate.low), _end(estimate.high), str(estimate.n))
        for solver in digest.solvers
        for metric, estimate in pooled[solver].metrics.items()
        if estimate.value is not None
    )
    tables = [
        Table(f"{name}: every metric", ("solver", "metric", "value", "low", "high", "n"), figures)
    ]
    splits: list[tuple[str, tuple[str, ...], Any]] = []
    if len(digest.settings) > 1:
        splits.append(("setting", ("setting",), lambda key: (key.setting, key.solver)))
    for names in digest.crossings if digest.varying else []:
        title = "group" if digest.benchmark.crossed_groups else names[0]
        splits.append((title, tuple(names), _by(names)))
    if len(digest.seeds) > 1:
        splits.append(("seed", ("seed",), lambda key: (key.seed, key.solver)))
    for what, columns, by in splits:
        parts = digest.split(by)
        order = list(parts) if what == "setting" else sorted(parts, key=natural)
        rows = tuple(
            (
                *("-" if value is None else str(value) for value in group),
                number(parts[group].metrics[headline]),
                _end(parts[group].metrics[headline].low),
                _end(parts[group].metrics[headline].high),
                number(parts[group].metrics["lift"]),
                f"{parts[group].chance:.3f}",
                str(parts[group].items),
                f"{parts[group].prompt_lines:.0f}",
                f"{parts[group].prompt_chars:.0f}",
            )
            for group in order
        )
        heads = (*columns, "solver", headline, "low", "high", "lift", "chance", "items")
        heads += ("lines", "characters")  # of a prompt, on average
        tables.append(Table(f"{name}: {headline} by {what}", heads, rows))
    kinds = [
        (solver, *row)
        for solver in digest.solvers
        for row in kind_table("", pooled[solver].kinds).rows
    ]
    heads = ("solver", "kind", "count", "share", "which")
    return [*tables, Table(f"{name}: kinds of answers", heads, tuple(kinds))]


def _by(names: Sequence[str]) -> Callable[[Key], tuple[Any, ...]]:
    return lambda key: (*map(key.group, names), key.solver)


def _end(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def table_html(table: Table) -> str:
    """A table whose columns sort when their heads are pressed."""
    shown = table.rows[:MAX_ROWS]
    note = (
        f" (the first {MAX_ROWS:,} of {len(table.rows):,} rows)"
        if len(shown) < len(table.rows)
        else ""
    )
    head = "".join(
        f'<th scope="col"><button type="button">{escape(name)}</button></th>'
        for name in table.columns
    )
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in shown
    )
    return (
        f"<details><summary>{escape(table.title)}{note}</summary>"
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.title)}">'
        f'<table class="sortable"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
        "</div></details>"
    )


def picture_html(picture: Picture) -> str:
    """The place of an interactive picture, with words for those who cannot see it."""
    return (
        f'<figure class="picture" data-picture="{escape(picture.name)}">'
        f'<div class="scroll"><div class="canvas" role="img" aria-label="{escape(picture.about)}">'
        f"</div></div></figure>"
    )
