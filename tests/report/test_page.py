"""The page as text: self-contained, escaped, and complete without charts."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

from tests.report.records import attempts, page_items, scored, write_records
from trivium.benchmarks.nhop.spec import ImplicitSpec
from trivium.cli import main
from trivium.core.spec import read_mapping
from trivium.evaluation.cost import Prices
from trivium.exchange.export import CANARY
from trivium.report.page import write_report
from trivium.report.templates import breakable

BAD = "</script><!--<b onclick='x'>&amp;\u2028"


def test_everything_that_comes_from_records_is_escaped(tmp_path: Path) -> None:
    rows = [
        {**row, "solver": BAD, "kind": BAD, "reply": BAD, "groups": {"steps": BAD, "m": 4}}
        for row in attempts(ImplicitSpec(), "oracle")
    ]
    rows += attempts(ImplicitSpec(), "oracle")
    manifest = {"kind": "sweep", "command": BAD, BAD: BAD, "settings": [BAD]}
    (tmp_path / "run.json").write_text(json.dumps(manifest))
    text = write_report(write_records(tmp_path, rows), label=BAD).read_text()
    assert "<b onclick" not in text
    assert "<!--" not in text.split("<script", 1)[0]
    assert text.count("&lt;/script&gt;&lt;!--&lt;b onclick=&#39;x&#39;&gt;&amp;amp;") >= 10
    for plot in (tmp_path / "plots").glob("*.svg"):
        assert "<b" not in plot.read_text()
    blocks = re.findall(r'<script type="application/json" id="([a-z-]+)">(.*?)</script>', text)
    assert [name for name, _ in blocks] == ["data-items"]
    for _, block in blocks:
        assert not set(block) & set("<>&")
    assert BAD in page_items(text)["texts"]
    assert "<b" not in (tmp_path / "results.md").read_text()


def test_the_page_names_nothing_outside_itself(tmp_path: Path) -> None:
    text = write_report(write_records(tmp_path, attempts(ImplicitSpec(), "oracle"))).read_text()
    body = text.split("<script", 1)[0]
    assert not re.search(r"<(link|iframe|object|embed|base|form)\b", body)
    assert not re.search(r'\b(src|href)="(?!#)', body)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    allowed, scripts = policy[1].split("script-src ")
    assert allowed == "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    last = text[text.rindex("<script>") + 8 : text.rindex("</script>")]
    digest = base64.b64encode(hashlib.sha256(last.encode()).digest()).decode()
    assert scripts == f"'sha256-{digest}'"


def test_the_page_and_its_plots_need_no_extra(tmp_path: Path) -> None:
    rows = [
        row
        for hops in (4, 6)
        for row in scored("oracle", [1.0] * 3, str(hops), groups={"steps": hops, "m": 8})
    ]
    write_records(tmp_path, rows)
    code = (
        "import sys\n"
        "sys.modules['polars'] = None\n"
        "from trivium.cli import main\n"
        f"sys.exit(main(['report', {str(tmp_path)!r}]) or main(['plot', {str(tmp_path)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.name for path in (tmp_path / "plots").iterdir()] == [
        "nhop_implicit_correct_by_steps.svg"
    ]
    text = (tmp_path / "report.html").read_text()
    assert "unsafe-eval" not in text
    assert '<figure id="chart-nhop_implicit_correct_by_steps">' in text


def test_a_page_has_its_parts(tmp_path: Path) -> None:
    usage = {"input_tokens": 2_000_000, "output_tokens": 30_000}
    rows = scored("oracle", [1.0] * 9, seed=7)
    rows += scored("a/b_c", [1.0, 0.0, None], seed=8, usage=usage, seconds=1.5)
    rows[-1] |= {"kind": "declined"}
    manifest = {"kind": "sweep", "command": "trivium sweep x", "items": 3, "settings": []}
    (tmp_path / "run.json").write_text(json.dumps(manifest))
    prices = Prices(price_in=0.5, price_out=10.0)
    text = write_report(write_records(tmp_path, rows), label="a label", prices=prices).read_text()
    assert "<title>Trivium sweep: a label</title>" in text
    assert CANARY in text  # pages show items with their answers
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", text))
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", facts.pop("date"))
    assert facts == {
        "models": "a/b_c",
        "items": "9",
        "attempts": "12",
        "declined": "1",
        "tokens in, out": "6.0M / 90k",
        "cost, in the prices&#39; currency": "3.90",
        "seed": "7 (the public default), 8",
    }
    body = text.split("<script", 1)[0]
    sections = re.findall(r'<section id="(.*?)"', body)
    assert sections == ["answer", "nhop_implicit", "tokens", "items", "reproduce"]
    assert re.findall(r'<li><a href="#(.*?)">', body) == sections
    # 1 of 2 right is a lift of (0.5 - 0.125) / 0.875; of 3 with the one declined, wrong and right.
    pattern = r'<td data-title="nhop_implicit" class="heat" style="--heat-share: (\d+)%">'
    pattern += r'<a href="#items[?]benchmark=nhop_implicit&amp;solver=a%2Fb_c&amp;kind=!right">'
    pattern += r'<b>(.*?)</b></a> <small>(.*?)</small> <small class="note">(.*?)</small>'
    cell = re.search(pattern, text)
    assert cell is not None
    assert cell.groups() == ("43", "0.43", "[-0.11, 0.97]", "1 declined: 0.24 to 0.62")
    assert "a/<wbr>b_<wbr>c" in text
    # The model has 1 of 2 right: 0.500 [0.025, 0.975] between the floor 0.125 and ceiling 1.
    bar = text.split('aria-label="0.500 [0.025, 0.975]; floor')[1].split("</div>")[0]
    assert re.findall(r'<i class="([a-z]+) ?\w*" style="(.*?)"', bar) == [
        ("ref", "left: 12.5%"),
        ("ref", "left: 100.0%"),
        ("span", "left: 2.5%; width: 95.0%"),
    ]
    assert "all 12 attempts</small>" in text
    assert '<pre tabindex="0">trivium sweep x</pre>' in text
    assert '<pre tabindex="0">items = 3\n</pre>' in text


def test_figures_are_in_order_wide_ones_first_and_where_it_breaks_last(tmp_path: Path) -> None:
    rows = [
        {**row, "usage": {"output_tokens": 10 * hops + m}}
        for name in ("a/model", "b/model", "c/model")
        for hops in (4, 6)
        for m in (6, 8)
        for trial in (0, 1)
        for row in scored(
            name, [1.0, 0.0, 0.0, 0.0], f"{hops} {m}", groups={"steps": hops, "m": m}, trial=trial
        )
    ]
    broken = [row for row in rows if row["kind"] == "other"]
    for number, row in enumerate(broken):
        row["kind"] = ("wrong-step:1", "wrong-candidate:2", "other-token:2")[number % 3]
    text = write_report(write_records(tmp_path, rows)).read_text()
    figures = re.findall(r'<figure id="chart-nhop_implicit_(\w+)"( class=wide)?>', text)
    assert [name for name, wide in figures if wide] == ["correct_by_steps", "breaks"]
    assert [name for name, _ in figures] == ["correct_by_steps", "tokens", "order_trials", "breaks"]


def test_a_page_without_prices_says_nothing_of_cost(tmp_path: Path) -> None:
    usage = {"input_tokens": 2_000_000, "output_tokens": 30_000}
    text = write_report(write_records(tmp_path, scored("a/b", [1.0], usage=usage))).read_text()
    assert "<dt>tokens in, out</dt><dd>2.0M / 30k</dd>" in text
    assert "cost, in the prices" not in text


def test_a_diagnosis_says_what_every_switch_does(tmp_path: Path) -> None:
    rows = []
    for spec, right in (({"M": 600}, 10), ({}, 40)):
        scores = [1.0] * right + [0.0] * (40 - right)
        rows += scored("a/model", scores, spec=spec, seed=1)
    manifest = {"kind": "diag", "settings": ["implicit", "M=600"]}
    (tmp_path / "run.json").write_text(json.dumps(manifest))
    text = write_report(write_records(tmp_path, rows)).read_text()
    assert "<title>Trivium diagnosis: nhop_implicit</title>" in text
    columns = re.findall(r'<th scope="col">(implicit|M=600)', text)
    assert columns == ["implicit", "M=600"]
    said = re.search(r"a/model: M=600 costs 75 points \[-(\d+), -(\d+)\]", text)
    assert said is not None
    assert 55 <= int(said[2]) < 75 < int(said[1]) <= 90
    # The fields of a spec change the items, those of a view only how they are presented.
    other = "between samples of different items, since these switches change the items"
    assert f"Differences from implicit in points of correct, from -100 to 100, {other};" in text
    legend = text.split('<p class="legend">')[1].split("</p>")[0]
    assert re.findall(r"</svg>([^<]+)", legend) == ["a/", "ceiling", "floor"]


def test_a_diagnosis_of_views_compares_the_same_items(tmp_path: Path) -> None:
    rows = [
        row
        for view, score in (({}, 1.0), ({"mode": "steps"}, 0.0))
        for row in scored("a/model", [score] * 9, spec={}, view=view, seed=1)
    ]
    manifest = {"kind": "diag", "settings": ["implicit", "implicit mode=steps"]}
    (tmp_path / "run.json").write_text(json.dumps(manifest))
    text = write_report(write_records(tmp_path, rows)).read_text()
    assert "from -100 to 100, on the same items; the 95% intervals" in text


def test_if_every_call_failed_the_page_says_so(tmp_path: Path) -> None:
    write_records(tmp_path, scored("openai/model", [None] * 3))
    text = write_report(tmp_path).read_text()
    assert "Nothing could be scored." in text
    assert "<b>undefined</b> lift undefined, items 0 of 3" in text
    assert "all 3 attempts" in text


def test_where_the_floor_is_the_ceiling_the_page_has_the_score(tmp_path: Path) -> None:
    write_records(tmp_path, scored("openai/model", [1.0, 1.0, 0.0, 0.0], floor=1.0))
    text = write_report(tmp_path).read_text()
    assert "There is no lift, since the floor is the ceiling." in text
    assert "correct 0.50, no lift" in text


def test_long_tables_are_cut_and_say_so(tmp_path: Path) -> None:
    rows = [
        {**row, "groups": {"steps": number}}
        for number, row in enumerate(scored("oracle", [1.0] * 1100))
    ]
    text = write_report(write_records(tmp_path, rows)).read_text()
    assert "correct by steps (the first 1,000 of 1,100 rows)" in text
    table = text.split("correct by steps (")[1].split("</table>")[0]
    assert table.count("<tr><td>") == 1000


def test_names_break_where_a_reader_would() -> None:
    assert breakable("a/b_c-d<i>") == "a/<wbr>b_<wbr>c-<wbr>d&lt;i&gt;"
    assert breakable("costs 7 points [-9, -5]") == "costs 7 points [-9, -5]"


def test_the_page_of_an_evaluation_says_how_to_reproduce_it(tmp_path: Path) -> None:
    words = f"eval nhop_implicit --solver oracle --items 3 --out {tmp_path}"
    assert main(words.split()) == 0
    assert read_mapping(tmp_path / "run.json")["command"] == f"trivium {words}"
    assert main(f"{words} --seed 7".split()) == 0
    assert read_mapping(tmp_path / "run.json")["command"] == f"trivium {words} --seed 7"
    assert f'<pre tabindex="0">trivium {words} --seed 7</pre>' in write_report(tmp_path).read_text()
