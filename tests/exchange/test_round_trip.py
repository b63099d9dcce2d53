"""The whole way: export, answers by an outside script, score, then report, analyze, compare."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import run
from tests.report.records import page_items
from trivium.core.files import read_rows

OUTSIDE = Path(__file__).with_name("outside.py")


def answered(prompts: Path, replies: Path) -> Path:
    """The replies of the outside script, which knows nothing of Trivium."""
    words = [sys.executable, "-I", str(OUTSIDE), str(prompts), str(replies)]
    subprocess.run(words, check=True)
    return replies


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    """A run folder of 24 prompts of two seeds, of which every fourth was not answered."""
    for seed in (7, 8):
        file = tmp_path / f"{seed}.jsonl"
        assert run(f"export nhop_implicit --items 12 --seed {seed} --out {file}") == 0
    both = tmp_path / "both.jsonl"
    both.write_bytes((tmp_path / "7.jsonl").read_bytes() + (tmp_path / "8.jsonl").read_bytes())
    replies = answered(both, tmp_path / "replies.jsonl")
    out = tmp_path / "runs" / "outside"
    words = f"score nhop_implicit --in {both} --replies {replies} --solver outside --out {out}"
    assert run(words) == 0
    return out


def test_the_scores_are_those_of_the_script(scored: Path) -> None:
    rows = [row for _, row in read_rows(scored / "records.jsonl")]
    assert [row["kind"] for row in rows] == ["right", "right", "right", "no-answer"] * 6
    assert {(row["seed"], row["index"]) for row in rows} == {
        (seed, index) for seed in (7, 8) for index in range(12)
    }
    assert all(row["gold"] in (row["reply"] or row["gold"]) for row in rows)
    assert rows[3]["reply"] is None
    assert rows[3]["scores"]["correct"] == 0
    summary = json.loads((scored / "summary.json").read_text())
    assert (summary["items"], summary["answered"], summary["no_answers"]) == (24, 18, 6)
    assert summary["metrics"]["correct"]["value"] == 0.75
    manifest = json.loads((scored / "run.json").read_text())
    assert manifest["kind"] == "score"
    assert manifest["solver"] == "outside"
    assert manifest["command"].startswith("trivium score nhop_implicit --in")


def test_report_analyze_and_compare_open_it(
    scored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(f"report {scored}") == 0
    shown = page_items((scored / "report.html").read_text())
    assert any("Question: What is f4 of f3 of f2 of f1 of" in text for text in shown["texts"])
    gold = next(read_rows(scored / "records.jsonl"))[1]["gold"]
    assert gold in {one["expected"] for one in shown["attempts"]}
    assert run(f"analyze {scored} --examples 1") == 0
    assert run(f"analyze --in {scored / 'records.jsonl'}") == 0
    assert run("analyze") == 2
    oracle = tmp_path / "runs" / "oracle"
    assert run(f"eval nhop_implicit --items 12 --seed 7 --solver oracle --out {oracle}") == 0
    capsys.readouterr()
    assert run(f"compare {scored} {oracle}") == 0
    said = capsys.readouterr().out
    assert "oracle" in said
    assert "12" in said, "the twelve items of seed 7 are the common ones"


def test_a_page_of_items_from_elsewhere_shows_prompt_and_answer(tmp_path: Path) -> None:
    """Items without spec, seed and index cannot be generated again: the records hold both."""
    row = {
        "id": "IMP-1",
        "facts_bag": [["A_01", "f1", "B_02"], ["B_02", "f2", "C_03"],
                      ["A_04", "f1", "B_05"], ["B_05", "f2", "C_06"]],
        "question": "What is f2 of f1 of A_04?",
        "answer_id": "C_06",
    }  # fmt: skip
    items, prompts = tmp_path / "items.jsonl", tmp_path / "prompts.jsonl"
    items.write_text(json.dumps(row) + "\n")
    assert run(f"export nhop_implicit --in {items} --out {prompts}") == 0
    replies = answered(prompts, tmp_path / "replies.jsonl")
    for name, given in (("items", items), ("prompts", prompts)):
        out = tmp_path / name
        assert run(f"score nhop_implicit --in {given} --replies {replies} --out {out}") == 0
        (record,) = [row for _, row in read_rows(out / "records.jsonl")]
        assert (record["kind"], record["gold"]) == ("right", "C_06")
        assert run(f"report {out}") == 0
        shown = page_items((out / "report.html").read_text())
        assert any("What is f2 of f1 of A_04?" in text for text in shown["texts"])
        assert [one["expected"] for one in shown["attempts"]] == ["C_06"]
