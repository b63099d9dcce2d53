"""One parameter set in several variants: the plan of a diagnosis."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import require
from trivium.core.spec import changed_fields, spec_from_dict
from trivium.evaluation.plan import Cell, Plan, chosen_solvers


def diagnosis(
    benchmark: AnyBenchmark,
    spec: Any,
    view: Any,
    *,
    variants: Sequence[str],
    seed: int,
    items: int,
    trials: int = 1,
    solvers: Sequence[str] | None = None,
    models: Sequence[str] = (),
    label: str | None = None,
) -> Plan:
    """Every variant with every solver; a variant that is about one solver runs that one alone."""
    known = benchmark.diagnostics
    chosen = chosen_solvers(benchmark.name, solvers)
    cells: list[Cell] = []
    for name in variants or known:
        require(name in known, f"unknown variant {name!r}; there are {', '.join(known)}")
        variant = known[name]
        cell = Cell(
            setting=name,
            fields={"variant": name},
            spec=spec_from_dict(benchmark.spec_type, variant.spec, base=spec),
            view=spec_from_dict(benchmark.view_type, variant.view, base=view),
            seed=seed,
        )
        if variant.solver is not None:
            cells.append(dataclasses.replace(cell, solver=variant.solver))
            continue
        cells += [dataclasses.replace(cell, solver=solver) for solver in chosen]
        cells += [dataclasses.replace(cell, model=model) for model in models]
    config = {
        "benchmark": benchmark.name,
        "label": label,
        "items": items,
        "order_trials": trials,
        "seeds": [seed],
        "solvers": list(chosen),
        "models": list(models),
        "variants": list(variants or known),
        "spec": changed_fields(spec),
        "view": changed_fields(view),
    }
    return Plan("diag", benchmark.name, tuple(cells), items, trials, label, config=config)
