"""Making, writing, telling and reading identifying-variables items, in one process.

Aims: at least 15,000 samples made and 5,000 tables rendered a second; what it costs to make
and write samples is shown as a ratio to serialising the finished rows alone.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import orjson

from timing import best_seconds
from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.answer import parse
from trivium.benchmarks.variables.generate import generate
from trivium.benchmarks.variables.rows import to_row
from trivium.benchmarks.variables.spec import (
    PRESETS,
    RENDERERS,
    VariablesSpec,
    VariablesView,
    view_of,
)
from trivium.core.files import dump_line

SAMPLES = 8192
TABLES = 1000
OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY


def make(name: str, spec: VariablesSpec) -> None:
    made = best_seconds(lambda: deque(generate(spec, 1, 0, SAMPLES), maxlen=0)) / SAMPLES

    def write() -> None:
        for item in generate(spec, 1, 0, SAMPLES):
            dump_line(to_row(item))

    rows = [to_row(item) for item in generate(spec, 1, 0, 1024)]

    def serialise() -> None:
        for row in rows:
            orjson.dumps(row, option=OPTIONS)

    written, alone = best_seconds(write, 3) / SAMPLES, best_seconds(serialise) / len(rows)
    print(
        f"{name}: {1 / made:,.0f} samples/s made (aim: 15,000), {1 / written:,.0f}/s made and "
        f"written; orjson alone {1 / alone:,.0f}/s; ratios {made / alone:.1f} and "
        f"{written / alone:.1f}"
    )


def tell() -> None:
    items = list(generate(PRESETS["balanced-ctrl"], 1, 0, TABLES))
    for renderer in RENDERERS:
        view = view_of(renderer)

        def render_all(view: VariablesView = view) -> None:
            for item in items:
                VARIABLES.render(item, view)

        print(f"{renderer}: {TABLES / best_seconds(render_all):,.0f} prompts/s (aim: 5,000)")


def read() -> None:
    item = next(iter(generate(PRESETS["balanced-ctrl"], 1, 0, 1)))
    for unit in ("[", "[@ANSWER ", "[@ANSWER valid_hyp: true; control: ["):
        reply = unit * (100_000 // len(unit))
        took = best_seconds(lambda reply=reply: parse(item, [reply], VariablesView()))  # type: ignore[misc]
        print(f"100 KB of {unit!r}: read in {took * 1e3:.1f} ms")


if __name__ == "__main__":
    for preset in ("balanced-ctrl", "balanced-hypotheses"):
        make(preset, PRESETS[preset])
    make("original-ctrl", PRESETS["original-ctrl"])
    make("original-ctrl, dag", replace(PRESETS["original-ctrl"], graph="dag"))
    make("balanced-ctrl, 10 dB", replace(PRESETS["balanced-ctrl"], snr=10.0))
    tell()
    read()
