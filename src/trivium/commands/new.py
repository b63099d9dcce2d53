"""Write a new benchmark: NAME.py, one working file for you to change, and its line in
trivium.toml, by which every command run in this folder finds it.
Example: trivium new my_task
"""

from __future__ import annotations

import keyword
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from trivium.benchmarks import PROJECT_FILE, benchmark_names
from trivium.commands.flags import read_flags
from trivium.commands.parser import argument
from trivium.core.errors import require
from trivium.core.files import atomic_write, open_output
from trivium.core.spec import read_mapping

TEMPLATE = "new_benchmark.py.txt"


@dataclass(frozen=True)
class Flags:
    """What the benchmark is called."""

    name: str = argument("NAME")  # the name of the benchmark, such as my_task


def main(args: Sequence[str]) -> int:
    """Write the file and its line."""
    name = read_flags("new", Flags(), args, __doc__).name
    valid = name.isidentifier() and name.islower() and not keyword.iskeyword(name)
    require(valid, f"NAME must be lower-case letters, digits and underscores, got {name!r}")
    require(name not in benchmark_names(), f"there is a benchmark {name!r} already")
    require(name not in sys.stdlib_module_names, f"{name!r} is the name of a Python module")
    path = Path(f"{name}.py")
    require(not path.exists(), f"{path} exists already")
    _register(name)
    title = "".join(part.capitalize() for part in name.split("_"))
    template = (files("trivium.commands") / TEMPLATE).read_text(encoding="utf-8")
    with atomic_write(path) as file:
        file.write(template.replace("NewBenchmark", title).replace("new_benchmark", name).encode())
    print(f"{path} written and listed in {PROJECT_FILE}. Try it:")
    for line in (f"python {path}", f"trivium show {name}", f"trivium run --benchmarks {name}"):
        print(f"  {line}")
    return 0


def _register(name: str) -> None:
    """Append the benchmark to the project file."""
    path = Path(PROJECT_FILE)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    line = f'{name} = "{name}.py:BENCHMARK"\n'
    header = "" if "benchmarks" in (read_mapping(path) if text else {}) else "[benchmarks]\n"
    last_table = [word for word in text.splitlines() if word.startswith("[")][-1:]
    require(
        bool(header) or last_table == ["[benchmarks]"],
        f"{path}: add the line {line.strip()} to its table [benchmarks]",
    )
    with open_output(path, "ab") as file:
        separator = "" if not text or text.endswith("\n") else "\n"
        file.write(f"{separator}{header}{line}".encode())
