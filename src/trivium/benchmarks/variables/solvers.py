"""Programs that answer: floors, shortcuts, a statistician and the oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product

import numpy as np

from trivium.benchmarks.variables.answer import INVALID, VariablesAnswer, write
from trivium.benchmarks.variables.decision import decide
from trivium.benchmarks.variables.render import Prompt, read_prompt
from trivium.benchmarks.variables.score import gold
from trivium.benchmarks.variables.spec import UNOBSERVED
from trivium.benchmarks.variables.table import Bools, Floats, Ints, in_root_range
from trivium.core.benchmark import Role, Solver, Turn, by_name

LEVEL = 0.01  # for all pairs of a table together
MIN_ROWS = 4  # a parabola fits any three
TINY = 1e-12  # shares below this are rounding errors


def oracle(turn: Turn) -> VariablesAnswer:
    """Reads the item itself and follows the two decision trees."""
    return gold(turn.item)


def guess(turn: Turn) -> VariablesAnswer:
    """Flips a coin for validity, and names variables at random, as the original does."""
    names = turn.item.names
    if turn.stream.random() < 0.5:
        return INVALID
    count = 2 + turn.stream.below(len(names) - 1)
    independent, dependent, *control = turn.stream.sample(names, count)
    return VariablesAnswer(True, independent, dependent, tuple(control))


def noctrl(turn: Turn) -> VariablesAnswer:
    """Calls every hypothesis valid, names two variables at random, and controls nothing."""
    independent, dependent = turn.stream.sample(turn.item.names, 2)
    return VariablesAnswer(True, independent, dependent, ())


def surface(turn: Turn) -> VariablesAnswer:
    """Goes by the looks of single columns and sets, which give the original's items away.

    In a table it controls the columns that are not all whole numbers from -100 to 99, and calls a
    hypothesis valid if its dependent variable is one of them; in prose it controls the largest set.
    """
    prompt = read_prompt(turn.messages[0], turn.view)
    shown, (independent, dependent) = prompt.observations, prompt.target
    if shown.table is None:
        picked = max(shown.sets or [set()], key=len)
    else:
        like_root = (shown.table == np.round(shown.table)) & in_root_range(shown.table)
        roots = (like_root | np.isnan(shown.table)).all(axis=0)
        picked = {name for name, root in zip(shown.names, roots, strict=True) if not root}
        if dependent not in picked:
            return INVALID
    control = [name for name in prompt.names if name in picked - set(prompt.target)]
    return VariablesAnswer(True, independent, dependent, tuple(control))


def statistician(turn: Turn) -> VariablesAnswer:
    """Reads only the text, tests tables for dependence, and follows the decision trees."""
    return _decided(turn, list)


def no_hypotheses(turn: Turn) -> VariablesAnswer:
    """Does the same without the hypotheses: controls what changes together with the target."""
    return _decided(turn, lambda edges: [])


def undirected(turn: Turn) -> VariablesAnswer:
    """Does the same, but does not tell causes from effects in the hypotheses."""
    return _decided(turn, lambda edges: [*edges, *((b, a) for a, b in edges)])


def always_valid(turn: Turn) -> VariablesAnswer:
    """Does the same, but calls every hypothesis valid."""
    return _decided(turn, list, check=False)


Edges = list[tuple[str, str]]


def _decided(turn: Turn, use: Callable[[Edges], Edges], *, check: bool = True) -> VariablesAnswer:
    """The answer of the decision trees that `use` hypotheses; or always a valid one."""
    prompt = read_prompt(turn.messages[0], turn.view)
    known = correlation(prompt)

    def correlated(first: str, second: str) -> bool | None:
        return True if not check and {first, second} == set(prompt.target) else known(first, second)

    valid, control = decide(correlated, prompt.target, use(prompt.hypotheses), prompt.names)
    return VariablesAnswer(True, *prompt.target, control) if valid else INVALID


def correlation(prompt: Prompt) -> Callable[[str, str], bool | None]:
    """Whether two variables are correlated, as far as the prompt shows.

    It is unknown (None) if either was not observed, or the two not often enough together.
    """
    shown = prompt.observations
    sets, unknown = shown.sets or [], list[set[str]]()
    if shown.table is not None:
        observed = np.isnan(shown.table).mean(axis=0) <= UNOBSERVED
        table = shown.table[:, observed]
        names = [name for name, kept in zip(shown.names, observed, strict=True) if kept]
        target = [names.index(name) for name in prompt.target if name in names]
        columns = dependent_sets(table, target)
        sets = [{names[column] for column in group} for group in columns]
        unknown = [{names[a], names[b]} for a, b in untested_pairs(table, columns)]
    seen = set().union(*sets)

    def correlated(first: str, second: str) -> bool | None:
        pair = {first, second}
        if not pair <= seen or pair in unknown:
            return None
        return any(pair <= members for members in sets)

    return correlated


def dependent_sets(table: Floats, planned: Sequence[int] = ()) -> list[set[int]]:
    """Sets of columns that tests connect, directly or through other columns.

    The tests of all pairs are corrected by Holm's method; the pair `planned`, chosen before the
    table is seen, needs no correction. Connecting columns through others assumes a forest.
    """
    first, second, p_values = pair_p_values(table)
    order = np.argsort(p_values, kind="stable")
    fails = p_values[order] > LEVEL / np.arange(len(order), 0, -1)
    rejected = order[: int(fails.argmax())] if fails.any() else order
    connected = list(zip(first[rejected].tolist(), second[rejected].tolist(), strict=True))
    if len(planned) == 2:
        one, other = sorted(planned)
        if (p_values[(first == one) & (second == other)] <= LEVEL).any():
            connected.append((one, other))
    group = list(range(table.shape[1]))
    for one, other in connected:
        kept, joined = group[one], group[other]
        group = [kept if label == joined else label for label in group]
    return [
        {column for column, each in enumerate(group) if each == label}
        for label in dict.fromkeys(group)
    ]


def pair_p_values(table: Floats) -> tuple[Ints, Ints, Floats]:
    """All pairs of columns, and the p-value of the hypothesis that they are independent.

    The test is the F test of a quadratic regression of each column on the other, over the rows
    where both are present, so it also detects parabolas. With two regressors its tail has a closed
    form: p = (residual share) ** ((m - 3) / 2) for m rows. So it detects exact relations in few
    rows, which a permutation test could not: four rows have only 24 orders.
    """
    first, second = np.triu_indices(table.shape[1], 1)
    both = ~np.isnan(table[:, first]) & ~np.isnan(table[:, second])
    x, y = np.where(both, table[:, first], 0.0), np.where(both, table[:, second], 0.0)
    rows = both.sum(axis=0)
    share = np.minimum(_residual_share(x, y, both, rows), _residual_share(y, x, both, rows))
    freedom = np.maximum(rows - 3, 0)
    # Two regressions are tried for each pair, and the better one counts.
    return first, second, np.minimum(1.0, 2 * share ** (freedom / 2))


def _residual_share(x: Floats, y: Floats, both: Bools, rows: Ints) -> Floats:
    """The share of the variance of y that a parabola of x leaves, column by column."""
    count = np.maximum(rows, 1)

    def centred(values: Floats) -> Floats:
        return np.where(both, values - values.sum(axis=0) / count, 0.0)

    def unit(values: Floats, size: Floats) -> Floats:
        # What is left of a column that adds nothing is rounding error, not a direction.
        norm = np.sqrt((values * values).sum(axis=0))
        return np.where(norm > 1e-9 * size, values / np.where(norm > 0, norm, 1.0), 0.0)

    line = unit(centred(x), np.abs(x).max(axis=0))
    bend = centred(line * line)
    bend = unit(bend - line * (line * bend).sum(axis=0), np.ones(x.shape[1]))
    left = centred(y)
    total = (left * left).sum(axis=0)
    for direction in (line, bend, line, bend):  # twice, against rounding errors
        left = left - direction * (direction * left).sum(axis=0)
    residual = (left * left).sum(axis=0)
    varies = total > TINY * (y * y).sum(axis=0)
    return np.where(varies, np.maximum(residual / np.where(varies, total, 1.0), TINY), 1.0)


def untested_pairs(table: Floats, sets: Sequence[set[int]]) -> list[tuple[int, int]]:
    """The pairs of columns from two sets between which no pair shares enough rows for a test."""
    there = (~np.isnan(table)).astype(np.int64)
    testable = there.T @ there >= MIN_ROWS
    return [
        pair
        for first, other in combinations(map(sorted, sets), 2)
        if not testable[np.ix_(first, other)].any()
        for pair in product(first, other)
    ]


def _solver(
    name: str, role: Role, answer: Callable[[Turn], VariablesAnswer], allowed_lift: float = 0.0
) -> Solver:
    def say(turn: Turn) -> str:
        return write(turn.item, answer(turn), turn.view)

    about = (answer.__doc__ or "").split("\n", maxsplit=1)[0]
    knows = answer in (oracle, guess, noctrl)
    return Solver(name, about, say, role, omniscient=knows, allowed_lift=allowed_lift)


SOLVERS = by_name(
    [
        _solver("oracle", "ceiling", oracle),
        _solver("statistician", "program", statistician),
        _solver("no_hypotheses", "shortcut", no_hypotheses, 0.25),
        _solver("undirected", "shortcut", undirected, 0.5),
        _solver("always_valid", "shortcut", always_valid, 0.5),
        _solver("surface", "shortcut", surface),
        _solver("noctrl", "floor", noctrl),
        _solver("random", "floor", guess),
    ]
)
