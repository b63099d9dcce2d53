"""Failed calls: in tables, verdicts and the exit status, and made again by the same command."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import orjson
import pytest

from tests.models.common import eval_words, oracle, prompts, records
from tests.models.server import Server
from trivium.cli import main
from trivium.core.records import Attempt
from trivium.evaluation import execute
from trivium.evaluation.executors import ProgressBar
from trivium.evaluation.index import newest_folder
from trivium.evaluation.plan import plan_main_run
from trivium.models.settings import ModelOptions

pytest.importorskip("aiohttp")
CONFIG = """
benchmark = "nhop_implicit"
items = 20
seeds = [3]
solvers = ["last_line"]
models = ["vllm/m"]
temp = 0.25
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("trivium.commands.run_flags.write_report", lambda folder, **options: folder)
    Path("small.toml").write_text(CONFIG)


@pytest.fixture
def broken() -> set[str]:
    """The prompts that fail; a test may clear it."""
    return set(prompts(20)[5:8])


@pytest.fixture
def server(broken: set[str]) -> Iterator[Server]:
    with Server(oracle(20), lambda prompt, nth: "400" if prompt in broken else None) as made:
        yield made


def sweep(server: Server, *flags: str) -> int:
    words = ["sweep", "small.toml", "--base_url", server.url, "--backend", "direct"]
    return main([*words, "--max_retries", "0", "--processes", "1", *flags])


def test_a_sweep_with_failed_calls_says_so_and_is_continued(
    server: Server, broken: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep(server) == 1
    said = capsys.readouterr().out
    assert "failed" in said, "a column of the table"
    assert "FAILED: 3 of 20 attempts; the same command retries them" in said
    assert "the first of them: 400" in said
    (folder,) = Path("runs/implicit").iterdir()
    before = server.asked.copy()

    assert sweep(server) == 1
    assert set((server.asked - before).keys()) == broken, "only what failed is asked again"
    assert f"{folder} holds 37 of 40 attempts" in capsys.readouterr().err

    before = server.asked.copy()
    assert sweep(server, "--no_retry_errors") == 1
    assert server.asked == before

    broken.clear()
    capsys.readouterr()
    assert sweep(server, "--retry_errors") == 0
    said = capsys.readouterr().out
    assert "FAILED" not in said
    assert "failed" not in said
    before = server.asked.copy()
    assert sweep(server) == 0
    assert f"{folder} holds all 40 attempts" in capsys.readouterr().err
    assert server.asked == before
    assert list(Path("runs/implicit").iterdir()) == [folder]
    rows = list(csv.DictReader((folder / "summary.csv").read_text().splitlines()))
    assert [row["failed"] for row in rows] == ["0", "0"]

    assert sweep(server, "--new") == 0
    assert len(list(Path("runs/implicit").iterdir())) == 2
    assert sum((server.asked - before).values()) == 20


def test_flags_win_over_a_config_and_make_another_run(server: Server, broken: set[str]) -> None:
    broken.clear()
    assert sweep(server) == 0
    assert {body["temperature"] for body in server.bodies} == {0.25}
    server.bodies.clear()
    assert sweep(server, "--temp", "0.75", "--max_output_tokens", "99") == 0
    assert {body["temperature"] for body in server.bodies} == {0.75}
    assert len(list(Path("runs/implicit").iterdir())) == 2, "other settings are another run"
    server.bodies.clear()
    assert sweep(server, "--temp", "0.75", "--max_output_tokens", "99") == 0
    assert server.bodies == []


def test_other_settings_of_models_are_another_run(server: Server, broken: set[str]) -> None:
    """A system message is in no config of the run, but in the manifest of each evaluation."""
    broken.clear()
    Path("system.txt").write_text("Be brief.")
    for flags in ((), ("--system", "system.txt"), ("--system", "system.txt")):
        assert sweep(server, *flags) == 0
    assert len(list(Path("runs/implicit").iterdir())) == 2
    assert sum(server.asked.values()) == 40


def test_the_main_run_is_continued_too(
    server: Server, broken: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = "run --benchmarks nhop_implicit --items 20 --seed 3 --model vllm/m --processes 1"
    flags = ["--base_url", server.url, "--backend", "direct", "--max_retries", "0"]
    assert main([*words.split(), *flags]) == 1
    said = capsys.readouterr().out
    assert "FAILED: 3 of 20 attempts" in said
    broken.clear()
    before = server.asked.copy()
    assert main([*words.split(), *flags]) == 0
    assert sum((server.asked - before).values()) == 3
    assert len(list(Path("runs").glob("run_*"))) == 1
    other = plan_main_run(["nhop_implicit"], seed=3, items=2)
    assert newest_folder(other, Path("runs")) is None, "other items are another run"


def test_failed_calls_end_with_status_1(
    server: Server, broken: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*eval_words(server, Path("e"), items=20), "--max_retries", "0"]
    assert main(words) == 1
    assert "FAILED: 3 of 20 attempts; the same command" in capsys.readouterr().out
    broken.update(prompts(20))
    assert main([*eval_words(server, Path("all"), items=10), "--max_retries", "0"]) == 1
    assert "FAILED: 10 of 10 attempts" in capsys.readouterr().out
    # More than the first twenty: it stops by itself.
    broken.update(prompts(50))
    assert main([*eval_words(server, Path("stopped"), items=50), "--max_retries", "0"]) == 1
    assert capsys.readouterr().err.startswith("trivium: ")


@pytest.mark.parametrize("reply", ["I'm sorry, but I can't help with that.", "<think>Let me see"])
def test_replies_without_an_answer_are_warned_of(
    reply: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Server(lambda messages: reply) as server:
        assert main(eval_words(server, tmp_path / "e", items=4)) == 0
    assert "WARNING: none of 4 replies holds an answer" in capsys.readouterr().out


def test_nothing_scored_ends_with_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Server(oracle(), lambda prompt, nth: "declined") as server:
        assert main(eval_words(server, tmp_path / "e", items=4)) == 1
    assert "FAILED: none of 4 attempts ended in a reply" in capsys.readouterr().out


def test_only_what_is_asked_for_counts_as_held(
    server: Server, broken: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    broken.clear()
    words = eval_words(server, Path("e"), "--confirm_above", "7", items=6)
    assert main(words) == 0
    before = sum(server.asked.values())
    assert main([*words, "--start", "6", "--items", "8"]) == 2
    assert "This would send 8 requests" in capsys.readouterr().err
    assert sum(server.asked.values()) == before
    assert main([*words, "--start", "4", "--items", "8"]) == 0
    assert sum(server.asked.values()) == before + 6


def test_a_program_makes_what_is_asked_for_beside_other_records(tmp_path: Path) -> None:
    words = "eval nhop_implicit --solver oracle --seed 3 --out e --items 5"
    assert main(words.split()) == 0
    assert main([*words.split(), "--start", "100"]) == 0
    assert [row["index"] for row in records(Path("e"))] == [0, 1, 2, 3, 4, *range(100, 105)]


def test_failed_attempts_at_other_items_stay_on_record(server: Server, broken: set[str]) -> None:
    words = [*eval_words(server, Path("e"), items=10), "--max_retries", "0"]
    assert main(words) == 1
    assert main([*words, "--start", "10"]) == 1, "the folder holds failed attempts"
    kinds = [row["kind"] for row in records(Path("e"))]
    assert (len(kinds), kinds.count("failed")) == (20, 3)


def test_a_huge_number_of_items_is_confirmed_at_once(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    for items in (10**9, 10**15):
        assert main(eval_words(server, Path("huge"), items=items)) == 2
        assert f"This would send {items:,} requests" in capsys.readouterr().err
    assert main(eval_words(server, Path("huge"), items=10**30)) == 2
    assert "--items: must fit into 64 bits" in capsys.readouterr().err
    Path("small.toml").write_text(CONFIG.replace("items = 20", f"items = {10**30}"))
    assert main(["sweep", "small.toml"]) == 2
    assert server.asked == {}


def test_what_was_spent_is_summed(
    server: Server, broken: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Eleven tokens sent and seven received in each of 17 calls, at 2 and 10 a million."""
    prices = ("--price_in", "2", "--price_out", "10")
    assert main([*eval_words(server, Path("e"), *prices, items=20), "--max_retries", "0"]) == 1
    said = capsys.readouterr().out
    spent = (17 * 11 * 2 + 17 * 7 * 10) / 1e6
    tokens = "187 input and 119 output tokens"
    assert f"spent: at least {spent:.2g} for {tokens}" in said
    assert "tokens: input 187 (3 attempts not reported), output 119 (3" in said
    assert "reasoning not reported" in said
    server.alter = lambda body, nth: body.pop("usage")
    assert main(eval_words(server, Path("n"), *prices, items=2)) == 0
    said = capsys.readouterr().out
    assert "\ntokens: not reported\n" in said
    assert "\nspent: not known, as no tokens were reported\n" in said
    assert main(eval_words(server, Path("f"), "--prices", "none.toml", items=5)) == 2
    assert "none.toml: No such file" in capsys.readouterr().err
    assert not Path("f").exists()
    words = "eval nhop_implicit --solver oracle --price_in 1 --price_out 1 --out g"
    assert main(words.split()) == 2
    assert "--price_in goes with --model, and none is named" in capsys.readouterr().err


def test_records_reach_the_disk_every_few_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sync for each file that was written to since the last one, and one at the end."""
    synced: list[str] = []
    now = {"time": 0.0}
    monkeypatch.setattr(execute, "sync_file", lambda path: synced.append(path.name))
    monkeypatch.setattr("time.monotonic", lambda: now["time"])
    attempt = Attempt("b", None, {}, 0, 0, "i", 0, "s", "r", "a", {}, "right", 0.0, {})
    with closing(execute._Recorder(ModelOptions(), ProgressBar("x", 9))) as recorder:
        for name in ("a", "b", "a"):
            recorder.save(tmp_path / name, attempt, "")
        assert synced == []
        now["time"] = 5.0
        recorder.save(tmp_path / "a", attempt, "")
        assert sorted(synced) == ["a", "b"]
        recorder.save(tmp_path / "b", attempt, "")
    assert sorted(synced) == ["a", "b", "b"]


def test_a_blank_line_among_records_is_passed_over(server: Server, broken: set[str]) -> None:
    words = [*eval_words(server, Path("e"), items=10), "--max_retries", "0"]
    assert main(words) == 1
    path = Path("e/records.jsonl")
    lines = path.read_text().splitlines()
    path.write_text("\n\n".join(lines) + "\n\n")
    broken.clear()
    assert main([*words, "--items", "12"]) == 0
    assert [row["index"] for row in records(Path("e"))] == list(range(12))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("prompt_lines", "x"),
        ("usage", [1]),
        ("usage", {"input_tokens": "x"}),
        ("trial", -1),
        ("trial", 2**40),
        ("scores", {"correct": "a"}),
        ("groups", {"hops": {}}),
        ("floor", "z"),
        ("seed", 1e30),
        ("index", "x"),
        ("reply", 7),
        ("error", 5),
        ("id", None),
    ],
)
def test_a_malformed_field_is_named_by_its_line(
    key: str, value: object, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "eval nhop_implicit --solver oracle --seed 3 --out e --items 3"
    assert main(words.split()) == 0
    path = Path("e/records.jsonl")
    rows = records(Path("e"))
    rows[1][key] = value
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    for command in (words, "analyze --examples 1 e", "report e"):
        capsys.readouterr()
        assert main(command.split()) == 2
        said = capsys.readouterr().err.splitlines()[-1]
        assert "records.jsonl line 2: not a record (" in said


def test_so_many_trials_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    words = "eval nhop_implicit --solver oracle --seed 3 --out e --items 2"
    assert main(words.split()) == 0
    rows = records(Path("e"))
    with Path("e/records.jsonl").open("ab") as file:
        file.write(orjson.dumps(rows[0] | {"trial": 70_000}) + b"\n")
    assert main(words.split()) == 0
    assert main(["analyze", "e"]) == 0


def test_a_model_that_cannot_be_asked_fails_beside_others_and_ends_a_run_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["sweep", "small.toml", "--base_url", "http://127.0.0.1:9/v1", "--backend", "direct"]
    words += ["--max_retries", "0", "--processes", "1", "--items", "2", "--out"]
    assert main([*words, "beside"]) == 1
    said = capsys.readouterr().out
    assert "FAILED: " in said
    rows = list(csv.DictReader(Path("beside/summary.csv").read_text().splitlines()))
    assert {(row["role"] == "model", row["failed"] != "0") for row in rows} == {
        (True, True),
        (False, False),
    }
    model = next(row["solver"] for row in rows if row["role"] == "model")
    alone = ["eval", "nhop_implicit", "--model", model, *words[2:6], "--max_retries", "0"]
    assert main([*alone, "--items", "2", "--out", "alone"]) == 1
    assert "cannot be asked: no connection" in capsys.readouterr().err
    assert not Path("alone/summary.json").exists()
