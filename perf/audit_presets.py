"""Audits every preset in every view and writes what the page and the docs show: `make audits`.

Each audit is stored when it is done, and those stored by the present engine for the present items
are not repeated. `--views` chooses some of the views by their numbers.

`--seeds N` audits presets that should be clean with N seeds each and counts false alarms instead.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from trivium.auditing.engine import audit as run_audit
from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.core.probes import ENGINE
from trivium.core.spec import changed_fields, spec_to_dict
from trivium.core.task import Task
from trivium.report.audits import audits_path, keep_audit, stored_audit

PAGE = Path(__file__).parents[1] / "docs" / "audits.md"
ABOUT = """# Audits of the presets

Written by `make audits`. Each audit trains its rules on one sample, tests them on another and
confirms what it finds on a third; `trivium audit NAME --preset PRESET` repeats it, in the view that
further flags choose. *Strongest* is the cue that is nearest to being caught, or the strongest one
that was.

| benchmark | preset | view | verdict | cues tried | items | floor | strongest cue | reaches | by chance | CPU seconds |
|---|---|---|---|---|---|---|---|---|---|---|
"""  # noqa: E501


def presets(wanted: Sequence[str], views: Sequence[int]) -> Iterator[tuple[str, Task]]:
    """The presets of these benchmarks, or all, in every view."""
    for name in benchmark_names():
        benchmark = get_benchmark(name)
        for preset, spec in benchmark.presets.items():
            named = not wanted or name in wanted or f"{name}.{preset}" in wanted
            if named:
                for number, view in enumerate(benchmark.audit_views()):
                    if not views or number in views:
                        yield preset, Task(benchmark, spec, view)


def row(kept: Mapping[str, Any]) -> str:
    """A line of the table."""
    cue, floor = kept["strongest"], kept["floor"]
    leaks = " (leaks kept on purpose)" if kept["keeps_leaks_on_purpose"] else ""
    cells = [kept["benchmark"], kept["preset"], kept["shown"], kept["verdict"] + leaks]
    cells += [str(kept["tried"])]
    cells += [f"{kept['items']:,}", f"{floor['value']:.3f} ({floor['name']})", cue["name"]]
    cells += [f"{cue['value']:.3f} [{cue['low']:.3f}, {cue['high']:.3f}]", f"{cue['chance']:.3f}"]
    return f"| {' | '.join([*cells, str(kept['seconds'])])} |"


def audit_all(names: Sequence[str], views: Sequence[int]) -> None:
    """Audit the presets of these benchmarks; write the page and the files that reports read."""
    for preset, task in presets(names, views):
        kept = stored_audit(task.benchmark, spec_to_dict(task.spec), spec_to_dict(task.view))
        if kept and kept.get("engine") == ENGINE:
            continue
        started = time.process_time()
        found = run_audit(task.benchmark, task.spec, 0, view=task.view)
        seconds = round(time.process_time() - started)
        labels = {"benchmark": task.benchmark.name, "preset": preset, "seconds": seconds}
        shown = ", ".join(f"{key}={value}" for key, value in changed_fields(task.view).items())
        print(row(keep_audit(task, found, **labels, shown=shown or "default")), flush=True)
        write_page()


def write_page() -> None:
    """Write the table of all stored audits."""
    paths = dict.fromkeys(audits_path(get_benchmark(name)) for name in benchmark_names())
    stored = [orjson.loads(path.read_bytes()) for path in paths if path.exists()]
    kept = [one for found in stored for views in found.values() for one in views.values()]
    PAGE.write_text(ABOUT + "\n".join(map(row, kept)) + "\n", encoding="utf-8")


def count_false_alarms(asked: argparse.Namespace) -> None:
    """Audit presets that should be clean with many seeds."""
    for preset, task in presets(asked.names, asked.views):
        if preset in task.benchmark.leaky_presets:
            continue
        caught: dict[int, list[str]] = {}
        for seed in range(asked.first, asked.first + asked.seeds):
            found = run_audit(task.benchmark, task.spec, seed, asked.items, view=task.view)
            if found.verdict == "caught":
                caught[seed] = [cue.name for cue in found.cues if cue.caught]
        name, view = task.benchmark.name, changed_fields(task.view)
        print(
            f"{name} {preset} {view}: {len(caught)} of {asked.seeds} audits: {caught}", flush=True
        )


def main() -> None:
    """Audit the presets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="benchmarks, or NAME.PRESET (default: all)")
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument("--items", type=int, default=None)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--views", type=int, nargs="*", default=[], help="numbers of views")
    asked = parser.parse_args()
    if asked.seeds:
        count_false_alarms(asked)
    else:
        audit_all(asked.names, asked.views)


if __name__ == "__main__":
    main()
