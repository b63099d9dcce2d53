"""Error messages and help pages of the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.command_line import run, write
from trivium.benchmarks import benchmark_names
from trivium.cli import COMMANDS, main
from trivium.commands.flags import comments

WRONG_CALLS = [
    ("frobnicate", "unknown command 'frobnicate'"),
    ("genrate nhop_implicit", "did you mean generate?"),
    ("show nhop_implict", "did you mean nhop_implicit?"),
    ("show nothing", "unknown benchmark 'nothing'"),
    ("show nhop_implicit.extra", "has no variants"),
    ("show nhop_implicit --m 8 --M 7", "M must be at least m=8, got 7"),
    ("show nhop_implicit --M 100000", "M must be in 1..10000"),
    ("show nhop_implicit --hops 2", "hops must be in 3..200, got 2"),
    ("show nhop_implicit --m 3", "m must be in 4..1000, got 3"),
    ("show nhop_implicit --hops four", "--hops/--n: must be a whole number, got 'four'"),
    ("show nhop_implicit --hopps 4", "unrecognized arguments: --hopps 4 (did you mean --hops?)"),
    ("show nhop_implicit --mode loud", "--mode: invalid choice: 'loud' (choose from"),
    ("show nhop_implicit --ablate_hop x", "--ablate_hop: must be a whole number, got 'x'"),
    ("show nhop_implicit --hops", "--hops/--n: expected one argument"),
    ("show nhop_implicit stray", "unrecognized arguments: stray"),
    ("show nhop_explicit --context-chains 7", "did you mean --context_chains?"),
    ("show nhop_explicit --preset explicit-hrd", "did you mean explicit-hard?"),
    ("eval nhop_implicit --solver orcale --out {tmp}/e", "did you mean oracle?"),
    ("train ppo-lstmm", "did you mean ppo-lstm?"),
    ("diagnose nhop_explicit --variants contrl", "did you mean control?"),
    ("generate --items 3 --out {tmp}/x", "NAME is missing: name one of nhop_explicit"),
    ("new", "NAME is missing"),
    ("report {tmp}/items.jsonl", "items.jsonl: a file, not a folder"),
    ("ceilings --noise soon", "--noise: must be a number, got 'soon'"),
    ("show identifying_variables --snr loud", "--snr: must be a number, got 'loud'"),
    ("record --detector_reward inf", "--detector_reward: must be a finite number, got inf"),
    ("show identifying_variables --index 9223372036854775807", "index must fit into 64 bits"),
    ("show nhop_implicit --index -1", "index must be at least 0"),
    ("show nhop_implicit --ablate_inner --ablate_hop 9", "ablate_hop must be in 2..3, got 9"),
    ("show nhop_implicit --ablate_hop 2", "ablate_hop needs ablate_inner"),
    ("show nhop_explicit --preset explicit-medium", "unknown preset 'explicit-medium'"),
    ("show nhop_explicit --preset", "--preset: expected one argument"),
    ("show nhop_explicit --L 9", "L must be in 1..4, got 9"),
    ("show nhop_explicit --k 1", "k must be in 2..1000, got 1"),
    ("show nhop_explicit --preset explicit-hard --k 9", "context_chains of at least 8"),
    ("show nhop_implicit --m 600000 --M 1000000 --id_width 6", "m must be in 4..1000, got 600000"),
    ("show nhop_explicit --k1 5000 --M 9000", "k1 must be in 2..1000, got 5000"),
    ("show nhop_explicit --context_chains 5000 --M 9000", "context_chains must be in 0..1000"),
    ("show nhop_explicit --budget_lines 9000 --M 9000", "budget_lines must be at most 2054"),
    ("show nhop_explicit --config {tmp}/missing.toml", "missing.toml: No such file"),
    ("show nhop_explicit --config {tmp}/bad.toml", "unknown key 'hopps'"),
    ("show nhop_explicit --config {tmp}/half.toml", "half.toml"),
    ("show nhop_implicit --in {tmp}/items.jsonl --index 99", "index must be below 5"),
    ("generate nhop_implicit --items 5", "--out is missing"),
    ("generate nhop_implicit --items 0 --out {tmp}/x", "items must be at least 1, got 0"),
    ("generate nhop_implicit --start -5 --out {tmp}/x", "start must be at least 0, got -5"),
    ("generate nhop_implicit --processes 0 --out {tmp}/x", "processes must be at least 1"),
    ("generate nhop_implicit --out {tmp}/items.jsonl/x",
     "{tmp}/items.jsonl/x: cannot be written (Not a directory)"),
    ("generate nhop_implicit --out /proc/nowhere/x", "/proc/nowhere/x: cannot be written"),
    ("generate nhop_implicit --out=", "--out: is empty: is a variable not set?"),
    ("eval nhop_implicit --solver oracle --out {tmp}/e --in", "--in: expected at least one"),
    ("run --benchmarks", "--benchmarks: expected at least one argument"),
    ("--hlep", "did you mean --help?"),
    ("generate nhop_implicit --out .", "cannot be written (Is a directory)"),
    ("generate nhop_implicit --out {tmp}", "cannot be written (Is a directory)"),
    ("generate nhop_implicit --start 9223372036854775807 --out {tmp}/x", "must fit into 64 bits"),
    ("show nhop_explicit --budget_lines 80 --context_chains 8", "budget_lines picks the context"),
    ("show identifying_variables --max_parents 2", "max_parents goes with graph dag, got 2"),
    ("show blicket_game --preset paper --rules parity", "give rules or hypotheses, not both"),
    ("show blicket_prompts --objects 2", "objects must be in 3..12, got 2"),
    ("ceilings --hypotheses disjunctive:A disjunctive:B --noise 0.1", "noise goes with rules"),
    ("generate nhop_implicit --mode free --out {tmp}/x", "--mode says how items are presented"),
    ("eval nhop_implicit --solver oracle --temp 1 --out {tmp}/e", "--temp goes with --model"),
    ("eval nhop_implicit --model trivium/oracle --processes 2 --out {tmp}/e", "--processes goes"),
    ("eval nhop_implicit --solver oracle --in {tmp}/items.jsonl --config {tmp}/made.toml "
     "--out {tmp}/e", "hops in {tmp}/made.toml goes with generated items, not with --in"),
    ("show nhop_implicit --in {tmp}/items.jsonl --config {tmp}/made.toml", "hops in {tmp}/made"),
    ("run --timeout 5", "--timeout goes with --model, and none is named"),
    ("show nhop_implicit --in {tmp}/items.jsonl --seed 3", "--seed goes with generated items"),
    (f"eval nhop_implicit --solver oracle --seed {10**26} --out {{tmp}}/e", "fit into 64 bits"),
    (f"run --seed -{10**26} --out {{tmp}}/e", "--seed: must fit into 64 bits"),
    ("eval nhop_implicit --solver oracle --in {tmp}/items.jsonl --items 2 --out {tmp}/e",
     "--items goes with generated items, not with --in"),
    ("eval nhop_implicit --solver oracle --in {tmp}/items.jsonl --no_ablate_inner --out {tmp}/e",
     "--ablate_inner goes with generated items, not with --in"),
    ("eval nhop_implicit --out {tmp}/e", "--solver"),
    ("eval nhop_implicit --solver genius --out {tmp}/e", "unknown solver 'genius'"),
    ("eval nhop_implicit --solver oracle --order_trials 0 --out {tmp}/e", "order_trials must"),
    ("eval nhop_implicit --solver oracle --in {tmp}/missing --out {tmp}/e", "No such file"),
    ("eval nhop_implicit --solver oracle --in {tmp}/half.jsonl --out {tmp}/e", "line 2: not JSON"),
    ("eval nhop_implicit --solver oracle --in {tmp}/wrong.jsonl --out {tmp}/e", "line 3: answer_"),
    ("eval nhop_implicit --solver oracle --in {tmp}/twice.jsonl --out {tmp}/e", "line 2: id IMP-"),
    ("eval nhop_implicit --solver oracle --in {tmp}/empty.jsonl --out {tmp}/e", "no items"),
    ("eval nhop_explicit --solver oracle --in {tmp}/items.jsonl --out {tmp}/e", "line 1: facts_ch"),
    ("score nhop_implicit --replies {tmp}/items.jsonl --out {tmp}/s", "--in is missing"),
    ("score nhop_implicit --in {tmp}/items.jsonl --out {tmp}/s", "--replies is missing"),
    ("score nhop_implicit --in {tmp}/items.jsonl --replies {tmp}/items.jsonl --out {tmp}/s",
     "line 1: there is no reply"),
    ("score nhop_implicit --in {tmp}/items.jsonl --replies {tmp}/stray.jsonl --out {tmp}/s",
     "line 1: there is no item 'IMP-999999'"),
    ("score nhop_implicit --in {tmp}/items.jsonl --replies {tmp}/list.jsonl --out {tmp}/s",
     "line 1: reply must be text"),
    ("analyze", "RUN is missing: name files of records, or folders of them"),
    ("analyze {tmp}", "no records.jsonl in this folder"),
    ("analyze {tmp}/items.jsonl", "line 1: not a record"),
    ("audit nhop_implicit --items 5", "items must be at least 100, got 5"),
    ("run --benchmarks identifying_variables.csv.nothing", "nothing"),
    ("run --items 0", "items must be at least 1, got 0"),
    ("run --benchmarks nothing", "unknown benchmark 'nothing'"),
    ("estimate nhop_implicit --items -1", "items must be at least 1, got -1"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "says"), WRONG_CALLS)
def test_a_wrong_call_ends_with_one_sentence_and_status_2(
    call: str, says: str, items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = items.read_text().splitlines(keepends=True)
    write(tmp_path / "bad.toml", "hopps = 4\n")
    write(tmp_path / "half.toml", "hops = \n")
    write(tmp_path / "made.toml", "hops = 6\n")
    write(tmp_path / "half.jsonl", lines[0] + lines[1][:100])
    write(tmp_path / "wrong.jsonl", lines[0] + lines[1] + lines[2].replace('_id":"E_', '_id":"F_'))
    write(tmp_path / "twice.jsonl", lines[0] + lines[0])
    write(tmp_path / "empty.jsonl", "")
    write(tmp_path / "stray.jsonl", '{"id": "IMP-999999", "reply": "E_0001"}\n')
    write(tmp_path / "list.jsonl", '{"id": "IMP-000000", "reply": ["E_0001", "E_0002"]}\n')
    capsys.readouterr()
    assert run(call.format(tmp=tmp_path)) == 2
    assert not list(tmp_path.glob("**/*.part"))
    said = capsys.readouterr()
    assert said.err.startswith("trivium: ")
    assert said.err.count("\n") == 1, said.err
    assert says.format(tmp=tmp_path) in said.err
    assert "Traceback" not in said.out + said.err


NAMED = "show generate export eval score audit estimate diagnose threshold"  # that take a benchmark
PAGES = [
    *COMMANDS,
    *(f"{command} {name}" for command in NAMED.split() for name in benchmark_names()),
    *("play blicket_game", "train ppo-lstm", "train a2c-mlp", "sweep nhop_implicit"),
]


def help_of(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The help page of a command."""
    try:
        code = run(f"{words} --help")
    except SystemExit as stop:
        code = int(stop.code or 0)
    assert code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("words", PAGES)
def test_help_fits_and_has_an_example(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    said = help_of(words, capsys)
    assert said.startswith(f"usage: trivium {words}")
    assert re.search(r"^examples?:\n  .*trivium \w", said, re.MULTILINE)
    assert not re.search(r"\bNone\b|default: (?:True|False|\))|noqa|SUPPRESS", said), said
    assert max(map(len, said.splitlines())) <= 80


def test_help_says_what_the_fields_say(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    page = help_of("eval nhop_explicit", capsys)
    assert "\n  --seed INT            the seed of all of them (default: 7)\n" in page
    assert "\n  --start INT           the index of the first (default: 0)\n" in page
    assert "\n  --yes                 send without asking\n" in page
    assert "\n  --no_retry_errors     turn --retry_errors off\n" in page
    assert "\n  --backend {auto,direct,inspect}\n" in page
    assert re.search(r"\n  --hops(?: INT)?, --n INT\s+n: functions are f1..fn", page)  # 3.11; 3.13
    assert "\nCandidate ladders: blocks of k candidates for each of the last L functions:\n" in page
    easy = help_of("eval nhop_explicit --preset explicit-easy", capsys)
    assert "coherent wrong path\n                        (default: on)" in page
    assert "coherent wrong path\n                        (default: on)" not in easy


def test_comments_behind_and_above_fields_are_read() -> None:
    class Commented:
        """A class whose comments are read."""

        # said
        # above
        first: int = 1
        second: str = "#"  # behind, with # inside
        third: int = 3

    assert comments(Commented) == {
        "first": "said above",
        "second": "behind, with # inside",
        "third": "",
    }


def test_show_prints_what_the_gallery_holds(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parent.parent / "GALLERY.md").read_text()
    entries = re.findall(
        r"```bash\n(trivium show [^\n]*)\n```\n\n(`{3,4})text\n(.*?)\n\2\n\n"
        r"Answer \(\w+ without reading: ([^\n]*)\):\n\n(`{3,4})text\n(.*?)\n\5\n",
        page,
        re.DOTALL,
    )
    assert len(entries) == page.count("\n### ") >= 30
    for command, _, prompt, floor, _, answer in entries:
        assert run(command.removeprefix("trivium ")) == 0
        said = capsys.readouterr().out.split("\n", 1)[1]
        said = said.split("\n--- prompt\n")[-1]
        assert said == f"{prompt}\n--- answer\n{answer}\n--- floor {floor}\n"


@pytest.mark.parametrize(
    "words",
    [
        *(f"eval {name}" for name in benchmark_names()),
        *("run", "sweep implicit_small", "record", "ceilings", "audit nhop_implicit"),
        *("train ppo-lstm", "rollout", "analyze results"),
    ],
)
def test_every_numeric_flag_says_what_it_takes(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run(f"{words} --help")
    flags = re.findall(
        r"^  (--\w+)(?:, --\w+)* (INT|FLOAT)\b", capsys.readouterr().out, re.MULTILINE
    )
    assert flags
    for flag, kind in flags:
        number = "a whole number" if kind == "INT" else "a number"
        assert run(words, flag, "soon") == 2
        said = capsys.readouterr().err
        assert said.startswith(f"trivium: {flag}")
        assert said.endswith(f": must be {number}, got 'soon'\n")
        assert run(words, flag) == 2
        assert capsys.readouterr().err.startswith(f"trivium: {flag}")


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in COMMANDS)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["eval", "nhop_implicit", "--solver", "oracle", "--out", ""], "--out"),
        (["report", ""], "RUN"),
    ],
)
def test_an_empty_path_is_refused(
    words: list[str],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    assert capsys.readouterr().err == f"trivium: {says}: is empty: is a variable not set?\n"
    assert not list(tmp_path.iterdir())
