"""Items, prompts and scores are those of version 0.1, and its folders resume and report."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest

import trivium
from trivium.benchmarks import get_benchmark
from trivium.cli import main
from trivium.core.dialogue import attempt
from trivium.core.files import dump_line
from trivium.core.spec import spec_from_dict, stored_spec

GOLDEN = Path(__file__).parent / "v0_1"
DIGESTS = orjson.loads((GOLDEN / "digests.json").read_bytes())
SEED, FEW = 7, 10
# Presets whose names mean other items now, with the fields that they had in 0.1.
OLD_PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "identifying_variables": {
        "balanced-ctrl": {},
        "balanced-ctrl-large": {"size": 5000},
        "balanced-hypotheses": {"balance": "hypotheses", "min_vars": 2},
        "balanced-hypotheses-large": {"balance": "hypotheses", "min_vars": 2, "size": 5000},
    },
}
# Solvers that are defined in another way now.
REDEFINED = {("identifying_variables", "noctrl"), ("identifying_variables", "random")}


def old_spec(name: str, preset: str) -> Any:
    """What a preset meant in 0.1."""
    benchmark, old = get_benchmark(name), OLD_PRESETS.get(name, {})
    if preset in old:
        return stored_spec(benchmark.spec_type, old[preset])
    return benchmark.presets[preset]


def sha(parts: list[bytes], separator: bytes) -> str:
    return hashlib.sha256(separator.join(parts)).hexdigest()[:16]


def items_digest(name: str, spec: Any, view: Any) -> dict[str, str]:
    """Fifty items as lines of a file, ten prompts, and the same prompts in two other orders."""
    benchmark = get_benchmark(name)
    items = list(benchmark.generate(spec, SEED, 0, FEW))
    reordered = [benchmark.reshuffle(item, trial) for trial in (1, 2) for item in items]
    return {
        "lines": sha([b"".join(benchmark.generate_lines(spec, SEED, 0, 50))], b""),
        "prompts": sha([benchmark.render(item, view).encode() for item in items], b"\0"),
        "reshuffled": sha([benchmark.render(item, view).encode() for item in reordered], b"\0"),
    }


def attempts_digest(name: str, spec: Any, solver: str, trial: int) -> str:
    benchmark = get_benchmark(name)
    kept = []
    for item in benchmark.generate(spec, SEED, 0, 20):
        made = attempt(benchmark, item, benchmark.solvers[solver], benchmark.view_type(), trial)
        row = orjson.loads(dump_line(made))
        fields = [row[key] for key in ("reply", "answer", "scores", "kind", "trial")]
        kept.append(orjson.dumps(fields))
    return sha(kept, b"\n")


@pytest.mark.parametrize("name", DIGESTS["presets"])
def test_presets(name: str) -> None:
    benchmark = get_benchmark(name)
    assert set(benchmark.presets) >= set(DIGESTS["presets"][name])
    for preset, kept in DIGESTS["presets"][name].items():
        spec = old_spec(name, preset)
        found = items_digest(name, spec, benchmark.view_type())
        assert found == {key: kept[key] for key in found}, preset
        for heading, fields in DIGESTS["views"][name].items():
            view = spec_from_dict(benchmark.view_type, fields)
            assert items_digest(name, spec, view)["prompts"] == kept["views"][heading], heading


@pytest.mark.parametrize("name", DIGESTS["others"])
def test_other_specs(name: str) -> None:
    benchmark = get_benchmark(name)
    for kept in DIGESTS["others"][name]:
        spec = stored_spec(benchmark.spec_type, kept["spec"])
        view = spec_from_dict(benchmark.view_type, kept["view"])
        found = items_digest(name, spec, view)
        assert found == {key: kept[key] for key in found}, kept["spec"]


@pytest.mark.parametrize("name", DIGESTS["presets"])
def test_solvers(name: str) -> None:
    for preset, kept in DIGESTS["presets"][name].items():
        spec = old_spec(name, preset)
        for solver, (first, second) in kept["solvers"].items():
            if (name, solver) in REDEFINED:
                continue
            assert attempts_digest(name, spec, solver, 0) == first, (preset, solver)
            assert attempts_digest(name, spec, solver, 1) == second, (preset, solver)


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder as 0.1 left it."""
    shutil.copytree(GOLDEN, tmp_path / "old")
    monkeypatch.chdir(tmp_path / "old")
    return tmp_path / "old"


def without_times(path: Path) -> list[dict[str, Any]]:
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    return [{**row, "seconds": None} for row in rows]


def test_an_interrupted_evaluation_resumes(old: Path) -> None:
    whole = without_times(old / "runs/eval/records.jsonl")
    cut = old / "runs/eval_cut/records.jsonl"
    held = cut.read_bytes()
    words = "eval nhop_implicit --solver random_candidate --items 6 --order_trials 2 --seed 7 --out"
    assert main([*words.split(), "runs/eval_cut"]) == 0
    assert cut.read_bytes().startswith(held[: held.rfind(b"\n") + 1])
    assert without_times(cut) == whole
    summary = (old / "runs/eval_cut/summary.json").read_bytes()
    assert summary == (old / "runs/eval/summary.json").read_bytes()


@pytest.mark.parametrize(
    ("words", "folder"),
    [
        ("sweep sweep.toml", "runs/implicit/sweep_20250101_000000"),
        (
            "diagnose nhop_explicit --preset explicit-easy --variants control,all --items 3 "
            "--seed 7 --solvers random_candidate",
            "runs/explicit/diag_20250101_000000",
        ),
    ],
)
def test_an_unfinished_run_resumes_in_its_folder(old: Path, words: str, folder: str) -> None:
    table = (old / folder / "summary.csv").read_bytes()
    records = sorted((old / folder).rglob("records.jsonl"))
    before = [path.read_bytes() for path in records]
    assert main([*words.split(), "--processes", "1"]) == 0
    assert (old / folder / "report.html").exists()
    assert [path.read_bytes() for path in records] == before, "nothing was attempted again"
    assert (old / folder / "summary.csv").read_bytes() == table
    assert len(list((old / folder).parent.iterdir())) == 1


def test_the_records_of_every_folder_open(old: Path) -> None:
    for folder in ("eval", "main", "model", "agent_eval"):
        result = trivium.open(old / "runs" / folder)
        assert len(result) > 0
        assert result.summaries
        assert main(["report", f"runs/{folder}"]) == 0
    (summary,) = trivium.open(old / "runs" / "model").summaries
    assert (summary.items, summary.errors, summary.answered) == (5, 1, 4)


def test_a_trained_agent_still_plays_as_it_did(old: Path) -> None:
    pytest.importorskip("equinox")
    words = "eval blicket_game --preset paper --solver agent:runs/agent --items 3 --seed 7 --out"
    assert main([*words.split(), "again"]) == 0
    assert without_times(old / "again/records.jsonl") == without_times(
        old / "runs/agent_eval/records.jsonl"
    )
