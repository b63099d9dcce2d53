"""Shell completion."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from trivium.cli import COMMANDS, main


def completions(line: str) -> list[str]:
    """The completions of a line, requested as a shell does."""
    read, write = os.pipe()
    command = f"exec 8>&{write}; exec {sys.executable} -m trivium"
    asking = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line))}
    asking |= {"_ARGCOMPLETE_IFS": "\n", "COMP_TYPE": "9", "_ARGCOMPLETE_SUPPRESS_SPACE": "1"}
    done = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, **asking},
        pass_fds=[write],
        capture_output=True,
        check=False,
    )
    os.close(write)
    with os.fdopen(read) as file:
        found = file.read().split()
    assert not done.stdout
    return found


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("trivium ev", ["eval"]),
        ("trivium eval nh", ["nhop_explicit", "nhop_implicit"]),
        ("trivium eval nhop_explicit --so", ["--solver"]),
        ("trivium eval nhop_explicit --solver el", ["elimination"]),
        ("trivium eval --approach explicit --solver el", ["elimination"]),
        ("trivium eval nhop_explicit --preset explicit-h", ["explicit-hard"]),
        ("trivium show nhop_implicit --mode ", ["direct", "steps", "free"]),
        ("trivium eval nhop_explicit --no_re", ["--no_retry_errors"]),
        ("trivium diagnose nhop_explicit --variants a", ["alias", "all"]),
        ("trivium sweep implicit", ["implicit_small"]),
        ("trivium run --benchmarks nhop_e", ["nhop_explicit"]),
        ("trivium train ppo-t", ["ppo-transformer"]),
        ("trivium completion b", ["bash"]),
        ("trivium eval nothing --x", []),
    ],
)
def test_completions(line: str, found: list[str]) -> None:
    assert completions(line) == found


def test_every_command_is_completed() -> None:
    assert set(COMMANDS) <= set(completions("trivium "))


def test_files_are_completed_where_no_names_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "records.jsonl").touch()
    assert completions("trivium analyze rec") == ["records.jsonl"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_names_the_program(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", shell]) == 0
    said = capsys.readouterr().out
    assert "_ARGCOMPLETE" in said
    assert "trivium" in said
