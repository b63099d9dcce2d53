"""Full names, files and figures on the command line."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from trivium.benchmarks import load_task
from trivium.benchmarks.variables.spec import PRESETS, RENDERERS, VariablesView
from trivium.cli import main
from trivium.core.errors import UserError
from trivium.core.files import dump_line, read_rows

NAME = "identifying_variables"


@pytest.mark.parametrize("dataset", PRESETS)
@pytest.mark.parametrize("renderer", RENDERERS)
def test_full_names(renderer: str, dataset: str) -> None:
    task = load_task(f"{NAME}.{renderer}.{dataset}")
    spec, view = task.spec, task.view
    assert (spec, view.renderer) == (PRESETS[dataset], renderer)
    short = load_task(f"{NAME}.{renderer}")
    assert (short.spec, short.view) == (PRESETS["balanced-ctrl"], view)
    short = load_task(f"{NAME}.{dataset}")
    assert (short.spec, short.view) == (PRESETS[dataset], VariablesView())


@pytest.mark.parametrize(
    "parts", ["cvs", "csv.csv", "balanced-ctrl.csv", "csv.balanced-ctrl.more", ""]
)
def test_other_names_are_refused_in_a_sentence(parts: str) -> None:
    with pytest.raises(UserError, match="with a renderer of language-corrset"):
        load_task(f"{NAME}.{parts}")


def test_show_uses_the_renderer_in_the_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{NAME}.json.balanced-hypotheses", "--show_tree", "pseudocode"]) == 0
    out = capsys.readouterr().out
    assert '"x_' in out
    assert "if correlated(IND, DEP) is false:" in out
    assert "ANSWER: valid; independent: " in out


def test_a_dataset_has_its_own_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "items.jsonl"
    assert main(["generate", f"{NAME}.balanced-hypotheses", "--out", str(path)]) == 0
    rows = [row for _, row in read_rows(path)]
    assert len(rows) == 500
    assert sum(row["gold_label"]["valid_hypothesis"] for row in rows) == 250
    assert main(["estimate", f"{NAME}.corrset.original-ctrl"]) == 0
    assert "500 requests" in capsys.readouterr().out


def test_a_file_of_the_original_goes_all_the_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, path = tmp_path / "made.jsonl", tmp_path / "original.jsonl"
    command = ["generate", NAME, "--balance", "hypotheses", "--items", "20", "--out", str(made)]
    assert main(command) == 0
    keys = ("id", "table", "telling", "spec", "seed", "index")
    rows = [{k: v for k, v in row.items() if k not in keys} for _, row in read_rows(made)]
    valid = sum(row["gold_label"]["valid_hypothesis"] for row in rows)
    path.write_bytes(b"".join(map(dump_line, rows)))
    for solver in ("oracle", "statistician"):
        out = tmp_path / solver
        command = ["eval", NAME, "--solver", solver, "--in", str(path), "--out", str(out)]
        assert main(command) == 0
        summary = orjson.loads((out / "summary.json").read_bytes())
        assert summary["items"] == 20
        assert summary["metrics"]["ctrl_nDCG"]["value"] == 1
        assert summary["metrics"]["hyp_valid_acc"] | {"low": 0} == {
            "value": 1,
            "low": 0,
            "high": 1,
            "n": 20,
        }
        assert summary["metrics"]["ind_acc"]["n"] == valid
        assert summary["floor"] == (20 - valid) / 20  # no other constant is ever right here
        assert summary["floor_name"] == "always invalid"
    assert main(["analyze", str(tmp_path / "oracle")]) == 0
    out_text = capsys.readouterr().out
    for group in ("n_vars", "n_roots", "n_ctrl_vars", "n_hyps", "max_corr_depth"):
        assert f"correct by {group}" in out_text


def test_a_wrong_gold_label_names_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "items.jsonl"
    assert main(["generate", NAME, "--items", "3", "--out", str(path)]) == 0
    rows = [row for _, row in read_rows(path)]
    rows[1]["gold_label"]["ctrl_vars"] = ["x_1"]
    path.write_bytes(b"".join(map(dump_line, rows)))
    command = ["eval", NAME, "--solver", "random", "--in", str(path), "--out", str(tmp_path / "o")]
    assert main(command) == 2
    assert "line 2: gold_label is" in capsys.readouterr().err


def test_replies_collected_elsewhere_are_scored(tmp_path: Path) -> None:
    items, replies = tmp_path / "items.jsonl", tmp_path / "replies.jsonl"
    assert main(["generate", NAME, "--items", "20", "--out", str(items)]) == 0
    made = [row for _, row in read_rows(items)]
    first, second = [row for row in made if row["gold_label"]["valid_hypothesis"]][:2]
    items.write_bytes(dump_line(first) + dump_line(second))
    label = first["gold_label"]
    said = (
        f"**Answer:** Valid; independent: `{label['ind_var']}`; "
        f"dependent: {label['dep_var']}; control: {', '.join(label['ctrl_vars']) or 'None'}"
    )
    rows = [{"id": first["id"], "reply": said}, {"id": second["id"], "reply": "no idea"}]
    replies.write_bytes(b"".join(map(dump_line, rows)))
    out = tmp_path / "scored"
    command = ["score", NAME, "--in", str(items), "--replies", str(replies), "--out", str(out)]
    assert main(command) == 0
    results = [row for _, row in read_rows(out / "records.jsonl")]
    assert [row["kind"] for row in results] == ["right", "no-answer"]
    assert results[0]["scores"]["ctrl_nDCG"] == 1
    assert [row["scores"]["correct"] for row in results] == [1, 0]
    assert {(row["floor"], row["floor_name"]) for row in results} == {(0.5, "always invalid")}
    assert results[1]["scores"]["ctrl_fallout"] == 1
