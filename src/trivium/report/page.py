"""The page of a run: one file that opens from disk, with nothing loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from trivium import __version__
from trivium.report.tables import Table

_STYLE = """
:root { color-scheme: light dark; --line: #8886; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0 2rem; display: block; overflow-x: auto; }
caption { text-align: left; font-weight: 600; padding-bottom: .4rem; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; }
code { background: #8882; padding: .1rem .3rem; border-radius: .2rem; }
"""


def page(title: str, intro: Sequence[str], tables: Sequence[Table], command: str) -> str:
    """The whole page; every text is escaped, whoever wrote it."""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        *(f"<p>{escape(text)}</p>" for text in intro),
        *map(_table, tables),
        "<h2>How to make this again</h2>",
        f"<p><code>{escape(command)}</code> with Trivium {__version__}.</p>",
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.columns)
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    return (
        f"<table><caption>{escape(table.title)}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table>"
    )
