"""Items as rows of files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trivium.benchmarks.blicket.game.generate import GameItem
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.benchmarks.blicket.inference.hypotheses import LETTERS, parse
from trivium.core.benchmark import Origin
from trivium.core.errors import require
from trivium.core.spec import spec_from_dict, spec_to_dict


def to_row(item: GameItem) -> dict[str, Any]:
    """The item as a row of a file."""
    truth = item.truth
    fields = spec_to_dict(item.spec)
    del fields["mixed"]  # the fields are those of this item
    shown = {"demonstrations": fields.pop("demonstrations"), "swapped": item.swapped}
    row = {
        "id": item.id,
        **fields,
        **({} if item.spec.demonstrations == "none" else shown),
        "machine": truth,
        "flips": item.flips,
        "listing": item.listing,
        "answer": truth,
    }
    if item.origin is not None:
        row |= {"spec": item.origin.spec, "seed": item.origin.seed, "index": item.origin.index}
    return row


def from_row(row: Mapping[str, Any], number: int) -> GameItem:
    """The item of a row, which may come from elsewhere."""
    name = row.get("id")
    require(isinstance(name, str) and bool(name), "id must be text")
    fields = {key: row[key] for key in spec_to_dict(GameSpec()) if key in row}
    spec = spec_from_dict(GameSpec, fields)
    require(not spec.mixed, "mixed must be false: an item states its own objects, rules and tests")
    truth = row.get("machine")
    require(isinstance(truth, str), f"machine must be text such as conjunctive:AB, got {truth!r}")
    machine = replace(parse(str(truth)), noise=spec.noise)
    require(machine in spec.space.hypotheses, f"machine {truth!r} is not one of those allowed")
    answer = row.get("answer", truth)
    require(answer == truth, f"answer is {answer!r}, but the machine is {truth!r}")
    flips = row.get("flips", [False] * spec.tests)
    valid = isinstance(flips, list) and all(isinstance(flip, bool) for flip in flips)
    require(valid and len(flips) == spec.tests, f"flips must be a list of {spec.tests} booleans")
    require(spec.noise > 0 or not any(flips), "flips must all be false without noise")
    objects = LETTERS[: spec.objects]
    listing = row.get("listing", objects)
    require(
        isinstance(listing, str) and sorted(listing) == sorted(objects),
        f"listing must hold each of {objects} once, got {listing!r}",
    )
    swapped = row.get("swapped", False)
    require(isinstance(swapped, bool), f"swapped must be true or false, got {swapped!r}")
    return GameItem(str(name), spec, machine, tuple(flips), listing, Origin.from_row(row), swapped)
