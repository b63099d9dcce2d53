"""Config files, the flags of the sources, and grids from flags."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests.command_line import run, write
from trivium.commands.sweep import read_grid
from trivium.core.files import read_rows
from trivium.core.spec import read_mapping
from trivium.evaluation.plan import read_sweep

CONFIG = """
approach = "explicit"
label = "one for all"
items = 3
hops = [4]
L = [2, 3]
contexts = 8
seeds = [7]
solvers = ["elimination"]
switches = ["block_head_balance"]
mode = "steps"
temp = 0.0
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return str(write(tmp_path / "one.toml", CONFIG))


def manifest(folder: str) -> dict[str, Any]:
    return read_mapping(Path(folder) / "run.json")


def test_one_file_serves_generate_eval_export_and_sweep(config: str) -> None:
    assert run(f"generate nhop_explicit --config {config} --L 2 --out items.jsonl") == 0
    assert run(f"eval --config {config} --L 2 --out run") == 0
    assert run(f"export --config {config} --L 2 --out prompts.jsonl") == 0
    found = manifest("run")
    spec = found["spec"]
    assert (spec["hops"], spec["L"], spec["context_chains"]) == (4, 2, 8)
    assert (found["seed"], found["solver"], found["view"]) == (
        7,
        "elimination",
        {"mode": "steps", "surface": "symbols"},
    )
    assert spec["block_head_balance"] is True
    items = [row for _, row in read_rows(Path("items.jsonl"))]
    prompts = [row for _, row in read_rows(Path("prompts.jsonl"))]
    records = [row for _, row in read_rows(Path("run/records.jsonl"))]
    assert [row["spec"] for row in items] == [spec] * 3
    assert [row["spec"] for row in prompts] == [row["spec"] for row in records] == [spec] * 3
    assert [row["id"] for row in items] == [row["item"] for row in prompts]
    sweep = read_sweep(config)
    assert [one.task.spec.L for one in sweep.evaluations] == [2, 3]
    assert sweep.evaluations[0].manifest()["spec"] == spec | {}


def test_flags_override_the_file(config: str) -> None:
    flags = "--L 3 --n 5 --items 2 --seed 9 --baseline oracle --mode direct"
    assert (
        run(f"eval nhop_explicit --config {config} {flags} --no_block_head_balance --out run") == 0
    )
    found = manifest("run")
    assert (found["spec"]["hops"], found["spec"]["L"]) == (5, 3)
    assert found["spec"]["block_head_balance"] is False
    assert (found["seed"], found["solver"], found["view"]) == (
        9,
        "oracle",
        {"mode": "direct", "surface": "symbols"},
    )
    assert len(list(read_rows(Path("run/records.jsonl")))) == 2
    words = f"--config {config} --Ls 2 --seed=9 --block_head_balance false --items 2"
    path, asked, grid = read_grid(words.split())
    assert (path, asked.flags.items) == (config, 2)
    assert grid == {"L": [2], "seeds": [9], "block_head_balance": [False]}
    (only,) = read_sweep(config, grid).evaluations
    assert (only.items.seed, only.task.spec.L) == (9, 2)
    assert only.task.spec.block_head_balance is False


def test_a_file_may_name_no_solvers_and_how_a_model_reasons(
    config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("aiohttp")
    monkeypatch.setenv("VLLM_BASE_URL", "http://127.0.0.1:9/v1")
    text = CONFIG.replace('["elimination"]', "[]").replace("L = [2, 3]", "L = 2")
    write(Path(config), text + 'models = ["vllm/m"]\nreasoning_effort = "low"\n')
    (only,) = read_sweep(config).evaluations
    assert (only.solver, only.settings.reasoning_effort) == ("vllm/m", "low")
    assert run(f"eval --config {config} --out run") == 1, "there is no server"
    assert manifest("run")["shaping"]["reasoning_effort"] == "low"
    assert run(f"eval --config {config} --reasoning_effort high --out other") == 1
    assert manifest("other")["shaping"]["reasoning_effort"] == "high"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("generate nhop_explicit --config {0} --out x", "L has 2 values, as a sweep may have"),
        ("generate nhop_implicit --config {0} --out x", "is about nhop_explicit, not about"),
        ("eval nhop_explicit --config two.toml --out x", "eval takes one solver or model"),
        ("generate nhop_explicit --config odd.toml --out x", "odd.toml: unknown key 'hopps'"),
        ("sweep nhop_explicit --config effort.toml", "reasoning_effort must be one of none, min"),
        ("sweep nhop_implicit --config {0}", "one.toml is about nhop_explicit, not about nhop_im"),
        ("generate --items 3 --out x", "NAME is missing: name one of nhop_explicit"),
        ("sweep nhop_explicit --hops", "--hops/--n: expected at least one argument"),
        ("sweep nhop_explicit --hops four", "--hops/--n: must be a whole number, got 'four'"),
        ("sweep nhop_explicit --hopz 4", "--hopz 4 (did you mean --hops?)"),
        ("sweep nhop_explicit --seeds 7 --model llama", "model must be PROVIDER/MODEL"),
        ("report --summary nowhere/summary.csv", "nowhere: no such folder"),
    ],
)
def test_errors_are_one_sentence(
    words: str, said: str, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(Path("two.toml"), 'solvers = ["oracle", "elimination"]\n')
    write(Path("odd.toml"), "hopps = 4\n")
    write(Path("effort.toml"), 'benchmark = "nhop_explicit"\nreasoning_effort = "lots"\n')
    before = sorted(Path().iterdir())
    assert run(words.format(config)) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert sorted(Path().iterdir()) == before


def test_a_sweep_from_flags_alone(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = "sweep nhop_explicit --hops 4,5,6 --L 2,3 --seeds 7,13,23 --solvers oracle --items 2"
    assert run(f"{words} --model gpt-4.1-mini --dry_run") == 0
    said = capsys.readouterr().out
    assert "36 evaluations of 2 items" in said
    assert "openai/gpt-4.1-mini" in said
    assert run("sweep --approach implicit --hops 4 5 --m_list 4,8 --baseline oracle --items 1"
               " --seeds 7 --out run --no_data --processes 1") == 0  # fmt: skip
    found = manifest("run")
    assert (found["hops"], found["m"], found["seeds"]) == ([4, 5], [4, 8], [7])
    assert run("plot --summary run/summary.csv --approach implicit") == 0
    assert run("report --summary run/summary.csv --approach implicit --label again") == 0
    assert run("report --summary run/summary.csv --approach explicit") == 2
    assert "is a run of nhop_implicit, not of nhop_explicit" in capsys.readouterr().err


def test_the_api_knows_models_without_a_provider(
    config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    task = trivium.load("nhop_implicit")
    with pytest.raises(trivium.UserError, match="OPENAI_API_KEY is not set"):
        trivium.evaluate(task, "gpt-4.1-mini", items=1)
    with pytest.raises(trivium.UserError, match="unknown solver 'llama'"):
        trivium.evaluate(task, "llama", items=1)


def test_a_config_does_not_name_the_solver_of_replies(config: str) -> None:
    assert run(f"export --config {config} --L 2 --items 1 --out prompts.jsonl") == 0
    row = json.loads(Path("prompts.jsonl").read_text())
    write(Path("r.json"), json.dumps({row["id"]: row["gold"]}))
    assert run(f"score --config {config} --L 2 --items 1 --replies r.json --out run") == 0
    assert manifest("run")["solver"] == "replies"


def test_axes_of_every_type() -> None:
    words = "blicket_game --rules conjunctive+disjunctive,parity --noise 0,0.1"
    _, _, grid = read_grid(words.split())
    assert grid == {"rules": [["conjunctive", "disjunctive"], ["parity"]], "noise": [0.0, 0.1]}
    words = "nhop_explicit --mode direct,steps --path_collision_stress --k0 3"
    _, _, grid = read_grid(words.split())
    assert grid == {"mode": ["direct", "steps"], "path_collision_stress": [True], "k0": [3]}
    _, _, grid = read_grid(["nhop_explicit", "--block_head_balance", "true,false"])
    assert grid == {"block_head_balance": [True, False]}


@pytest.mark.parametrize("command", ["generate", "show", "export", "eval"])
def test_the_flags_of_the_sources_work_in_every_command(
    command: str, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    more = {"show": "", "eval": "--baseline first_rank_head --out out"}.get(command, "--out out")
    items = "" if command == "show" else "--items 1"
    assert run(f"{command} --approach explicit --n 6 --contexts 8 {items} {more}") == 0
    if command == "eval":
        assert manifest("out")["solver"] == "first_rank_head"
        return
    text = capsys.readouterr().out if command == "show" else Path("out").read_text()
    question = text if command != "export" else json.loads(text)["prompt"]
    assert "What is f6 of f5" in question
