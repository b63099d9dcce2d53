"""Print the script for shell completion of commands, benchmarks, presets, solvers and
flags. Add the line of the example to ~/.bashrc (for zsh, to ~/.zshrc); for fish, write the script
to ~/.config/fish/completions/trivium.fish.
Example: source <(trivium completion bash)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from trivium.commands.flags import argument, read_flags


@dataclass(frozen=True)
class Flags:
    """Which shell."""

    shell: Literal["bash", "zsh", "fish"] = argument("SHELL")  # bash, zsh or fish


def main(args: Sequence[str]) -> int:
    """Print the script of a shell."""
    from argcomplete.shell_integration import shellcode  # noqa: PLC0415 - used here only

    shell = read_flags("trivium completion", Flags(), args, __doc__).flags.shell
    print(shellcode(["trivium"], shell=shell))
    return 0
