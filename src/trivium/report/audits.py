"""What audits say about items: stored beside each benchmark as audits.json, shown with results.

`trivium audit NAME --keep` stores the audit of one spec; `make audits` those of all presets.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from trivium.core.benchmark import AnyBenchmark
from trivium.core.files import atomic_write
from trivium.core.probes import Audit
from trivium.core.spec import spec_from_dict, spec_to_dict

CAUGHT, NOT_AUDITED = "caught", "not audited"


def audit_verdict(benchmark: AnyBenchmark, fields: Mapping[str, Any] | None) -> str:
    """Whether the items of this spec passed an audit, were caught, or were not audited."""
    kept = _find(benchmark, fields)
    if kept is None:
        return CAUGHT if _keeps_leaks(benchmark, fields) else NOT_AUDITED
    return str(kept["verdict"])


def audit_sentence(benchmark: AnyBenchmark, fields: Mapping[str, Any] | None) -> str:
    """What is known about shortcuts in the items of this spec."""
    kept = _find(benchmark, fields)
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


def keep_audit(benchmark: AnyBenchmark, spec: Any, audit: Audit, **labels: Any) -> dict[str, Any]:
    """The verdict and the strongest cue of an audit, stored beside the benchmark."""
    kept = audit.to_dict() | labels
    cues = kept.pop("cues")
    kept["tried"] = len(cues)
    kept["strongest"] = next(cue for cue in cues if cue["name"] == kept["strongest"])
    _stored.cache_clear()  # benchmarks of one package share a file
    stored = _stored(benchmark)
    stored[_key(benchmark, spec_to_dict(spec))] = kept
    with atomic_write(audits_path(benchmark)) as file:
        file.write(orjson.dumps(stored, option=orjson.OPT_INDENT_2) + b"\n")
    return kept


def audits_path(benchmark: AnyBenchmark) -> Path:
    """The file beside the benchmark's module that holds its audits."""
    return Path(str(sys.modules[type(benchmark).__module__].__file__)).with_name("audits.json")


def _find(benchmark: AnyBenchmark, fields: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The stored audit of a spec."""
    return None if fields is None else _stored(benchmark).get(_key(benchmark, fields))


@cache
def _stored(benchmark: AnyBenchmark) -> dict[str, Any]:
    """All audits stored beside a benchmark."""
    path = audits_path(benchmark)
    return dict(orjson.loads(path.read_bytes())) if path.exists() else {}


def _key(benchmark: AnyBenchmark, fields: Mapping[str, Any]) -> str:
    """The key of a stored audit: the benchmark and every field that its items depend on."""
    spec = spec_to_dict(spec_from_dict(benchmark.spec_type, fields))
    spec.pop("size", None)  # how many items a dataset has does not change an item
    return f"{benchmark.name} {orjson.dumps(spec, option=orjson.OPT_SORT_KEYS).decode()}"


def _keeps_leaks(benchmark: AnyBenchmark, fields: Mapping[str, Any] | None) -> bool:
    """Whether the spec is that of a preset that keeps the leaks of the original."""
    spec = None if fields is None else spec_from_dict(benchmark.spec_type, fields)
    return any(benchmark.presets[name] == spec for name in benchmark.leaky_presets)
