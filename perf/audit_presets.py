"""Audits every preset and writes what the page and the docs show: `make audits`, about 20 minutes.

`--seeds N` audits the default presets with N seeds each and counts false alarms instead.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.core.benchmark import AnyBenchmark
from trivium.core.probes import Audit
from trivium.core.spec import spec_to_dict
from trivium.report.audits import AUDITS, audit_key, stored_audit

PAGE = Path(__file__).parents[1] / "docs" / "audits.md"
ABOUT = """# Audits of the presets

Written by `make audits`. Each audit trains its rules on one sample, tests them on another and
confirms what it finds on a third; `trivium audit NAME --preset PRESET` repeats it. *Strongest* is
the cue that is nearest to being caught, or the strongest one that was.

| benchmark | preset | verdict | cues tried | items | floor | strongest cue | reaches | by chance | seconds |
|---|---|---|---|---|---|---|---|---|---|
"""  # noqa: E501


def presets() -> Iterator[tuple[AnyBenchmark, str, Any]]:
    """Every preset of every benchmark, once for those that differ only in size."""
    for name in benchmark_names():
        benchmark = get_benchmark(name)
        for preset, spec in benchmark.presets.items():
            if not preset.endswith("-large"):
                yield benchmark, preset, spec


def row(benchmark: AnyBenchmark, preset: str, audit: Audit, seconds: float) -> str:
    """A line of the table."""
    cue = audit.strongest
    assert cue is not None
    verdict = audit.verdict + (" (leaks kept on purpose)" if audit.keeps_leaks else "")
    cells = [benchmark.name, preset, verdict, str(len(audit.cues)), f"{audit.items:,}"]
    cells += [f"{audit.floor_value:.3f} ({audit.floor})", cue.name]
    cells += [f"{cue.value:.3f} [{cue.low:.3f}, {cue.high:.3f}]", f"{cue.chance:.3f}"]
    return f"| {' | '.join([*cells, f'{seconds:.0f}'])} |"


def audit_all() -> None:
    """Write the page and the file that reports read."""
    kept, lines = {}, []
    for benchmark, preset, spec in presets():
        started = time.perf_counter()
        audit = benchmark.audit(spec, 0)
        lines.append(row(benchmark, preset, audit, time.perf_counter() - started))
        print(lines[-1], flush=True)
        kept[audit_key(benchmark, spec_to_dict(spec))] = stored_audit(audit)
    AUDITS.write_bytes(orjson.dumps(kept, option=orjson.OPT_INDENT_2) + b"\n")
    PAGE.write_text(ABOUT + "\n".join(lines) + "\n", encoding="utf-8")


def count_false_alarms(seeds: int, items: int | None) -> None:
    """Audit presets that should be clean with many seeds."""
    for benchmark, preset, spec in presets():
        first = benchmark.audit(spec, 0, 200)
        if first.keeps_leaks:
            continue
        alarms = [
            seed for seed in range(seeds) if benchmark.audit(spec, seed, items).verdict == "caught"
        ]
        print(f"{benchmark.name} {preset}: {len(alarms)} of {seeds} seeds raise an alarm: {alarms}")


def main() -> None:
    """Audit the presets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument("--items", type=int, default=None)
    asked = parser.parse_args()
    count_false_alarms(asked.seeds, asked.items) if asked.seeds else audit_all()


if __name__ == "__main__":
    main()
