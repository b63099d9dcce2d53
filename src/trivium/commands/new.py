"""Write a new benchmark: NAME.py, one working file for you to change, and its line in
trivium.toml, by which every command run in this folder finds it.
Example: trivium new my_task
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trivium.api import new_benchmark
from trivium.benchmarks import PROJECT_FILE
from trivium.commands.flags import argument, read_flags


@dataclass(frozen=True)
class Flags:
    """What the benchmark is called."""

    name: str = argument("NAME")  # the name of the benchmark, such as my_task


def main(args: Sequence[str]) -> int:
    """Write the benchmark's file and list it in trivium.toml."""
    name = read_flags("trivium new", Flags(), args, __doc__).flags.name
    path = new_benchmark(name)
    print(f"{path} written and listed in {PROJECT_FILE}. Try it:")
    for line in (f"python {path}", f"trivium show {name}", f"trivium run --benchmarks {name}"):
        print(f"  {line}")
    return 0
