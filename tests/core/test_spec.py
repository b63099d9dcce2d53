"""Specs from mappings and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trivium.benchmarks.nhop.spec import ExplicitSpec, ImplicitSpec, NhopView
from trivium.core.errors import MissingExtraError, UserError, import_extra
from trivium.core.spec import read_mapping, spec_from_dict


@pytest.mark.parametrize(
    ("kind", "values", "says"),
    [
        (ImplicitSpec, {"hopps": 4}, "unknown key 'hopps'; did you mean hops"),
        (ImplicitSpec, {"hops": "four"}, "hops must be a whole number, got 'four'"),
        (ImplicitSpec, {"hops": 4.5}, "hops must be a whole number, got 4.5"),
        (ImplicitSpec, {"hops": True}, "hops must be a whole number, got True"),
        (ImplicitSpec, {"ablate_inner": 1}, "ablate_inner must be true or false, got 1"),
        (ImplicitSpec, {"hops": None}, "hops must be a whole number, got None"),
        (ExplicitSpec, {"alias_prefix": 3}, "alias_prefix must be text, got 3"),
        (NhopView, {"mode": "loud"}, "mode must be one of direct, steps, free, got 'loud'"),
        (ImplicitSpec, {"m": 3}, "m must be in 4..1000, got 3"),
        (ImplicitSpec, {"m": 9, "M": 8}, "M must be at least m=9, got 8"),
        (ImplicitSpec, {"M": 10001}, "M must be in 1..10000 to fit id_width 4, got 10001"),
        (ImplicitSpec, {"id_width": 0}, "id_width must be in 1..9"),
        (ImplicitSpec, {"ablate_hop": 2}, "ablate_hop needs ablate_inner"),
        (ImplicitSpec, {"ablate_inner": True, "ablate_hop": 4}, "ablate_hop must be in 2..3"),
        (ImplicitSpec, {"hops": 3, "ablate_inner": True}, "ablate_inner needs hops of at least 4"),
        (ExplicitSpec, {"L": 5}, "L must be in 1..4, got 5"),
        (ExplicitSpec, {"k": 1}, "k must be in 2..1000, got 1"),
        (ExplicitSpec, {"k1": 1}, "k1 must be in 2..1000, got 1"),
        (ExplicitSpec, {"context_chains": -1}, "context_chains must be in 0..1000"),
        (ExplicitSpec, {"M": 10}, "M must be at least 17 for these chains and blocks, got 10"),
        (ExplicitSpec, {"k0": 3, "path_collision_stress": True}, "blocks of one size"),
        (ExplicitSpec, {"k0": 3, "block_head_balance": True}, "blocks of one size"),
        (ExplicitSpec, {"k": 9, "block_head_balance": True}, "context_chains of at least 8"),
        (ExplicitSpec, {"alias_prefix": "H_"}, "alias_prefix must be letters"),
        (ExplicitSpec, {"budget_lines": 5}, "budget_lines must be at least"),
    ],
)
def test_a_wrong_value_is_refused_with_a_sentence(
    kind: type[Any], values: dict[str, Any], says: str
) -> None:
    with pytest.raises(UserError, match=says):
        spec_from_dict(kind, values)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.toml", "hops = ", "Invalid value"),
        ("a.json", "{", "Expecting property name"),
        ("a.json", "[1]", "expected a table"),
        ("a.yaml", "hops: 4", "ends in .toml or .json"),
        ("a.json", "\udcff", "not UTF-8"),
    ],
)
def test_a_broken_file_is_refused_with_a_sentence(
    tmp_path: Path, name: str, text: str, says: str
) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UserError, match=says):
        read_mapping(path)


def test_toml_and_json_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("hops = 6\nM = 64\n")
    (tmp_path / "a.json").write_text('{"hops": 6, "M": 64}')
    specs = {spec_from_dict(ImplicitSpec, read_mapping(tmp_path / f"a.{kind}")) for kind in
             ("toml", "json")}  # fmt: skip
    assert specs == {ImplicitSpec(hops=6, M=64)}


def test_a_missing_extra_says_how_to_install_it() -> None:
    with pytest.raises(MissingExtraError, match=r"^nowhere is missing: pip install 'trivium\[x\]'"):
        import_extra("nowhere.deep", "x")
