"""The page of a run: one file that opens from disk, with nothing loaded from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any

import orjson

from trivium import __version__
from trivium.report.results import Digest
from trivium.report.sections import (
    KEY,
    Picture,
    page_tables,
    picture_html,
    standings,
    table_html,
)

INTRO = (
    "Every solver saw the same items. Chance is what blind guessing scores; lift is the share of "
    "the way from chance to perfect; intervals are 95%."
)
FILTERS = ("benchmark", "setting", "solver", "kind")


@dataclass(frozen=True)
class Content:
    """What a page tells."""

    title: str
    digests: Sequence[Digest]
    command: str | None = None  # what makes the run again
    config: str | None = None  # and the file it needs
    pictures: Mapping[str, Sequence[Picture]] = field(default_factory=dict)  # by benchmark
    undrawn: str | None = None  # why there are none
    bundle: str | None = None  # the library that draws them
    items: Mapping[str, Any] = field(default_factory=dict)


def page(content: Content) -> str:
    """The whole page; every text is escaped, whoever wrote it."""
    scripts = [content.bundle] if content.bundle and any(content.pictures.values()) else []
    scripts.append(_asset("page.js"))
    drawn = {picture.name: picture.spec for own in content.pictures.values() for picture in own}
    sections = [
        ("standing", "Who is where", KEY + "".join(map(standings, content.digests))),
        ("pictures", "Pictures", _pictures(content)),
        ("tables", "Tables", _tables(content)),
        ("items", "Items", _browser(content)),
        ("again", "How to make this again", _again(content)),
    ]
    shown = [section for section in sections if section[2]]
    links = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title, _ in shown)
    body = "\n".join(
        f'<section id="{name}"><h2>{title}</h2>\n{html}</section>' for name, title, html in shown
    )
    return (
        "\n".join(
            [
                "<!doctype html>",
                '<html lang="en"><head><meta charset="utf-8">',
                f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">',
                '<meta name="viewport" content="width=device-width, initial-scale=1">',
                f"<title>{escape(content.title)}</title><style>{_asset('page.css')}</style></head>",
                '<body><a class="skip" href="#standing">Skip to the results</a>',
                f"<header><h1>{escape(content.title)}</h1>",
                f'<p class="lead">{escape(INTRO)}</p>{_facts(content)}</header>',
                f'<nav aria-label="Sections"><ul>{links}</ul></nav>',
                f"<main>{body}</main>",
                f"<footer>Made by Trivium {escape(__version__)}. Nothing on this page is loaded "
                "from elsewhere.</footer>",
                _data("data-pictures", drawn) if drawn else "",
                _data("data-items", content.items) if content.items else "",
                *(f"<script>{script}</script>" for script in scripts),
                "</body></html>",
            ]
        )
        + "\n"
    )


def _asset(name: str) -> str:
    return (files("trivium.report") / "assets" / name).read_text(encoding="utf-8")


def _policy(scripts: Sequence[str]) -> str:
    """Only the scripts of this page run, and nothing is fetched: escaping is not all that holds."""
    hashes = [
        "'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'"
        for script in scripts
    ]
    # Vega compiles the expressions of a chart, which a policy calls eval.
    allowed = " ".join([*hashes, *(["'unsafe-eval'"] if len(scripts) > 1 else [])])
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {allowed}"


def _data(name: str, value: Any) -> str:
    """Data for the page's script; what could end the element or begin a comment is spelled out."""
    text = orjson.dumps(value).decode()
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json" id="{name}">{text}</script>'


def _facts(content: Content) -> str:
    digests = content.digests
    seeds = sorted({seed for digest in digests for seed in digest.seeds})
    solvers = {solver for digest in digests for solver in digest.solvers}
    facts = {
        "benchmarks": ", ".join(digest.benchmark.name for digest in digests),
        "settings": str(sum(len(digest.settings) for digest in digests)),
        "solvers": str(len(solvers)),
        "attempts": f"{sum(digest.records for digest in digests):,}",
        "seeds": ", ".join(map(str, seeds)) or "-",
        "version": __version__,
    }
    cells = "".join(
        f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in facts.items()
    )
    return f'<dl class="facts">{cells}</dl>'


def _pictures(content: Content) -> str:
    undrawn = content.undrawn
    parts = [f"<p>There are no pictures, since {escape(undrawn)}</p>"] if undrawn else []
    for name, own in content.pictures.items():
        parts += [f"<h3>{escape(name)}</h3>"] if len(content.pictures) > 1 else []
        parts += map(picture_html, own)
    return "\n".join(parts)


def _tables(content: Content) -> str:
    tables = [table for digest in content.digests for table in page_tables(digest)]
    return "\n".join(map(table_html, tables))


def _browser(content: Content) -> str:
    attempts = content.items.get("attempts", [])
    if not attempts:
        return ""
    total = sum(digest.records for digest in content.digests)
    said = (
        "All attempts are shown."
        if len(attempts) == total
        else f"{len(attempts):,} of {total:,} attempts are shown: the first few of every solver, "
        "setting and kind."
    )
    filters = "".join(
        f'<label for="filter-{name}">{name}<select id="filter-{name}"></select></label>'
        for name in FILTERS
    )
    return f"""<p>{said} Arrow keys (or j and k) move from one to the next.</p>
<noscript><p>Browsing items needs a script, which this browser does not run.</p></noscript>
<div id="browser" class="browser" hidden>
<div class="controls">{filters}
<button type="button" id="previous" aria-label="previous item">&larr;</button>
<button type="button" id="next" aria-label="next item">&rarr;</button>
<span id="position" role="status" aria-live="polite"></span></div>
<div id="item" tabindex="0" role="region" aria-label="item"></div></div>"""


def _again(content: Content) -> str:
    seeds = sorted({seed for digest in content.digests for seed in digest.seeds})
    told = ", ".join(map(str, seeds)) or "unknown"
    parts = [f"<p>Trivium {escape(__version__)}, seeds {told}.</p>"]
    if content.command:
        parts.append(f"<pre>{escape(content.command)}</pre>")
    if content.config:
        parts.append(f"<p>with this config:</p><pre>{escape(content.config)}</pre>")
    return "\n".join(parts)
