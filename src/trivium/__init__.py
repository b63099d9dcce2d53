"""Reasoning benchmarks with exact answers, for models, agents, programs and people.

>>> import trivium
>>> task = trivium.load("nhop_implicit", hops=4)
>>> result = trivium.evaluate(task, "oracle", items=20, seed=7)
>>> result.summary.metrics["correct"].value
1.0
"""

import sys
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trivium.api import *  # noqa: F403

    open = open_results  # noqa: F405 - not in __all__: a star import would hide the builtin

__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    """Import public names when they are first used, so that `import trivium` is fast."""
    if name == "__all__" or not name.startswith("_"):
        api = import_module("trivium.api")
        if name in (*api.__all__, "__all__", "open"):
            return getattr(api, "open_results" if name == "open" else name)
    what = f"module 'trivium' has no attribute {name!r}"
    raise AttributeError(what, name=name, obj=sys.modules[__name__])  # Python suggests another name


def __dir__() -> list[str]:
    return sorted([*__getattr__("__all__"), "__version__"])


class _WithGymnasium(MetaPathFinder):
    """An import hook: registers our environments as soon as gymnasium is imported.

    Gymnasium itself has no way to find the environments of other packages.
    """

    searching = False  # while the other finders are asked, which includes this one

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name != "gymnasium" or self.searching:
            return None
        self.searching = True
        try:
            spec = find_spec(name)
        finally:
            self.searching = False
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_register(module: ModuleType) -> None:
                execute(module)
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
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
