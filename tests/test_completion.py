"""Completion: what follows after Tab, and the script that asks for it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from trivium.cli import COMMANDS, main
from trivium.commands.completion import completions


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("ev", ["eval"]),
        ("eval nh", ["nhop_explicit", "nhop_implicit"]),
        ("eval nhop_explicit --so", ["--solver"]),
        ("eval nhop_explicit --solver el", ["elimination"]),
        ("eval nhop_explicit --preset explicit-h", ["explicit-hard"]),
        ("show nhop_implicit --mode ", ["direct", "steps", "free"]),
        ("eval nhop_explicit --no_re", ["--no_retry_errors"]),
        ("diagnose nhop_explicit --variants a", ["alias", "all"]),
        ("sweep implicit", ["implicit_small"]),
        ("run --benchmarks nhop_e", ["nhop_explicit"]),
        ("train ppo-t", ["ppo-transformer"]),
        ("completion b", ["bash"]),
        ("analyze run", []),  # files, which the shell knows
        ("eval nhop_explicit --out ru", []),
        ("nothing --x", []),
    ],
)
def test_words_go_on(words: str, found: list[str]) -> None:
    assert completions(words.split(" "), COMMANDS) == found


def test_every_command_is_completed() -> None:
    assert completions([""], COMMANDS) == list(COMMANDS)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_with_the_printed_script(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", "bash"]) == 0
    (tmp_path / "trivium").write_text(f'#!/bin/sh\nexec {sys.executable} -m trivium "$@"\n')
    (tmp_path / "trivium").chmod(0o755)
    script = capsys.readouterr().out + (
        "COMP_WORDS=(trivium show nhop_implicit --mode ''); COMP_CWORD=4; _trivium\n"
        'echo "${COMPREPLY[*]}"\n'
    )
    done = subprocess.run(
        ["bash", "-c", f'PATH="{tmp_path}:$PATH"\n{script}'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "direct steps free\n"


def test_an_unknown_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "tcsh"]) == 2
    assert capsys.readouterr().err == (
        "trivium: SHELL must be one of bash, zsh, fish, got 'tcsh'\n"
    )
