"""The commands, one module each: flags as a dataclass, and a function that does the work."""

import importlib
from types import ModuleType

from trivium.benchmarks import EXTENSIONS


def command_module(name: str) -> ModuleType:
    """The module of a command: one of this package, or of a benchmark that declares the command."""
    for package in EXTENSIONS:
        if name in importlib.import_module(package).COMMANDS:
            return importlib.import_module(f"{package}.commands.{name}")
    return importlib.import_module(f"trivium.commands.{name}")
