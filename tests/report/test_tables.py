"""Tables: rows in a natural order, known numbers, and titles that say what was pooled."""

from __future__ import annotations

import io
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tests.report.records import attempts, results_of, scored, write_records
from trivium.benchmarks.nhop.spec import ImplicitSpec
from trivium.cli import main
from trivium.report.tables import (
    Table,
    analysis_tables,
    condensed,
    every_metric,
    kind_table,
    say,
    split_tables,
)


def test_groups_are_sorted_as_numbers_and_missing_ones_come_last(tmp_path: Path) -> None:
    rows = [
        row
        for n in (10, "x", 4)
        for row in scored("oracle", [1.0, 0.0] * 10, name=str(n), groups={"steps": n})
    ]
    rows += scored("oracle", [1.0], groups={"m": 4})
    (found,) = [one for one in split_tables(results_of(tmp_path, rows)) if "by" in one.title]
    assert found.title == "nhop_implicit: correct by steps, m"
    assert [row[:2] for row in found.rows] == [("4", "-"), ("10", "-"), ("x", "-"), ("-", "4")]


def test_other_metrics_are_shown_by_group_too(tmp_path: Path) -> None:
    rows = scored("oracle", [1.0] * 4) + scored(
        "oracle", [0.0] * 4, "more", groups={"steps": 6, "m": 8}
    )
    for row in rows:
        row["scores"] = {**row["scores"], "strict": 0.5}
    tables = {table.title: table for table in split_tables(results_of(tmp_path, rows))}
    found = tables["nhop_implicit: other metrics by steps, m"]
    assert found.columns == ("steps", "m", "solver", "strict [95%]")
    assert [row[:3] for row in found.rows] == [("5", "8", "oracle"), ("6", "8", "oracle")]
    assert found.rows[0][3].startswith("0.500 [")


def test_the_figures_of_a_page_table(tmp_path: Path) -> None:
    rows = scored("oracle", [1.0] * 4, prompt_lines=30, prompt_chars=600)
    rows += scored("last_line", [1.0, 0.0, 0.0, 0.0], prompt_lines=30, prompt_chars=600)
    other = {"seed": 2, "groups": {"steps": 6, "m": 8}}
    rows += [{**row, **other, "digest": f"other {row['id']}"} for row in rows]
    results = results_of(tmp_path, rows)
    tables = {table.title: table for table in split_tables(results)}
    names = ["nhop_implicit: correct by steps, m", "nhop_implicit: kinds of answers"]
    assert list(tables) == names
    every = every_metric(results)
    right = "the answer is right"
    assert every.rows[0] == ("oracle", "correct", "1.000", "0.688", "1.000", "8", right)
    lift = "the headline metric: 0 at the floor, 1 at the ceiling"
    assert ("last_line", "lift", "0.143", "-0.092", "0.556", "8", lift) in every.rows
    by_group = tables[names[0]]
    assert by_group.columns == (
        *("steps", "m", "solver", "correct", "low", "high", "lift", "floor", "items"),
        *("lines", "characters"),
    )
    assert by_group.rows[0] == (
        *("5", "8", "last_line", "0.250", "0.013", "0.758", "0.143", "0.125", "4", "30", "600"),
    )
    assert [row[:3] for row in by_group.rows[1:]] == [
        ("5", "8", "oracle"),
        ("6", "8", "last_line"),
        ("6", "8", "oracle"),
    ]
    assert tables[names[1]].rows == (
        ("oracle", "right", "8", "1.000", "", "the answer is right"),
        ("last_line", "other", "6", "0.750", "", ""),
        ("last_line", "right", "2", "0.250", "", "the answer is right"),
    )


def test_seeds_and_settings_have_tables_if_there_are_several(tmp_path: Path) -> None:
    rows = [
        row
        for seed in (2, 1)
        for M in (600, 512)
        for row in scored("oracle", [1.0], seed=seed, spec={"M": M})
    ]
    results = results_of(tmp_path, rows)
    by_setting, by_seed, kinds = split_tables(results)
    together = "(2 settings together)"
    assert [table.title for table in (by_setting, by_seed, kinds)] == [
        "nhop_implicit: correct by setting",
        f"nhop_implicit: correct by seed {together}",
        f"nhop_implicit: kinds of answers {together}",
    ]
    assert [row[0] for row in by_setting.rows] == ["M=600", "implicit"]
    assert [(row[0], row[7]) for row in by_seed.rows] == [("1", "2"), ("2", "2")]


def test_tables_of_several_settings_say_so(tmp_path: Path) -> None:
    rows = attempts(ImplicitSpec(), "oracle", items=2)
    first, *others = analysis_tables(results_of(tmp_path, rows))
    title = "nhop_implicit, oracle: 2 items, 2 answered, 0 without an answer, 0 failed"
    assert (first.title, len(others)) == (title, 1)
    rows += attempts(ImplicitSpec(M=600), "oracle", items=2)
    rows += attempts(ImplicitSpec(M=600), "last_line", items=2)
    results = results_of(tmp_path, rows)
    both, one, *_ = [table.title for table in analysis_tables(results)]
    assert both.endswith("0 failed (2 settings together)")
    assert one.endswith("0 failed")  # the solver was tried in one of them


def test_kinds_are_counted_with_their_commonest_details(tmp_path: Path) -> None:
    kinds = ["wrong:2"] * 3 + ["right"] * 5 + ["wrong:1"] * 4 + ["wrong"]
    rows = [row | {"kind": kind} for row, kind in zip(scored("a/m", [0] * 13), kinds, strict=True)]
    assert kind_table(results_of(tmp_path, rows)).rows == (
        ("a/m", "wrong", "8", "0.615", "1: 4, 2: 3", "another answer"),
        ("a/m", "right", "5", "0.385", "", "the answer is right"),
    )


def test_markdown_is_one_line_per_row_and_holds_no_markup() -> None:
    table = Table("title", ("a|b", "c"), (("<b>\nx", "[l](u) `c` \\ &"),))
    assert table.markdown().split("\n") == [
        "| a&#124;b | c |",
        "| --- | --- |",
        "| &#60;b&#62; x | &#91;l&#93;(u) &#96;c&#96; &#92; &#38; |",
    ]


def test_analyze_prints_examples_as_plain_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = scored("last_line", [0.0] * 3) + scored("oracle", [1.0])
    rows[0] |= {"reply": "\x1b[31m[bold]red\u202e", "kind": "no-answer"}
    assert main(["analyze", str(write_records(tmp_path, rows)), "--examples", "1"]) == 0
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    first, second = printed.split("no-answer  item-0  last_line\n")[1].split("\n\n")[:2]
    assert "  reply     ?[31m[bold]red?\n" in f"{first}\n"
    assert second.startswith("other  item-1  last_line\n  question  ")
    assert "\n  reply     E_0001\n" in f"{second}\n"


def test_examples_per_type_show_question_gold_and_reply(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The flag's name is that of the scripts that this command replaces."""
    words = f"eval nhop_explicit --solver elimination --items 20 --out {tmp_path}"
    assert main(words.split()) == 0
    assert main(["analyze", str(tmp_path), "--examples_per_type", "2"]) == 0
    printed = capsys.readouterr().out
    found = re.findall(
        r"wrong-candidate:\d  SYN-\d+  elimination\n"
        r"  question  Question: What is f4 of f3 of f2 of f1 of A_\d+\?\n"
        r"  gold      (E_\d+)\n  reply     (E_\d+)\n  prompt    (trivium show .*)\n",
        printed,
    )
    assert len(found) == 2
    for gold, reply, command in found:
        assert gold != reply
        assert main(command.split()[1:]) == 0
        assert f"--- answer\n{gold}\n" in capsys.readouterr().out


@given(
    width=st.integers(20, 200),
    title=st.text("ab c", max_size=90),
    rows=st.lists(
        st.tuples(
            st.text("xyz-_ ", max_size=40),
            st.sampled_from(["0.250 [0.013, 0.758]", "-0.1", "7 of 10", "undefined", ""]),
            st.text("pqr", max_size=25),
        ),
        min_size=1,
        max_size=4,
    ),
)
def test_no_window_is_too_narrow_for_a_table(
    width: int, title: str, rows: list[tuple[str, ...]]
) -> None:
    """Every letter is printed, however wide the window: two names can never read alike.

    Of a column that is the same in every row, it is printed once.
    """
    columns = ("setting", "correct [95%]", "a heading of words")
    console = Console(width=width, file=io.StringIO(), highlight=False)
    Table(title, columns, tuple(rows), "a note").show(console)
    assert isinstance(console.file, io.StringIO)
    printed = Counter("".join(console.file.getvalue().split()))
    own = list(zip(columns, *rows, strict=True))
    cells = [dict.fromkeys(one) if len(set(one[1:])) == 1 else one for one in own]
    texts = [title, *(cell for one in cells for cell in one), "a note"]
    assert Counter("".join("".join(texts).split())) <= printed


def test_a_narrow_window_loses_columns_that_say_nothing_and_breaks_no_word() -> None:
    rows = [(f"solver_{n} (shortcut)", "0.250 [0.013, 0.758]", "0.167", "15") for n in range(3)]
    table = Table("t", ("solver", "correct [95%]", "floor", "items"), tuple(rows), "a note")
    console = Console(width=44, file=io.StringIO(), highlight=False)
    table.show(console)
    assert isinstance(console.file, io.StringIO)
    lines = [line.rstrip() for line in console.file.getvalue().split("\n")]
    assert lines[3] == "solver_0 (shortcut)  0.250 [0.013, 0.758]"
    assert lines[6:9] == ["floor 0.167 in every row", "items 15 in every row", "a note"]
    assert table.fitted(80) == table


def test_bold_is_left_out_without_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table("t", ("solver",), (("oracle",),))
    for set_, escapes in ((False, True), (True, False)):
        monkeypatch.setenv("NO_COLOR", "1") if set_ else monkeypatch.delenv("NO_COLOR", False)
        console = Console(file=io.StringIO(), force_terminal=True, color_system="standard")
        table.show(console)
        assert isinstance(console.file, io.StringIO)
        assert ("\x1b[" in console.file.getvalue()) == escapes


def test_a_long_table_keeps_models_the_best_shortcut_and_the_ceiling(tmp_path: Path) -> None:
    rows = [
        row
        for solver, scores in (
            ("last_line", [1.0, 0.0]),
            ("pointer_f_n1", [1.0, 1.0]),
            ("random_candidate", [1.0, 0.0]),
            ("oracle", [1.0, 1.0]),
            ("openai/weak", [0.0, 0.0]),
            ("my_module:function", [1.0, 0.0]),
        )
        for row in scored(solver, scores)
    ]
    results = results_of(tmp_path, rows)
    named = [("implicit", part) for part in results.by_solver.values()]
    kept = [part.solver for _, part in condensed(results.benchmark, named)]
    assert kept == ["my_module:function", "openai/weak", "oracle", "pointer_f_n1"]


def test_a_sweep_prints_its_table_of_all_seeds_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"sweep nhop_implicit --hops 4,5 --seeds 7,13 --items 5 --processes 1 --out {tmp_path}"
    assert main(words.split()) == 0
    printed = capsys.readouterr().out
    found = re.findall(r"^(hops=\d)? +(\S+ \(\w+\)) .* (\d+)$", printed, re.MULTILINE)
    assert [setting for setting, _, _ in found if setting] == ["hops=4", "hops=5"]
    assert [solver for _, solver, _ in found].count("oracle (ceiling)") == 2
    assert {items for _, _, items in found} == {"10"}
    assert "floor: the best score without reasoning about the item (random_candidate)" in printed


def test_eval_prints_floor_and_ceiling(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = f"eval nhop_implicit --solver last_line --items 5 --out {tmp_path}"
    assert main(words.split()) == 0
    assert "\nfloor 0.125 (random_candidate), ceiling 1.000\n" in capsys.readouterr().out


def test_lines_break_between_words_in_a_window_and_nowhere_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "1. a/model 0.93 [0.91, 0.95], beats b/model by 0.36 [0.31, 0.42]; above [b]floor[/b]"
    say(line)
    assert capsys.readouterr().out == f"{line}\n"
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    say(f"{line}\x1b[2J")
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 40
    assert said.split()[: len(line.split()) - 1] == line.split()[:-1]
    assert "\x1b[2J" not in said
