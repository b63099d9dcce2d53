"""Programs that answer: the floor, the shortcut, the statistician and the ceiling."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from trivium.benchmarks.variables.answer import INVALID, VariablesAnswer, write
from trivium.benchmarks.variables.dependence import dependent_sets, untested_pairs
from trivium.benchmarks.variables.generate import Floats
from trivium.benchmarks.variables.render import Page, read_page
from trivium.benchmarks.variables.score import gold
from trivium.benchmarks.variables.spec import UNOBSERVED
from trivium.benchmarks.variables.trees import control_variables, is_valid
from trivium.core.benchmark import Solver, Turn, by_name


def oracle(turn: Turn) -> str:
    """Reads the item itself and follows the two decision trees."""
    return write(gold(turn.item))


def guess(turn: Turn) -> str:
    """Says valid or invalid by a coin, and names observed or hypothesised variables at random."""
    if turn.stream.random() < 0.5:
        return write(INVALID)
    names = nameable(read_page(turn.messages[0], turn.view))
    independent, dependent, *control = turn.stream.sample(
        names, 2 + turn.stream.below(len(names) - 1)
    )
    return write(VariablesAnswer(True, independent, dependent, tuple(control)))


def nameable(page: Page) -> list[str]:
    """The variables that every renderer names: a table shows the unobserved ones too."""
    if page.told.table is None:
        return page.names
    known = {page.told.names[column] for column in _observed(page.told.table)}
    known.update(name for edge in page.hypotheses for name in edge)
    return [name for name in page.names if name in known]


def _observed(table: Floats) -> list[int]:
    """The columns that have not lost too much to count as observed."""
    columns: list[int] = np.flatnonzero(np.isnan(table).mean(axis=0) <= UNOBSERVED).tolist()
    return columns


def noctrl(turn: Turn) -> str:
    """Calls every hypothesis valid, names its two variables, and controls nothing."""
    target = read_page(turn.messages[0], turn.view).target
    return write(VariablesAnswer(True, *target, ()))


def statistician(turn: Turn) -> str:
    """Reads nothing but the text, tests for dependence, and follows the decision trees."""
    return write(conclude(read_page(turn.messages[0], turn.view)))


class Reading:
    """Correlation as a reader of the page knows it."""

    def __init__(self, page: Page) -> None:
        self.names = page.names
        self._number = {name: number for number, name in enumerate(self.names)}
        sets, unknown = (page.told.sets or [], []) if page.told.table is None else tested(page)
        self._seen = {self._number[name] for own in sets for name in own}
        self._together = {
            self.numbers(pair) for own in sets for pair in combinations(sorted(own), 2)
        }
        self._unknown = set(map(self.numbers, unknown))

    def correlated(self, first: int, second: int) -> bool | None:
        """True, false, or None where either was not observed or the two not often together."""
        if first not in self._seen or second not in self._seen:
            return None
        pairs = {(first, second), (second, first)}
        if pairs & self._together:
            return True
        return None if pairs & self._unknown else False

    def numbers(self, edge: tuple[str, str]) -> tuple[int, int]:
        """An edge between names as one between numbers."""
        return self._number[edge[0]], self._number[edge[1]]


def tested(page: Page) -> tuple[list[set[str]], list[tuple[str, str]]]:
    """The observed variables in sets that tests tie together, and pairs that cannot be tested."""
    table, names = page.told.table, page.told.names
    assert table is not None
    seen = _observed(table)
    names = [names[column] for column in seen]
    independent, dependent = page.target
    planned = None
    if independent in names and dependent in names:
        planned = (names.index(independent), names.index(dependent))
    sets = dependent_sets(table[:, seen], planned)
    unknown = untested_pairs(table[:, seen], sets)
    return (
        [{names[column] for column in own} for own in sets],
        [(names[one], names[other]) for one, other in unknown],
    )


def conclude(page: Page) -> VariablesAnswer:
    """What the decision trees say of what the page shows."""
    world = Reading(page)
    target = world.numbers(page.target)
    if not is_valid(world, target):
        return INVALID
    hypotheses = [world.numbers(edge) for edge in page.hypotheses]
    control = control_variables(world, target, hypotheses, range(len(world.names)))
    return VariablesAnswer(True, *page.target, tuple([world.names[number] for number in control]))


SOLVERS = by_name(
    [
        Solver("oracle", oracle.__doc__ or "", oracle, role="ceiling", omniscient=True),
        Solver("statistician", statistician.__doc__ or "", statistician),
        Solver("noctrl", noctrl.__doc__ or "", noctrl, role="shortcut"),
        Solver("random", guess.__doc__ or "", guess, role="floor"),
    ]
)
