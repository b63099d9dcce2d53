"""Today's items, pinned: digests of the first items of every preset and of some other specs.

`python -m tests.golden.test_items` writes items.json from the code as it is, for the benchmarks
that it is given or for all; it refuses changed items of a benchmark whose version is the old one.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.core.benchmark import AnyBenchmark
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
    ("blicket_prompts", {"objects": 10, "tests": 14}),
    ("blicket_game", {"objects": 4, "rules": ("parity", "inhibitor"), "noise": 0.2}),
]


def digest(benchmark: AnyBenchmark, spec: Any) -> str:
    """A hash of items and prompts, each also reordered; not of the spec's fields."""
    found = hashlib.sha256()
    for item in benchmark.generate(spec, SEED, 0, ITEMS):
        for trial in (0, 1):
            shown = benchmark.reshuffle(item, trial)
            row = {key: value for key, value in benchmark.to_row(shown).items() if key != "spec"}
            found.update(dump_line([row, benchmark.render(shown, benchmark.view_type())]))
    return found.hexdigest()[:16]


def specs(benchmark: AnyBenchmark) -> dict[str, Any]:
    """Every spec of a benchmark that is pinned, by a readable label."""
    found = dict(benchmark.presets)
    for fields in (fields for name, fields in OTHERS if name == benchmark.name):
        label = " ".join(f"{key}={value}" for key, value in fields.items())
        found[label] = spec_from_dict(benchmark.spec_type, fields)
    return found


def pins(name: str) -> dict[str, Any]:
    """The version of a benchmark, and the digests of its items."""
    benchmark = get_benchmark(name)
    digests = {label: digest(benchmark, spec) for label, spec in specs(benchmark).items()}
    return {"version": benchmark.version, "items": digests}


def problem(name: str, pinned: dict[str, Any], now: dict[str, Any]) -> str:
    """Why items cannot stay as they are under the version that they have; "" if they can."""
    old, new = pinned.get("items", {}), now["items"]
    changed = [label for label in old if label in new and new[label] != old[label]]
    if changed and now["version"] == pinned["version"]:
        return (
            f"items of {name} changed ({', '.join(changed)}), so that results on them cannot be "
            f"compared with earlier ones: raise the version of {name}, which is "
            f"{now['version']}, say so in CHANGELOG.md, and run `python -m tests.golden.test_items`"
        )
    return ""


@pytest.mark.parametrize("name", benchmark_names())
def test_items(name: str) -> None:
    pinned, now = orjson.loads(PINNED.read_bytes()).get(name, {}), pins(name)
    message = problem(name, pinned, now)
    assert not message, message
    assert pinned == now, (
        f"{name} has another version or other presets: run `python -m tests.golden.test_items`"
    )


def test_one_changed_character_asks_for_a_new_version(monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark = get_benchmark("nhop_implicit")
    before, render = pins("nhop_implicit"), benchmark.render
    monkeypatch.setattr(benchmark, "render", lambda *given: render(*given).replace(".", ";", 1))
    message = problem("nhop_implicit", before, pins("nhop_implicit"))
    assert "raise the version of nhop_implicit, which is" in message
    monkeypatch.setattr(type(benchmark), "version", "99.0")
    assert not problem("nhop_implicit", before, pins("nhop_implicit"))


def write(names: Sequence[str]) -> None:
    """Write items.json, with other benchmarks as they were."""
    held = orjson.loads(PINNED.read_bytes()) if PINNED.exists() else {}
    for name in names:
        now = pins(name)
        if message := problem(name, held.get(name, {}), now):
            sys.exit(message)
        held[name] = now
    ordered = {name: held[name] for name in benchmark_names() if name in held}
    PINNED.write_bytes(orjson.dumps(ordered, option=orjson.OPT_INDENT_2) + b"\n")


if __name__ == "__main__":
    write(sys.argv[1:] or benchmark_names())
