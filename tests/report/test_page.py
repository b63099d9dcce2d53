"""The page as text: self-contained, escaped, and whole without the pictures."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.report.test_digest import made, written
from trivium.benchmarks.nhop import EXPLICIT
from trivium.benchmarks.nhop.spec import ImplicitSpec
from trivium.core.results import Summary
from trivium.core.statistics import Estimate, wilson
from trivium.report.page import Content, page
from trivium.report.results import digest
from trivium.report.sections import bar, page_tables, standings, table_html
from trivium.report.tables import Table
from trivium.report.write import write_report

BAD = "</script><!--<b onclick='x'>&amp;\u2028"


def test_everything_that_comes_from_records_is_escaped(tmp_path: Path) -> None:
    rows = [
        {**row, "solver": BAD, "kind": BAD, "reply": BAD, "groups": {"n": BAD, "m": 4}}
        for row in made(ImplicitSpec(), "oracle")
    ]
    rows += made(ImplicitSpec(), "oracle")
    text = write_report(written(tmp_path, rows), label=BAD).read_text()
    assert "<b onclick" not in text
    blocks = re.findall(r'<script type="application/json" id="[a-z-]+">(.*?)</script>', text)
    assert len(blocks) == 2
    items = json.loads(blocks[-1])
    assert BAD in items["texts"]
    assert "<" not in blocks[-1]
    assert "<b" not in (tmp_path / "results.md").read_text()


def test_the_page_names_nothing_outside_itself(tmp_path: Path) -> None:
    text = write_report(written(tmp_path, made(ImplicitSpec(), "oracle"))).read_text()
    assert not re.search(r"<(link|iframe|object|embed|base|form)\b", text.split("<script", 1)[0])
    assert not re.search(r'\b(src|href)="(?!#)', text.split("<script", 1)[0])
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:;")
    assert "unsafe-inline" not in policy[1].split("script-src")[1]


def test_without_the_plots_extra_the_page_has_everything_else(tmp_path: Path) -> None:
    written(tmp_path, made(ImplicitSpec(), "oracle") + made(ImplicitSpec(), "last_line"))
    code = (
        "import sys\n"
        "for name in ('altair', 'vl_convert', 'polars'): sys.modules[name] = None\n"
        "from trivium.cli import main\n"
        f"sys.exit(main(['report', {str(tmp_path)!r}]) or main(['plot', {str(tmp_path)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "trivium: altair is missing: pip install 'trivium[plots]'\n"
    text = (tmp_path / "report.html").read_text()
    why = "There are no pictures, since altair is missing: pip install "
    assert f"{why}&#x27;trivium[plots]&#x27;" in text
    assert f"{why}'trivium&#91;plots&#93;'" in (tmp_path / "results.md").read_text()
    assert "unsafe-eval" not in text
    assert '<svg class="bar"' in text
    assert 'id="data-items"' in text
    assert not (tmp_path / "plots").exists()


def test_the_standing_says_who_is_where(tmp_path: Path) -> None:
    rows = [
        row
        for name in ("oracle", "last_line", "random_candidate")
        for row in made(ImplicitSpec(), name, items=100)
    ]
    rows += [{**row, "solver": "openai/some-model"} for row in made(ImplicitSpec(), "oracle")]
    html = standings(digest([written(tmp_path, rows)])["nhop_implicit"])
    assert "Chance is 0.125." in html
    assert "The best shortcut, last_line, reaches" in html
    assert "not above chance." in html
    assert "The ceiling, oracle, is at 1.000." in html
    assert "openai/some-model is at 1.000, 100% of the way from chance to ceiling." in html


def _summary(value: float | None) -> Summary:
    estimate = Estimate(None, None, None, 0) if value is None else wilson(value * 40, 40)
    return Summary("b", "s", 40, 40, 0, 0, 0.25, metrics={"em": estimate})


@pytest.mark.parametrize("value", [0.0, 0.25, 0.5, 1.0])
def test_a_bar_puts_the_dot_where_the_value_is(value: float) -> None:
    drawn = bar(_summary(value), "em", "model", [("chance", 0.25), ("ceiling", 1.0)], (0.0, 1.0))
    dot = re.search(r'<circle class="dot model" cx="([0-9.]+)"', drawn)
    ends = re.search(r'<line class="track" x1="([0-9.]+)" x2="([0-9.]+)"', drawn)
    assert dot is not None
    assert ends is not None
    low, high = float(ends[1]), float(ends[2])
    assert float(dot[1]) == pytest.approx(low + value * (high - low), abs=0.1)


def test_an_interval_may_begin_at_nothing() -> None:
    summary = replace(_summary(0.5), metrics={"em": Estimate(0.3, 0.0, 0.6, 40)})
    drawn = bar(summary, "em", "model", [("chance", 0.25), ("ceiling", 1.0)], (0.0, 1.0))
    ends = re.search(r'<line class="interval model" x1="([0-9.]+)"', drawn)
    track = re.search(r'<line class="track" x1="([0-9.]+)"', drawn)
    assert ends is not None
    assert track is not None
    assert ends[1] == track[1]


def test_attempts_that_failed_are_not_in_the_denominator(tmp_path: Path) -> None:
    rows = made(ImplicitSpec(), "oracle", items=10)
    asked = [{**row, "solver": "openai/some_model"} for row in rows]
    for row in asked[:3]:
        row |= {"kind": "error", "scores": {}, "answer": None, "error": "500"}
    html = standings(digest([written(tmp_path, [*rows, *asked])])["nhop_implicit"])
    assert "<td>7 of 10</td>" in html
    assert "<td>10</td>" in html
    assert "openai/<wbr>some_<wbr>model" in html


def test_an_undefined_value_has_no_bar() -> None:
    assert bar(_summary(None), "em", "model", [("chance", 0.25)], (0.0, 1.0)) == "undefined"


def test_long_tables_are_cut_and_say_so() -> None:
    table = Table("long", ("a",), tuple((str(number),) for number in range(2500)))
    html = table_html(table)
    assert "the first 1,000 of 2,500 rows" in html
    assert html.count("<tr>") == 1001


def test_a_page_of_one_digest_has_its_parts(tmp_path: Path) -> None:
    found = list(digest([written(tmp_path, made(ImplicitSpec(), "oracle"))]).values())
    text = page(Content("a title", found, command="trivium run", config="items = 3"))
    for part in ("a title", "trivium run", "items = 3", "nhop_implicit: every metric"):
        assert part in text
    assert [table.title for table in page_tables(found[0])][-1] == "nhop_implicit: kinds of answers"
    assert EXPLICIT.title not in text
