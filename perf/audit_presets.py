"""Audits every preset in every view and writes what the page and the docs show: `make audits`.

Each audit is stored when it is done, and those stored by the present engine for the present items
are not repeated. `--views` chooses some of the views by their numbers.

`--seeds N` counts false alarms instead: audits of default presets in the default view, or of those
named, with N seeds each and several processes. Each is a line of `--out` as soon as it ends; the
same command resumes where it stopped, and starts no audit after `--seconds`.

    python perf/audit_presets.py --seeds 100 --items 250 --processes 14 --seconds 500 --out alarms
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import orjson

from trivium.auditing.engine import audit as run_audit
from trivium.auditing.results import ENGINE
from trivium.auditing.stored import audits_path, keep_audit, stored_audit
from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.core.benchmark import AnyBenchmark
from trivium.core.spec import changed_fields
from trivium.core.task import Task

PAGE = Path(__file__).parents[1] / "docs" / "audits.md"
ABOUT = """# Audits of the presets

Written by `make audits`. Each audit trains its rules on one sample, tests them on another and
confirms what it finds on a third; `trivium audit NAME --preset PRESET` repeats it, in the view that
further flags choose. *Strongest* is the cue that is nearest to being caught, or the strongest one
that was.

"""
COLUMNS = (
    *("benchmark", "preset", "view", "verdict", "cues tried", "items", "floor"),
    *("strongest cue", "reaches", "by chance", "CPU seconds"),
)


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
        kept = stored_audit(task)
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
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}", *map(row, kept)]
    PAGE.write_text(ABOUT + "\n".join(lines) + "\n", encoding="utf-8")


def clean_audit(job: tuple[str, str, int, int, int, float]) -> dict[str, Any] | None:
    """The audit of a preset with a seed, unless it is too late to start."""
    name, preset, number, seed, items, deadline = job
    if time.time() > deadline:
        return None
    benchmark = get_benchmark(name)
    view = benchmark.audit_views()[number]
    started = time.process_time()
    found = run_audit(benchmark, benchmark.presets[preset], seed, items, view=view)
    strongest = found.strongest
    return {
        "job": list(job[:5]),
        "versions": [benchmark.version, ENGINE],
        "verdict": found.verdict,
        "tried": len(found.cues),
        "strongest": strongest and [strongest.name, strongest.value, strongest.chance, strongest.p],
        "seconds": round(time.process_time() - started, 1),
    }


def count_false_alarms(asked: argparse.Namespace) -> None:
    """Audit presets that should be clean with many seeds, and print how many were caught."""
    deadline = time.time() + asked.seconds
    default = [f"{name}.{default_preset(get_benchmark(name))}" for name in benchmark_names()]
    chosen = []
    for preset, task in presets(asked.names or default, asked.views or [0]):
        if preset not in task.benchmark.leaky_presets:
            number = list(task.benchmark.audit_views()).index(task.view)
            chosen.append((task.benchmark.name, preset, number))
    asked.out.mkdir(parents=True, exist_ok=True)
    path = asked.out / "clean_audits.jsonl"
    lines = path.read_bytes().splitlines() if path.exists() else []
    done = [orjson.loads(line) for line in lines if line.endswith(b"}")]
    done = [
        one for one in done if one["versions"] == [get_benchmark(one["job"][0]).version, ENGINE]
    ]
    seen = {tuple(one["job"]) for one in done}
    jobs = [
        (*one, seed, asked.items)
        for seed in range(asked.first, asked.first + asked.seeds)
        for one in chosen
    ]
    late = [(*job, deadline) for job in jobs if job not in seen]
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # of the processes that are started below
    with get_context("spawn").Pool(asked.processes) as pool, path.open("ab", buffering=0) as file:
        for found in pool.imap_unordered(clean_audit, late):
            if found is not None:
                file.write(orjson.dumps(found) + b"\n")
                done.append(found)
    wanted = set(jobs)
    done = [one for one in done if tuple(one["job"]) in wanted]
    for one in chosen:
        own = [each for each in done if tuple(each["job"][:3]) == one]
        counts = Counter(each["verdict"] for each in own)
        seconds = sum(each["seconds"] for each in own) / max(1, len(own))
        caught = [
            (each["job"][3], *each["strongest"]) for each in own if each["verdict"] != "passed"
        ]
        print(*one, f"{len(own)} of {asked.seeds} audits, {seconds:.1f} CPU s each:", dict(counts))
        print(*caught, sep="\n", end="\n" * bool(caught))


def default_preset(benchmark: AnyBenchmark) -> str:
    """The name of the default preset."""
    return next(name for name, spec in benchmark.presets.items() if spec == benchmark.default_spec)


def main() -> None:
    """Audit the presets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="benchmarks, or NAME.PRESET (default: all)")
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument("--items", type=int, default=250, help="of each audit of --seeds")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--views", type=int, nargs="*", default=[], help="numbers of views")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="after which none is started")
    parser.add_argument("--out", type=Path, default=Path("alarms"), help="folder of the results")
    asked = parser.parse_args()
    if asked.seeds:
        count_false_alarms(asked)
    else:
        audit_all(asked.names, asked.views)


if __name__ == "__main__":
    main()
