"""Searching for thresholds: programs, resuming, maps, refusals, and the report."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

import trivium
from tests.command_line import run
from trivium.benchmarks import benchmark_names, load_task
from trivium.cli import main
from trivium.core.errors import UserError
from trivium.report.thresholds import curve_chart, map_chart, threshold_table
from trivium.thresholds.fit import Levels, share_grows
from trivium.thresholds.results import read_thresholds
from trivium.thresholds.search import (
    Axis,
    ThresholdPlan,
    find_thresholds,
    make_axis,
    ordered_fields,
)

SEARCH = "threshold nhop_implicit --vary hops --values 3,4,6,8,12 --seed 3"
FORGETFUL = "tests.thresholds.solvers:forgetful"  # lift falls to a half after 3.8 of hops - 1 steps


def rows(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "thresholds.csv").read_text().splitlines()))


def records(folder: Path) -> dict[str, bytes]:
    paths = sorted(folder.rglob("records.jsonl"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_a_program_from_items_to_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (
        f"{SEARCH} --solver {FORGETFUL} --solver oracle --solver random_candidate --out {tmp_path}"
    )
    assert run(words) == 0
    by_solver = {row["solver"]: row for row in rows(tmp_path)}
    low, high = (float(by_solver[FORGETFUL][end]) for end in ("low", "high"))
    assert 3 <= low < 4.8 < high <= 8
    assert by_solver["random_candidate"]["threshold"] == "", "it is at the floor everywhere"
    out = capsys.readouterr()
    assert "before 3, the easiest value" in out.out
    assert f"{FORGETFUL}: 25 items, threshold " in out.err
    page = (tmp_path / "report.html").read_text()
    assert 'id="thresholds"' in page
    assert list((tmp_path / "plots").glob("threshold_nhop_implicit_hops_*.svg"))
    solvers = [
        orjson.loads(line)["solver"]
        for file in records(tmp_path).values()
        for line in file.splitlines()
    ]
    for name, row in by_solver.items():
        assert solvers.count(name) == int(row["items"]) <= 400


def test_the_same_command_resumes_and_ends_the_same(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    words = f"{SEARCH} --solver {FORGETFUL} --width 0.08 --max_items 150 --out"
    assert run(words, str(whole)) == 0
    shutil.copytree(whole, cut)
    for number, path in enumerate(sorted(cut.rglob("records.jsonl"))):
        if number % 2:
            path.unlink()
        else:  # as a run leaves it that was killed while it wrote
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert run(words, str(cut)) == 0
    assert rows(cut) == rows(whole)
    timed = [
        [orjson.loads(line) | {"seconds": 0} for line in file.splitlines()]
        for folder in (whole, cut)
        for file in records(folder).values()
    ]
    assert timed[: len(timed) // 2] == timed[len(timed) // 2 :]


def test_more_items_continue_the_same_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = f"{SEARCH} --solver {FORGETFUL} --width 0.01 --max_items"
    assert run(f"{words} 25") == 0
    (folder,) = Path("runs").glob("*/threshold_*")
    before = records(folder)
    assert run(f"{words} 75") == 0
    assert list(Path("runs").glob("*/threshold_*")) == [folder]
    after = records(folder)
    assert all(after[name].startswith(part) for name, part in before.items())
    assert [25 < int(row["items"]) <= 75 for row in rows(folder)] == [True]
    assert run(f"{words} 75 --target 0.6") == 0
    assert len(list(Path("runs").glob("*/threshold_*"))) == 2, "another search"


def test_no_item_is_asked_twice_and_batches_have_25(tmp_path: Path) -> None:
    task, axis, solvers = load_task("nhop_implicit"), Axis("hops", (3, 4, 6, 8)), (FORGETFUL,)
    plan = ThresholdPlan(task, (axis,), solvers=solvers, width=0.001, max_items=60)
    asked: list[int] = []
    (search,), *_ = find_thresholds(
        plan, tmp_path, on_batch=lambda searches: asked.append(sum(searches[0].asked))
    )
    assert asked == [25, 50, 60]
    items = [
        (row["spec"]["hops"], row["id"])
        for file in records(tmp_path).values()
        for row in map(orjson.loads, file.splitlines())
    ]
    assert len(items) == len(set(items)) == search.fit.counts.sum() == 60
    (read,) = read_thresholds(tmp_path)
    assert read.fit.threshold() == search.fit.threshold()


def test_the_function_does_what_the_command_does(tmp_path: Path) -> None:
    assert run(f"{SEARCH} --solver {FORGETFUL} --max_items 50 --out {tmp_path / 'run'}") == 0
    before = records(tmp_path / "run")
    task, vary = trivium.load("nhop_implicit"), {"hops": [3, 4, 6, 8, 12]}
    found = trivium.threshold(
        task, FORGETFUL, vary=vary, max_items=50, seed=3, out=tmp_path / "run"
    )
    assert records(tmp_path / "run") == before, "nothing was left to ask"
    (row,), (one,) = rows(tmp_path / "run"), found.thresholds
    assert row["threshold"] == f"{one.value:.6g}"
    assert [float(row[end] or 0) for end in ("low", "high")] == [one.low or 0, one.high or 0]
    assert int(row["items"]) == one.items == len(found)
    assert str(found) == f"{FORGETFUL}: hops {one.text}, {one.items} items"
    assert records(found.save(tmp_path / "copy")) == before
    with pytest.raises(UserError, match="copy exists already"):
        found.save(tmp_path / "copy")
    assert 'id="thresholds"' in found.report(tmp_path / "page.html").read_text()


async def always_the_same(prompt: str) -> str:
    return "B_0001"


def test_functions_and_maps_in_python() -> None:
    vary = {"hops": [3, 4, 5], "m": [4, 8]}
    found = trivium.threshold(
        trivium.load("nhop_implicit"), always_the_same, "oracle", vary=vary, max_items=25
    )
    mine = "tests.thresholds.test_search:always_the_same"
    assert [(one.solver, one.by) for one in found.thresholds] == [
        (mine, 4),
        ("oracle", 4),
        (mine, 8),
        ("oracle", 8),
    ]
    assert {one.text for one in found.thresholds if one.solver == "oracle"} == {
        "beyond 5, the hardest value"
    }
    assert "oracle at 8: hops beyond 5" in str(found)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"vary": []}, "vary takes one field or two, got none"),
        ({"vary": "hop"}, "vary must name a field of numbers, got 'hop'"),
        ({"vary": {"hops": [3, 4.5]}}, "values of hops must be whole numbers, got '4.5'"),
        ({"vary": "hops", "temp": -1}, "temp must be"),
        ({"vary": "hops", "max_items": 0}, "max_items must be at least 25, got 0"),
    ],
)
def test_the_function_refuses_with_one_sentence(words: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)):
        trivium.threshold(trivium.load("nhop_implicit"), "oracle", **words)


def test_values_from_hard_to_easy_are_found_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = SEARCH.replace("3,4,6,8,12", "12,8,6,4,3")
    assert run(f"{words} --solver {FORGETFUL} --max_items 150 --out {tmp_path}") == 0
    assert "lift rises along these values: name them from easy to hard" in " ".join(
        capsys.readouterr().out.split()
    )


def test_two_fields_make_a_map(tmp_path: Path) -> None:
    words = f"--vary m --values 4,8 --solver {FORGETFUL} --max_items 100 --out {tmp_path}"
    assert run(f"{SEARCH} {words}") == 0
    assert {row["m"] for row in rows(tmp_path)} == {"4", "8"}
    assert list((tmp_path / "plots").glob("*_map.svg"))


@pytest.mark.parametrize(
    ("name", "words"), [("nhop_implicit", "hops (steps + 1)"), ("nhop_explicit", "hops")]
)
def test_a_threshold_says_in_the_words_of_the_benchmark_along_what_it_is(
    name: str, words: str
) -> None:
    task = load_task(name)
    axes = make_axis(task, "hops", ["4", "5"]), make_axis(task, "M", ["400", "500"])
    for chosen in (axes[:1], axes):
        searches = ThresholdPlan(task, chosen, ("oracle",)).searches()
        assert threshold_table(searches).title.endswith(f", along {words}")
        assert curve_chart(searches, {}, "one").panels[0].x_label == words
    assert map_chart(searches, {}, "map").title == f"Threshold of {words} over M"


def test_a_chart_has_at_most_24_searches_and_counts_the_others() -> None:
    task = load_task("nhop_implicit")
    names = tuple(f"solver {number}" for number in range(26))
    searches = ThresholdPlan(task, (make_axis(task, "hops", ["3", "4"]),), names).searches()
    chart = curve_chart(searches, {}, "many")
    assert [panel.title for panel in chart.panels] == list(names[:24])
    assert chart.words == "2 more are in the table."
    assert curve_chart(searches[:5], {}, "few").words == ""


def test_a_chart_marks_where_lift_falls_to_the_target() -> None:
    task = load_task("nhop_implicit")
    axis = make_axis(task, "hops", ["3", "4", "6", "8"])
    (search,) = ThresholdPlan(task, (axis,), ("mine",)).searches()
    for level, right in enumerate((50, 50, 6, 6)):  # of 50, among eight candidates
        search.fit.add(level, [1.0] * right + [0.0] * (50 - right))
    *_, mark = curve_chart([search], {}, "one").panels[0].series
    assert mark.name.startswith("threshold ")
    low, high = mark.points
    assert (low.value, high.value) == (0.5, 0.5)
    assert 4 <= low.x < high.x <= 6


def test_the_report_of_a_folder_shows_the_searches_in_it(tmp_path: Path) -> None:
    for solver in ("oracle", "last_line"):
        assert run(f"{SEARCH} --solver {solver} --max_items 25 --out {tmp_path / solver}") == 0
    assert run(f"report {tmp_path}") == 0
    page = (tmp_path / "report.html").read_text()
    answer = page[page.index('<div id="thresholds">') : page.index('<section id="nhop_implicit">')]
    assert answer.count("<tr><td>") == 2
    assert answer.count('role="img"') == 1  # both in one large chart
    said = re.findall(r"<li><p>.*?<b>(\w+)</b> (.*?)</p></li>", answer.replace("<wbr>", ""), re.S)
    assert said[0][1].startswith(("keeps a lift of 0.5 ", "falls below a lift of 0.5 "))
    assert [solver for solver, _ in said] == ["oracle", "last_line"]


@pytest.mark.parametrize("name", benchmark_names())
def test_every_benchmark_has_fields_that_can_be_varied(name: str) -> None:
    fields = ordered_fields(load_task(name).benchmark)
    assert len(fields) >= 2
    assert not set(fields) & {"rules", "design", "form", "ablate_inner"}


@pytest.mark.parametrize(
    ("name", "field", "values"),
    [
        ("nhop_implicit", "hops", (3, 4, 5, 6, 8, 10, 12, 16, 20)),
        ("nhop_explicit", "L", (1, 2, 3, 4)),
        ("identifying_variables", "min_vars", (2, 3, 4, 5, 6, 8, 10, 12, 16, 20)),
    ],
)
def test_usual_values_are_allowed_ones_from_easy_to_hard(
    name: str, field: str, values: tuple[float, ...]
) -> None:
    found = make_axis(load_task(name), field).values
    assert len(found) <= 10
    assert set(found) <= set(values)
    assert found[0] == values[0]
    assert found[-1] == values[-1]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--solver oracle", "--vary is missing"),
        ("--vary hops", "name a solver with --solver, or a model"),
        ("--vary ablate_inner --solver oracle", "vary must name a field of numbers, got 'ablate"),
        ("--vary hop --solver oracle", "nhop_implicit has hops, m, M, id_width, ablate_hop"),
        (
            "--vary hops --values 3,x --solver oracle",
            "values of hops must be whole numbers, got 'x'",
        ),
        ("--vary hops --values 3,500 --solver oracle", "hops must be in"),
        ("--vary hops --values 5 --solver oracle", "at least two values, got 1"),
        ("--vary hops --values 3,9,5 --solver oracle", "go from easy to hard, got 3, 9, 5"),
        ("--vary hops --values 3,3 --solver oracle", "values must differ"),
        ("--vary hops --values 3,5 --values 4,5 --solver oracle", "--values once for each --vary"),
        ("--vary hops --vary hops --solver oracle", "two fields must differ"),
        ("--vary hops --vary m --vary M --solver oracle", "takes one field or two"),
        ("--vary hops --hops 5 --solver oracle", "--hops fixes what --vary hops varies"),
        ("--vary hops --target 1 --solver oracle", "target must lie between 0 and 1, got 1.0"),
        ("--vary hops --target 0 --solver oracle", "target must lie between 0 and 1, got 0.0"),
        ("--vary hops --width 0 --solver oracle", "width must be above 0, got 0.0"),
        ("--vary hops --max_items 5 --solver oracle", "max_items must be at least 25, got 5"),
        ("--vary ablate_hop --solver oracle", "ablate_hop has no value to start from"),
        ("--vary hops --solver unknown_one", "unknown solver 'unknown_one'"),
        ("--vary hops --solver oracle --solver oracle", "a solver is named twice"),
        ("--vary hops --solver oracle --temp 0.5", "--temp goes with --model"),
    ],
)
def test_what_cannot_be_done_is_refused(
    words: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["threshold", "nhop_implicit", *words.split(), "--out", str(tmp_path / "x")]) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "x").exists(), "nothing was begun"


def test_a_floor_at_the_ceiling_is_refused() -> None:
    with pytest.raises(UserError, match="at 3 the floor is the ceiling"):
        Levels((2, 3), (0.5, 1.0))


def test_a_search_stops_where_more_attempts_are_declined_at_harder_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Attempts beyond 4 hops that a provider declines would leave only the easy ones."""
    words = f"{SEARCH} --solver {FORGETFUL} --max_items 200 --width 0.01 --out {tmp_path}"
    assert run(words) == 0
    assert rows(tmp_path)[0]["note"] == ""
    for path in sorted(tmp_path.rglob("records.jsonl")):
        found = [orjson.loads(line) for line in path.read_bytes().splitlines()]
        for row in found:
            if row["spec"]["hops"] > 4:
                row.update(kind="declined", scores=dict.fromkeys(row["scores"]))
        path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in found))
    capsys.readouterr()
    assert run(words) == 0
    (row,) = rows(tmp_path)
    assert "stopped: more attempts are declined or fail at harder values (0 of " in row["note"]
    assert int(row["unscored"]) >= 5
    (search,) = read_thresholds(tmp_path)
    assert search.next_counts() is None
    assert "stopped: more attempts are declined" in " ".join(capsys.readouterr().out.split())


def test_without_scores_there_is_no_threshold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"{SEARCH} --solver {FORGETFUL} --max_items 25 --out {tmp_path}"
    assert run(words) == 0
    for path in sorted(tmp_path.rglob("records.jsonl")):
        found = [orjson.loads(line) for line in path.read_bytes().splitlines()]
        for row in found:
            row.update(kind="declined", scores=dict.fromkeys(row["scores"]))
        path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in found))
    capsys.readouterr()
    run(words)
    (row,) = rows(tmp_path)
    assert (row["threshold"], row["low"], row["high"], row["fits"]) == ("", "", "", "")
    assert (row["items"], int(row["unscored"]) >= 25) == ("0", True)
    assert "unknown: nothing was scored" in capsys.readouterr().out
    page = (tmp_path / "report.html").read_text()
    assert "unknown: nothing was scored" in page
    assert "curves that fit" not in page


def test_the_same_share_of_declined_attempts_everywhere_does_not_stop_a_search() -> None:
    generator = np.random.default_rng(2)
    counts = np.full(8, 30.0)
    stopped = [share_grows(generator.binomial(30, 0.2, 8).tolist(), counts) for _ in range(400)]
    assert sum(stopped) <= 5, "0.0013 of them are expected"
    rising = [
        share_grows(generator.binomial(30, np.linspace(0, 0.4, 8)).tolist(), counts)
        for _ in range(99)
    ]
    assert sum(rising) >= 95
    assert not share_grows([0, 0, 4], np.array([9.0, 9.0, 4.0])), "too few to say"
    assert not share_grows([9, 9, 4], np.array([9.0, 9.0, 4.0])), "all of them"
