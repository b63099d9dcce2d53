"""Items as rows of files: the original's public schema, with the table and the wording added."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trivium.benchmarks.variables.decision import Edge, decide, topological
from trivium.benchmarks.variables.generate import item_id
from trivium.benchmarks.variables.item import WORDINGS, Table, Term, VariablesItem
from trivium.benchmarks.variables.spec import MAX_SNR, MAX_VARS, MIN_SNR
from trivium.benchmarks.variables.table import RANGE, observe, words_needed
from trivium.core.benchmark import Origin
from trivium.core.errors import UserError, require
from trivium.core.streams import Stream, stream_key, word_block

ROOT = {"name": "random_ints", "kwargs": {"min_v": -RANGE, "max_v": RANGE}}
SHAPES = ("linear", "quadratic")
SUM = "sum"  # of several parents, which the original does not have
ROWS = 20  # of a table drawn for an item without one
NAME = re.compile(r"x_[0-9]{1,9}")


def to_row(item: VariablesItem) -> dict[str, Any]:
    """The item as a row of a file."""
    names, known = item.names, item.observed
    metadata = {}
    children: dict[str, list[str]] = {name: [] for name in names}
    for variable, name in enumerate(names):
        for parent, *_ in item.terms[variable]:
            children[names[parent]].append(name)
        metadata[name] = {
            "gen_method": _method(item.terms[variable], names),
            "corrs": [names[other] for other in known.partners(variable)],
            "extra": {"sparsity_rate": item.rates[variable]},
        }
    believed: dict[str, list[str]] = {name: [] for name in names}
    for cause, effect in item.hypotheses:
        believed[names[cause]].append(names[effect])
    valid, control = decide(known.correlated, item.target, item.hypotheses, range(len(names)))
    independent, dependent = (names[variable] for variable in item.target)
    row = {
        "id": item.id,
        "variable_metadata": metadata,
        "hypotheses": believed,
        "target_hypothesis": [independent, dependent],
        "sample_metadata": {"snr": item.snr},
        "causal_graph": children,
        "gold_label": {
            "valid_hypothesis": valid,
            "ind_var": independent if valid else None,
            "dep_var": dependent if valid else None,
            "ctrl_vars": [names[variable] for variable in control] if valid else None,
        },
        "num_not_ctrl": len(names) - len(control) if valid else None,
        "telling": [  # the order and the wording of the hypotheses in the prompt
            [names[cause], names[effect], wording]
            for (cause, effect), wording in zip(item.hypotheses, item.wording, strict=True)
        ],
        "table": np.ascontiguousarray(item.table.values),
    }
    if item.origin is not None:
        row |= {"spec": item.origin.spec, "seed": item.origin.seed, "index": item.origin.index}
    return row


def _method(terms: Sequence[Term], names: Sequence[str]) -> dict[str, Any]:
    """The gen_method that computes a variable from its parents."""
    methods: list[dict[str, Any]] = [
        {
            "name": SHAPES[squared],
            "input_x": names[parent],
            "kwargs": {"grad": grad, "bias": bias},
        }
        for parent, squared, grad, bias in terms
    ]
    if len(methods) <= 1:
        return methods[0] if methods else ROOT
    inputs = [method["input_x"] for method in methods]
    return {"name": SUM, "input_x": inputs, "kwargs": {"terms": methods}}


def content(item: VariablesItem) -> list[Any]:
    """What was drawn; a row takes ten times as long, as it also has what follows from it."""
    return [*item[:-2], np.ascontiguousarray(item.table.values)]


def from_row(row: Mapping[str, Any], number: int) -> VariablesItem:
    """The item in a row of ours or of the original; UserError if its stored answer is not right."""
    row = {key: value for key, value in row.items() if value is not None}  # null is missing
    name = row.get("id", item_id(number))
    require(isinstance(name, str) and bool(name), f"id must be text, got {name!r}")
    metadata = _object(row.get("variable_metadata"), "variable_metadata")
    names = list(metadata)
    require(
        2 <= len(names) <= MAX_VARS,
        f"variable_metadata must hold 2..{MAX_VARS} variables, got {len(names)}",
    )
    wrong = [name for name in names if NAME.fullmatch(name) is None]
    require(not wrong, f"variables must be named x_ and a number, got {wrong[:1]}")
    description = _description(row, metadata)
    stream = Stream(stream_key("variables row", description))
    if "table" not in row:
        # The original lists variables in an order that gives answers away.
        stream.shuffle(names)
    numbers = {name: variable for variable, name in enumerate(names)}
    terms = [_terms(metadata[name], name, numbers) for name in names]
    acyclic = len(topological([[term[0] for term in equation] for equation in terms])) == len(names)
    require(acyclic, "the causal graph must have no cycles")
    rates = [_rate(metadata[name], name) for name in names]
    hypotheses, wording = _hypotheses(row, numbers, stream)
    snr = _object(row.get("sample_metadata", {}), "sample_metadata").get("snr")
    ok = snr is None or (_is_number(snr) and MIN_SNR <= snr <= MAX_SNR)
    require(ok, f"snr must be null or in {MIN_SNR}..{MAX_SNR} dB, got {snr!r:.80}")
    item = VariablesItem(
        id=str(name),
        names=tuple(names),
        terms=terms,
        rates=rates,
        target=_target(row, numbers, hypotheses),
        hypotheses=hypotheses,
        wording=wording,
        snr=snr,
        table=(
            _table(row["table"], len(names))
            if "table" in row
            else _drawn(terms, rates, snr, stream_key("variables table", description))
        ),
        origin=Origin.from_row(row),
    )
    derived = to_row(item)
    for key in ("gold_label", "num_not_ctrl"):
        stored = row.get(key, derived[key])
        require(
            _unordered(stored) == _unordered(derived[key]),
            f"{key} is {stored!r}, but the decision trees say {derived[key]!r}",
        )
    return item


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UserError(f"{what} must be an object, got {value!r:.80}")
    return value


def _is_number(value: Any) -> bool:
    # Not isfinite, since an int may be too large; not isinstance, since a bool is an int.
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _number(name: Any, numbers: Mapping[str, int]) -> int:
    require(isinstance(name, str) and name in numbers, f"unknown variable {name!r}")
    return numbers[name]


def _description(row: Mapping[str, Any], metadata: Mapping[str, Any]) -> list[Any]:
    """The content of a row without its order, from which missing parts are drawn."""
    methods = {
        name: [part.get("gen_method"), part.get("extra")] if isinstance(part, dict) else None
        for name, part in metadata.items()
    }
    keys = ("hypotheses", "target_hypothesis", "sample_metadata")
    return [methods, *(row.get(key) for key in keys)]


def _terms(metadata: Any, name: str, numbers: Mapping[str, int]) -> list[Term]:
    """The terms of a variable, from its gen_method."""
    where = f"gen_method of {name}"
    method = _object(metadata.get("gen_method") if isinstance(metadata, dict) else None, where)
    kwargs = _object(method.get("kwargs"), f"kwargs in {where}")
    shape = method.get("name")
    if shape == SUM:
        parts: Any = kwargs.get("terms")
        require(isinstance(parts, list) and bool(parts), f"{where}: terms must be gen_methods")
        owner = f"{name} (a term)"
        return [term for part in parts for term in _terms({"gen_method": part}, owner, numbers)]
    if method.get("input_x") is None:
        require(
            dict(method, input_x=None) == dict(ROOT, input_x=None),
            f"{where} must be {ROOT} or have an input_x, got {method!r:.120}",
        )
        return []
    require(shape in SHAPES, f"{where}: name must be linear or quadratic, got {shape!r}")
    parameters: list[Any] = [kwargs.get("grad"), kwargs.get("bias")]
    whole = all(isinstance(value, int) and not isinstance(value, bool) for value in parameters)
    require(
        whole and parameters[0] != 0 and all(abs(value) <= 10**6 for value in parameters),
        f"{where}: grad (not 0) and bias must be whole numbers, got {kwargs!r:.80}",
    )
    return [[_number(method["input_x"], numbers), SHAPES.index(shape), *parameters]]


def _rate(metadata: Mapping[str, Any], name: str) -> float:
    extra = metadata.get("extra")
    extra = {} if extra is None else extra
    rate: Any = extra.get("sparsity_rate", 0) if isinstance(extra, dict) else None
    ok = _is_number(rate) and 0 <= rate <= 1
    require(ok, f"sparsity_rate of {name} must be a number in 0..1, got {rate!r}")
    return float(rate)


def _hypotheses(
    row: Mapping[str, Any], numbers: Mapping[str, int], stream: Stream
) -> tuple[list[Edge], list[int]]:
    """The hypotheses in printed order and their wording, drawn if the row has none."""
    edges = []
    for cause, effects in _object(row.get("hypotheses"), "hypotheses").items():
        require(isinstance(effects, list), f"hypotheses of {cause} must be a list, got {effects!r}")
        edges += [(_number(cause, numbers), _number(effect, numbers)) for effect in effects]
    require(
        bool(edges) and len(set(edges)) == len(edges) and all(a != b for a, b in edges),
        "hypotheses must be different edges between different variables, and not be empty",
    )
    if "telling" not in row:
        # Sorted by name first, so that the file's order does not matter.
        names = list(numbers)
        edges.sort(key=lambda edge: (names[edge[0]], names[edge[1]]))
        stream.shuffle(edges)
        return edges, [stream.below(len(WORDINGS)) for _ in edges]
    listed = row["telling"]
    ok = isinstance(listed, list) and all(isinstance(one, list) and len(one) == 3 for one in listed)
    require(ok, "telling must be a list of [independent, dependent, wording]")
    order = [(_number(cause, numbers), _number(effect, numbers)) for cause, effect, _ in listed]
    require(sorted(order) == sorted(edges), "telling must name every hypothesis once")
    wording = [one[2] for one in listed]
    ok = all(isinstance(number, int) and 0 <= number < len(WORDINGS) for number in wording)
    require(ok, f"wordings of telling must be in 0..{len(WORDINGS) - 1}, got {wording!r}")
    return order, wording


def _target(row: Mapping[str, Any], numbers: Mapping[str, int], hypotheses: list[Edge]) -> Edge:
    target: Any = row.get("target_hypothesis")
    ok = isinstance(target, list) and len(target) == 2 and target[0] != target[1]
    require(ok, f"target_hypothesis must be [independent, dependent], got {target!r}")
    edge = (_number(target[0], numbers), _number(target[1], numbers))
    require(edge in hypotheses, f"target_hypothesis {target!r} must be one of the hypotheses")
    return edge


def _table(rows: Any, columns: int) -> Table:
    ok = isinstance(rows, list) and len(rows) >= 2 and len(rows) % 2 == 0
    require(ok, "table must be a list of rows, an even number of them")
    ok = all(isinstance(line, list) and len(line) == columns for line in rows)
    cells = [value for line in rows for value in line if value is not None] if ok else []
    require(
        ok and all(map(_is_number, cells)),
        f"table must have {columns} numbers or nulls in each row",
    )
    return Table(np.array(rows, dtype=np.float64))


def _drawn(
    terms: Sequence[Sequence[Term]], rates: Sequence[float], snr: float | None, key: int
) -> Table:
    """The table of an item without one."""
    order = topological([[term[0] for term in equation] for equation in terms])
    position = {variable: row for row, variable in enumerate(order)}
    parts = np.zeros((4, max(1, *map(len, terms)), len(terms), 1), dtype=np.int64)
    parts[0] = -1
    for row, variable in enumerate(order):
        for slot, (parent, *function) in enumerate(terms[variable]):
            parts[:, slot, row, 0] = [position[parent], *function]
    lost = np.array([[rates[variable]] for variable in order])
    words = word_block(key, 0, 1, words_needed(len(terms), ROWS, snr is not None))
    values = observe(parts, lost, words, ROWS, snr)[0]
    return Table(values[:, [position[variable] for variable in range(len(terms))]])


def _unordered(label: Any) -> Any:
    """A gold label with sorted control variables, and null for none; other values unchanged."""
    if not isinstance(label, dict):
        return label
    control = label.get("ctrl_vars") or None
    if isinstance(control, list) and all(isinstance(name, str) for name in control):
        control = sorted(control)
    return label | {"ctrl_vars": control}
