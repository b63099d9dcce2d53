"""The page in a real browser: nothing fails, nothing is fetched, nothing hostile runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.report.browser import CHROMIUM, Page, chromium
from trivium.benchmarks import get_benchmark
from trivium.core.benchmark import AnyBenchmark
from trivium.core.dialogue import Dialogue, attempt
from trivium.core.files import dump_line
from trivium.core.task import PresentedItem, Task
from trivium.report.page import write_report

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="NO CHROMIUM HERE: the page was not opened in a browser"
)
HOSTILE = [
    "<script>window.pwned = 1</script>",
    '</script><img src="x" onerror="window.pwned = 2">',
    "<!--<script>",
    "]]></pre><svg onload='window.pwned = 3'>\u2028${alert(1)}\\",
]
NAME = '"><img src=x onerror="window.pwned = 4"><b>model</b>'


def _write_records(benchmark: AnyBenchmark, folder: Path) -> None:
    spec, view = benchmark.spec_type(), benchmark.view_type()
    rows = []
    for number, item in enumerate(benchmark.generate(spec, 7, 0, 20)):
        for name in ("oracle", "random_candidate", "last_line"):
            rows.append(attempt(benchmark, item, benchmark.solvers[name], view))
        reply = HOSTILE[number % len(HOSTILE)]
        dialogue = Dialogue(PresentedItem(Task(benchmark, spec, view), item))
        dialogue.send(reply)
        rows.append(dialogue.attempt(NAME))
    path = folder / "records.jsonl"
    path.write_bytes(b"".join(dump_line(asdict(row)) for row in rows))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    pytest.importorskip("altair")
    folder = tmp_path_factory.mktemp("run")
    _write_records(get_benchmark("nhop_explicit"), folder)
    report = write_report(folder, label="</title><script>window.pwned = 5</script>")
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        opened.open(report)
        yield opened


def test_nothing_fails_and_nothing_is_fetched(page: Page) -> None:
    assert page.errors == []
    outside = [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))]
    assert outside == []
    assert page.value("document.querySelectorAll('figure .canvas svg').length") >= 3


def test_replies_are_shown_as_text_and_run_nothing(page: Page) -> None:
    items = "JSON.parse(document.getElementById('data-items').textContent).attempts.length"
    texts = "[...document.querySelectorAll('#item pre')].map((pre) => pre.textContent)"
    shown: set[str] = set()
    for _ in range(page.value(items)):
        shown |= set(page.value(texts))
        page.value("document.getElementById('next').click()")
    assert set(HOSTILE) <= shown
    assert page.value("typeof window.pwned") == "undefined"
    assert page.value("document.querySelectorAll('#item img, #item svg, img[onerror]').length") == 0
    assert NAME in page.value("document.getElementById('results').textContent")


def test_items_are_browsed_by_keyboard(page: Page) -> None:
    page.open(Path(page.value("decodeURIComponent(location.pathname)")))
    page.value("document.getElementById('filter-kind').focus()")
    before = page.value("document.getElementById('position').textContent")
    page.press("ArrowDown")  # the first kind in the list
    kind = page.value("document.getElementById('filter-kind').value")
    assert kind
    after = page.value("document.getElementById('position').textContent")
    assert after != before
    while page.value("document.activeElement.id") != "next":
        page.press("Tab")
    page.press("Enter")
    assert page.value("document.getElementById('position').textContent").startswith("2 of")
    page.press("Tab")
    assert page.value("document.activeElement.id") == "item"
    page.press("ArrowRight")
    assert page.value("document.getElementById('position').textContent").startswith("3 of")
    page.press("k")
    page.press("ArrowLeft")
    assert page.value("document.getElementById('position').textContent").startswith("1 of")
    assert page.value("document.querySelector('#item .badge').textContent").startswith(kind)


def test_tables_sort_by_keyboard(page: Page) -> None:
    page.value("document.querySelectorAll('details').forEach((part) => part.open = true)")
    rows = "[...document.querySelector('table.sortable').tBodies[0].rows]"
    column = f"{rows}.map((row) => Number(row.cells[2].textContent))"
    page.value("document.querySelectorAll('table.sortable th button')[2].focus()")
    page.press("Enter")
    upwards = page.value(column)
    assert upwards == sorted(upwards)
    assert page.value("document.querySelectorAll('table.sortable th')[2].ariaSort") == "ascending"
    page.press("Enter")
    assert page.value(column) == upwards[::-1]


def test_it_fits_a_phone_and_a_dark_theme(page: Page) -> None:
    page.call(
        "Emulation.setDeviceMetricsOverride",
        width=390,
        height=800,
        deviceScaleFactor=2,
        mobile=True,
    )
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.call("Emulation.setEmulatedMedia", features=features)
    assert page.value("document.documentElement.scrollWidth") <= 390
    assert page.value("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
    assert page.errors == []
