"""What a sweep or a diagnosis consists of: cells, each one spec, view and seed for one solver."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trivium.benchmarks import get_benchmark
from trivium.core.errors import require
from trivium.evaluation.cost import SAMPLE, Cost, cost_of
from trivium.evaluation.execute import Job

# Where the runs of a benchmark lie under runs/, where that is not its own name.
APPROACHES = {"explicit": "nhop_explicit", "implicit": "nhop_implicit"}


@dataclass(frozen=True)
class Cell:
    """One evaluation of a plan: a built-in solver or a model on the items of one seed."""

    setting: str  # what tells its spec and view from those of other cells
    fields: dict[str, Any]  # the same by name: columns of summary.csv
    spec: Any
    view: Any
    seed: int
    solver: str | None = None
    model: str | None = None

    @property
    def who(self) -> str:
        """The solver or the model."""
        return str(self.solver or self.model)

    @property
    def tag(self) -> str:
        """The name of its folder."""
        return _slug(f"{self.data_tag} {self.who}")

    @property
    def data_tag(self) -> str:
        """The name of the file of its items."""
        return _slug(f"{self.setting} seed{self.seed}")


@dataclass(frozen=True)
class Plan:
    """Everything that a run will do, known before it begins."""

    kind: str  # sweep or diag
    benchmark: str
    cells: tuple[Cell, ...]
    items: int
    trials: int = 1
    label: str | None = None
    temp: float | None = None
    max_output_tokens: int | None = None
    config: dict[str, Any] = field(default_factory=dict)  # what was asked for, in plain values

    def __post_init__(self) -> None:
        require(self.items >= 1, f"items must be at least 1, got {self.items}")
        require(self.trials >= 1, f"order_trials must be at least 1, got {self.trials}")
        require(bool(self.cells), "nothing to do: no solver and no model is named")
        tag, times = Counter(cell.tag for cell in self.cells).most_common(1)[0]
        require(times == 1, f"{tag} would be run {times} times: a value is named twice")

    @property
    def approach(self) -> str:
        """The folder under runs/."""
        names = {benchmark: approach for approach, benchmark in APPROACHES.items()}
        return names.get(self.benchmark, self.benchmark)

    def manifest(self) -> dict[str, Any]:
        """What must stay the same when the folder is gone on with."""
        settings = list(dict.fromkeys(cell.setting for cell in self.cells))
        return {"kind": self.kind, **self.config, "settings": settings}

    def job(self, cell: Cell) -> Job:
        """The evaluation of one cell."""
        return Job(
            self.benchmark,
            cell.who,
            cell.view,
            cell.spec,
            cell.seed,
            trials=self.trials,
            setting=cell.setting,
        )

    def cost(self, held: Mapping[str, int] | None = None) -> Cost:
        """What the cells with a model would cost; where there is none, what one would cost.

        What a cell holds already, by its tag, is not asked again.
        """
        first = self.cells[0].solver
        asked = [cell for cell in self.cells if cell.model]
        asked = asked or [cell for cell in self.cells if cell.solver == first]
        total = Cost(0, 0, 0)
        benchmark = get_benchmark(self.benchmark)
        for cell in asked:
            sample = list(benchmark.generate(cell.spec, cell.seed, 0, min(self.items, SAMPLE)))
            left = self.items * self.trials - (held or {}).get(cell.tag, 0)
            total += cost_of(benchmark, cell.view, sample, max(0, left))
        return total


def chosen_solvers(benchmark: str, names: Sequence[str] | None) -> tuple[str, ...]:
    """The solvers of these names, checked; all built-in ones for None."""
    known = get_benchmark(benchmark).solvers
    for name in names or ():
        require(name in known, f"unknown solver {name!r}; there are {', '.join(known)}")
    return tuple(known) if names is None else tuple(names)


def _slug(text: str) -> str:
    """The text as the name of a file, whatever it was."""
    return re.sub(r"[^A-Za-z0-9.+-]+", "_", text.replace("=", "")).strip("._") or "cell"
