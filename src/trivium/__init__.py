"""Reasoning benchmarks with exact answers, for models, agents, programs and people.

>>> import trivium
>>> task = trivium.load("nhop_implicit", hops=4)
>>> result = trivium.evaluate(task, "oracle", items=20, seed=7)
>>> result.summary.metrics["correct"].value
1.0
"""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trivium.api import audit as audit
    from trivium.api import compare as compare
    from trivium.api import diagnose as diagnose
    from trivium.api import estimate as estimate
    from trivium.api import evaluate as evaluate
    from trivium.api import export as export
    from trivium.api import list_benchmarks as list_benchmarks
    from trivium.api import load as load
    from trivium.api import run as run
    from trivium.api import score as score
    from trivium.api import sweep as sweep
    from trivium.api import threshold as threshold
    from trivium.benchmarks.contract import check_benchmark as check_benchmark
    from trivium.core.errors import UserError as UserError
    from trivium.results import ResultSet as ResultSet
    from trivium.results import Thresholds as Thresholds
    from trivium.results import open_results as open_results

    open = open_results

__version__ = "0.2.0"
__all__ = [
    "ResultSet",
    "Thresholds",
    "UserError",
    "audit",
    "check_benchmark",
    "compare",
    "diagnose",
    "estimate",
    "evaluate",
    "export",
    "list_benchmarks",
    "load",
    "open_results",
    "run",
    "score",
    "sweep",
    "threshold",
]


# Names that are not in trivium.api under the same name.
_ELSEWHERE = {
    "UserError": "trivium.core.errors:UserError",
    "check_benchmark": "trivium.benchmarks.contract:check_benchmark",
    "open": "trivium.results:open_results",  # not in __all__: a star import would hide the builtin
    "ResultSet": "trivium.results:ResultSet",
    "Thresholds": "trivium.results:Thresholds",
    "open_results": "trivium.results:open_results",
}


def __getattr__(name: str) -> Any:
    """Import public names when they are first used, so that `import trivium` is fast."""
    if name not in __all__ and name not in _ELSEWHERE:
        raise AttributeError(f"module 'trivium' has no attribute {name!r}")
    from pkgutil import resolve_name  # noqa: PLC0415

    return resolve_name(_ELSEWHERE.get(name, f"trivium.api:{name}"))


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


class _WithGymnasium(MetaPathFinder):
    """Registers our environments as soon as gymnasium is imported, which has no plug-ins."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name != "gymnasium":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_register(module: ModuleType) -> None:
                execute(module)
                _register_environments()

            spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec


def _register_environments() -> None:
    from trivium.benchmarks import register_environments  # noqa: PLC0415

    register_environments()


if sys.modules.get("gymnasium") is not None:
    _register_environments()
else:
    sys.meta_path.insert(0, _WithGymnasium())
