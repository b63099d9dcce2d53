"""trivium completion SHELL"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from typing import Annotated

import tyro

from trivium.agents.config import AGENTS
from trivium.benchmarks import benchmark_names, by_alias, get_benchmark
from trivium.commands import command_module
from trivium.commands.flags import read_flags
from trivium.core.errors import UserError, require
from trivium.evaluation.plan import shipped_configs

ABOUT = """Print what lets a shell complete commands, benchmarks, presets, solvers and flags after
Tab. For every new shell, put the line of the example into ~/.bashrc (with zsh, into ~/.zshrc); for
fish, write what is printed to ~/.config/fish/completions/trivium.fish.
Example: source <(trivium completion bash)"""
BASH = """_trivium() {
  local IFS=$'\\n'
  COMPREPLY=($(trivium completion words "${COMP_WORDS[@]:1:$COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _trivium trivium"""
SCRIPTS = {
    "bash": BASH,
    "zsh": f"autoload -U +X bashcompinit && bashcompinit\n{BASH}",
    "fish": "complete -c trivium -a "
    "'(trivium completion words (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'",
}


@dataclass(frozen=True)
class Flags:
    """Which shell."""

    # bash, zsh or fish
    shell: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="SHELL")]


def main(args: Sequence[str], commands: Iterable[str]) -> int:
    """Print the script of a shell, or, for that script, how words may go on."""
    if args and args[0] == "words":
        print("\n".join(completions(args[1:], commands)))
        return 0
    shell = read_flags("completion", Flags, args, ABOUT).shell
    require(shell in SCRIPTS, f"SHELL must be one of {', '.join(SCRIPTS)}, got {shell!r}")
    print(SCRIPTS[shell])
    return 0


def completions(words: Sequence[str], commands: Iterable[str]) -> list[str]:
    """How the last word may go on; none where the shell should name files."""
    *before, last = words or [""]
    if not before:
        known: Iterable[str] = commands
    elif last.startswith("-"):
        known = _flags(before)
    elif before[-1].startswith("--"):
        known = _values(before)
    else:
        known = _arguments(before[0]) if len(before) == 1 else ()
    return [word for word in known if word.startswith(last)]


def _flags(before: Sequence[str]) -> Mapping[str, str]:
    """The flags of a command by their names, each with what stands for its value."""
    with (
        suppress(ModuleNotFoundError, UserError, SystemExit),
        redirect_stdout(io.StringIO()) as out,
    ):
        module = command_module(before[0])
        module.main([*before[1:2], "--help"])
    flags = {}
    for no, name, value in re.findall(r"^  --(\[no_\])?(\w+)(?: (\S+))?", out.getvalue(), re.M):
        flags[f"--{name}"] = value
        if no:
            flags[f"--no_{name}"] = ""
    return flags


def _values(before: Sequence[str]) -> Iterable[str]:
    """The values of the flag that stands last."""
    flag = before[-1]
    with suppress(UserError):
        benchmark = get_benchmark(by_alias(before[1]))
        own: dict[str, Iterable[str]] = {
            "--preset": benchmark.presets,
            "--solver": benchmark.solvers,
            "--solvers": benchmark.solvers,
            "--variants": benchmark.diagnostics,
        }
        if flag in own:
            return own[flag]
    if flag == "--benchmarks":
        return benchmark_names()
    if flag == "--presets":
        return [preset for name in benchmark_names() for preset in get_benchmark(name).presets]
    choices = _flags(before).get(flag, "")
    return choices.strip("{}").split(",") if choices.startswith("{") else ()


def _arguments(command: str) -> Iterable[str]:
    """What may come first after a command."""
    if command in ("sweep", "estimate"):
        return [*benchmark_names(), *shipped_configs()]
    if command == "train":
        return AGENTS
    if command == "completion":
        return SCRIPTS
    with suppress(ModuleNotFoundError):
        module = command_module(command)
        if "read_benchmark_flags" in vars(module):
            return benchmark_names()
    return ()
