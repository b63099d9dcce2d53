"""The page in a real browser: nothing fails, nothing is fetched, nothing hostile runs."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from importlib.util import find_spec
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
    view = benchmark.view_type()
    rows = []
    specs = [replace(benchmark.presets["explicit-hard"], hops=hops) for hops in (4, 6)]
    items = [(spec, item) for spec in specs for item in benchmark.generate(spec, 7, 0, 10)]
    for number, (spec, item) in enumerate(items):
        for name in ("oracle", "random_candidate", "last_line"):
            rows.append(attempt(benchmark, item, benchmark.solvers[name], view))
        reply = HOSTILE[number % len(HOSTILE)]
        dialogue = Dialogue(PresentedItem(Task(benchmark, spec, view), item))
        dialogue.send(reply)
        rows.append(dialogue.attempt(NAME))
    path = folder / "records.jsonl"
    path.write_bytes(b"".join(dump_line(asdict(row)) for row in rows))


UNPACKED = "document.querySelectorAll('#item pre').length > 0"


def wait_until(page: Page, condition: str) -> None:
    """Wait for what the page does in the background, such as unpacking attempts."""
    deadline = time.monotonic() + 30
    while not page.value(condition):
        assert time.monotonic() < deadline, condition
        time.sleep(0.02)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
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
    assert page.value("document.querySelectorAll('figure svg.chart').length") >= 1


def test_replies_are_shown_as_text_and_run_nothing(page: Page) -> None:
    items = "JSON.parse(document.getElementById('data-items').textContent).list.length"
    texts = "[...document.querySelectorAll('#item pre')].map((pre) => pre.textContent)"
    shown: set[str] = set()
    for _ in range(page.value(items)):
        wait_until(page, UNPACKED)
        shown |= set(page.value(texts))
        page.value("document.getElementById('next').click()")
    assert set(HOSTILE) <= shown
    assert page.value("typeof window.pwned") == "undefined"
    assert page.value("document.querySelectorAll('#item img, #item svg, img[onerror]').length") == 0
    assert NAME in page.value("document.getElementById('answer').textContent")


def test_items_are_browsed_by_keyboard(page: Page) -> None:
    page.open(Path(page.value("decodeURIComponent(location.pathname)")))
    page.value("document.getElementById('filter-kind').focus()")
    before = page.value("document.getElementById('position').textContent")
    page.press("ArrowDown", 2)  # after all failures: the first kind in the list
    kind = page.value("document.getElementById('filter-kind').value")
    assert kind
    after = page.value("document.getElementById('position').textContent")
    assert after != before
    while page.value("document.activeElement.id") != "next":
        page.press("Tab")
    page.press("Enter")
    assert page.value("document.getElementById('position').textContent").startswith("2 of")
    while page.value("document.activeElement.id") != "list":
        page.press("Tab")
    page.press("ArrowDown")
    assert page.value("document.getElementById('position').textContent").startswith("3 of")
    page.press("ArrowUp")
    while page.value("document.activeElement.id") != "item":
        page.press("Tab")
    page.press("ArrowRight")
    assert page.value("document.getElementById('position').textContent").startswith("3 of")
    page.press("k")
    page.press("ArrowLeft")
    assert page.value("document.getElementById('position').textContent").startswith("1 of")
    words = kind.replace("-", " ")
    assert page.value("document.querySelector('#item .badge').textContent").startswith(words)


def test_a_permalink_shows_its_attempt_and_search_finds_it(page: Page) -> None:
    shown = "document.querySelector('#item a').href"
    page.value("for (let i = 0; i < 7; i++) document.getElementById('next').click()")
    wait_until(page, UNPACKED)
    link = page.value(shown)
    assert page.value("location.hash") == link[link.index("#item/") :]
    page.value("document.getElementById('search').value = 'nothing has this in it'")
    page.value("document.getElementById('search').dispatchEvent(new Event('input'))")
    assert page.value("document.getElementById('position').textContent") == "none"
    page.value(f"location.hash = ''; location.hash = {json.dumps(link[link.index('#item/') :])}")
    page.value("dispatchEvent(new Event('hashchange'))")
    wait_until(page, UNPACKED)
    assert page.value(shown) == link
    expected = page.value("document.querySelector('#item .two pre').textContent")
    page.value(f"document.getElementById('search').value = {json.dumps(expected.lower())}")
    page.value("document.getElementById('search').dispatchEvent(new Event('input'))")
    wait_until(page, "document.getElementById('list').children.length < 80")
    assert page.value("document.getElementById('list').children.length") > 0
    wait_until(page, UNPACKED)
    assert page.value("document.querySelectorAll('#item mark').length") >= 3


def test_a_cell_leads_to_its_failures_reply_first(page: Page) -> None:
    page.value("document.querySelector('#answer tr:not(.baseline) td.heat a').click()")
    wait_until(page, "document.getElementById('filter-kind').value === '!right'")
    assert page.value("document.getElementById('filter-solver').value") == NAME
    assert page.value("document.getElementById('position').textContent") == "1 of 10"
    wait_until(page, UNPACKED)
    heads = page.value("[...document.querySelectorAll('#item h3')].map((one) => one.textContent)")
    assert heads == ["Reply", "Expected", "Read from the reply", "Prompt"]
    assert page.value("document.querySelector('#item pre').textContent") in HOSTILE
    said = page.value("document.getElementById('item').textContent")
    assert "no answer: a reply without an answer." in said
    assert "Highlighted in the prompt: what leads to the expected answer." in said
    # Another attempt begins at its top, whatever was scrolled before.
    page.value("[...document.querySelectorAll('#item pre')].pop().scrollTop = 200")
    page.value("document.getElementById('next').click()")
    wait_until(page, UNPACKED)
    assert page.value("[...document.querySelectorAll('#item pre')].pop().scrollTop") == 0
    page.value("location.hash = ''; document.getElementById('filter-kind').value = ''")
    page.value("document.getElementById('filter-solver').value = ''")


def test_what_is_shown_can_be_downloaded(page: Page) -> None:
    page.value(
        "window.saved = []; URL.createObjectURL = (blob) => {"
        " blob.text().then((text) => window.saved.push(text)); return '#'; }"
    )
    page.value("document.getElementById('search').value = ''")
    page.value("document.getElementById('search').dispatchEvent(new Event('input'))")
    for button in ("save-jsonl", "save-csv"):
        page.value(f"document.getElementById('{button}').click()")
    wait_until(page, "window.saved.length === 2")
    lines, table = sorted(page.value("window.saved"), key=lambda text: text[0] != "{")
    rows = [json.loads(line) for line in lines.split("\n") if line]
    assert len(rows) == page.value("document.getElementById('list').children.length")
    assert {turn["text"] for row in rows for turn in row["turns"]} >= set(HOSTILE)
    read = list(csv.DictReader(io.StringIO(table)))
    assert [row["id"] for row in read] == [row["id"] for row in rows]
    # No cell begins with a character that a spreadsheet would run.
    assert not [cell for row in read for cell in row.values() if cell[:1] in ("=", "+", "@")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(page: Page, scheme: str) -> None:
    package = find_spec("axe_playwright_python")
    if package is None or package.origin is None:
        pytest.skip("NO AXE-CORE HERE: accessibility was not checked")
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    page.call("Emulation.setEmulatedMedia", features=features)
    page.value("document.querySelectorAll('details').forEach((part) => part.open = true)")
    script = Path(package.origin).with_name("axe.min.js").read_text(encoding="utf-8")
    page.value(f"{script}; window.violations = null; axe.run().then((found) => "
               "{ window.violations = found.violations.map((one) => one.id + ': ' + "
               "one.nodes[0].html + one.nodes[0].failureSummary) }); 0")  # fmt: skip
    deadline = time.monotonic() + 60
    while page.value("window.violations") is None:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert page.value("window.violations") == []


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


def test_paper_shows_whole_prompts_and_nothing_that_is_closed(page: Page) -> None:
    page.value("document.querySelectorAll('details').forEach((part) => part.open = false)")
    wait_until(page, UNPACKED)
    page.call("Emulation.setEmulatedMedia", media="print")
    cut = (
        "[...document.querySelectorAll('pre')]"
        ".filter((one) => one.scrollHeight > one.clientHeight + 1)"
    )
    assert page.value(f"{cut}.length") == 0
    assert page.value("[...document.querySelectorAll('details')].every((one) => !one.offsetHeight)")
    page.call("Emulation.setEmulatedMedia", media="")
    assert page.value(f"{cut}.length") > 0  # on a screen a long prompt scrolls


def test_it_fits_a_phone_and_a_dark_theme(page: Page) -> None:
    page.call(
        "Emulation.setDeviceMetricsOverride",
        width=360,
        height=800,
        deviceScaleFactor=2,
        mobile=True,
    )
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.call("Emulation.setEmulatedMedia", features=features)
    assert page.value("document.documentElement.scrollWidth") <= 360
    cards = "[...document.querySelectorAll('#answer td.heat')].map((cell) => cell.offsetWidth)"
    assert min(page.value(cards)) > 300
    assert page.value("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
    assert page.errors == []
