"""Items in files: the original's public schema, with the table and the telling added."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trivium.benchmarks.variables.generate import Links, table_words
from trivium.benchmarks.variables.item import WORDINGS, Gold, Term, VariablesItem, gold, item_id
from trivium.benchmarks.variables.spec import LEAST_SNR, MAX_SNR, MAX_VARS
from trivium.benchmarks.variables.tables import RANGE, Table, observe
from trivium.benchmarks.variables.trees import Edge, topological
from trivium.core.benchmark import Origin
from trivium.core.errors import require
from trivium.core.streams import Stream, stream_key, word_block

ROOT = {"name": "random_ints", "kwargs": {"min_v": -RANGE, "max_v": RANGE}}
SHAPES = ("linear", "quadratic")
SUM = "sum"  # a child of several parents, which the original does not have
ROWS = 20  # of a table that is drawn for an item without one
NAME = re.compile(r"x_[0-9]{1,9}")


def to_row(item: VariablesItem) -> dict[str, Any]:
    """The item as it stands in a file."""
    names, world = item.names, item.world
    metadata: dict[str, Any] = {}
    successors: dict[str, list[str]] = {name: [] for name in names}
    for number, name in enumerate(names):
        methods = []
        for parent, squared, grad, bias in item.terms[number]:
            successors[names[parent]].append(name)
            methods.append(
                {
                    "name": SHAPES[squared],
                    "input_x": names[parent],
                    "kwargs": {"grad": grad, "bias": bias},
                }
            )
        metadata[name] = {
            "gen_method": _method(methods),
            "corrs": [names[other] for other in world.partners(number)],
            "extra": {"sparsity_rate": item.rates[number]},
        }
    believed: dict[str, list[str]] = {name: [] for name in names}
    for cause, effect in item.hypotheses:
        believed[names[cause]].append(names[effect])
    label, num_not_ctrl = gold_label(item, gold(item, world))
    row = {
        "id": item.id,
        "variable_metadata": metadata,
        "hypotheses": believed,
        "target_hypothesis": [names[item.target[0]], names[item.target[1]]],
        "sample_metadata": {"snr": item.snr},
        "causal_graph": successors,
        "gold_label": label,
        "num_not_ctrl": num_not_ctrl,
        "telling": [
            [names[cause], names[effect], wording]
            for (cause, effect), wording in zip(item.hypotheses, item.wording, strict=True)
        ],
        "table": np.ascontiguousarray(item.table.values),
    }
    if item.origin is not None:
        row |= {"spec": item.origin.spec, "seed": item.origin.seed, "index": item.origin.index}
    return row


def _method(methods: list[dict[str, Any]]) -> dict[str, Any]:
    if not methods:
        return ROOT
    if len(methods) == 1:
        return methods[0]
    inputs = [method["input_x"] for method in methods]
    return {"name": SUM, "input_x": inputs, "kwargs": {"terms": methods}}


def gold_label(item: VariablesItem, answer: Gold) -> tuple[dict[str, Any], int | None]:
    """The perfect answer in the schema's words, and how many variables are not controlled."""
    if not answer.valid:
        label: dict[str, Any] = {
            "valid_hypothesis": False,
            "ind_var": None,
            "dep_var": None,
            "ctrl_vars": None,
        }
        return label, None
    label = {
        "valid_hypothesis": True,
        "ind_var": item.names[item.target[0]],
        "dep_var": item.names[item.target[1]],
        "ctrl_vars": [item.names[number] for number in answer.control],
    }
    return label, len(item.names) - len(answer.control)


def from_row(row: Mapping[str, Any], number: int) -> VariablesItem:
    """The item in a row, made here or elsewhere; its gold label is derived anew."""
    row = {key: value for key, value in row.items() if value is not None}  # null is missing
    name = row.get("id", item_id(number))
    require(isinstance(name, str) and bool(name), f"id must be text, got {name!r}")
    metadata = _mapping(row, "variable_metadata")
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
        # A file from elsewhere lists variables in an order that gives answers away.
        stream.shuffle(names)
    places = {name: place for place, name in enumerate(names)}
    terms = [_terms(metadata[name], name, places) for name in names]
    parents = [[term[0] for term in own] for own in terms]
    require(len(topological(parents)) == len(names), "the causal graph must have no cycles")
    rates = [_rate(metadata[name], name) for name in names]
    hypotheses, wording = _telling(row, places, stream)
    target = row.get("target_hypothesis")
    ok = isinstance(target, list) and len(target) == 2 and target[0] != target[1]
    require(ok, f"target_hypothesis must be [independent, dependent], got {target!r}")
    edge = (_place(target[0], places), _place(target[1], places))  # type: ignore[index]
    require(edge in hypotheses, f"target_hypothesis {target!r} must be one of the hypotheses")
    snr = _mapping(row, "sample_metadata").get("snr") if "sample_metadata" in row else None
    ok = snr is None or (_is_number(snr) and LEAST_SNR <= snr <= MAX_SNR)
    require(ok, f"snr must be null or in {LEAST_SNR}..{MAX_SNR} dB, got {snr!r:.80}")
    table = _table(row, len(names)) if "table" in row else None
    if table is None:
        table = _drawn(terms, rates, snr, stream_key("variables table", description))
    item = VariablesItem(
        str(name),
        tuple(names),
        terms,
        rates,
        edge,
        hypotheses,
        wording,
        snr,
        table,
        _origin(row),
    )
    _check_stored(row, item)
    return item


def _mapping(row: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = row.get(key)
    require(isinstance(value, dict), f"{key} must be an object, got {value!r:.80}")
    return dict(value or {})


def _is_number(value: Any) -> bool:
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    return known and abs(value) <= sys.float_info.max  # not isfinite: an int may be too large


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _place(name: Any, places: Mapping[str, int]) -> int:
    require(isinstance(name, str) and name in places, f"unknown variable {name!r}")
    return places[name]


def _description(row: Mapping[str, Any], metadata: Mapping[str, Any]) -> list[Any]:
    """What an item without a table is drawn from: all that it is, and nothing of its order."""
    methods = {
        name: [part.get("gen_method"), part.get("extra")] if isinstance(part, dict) else None
        for name, part in metadata.items()
    }
    keys = ("hypotheses", "target_hypothesis", "sample_metadata")
    return [methods, *(row.get(key) for key in keys)]


def _terms(metadata: Any, name: str, places: Mapping[str, int]) -> list[Term]:
    """What a variable's parents add to it, from its gen_method."""
    method = metadata.get("gen_method") if isinstance(metadata, dict) else None
    where = f"gen_method of {name}"
    require(isinstance(method, dict), f"{where} must be an object, got {method!r:.80}")
    assert isinstance(method, dict)
    kwargs = method.get("kwargs")
    require(isinstance(kwargs, dict), f"{where} must have kwargs, got {kwargs!r:.80}")
    assert isinstance(kwargs, dict)
    if method.get("name") == SUM:
        parts = kwargs.get("terms")
        ok = isinstance(parts, list) and all(isinstance(part, dict) for part in parts)
        require(ok and bool(parts), f"{where}: terms must be a list of gen_methods")
        return [
            term
            for part in parts or []
            for term in _terms({"gen_method": part}, f"{name} (a term)", places)
        ]
    if "input_x" not in method or method["input_x"] is None:
        require(
            dict(method, input_x=None) == dict(ROOT, input_x=None),
            f"{where} must be {ROOT} or have an input_x, got {method!r:.120}",
        )
        return []
    shape = method.get("name")
    require(shape in SHAPES, f"{where}: name must be linear or quadratic, got {shape!r}")
    numbers = [kwargs.get("grad"), kwargs.get("bias")]
    ok = all(isinstance(value, int) and not isinstance(value, bool) for value in numbers)
    require(
        ok and numbers[0] != 0 and all(abs(value) <= 10**6 for value in numbers if value),
        f"{where}: grad (not 0) and bias must be whole numbers, got {kwargs!r:.80}",
    )
    return [[_place(method["input_x"], places), SHAPES.index(str(shape)), *numbers]]  # type: ignore[list-item]


def _rate(metadata: Mapping[str, Any], name: str) -> float:
    extra = metadata.get("extra")
    extra = {} if extra is None else extra
    rate: Any = extra.get("sparsity_rate", 0) if isinstance(extra, dict) else None
    require(
        _is_number(rate) and 0 <= rate <= 1,
        f"sparsity_rate of {name} must be a number in 0..1, got {rate!r}",
    )
    return float(rate)


def _telling(
    row: Mapping[str, Any], places: Mapping[str, int], stream: Stream
) -> tuple[list[Edge], list[int]]:
    """The hypotheses in the order of print with their wording, drawn where the row has none."""
    edges = []
    for cause, effects in _mapping(row, "hypotheses").items():
        require(isinstance(effects, list), f"hypotheses of {cause} must be a list, got {effects!r}")
        edges += [(_place(cause, places), _place(effect, places)) for effect in effects]
    require(
        bool(edges) and len(set(edges)) == len(edges) and all(a != b for a, b in edges),
        "hypotheses must be different edges between different variables, and not be empty",
    )
    if "telling" not in row:
        # Sorted by name first: the file's order and the shuffled places must not matter.
        names = list(places)
        edges.sort(key=lambda edge: (names[edge[0]], names[edge[1]]))
        stream.shuffle(edges)
        return edges, [stream.below(len(WORDINGS)) for _ in edges]
    told = row["telling"]
    ok = isinstance(told, list) and all(isinstance(line, list) and len(line) == 3 for line in told)
    require(ok, "telling must be a list of [independent, dependent, wording]")
    order = [(_place(line[0], places), _place(line[1], places)) for line in told]
    require(sorted(order) == sorted(edges), "telling must name every hypothesis once")
    wording = [line[2] for line in told]
    ok = all(isinstance(number, int) and 0 <= number < len(WORDINGS) for number in wording)
    require(ok, f"wordings of telling must be in 0..{len(WORDINGS) - 1}, got {wording!r}")
    return order, wording


def _table(row: Mapping[str, Any], columns: int) -> Table:
    rows = row["table"]
    ok = isinstance(rows, list) and len(rows) >= 2 and len(rows) % 2 == 0
    require(ok, "table must be a list of rows, an even number of them")
    for line in rows:
        ok = isinstance(line, list) and len(line) == columns
        ok = ok and all(value is None or _is_number(value) for value in line)
        require(ok, f"table must have {columns} numbers or nulls in each row")
    return Table(np.array(rows, dtype=np.float64))


def _drawn(
    terms: Sequence[Sequence[Term]], rates: Sequence[float], snr: float | None, key: int
) -> Table:
    """The table of an item that came without one."""
    order = topological([[term[0] for term in own] for own in terms])
    place = {number: row for row, number in enumerate(order)}
    slots = max(1, *map(len, terms))
    parts = np.zeros((4, slots, len(terms), 1), dtype=np.int64)
    parts[0] = -1
    for row, number in enumerate(order):
        for slot, (parent, *function) in enumerate(terms[number]):
            parts[:, slot, row, 0] = [place[parent], *function]
    links = Links(parts[0], parts[1] == 1, parts[2], parts[3])
    lost = np.array([[rates[number]] for number in order])
    words = word_block(key, 0, 1, table_words(len(terms), ROWS, snr is not None))
    values = observe(links, lost, words, ROWS, snr)[0]
    return Table(values[:, [place[number] for number in range(len(terms))]])


def _check_stored(row: Mapping[str, Any], item: VariablesItem) -> None:
    """What a file says about an item must be what follows from the rest of it."""
    world = item.world
    seen = {name for name, known in zip(item.names, item.seen, strict=True) if known}
    for number, name in enumerate(item.names):
        stored = row["variable_metadata"][name].get("corrs")
        if stored is None:
            continue
        require(_are_names(stored), f"corrs of {name} must be a list of names, got {stored!r:.80}")
        derived = {item.names[other] for other in world.partners(number)}
        told = {other for other in stored if other in seen} if name in seen else set()
        require(told == derived, f"corrs of {name} disagree with the causal graph")
    if "causal_graph" in row:
        graph = _mapping(row, "causal_graph")
        for above, below in graph.items():
            where = f"causal_graph of {above}"
            require(_are_names(below), f"{where} must be a list of names, got {below!r:.80}")
        stored_edges = {(above, name) for above, below in graph.items() for name in below}
        edges = {
            (item.names[parent], name)
            for name, above in zip(item.names, item.parents, strict=True)
            for parent in above
        }
        require(stored_edges == edges, "causal_graph disagrees with the gen_methods")
    label, num_not_ctrl = gold_label(item, gold(item, world))
    stored_label = row.get("gold_label")
    if stored_label is not None:
        require(
            isinstance(stored_label, dict) and _comparable(stored_label) == _comparable(label),
            f"gold_label is {stored_label!r}, but the decision trees say {label!r}",
        )
    if "num_not_ctrl" in row:
        require(
            row["num_not_ctrl"] == num_not_ctrl,
            f"num_not_ctrl is {row['num_not_ctrl']!r}, but the decision trees say {num_not_ctrl}",
        )


def _comparable(label: Mapping[str, Any]) -> dict[str, Any]:
    """A gold label whose control variables stand in no order."""
    control = label.get("ctrl_vars")
    known = bool(control) and _are_names(control)
    return dict(label, ctrl_vars=sorted(control) if known and control else control or None)


def _origin(row: Mapping[str, Any]) -> Origin | None:
    spec, seed, index = row.get("spec"), row.get("seed"), row.get("index")
    if isinstance(spec, dict) and isinstance(seed, int) and isinstance(index, int):
        return Origin(spec, seed, index)
    return None
