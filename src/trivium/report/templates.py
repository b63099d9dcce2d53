"""The templates of pages and charts, and the files that go into them."""

from __future__ import annotations

import base64
import hashlib
import re
import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from trivium import __version__
from trivium.core.text import clean
from trivium.report.plot import CHARACTER, MARKS, REFERENCE_NAMES, REFERENCES, Chart, SeriesStyle
from trivium.report.results import kind_words
from trivium.report.tables import markdown_text, number

HERE = Path(__file__).parent
COLUMNS = 3  # of panels in a file
TITLE, LEGEND_STEP, LINE = 60.0, 20, 15  # heights there
Styles = Mapping[str, SeriesStyle]  # by solver


def render_page(template: str, **values: Any) -> str:
    """A page from its template, with the style and the script that all pages share."""
    css, script = asset("chart.css") + asset("page.css"), asset("page.js")
    # Only this script runs and nothing is fetched, should escaping ever fail.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    policy += f"script-src 'sha256-{digest}'"
    return render(template, css=css, script=script, policy=policy, **values)


def render(template: str, **values: Any) -> str:
    """The text of a template without control characters; values are escaped in HTML and SVG."""
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=select_autoescape(("html.j2", "svg.j2")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"breakable": breakable, "words": kind_words}
    environment.filters["markdown"] = markdown_text
    environment.filters["two"] = partial(number, digits=2)
    environment.filters["capitalize_first"] = lambda text: f"{text[:1].upper()}{text[1:]}"
    environment.globals |= {"marks": MARKS, "references": REFERENCES}
    environment.globals["reference_names"] = REFERENCE_NAMES
    # orjson writes NaN as null, which a browser can parse.
    environment.policies["json.dumps_function"] = lambda value, **_: orjson.dumps(value).decode()
    return clean(environment.get_template(template).render(version=__version__, **values))


def asset(name: str) -> str:
    """The text of a file of this package."""
    return (HERE / name).read_text(encoding="utf-8")


def breakable(name: str) -> Markup:
    """A text that a narrow page may break after _, / and -, but not within a negative number."""
    return Markup(re.sub(r"([_/]|-(?!\d))", r"\1<wbr>", str(escape(name))))


def chart_svg(chart: Chart, styles: Styles, label: str | None, columns: int = COLUMNS) -> str:
    """A chart as SVG, with its title and its legend."""
    drawn = [panel.drawn for panel in chart.panels]
    columns = min(columns, len(drawn))
    wide = max(one.width for one in drawn) + 16
    high = max(one.height for one in drawn) + 26
    width = max(wide * columns, 520)
    about = textwrap.wrap(chart.about, int((width - 24) / CHARACTER))
    legend, top = _legend(chart, styles, width, TITLE + LINE * max(0, len(about) - 1))
    placed = [
        (panel, 8 + number % columns * wide, top + 24 + number // columns * high)
        for number, panel in enumerate(chart.panels)
    ]
    return render(
        "chart.svg.j2",
        css=plain_css(),
        title=f"{label}: {chart.title}" if label else chart.title,
        about=about,
        legend=legend,
        placed=placed,
        width=width,
        height=top + 24 + -(-len(drawn) // columns) * high,
    )


def _legend(
    chart: Chart, styles: Styles, width: float, top: float
) -> tuple[Sequence[tuple[str, SeriesStyle, float, float]], float]:
    """The places of solvers and reference lines in the legend, and where it ends."""
    drawn = {(one.name, one.style) for panel in chart.panels for one in panel.series}
    entries = [(name, style) for name, style in styles.items() if (name, style) in drawn]
    named = {style for _, style in entries}
    lines = [name for name in chart.lines if REFERENCES[name] not in named]
    entries += [(REFERENCE_NAMES[name], REFERENCES[name]) for name in lines]
    x, y, placed = 12.0, top, []
    for name, style in entries:
        entry_width = 30 + CHARACTER * len(name)
        if x + entry_width > width:
            x, y = 12.0, y + LEGEND_STEP
        placed.append((name, style, x, y))
        x += entry_width
    return placed, y + 8


def plain_css() -> str:
    """The style of charts without variables, which few programs other than browsers support."""
    text = asset("chart.css")
    colours = dict(re.findall(r"(--\w+): (#\w+)", text))
    return re.sub(r"var\((--\w+)\)", lambda found: colours[found[1]], text.split("}", 1)[1])
