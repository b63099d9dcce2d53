"""Reasoning benchmarks with exact answers, for models, agents, programs and people.

>>> import trivium
>>> task = trivium.load("nhop_implicit", hops=4)
>>> result = trivium.evaluate(task, "oracle", items=20, seed=7)
>>> result.summary.metrics["em"].value
1.0
"""

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trivium.api import ResultSet as ResultSet
    from trivium.api import Thresholds as Thresholds
    from trivium.api import compare as compare
    from trivium.api import evaluate as evaluate
    from trivium.api import export as export
    from trivium.api import list_benchmarks as list_benchmarks
    from trivium.api import load as load
    from trivium.api import open_results as open
    from trivium.api import score as score
    from trivium.api import threshold as threshold
    from trivium.benchmarks.contract import check_benchmark as check_benchmark
    from trivium.core.errors import UserError as UserError

__version__ = "0.2.0.dev0"
# Everything is imported when it is first used, so that `import trivium` takes no time.
_PUBLIC = {
    "ResultSet": ("trivium.api", "ResultSet"),
    "Thresholds": ("trivium.api", "Thresholds"),
    "UserError": ("trivium.core.errors", "UserError"),
    "check_benchmark": ("trivium.benchmarks.contract", "check_benchmark"),
    "compare": ("trivium.api", "compare"),
    "evaluate": ("trivium.api", "evaluate"),
    "export": ("trivium.api", "export"),
    "list_benchmarks": ("trivium.api", "list_benchmarks"),
    "load": ("trivium.api", "load"),
    "open": ("trivium.api", "open_results"),
    "score": ("trivium.api", "score"),
    "threshold": ("trivium.api", "threshold"),
}
__all__ = [
    "ResultSet",
    "Thresholds",
    "UserError",
    "check_benchmark",
    "compare",
    "evaluate",
    "export",
    "list_benchmarks",
    "load",
    "open",
    "score",
    "threshold",
]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'trivium' has no attribute {name!r}")
    import importlib  # noqa: PLC0415 - only when something is used

    module, attribute = _PUBLIC[name]
    return getattr(importlib.import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


if sys.modules.get("gymnasium") is not None:
    # `gymnasium.make("trivium:ENVIRONMENT")` imports this module, and needs no other.
    from trivium.benchmarks import register_environments

    register_environments()
