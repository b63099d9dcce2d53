"""Structures in which only correlations and directed chains of hypotheses give the answer away.

Every item has two sets of one size. The target lies within one of them (valid) or goes from one to
the other (invalid), at the same places of trees of the same shape, so sizes, roots and children
say nothing. The observed variables of the hypotheses form two trees of one shape, one of which
holds the target; they are drawn regardless of their set. Unobserved variables are attached to both
trees, above the dependent variable (control variables) or elsewhere. Each is either a cause only or
in the middle of a chain, whatever its role, and the number of control variables among them is drawn
so that its mean is that of as many observed variables. So within an item every variable is a
control variable with the same probability, whatever can be seen of it alone; counts of all mentions
together do say a little about the number of unobserved control variables (docs/audit.md).

In a dag the observed variables lie in a ring of six families. Between any two neighbours lies an
unobserved cause of both, so each family is correlated with itself and with its two neighbours: with
half of all observed variables, as in a forest, but what two variables are correlated with may be
uncorrelated. The target lies within a family (valid) or goes to one of the three others (invalid).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trivium.benchmarks.variables.layouts import LATENT, layouts
from trivium.benchmarks.variables.spec import UNOBSERVED, VariablesSpec
from trivium.benchmarks.variables.structure import Numbers, Structure
from trivium.benchmarks.variables.table import Bools, Floats, Ints

LOST = 0.2  # share of an observed variable's rows; two variables share at least six of ten
PAST = 2.0  # a sort key above all others
IN_TREE = 0.6  # the probability that another unobserved variable is in the target's tree


class Trees(NamedTuple):
    """The two trees of hypotheses about observed variables; the last axis is the item."""

    nodes: Ints  # the number of nodes of each tree
    upon: Ints  # (nodes, items): the node that each node is attached to
    leads: Bools  # (nodes, items): whether a node is node 0 or causes it
    names: Ints  # (trees, nodes, items): variables
    lines: Ints  # (nodes - 1, trees, 2, items): cause and effect; -1 for none


def matched_structures(
    spec: VariablesSpec, numbers: Numbers, kinds: Ints, valid: Bools
) -> tuple[Structure, Ints]:
    """The structures of items of these kinds, and the number of variables of each.

    Variables are numbered set by set, the unobserved ones last; they are shuffled before they
    are printed.
    """
    layout = _layouts_of(spec, numbers, kinds)
    size, unobserved, _ = layout
    observed, dag = 2 * size, spec.graph == "dag"
    latent = LATENT if dag else 0
    family = size // (LATENT // 2) if dag else size
    most, item = spec.max_vars + latent, np.arange(len(kinds))
    variable = np.arange(most)[:, None]
    at = variable % family
    # All trees of an item have one shape: the parent of each place is a place before it.
    above = (numbers.take(most) * np.arange(most)[:, None]).astype(np.int64)
    parents = np.where(at > 0, variable - at + above[at, item], -1)
    printed = observed + unobserved
    hidden = (variable >= observed) & (variable < printed)
    parents = np.where(hidden, (numbers.take(most) * observed).astype(np.int64), parents)
    parents[variable >= printed] = -1
    graph = parents[None]
    if dag:
        first = (variable < observed) & (at == 0)
        number = variable // family
        causes = [printed + number, printed + (number + 1) % LATENT]
        graph = np.stack([np.where(first, causes[0], parents), np.where(first, causes[1], -1)])
        hidden |= (variable >= printed) & (variable < printed + latent)
    place = 1 + numbers.below(family - 1)
    # Of the ring's six families, 2, 3 and 4 are not correlated with family 0.
    other = family * (2 + numbers.below(np.full(len(kinds), 3))) if dag else size
    independent = above[place, item] + np.where(valid, 0, other)
    target = np.stack([independent, place])
    structure = Structure(
        parents=graph,
        rates=_rates(spec, numbers, hidden),
        target=target,
        hypotheses=_hypotheses(spec, numbers, target, layout),
    )
    return structure, printed + latent


def _layouts_of(spec: VariablesSpec, numbers: Numbers, kinds: Ints) -> Ints:
    """The layout of each item: (fields, items)."""
    known = layouts(spec)
    table = np.array(known.all, dtype=np.int64)
    uniform = numbers.take(1)[0]
    chosen = np.empty(len(kinds), dtype=np.int64)
    for kind, shares in enumerate(known.shares):
        of_kind = kinds == kind
        chosen[of_kind] = np.searchsorted(np.cumsum(shares), uniform[of_kind], side="right")
    # Rounding may leave the last sum below 1 and a number above it.
    return table[np.minimum(chosen, len(table) - 1)].T


def _rates(spec: VariablesSpec, numbers: Numbers, hidden: Bools) -> Floats:
    """The share of observations that each variable loses: the same for all observed ones.

    With missing cells in other rows of every column, what a column looks like from row to row
    (its steps, its trend) says little about which other column it belongs to.
    """
    nearly_all = UNOBSERVED + 0.001 + (1 - UNOBSERVED - 0.001) * numbers.take(len(hidden))
    return np.asarray(np.where(hidden, nearly_all, LOST * spec.thinned).round(3), dtype=np.float64)


def _hypotheses(spec: VariablesSpec, numbers: Numbers, target: Ints, layout: Ints) -> Ints:
    """The hypotheses in random order: (hypotheses, 2, items), -1 for none.

    The rows of `layout` are the fields of Layout. The order and size of all draws are part of the
    items: changing them needs a new version of the benchmark.
    """
    size, unobserved, _ = layout
    count, item = target.shape[1], np.arange(target.shape[1])
    nodes = np.minimum(size, (spec.max_hyps - unobserved) // 2 + 1)
    # The most of any item of the spec, so that an item does not depend on its batch.
    most = max(6, *(each.size for each in layouts(spec).all))
    upon, as_cause, leads = _tree_shapes(numbers, most, count)
    names = _nodes(spec, numbers, target, size, most)
    lines = np.full((most - 1, 2, 2, count), -1)
    for node in range(1, most):
        new, old = names[:, node], names[:, upon[node], item]
        edge = np.where(as_cause[node], [new, old], [old, new]).swapaxes(0, 1)
        lines[node - 1] = np.where(node < nodes, edge, -1)
    trees = Trees(nodes, upon, leads, names, lines)
    attached = _attached(numbers, trees, layout, max(each.unobserved for each in layouts(spec).all))
    listed = np.concatenate([lines.reshape(-1, 2, count), attached])
    order = (numbers.take(len(listed)) + PAST * (listed[:, 0] < 0)).argsort(axis=0)
    return np.take_along_axis(listed, order[:, None], axis=0)[: spec.max_hyps]


def _tree_shapes(numbers: Numbers, most: int, count: int) -> tuple[Ints, Bools, Bools]:
    """The node that each node is attached to, whether as its cause, and whether it leads to node 0.

    Nodes 0 and 1 of a tree are the effect and the cause of its first hypothesis. Of nodes 2 and 3,
    one is a cause and the other an effect of these. Of nodes 4 and 5, one is a cause of that cause
    and the other an effect of node 2 or 3. Each later node is a cause or an effect of any of these.
    """
    upon = (numbers.take(most) * np.arange(most)[:, None]).astype(np.int64)
    upon[2:4] = (numbers.take(2) * 2).astype(np.int64)
    as_cause = numbers.take(most) < 0.5
    as_cause[1], as_cause[3], as_cause[5] = True, ~as_cause[2], ~as_cause[4]
    # Of nodes 4 and 5, the cause goes to whichever of 2 and 3 is a cause, the other to either.
    causing = np.where(as_cause[2], 2, 3)
    either = 2 + numbers.below(np.full(count, 2))
    upon[4:6] = np.where(as_cause[4:6], causing, either)
    leads = np.ones((most, count), dtype=np.bool_)
    for node in range(2, most):
        leads[node] = as_cause[node] & leads[upon[node], np.arange(count)]
    return upon, as_cause, leads


def _nodes(spec: VariablesSpec, numbers: Numbers, target: Ints, size: Ints, most: int) -> Ints:
    """The observed variables at the nodes of both trees: (trees, nodes, items)."""
    variable = np.arange(spec.max_vars)[:, None]
    free = (variable < 2 * size) & (variable != target[0]) & (variable != target[1])
    others = (numbers.take(spec.max_vars) + np.where(free, 0.0, PAST)).argsort(axis=0)
    # Node by node, since a small item has only as many as its trees need.
    names = np.empty((2, most, target.shape[1]), dtype=np.int64)
    names[0, :2], names[1, :2] = target[::-1], others[:2]
    names[0, 2:], names[1, 2:] = others[2 : 2 * most - 2 : 2], others[3 : 2 * most - 1 : 2]
    return names


def _attached(numbers: Numbers, trees: Trees, layout: Ints, most_unobserved: int) -> Ints:
    """The hypotheses of unobserved variables: (variables, 2, items); some change `lines` as well.

    Each causes a node of its tree, or is put into the line of that node; never into one line with
    the first two nodes. Which of these does not depend on its role.
    """
    nodes, upon, leads, names, lines = trees
    size, unobserved, believed = layout
    most, count = leads.shape
    place, item = np.arange(most)[:, None], np.arange(count)
    possible = (place >= 2) & (place < nodes)
    within = possible & (upon >= 2)
    both = (within & leads).any(axis=0) & (within & ~leads).any(axis=0)
    found = np.full((most_unobserved, 2, count), -1)
    for number in range(most_unobserved):
        role, between, *keys = numbers.take(2 + most)
        control = number < believed
        tree = np.where(control | (role < IN_TREE), 0, 1)
        above = control | (role >= (1 + IN_TREE) / 2)
        inside = both & (between < 0.5)
        fits = np.where(inside, within, possible) & (leads == above)
        node = np.where(fits, keys, -1.0).argmax(axis=0)
        variable = 2 * size + number
        effect = np.where(inside, lines[node - 1, tree, 1, item], names[tree, node, item])
        exists = number < unobserved
        found[number] = np.where(exists, [variable, effect], -1)
        changed = item[inside & exists]
        lines[node[changed] - 1, tree[changed], 1, changed] = variable[changed]
    return found
