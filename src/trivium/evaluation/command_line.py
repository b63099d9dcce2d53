"""The command line that names a task."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from trivium.core.task import Task


def show_command(task: Task) -> str:
    """The command that shows an item of a task."""
    benchmark = task.benchmark
    words = [] if task.spec == benchmark.default_spec else task_flags(task)
    words += changed_flags(task.view, benchmark.view_type())
    return " ".join(["trivium", "show", benchmark.name, *words])


def task_flags(task: Task) -> list[str]:
    """The flags of a task's spec: its preset, or the fields that differ from the default."""
    if task.preset is not None:
        return ["--preset", task.preset]
    return changed_flags(task.spec, task.benchmark.default_spec)


def changed_flags(values: Any, defaults: Any) -> list[str]:
    """The flags for the fields of a spec or view that differ from the defaults."""
    words: list[str] = []
    for field in fields(values):
        value = getattr(values, field.name)
        if value == getattr(defaults, field.name):
            continue
        if isinstance(value, bool):
            words.append(f"--{field.name}" if value else f"--no_{field.name}")
        else:
            values_given = value if isinstance(value, tuple) else (value,)
            words += [f"--{field.name}", *map(str, values_given)]
    return words
