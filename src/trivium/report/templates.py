"""The templates of pages, and the files that go into them."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

import orjson
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from trivium import __version__
from trivium.core.text import clean
from trivium.report.plot import MARKS, REFERENCE_NAMES, REFERENCES
from trivium.report.results import kind_words

HERE = Path(__file__).parent


def render_page(template: str, **values: Any) -> str:
    """A page from its template, with the style and the script that all pages share."""
    css, script = asset("chart.css") + asset("page.css"), asset("page.js")
    return render(template, css=css, script=script, policy=content_policy(script), **values)


def render(template: str, **values: Any) -> str:
    """The text of a template with these values, all of them escaped and clean."""
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["breakable"] = breakable
    environment.filters["two"] = two_decimals
    environment.filters["words"] = kind_words
    environment.filters["capitalize_first"] = lambda text: f"{text[:1].upper()}{text[1:]}"
    environment.globals |= {"marks": MARKS, "references": REFERENCES}
    environment.globals["reference_names"] = REFERENCE_NAMES
    # orjson writes NaN as null, which a browser can parse.
    environment.policies["json.dumps_function"] = lambda value, **_: orjson.dumps(value).decode()
    return clean(environment.get_template(template).render(version=__version__, **values))


def asset(name: str) -> str:
    """The text of a file of this package."""
    return (HERE / name).read_text(encoding="utf-8")


def content_policy(script: str) -> str:
    """A policy that runs only this script and fetches nothing, should escaping ever fail."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'"
    )


def two_decimals(value: float) -> str:
    """A figure without a sign where it is rounded to 0."""
    return f"{round(value, 2) + 0.0:.2f}"


def breakable(name: str) -> Markup:
    """A name that a narrow page may break after _, / and -."""
    return Markup(re.sub(r"([_/-])", r"\1<wbr>", str(escape(name))))
