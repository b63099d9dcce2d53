"""Exported files: every format holds the same items, and other tools read them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import pytest

import trivium
from tests.benchmarks.nhop.examples import bag
from tests.benchmarks.nhop.test_files import original_aliases
from tests.benchmarks.variables.test_files import BY_HAND
from tests.command_line import run, write
from trivium.auditing.results import Audit, Cue
from trivium.benchmarks import benchmark_names, load_task
from trivium.commands.flags import read_benchmark_flags
from trivium.core.files import read_rows
from trivium.core.task import PresentedItem, Task
from trivium.evaluation.command_line import changed_flags, task_flags
from trivium.evaluation.evaluation import Evaluation, Items
from trivium.exchange.dataset_folder import card
from trivium.exchange.export import FORMATS, export_id
from trivium.exchange.tables import read_table

COLUMNS = ["id", "prompt", "gold", "floor", "groups", "benchmark", "spec", "view"]
COLUMNS += ["seed", "index", "trial", "item", "source", "version", "digest", "canary"]
CANARY = "trivium-canary-136adcf2-5ece-4af7-907c-9a61abb3e4e0"


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a file with nested columns read."""
    rows = []
    for _, row in read_table(path):
        nested = {key: row.get(key) for key in ("groups", "spec", "view")}
        read = {k: orjson.loads(v) if isinstance(v, str) else v for k, v in nested.items()}
        rows.append({**row, **read})
    return rows


@pytest.mark.parametrize("name", benchmark_names())
def test_a_row_holds_what_scoring_needs(name: str, tmp_path: Path) -> None:
    out = tmp_path / "prompts.jsonl"
    assert run(f"export {name} --items 3 --seed 5 --start 2 --out {out}") == 0
    task = trivium.load(name)
    for row, item in zip(rows_of(out), task.items(3, seed=5, start=2), strict=True):
        assert list(row) == COLUMNS
        assert (row["prompt"], row["gold"]) == (item.prompt, item.gold)
        assert (row["seed"], row["index"], row["trial"]) == (5, item.original.origin.index, 0)
        assert row["groups"] == item.groups
        assert row["floor"] == pytest.approx(item.floor)
        assert (row["item"], row["benchmark"], row["source"]) == (item.id, name, None)
        if not task.benchmark.multi_turn:
            headline = task.benchmark.metrics[0]
            assert task.score(item, row["gold"])[headline.name] in (headline.best, None)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_carries_the_canary(form: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    model = "--model gpt-4.1-mini" if form == "openai-batch" else ""
    words = "--no_audit" if form == "huggingface" else model
    assert run(f"export nhop_implicit --items 3 --format {form} {words} --out {out}") == 0
    if form in ("parquet", "huggingface"):
        (shard,) = [out] if form == "parquet" else out.rglob("*.parquet")
        table = pytest.importorskip("pyarrow.parquet").read_table(shard)
        assert table["canary"].to_pylist() == [CANARY] * 3
        assert form == "parquet" or CANARY in (out / "README.md").read_text()
    else:
        assert out.read_text().count(CANARY) == 3


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_tables_hold_the_same_as_lines(form: str, tmp_path: Path) -> None:
    words = "export identifying_variables --items 4 --seed 3 --order_trials 2"
    assert run(f"{words} --out {tmp_path / 'a.jsonl'}") == 0
    assert run(f"{words} --format {form} --out {tmp_path / f'a.{form}'}") == 0
    lines, table = rows_of(tmp_path / "a.jsonl"), rows_of(tmp_path / f"a.{form}")
    as_text: Callable[[Any], str] = lambda value: "" if value is None else str(value)  # noqa: E731
    assert [{k: as_text(v) for k, v in row.items()} for row in table] == [
        {k: as_text(v) for k, v in row.items()} for row in lines
    ]
    assert [row["trial"] for row in lines] == [0, 1] * 4
    assert len({row["id"] for row in lines}) == 8


ORIGINALS = {
    "identifying_variables": BY_HAND,
    "nhop_explicit": original_aliases("in the block", "as aliases"),
    "nhop_implicit": bag(),
}


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet", "huggingface", "inspect"])
@pytest.mark.parametrize("name", ORIGINALS)
def test_files_of_the_originals_are_exported_and_scored(
    name: str, form: str, tmp_path: Path
) -> None:
    """Their items have no spec, so that every row holds the whole item."""
    file = write(tmp_path / "original.jsonl", json.dumps(ORIGINALS[name]))
    prompts, replies, out = (tmp_path / name for name in (f"p.{form}", "replies.jsonl", "scores"))
    words = f"export {name} --in {file} --order_trials 2 --format {form}"
    assert run(f"{words} --out {prompts}" + " --no_audit" * (form == "huggingface")) == 0
    task = trivium.load(name)
    item = PresentedItem(task, task.benchmark.from_row(ORIGINALS[name], 0))
    write(replies, json.dumps({"id": item.id, "trial": 0, "reply": item.gold}))
    assert run(f"score {name} --in {prompts} --replies {replies} --out {out}") == 1
    first, second = (row for _, row in read_rows(out / "records.jsonl"))
    assert (first["kind"], second["kind"]) == ("right", "failed")
    assert first["prompt"] == item.prompt, "it cannot be regenerated"
    if form == "huggingface":
        about = json.loads((prompts / "croissant.json").read_text())["description"]
        assert "original.jsonl), each in 2 orders, generated by Trivium" in about
    assert first["floor"] <= 1 / 2


def test_a_csv_of_long_prompts_is_read_whole(tmp_path: Path) -> None:
    out = tmp_path / "long.csv"
    words = "export nhop_implicit --hops 60 --m 200 --M 999 --items 1 --format csv --out"
    assert run(words, str(out)) == 0
    (row,) = rows_of(out)
    assert len(row["prompt"]) > 150_000
    assert out.read_text().startswith("id,prompt,")


def test_openai_batches_have_the_documented_shape(tmp_path: Path) -> None:
    out = tmp_path / "batch.jsonl"
    words = "export nhop_implicit --items 2 --format openai-batch --model gpt-4.1-mini --temp 0"
    assert run(f"{words} --max_output_tokens 64 --out {out}") == 0
    first, second = (json.loads(line) for line in out.read_text().splitlines())
    item = trivium.load("nhop_implicit").item(0)
    assert first == {
        "custom_id": export_id(item),
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {
            "model": "gpt-4.1-mini",
            "messages": [{"role": "user", "content": item.prompt}],
            "temperature": 0.0,
            "max_completion_tokens": 64,
            "user": CANARY,
        },
    }
    assert second["custom_id"] != first["custom_id"]
    assert 1 <= len(first["custom_id"]) <= 64


def test_inspect_reads_its_samples(tmp_path: Path) -> None:
    dataset = pytest.importorskip("inspect_ai.dataset")
    out = tmp_path / "samples.jsonl"
    assert run(f"export blicket_prompts --items 2 --format inspect --out {out}") == 0
    samples = list(dataset.json_dataset(str(out)))
    item = trivium.load("blicket_prompts").item(1)
    assert (samples[1].input, samples[1].target) == (item.prompt, item.gold)
    assert samples[1].metadata["seed"] == 7
    assert samples[1].id == export_id(item)


def test_standard_output_takes_text_only(capsys: pytest.CaptureFixture[str]) -> None:
    words = [sys.executable, "-m", "trivium", "export", "nhop_implicit", "--items", "2"]
    found = subprocess.run([*words, "--out", "-"], check=True, capture_output=True, text=True)
    assert [json.loads(line)["index"] for line in found.stdout.splitlines()] == [0, 1]
    assert run("export nhop_implicit --format parquet --out -") == 2
    assert "parquet needs a file" in capsys.readouterr().err


def test_a_game_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"export blicket_game --items 2 --out {tmp_path / 'games.jsonl'}") == 0
    assert "holds only the openings" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--items 0", "items must be at least 1, got 0"),
        ("--format xml", "xml"),
        ("--temp 1", "--temp goes with --format openai-batch"),
        ("--format openai-batch", "model is missing: which model does"),
        ("--format openai-batch --model unknown", "model must be PROVIDER/MODEL"),
        ("--in nowhere.jsonl", "nowhere.jsonl: No such file or directory"),
        ("--in nowhere.jsonl --seed 3", "--seed goes with generated items"),
    ],
)
def test_bad_input_is_one_sentence(
    words: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.jsonl"
    assert run(f"export nhop_implicit {words} --out {out}") == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_ids_tell_specs_views_seeds_and_trials_apart(tmp_path: Path) -> None:
    ids = []
    for number, words in enumerate(
        ("--seed 7", "--seed 8", "--seed 7 --hops 4", "--seed 7 --mode steps", "--seed -7")
    ):
        out = tmp_path / f"{number}.jsonl"
        assert run(f"export nhop_implicit --items 3 --order_trials 2 {words} --out {out}") == 0
        ids += [row["id"] for row in rows_of(out)]
    assert len(set(ids)) == len(ids) == 5 * 3 * 2
    assert all(set(name) <= set("-_") | set(map(chr, range(48, 123))) for name in ids)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset folder of three shards."""
    path = tmp_path_factory.mktemp("hub") / "implicit"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trivium.exchange.dataset_folder.SHARD", 5)
        words = "export nhop_implicit --hops 4 --items 12 --seed 7 --format huggingface"
        words += " --no_audit --out"
        assert run(words, str(path)) == 0
    return path


def test_the_folder_has_shards_a_card_and_metadata(folder: Path) -> None:
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*"))
    assert names == [
        "README.md",
        "croissant.json",
        "data/test-00000-of-00003.parquet",
        "data/test-00001-of-00003.parquet",
        "data/test-00002-of-00003.parquet",
    ]
    card = (folder / "README.md").read_text()
    assert "trivium export nhop_implicit --hops 4 --items 12 --seed 7 --format huggingface" in card
    assert "does not read the item (random_candidate) | 0.125 |" in card
    assert "| ceiling, `oracle` on 12 items | 1.000 [" in card
    assert "Not audited; `trivium audit nhop_implicit --hops 4` does it." in card
    assert not list(folder.parent.glob("*.part"))
    about = json.loads((folder / "croissant.json").read_text())["description"]
    assert "12 items (0 to 11 of seed 7), generated by Trivium" in about


def test_the_card_tells_the_result_of_the_audit() -> None:
    prompts = Evaluation(load_task("nhop_implicit"), Items(7, 0, 2), "export")
    cue = Cue("answer: place", "its place", 0.2, 0.15, 0.25, 0.125, 900)
    clean = replace(cue, low=0.1)
    said = card(prompts, "here", Audit((clean,), 900, 0.99))
    assert "PASSED: none of 1 cues beats chance on 900 fresh items." in said
    said = card(prompts, "here", Audit((cue, clean), 900, 0.99))
    assert "CAUGHT: 1 of 2 cues beat chance on 900 fresh items: answer: place (0.200" in said
    assert "NO VERDICT" in card(prompts, "here", Audit((), 900, 0.99))


@pytest.mark.parametrize(
    ("items", "size"), [(999, "n<1K"), (1000, "1K<n<10K"), (999_999, "100K<n<1M"), (10**6, "n>1M")]
)
def test_the_card_has_the_size_category_of_the_hub(
    items: int, size: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trivium.exchange.dataset_folder.SAMPLE", 2)
    said = card(Evaluation(load_task("nhop_implicit"), Items(7, 0, items), "export"), "here", None)
    assert re.findall(r"n[<>]1\w|\d+K<n<\d+\w", said) == [size]


def test_the_audit_of_a_card_is_the_one_that_the_command_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def as_asked(benchmark: Any, spec: Any, seed: int, *, view: Any) -> Audit:
        assert (benchmark.name, spec.hops, seed, view.mode) == ("nhop_implicit", 4, 0, "steps")
        return Audit((), 900, 0.99)

    monkeypatch.setattr("trivium.exchange.dataset_folder.audit", as_asked)
    words = "export nhop_implicit --hops 4 --mode steps --items 2 --format huggingface --out"
    assert run(words, str(tmp_path / "made")) == 0
    assert "NO VERDICT" in (tmp_path / "made" / "README.md").read_text()


def test_load_dataset_opens_the_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    data = datasets.load_dataset(str(folder), split="test", cache_dir=str(tmp_path))
    items = trivium.load("nhop_implicit", hops=4).items(12, seed=7)
    assert list(data["prompt"]) == [item.prompt for item in items]
    assert list(data["gold"]) == [item.gold for item in items]


def test_mlcroissant_validates_and_reads_the_metadata(folder: Path) -> None:
    pytest.importorskip("mlcroissant")
    # In a process of its own: its warnings about other packages are not ours.
    command = [str(Path(sys.executable).with_name("mlcroissant")), "validate", "--jsonld"]
    found = subprocess.run(
        [*command, str(folder / "croissant.json")], check=True, capture_output=True, text=True
    )
    assert "warning(s)" not in found.stderr
    script = (
        "import sys, mlcroissant\n"
        "rows = mlcroissant.Dataset(sys.argv[1]).records('items')\n"
        "print(sorted(row['items/id'].decode() for row in rows))"
    )
    words = [sys.executable, "-c", script, str(folder / "croissant.json")]
    read = subprocess.run(words, check=True, capture_output=True, text=True)
    items = trivium.load("nhop_implicit", hops=4).items(12, seed=7)
    assert read.stdout.strip() == str(sorted(export_id(item) for item in items))


def test_a_folder_in_use_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / "README.md").read_bytes()
    assert run(f"export nhop_implicit --items 2 --format huggingface --out {folder}") == 2
    assert "exists already" in capsys.readouterr().err
    assert (folder / "README.md").read_bytes() == before


@pytest.mark.parametrize("name", benchmark_names())
def test_the_flags_of_the_card_make_the_same_task(name: str) -> None:
    benchmark = load_task(name).benchmark
    for spec in (benchmark.spec_type(), list(benchmark.presets.values())[-1]):
        task = Task(benchmark, spec, benchmark.view_type())
        for words in (task_flags(task), changed_flags(spec, benchmark.default_spec)):
            assert read_benchmark_flags("show", _NoFlags, [name, *words], "").task == task


@dataclass(frozen=True)
class _NoFlags:
    """A command without flags of its own."""


def test_the_api_exports_and_scores(tmp_path: Path) -> None:
    task = trivium.load("nhop_explicit", hops=4, mode="steps")
    prompts = tmp_path / "prompts.parquet"
    assert trivium.export(task, prompts, format="parquet", items=6, seed=3) == 6
    replies = {row["id"]: row["gold"] for row in rows_of(prompts)}
    path = write(tmp_path / "replies.json", json.dumps(replies))
    assert trivium.score(task, path, prompts=prompts).summary.metrics["correct"].value == 1
    made = trivium.score(task, path, items=6, seed=3, solver="me", out=tmp_path / "run")
    assert (made.summary.solver, made.summary.items) == ("me", 6)
    with pytest.raises(trivium.UserError, match="which items were replied to"):
        trivium.score(task, path)
