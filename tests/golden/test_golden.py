"""Items, prompts and scores are those of version 0.1, and its folders resume and report."""

from __future__ import annotations

import csv
import hashlib
import shutil
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

import trivium
from trivium.benchmarks import get_benchmark
from trivium.cli import main
from trivium.core.dialogue import attempt
from trivium.core.files import dump_line
from trivium.core.spec import stored_spec

GOLDEN = Path(__file__).parent / "v0_1"
DIGESTS = orjson.loads((GOLDEN / "digests.json").read_bytes())
SPECS = orjson.loads((GOLDEN / "specs.json").read_bytes())
SEED, FEW = 7, 10
# Solvers that are defined in another way now.
REDEFINED = {("identifying_variables", "noctrl"), ("identifying_variables", "random")}


def sha(parts: list[bytes], separator: bytes) -> str:
    return hashlib.sha256(separator.join(parts)).hexdigest()[:16]


def old_fields(name: str) -> list[str]:
    """The fields that a spec had in 0.1."""
    return list(next(iter(SPECS[name]["presets"].values())))


def old_preset(name: str, preset: str) -> Any:
    """A preset as 0.1 had it."""
    return stored_spec(get_benchmark(name).spec_type, SPECS[name]["presets"][preset])


def old_items(name: str, spec: Any, count: int) -> list[Any]:
    """Items that say of their spec what 0.1 said: its fields enter files and solvers' streams."""
    items = []
    for item in get_benchmark(name).generate(spec, SEED, 0, count):
        fields = {key: item.origin.spec[key] for key in old_fields(name)}
        origin = replace(item.origin, spec=fields)
        items.append(item._replace(origin=origin))
    return items


def earlier_view(benchmark: Any) -> Any:
    """The default view of version 0.1."""
    return stored_spec(benchmark.view_type, {})


def items_digest(name: str, spec: Any, view: Any) -> dict[str, str]:
    """Fifty items as lines of a file, ten prompts, and the same prompts in two other orders."""
    benchmark = get_benchmark(name)
    items = old_items(name, spec, 50)
    few = items[:FEW]
    reordered = [benchmark.reshuffle(item, trial) for trial in (1, 2) for item in few]
    return {
        "lines": sha([dump_line(benchmark.to_row(item)) for item in items], b""),
        "prompts": sha([benchmark.render(item, view).encode() for item in few], b"\0"),
        "reshuffled": sha([benchmark.render(item, view).encode() for item in reordered], b"\0"),
    }


def attempts_digest(name: str, spec: Any, solver: str, trial: int) -> str:
    benchmark = get_benchmark(name)
    kept = []
    for item in old_items(name, spec, 20):
        made = attempt(benchmark, item, benchmark.solvers[solver], earlier_view(benchmark), trial)
        row = orjson.loads(dump_line(made))
        row["scores"] = old_scores(name, row["scores"])
        drop_later_fields(row)
        fields = [row[key] for key in ("reply", "answer", "scores", "kind", "trial")]
        kept.append(orjson.dumps(fields))
    return sha(kept, b"\n")


def drop_later_fields(row: dict[str, Any]) -> None:
    """What games have had since: demonstrations, and objects that one is not sure about."""
    for fields in (row["spec"], row["answer"]):
        if row["benchmark"] == "blicket_game" and fields is not None:
            fields.pop("demonstrations", None)
            fields.pop("unsure", None)


def old_scores(name: str, scores: dict[str, Any]) -> dict[str, Any]:
    """The scores that 0.1 had too."""
    return {key: value for key, value in scores.items() if key in SPECS[name]["metrics"]}


@pytest.mark.parametrize("name", DIGESTS["presets"])
def test_presets(name: str) -> None:
    benchmark = get_benchmark(name)
    for preset, kept in DIGESTS["presets"][name].items():
        spec = old_preset(name, preset)
        found = items_digest(name, spec, earlier_view(benchmark))
        assert found == {key: kept[key] for key in found}, preset
        for heading, fields in DIGESTS["views"][name].items():
            view = stored_spec(benchmark.view_type, fields)
            assert items_digest(name, spec, view)["prompts"] == kept["views"][heading], heading


@pytest.mark.parametrize("name", DIGESTS["others"])
def test_other_specs(name: str) -> None:
    benchmark = get_benchmark(name)
    for kept in DIGESTS["others"][name]:
        spec = stored_spec(benchmark.spec_type, kept["spec"])
        view = stored_spec(benchmark.view_type, kept["view"])
        found = items_digest(name, spec, view)
        assert found == {key: kept[key] for key in found}, kept["spec"]


@pytest.mark.parametrize("name", DIGESTS["presets"])
def test_solvers(name: str) -> None:
    for preset, kept in DIGESTS["presets"][name].items():
        spec = old_preset(name, preset)
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


INTERVAL = ("_low", "_high")
KEPT = orjson.loads((GOLDEN / "runs/eval/records.jsonl").read_bytes().splitlines()[0]).keys()


def as_before(path: Path) -> list[dict[str, Any]]:
    """The records of a file as far as 0.1 had their fields, without the times."""
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    for row in rows:
        row["scores"] = old_scores(row["benchmark"], row["scores"])
        drop_later_fields(row)
    return [{key: row[key] for key in KEPT - {"seconds"}} for row in rows]


def values(path: Path) -> dict[str, tuple[float | None, int]]:
    """The metrics of a summary; intervals are computed in another way than in 0.1."""
    metrics = orjson.loads(path.read_bytes())["metrics"]
    return {name: (one["value"], one["n"]) for name, one in metrics.items()}


def rows_as_before(path: Path, columns: Collection[str]) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        {key: value for key, value in row.items() if key in columns and not key.endswith(INTERVAL)}
        for row in rows
    ]


def test_an_interrupted_evaluation_resumes(old: Path) -> None:
    whole = as_before(old / "runs/eval/records.jsonl")
    cut = old / "runs/eval_cut/records.jsonl"
    held = cut.read_bytes()
    words = "eval nhop_implicit --solver random_candidate --items 6 --order_trials 2 --seed 7 --out"
    assert main([*words.split(), "runs/eval_cut"]) == 0
    assert cut.read_bytes().startswith(held[: held.rfind(b"\n") + 1])
    assert as_before(cut) == whole
    made, kept = old / "runs/eval_cut/summary.json", GOLDEN / "runs/eval/summary.json"
    assert values(kept).items() <= values(made).items()


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
    columns = (old / folder / "summary.csv").read_text().partition("\n")[0].split(",")
    table = rows_as_before(old / folder / "summary.csv", columns)
    records = sorted((old / folder).rglob("records.jsonl"))
    before = [path.read_bytes() for path in records]
    assert main([*words.split(), "--processes", "1"]) == 0
    assert (old / folder / "report.html").exists()
    assert [path.read_bytes() for path in records] == before, "nothing was attempted again"
    assert rows_as_before(old / folder / "summary.csv", columns) == table
    assert len(list((old / folder).parent.iterdir())) == 1


def test_the_records_of_every_folder_open(old: Path) -> None:
    for folder in ("eval", "main", "model", "agent_eval"):
        result = trivium.open(old / "runs" / folder)
        assert len(result) > 0
        assert result.summaries
        assert main(["report", f"runs/{folder}"]) == 0
    (summary,) = trivium.open(old / "runs" / "model").summaries
    assert (summary.items, summary.failed, summary.answered) == (5, 1, 4)


def test_a_trained_agent_still_plays_as_it_did(old: Path) -> None:
    pytest.importorskip("equinox")
    words = "eval blicket_game --preset paper --solver agent:runs/agent --items 3 --seed 7 --out"
    assert main([*words.split(), "again"]) == 0
    assert as_before(old / "again/records.jsonl") == as_before(
        old / "runs/agent_eval/records.jsonl"
    )
