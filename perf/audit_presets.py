"""Audits every preset and writes what the page and the docs show: `make audits`, about 20 minutes.

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
from trivium.core.benchmark import AnyBenchmark
from trivium.report.audits import audits_path, keep_audit

PAGE = Path(__file__).parents[1] / "docs" / "audits.md"
ABOUT = """# Audits of the presets

Written by `make audits`. Each audit trains its rules on one sample, tests them on another and
confirms what it finds on a third; `trivium audit NAME --preset PRESET` repeats it. *Strongest* is
the cue that is nearest to being caught, or the strongest one that was.

| benchmark | preset | verdict | cues tried | items | floor | strongest cue | reaches | by chance | seconds |
|---|---|---|---|---|---|---|---|---|---|
"""  # noqa: E501


def presets(wanted: Sequence[str]) -> Iterator[tuple[AnyBenchmark, str, Any]]:
    """The presets of these benchmarks, or all; once for those that differ only in size."""
    for name in benchmark_names():
        benchmark = get_benchmark(name)
        for preset, spec in benchmark.presets.items():
            named = not wanted or name in wanted or f"{name}.{preset}" in wanted
            if named and not preset.endswith("-large"):
                yield benchmark, preset, spec


def row(kept: Mapping[str, Any]) -> str:
    """A line of the table."""
    cue, floor = kept["strongest"], kept["floor"]
    leaks = " (leaks kept on purpose)" if kept["keeps_leaks_on_purpose"] else ""
    cells = [kept["benchmark"], kept["preset"], kept["verdict"] + leaks, str(kept["tried"])]
    cells += [f"{kept['items']:,}", f"{floor['value']:.3f} ({floor['name']})", cue["name"]]
    cells += [f"{cue['value']:.3f} [{cue['low']:.3f}, {cue['high']:.3f}]", f"{cue['chance']:.3f}"]
    return f"| {' | '.join([*cells, str(kept['seconds'])])} |"


def audit_all(names: Sequence[str]) -> None:
    """Audit the presets of these benchmarks; write the page and the files that reports read."""
    for benchmark, preset, spec in presets(names):
        started = time.perf_counter()
        found = run_audit(benchmark, spec, 0)
        seconds = round(time.perf_counter() - started)
        labels = {"benchmark": benchmark.name, "preset": preset, "seconds": seconds}
        print(row(keep_audit(benchmark, spec, found, **labels)), flush=True)
        write_page()


def write_page() -> None:
    """Write the table of all stored audits."""
    paths = dict.fromkeys(audits_path(get_benchmark(name)) for name in benchmark_names())
    kept = [one for path in paths for one in orjson.loads(path.read_bytes()).values()]
    PAGE.write_text(ABOUT + "\n".join(map(row, kept)) + "\n", encoding="utf-8")


def count_false_alarms(names: Sequence[str], seeds: int, items: int | None) -> None:
    """Audit presets that should be clean with many seeds."""
    for benchmark, preset, spec in presets(names):
        first = run_audit(benchmark, spec, 0, 200)
        if first.keeps_leaks:
            continue
        alarms = [
            seed
            for seed in range(seeds)
            if run_audit(benchmark, spec, seed, items).verdict == "caught"
        ]
        print(f"{benchmark.name} {preset}: {len(alarms)} of {seeds} seeds raise an alarm: {alarms}")


def main() -> None:
    """Audit the presets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="benchmarks, or NAME.PRESET (default: all)")
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument("--items", type=int, default=None)
    asked = parser.parse_args()
    if asked.seeds:
        count_false_alarms(asked.names, asked.seeds, asked.items)
    else:
        audit_all(asked.names)


if __name__ == "__main__":
    main()
