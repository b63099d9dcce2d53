"""Files in the original's schema: read, written, checked, refused."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pytest

from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.generate import generate
from trivium.benchmarks.variables.rows import from_row, to_row
from trivium.benchmarks.variables.spec import PRESETS, RENDERERS, VariablesSpec, view_of
from trivium.core.errors import UserError
from trivium.core.files import dump_line

OURS = ("id", "telling", "table", "spec", "seed", "index")
# A sample as the original writes it, made by hand: x_1111 -> x_2222 -> x_3333 (unobserved),
# x_4444 alone. x_3333 is believed to cause x_2222 through x_4444, so it is to be controlled.
BY_HAND: dict[str, Any] = {
    "variable_metadata": {
        "x_1111": {
            "gen_method": {"name": "random_ints", "kwargs": {"min_v": -100, "max_v": 100}},
            "corrs": ["x_2222"],
            "extra": {"sparsity_rate": 0},
        },
        "x_2222": {
            "gen_method": {
                "name": "quadratic",
                "input_x": "x_1111",
                "kwargs": {"grad": -3, "bias": 40},
            },
            "corrs": ["x_1111"],
            "extra": {"sparsity_rate": 0.4172},
        },
        "x_3333": {
            "gen_method": {"name": "linear", "input_x": "x_2222", "kwargs": {"grad": 2, "bias": 0}},
            "corrs": [],
            "extra": {"sparsity_rate": 0.8123},
        },
        "x_4444": {
            "gen_method": {"name": "random_ints", "kwargs": {"min_v": -100, "max_v": 100}},
            "corrs": [],
            "extra": {"sparsity_rate": 0.8},
        },
    },
    "hypotheses": {
        "x_1111": ["x_2222"],
        "x_2222": [],
        "x_3333": ["x_4444"],
        "x_4444": ["x_2222"],
    },
    "target_hypothesis": ["x_1111", "x_2222"],
    "sample_metadata": {"snr": None},
    "causal_graph": {"x_1111": ["x_2222"], "x_2222": ["x_3333"], "x_3333": [], "x_4444": []},
    "gold_label": {
        "valid_hypothesis": True,
        "ind_var": "x_1111",
        "dep_var": "x_2222",
        "ctrl_vars": ["x_3333"],
    },
    "num_not_ctrl": 3,
}


def original(item: Any) -> dict[str, Any]:
    """One of our rows as the original would have written it: no id, no table."""
    row: dict[str, Any] = orjson.loads(dump_line(to_row(item)))
    return {key: value for key, value in row.items() if key not in OURS}


def test_a_row_of_the_original_is_read() -> None:
    item = from_row(BY_HAND, 17)
    assert item.id == "IV-000017"
    assert item.origin is None
    assert VARIABLES.gold(item).control == ("x_3333",)
    assert item.table.values.shape == (20, 4)
    again = from_row(BY_HAND, 17)
    assert again == item
    for renderer in RENDERERS:
        assert VARIABLES.render(again, view_of(renderer)) == VARIABLES.render(
            item, view_of(renderer)
        )
    lost = np.isnan(item.table.values).sum(axis=0)
    by_name = dict(zip(item.names, lost.tolist(), strict=True))
    assert by_name == {"x_1111": 0, "x_2222": 9, "x_3333": 17, "x_4444": 16}


def test_the_order_of_a_file_from_elsewhere_does_not_show() -> None:
    """The original lists variables in topological order, which gives answers away."""
    rows = [original(item) for item in generate(VariablesSpec(), 3, 0, 60)]
    kept = sum(from_row(row, 0).names == tuple(row["variable_metadata"]) for row in rows)
    assert kept == 0
    for row in rows[:10]:
        turned = dict(row)
        turned["hypotheses"] = dict(reversed(row["hypotheses"].items()))
        turned["variable_metadata"] = row["variable_metadata"]
        assert from_row(turned, 0) == from_row(row, 0)


def test_hypotheses_of_a_file_from_elsewhere_are_listed_in_any_order_and_wording() -> None:
    """Three hypotheses are in the order of their names in a sixth of the files, by chance."""
    ordered, files = 0, 0
    wordings: set[int] = set()
    for item in generate(PRESETS["original-ctrl"], 3, 0, 900):
        if len(item.hypotheses) == 3:
            read = from_row(original(item), 0)
            listed = [(read.names[cause], read.names[effect]) for cause, effect in read.hypotheses]
            ordered += listed == sorted(listed)
            files += 1
            wordings |= set(read.wording)
    assert files > 200
    assert 0.08 * files < ordered < 0.26 * files
    assert wordings == {0, 1, 2, 3}


@pytest.mark.parametrize("preset", PRESETS)
def test_recomputed_gold_equals_the_stored_one(preset: str) -> None:
    for number, item in enumerate(generate(PRESETS[preset], 8, 0, 250)):
        row = original(item)
        read = from_row(row, number)
        assert VARIABLES.gold(read) == VARIABLES.gold(item)
        assert original(read)["gold_label"]["valid_hypothesis"] == item.gold.valid
        for key in ("gold_label", "num_not_ctrl"):
            row.pop(key)
        assert VARIABLES.gold(from_row(row, number)) == VARIABLES.gold(item)


def test_our_rows_have_every_key_of_the_original() -> None:
    for item in generate(PRESETS["balanced-hypotheses"], 8, 0, 40):
        row = original(item)
        assert set(row) == set(BY_HAND)
        for variable in row["variable_metadata"].values():
            assert set(variable) == {"gen_method", "corrs", "extra"}
        if not item.gold.valid:
            assert row["num_not_ctrl"] is None
            assert row["gold_label"]["ctrl_vars"] is None


@pytest.mark.parametrize(
    "path",
    ["num_not_ctrl", "sample_metadata", "causal_graph", "gold_label"]
    + [f"variable_metadata/x_1111/{key}" for key in ("extra", "corrs")],
)
def test_null_counts_as_missing(path: str) -> None:
    assert VARIABLES.gold(from_row(changed(path, None), 0)) == VARIABLES.gold(from_row(BY_HAND, 0))


def test_cyclic_beliefs_of_a_file_from_elsewhere_are_read() -> None:
    row = copy.deepcopy(BY_HAND)
    row["hypotheses"]["x_2222"] = ["x_3333"]
    assert VARIABLES.gold(from_row(row, 0)).control == ("x_3333",)


def changed(path: str, value: Any) -> dict[str, Any]:
    """The hand-made row with one value replaced."""
    row = copy.deepcopy(BY_HAND)
    at: Any = row
    *way, last = path.split("/")
    for step in way:
        at = at[step]
    at[last] = value
    return row


METHOD = "variable_metadata/x_2222/gen_method"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (changed("gold_label/ctrl_vars", []), "gold_label is"),
        (changed("gold_label/valid_hypothesis", False), "gold_label is"),
        (changed("gold_label/ind_var", "x_2222"), "gold_label is"),
        (changed("gold_label", 5), "gold_label is"),
        (changed("num_not_ctrl", 2), "num_not_ctrl is 2, but the decision trees say 3"),
        (changed("sample_metadata", {"snr": -1e5}), "snr must be null or in -100..200 dB"),
        (changed("sample_metadata", {"snr": 10**400}), "snr must be null or in -100..200 dB"),
        (changed("table", [[1, 2, 3, 10**400]] * 2), "table must have 4 numbers or nulls"),
        (changed("variable_metadata", {}), "variable_metadata must hold 2..30 variables, got 0"),
        (changed("variable_metadata", None), "variable_metadata must be an object"),
        (changed("variable_metadata/y", {}), "variables must be named x_ and a number"),
        (changed("variable_metadata/x_2222", 3), "gen_method of x_2222 must be an object"),
        (changed(METHOD, None), "gen_method of x_2222 must be an object"),
        (changed(f"{METHOD}/name", "cubic"), "name must be linear or quadratic, got 'cubic'"),
        (changed(f"{METHOD}/name", []), "name must be linear or quadratic"),
        (changed(f"{METHOD}/input_x", "x_9"), "unknown variable 'x_9'"),
        (changed(f"{METHOD}/input_x", ["x_1111"]), "unknown variable ['x_1111']"),
        (changed(f"{METHOD}/input_x", "x_3333"), "the causal graph must have no cycles"),
        (changed(f"{METHOD}/kwargs", {"grad": 0, "bias": 1}), "grad (not 0) and bias"),
        (changed(f"{METHOD}/kwargs", {"grad": 1.5, "bias": 1}), "grad (not 0) and bias"),
        (changed(f"{METHOD}/kwargs", {"grad": 10**30, "bias": 1}), "grad (not 0) and bias"),
        (changed(f"{METHOD}/kwargs", []), "kwargs in gen_method of x_2222 must be an object"),
        (changed("variable_metadata/x_2222/extra", {"sparsity_rate": 2}), "sparsity_rate of"),
        (changed("variable_metadata/x_2222/extra", []), "sparsity_rate of x_2222"),
        (changed("hypotheses", {}), "hypotheses must be different edges"),
        (changed("hypotheses/x_1111", "x_2222"), "hypotheses of x_1111 must be a list"),
        (changed("hypotheses/x_1111", ["x_1111"]), "hypotheses must be different edges"),
        (changed("hypotheses/x_1111", []), "must be one of the hypotheses"),
        (changed("target_hypothesis", ["x_1111"]), "target_hypothesis must be"),
        (changed("target_hypothesis", None), "target_hypothesis must be"),
        (changed("target_hypothesis", ["x_1111", {}]), "unknown variable {}"),
        (changed("sample_metadata", {"snr": "loud"}), "snr must be null or in"),
        (changed("table", [[1, 2, 3]]), "table must be a list of rows, an even number"),
        (changed("table", [[1, 2, 3], [1, 2, 3]]), "table must have 4 numbers or nulls"),
        (changed("table", [[1, 2, 3, "4"]] * 2), "table must have 4 numbers or nulls"),
        (changed("telling", [["x_1111", "x_2222", 0]]), "telling must name every hypothesis once"),
        (changed("telling", 3), "telling must be a list"),
        (changed("id", ""), "id must be text"),
        (changed("id", 7), "id must be text"),
    ],
)
def test_a_wrong_row_is_refused_in_a_sentence(row: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as problem:
        from_row(row, 0)
    assert message in str(problem.value)
    assert "\n" not in str(problem.value)


def test_a_row_in_plain_values() -> None:
    """What is written for the hand-made row is the row itself, plus what is ours."""
    row = to_row(from_row(BY_HAND, 3))
    assert set(row) == {*BY_HAND, "id", "telling", "table"}
    for key in ("target_hypothesis", "sample_metadata", "gold_label", "num_not_ctrl"):
        assert row[key] == BY_HAND[key]
    for key in ("variable_metadata", "hypotheses", "causal_graph"):
        assert row[key] == BY_HAND[key]
    assert sorted(line[:2] for line in row["telling"]) == [
        ["x_1111", "x_2222"],
        ["x_3333", "x_4444"],
        ["x_4444", "x_2222"],
    ]


def test_a_child_of_several_parents_is_written_as_a_sum() -> None:
    item = next(
        item
        for item in generate(replace(PRESETS["original-ctrl"], graph="dag"), 1, 0, 50)
        if max(map(len, item.terms)) == 2
    )
    child = max(range(len(item.names)), key=lambda variable: len(item.terms[variable]))
    (one, squared, grad, bias), (other, *_) = item.terms[child]
    method = to_row(item)["variable_metadata"][item.names[child]]["gen_method"]
    assert method["name"] == "sum"
    assert method["input_x"] == [item.names[one], item.names[other]]
    assert method["kwargs"]["terms"][0] == {
        "name": "quadratic" if squared else "linear",
        "input_x": item.names[one],
        "kwargs": {"grad": grad, "bias": bias},
    }
    assert from_row(original(item), 0).terms


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("variable_metadata/x_2222/extra", {"sparsity_rate": 1}),
        (f"{METHOD}/kwargs", {"grad": 10**6, "bias": -(10**6)}),
        ("sample_metadata", {"snr": -100}),
        ("sample_metadata", {"snr": 200}),
        ("table", [[1, 2, None, 4]] * 2),
    ],
)
def test_values_at_the_limits_are_read(path: str, value: Any) -> None:
    row = changed(path, value)
    for key in ("gold_label", "num_not_ctrl"):
        row.pop(key)
    for metadata in row["variable_metadata"].values():
        metadata.pop("corrs")
    from_row(row, 0)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("variable_metadata/x_2222/extra", {"sparsity_rate": 1.001}, "must be a number in 0..1"),
        ("variable_metadata/x_2222/extra", {"sparsity_rate": True}, "must be a number in 0..1"),
        (f"{METHOD}/kwargs", {"grad": 10**6 + 1, "bias": 1}, "grad (not 0) and bias"),
        (f"{METHOD}/kwargs", {"grad": True, "bias": 1}, "grad (not 0) and bias"),
        (f"{METHOD}", {"name": "sum", "kwargs": {"terms": []}}, "terms must be gen_methods"),
        (f"{METHOD}", {"name": "sum", "kwargs": {"terms": [3]}}, "must be an object, got 3"),
        ("sample_metadata", {"snr": 200.5}, "snr must be null or in -100..200 dB, got 200.5"),
        ("sample_metadata", {"snr": True}, "snr must be null or in -100..200 dB, got True"),
        ("table", [[1, 2, 3, 4]] * 3, "an even number"),
        ("table", [], "an even number"),
        ("table", [[1, 2, 3, True]] * 2, "table must have 4 numbers or nulls"),
        ("gold_label/ctrl_vars", [["x_3333"]], "gold_label is"),
        ("target_hypothesis", ["x_1111", "x_1111"], "target_hypothesis must be"),
    ],
)
def test_values_past_the_limits_are_refused(path: str, value: Any, message: str) -> None:
    with pytest.raises(UserError) as problem:
        from_row(changed(path, value), 0)
    assert message in str(problem.value)


@pytest.mark.parametrize(("wording", "ok"), [(0, True), (3, True), (4, False), (-1, False)])
def test_wordings_are_numbered_from_0_to_3(wording: int, ok: bool) -> None:
    row = to_row(from_row(BY_HAND, 0)) | {"table": [[1, 2, 3, 4]] * 2}
    row["telling"] = [[cause, effect, wording] for cause, effect, _ in row["telling"]]
    if ok:
        assert from_row(row, 0).wording == [wording] * 3
    else:
        with pytest.raises(UserError, match=r"wordings of telling must be in 0\.\.3"):
            from_row(row, 0)


def test_thirty_variables_are_read_and_thirty_one_are_refused() -> None:
    def row(variables: int) -> dict[str, Any]:
        root = {"name": "random_ints", "kwargs": {"min_v": -100, "max_v": 100}}
        return {
            "variable_metadata": {f"x_{n}": {"gen_method": root} for n in range(variables)},
            "hypotheses": {"x_0": ["x_1"]},
            "target_hypothesis": ["x_0", "x_1"],
        }

    assert len(from_row(row(30), 0).names) == 30
    assert from_row(row(2), 5).id == "IV-000005"
    for wrong in (1, 31):
        with pytest.raises(UserError, match=rf"2\.\.30 variables, got {wrong}"):
            from_row(row(wrong), 0)


def test_controls_may_be_stored_in_any_order_and_none_as_null() -> None:
    for item in generate(PRESETS["original-ctrl"], 8, 0, 20):
        row = original(item)
        row["gold_label"]["ctrl_vars"] = row["gold_label"]["ctrl_vars"][::-1] or None
        assert VARIABLES.gold(from_row(row, 0)) == VARIABLES.gold(item)
