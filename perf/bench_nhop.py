"""Making and writing n-hop items against serialising the finished items alone.

Aim: at most 10 times what orjson needs, in one process; memory flat at a million items.
"""

from __future__ import annotations

import resource
from pathlib import Path

import orjson

from timing import best_seconds
from trivium.benchmarks.nhop.generate import generate
from trivium.benchmarks.nhop.item import to_row
from trivium.benchmarks.nhop.spec import EXPLICIT_PRESETS, ImplicitSpec, Spec
from trivium.core.files import dump_line

ITEMS = 20_000
MANY = 1_000_000


def compare(name: str, spec: Spec) -> None:
    # Rows as read from a file, so that the yardstick does not depend on strings that rows share.
    rows = [orjson.loads(dump_line(to_row(item))) for item in generate(spec, 1, 0, ITEMS)]

    def make_and_write() -> None:
        with open("/dev/null", "wb") as sink:
            for item in generate(spec, 1, 0, ITEMS):
                sink.write(dump_line(to_row(item)))

    def serialise() -> None:
        for row in rows:
            orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)

    made, alone = best_seconds(make_and_write), best_seconds(serialise)
    print(
        f"{name}: made and written {made / ITEMS * 1e6:.2f} us an item, orjson alone "
        f"{alone / ITEMS * 1e6:.2f} us, ratio {made / alone:.2f} (aim: at most 10)"
    )


def memory() -> float:
    """The most memory this process ever held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def stream_many(sink: Path) -> None:
    """A million items through one process, memory read along the way."""
    spec = ImplicitSpec()
    with sink.open("wb") as file:
        marks = []
        for number, item in enumerate(generate(spec, 1, 0, MANY)):
            file.write(dump_line(to_row(item)))
            if number % 100_000 == 20_000:
                marks.append(memory())
    print(f"a million implicit items: peak memory {marks[0]:.0f} MiB early, {memory():.0f} at end")


if __name__ == "__main__":
    stream_many(Path("/dev/null"))
    compare("implicit (n=5, m=8, M=512)", ImplicitSpec())
    compare("explicit (n=4, L=3, k=6, 6 contexts, hard)", EXPLICIT_PRESETS["explicit-hard"])
