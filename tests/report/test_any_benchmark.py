"""Reports know no benchmark by name: one of the user's gets all that the bundled ones get."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from tests.report.records import page_items
from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.cli import main

COMMANDS = """
run --benchmarks nhop_explicit --items 2 --processes 1 --out run
eval nhop_explicit --solver elimination --items 2 --out eval
threshold nhop_implicit --vary hops --solver last_line --max_items 25 --out threshold
report eval
analyze eval
compare run
""".strip().splitlines()


def test_what_runs_on_nhop_imports_no_other_benchmark(tmp_path: Path) -> None:
    code = (
        "import sys; from trivium.cli import main\n"
        f"assert not any([main(words.split()) for words in {COMMANDS!r}])\n"
        "print([name for name in sys.modules if name.startswith('trivium.benchmarks.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    loaded = re.findall(r"'trivium\.benchmarks\.(\w+)", done.stdout.splitlines()[-1])
    assert set(loaded) == {"nhop", "contract"}  # which checks any benchmark


def test_no_module_of_report_names_a_benchmark() -> None:
    folder = Path(sys.modules["trivium"].__file__ or "").parent / "report"
    words = [*benchmark_names(), "nhop", "blicket", "identifying"]
    for path in folder.iterdir():
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            assert not [word for word in words if word in text], path


def test_a_new_benchmark_gets_sentences_charts_highlights_thresholds_and_badges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["new", "fourth_task"]) == 0
    words = "run --benchmarks fourth_task --items 12 --processes 1 --out run"
    assert main(words.split()) == 0
    # A solver with another name is a model, which sentences are about.
    for path in Path("run").rglob("records.jsonl"):
        path.write_bytes(path.read_bytes().replace(b'"sort_numbers"', b'"a/model"'))
    benchmark = get_benchmark("fourth_task")
    monkeypatch.setattr("trivium.auditing.stored.MAX_ITEMS", 100)  # more take too long here
    assert main(["audit", "fourth_task", "--items", "100", "--keep"]) in (0, 1)
    assert main(["report", "run"]) == 0
    text = Path("run/report.html").read_text(encoding="utf-8")
    assert "Fourth_task: well." in text  # 12 of 12 right, with a lower end of 0.78
    assert 'id="chart-fourth_task_correct_by_people"' in text
    assert "Audit: this view was not audited" in text  # third-of-ten
    (views,) = orjson.loads(Path("audits.json").read_bytes()).values()
    verdict = views["{}"]["verdict"]
    assert f'class="audit {verdict.replace(" ", "-")}"' in text or verdict == "incomplete"
    items = page_items(text)
    attempt = next(one for one in items["attempts"] if one["kind"] == "right")
    (mark,) = [items["texts"][number] for number in attempt["marks"]]
    assert mark == benchmark.gold(
        next(iter(benchmark.generate(benchmark.presets[attempt["setting"]], 7, _index(attempt))))
    )
    assert items["kinds"]["fourth_task"]["wrong"] == "another answer"
    words = "threshold fourth_task --vary people --solver first_named --out threshold"
    assert main(words.split()) == 0
    page = Path("threshold/report.html").read_text(encoding="utf-8")
    assert 'id="chart-threshold_fourth_task_people_1"' in page


def _index(attempt: dict[str, str]) -> int:
    return int(attempt["id"].removeprefix("Q-"))


@pytest.mark.parametrize("name", benchmark_names())
def test_the_gallery_says_what_every_metric_and_kind_means(name: str) -> None:
    text = (Path(__file__).parents[2] / "GALLERY.md").read_text(encoding="utf-8")
    benchmark = get_benchmark(name)
    for metric in benchmark.metrics:
        assert f"| {metric.name} | " in text
    for kind, meaning in benchmark.kinds.items():
        assert f"| {kind} | {meaning} |" in text
