"""Files that cannot be written to their end: one sentence, and nothing half taken for whole."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from tests.models.server import Server
from trivium.cli import main
from trivium.core.errors import UserError
from trivium.core.files import Appender, atomic_write
from trivium.evaluation.index import add_to_index
from trivium.evaluation.plan import plan_sweep

EVAL = ["eval", "nhop_implicit", "--items", "200", "--seed", "3", "--out", "e"]


def limited(words: list[str], kilobytes: int, folder: Path) -> tuple[int, str]:
    """A command that may write no file past a size: its status, and what it said of it.

    The system refuses the write in the middle, as it does when a disk is full.
    """
    limit = f'ulimit -f {kilobytes}; exec "$@"'
    command = ["bash", "-c", limit, "-", sys.executable, "-m", "trivium", *words]
    environment = {**os.environ, "VLLM_API_KEY": "none-needed"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    return done.returncode, done.stderr.decode()


def one_sentence(said: str, name: str) -> None:
    last = said.splitlines()[-1]
    assert last.startswith("trivium: "), said
    assert f"{name}: cannot be written (File too large)" in last
    assert "Traceback" not in said


def test_records_that_stop_in_the_middle_are_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [*EVAL, "--solver", "oracle"]
    code, said = limited(words, 40, tmp_path)
    assert code == 2
    one_sentence(said, "e/records.jsonl")
    assert (tmp_path / "e/records.jsonl").stat().st_size == 40 * 1024, "it broke in the middle"
    assert not (tmp_path / "e/summary.json").exists()
    monkeypatch.chdir(tmp_path)
    assert main(words) == 0
    assert main([*EVAL[:-1], "whole", "--solver", "oracle"]) == 0
    for name in ("e", "whole"):
        rows = Path(name, "records.jsonl").read_bytes().splitlines()
        assert [orjson.loads(row)["index"] for row in rows] == list(range(200))
    assert Path("e/summary.json").read_bytes() == Path("whole/summary.json").read_bytes()


@pytest.mark.parametrize("backend", ["direct", pytest.param("inspect", marks=pytest.mark.slow)])
def test_a_model_is_not_asked_on_where_nothing_can_be_written(backend: str, tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    with Server(lambda messages: "A " * 4000, latency=0.05) as server:
        words = [*EVAL, "--model", "vllm/m", "--backend", backend, "--base_url", server.url]
        code, said = limited([*words, "--concurrency", "4"], 64, tmp_path)
        asked = sum(server.asked.values())
    assert code == 2
    one_sentence(said, "e/records.jsonl")
    assert asked < 100


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("generate nhop_implicit --items 2000 --out items.jsonl", "items.jsonl"),
    ],
)
def test_half_a_file_is_not_left_behind(words: str, name: str, tmp_path: Path) -> None:
    code, said = limited(words.split(), 16, tmp_path)
    assert code == 2
    one_sentence(said, f"trivium: {name}")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("kind", [OSError, RuntimeError])
def test_half_a_dataset_is_taken_away(
    kind: type[Exception],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    minari = pytest.importorskip("minari")
    dataset = tmp_path / "blicket" / "quiz-random-actions-v0"

    def half(**settings: object) -> None:
        dataset.mkdir(parents=True)
        (dataset / "main_data.hdf5").write_bytes(b"half")
        raise kind("Can't write data (errno = 28,\nerror message = 'No space left on device')")

    monkeypatch.setattr(minari, "create_dataset_from_buffers", half)
    assert main(["record", "--episodes", "3", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"trivium: {dataset}: cannot be written (Can't write data (errno = 28, ")
    assert said.count("\n") == 1
    assert not dataset.exists()


def test_a_disk_too_small_for_a_dataset_is_seen_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """h5py may crash on a full disk. Thirty episodes took 544,088 bytes when this was written."""
    pytest.importorskip("minari")
    usage = shutil.disk_usage(tmp_path)

    def small(path: Path) -> object:
        return usage._replace(free=540_000)

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", small)
        assert main(["record", "--episodes", "30", "--out", str(tmp_path)]) == 2
    assert "cannot be written (about 0.6 MB are needed, and there is less)" in (
        capsys.readouterr().err
    )
    assert not list(tmp_path.iterdir())
    assert main(["record", "--episodes", "30", "--out", str(tmp_path)]) == 0
    written = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert 300_000 < written < 616_000


def test_a_full_device_and_a_full_standard_output_end_in_a_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["generate", "nhop_implicit", "--out", "/dev/full"]) == 2
    said = capsys.readouterr().err
    assert said == "trivium: /dev/full: cannot be written (No space left on device)\n"
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "trivium", "list"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr.decode() == "trivium: standard output: No space left on device\n"


def test_what_the_system_forbids_is_said_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def forbid(path: Path, *rest: object, **more: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "mkdir", forbid)
        with pytest.raises(UserError, match=r"x/y: cannot be written \(Permission denied\)"):
            Appender(tmp_path / "x" / "y")
        with (
            pytest.raises(UserError, match="Permission denied"),
            atomic_write(tmp_path / "x" / "y"),
        ):
            pass
    monkeypatch.setattr(Path, "exists", forbid)
    assert main(["eval", "nhop_implicit", "--solver", "oracle", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"trivium: {tmp_path / 'run.json'}: Permission denied\n"


def test_half_a_row_of_the_index_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def add(name: str) -> None:
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True, exist_ok=True)
        add_to_index(plan_sweep({"benchmark": "nhop_implicit", "solver": "oracle"}), folder)

    add("one")

    def half(file: object, data: bytes, /) -> int:
        os.write(file.fileno(), bytes(data)[:9])  # type: ignore[attr-defined]
        raise UserError("index.csv: cannot be written (No space left on device)")

    with monkeypatch.context() as patched:
        patched.setattr("trivium.core.files._Output.write", half)
        with pytest.raises(UserError, match="No space left"):
            add("two")
    add("three")
    rows = list(csv.reader((tmp_path / "runs/index.csv").read_text().splitlines()))
    assert [row[0] for row in rows] == ["run", "one", "three"]
