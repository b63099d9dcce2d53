"""What a new user meets first: defaults that can be afforded, next steps, JSON, plain refusals."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from trivium import api
from trivium.api import audited_presets, plan_run
from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.cli import main
from trivium.models.settings import Settings

RUN = "--benchmarks nhop_implicit --items 4 --processes 1 --out run"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def printed_json(words: str, capsys: pytest.CaptureFixture[str]) -> Any:
    capsys.readouterr()
    assert main(words.split()) == 0
    return json.loads(capsys.readouterr().out)


def test_presets_that_passed_an_audit_are_run_and_all_runs_the_rest() -> None:
    assert audited_presets("nhop_explicit") == ["explicit-hard", "explicit-ladder"]
    assert "paper" not in audited_presets("blicket_game")
    assert all(audited_presets(name) for name in benchmark_names())
    chosen, every = (
        {
            one.setting
            for one in plan_run(
                (), models=(), presets=presets, items=5, seed=7, settings=Settings()
            ).evaluations
        }
        for presets in ((), "all")
    )
    assert chosen < every
    assert every == {preset for name in benchmark_names() for preset in get_benchmark(name).presets}
    assert main(["run", "--all", "--presets", "implicit"]) == 2


def test_the_default_preset_is_run_where_every_preset_has_shortcuts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(api, "audit_verdict", lambda *_: "caught")
    assert audited_presets("nhop_explicit") == ["explicit-hard"]


@pytest.mark.parametrize("models", [1, 2])
def test_a_model_is_sent_about_300_requests_unless_items_are_named(
    models: int, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word for n in range(models) for word in ("--model", f"openai/m{n}")]
    assert main(["estimate", "run", *words]) == 0
    requests = re.search(r"^models: ([\d,]+) requests, about ", capsys.readouterr().out, re.M)
    assert requests is not None
    assert 270 * models <= int(requests[1].replace(",", "")) <= 330 * models
    assert main(["estimate", "run", "--benchmarks", "nhop_implicit", "--items", "7"]) == 0
    assert "models: 7 requests, " in capsys.readouterr().out


def test_a_run_ends_with_at_most_ten_lines_that_say_what_is_next(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(f"run {RUN}".split()) == 0
    closing = capsys.readouterr().out.rpartition("\n\n")[2].splitlines()
    assert len(closing) == 3
    assert closing[0].startswith("nhop_implicit  ceiling 1.00, best shortcut 0.")
    assert closing[1].startswith("next: trivium run --model ")
    assert closing[2] == "report: run/report.html"
    page = Path("run/report.html").read_text()
    assert "No model has been asked yet." in page
    assert "trivium run --model openai/gpt-4.1-mini" in page
    assert "What an item looks like" in page
    assert page.count('<article class="card" id="card-nhop_implicit">') == 1


def test_eval_needs_a_solver_only_and_names_the_next_step(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["eval", "nhop_implicit"]) == 2
    assert "--solver is missing (or --model PROVIDER/MODEL)" in capsys.readouterr().err
    words = ["eval", "nhop_implicit", "--solver", "oracle", "--items", "3"]
    assert main(words) == 0
    folder = re.search(r"^next: trivium report (\S+)$", capsys.readouterr().out, re.MULTILINE)
    assert folder is not None
    assert main(words) == 0  # resumed, not begun again
    assert f"next: trivium report {folder[1]}\n" in capsys.readouterr().out
    assert main(["report", folder[1]]) == 0
    assert main(["plot", folder[1]]) == 0
    assert "no charts: " in capsys.readouterr().out


def test_a_folder_of_other_items_is_refused_by_the_field_that_differs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = "eval nhop_implicit --solver oracle --items 3 --out e --hops"
    assert main([*words.split(), "4"]) == 0
    capsys.readouterr()
    assert main([*words.split(), "5"]) == 2
    error = capsys.readouterr().err
    assert "(hops is 4 there, 5 was asked for)" in error
    assert "{" not in error


def test_an_export_has_the_format_that_its_name_says() -> None:
    words = "export nhop_implicit --items 3 --out"
    assert main([*words.split(), "x.csv"]) == 0
    with Path("x.csv").open(newline="") as file:
        assert next(row["id"] for row in csv.DictReader(file))
    assert main([*words.split(), "x.jsonl"]) == 0
    assert len([json.loads(line) for line in Path("x.jsonl").read_text().splitlines()]) == 3
    assert main([*words.split(), "y.csv", "--format", "jsonl"]) == 0
    assert json.loads(Path("y.csv").read_text().splitlines()[0])


def test_other_programs_get_json(capsys: pytest.CaptureFixture[str]) -> None:
    listed = printed_json("list --json", capsys)
    assert [one["name"] for one in listed] == list(benchmark_names())
    assert listed[0]["solvers"]["oracle"]["role"] == "ceiling"
    shown = printed_json("show nhop_implicit --hops 4 --json", capsys)
    assert shown["gold"] in shown["prompt"]
    assert shown["floor"] == 0.125
    summaries = {
        solver: printed_json(f"eval nhop_implicit --solver {solver} --items 9 --json", capsys)
        for solver in ("oracle", "last_line")
    }
    assert summaries["oracle"]["metrics"]["correct"]["value"] == 1.0
    folders = " ".join(one["folder"] for one in summaries.values())
    (difference,) = printed_json(f"compare {folders} --json", capsys)
    assert difference["items"] == 9
    value = summaries["last_line"]["metrics"]["correct"]["value"] - 1.0
    assert difference["difference"]["value"] == pytest.approx(value)
    words = "threshold nhop_implicit --vary hops --values 3,4 --max_items 50 --solver oracle --json"
    (threshold,) = printed_json(words, capsys)
    assert (threshold["solver"], threshold["field"]) == ("oracle", "hops")


def test_solvers_are_listed_with_one_line_each() -> None:
    solvers = [one for name in benchmark_names() for one in get_benchmark(name).solvers.values()]
    assert [one.name for one in solvers if not one.about or "\n" in one.about] == []
