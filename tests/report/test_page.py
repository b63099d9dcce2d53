"""The page as text: self-contained, escaped, and complete without charts."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

from tests.report.records import attempts, scored, write_records
from trivium.benchmarks.nhop.spec import ImplicitSpec
from trivium.cli import main
from trivium.core.spec import read_mapping
from trivium.report.page import breakable, write_report

BAD = "</script><!--<b onclick='x'>&amp;\u2028"


def test_everything_that_comes_from_records_is_escaped(tmp_path: Path) -> None:
    rows = [
        {**row, "solver": BAD, "kind": BAD, "reply": BAD, "groups": {"n": BAD, "m": 4}}
        for row in attempts(ImplicitSpec(), "oracle")
    ]
    rows += attempts(ImplicitSpec(), "oracle")
    manifest = {"kind": "sweep", "command": BAD, BAD: BAD, "settings": [BAD]}
    (tmp_path / "run.json").write_text(json.dumps(manifest))
    text = write_report(write_records(tmp_path, rows), label=BAD).read_text()
    assert "<b onclick" not in text
    assert "<!--" not in text.split("<script", 1)[0]
    assert text.count("&lt;/script&gt;&lt;!--&lt;b onclick=&#39;x&#39;&gt;&amp;amp;") >= 10
    blocks = re.findall(r'<script type="application/json" id="([a-z-]+)">(.*?)</script>', text)
    assert [name for name, _ in blocks] == ["data-charts", "data-items"]
    for _, block in blocks:
        assert not set(block) & set("<>&")
    assert BAD in json.loads(blocks[1][1])["texts"]
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
    # Vega's bundle and the page's own script, each by its hash; Vega compiles expressions.
    last = text[text.rindex("<script>") + 8 : text.rindex("</script>")]
    digest = base64.b64encode(hashlib.sha256(last.encode()).digest()).decode()
    assert scripts.split(" ")[1:] == [f"'sha256-{digest}'", "'unsafe-eval'"]
    assert re.fullmatch(r"'sha256-[0-9A-Za-z+/]{43}='", scripts.split(" ")[0])


def test_without_the_plots_extra_the_page_has_everything_else(tmp_path: Path) -> None:
    write_records(tmp_path, scored("oracle", [1.0] * 3) + scored("last_line", [0.0] * 3))
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
    why = "There are no charts, since altair is missing: pip install "
    assert f"{why}&#39;trivium[plots]&#39;" in text
    assert f"{why}'trivium[plots]'" in (tmp_path / "results.md").read_text()
    assert "unsafe-eval" not in text
    assert text.count('<svg class="bar"') == 2
    assert 'id="data-items"' in text
    assert 'id="data-charts"' not in text
    assert not (tmp_path / "plots").exists()


def test_a_page_has_its_parts(tmp_path: Path) -> None:
    rows = scored("oracle", [1.0] * 9, seed=7) + scored("a/b_c", [1.0, 0.0, None], seed=8)
    manifest = {"kind": "sweep", "command": "trivium sweep x", "items": 3, "settings": []}
    (tmp_path / "run.json").write_text(json.dumps(manifest))
    text = write_report(write_records(tmp_path, rows), label="a label").read_text()
    assert "<title>Trivium sweep: a label</title>" in text
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", text))
    assert facts == {
        "benchmarks": "nhop_implicit",
        "settings": "1",
        "solvers": "2",
        "attempts": "12",
        "seeds": "7, 8",
        "version": facts["version"],
    }
    body = text.split("<script", 1)[0]
    titles = ["Results", "Charts", "Tables", "Items", "Reproduce"]
    assert re.findall(r"<h2>(.*?)</h2>", body) == titles
    assert re.findall(r'<li><a href="#(.*?)">', body) == re.findall(r'<section id="(.*?)">', body)
    assert "<td>2 of 3</td>" in text
    assert "a/<wbr>b_<wbr>c" in text
    # The model has 1 of 2 right: 0.500 [0.025, 0.975] between the floor 0.125 and ceiling 1.
    bar = text.split('aria-label="0.500 [0.025, 0.975]')[1].split("</svg>")[0]
    assert re.findall(r'class="([a-z ]+)" (?:x1|cx)="([0-9.]+)" (?:x2="([0-9.]+)")?', bar) == [
        ("track", "6", "274"),
        ("floor", "39.5", "39.5"),
        ("ceiling", "274.0", "274.0"),
        ("interval model", "12.7", "267.3"),
        ("dot model", "140.0", ""),
    ]
    assert "7 of 12 attempts are shown: the first few of every solver, setting and kind." in text
    assert "<pre>trivium sweep x</pre>" in text
    assert "<pre>items = 3\n</pre>" in text
    names = re.findall(r'<figure data-chart="(.*?)">', text)
    assert names == ["nhop_implicit_results", "nhop_implicit_kinds"]
    assert {path.name for path in (tmp_path / "plots").iterdir()} == {
        f"{name}{suffix}" for name in names for suffix in (".png", ".svg")
    }


def test_a_diagnosis_has_its_variants_in_the_order_of_the_run(tmp_path: Path) -> None:
    rows = scored("oracle", [1.0], spec={"M": 600}) + scored("oracle", [1.0], spec={})
    manifest = {"kind": "diag", "settings": ["implicit", "M=600"]}
    (tmp_path / "run.json").write_text(json.dumps(manifest))
    text = write_report(write_records(tmp_path, rows)).read_text()
    assert "<title>Trivium diagnosis: nhop_implicit</title>" in text
    assert re.findall("<caption>(.*?)</caption>", text) == ["implicit", "M=600"]
    names = re.findall(r'<figure data-chart="nhop_implicit_(.*?)">', text)
    assert names == ["variants_em", "variants_lift", "kinds"]


def test_if_every_call_failed_the_page_says_so(tmp_path: Path) -> None:
    write_records(tmp_path, scored("openai/model", [None] * 3))
    text = write_report(tmp_path).read_text()
    assert "Nothing could be scored." in text
    assert "<td>undefined</td>" in text
    assert "All attempts are shown." in text


def test_long_tables_are_cut_and_say_so(tmp_path: Path) -> None:
    rows = [
        {**row, "groups": {"n": number}}
        for number, row in enumerate(scored("oracle", [1.0] * 1100))
    ]
    text = write_report(write_records(tmp_path, rows)).read_text()
    assert "em by group (the first 1,000 of 1,100 rows)" in text
    table = text.split("em by group (")[1].split("</table>")[0]
    assert table.count("<tr><td>") == 1000


def test_names_break_where_a_reader_would() -> None:
    assert breakable("a/b_c-d<i>") == "a/<wbr>b_<wbr>c-<wbr>d&lt;i&gt;"


def test_the_page_of_an_evaluation_says_how_to_reproduce_it(tmp_path: Path) -> None:
    words = f"eval nhop_implicit --solver oracle --items 3 --out {tmp_path}"
    assert main(words.split()) == 0
    assert read_mapping(tmp_path / "run.json")["command"] == f"trivium {words}"
    assert main(f"{words} --seed 7".split()) == 0
    assert read_mapping(tmp_path / "run.json")["command"] == f"trivium {words} --seed 7"
    assert f"<pre>trivium {words} --seed 7</pre>" in write_report(tmp_path).read_text()
