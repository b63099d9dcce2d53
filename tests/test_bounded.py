"""Hostile names and sizes: clean text everywhere, one sentence, and nothing that grows forever."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.raw import RawServer, Request, Sent, completion
from trivium.cli import main
from trivium.core.text import MAX_FILE_NAME, clean, csv_cell, file_name, one_line, sentence
from trivium.evaluation.executors import ProgressBar
from trivium.models.endpoint import retry_delay

HOSTILE = "\x1b]52;c;aGk=\x07\x1b[2J\u202e\u2066\x9b\x00\ud800[/]<b>=cmd|' /C calc'!A0"
EVAL = ["eval", "nhop_implicit", "--solver", "oracle"]
UNSAFE = "\x1b\x07\u202e\u2066\x9b\x00\ud800"


@given(st.text(st.characters(exclude_categories=())))
def test_clean_text_controls_nothing_and_keeps_the_rest(text: str) -> None:
    found = clean(text)
    assert len(found) == len(text)
    assert clean(found) == found
    assert not set(found) & {*map(chr, range(32)), "\x7f", *UNSAFE} - {"\n", "\t"}
    ET.fromstring(f"<a>{found.replace('&', '').replace('<', '').replace(chr(0xFFFE), '')}</a>")
    if text.isprintable():
        assert found == text
    assert "\n" not in one_line(text)
    assert csv_cell(text)[:1] not in ("=", "@")


@given(st.text(st.characters(exclude_categories=()), max_size=300))
def test_any_text_becomes_a_name_of_a_file(text: str) -> None:
    name = file_name(text)
    assert 0 < len(name) <= MAX_FILE_NAME + 9
    assert name not in (".", "..")
    assert name.isascii()
    assert not set(name) & set("/\\\0 :")


def test_long_words_are_not_repeated_whole() -> None:
    assert len(sentence("x" * 5000)) < 200
    assert len(sentence("word " * 5000)) < 2100
    short = "runs/a/path/of/some/length: cannot be written"
    assert sentence(short) == short


def test_one_line_closes_gaps_before_it_is_cut() -> None:
    assert one_line(f"A{' ' * 1000}Z") == "A Z"


def test_numbers_stay_numbers_in_csv() -> None:
    assert [csv_cell(value) for value in ("-1.5", -2, "+3e5", None)] == ["-1.5", -2, "+3e5", None]
    assert csv_cell(" =1+1") == "' =1+1"


@pytest.fixture(scope="module")
def hostile_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of records whose texts are hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    assert main([*EVAL, "--items", "3", "--out", str(folder)]) == 0
    rows = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    for path in folder.iterdir():
        path.unlink()
    odd = {"solver": f"vllm/{HOSTILE}", "floor_name": HOSTILE, "reply": HOSTILE}
    (folder / "records.jsonl").write_text("".join(json.dumps(row | odd) + "\n" for row in rows))
    return folder


@pytest.mark.parametrize("command", ["analyze", "report", "plot", "compare"])
def test_names_in_records_control_no_terminal_and_no_file(
    command: str, hostile_run: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = [command, str(hostile_run), *([str(hostile_run)] if command == "compare" else [])]
    assert main(words) in (0, 1, 2)
    captured = capfd.readouterr()
    shown = captured.out + captured.err
    assert "Traceback" not in shown
    for text in (shown, *(p.read_text() for p in hostile_run.rglob("*.[hsm][tvd]*"))):
        assert not set(text) & set(UNSAFE)
    for path in hostile_run.rglob("*.svg"):
        ET.parse(path)


def test_hostile_labels_and_models_end_no_sweep(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    name = HOSTILE.replace("\x00", "").replace("\ud800", "")  # no argument can hold these
    with RawServer(lambda asked: Sent(completion("E_0001"))) as server:
        words = ["sweep", "nhop_implicit", "--solvers", "oracle", "--items", "2", "--seeds", "1,2"]
        words += ["--model", f"vllm/{name}{'m' * 300}", "--label", name, "--base_url", server.url]
        words += ["--processes", "1", "--backend", "direct", "--out", str(tmp_path)]
        assert main(words) == 0
    captured = capfd.readouterr()
    assert not set(captured.out + captured.err) & set(UNSAFE)
    assert not set((tmp_path / "report.html").read_text()) & set(UNSAFE)
    with (tmp_path / "summary.csv").open(newline="") as file:
        assert not any(cell.startswith("=") for row in csv.reader(file) for cell in row)
    for path in tmp_path.rglob("*.svg"):
        ET.parse(path)


def test_a_label_is_no_markup_of_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with ProgressBar(f"vllm/[/]{HOSTILE}", 3) as progress:
        progress.advance(3)


def test_a_sweep_goes_on_without_a_model_that_cannot_be_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models: Counter[str] = Counter()

    def respond(asked: Request) -> Sent:
        models[asked.body["model"]] += 1
        if asked.body["model"] == "dead":
            return Sent({"error": "no such model"}, status=404)
        return Sent(completion("E_0001"))

    with RawServer(respond) as server:
        words = ["sweep", "nhop_implicit", "--solvers", "oracle", "--items", "3", "--seeds", "1"]
        words += ["--model", "vllm/dead", "vllm/alive", "--base_url", server.url]
        words += ["--processes", "1", "--backend", "direct", "--out", str(tmp_path)]
        assert main(words) == 1
        shown = capsys.readouterr().out
        assert "vllm/alive" in shown
        assert "oracle" in shown
        assert "FAILED: 3 of 6 attempts; the same command retries them" in shown
        assert "vllm/dead at http://" in shown
        assert main(words) == 1
    assert models["alive"] == 3, "only the dead model is asked again"
    (folder,) = tmp_path.rglob("*dead*/records.jsonl")
    rows = [json.loads(line) for line in folder.read_text().splitlines()]
    assert [row["index"] for row in rows] == [0, 1, 2]
    assert {row["kind"] for row in rows} == {"failed"}


@pytest.mark.parametrize("key", ["trial", "epoch", "sample"])
def test_a_number_that_is_no_trial_makes_no_records(
    key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text(json.dumps({"id": "IMP-000000", "reply": "x", key: 1_700_000_000}))
    words = ["score", "nhop_implicit", "--items", "2", "--replies", str(path)]
    assert main([*words, "--out", str(tmp_path / "out")]) == 2
    assert f"{key} is out of range (0..999): 1700000000" in capsys.readouterr().err


def scored(rows: list[dict[str, Any]], tmp_path: Path) -> list[dict[str, Any]]:
    path = tmp_path / "replies.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["score", "nhop_implicit", "--items", str(len(rows)), "--replies", str(path)]
    assert main([*words, "--out", str(tmp_path / "out")]) in (0, 1)
    lines = (tmp_path / "out/records.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_one_odd_reply_in_a_file_spoils_no_other(tmp_path: Path) -> None:
    bodies: list[dict[str, Any]] = [
        {"reply": "E_0001 \ud800"},
        {"response": {"output": [{"content": "E_0001"}], "incomplete_details": "str"}},
        {"response": {"output": []}},
        {"response": {"choices": []}},
    ]
    rows = [{"id": f"IMP-{index:06}"} | body for index, body in enumerate(bodies)]
    found = scored(rows, tmp_path)
    assert [row["kind"] == "failed" for row in found] == [False, False, True, True]
    assert {row["error"] for row in found[2:]} == {"the response holds no reply"}
    assert found[0]["reply"] == "E_0001 ?"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("sweep nhop_implicit --dry_run --seeds " + ",".join(map(str, range(50_000))), "possible"),
        ("train ppo-mlp --width 999999999 --out x", "width must be in 1..4096, got 999999999"),
        ("train ppo-lstm --trunk 64 99999999 --out x", "trunk needs sizes in 1..4096"),
        ("train ppo-mlp --environments 99999999 --horizon 999 --out x", "environments times"),
        ("run ------", "unrecognized arguments: ------"),
        (f"eval {'x' * 5000}", "unknown benchmark"),
        (f"eval nhop_implicit --hops {'x' * 5000}", "must be a whole number"),
    ],
)
def test_what_is_too_large_is_one_short_sentence(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert shown.startswith("trivium: ")
    assert len(shown) < 600
    assert shown.count("\n") == 1


def test_a_record_without_its_seed_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*EVAL, "--items", "1", "--out", str(tmp_path)]) == 0
    row = json.loads((tmp_path / "records.jsonl").read_text())
    del row["seed"]
    (tmp_path / "records.jsonl").write_text(json.dumps(row))
    for command in ("report", "plot", "analyze"):
        assert main([command, str(tmp_path)]) == 2
        assert "not a record (it has a spec, but no seed" in capsys.readouterr().err


def test_a_broken_benchmark_of_ones_own_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("trivium.toml").write_text('[benchmarks]\nfoo = "foo.py:BENCHMARK"\n')
    words = "sweep nhop_implicit --solvers oracle --items 2 --seeds 1,2 --processes 2 --out s"
    assert main(words.split()) == 0
    assert "foo" not in capfd.readouterr().err
    Path("foo.py").write_text("1 / 0\n")
    assert main(["show", "foo"]) == 2
    assert "cannot be loaded from foo.py:BENCHMARK: ZeroDivisionError" in capfd.readouterr().err


def test_a_server_that_speaks_no_tls_is_said_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with RawServer(lambda asked: Sent(b"")) as server:
        url = server.url.replace("http:", "https:")
        words = ["eval", "nhop_implicit", "--model", "vllm/m", "--items", "1", "--base_url", url]
        assert main([*words, "--backend", "direct", "--out", str(tmp_path)]) == 1
    assert "is its URL http:// rather than https://?" in capsys.readouterr().err


def test_a_date_to_wait_for_is_by_the_clock_of_the_server() -> None:
    headers = {
        "date": "Mon, 01 Jan 2001 00:00:00 GMT",
        "retry-after": "Mon, 01 Jan 2001 00:00:07 GMT",
    }
    assert retry_delay(headers) == 7
    assert retry_delay(headers | {"retry-after": "Mon, 01 Jan 9999999999"}) is None


@pytest.mark.slow
@pytest.mark.parametrize("ignored", [False, True], ids=["foreground", "background"])
def test_an_interrupted_learner_ends_with_its_status(ignored: bool, tmp_path: Path) -> None:
    words = ["train", "ppo-mlp", "--preset", "large", "--steps", "50000000", "--out"]
    ignore = "trap '' INT; " if ignored else ""
    line = ["bash", "-c", f'{ignore}exec "$@"', "-", sys.executable, "-m", "trivium", *words]
    for number, name in enumerate(["SIGTERM"] if ignored else ["SIGINT", "SIGTERM"]):
        out = str(tmp_path / str(number))
        process = subprocess.Popen([*line, out], stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        process.stderr.readline()  # the first report
        process.send_signal(signal.Signals[name])
        said = process.communicate(timeout=120)[1]
        assert process.returncode == {"SIGINT": 130, "SIGTERM": 143}[name], said
        assert "the same command resumes from here" in said
