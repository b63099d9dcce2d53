"""One identifying-variables item: a causal graph, a table, hypotheses and a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.variables.decision import Decision, Edge, Observed, decide
from trivium.benchmarks.variables.spec import UNOBSERVED
from trivium.core.benchmark import Origin

WORDINGS = (
    "{dep} is a function of {ind}",
    "{ind} has an effect on {dep}",
    "{dep} depends on {ind}",
    "changes in {ind} lead to changes in {dep}",
)
Term = Sequence[int]  # parent, whether x is squared, grad, bias


@dataclass(slots=True, eq=False)
class Table:
    """Rows of observations with a column for each variable; missing ones are nan."""

    values: NDArray[np.float64]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and np.array_equal(
            self.values, other.values, equal_nan=True
        )

    __hash__ = None  # type: ignore[assignment]


class VariablesItem(NamedTuple):
    """Variables in printed order, with their causal graph, observations and hypotheses."""

    id: str
    names: tuple[str, ...]
    terms: Sequence[Sequence[Term]]  # of each variable; none for a root
    rates: Sequence[float]  # the share of its observations that each variable lost
    target: Edge
    hypotheses: Sequence[Edge]  # in printed order
    wording: Sequence[int]  # the index of each hypothesis in WORDINGS
    snr: float | None
    table: Table
    origin: Origin | None

    @property
    def matched(self) -> bool:
        """Whether the item has the matched design."""
        return self.origin is not None and self.origin.spec.get("design") == "matched"

    @property
    def overlapping(self) -> bool:
        """Whether the item has the matched design and a variable in several sets."""
        return self.matched and any(len(terms) > 1 for terms in self.terms)

    @property
    def parents(self) -> list[list[int]]:
        """The causal graph: the parents of each variable."""
        return [[term[0] for term in terms] for terms in self.terms]

    @property
    def seen(self) -> list[bool]:
        """Whether each variable counts as observed."""
        return [rate <= UNOBSERVED for rate in self.rates]

    @property
    def hidden(self) -> list[int]:
        """The unobserved variables that hypotheses mention."""
        mentioned = {variable for edge in self.hypotheses for variable in edge}
        return [variable for variable in sorted(mentioned) if self.rates[variable] > UNOBSERVED]

    @property
    def observed(self) -> Observed:
        """The correlations that the observations show."""
        return Observed(self.parents, self.seen)

    @property
    def gold(self) -> Decision[int]:
        """The perfect answer, with control variables by number."""
        return decide(
            self.observed.correlated, self.target, self.hypotheses, range(len(self.names))
        )


def reordered(item: VariablesItem, order: Sequence[int], listed: Sequence[int]) -> VariablesItem:
    """The same item with its variables and its hypotheses printed in these orders."""
    position = {variable: row for row, variable in enumerate(order)}

    def edge(old: Edge) -> Edge:
        return position[old[0]], position[old[1]]

    return item._replace(
        names=tuple([item.names[old] for old in order]),
        terms=[[[position[term[0]], *term[1:]] for term in item.terms[old]] for old in order],
        rates=[item.rates[old] for old in order],
        target=edge(item.target),
        hypotheses=[edge(item.hypotheses[old]) for old in listed],
        wording=[item.wording[old] for old in listed],
        table=Table(item.table.values[:, list(order)]),
    )
