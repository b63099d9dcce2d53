"""The tasks as the register of Inspect Evals runs them: `inspect eval register/tasks.py@NAME`.

The register looks for decorated functions in a file; with the package installed,
`inspect eval trivium/NAME` is the same.
"""

from __future__ import annotations

from typing import Any

from inspect_ai import Task, task

from trivium.models.inspect.tasks import TASKS


@task
def nhop_explicit(**parameters: Any) -> Task:
    """Follow a chain of functions through given lines."""
    return TASKS["nhop_explicit"](**parameters)


@task
def nhop_implicit(**parameters: Any) -> Task:
    """Follow a chain of facts in the order that the question implies."""
    return TASKS["nhop_implicit"](**parameters)


@task
def identifying_variables(**parameters: Any) -> Task:
    """Name the variables that an experiment varies, measures and controls."""
    return TASKS["identifying_variables"](**parameters)


@task
def blicket_prompts(**parameters: Any) -> Task:
    """Infer from trials which objects activate a machine, and by which rule."""
    return TASKS["blicket_prompts"](**parameters)


@task
def blicket_game(**parameters: Any) -> Task:
    """Find out by experiments which objects activate a machine, and by which rule."""
    return TASKS["blicket_game"](**parameters)
