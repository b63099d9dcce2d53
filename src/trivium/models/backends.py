"""The choice of backend: direct calls for throughput, Inspect for everything else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import FailedCallsError, import_extra
from trivium.core.records import Attempt
from trivium.core.task import PresentedItem
from trivium.models.providers import find_address, is_compatible, is_local
from trivium.models.settings import Model

LOGS = "logs"  # the folder of Inspect's logs, beside the records


@dataclass(frozen=True)
class Batch:
    """The items of one task for one model, and a callback for its attempts."""

    name: str  # unique among the batches of a run
    benchmark: AnyBenchmark
    items: Iterable[PresentedItem]
    model: Model
    save: Callable[[Attempt, str], None]  # an attempt and the prompt that was sent


def ask_models(batches: Sequence[Batch], logs: Path) -> dict[str, FailedCallsError]:
    """Run every attempt: model by model on the direct backend, all together on Inspect.

    Returns why the batches of models that could not be asked were stopped, by name.
    """
    if any(is_local(batch.model) for batch in batches):
        from trivium.models.local import served_locally  # noqa: PLC0415

        with served_locally([batch.model for batch in batches]) as served:
            own = [replace(one, model=served.get(one.model, one.model)) for one in batches]
            return ask_models(own, logs)
    stopped: dict[str, FailedCallsError] = {}
    direct: dict[Model, list[Batch]] = {}
    inspected = []
    for batch in batches:
        if choose_backend(batch.benchmark, batch.model) == "direct":
            direct.setdefault(batch.model, []).append(batch)
        else:
            inspected.append(batch)
    for of_model in direct.values():
        from trivium.models.direct import ask_directly  # noqa: PLC0415

        try:
            ask_directly(of_model)
        except FailedCallsError as problem:
            stopped |= {batch.name: problem for batch in of_model}
    if inspected:
        from trivium.models.inspect.run import ask_through_inspect  # noqa: PLC0415

        ask_through_inspect(inspected, logs)
    return stopped


def choose_backend(benchmark: AnyBenchmark, model: Model) -> str:
    """The backend that the options name, or the default for this benchmark and model."""
    if model.options.backend != "auto":
        return model.options.backend
    compatible = is_local(model) or is_compatible(model)
    return "direct" if compatible and not benchmark.multi_turn else "inspect"


def require_reachable(benchmark: AnyBenchmark, model: Model) -> None:
    """Raise UserError if a key, a URL or a package is missing, before any work is done."""
    if is_local(model):
        from trivium.models.local import model_file  # noqa: PLC0415

        model_file(model)
        model = replace(model, options=replace(model.options, base_url="http://127.0.0.1/v1"))
    if choose_backend(benchmark, model) == "direct":
        for package in ("aiohttp", "certifi"):
            import_extra(package, "models")
        find_address(model)
    else:
        import_extra("inspect_ai", "models")
        from trivium.models.inspect.models import inspect_model  # noqa: PLC0415

        inspect_model(model)
