"""What audits say about items: stored beside each benchmark as audits.json, shown with results.

`trivium audit NAME --keep` stores the audit of one spec and view; `make audits` those of all
presets. What passed in one view was not audited in another, unless these differ in nothing but
text that is the same in all items, such as the form of the answer.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from trivium.auditing.results import ENGINE, MAX_ITEMS, Audit
from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import require
from trivium.core.files import write_json
from trivium.core.spec import spec_from_dict, spec_to_dict
from trivium.core.task import Task

CAUGHT, NOT_AUDITED = "caught", "not audited"
COMPARED = 12  # items whose texts are compared in two views


def audit_verdict(task: Task) -> str:
    """Whether the items of a task passed an audit, were caught, or were not audited."""
    if _keeps_leaks(task):
        return CAUGHT
    kept = stored_audit(task)
    return NOT_AUDITED if kept is None else str(kept["verdict"])


def audit_sentence(task: Task) -> str:
    """What is known about shortcuts in the items of a task."""
    kept, command = stored_audit(task), f"trivium audit {task.benchmark.name}"
    if _keeps_leaks(task):
        found = f"such as {kept['strongest']['name']}, {_reach(kept)}" if kept else command
        return f"Audit: {task.benchmark.why_leaky} ({found})."
    if kept is None:
        return f"Audit: this view was not audited; {command} tells whether it has shortcuts."
    strongest = f"{kept['strongest']['name']} ({_reach(kept)})"
    if kept["verdict"] == CAUGHT:
        return f"Audit: these items have shortcuts, such as {strongest}."
    return (
        f"Audit: passed. None of {kept['tried']} cues beats chance on {kept['items']:,} fresh "
        f"items, learned probes among them; the nearest is {strongest}."
    )


def _reach(kept: Mapping[str, Any]) -> str:
    strongest = kept["strongest"]
    return f"{strongest['value']:.3f} against {strongest['chance']:.3f} by chance"


def presets_with_shortcuts(benchmark: AnyBenchmark) -> list[str]:
    """The presets that are known to have shortcuts in one of the audited views."""
    views = benchmark.audit_views()
    return [
        name
        for name, spec in benchmark.presets.items()
        if any(audit_verdict(Task(benchmark, spec, view)) == CAUGHT for view in views)
    ]


def keep_audit(task: Task, audit: Audit, **labels: Any) -> dict[str, Any]:
    """Store the verdict and the strongest cue of an audit in the benchmark's package.

    A pass needs as many items as the audit asks for, and no fewer than the verdict it replaces.
    """
    benchmark, held = task.benchmark, stored_audit(task)
    kept = audit.to_dict() | labels | {"version": benchmark.version, "engine": ENGINE}
    require(kept["verdict"] != "incomplete", "nothing is stored: there was nothing to guess")
    if kept["verdict"] == "passed":
        there = held["items"] if held and held.get("engine") == ENGINE else 0
        least = max(min(kept["needed"], MAX_ITEMS), there)
        few = f"nothing is stored: a pass needs at least {least} items, got {kept['items']}"
        require(kept["items"] >= least, few)
    cues = kept.pop("cues")
    kept["tried"] = len(cues)
    kept["strongest"] = next(cue for cue in cues if cue["name"] == kept["strongest"])
    _stored.cache_clear()  # benchmarks of one package share a file
    path = audits_path(benchmark)
    stored = orjson.loads(path.read_bytes()) if path.exists() else {}
    content = {key: stored[key] for key in stored if key.partition(" ")[0] != benchmark.name}
    for (spec, view), entry in {**_stored(benchmark), (task.spec, task.view): kept}.items():
        content.setdefault(f"{benchmark.name} {_json(spec)}", {})[_json(view)] = entry
    write_json(path, content)
    _stored.cache_clear()
    return kept


def _json(fields: Any) -> str:
    return orjson.dumps(spec_to_dict(fields), option=orjson.OPT_SORT_KEYS).decode()


def audits_path(benchmark: AnyBenchmark) -> Path:
    """The file beside the benchmark's module that holds its audits."""
    return Path(str(sys.modules[type(benchmark).__module__].__file__)).with_name("audits.json")


def stored_audit(task: Task) -> dict[str, Any] | None:
    """The stored audit of a task, or of one whose view shows the same."""
    stored = _stored(task.benchmark).items()
    found = {view: kept for (spec, view), kept in stored if spec == task.spec}
    same = (view for view in found if _same_surface(task, view))
    chosen = task.view if task.view in found else next(same, None)
    return None if chosen is None else dict(found[chosen])


@cache
def _same_surface(task: Task, other: Any) -> bool:
    """Whether two views of a task differ only in lines that are the same in all items."""
    benchmark = task.benchmark
    differences: set[tuple[bool, tuple[str, ...], tuple[str, ...]]] = set()
    for item in benchmark.generate(task.spec, 0, 0, COMPARED):
        one, two = (benchmark.surface(item, view).split("\n") for view in (task.view, other))
        shared = [line for line in one if line in two] == [line for line in two if line in one]
        added = tuple(line for line in one if line not in two)
        differences.add((shared, added, tuple(line for line in two if line not in one)))
    return len(differences) == 1 and all(shared for shared, *_ in differences)


@cache
def _stored(benchmark: AnyBenchmark) -> dict[tuple[Any, Any], dict[str, Any]]:
    """The audits of a benchmark's present items, by spec and view."""
    path = audits_path(benchmark)
    stored = orjson.loads(path.read_bytes()) if path.exists() else {}
    return {
        (_read(benchmark.spec_type, spec.partition(" ")[2]), _read(benchmark.view_type, view)): kept
        for spec, audits in stored.items()
        for view, kept in audits.items()
        if spec.startswith(f"{benchmark.name} ") and kept.get("version") == benchmark.version
    }


def _read(kind: type[Any], fields: str) -> Any:
    """A stored spec or view: a field added since has its default, one removed is left out."""
    known = {field.name for field in dataclasses.fields(kind)}
    return spec_from_dict(kind, {n: v for n, v in orjson.loads(fields).items() if n in known})


def _keeps_leaks(task: Task) -> bool:
    """Whether the spec is that of a preset that has shortcuts on purpose."""
    benchmark = task.benchmark
    return any(benchmark.presets[name] == task.spec for name in benchmark.leaky_presets)
