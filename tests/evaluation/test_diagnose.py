"""Diagnoses: the benchmark's own variants, under the older spellings too."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from trivium.benchmarks import benchmark_names, load_task
from trivium.cli import main
from trivium.core.spec import read_mapping, spec_from_dict
from trivium.evaluation.plan import plan_diagnosis


def _run(words: str) -> list[dict[str, str]]:
    assert main(["diagnose", *words.split(), "--processes", "1"]) == 0
    runs = list(Path("runs").glob("*/diag_*"))
    assert len(runs) == 1
    drawn = sorted(path.name for path in runs[0].glob("plots/*.svg"))
    assert any(name.endswith("_by_variant.svg") for name in drawn)
    assert main(["plot", "--summary", str(runs[0] / "summary.csv"), "--outdir", "charts"]) == 0
    assert sorted(path.name for path in Path("charts").iterdir()) == drawn
    return list(csv.DictReader((runs[0] / "summary.csv").read_text().splitlines()))


def test_explicit_variants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = _run(
        "--approach explicit --items 20 --n 6 --L 3 --k 6 --contexts 8 --M 256 --seed 7 "
        "--variants control,path,bal,alias,all"
    )
    found = {(row["variant"], row["solver"]): float(row["correct"]) for row in rows}
    order = list(dict.fromkeys(row["variant"] for row in rows))
    assert order == ["control", "path", "bal", "alias", "all"]
    assert all(found[variant, "oracle"] == 1 for variant in ("control", "path", "bal", "all"))
    # What controls are for: the shortcut that is perfect without them is at chance with all.
    assert found["control", "first_rank_head"] == 1
    assert found["all", "first_rank_head"] < 0.5


def test_implicit_variants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = _run(
        "--approach=implicit --items 20 --n 6 --m 8 --M 256 --seed 7 "
        "--variants control,ablate,baseline --label quick"
    )
    found = {(row["variant"], row["solver"]): float(row["correct"]) for row in rows}
    assert found["control", "oracle"] == 1
    assert found["ablate", "oracle"] < 0.5
    assert [solver for variant, solver in found if variant == "baseline"] == ["pointer_f_n1"]
    (manifest,) = Path("runs").glob("*/diag_*/run.json")
    assert read_mapping(manifest)["label"] == "quick"


@pytest.mark.parametrize("name", benchmark_names())
def test_every_benchmark_has_variants_that_can_be_run(name: str) -> None:
    task = load_task(name)
    run = plan_diagnosis(task, variants=[], seed=1, items=2)
    assert {one.setting for one in run.evaluations} == set(task.benchmark.diagnostics)


@pytest.mark.parametrize("name", ["nhop_explicit", "nhop_implicit"])
def test_relations_are_the_same_items_in_plain_english(name: str) -> None:
    variants = ["control", "relations"]
    run = plan_diagnosis(load_task(name), variants=variants, seed=1, items=1, solvers=["oracle"])
    control, relations = (next(iter(one.presented())) for one in run.evaluations)
    assert relations.original == control.original
    assert "f1" in control.prompt
    assert "f1" not in relations.prompt


def test_unknown_variants_and_approaches_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", "nhop_implicit", "--variants", "control,sideways"]) == 2
    assert (
        "unknown variant 'sideways'; there are control, ablate, unanswerable, relations, baseline"
        in (capsys.readouterr().err)
    )
    assert main(["diagnose", "--approach", "both"]) == 2
    assert "unknown benchmark 'both'" in capsys.readouterr().err


@pytest.mark.parametrize("name", benchmark_names())
def test_no_variant_is_another_one_under_a_second_name(name: str) -> None:
    """A model would be asked, and paid, twice for the same prompts."""
    task = load_task(name)
    variants = [
        (
            spec_from_dict(type(task.spec), one.spec, base=task.spec),
            spec_from_dict(type(task.view), one.view, base=task.view),
            one.solver,
        )
        for one in task.benchmark.diagnostics.values()
    ]
    assert len(set(map(repr, variants))) == len(variants)
