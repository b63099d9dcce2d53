"""Standard streams that are closed or full, files that cannot be, and work that is taken up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import run

TRIVIUM = f"{sys.executable} -m trivium"
EVAL = "eval nhop_implicit --solver oracle --items 5 --out e"


def shell(command: str, folder: Path) -> tuple[int, str]:
    """The exit status of the first command of a pipe, and everything that was said."""
    script = f"{command}\nexit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, check=False)
    return done.returncode, (done.stdout + done.stderr).decode()


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (f"{TRIVIUM} list >&-", 0),
        (f"{TRIVIUM} list 2>&-", 0),
        (f"{TRIVIUM} {EVAL} >&- 2>&- <&-", 0),
        (f"{TRIVIUM} {EVAL} --solver none 2>&-", 2),
        (f"{TRIVIUM} {EVAL} --solver none >/dev/full 2>/dev/full", 2),
        (f"{TRIVIUM} list >/dev/full 2>/dev/full", 2),
        (f"{TRIVIUM} generate nhop_implicit --out - >&-", 0),
    ],
)
def test_closed_and_full_streams_give_no_traceback(
    command: str, status: int, tmp_path: Path
) -> None:
    code, said = shell(command, tmp_path)
    assert code == status, said
    assert "Traceback" not in said
    assert "Exception" not in said
    if "2>&-" in command:
        assert "trivium: " not in said, "what is for standard error is not printed elsewhere"


def test_no_file_takes_the_place_of_a_closed_stream(tmp_path: Path) -> None:
    """A library that writes to descriptor 1 or 2 must not write into the records."""
    shell(f"{TRIVIUM} {EVAL} >&- 2>&- <&-", tmp_path)
    whole = shell(f"{TRIVIUM} {EVAL[:-1]}f", tmp_path)
    assert whole[0] == 0
    lines = [(tmp_path / name / "records.jsonl").read_bytes().count(b"\n") for name in "ef"]
    assert lines == [5, 5]


@pytest.mark.parametrize(
    "words", ["list", "show nhop_explicit", EVAL, "eval --help", "eval nhop_implicit --help"]
)
def test_a_reader_that_goes_away_is_no_error(words: str, tmp_path: Path) -> None:
    code, said = shell(f"{TRIVIUM} {words} | true", tmp_path)
    assert (code, said) == (0, "")


def test_progress_that_nobody_reads_does_not_stop_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Gone:
        def isatty(self) -> bool:
            return False

        def write(self, text: str) -> int:
            raise BrokenPipeError

        def flush(self) -> None:
            raise BrokenPipeError

    monkeypatch.setattr("trivium.evaluation.executors.SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr(sys, "stderr", Gone())
    assert run(f"eval nhop_implicit --solver oracle --items 600 --out {tmp_path / 'e'}") == 0
    assert (tmp_path / "e" / "records.jsonl").read_bytes().count(b"\n") == 600


def test_an_interrupted_file_of_items_is_not_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trivium.evaluation.executors import ProgressBar

    def interrupt(progress: ProgressBar, count: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("trivium.commands.generate.CHUNK", 10)
    monkeypatch.setattr(ProgressBar, "advance", interrupt)
    assert run(f"generate nhop_implicit --items 30 --out {tmp_path / 'items.jsonl'}") == 130
    assert not list(tmp_path.iterdir())


def test_flags_win_over_a_config_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.toml").write_text("hops = 6\nm = 4\n")
    words = f"show nhop_implicit --config {tmp_path / 'a.toml'}"
    assert run(f"{words} --hops 3") == 0
    said = capsys.readouterr().out
    assert run("show nhop_implicit --hops 3 --m 4") == 0
    assert capsys.readouterr().out == said
