"""Results read from records: what is counted, under which names, and what is refused."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

import trivium
from tests.report.records import attempts, results_of, scored, write_records
from trivium.benchmarks.nhop import EXPLICIT, IMPLICIT
from trivium.benchmarks.nhop.spec import ExplicitSpec, ImplicitSpec
from trivium.cli import main
from trivium.core.errors import UserError
from trivium.core.results import summarise
from trivium.report import results as results_module
from trivium.report.compare import read_scores
from trivium.report.results import read_results, record_files, setting_name


def test_parts_add_up_to_what_a_plain_summary_says(tmp_path: Path) -> None:
    rows = [
        row
        for hops in (10, 4)
        for seed in (1, 2)
        for row in attempts(ImplicitSpec(hops=hops), "random_candidate", seed=seed)
    ]
    results = results_of(tmp_path, rows)
    whole = summarise(rows, IMPLICIT.metrics)
    assert results.split(lambda key: key.solver)["random_candidate"].metrics == whole.metrics
    assert results.records == whole.items == 48
    assert (results.seeds, results.varying_groups) == ([1, 2], ["steps"])
    assert results.values(lambda key: key.group("steps")) == [3, 9]
    by_steps = results.split(lambda key: key.group("steps"))
    assert {steps: part.items for steps, part in by_steps.items()} == {9: 24, 3: 24}
    only_one_seed = results.split(lambda key: key.group("steps") if key.seed == 2 else None)
    assert {steps: part.items for steps, part in only_one_seed.items()} == {9: 12, 3: 12}


def test_settings_are_named_by_preset_or_by_what_differs() -> None:
    named = {"benchmark": "nhop_explicit"}
    hard = {"spec": asdict(EXPLICIT.presets["explicit-hard"]), "view": {"mode": "steps"}}
    assert setting_name(named | hard) == "explicit-hard mode=steps"
    other = {"spec": asdict(ExplicitSpec(hops=6, L=2)), "view": {}}
    assert setting_name(named | other) == "hops=6 L=2"
    assert setting_name(named | {"spec": None}) == "items from a file"


def test_the_setting_of_a_run_takes_precedence_over_the_spec(tmp_path: Path) -> None:
    write_records(tmp_path / "a", attempts(ImplicitSpec(), "oracle"))
    (tmp_path / "a" / "run.json").write_text('{"setting": "baseline"}')
    write_records(tmp_path / "b", attempts(ImplicitSpec(), "oracle"))
    results = read_results([tmp_path])["nhop_implicit"]
    assert results.settings == ["baseline", "implicit"]
    results.setting_order = ("implicit", "baseline")
    assert results.settings == ["implicit", "baseline"]
    assert results.records == 24


def test_a_model_that_was_asked_in_two_ways_is_two_solvers(tmp_path: Path) -> None:
    for name, system, score in (("a", "Be brief.", 1.0), ("b", None, 0.0), ("c", None, 0.0)):
        for solver in ("openai/x", "openai/y", "oracle"):
            folder = tmp_path / name / "deep" / solver.replace("/", "_")
            write_records(folder, scored(solver, [score] * 4))
            held: dict[str, object] = {"benchmark": "nhop_implicit", "solver": solver}
            if solver != "oracle":
                held |= {"shaping": {"system": system if solver == "openai/x" else None}}
            (folder / "run.json").write_text(json.dumps(held))
    results = read_results([tmp_path])["nhop_implicit"]
    values = {name: part.metrics["correct"].value for name, part in results.by_solver.items()}
    assert values == {
        **{"openai/x in a": 1.0, "openai/x in b": 0.0},
        **{"openai/y": pytest.approx(1 / 3), "oracle": pytest.approx(1 / 3)},
    }
    assert sorted(results.models) == ["openai/x in a", "openai/x in b", "openai/y"]
    assert {row["solver"] for row in trivium.open(tmp_path).records} == set(values)
    alone = read_results([tmp_path / "a", tmp_path / "b" / "deep" / "oracle"])["nhop_implicit"]
    assert set(alone.by_solver) == {"openai/x", "openai/y", "oracle"}


@pytest.mark.parametrize("lost", ["missing", "empty"])
@pytest.mark.parametrize("command", ["report", "analyze"])
def test_a_model_whose_records_are_lost_is_named(
    command: str, lost: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b", "c"):
        folder = write_records(tmp_path / name, scored(f"openai/{name}", [1.0, 0.0]))
        (folder / "run.json").write_text('{"setting": "baseline"}')
    (tmp_path / "run.json").write_text("{}")
    assert main([command, str(tmp_path)]) == 0
    assert "left out" not in capsys.readouterr().out
    (tmp_path / "b" / "records.jsonl").unlink()
    if lost == "empty":
        (tmp_path / "b" / "records.jsonl").touch()
    assert main([command, str(tmp_path)]) == 0
    said = f"left out, as records.jsonl is missing or empty: {tmp_path / 'b'}\n"
    assert said in capsys.readouterr().out


def test_models_come_before_programs_in_the_order_of_the_benchmark(tmp_path: Path) -> None:
    names = ("random_candidate", "last_line", "z/model", "oracle", "a/model")
    results = results_of(tmp_path, [row for name in names for row in scored(name, [1])])
    assert results.solvers == ["z/model", "a/model", "oracle", "last_line", "random_candidate"]
    assert [results.role(name) for name in results.solvers] == [
        *("model", "model", "ceiling", "shortcut", "floor")
    ]


def test_small_runs_are_kept_whole_and_a_few_examples_of_every_kind_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_records(tmp_path, scored("oracle", [1.0] * 9) + scored("last_line", [0.0, 1.0]))
    monkeypatch.setattr(results_module, "EXAMPLES", 4)
    for limit, kept in ((3_000, 9), (5, 5), (0, 4)):
        monkeypatch.setattr(results_module, "MAX_ATTEMPTS", limit)
        results = read_results([path])["nhop_implicit"]
        assert {key[1:]: len(rows) for key, rows in results.examples.items()} == {
            ("oracle", "right"): kept,
            ("last_line", "other"): 1,
            ("last_line", "right"): 1,
        }


def test_swept_fields_are_numbers_or_names_that_no_group_mirrors(tmp_path: Path) -> None:
    rows = [
        row
        for hops, width in ((4, 4), (6, 5), (6, 6))
        for row in attempts(ImplicitSpec(hops=hops, id_width=width), "oracle", items=1)
    ]
    results = results_of(tmp_path, rows)
    # hops is mirrored by the group steps; id_width is no group.
    swept = results.swept_fields()
    assert list(swept) == ["id_width"]
    assert sorted(swept["id_width"].values()) == [4, 5, 6]
    modes = [
        row | {"setting": mode, "view": {"mode": mode, "surface": "symbols"}}
        for mode in ("direct", "steps")
        for row in attempts(ImplicitSpec(), "oracle", items=1)
    ]
    found = results_of(tmp_path / "modes", modes).swept_fields()
    assert {name: set(values.values()) for name, values in found.items()} == {
        "mode": {"direct", "steps"}
    }


def test_files_come_in_the_order_of_the_numbers_in_their_names(tmp_path: Path) -> None:
    for name in ("hops10", "hops4", "hops9", "hops²"):
        write_records(tmp_path / name, attempts(ImplicitSpec(), "oracle", items=1))
    names = [path.parent.name for path in record_files([tmp_path])]
    assert names == ["hops4", "hops9", "hops10", "hops²"]


def test_a_file_that_is_named_twice_counts_once(tmp_path: Path) -> None:
    path = write_records(tmp_path / "one", attempts(ImplicitSpec(), "oracle", items=2))
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    assert read_results([tmp_path / "one", path, link])["nhop_implicit"].records == 2


@pytest.mark.parametrize("key", ["benchmark", "scores", "groups", "trial"])
def test_what_is_no_record_is_named_by_line(tmp_path: Path, key: str) -> None:
    rows = attempts(ImplicitSpec(), "oracle", items=2)
    del rows[1][key]
    with pytest.raises(UserError, match=rf"records\.jsonl line 2: not a record \({key} is missing"):
        results_of(tmp_path, rows)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(
            ("scores", []),
            ("scores", {"correct": "1"}),
            ("groups", None),
            ("trial", "0"),
            ("kind", 3),
        ),
        *(("groups", {"steps": [1]}), ("spec", 5), ("view", "x"), ("seed", "7"), ("index", "0")),
    ],
)
def test_a_record_with_a_wrong_value_is_named_by_line(
    tmp_path: Path, key: str, value: object
) -> None:
    rows = attempts(ImplicitSpec(), "oracle", items=2)
    rows[1][key] = value
    path = write_records(tmp_path, rows)
    for read in (read_results, read_scores):
        with pytest.raises(UserError, match=rf"records\.jsonl line 2: not a record \({key}"):
            read([path])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"spec": {"hops": 1}}, r"line 2: hops must be in 3\.\.200, got 1"),
        ({"view": {"mode": "loud"}}, "line 2: mode must be one of direct, steps, free, got 'loud'"),
        ({"benchmark": "nothing"}, "line 2: unknown benchmark 'nothing'"),
    ],
)
def test_an_impossible_record_is_named_by_line(
    tmp_path: Path, change: dict[str, object], sentence: str
) -> None:
    rows = attempts(ImplicitSpec(), "oracle", items=2)
    with pytest.raises(UserError, match=sentence):
        results_of(tmp_path, [rows[0], rows[1] | change])


def test_empty_folders_and_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no records\.jsonl in this folder"):
        read_results([tmp_path])
    with pytest.raises(UserError, match="there are no records"):
        read_results([write_records(tmp_path, [])])
