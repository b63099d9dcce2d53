"""results.md: short, every figure with its n, every setting named once, models first."""

from __future__ import annotations

from pathlib import Path

from tests.report.records import scored, write_records
from trivium.report.page import read_run, results_markdown, write_report


def test_the_file_has_results_metrics_kinds_and_charts(tmp_path: Path) -> None:
    write_report(write_records(tmp_path, scored("oracle", [1.0] * 4)))
    text = (tmp_path / "results.md").read_text()
    assert text.startswith("# Trivium evaluation: nhop_implicit\n\nMade by Trivium ")
    assert "| setting | solver | correct [95%] | lift | floor | items |" in text
    assert "| oracle (ceiling) | 1.000 [0.473, 1.000] | 1.000 | 0.125 | 4 |" in text
    assert "\n\nFloor: the best score without reasoning about the item.\n\n###" in text
    assert "### Every metric\n\n| solver | correct | lift | kinds of answers |" in text
    assert "| oracle (ceiling) | 1.000 | 1.000 | right 100% |" in text
    rows = [
        row
        for hops in (4, 6)
        for row in scored("oracle", [1.0], str(hops), groups={"steps": hops, "m": 8})
    ]
    write_report(write_records(tmp_path / "b", rows))
    assert (
        "](plots/nhop_implicit_correct_by_steps.svg)" in (tmp_path / "b" / "results.md").read_text()
    )


def test_a_setting_is_named_once_and_models_come_first_and_sorted(tmp_path: Path) -> None:
    rows = [
        row
        for spec in ({}, {"M": 600})
        for solver, scores in (
            ("oracle", [1.0] * 4),
            ("last_line", [0.0] * 4),
            ("openai/weak", [1.0, 0.0, 0.0, None]),
            ("openai/strong", [1.0, 1.0, 1.0, 0.0]),
        )
        for row in scored(solver, scores, spec=spec)
    ]
    text = results_markdown(read_run(write_records(tmp_path, rows)))
    table = text.split("| --- | --- | --- | --- | --- | --- | --- |\n")[1].split("\n\n")[0]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    assert sorted(row[0] for row in cells if row[0]) == ["M=600", "implicit"]
    solvers = ["openai/strong", "openai/weak", "oracle (ceiling)", "last_line (shortcut)"]
    assert [row[1] for row in cells] == solvers * 2
    assert (
        "about the item. The share of attempts in no score (declined or failed) differs: " in text
    )
    assert "for openai/weak, M=600, 0.0% for oracle" in text
    assert cells[1][5:] == ["3 of 4", "1"]  # the n behind the figure, and an error
