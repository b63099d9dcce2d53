"""Time and memory of `analyze` and `report` on a million records, and the size of the page.

The limits are 60 seconds and 360 MB for each, and 10 MB for the page.
Run: python perf/bench_report.py [RECORDS]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

import orjson

from trivium.benchmarks.nhop import EXPLICIT
from trivium.benchmarks.nhop.spec import ExplicitSpec, NhopView
from trivium.core.dialogue import attempt

RECORDS = 1_000_000
SECONDS, MEGABYTES, PAGE_MEGABYTES = 60, 360, 10
DISTINCT = 200  # attempts made for each solver and spec; the rest repeat them


def write_records(path: Path, total: int) -> None:
    """Write records of two specs and three solvers, each with its own id and index."""
    rows = [
        asdict(attempt(EXPLICIT, item, EXPLICIT.solvers[solver], NhopView()))
        for hops in (4, 6)
        for item in EXPLICIT.generate(ExplicitSpec(hops=hops), 7, 0, DISTINCT)
        for solver in ("oracle", "elimination", "random_candidate")
    ]
    with open(path, "wb") as file:
        for number in range(total):
            row = rows[number % len(rows)]
            index = number // len(rows) * DISTINCT + row["index"] % DISTINCT
            row |= {"index": index, "id": f"SYN-{index:06d}"}
            file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))


def measure(command: str, folder: Path) -> tuple[float, float]:
    """The seconds and peak megabytes of a command in its own process."""
    code = (
        "import resource, sys; from trivium.cli import main; code = main(sys.argv[1:]); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr); sys.exit(code)"
    )
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, command, str(folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    kilobytes = int(done.stderr.strip().splitlines()[-1])
    return time.perf_counter() - start, kilobytes / 1000


def main() -> int:
    """Print the figures beside their limits; the exit status is 1 if one exceeds its limit."""
    total = int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS
    worst = 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_records(folder / "records.jsonl", total)
        size = (folder / "records.jsonl").stat().st_size / 1e6
        print(f"{total:,} records, {size:,.0f} MB")
        for command in ("analyze", "report"):
            seconds, megabytes = measure(command, folder)
            worst = max(worst, seconds / SECONDS, megabytes / MEGABYTES)
            print(
                f"{command}: {seconds:.1f} s ({seconds / SECONDS:.0%} of the limit), "
                f"{megabytes:,.0f} MB ({megabytes / MEGABYTES:.0%}), "
                f"{total / seconds:,.0f} records/s"
            )
        page = (folder / "report.html").stat().st_size / 1e6
        worst = max(worst, page / PAGE_MEGABYTES)
        print(f"page: {page:.2f} MB ({page / PAGE_MEGABYTES:.0%} of the limit)")
    return int(worst > 1)


if __name__ == "__main__":
    sys.exit(main())
