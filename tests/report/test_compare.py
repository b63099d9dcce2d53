"""Runs compared on the items that they share."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from tests.report.records import attempts, scored, write_records
from trivium.benchmarks.nhop.spec import ImplicitSpec
from trivium.cli import main
from trivium.core.errors import UserError
from trivium.core.statistics import Estimate
from trivium.report.compare import (
    Difference,
    SolverScores,
    comparison_notes,
    comparison_page,
    difference_table,
    differences,
    directions,
    read_scores,
    worth_comparing,
)


def test_differences_are_paired_and_signed(tmp_path: Path) -> None:
    """Of six items the first run has 2 right; the second run has four of the six, all right."""
    first = write_records(tmp_path / "a", scored("last_line", [1, 0, 0, 1, 0, 0]))
    second = write_records(tmp_path / "b", scored("oracle", [1, 1, 1, 1]))
    (found,) = differences(read_scores([first, second]), pairs=False)
    assert (found.first.solver, found.second.solver) == ("oracle", "last_line")
    assert (found.items, found.estimate.value) == (4, 0.5)
    assert found.estimate.low is not None
    assert -1 <= found.estimate.low < 0.5


def test_trials_of_an_item_are_averaged_and_failed_calls_left_out(tmp_path: Path) -> None:
    rows = [
        row
        for trial, scores in enumerate([[1, 0, None], [0, 0, None], [0, 0, None]])
        for row in scored("openai/model", scores, trial=trial)
    ]
    (found,) = read_scores([write_records(tmp_path, rows)])
    assert sorted(found.scores.values()) == [0.0, pytest.approx(1 / 3)]


def test_what_could_not_be_scored_is_named_beside_the_differences(tmp_path: Path) -> None:
    rows = scored("a/model", [1, None, None, 0, 1])
    rows[-1] |= {"kind": "declined", "scores": {}}
    paths = [
        write_records(tmp_path / "a", scored("oracle", [1, 1, 1, 1, 1])),
        write_records(tmp_path / "b", rows),
    ]
    found = read_scores(paths)
    made = differences(found, pairs=False)
    (note,) = comparison_notes([str(path) for path in paths], found, made)
    assert note == f"{found[1]}, nhop_implicit: 2 failed, 1 declined are not part of any comparison"
    assert "2 failed, 1 declined" in comparison_page([str(path) for path in paths], found, made)


def test_items_of_other_seeds_and_specs_are_not_the_same(tmp_path: Path) -> None:
    first = write_records(tmp_path / "a", attempts(ImplicitSpec(), "oracle", seed=1))
    for folder, rows in (
        ("b", attempts(ImplicitSpec(), "last_line", seed=2)),
        ("c", attempts(ImplicitSpec(hops=6), "last_line", seed=1)),
    ):
        second = write_records(tmp_path / folder, rows)
        assert differences(read_scores([first, second]), pairs=True) == []


def test_all_pairs_on_request(tmp_path: Path) -> None:
    rows = scored("oracle", [1]) + scored("last_line", [0]) + scored("random_candidate", [0])
    found = read_scores([write_records(tmp_path, rows)])
    first = [(one.first.solver, one.second.solver) for one in differences(found, pairs=False)]
    assert first == [("last_line", "oracle"), ("random_candidate", "oracle")]
    pairs = [(one.first.solver, one.second.solver) for one in differences(found, pairs=True)]
    assert pairs == [*first, ("random_candidate", "last_line")]


def test_the_table_says_what_its_intervals_say() -> None:
    one, other = (SolverScores("run", name, "nhop_implicit") for name in ("one", "other"))
    intervals = [(0.1, 0.3), (-0.3, -0.1), (-0.1, 0.3), (0.0, 0.3), (None, None)]
    made = [
        Difference(one, other, 9, Estimate(-0.2 if ends[1] == -0.1 else 0.2, *ends, 9), clear)
        for ends, clear in zip(intervals, (True, True, False, True, False), strict=True)
    ]
    table = difference_table("nhop_implicit", made)
    unseen = "no difference seen"
    assert [row[1] for row in table.rows] == ["higher", "lower", unseen, "higher", unseen]
    assert table.rows[0] == (
        "one (run)",
        "higher",
        "other (run)",
        "9 items",
        "0.200 [0.100, 0.300]",
    )
    assert table.note.startswith("the 5 intervals are simultaneous at 95% (Bonferroni); higher and")


def test_items_without_a_spec_are_paired_by_their_content(tmp_path: Path) -> None:
    """Ids of outside files repeat; only the same content is the same item."""
    known, changed = scored("oracle", [1, 1, 1]), scored("last_line", [1, 1, 1])
    changed[2]["digest"] = "another"
    folders = [write_records(tmp_path / "a", known), write_records(tmp_path / "b", changed)]
    (found,) = differences(read_scores(folders), pairs=False)
    assert found.items == 2
    with pytest.raises(UserError, match="item-0 has no digest"):
        read_scores([write_records(tmp_path / "c", scored("oracle", [1], digest=None))])


def test_runs_of_different_items_are_refused_by_their_digest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One item of twelve was generated differently by another version of the benchmark."""
    rows = attempts(ImplicitSpec(), "last_line")
    first = write_records(tmp_path / "a", attempts(ImplicitSpec(), "oracle"))
    for row in rows:
        row["version"] = "2.0"
    same = write_records(tmp_path / "same", rows)
    assert main(["compare", str(first), str(same)]) == 0
    assert "nhop_implicit: versions 1.0, 2.0 are compared; the items" in capsys.readouterr().out
    rows[3]["digest"] = "0" * 16
    other = write_records(tmp_path / "b", rows)
    assert main(["compare", str(first), str(other)]) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert "nhop_implicit: item IMP-000003 of seed 1 in last_line" in error
    assert "(version 2.0) is not the one in oracle" in error
    assert "so they cannot be compared" in error


def test_the_command_says_what_it_cannot_compare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = str(write_records(tmp_path / "a", attempts(ImplicitSpec(), "oracle")))
    other = str(write_records(tmp_path / "b", attempts(ImplicitSpec(), "oracle", seed=9)))
    assert main(["compare", one]) == 2
    assert "the runs hold only one solver" in capsys.readouterr().err
    assert main(["compare", one, one]) == 2
    assert "a run is named twice" in capsys.readouterr().err
    assert main(["compare", one, other]) == 2
    assert "no items in common" in capsys.readouterr().err
    assert main(["compare", one, "--solvers", "wizard"]) == 2
    assert "unknown solver 'wizard'" in capsys.readouterr().err
    third = str(write_records(tmp_path / "c", attempts(ImplicitSpec(), "last_line")))
    assert main(["compare", one, third]) == 0
    assert "lower" in capsys.readouterr().out


def test_models_with_other_limits_are_not_compared_unasked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder, shaping in (("a", {"max_output_tokens": 16}), ("b", {"max_output_tokens": None})):
        rows = scored("openai/m", [1, 0, 1])
        write_records(tmp_path / folder, rows)
        manifest = {"solver": "openai/m", "shaping": shaping | {"temp": None}}
        (tmp_path / folder / "run.json").write_bytes(orjson.dumps(manifest))
    words = ["compare", str(tmp_path / "a"), str(tmp_path / "b")]
    assert main(words) == 2
    error = capsys.readouterr().err
    assert "max_output_tokens differs between the runs (16, the default)" in error
    assert main([*words, "--any_settings"]) == 0
    # A program has no limits, so it can be compared with any model.
    write_records(tmp_path / "c", scored("oracle", [1, 1, 1]))
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "c")]) == 0


def test_the_first_named_is_the_baseline_and_nothing_goes_without_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder that shares no items, or has no scored attempts, is named with the reason."""
    runs = {
        "first": scored("z/base", [1, 0, 1, 0]),
        "second": scored("a/other", [1, 1, 1, 1]) + scored("oracle", [1] * 4),
        "apart": scored("b/far", [1, 1], "elsewhere"),
        "failed": scored("c/dead", [None, None]),
    }
    folders = [write_records(tmp_path / name, rows) for name, rows in runs.items()]
    found = worth_comparing(read_scores(folders))
    assert [one.solver for one in found] == ["z/base", "a/other", "b/far"]
    made = differences(found, pairs=False)
    assert [(one.first.solver, one.second.solver) for one in made] == [("a/other", "z/base")]
    notes = comparison_notes(list(map(str, folders)), found, made)
    assert len(notes) == 2
    assert notes[0] == f"{folders[3]}: left out, since it holds no scored attempts"
    assert "b/far" in notes[1]
    assert "no items in common with z/base" in notes[1]
    page = tmp_path / "compare.html"
    assert main(["compare", *map(str, folders), "--out", str(page)]) == 0
    assert notes[1] in capsys.readouterr().out
    text = page.read_text()
    assert all(str(folder) in text for folder in folders)
    assert "no difference seen" in text


def test_another_benchmark_than_the_baselines_is_named(tmp_path: Path) -> None:
    first = write_records(tmp_path / "a", scored("a/m", [1, 1]) + scored("b/m", [1, 0]))
    other = write_records(tmp_path / "b", scored("c/m", [1, 1], benchmark="nhop_explicit"))
    found = read_scores([first, other])
    made = differences(found, pairs=False)
    assert [one.first.solver for one in made] == ["b/m"]
    (note,) = comparison_notes([str(first), str(other)], found, made)
    assert note.endswith(f"left out, since a/m ({first}) was not scored there")
    notes = comparison_notes(
        [], turned := read_scores([other, first]), differences(turned, pairs=False)
    )
    assert notes[0].endswith("nhop_explicit: left out, since no other solver was scored there")


def test_the_page_says_where_a_solver_is_higher_and_where_lower() -> None:
    names = ("nhop_explicit", "nhop_implicit", "blicket_game")
    made = []
    for name, low, high in zip(names, (0.1, -0.3, -0.1), (0.3, -0.1, 0.1), strict=True):
        one, other = (SolverScores("runs/a", solver, name) for solver in ("a/m", "b/m"))
        estimate = Estimate((low + high) / 2, low, high, 9)
        made.append(Difference(one, other, 9, estimate, estimate.excludes(0)))
    assert directions(made) == (
        "higher by 0.20 at nhop_explicit; lower by 0.20 at nhop_implicit; "
        "no difference seen at blicket_game."
    )
    text = comparison_page(["runs/a"], [made[0].second], made).replace("<wbr>", "")
    rows = re.findall(r'<th scope="row"><span.*?>(.+?)</span> <small>(.+?)</small>', text)
    assert [own[1] for own in rows] == list(names)
    assert {own[0] for own in rows} == {"a/m (runs/a)"}
    larger = replace(made[0], estimate=Estimate(0.4, 0.3, 0.5, 9))
    assert directions([larger, made[0]]) == "higher by 0.20 to 0.40 at all 2 benchmarks."
    assert directions(made[1:2]) == "lower by 0.20 at nhop_implicit."


def test_the_only_run_is_not_named_again_and_again(tmp_path: Path) -> None:
    folder = write_records(tmp_path / "a", scored("a/m", [1, 1]) + scored("b/m", [1, 0]))
    assert list(map(str, read_scores([folder]))) == ["a/m", "b/m"]
    assert str(read_scores([folder, folder])[0]) == f"a/m ({folder})"


def test_the_comparison_page_escapes_what_runs_are_called() -> None:
    bad = "</title><script>x</script>"
    one, other = (SolverScores(bad, name, "nhop_implicit") for name in ("<b>", "<i>"))
    text = comparison_page(
        [bad], [other, one], [Difference(one, other, 9, Estimate(0.2, 0.1, 0.3, 9), True)]
    )
    assert "<script>x" not in text
    assert "<b> (" not in text
    assert text.count("Higher by 0.20 at nhop_implicit.") == 1


def by_people(scores: dict[str, list[int]]) -> list[dict[str, object]]:
    """Records of people at the first items, a list of scores for each person."""
    return [row for name, own in scores.items() for row in scored(f"person:{name}", own)]


def test_people_are_compared_with_a_model_as_clusters(tmp_path: Path) -> None:
    """Six people answer the same four items, each all right or all wrong: 6 values, not 24."""
    people = by_people({str(n): [n % 2] * 4 for n in range(6)})
    first = write_records(tmp_path / "model", scored("openai/model", [1, 1, 1, 1]))
    second = write_records(tmp_path / "people", people)
    (found,) = differences(read_scores([first, second]), pairs=False)
    assert (found.items, found.people, found.estimate.n) == (4, 6, 6)
    assert found.estimate.value == -0.5
    low, high = found.estimate.low, found.estimate.high
    assert low is not None
    assert high is not None
    assert high - low > 0.8  # six independent values; 24 would give 0.4
    table = difference_table("nhop_implicit", [found])
    assert table.rows[0][3] == "4 items by 6 people"


def test_people_are_compared_with_people(tmp_path: Path) -> None:
    able, others = ({str(n): [n % 4 > 0, 1, value] for n in range(20)} for value in (1, 0))
    runs = [
        write_records(tmp_path / name, by_people({name + key: own for key, own in part.items()}))
        for name, part in (("a", able), ("b", others))
    ]
    (found,) = differences(read_scores(runs), pairs=False)
    assert (found.people, found.items) == (40, 3)
    assert found.estimate.value == pytest.approx(-1 / 3)
    assert found.estimate.low is not None
    assert found.estimate.low < -1 / 3
