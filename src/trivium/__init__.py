"""Reasoning benchmarks with exact answers, for models, agents, programs and people.

>>> import trivium
>>> task = trivium.load("nhop_implicit", hops=4)
>>> result = trivium.evaluate(task, "oracle", items=20, seed=7)
>>> result.summary.metrics["correct"].value
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


# Names that are not in trivium.api under the same name.
_ELSEWHERE = {
    "UserError": "trivium.core.errors:UserError",
    "check_benchmark": "trivium.benchmarks.contract:check_benchmark",
    "open": "trivium.api:open_results",
}


def __getattr__(name: str) -> Any:
    """Import public names when they are first used, so that `import trivium` is fast."""
    if name not in __all__:
        raise AttributeError(f"module 'trivium' has no attribute {name!r}")
    from pkgutil import resolve_name  # noqa: PLC0415

    return resolve_name(_ELSEWHERE.get(name, f"trivium.api:{name}"))


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


if sys.modules.get("gymnasium") is not None:
    # `gymnasium.make("trivium:ENVIRONMENT")` imports only this module.
    from trivium.benchmarks import register_environments

    register_environments()
