"""Today's items, pinned: digests of the first items of every preset and of some other specs.

`python -m tests.golden.test_items` writes items.json from the code as it is.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import orjson
import pytest

from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.core.files import dump_line
from trivium.core.spec import spec_from_dict

PINNED = Path(__file__).with_name("items.json")
SEED, ITEMS = 7, 20
# Parts of the generators that no preset reaches.
OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("nhop_implicit", {"hops": 8, "m": 20, "ablate_inner": True}),
    ("nhop_explicit", {"block_head_balance": True}),
    ("nhop_explicit", {"path_collision_stress": True, "hops": 12, "L": 12, "k": 3}),
    ("nhop_explicit", {"chain_only_ordered": True, "alias_heads_per_block": True, "k": 11}),
    ("nhop_explicit", {"budget_lines": 81}),
    ("nhop_explicit", {"budget_tokens": 1500, "hops": 6, "facts_until": "ladder"}),
    (
        "identifying_variables",
        {"design": "original", "min_vars": 10, "max_vars": 10, "graph": "dag", "max_hyps": 3},
    ),
    ("identifying_variables", {"design": "original", "balance": "none", "max_vars": 30}),
    ("identifying_variables", {"design": "original", "max_vars": 15, "snr": 3.0}),
    ("identifying_variables", {"thinned": 0.5, "observations": 50, "max_vars": 30}),
    ("blicket_prompts", {"stimuli": "paper"}),
    ("blicket_prompts", {"stimuli": "paper_two_shot"}),
    ("blicket_prompts", {"evidence": "full", "objects": 5, "placements": "paper"}),
    ("blicket_prompts", {"objects": 5, "trials": 9}),
    ("blicket_game", {"objects": 4, "rules": ("parity", "inhibitor"), "noise": 0.2}),
]


def digest(name: str, spec: Any) -> str:
    """A hash of item rows, each also reordered; of what was drawn, not of the spec's fields."""
    benchmark = get_benchmark(name)
    found = hashlib.sha256()
    for item in benchmark.generate(spec, SEED, 0, ITEMS):
        for trial in (0, 1):
            row = dict(benchmark.to_row(benchmark.reshuffle(item, trial)))
            del row["spec"]
            found.update(dump_line(row))
    return found.hexdigest()[:16]


def specs() -> dict[str, tuple[str, Any]]:
    """The benchmark and the spec of everything that is pinned, by a readable label."""
    found = {
        f"{name} {preset}": (name, spec)
        for name in benchmark_names()
        for preset, spec in get_benchmark(name).presets.items()
    }
    for name, fields in OTHERS:
        changes = " ".join(f"{key}={value}" for key, value in fields.items())
        found[f"{name} {changes}"] = (name, spec_from_dict(get_benchmark(name).spec_type, fields))
    return found


SPECS = specs()


def test_everything_is_pinned() -> None:
    assert list(orjson.loads(PINNED.read_bytes())) == list(SPECS), (
        "a preset was added, removed or renamed: run `python -m tests.golden.test_items`"
    )


@pytest.mark.parametrize("label", SPECS)
def test_items(label: str) -> None:
    pinned = orjson.loads(PINNED.read_bytes())[label]
    assert digest(*SPECS[label]) == pinned, (
        f"an item of {label} changed, so that results on it cannot be compared with earlier ones. "
        "If that is intended, say so in CHANGELOG.md and run `python -m tests.golden.test_items`"
    )


if __name__ == "__main__":
    digests = {label: digest(*found) for label, found in SPECS.items()}
    PINNED.write_bytes(orjson.dumps(digests, option=orjson.OPT_INDENT_2) + b"\n")
