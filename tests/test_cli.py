"""The command line: what the commands write, and resuming."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import orjson
import pytest

from tests.command_line import ITEMS, run, write
from trivium import __version__
from trivium.auditing.results import Audit, Cue
from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.cli import main
from trivium.core.files import read_rows


def test_a_folder_with_invalid_records_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"eval {ITEMS} --solver oracle --out {tmp_path}"
    assert run(words) == 0
    path = tmp_path / "records.jsonl"
    whole = path.read_bytes()
    usage = whole.splitlines()[0].replace(b'"usage":{', b'"usage":{"input_tokens":"many"')
    for line in (b'{"id": 5}', b'{"id": "a", "trial": [], "kind": "right"}', usage):
        path.write_bytes(whole + line + b"\n")
        capsys.readouterr()
        assert run(words) == 2
        assert "records.jsonl line 6: not a record (" in capsys.readouterr().err


def test_show_puts_the_system_message_before_the_prompt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = write(tmp_path / "system.txt", "Be brief.\n")
    assert run("show nhop_implicit --system", str(system)) == 0
    assert "--- system\nBe brief.\n--- prompt\n" in capsys.readouterr().out
    assert run("show nhop_implicit") == 0
    assert "--- system" not in capsys.readouterr().out


def test_a_config_file_a_preset_and_flags_come_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = write(tmp_path / "a.toml", 'hops = 5\nmode = "free"\n')
    assert run("show nhop_explicit --preset explicit-hard --L 2 --config", str(config)) == 0
    said = capsys.readouterr().out
    assert "f5 of f4 of f3 of f2 of f1" in said
    assert "Candidates for f4" in said
    assert "Candidates for f3" not in said
    assert "H1 = " in said
    assert "Think as long as you like" in said


def test_items_are_byte_identical_however_they_are_made(tmp_path: Path) -> None:
    base = "generate nhop_explicit --preset explicit-hard --seed 5"
    assert run(f"{base} --items 1000 --out", str(tmp_path / "one")) == 0
    assert run(f"{base} --items 1000 --processes 4 --out", str(tmp_path / "four")) == 0
    for start in range(0, 1000, 100):
        assert run(f"{base} --items 100 --start {start} --out", str(tmp_path / f"{start:04}")) == 0
    whole = (tmp_path / "one").read_bytes()
    assert (tmp_path / "four").read_bytes() == whole
    tens = b"".join((tmp_path / f"{start:04}").read_bytes() for start in range(0, 1000, 100))
    assert tens == whole


def test_eval_of_a_file_equals_eval_of_the_same_items_made(items: Path, tmp_path: Path) -> None:
    assert run(f"eval {ITEMS} --solver pointer_f_n1 --out", str(tmp_path / "made")) == 0
    words = f"eval nhop_implicit --solver pointer_f_n1 --in {items} --out {tmp_path / 'read'}"
    assert run(words) == 0
    made, read = ((tmp_path / name / "summary.json").read_bytes() for name in ("made", "read"))
    assert made == read


def test_the_summary_has_the_promised_shape(tmp_path: Path) -> None:
    assert run(f"eval {ITEMS} --solver oracle --out", str(tmp_path)) == 0
    summary = orjson.loads((tmp_path / "summary.json").read_bytes())
    assert summary["benchmark"] == "nhop_implicit"
    assert summary["solver"] == "oracle"
    assert (summary["items"], summary["answered"]) == (5, 5)
    assert (summary["no_answers"], summary["failed"]) == (0, 0)
    assert set(summary["metrics"]["correct"]) == {"value", "low", "high", "n"}
    assert summary["metrics"]["correct"]["value"] == 1
    assert summary["metrics"]["steps_right"]["value"] is None


def test_an_evaluation_resumes(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    words = "eval nhop_explicit --items 40 --seed 2 --solver elimination --order_trials 2 --out"
    assert run(words, str(whole)) == 0
    assert run(words, str(cut)) == 0
    text = (cut / "records.jsonl").read_bytes()
    (cut / "records.jsonl").write_bytes(text[: len(text) // 2])
    assert run(words, str(cut)) == 0

    def rows(path: Path) -> list[dict[str, object]]:
        found = [row for _, row in read_rows(path / "records.jsonl")]
        return [{**row, "seconds": 0} for row in found]

    assert rows(cut) == rows(whole)
    assert (cut / "summary.json").read_bytes() == (whole / "summary.json").read_bytes()


def test_another_evaluation_in_the_same_folder_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(f"eval {ITEMS} --solver oracle --out", str(tmp_path)) == 0
    for words in (
        f"eval {ITEMS} --solver last_line --out",
        "eval nhop_implicit --items 5 --seed 4 --solver oracle --out",
        f"eval {ITEMS} --hops 6 --solver oracle --out",
    ):
        capsys.readouterr()
        assert run(words, str(tmp_path)) == 2
        assert "holds another evaluation" in capsys.readouterr().err


def test_a_changed_file_of_items_is_another_evaluation(
    items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"eval nhop_implicit --solver oracle --in {items} --out {tmp_path / 'e'}"
    assert run(words) == 0
    assert run(words) == 0
    assert run("generate nhop_implicit --items 5 --seed 4 --out", str(items)) == 0
    capsys.readouterr()
    assert run(words) == 2
    assert "holds another evaluation (contents" in capsys.readouterr().err


OTHER_FILES = {
    "export nhop_implicit --items 2 --out": "an exported prompt, not an item",
    "export nhop_implicit --items 2 --format inspect --out": "an exported prompt, not an item",
    "export nhop_implicit --items 2 --format openai-batch --model o3 --out": "an exported prompt",
    "generate blicket_game --items 2 --out": "not an item",
}


@pytest.mark.parametrize(("words", "what"), OTHER_FILES.items())
def test_a_file_of_something_else_than_items_is_called_so(
    words: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "x.jsonl", tmp_path / "out"
    assert run(words, str(file)) == 0
    capsys.readouterr()
    for command in ("show nhop_implicit", f"eval nhop_implicit --solver oracle --out {out}"):
        assert run(command, "--in", str(file)) == 2
        said = capsys.readouterr().err
        assert f"{file} line 1: this is {what}" in said
        assert "trivium generate nhop_implicit writes a file of items" in said
    assert not out.exists()


def test_an_item_with_an_error_is_still_one(
    items: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items.write_text(items.read_text().replace('"question":"What is', '"question":"Who is'))
    assert run("show nhop_implicit --in", str(items)) == 2
    assert "line 1: question must read 'What is" in capsys.readouterr().err


def test_a_path_with_spaces_is_quoted_in_the_next_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items, prompts = tmp_path / "my items", tmp_path / "prompts"
    assert run(f"generate {ITEMS} --out", str(items)) == 0
    *_, last = capsys.readouterr().out.splitlines()
    command = shlex.split(last.removeprefix("their prompts: trivium "))
    assert main([*command[:-1], str(prompts)]) == 0
    assert len(list(read_rows(prompts))) == 5


def test_a_folder_with_more_items_than_asked_for_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"eval nhop_implicit --solver oracle --out {tmp_path} --items"
    assert run(words, "10") == 0
    assert "of all" not in capsys.readouterr().out
    assert run(words, "3") == 0
    assert "the figures cover all 10 items in the folder, not only 3" in capsys.readouterr().out


def test_commands_say_what_they_wrote_and_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items, prompts, replies = (tmp_path / name for name in ("items", "prompts", "replies"))
    run_of = tmp_path / "run"
    calls = {
        f"generate {ITEMS} --out {items}": (
            f"5 items written to {items}\n"
            f"their prompts: trivium export nhop_implicit --in {items} --out FILE\n"
        ),
        f"export {ITEMS} --order_trials 2 --out {prompts}": f"10 prompts written to {prompts}\n",
        f"eval {ITEMS} --solver oracle --out {run_of}": (
            f"records in {run_of / 'records.jsonl'}\n"
            f"next: trivium report {run_of}\n"
            f"      trivium analyze {run_of} --examples_per_type 1\n"
        ),
        f"report {run_of}": f"report: {run_of / 'report.html'}\n",
        f"score {ITEMS} --replies {replies} --out {tmp_path / 'scored'}": (
            "4 prompts have no reply or a failed one, and count as failed\n"
            f"records in {tmp_path / 'scored' / 'records.jsonl'}\n"
        ),
        f"compare {run_of} {tmp_path / 'scored'} --out {tmp_path / 'page'}": (
            f"page: {tmp_path / 'page'}\n"
        ),
    }
    for words, said in calls.items():
        if words.startswith("score"):
            ids = [row["id"] for _, row in read_rows(prompts)]
            write(replies, json.dumps({"id": ids[0], "reply": "E_0001"}) + "\n")
        assert run(words) == (1 if "failed" in said else 0)
        out = capsys.readouterr().out
        assert out.endswith(said), out
        for path in re.findall(rf"(?<= ){re.escape(str(tmp_path))}\S+", said):
            assert Path(path).exists()


def test_items_are_written_into_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    words = ["generate", "nhop_implicit", "--items", "3", "--out", str(pipe)]
    with subprocess.Popen(
        [sys.executable, "-m", "trivium", *words], stdout=subprocess.DEVNULL
    ) as process:
        assert pipe.read_bytes().count(b"\n") == 3
    assert process.returncode == 0
    assert pipe.is_fifo()


def test_run_accepts_full_names(tmp_path: Path) -> None:
    name = "identifying_variables.csv.balanced-ctrl"
    assert run(f"run --items 3 --benchmarks {name} --processes 1 --out {tmp_path}") == 0
    folder = tmp_path / "identifying_variables"
    assert [path.name for path in folder.iterdir()] == ["csv.balanced-ctrl"]
    _, row = next(iter(read_rows(folder / "csv.balanced-ctrl" / "random" / "records.jsonl")))
    assert row["view"]["renderer"] == "csv"


def test_a_killed_evaluation_resumes(tmp_path: Path) -> None:
    """A real kill -9 in the middle; the finished records equal those of an undisturbed run."""
    out = tmp_path / "killed"
    words = ["eval", "nhop_explicit", "--items", "3000", "--solver", "oracle", "--out", str(out)]
    process = subprocess.Popen([sys.executable, "-m", "trivium", *words], stdout=subprocess.DEVNULL)
    records = out / "records.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not records.exists() or records.stat().st_size < 5000):
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    size = records.stat().st_size
    assert size > 0
    assert main(words) == 0
    rows = [row["id"] for _, row in read_rows(records)]
    assert rows == [f"SYN-{index:06d}" for index in range(3000)]


def test_run_prints_tables_and_the_path_of_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"run --items 20 --benchmarks nhop_implicit --processes 1 --out {tmp_path}"
    assert run(words) == 0
    said = capsys.readouterr().out
    assert re.search(r"oracle .* 1\.000 \[0\.8", said)
    assert said.rstrip().endswith(f"report: {tmp_path / 'report.html'}")
    assert "pointer_f_n1" in (tmp_path / "report.html").read_text()


def test_audit_says_pass_or_caught_by_its_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("audit nhop_explicit --preset explicit-easy --items 100 --json") == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["keeps_leaks_on_purpose"]) == ("caught", True)
    assert (found["items"], found["level"]) == (100, 0.99)
    assert any(cue["name"].endswith(": learned probe") for cue in found["cues"])
    assert found["cues"][0]["caught"]
    assert found["cues"][0]["low"] > found["cues"][0]["chance"]
    assert run("audit nhop_implicit --items 100") == 0
    said = capsys.readouterr().out
    assert re.search(
        r"tried for line of f4: rules of \d+ of one feature, .*20 of two features, .*boosted trees",
        said,
    )
    assert "this audit is about one view" in said
    assert "floor: random_candidate, 0.125" in said
    assert "100 items are few: seeing 3 points takes" in said
    assert re.search(r"PASSED: none of \d+ cues beats chance on 100 items", said)
    assert "What an audit cannot see" in said


def test_a_verdict_is_one_sentence() -> None:
    leak = Cue("last line", "the answer is there", 0.9, 0.8, 0.95, 0.25, 100)
    caught = Audit((leak,), 100, 0.99, keeps_leaks=True)
    assert str(caught) == (
        "CAUGHT: 1 of 1 cues beat chance, confirmed on fresh items; the strongest is last line: "
        "0.900 [0.800, 0.950] against 0.250, and this preset keeps its leaks on purpose"
    )
    clean = replace(caught, cues=(replace(leak, low=0.2),))
    assert str(clean) == "PASSED: none of 1 cues beats chance on 100 items"
    assert repr(replace(caught, cues=())) == "<audit NO VERDICT: there was nothing to guess>"


def test_audit_counts_repeated_items(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("audit nhop_implicit --overlap --items 100") == 0
    said = capsys.readouterr().out
    assert re.search(r"exact: .*\n  0 \(0\.0%\) .* at least 1,650", said)
    assert re.search(r"renamed and reordered: .*\n  99 \(99\.0%\) .* about 1 ", said)
    assert "this spec has about 10^" in said
    assert run("audit nhop_implicit --overlap --items 100 --json") == 0
    found = json.loads(capsys.readouterr().out)
    within = {each["way"]: each["within"] for each in found["repeats"]}
    assert within.pop("renamed and reordered") == 99  # bags of one size are one structure
    assert within == {"exact": 0, "renamed": 0, "chain of tokens": 0}


def test_a_closed_pipe_is_no_error() -> None:
    """As `| head -1` does: the reader takes one line and goes away."""
    words = ["generate", "nhop_implicit", "--items", "20000", "--out", "-"]
    with subprocess.Popen(
        [sys.executable, "-m", "trivium", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"id":"IMP-000000"')
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_estimate_counts_requests(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("estimate nhop_explicit --items 200 --order_trials 3") == 0
    assert "600 requests" in capsys.readouterr().out


def test_estimate_says_how_many_items_a_difference_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By hand for shares of .5 and .6 without correlation: one is right, not both, on half."""
    assert run("estimate nhop_implicit --power 0.1 --correlation 0 --repeats 2") == 0
    out = capsys.readouterr().out
    assert "takes 389 items with a power of 80%, 519 with 90%" in out
    assert "778 requests" in out
    for solver in ("random_candidate", "pointer_f_n1", "oracle"):
        assert (
            run(f"eval nhop_implicit --solver {solver} --items 60 --out {tmp_path / solver}") == 0
        )
    runs = f"{tmp_path / 'random_candidate'} {tmp_path / 'pointer_f_n1'}"
    capsys.readouterr()
    assert run(f"estimate nhop_implicit --power 0.1 --runs {runs}") == 0
    of_two = capsys.readouterr().out
    assert "on 60 items)" in of_two
    # Of more solvers, the first two.
    assert run(f"estimate nhop_implicit --power 0.1 --runs {runs} {tmp_path / 'oracle'}") == 0
    assert capsys.readouterr().out == of_two
    assert run("estimate nhop_implicit --power 0.4 --score 0.7") == 2
    assert "a score must lie between 0 and 1, got 1.1" in capsys.readouterr().err


def test_the_gallery_is_current() -> None:
    from trivium.report.gallery import gallery

    path = Path(__file__).parent.parent / "GALLERY.md"
    assert path.read_text() == gallery(), "run `make gallery`"


def test_the_citation_names_this_version() -> None:
    text = (Path(__file__).parent.parent / "CITATION.cff").read_text()
    assert f"\nversion: {__version__}\n" in text


def test_the_gallery_has_the_canary_and_no_item_of_the_default_seed() -> None:
    folder = Path(__file__).parent.parent
    page, docs = (folder / "GALLERY.md").read_text(), (folder / "docs" / "exchange.md").read_text()
    canary = re.search(r"trivium-canary-[0-9a-f]{8}-[0-9a-f-]{27}", page)
    assert canary is not None
    assert canary[0] in docs
    assert page.count("trivium show") == page.count(" --seed 1729\n```") >= 30
    for name in benchmark_names():
        benchmark = get_benchmark(name)
        for _, spec, view in benchmark.gallery_examples():
            shown, public = (
                benchmark.render(next(iter(benchmark.generate(spec, seed))), view)
                for seed in (1729, 7)
            )
            assert public not in page or public == shown  # the papers' own items have no seed


def test_a_termination_ends_a_command_like_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    stopped = partial(signal.raise_signal, signal.SIGTERM)
    monkeypatch.setattr("trivium.commands.list.main", lambda args: stopped())
    assert main(["list"]) == 143
    assert capsys.readouterr().err == "trivium: terminated\n"
    assert signal.getsignal(signal.SIGTERM) == before


def test_list_prints_a_table_and_json_only_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list") == 0
    table = capsys.readouterr().out
    with pytest.raises(orjson.JSONDecodeError):
        orjson.loads(table)
    assert run("list --json") == 0
    assert "nhop_explicit" in table
    assert "nhop_explicit" in str(orjson.loads(capsys.readouterr().out))
