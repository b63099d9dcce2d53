"""One identifying-variables item, made from a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from trivium.benchmarks.variables.generate import Ints, Sheet, sheets
from trivium.benchmarks.variables.spec import UNOBSERVED, VariablesSpec
from trivium.benchmarks.variables.tables import Table, observe
from trivium.benchmarks.variables.trees import Edge, Observed, control_variables, is_valid
from trivium.core.benchmark import Origin
from trivium.core.spec import spec_to_dict

WORDINGS = (
    "{dep} is a function of {ind}",
    "{ind} has an effect on {dep}",
    "{dep} depends on {ind}",
    "changes in {ind} lead to changes in {dep}",
)


Term = Sequence[int]  # parent, whether x is squared, grad, bias


class Gold(NamedTuple):
    """The perfect answer, by number of variable."""

    valid: bool
    control: tuple[int, ...]


class VariablesItem(NamedTuple):
    """Variables in the order of print, what is true of them and what is believed."""

    id: str
    names: tuple[str, ...]
    terms: Sequence[Sequence[Term]]  # of each variable; none for a root
    rates: Sequence[float]  # the share of its observations that each variable has lost
    target: Edge
    hypotheses: Sequence[Edge]  # in the order of print
    wording: Sequence[int]  # how each hypothesis is worded
    snr: float | None
    table: Table
    origin: Origin | None

    @property
    def parents(self) -> list[list[int]]:
        """The causal graph: the parents of each variable."""
        return [[term[0] for term in terms] for terms in self.terms]

    @property
    def seen(self) -> list[bool]:
        """Which variables are observed."""
        return [rate <= UNOBSERVED for rate in self.rates]

    @property
    def world(self) -> Observed:
        """What is known of correlations."""
        return Observed(self.parents, self.seen)

    @property
    def gold(self) -> Gold:
        """What the two decision trees say."""
        return gold(self, self.world)


def gold(item: VariablesItem, world: Observed) -> Gold:
    """What the two decision trees say; nothing is controlled for an invalid hypothesis."""
    if not is_valid(world, item.target):
        return Gold(False, ())
    variables = range(len(item.names))
    return Gold(True, tuple(control_variables(world, item.target, item.hypotheses, variables)))


def reordered(item: VariablesItem, order: Sequence[int], told: Sequence[int]) -> VariablesItem:
    """The same item with its variables and its hypotheses printed in these orders."""
    place = {number: row for row, number in enumerate(order)}
    hypotheses = [item.hypotheses[number] for number in told]
    return item._replace(
        names=tuple([item.names[number] for number in order]),
        terms=[[[place[term[0]], *term[1:]] for term in item.terms[number]] for number in order],
        rates=[item.rates[number] for number in order],
        target=(place[item.target[0]], place[item.target[1]]),
        hypotheses=[(place[cause], place[effect]) for cause, effect in hypotheses],
        wording=[item.wording[number] for number in told],
        table=Table(item.table.values[:, list(order)]),
    )


def item_id(index: int) -> str:
    """The readable name of an item."""
    return f"IV-{index:06d}"


def generate(
    spec: VariablesSpec, seed: int, start: int = 0, count: int = 1
) -> Iterator[VariablesItem]:
    """The items start .. start + count - 1."""
    for sheet in sheets(spec, seed, start, count):
        yield from _items(spec, seed, sheet)


def _items(spec: VariablesSpec, seed: int, sheet: Sheet) -> Iterator[VariablesItem]:
    """The items of a batch, everything put into the order of print."""
    structure, links, order = sheet.structure, sheet.links, sheet.order
    rows = observe(links, structure.rates, sheet.words, spec.observations, spec.snr)
    tables = np.take_along_axis(rows, order.T[:, None, :], axis=2)
    printed = np.empty_like(order)
    np.put_along_axis(printed, order, np.arange(len(order))[:, None], axis=0)
    item = np.arange(order.shape[1])

    def renumbered(places: Ints) -> Ints:
        return np.where(places >= 0, printed[places, item], -1)

    parts = np.stack([renumbered(links.parents), links.quadratic, links.grad, links.bias])
    terms = np.take_along_axis(parts, order[None, None], axis=2).transpose(3, 2, 1, 0).tolist()
    rates = np.take_along_axis(structure.rates, order, axis=0).T.tolist()
    targets = renumbered(structure.target).T.tolist()
    edges = renumbered(structure.hypotheses).transpose(2, 0, 1).tolist()
    wording = (sheet.wording * len(WORDINGS)).astype(np.int64).T.tolist()
    names, sizes = sheet.names.T.tolist(), sheet.sizes.tolist()
    fields = spec_to_dict(spec)
    for row, size in enumerate(sizes):
        index = sheet.start + row
        believed = [(cause, effect) for cause, effect in edges[row] if cause >= 0]
        yield VariablesItem(
            item_id(index),
            tuple([f"x_{number}" for number in names[row][:size]]),
            [[term for term in own if term[0] >= 0] for own in terms[row][:size]],
            rates[row][:size],
            (targets[row][0], targets[row][1]),
            believed,
            wording[row][: len(believed)],
            spec.snr,
            Table(tables[row, :, :size]),
            Origin(fields, seed, index),
        )
