"""The audits of the presets, made once with a version and shown beside results.

`make audits` writes them into audits.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from trivium.core.benchmark import AnyBenchmark
from trivium.core.probes import Audit
from trivium.core.spec import spec_from_dict, spec_to_dict

AUDITS = Path(__file__).with_name("audits.json")
CAUGHT, NOT_AUDITED = "caught", "not audited"


def audit_key(benchmark: AnyBenchmark, fields: Mapping[str, Any]) -> str:
    """What a stored audit is found by: the benchmark and all that its items depend on."""
    spec = spec_to_dict(spec_from_dict(benchmark.spec_type, fields))
    spec.pop("size", None)  # how many items a dataset has does not change an item
    return f"{benchmark.name} {orjson.dumps(spec, option=orjson.OPT_SORT_KEYS).decode()}"


def audit_verdict(benchmark: AnyBenchmark, fields: Mapping[str, Any] | None) -> str:
    """Whether the items of this spec passed an audit, were caught, or were not audited."""
    kept = None if fields is None else _stored().get(audit_key(benchmark, fields))
    if kept is None:
        return CAUGHT if _keeps_leaks(benchmark, fields) else NOT_AUDITED
    return str(kept["verdict"])


def audit_sentence(benchmark: AnyBenchmark, fields: Mapping[str, Any] | None) -> str:
    """What is known about shortcuts in the items of this spec."""
    kept = None if fields is None else _stored().get(audit_key(benchmark, fields))
    command = f"trivium audit {benchmark.name}"
    if kept is None and _keeps_leaks(benchmark, fields):
        return f"Audit: these items keep the shortcuts of the original on purpose ({command})."
    if kept is None:
        return f"Audit: these items were not audited; {command} tells whether they have shortcuts."
    strongest = kept["strongest"]
    reach = f"{strongest['value']:.3f} against {strongest['chance']:.3f} by chance"
    if kept["verdict"] == CAUGHT:
        why = ", kept on purpose as in the original" if kept["keeps_leaks_on_purpose"] else ""
        return f"Audit: these items have shortcuts{why}, such as {strongest['name']} ({reach})."
    return (
        f"Audit: passed. None of {kept['tried']} cues beats chance on {kept['items']:,} fresh "
        f"items, a learned probe among them; the nearest is {strongest['name']} ({reach})."
    )


def _keeps_leaks(benchmark: AnyBenchmark, fields: Mapping[str, Any] | None) -> bool:
    """Whether the spec is that of a preset that keeps the leaks of the original."""
    spec = None if fields is None else spec_from_dict(benchmark.spec_type, fields)
    return any(benchmark.presets[name] == spec for name in benchmark.leaky_presets)


def stored_audit(audit: Audit) -> dict[str, Any]:
    """The part of an audit that is kept: the verdict and the strongest cue."""
    found = audit.to_dict()
    cues = found.pop("cues")
    found["tried"] = len(cues)
    found["strongest"] = next(cue for cue in cues if cue["name"] == found["strongest"])
    return found


@cache
def _stored() -> dict[str, Any]:
    """The audits by key."""
    found: dict[str, Any] = orjson.loads(AUDITS.read_bytes())
    return found
