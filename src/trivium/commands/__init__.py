"""The commands, one module each: flags as a dataclass, and `main`."""

import importlib
from types import ModuleType

from trivium.benchmarks import EXTENSIONS


def command_module(name: str) -> ModuleType:
    """The module of a command, in this package or in that of a benchmark that declares it."""
    for package in EXTENSIONS:
        if name in importlib.import_module(package).COMMANDS:
            return importlib.import_module(f"{package}.commands.{name}")
    return importlib.import_module(f"trivium.commands.{name}")
