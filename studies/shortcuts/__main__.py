"""Train networks on items with and without a shortcut, test them on both, and write the figures."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from studies.command import run_command
from studies.shortcuts.items import AUDITED, LEAKY, items
from studies.theme import CEILING, FLOOR, MARKED, Figure, level, over_seeds, series
from trivium.core.errors import import_extra
from trivium.core.files import atomic_write, write_json
from trivium.report.plot import Panel

HERE = Path(__file__).parent
DESIGNS = (LEAKY, AUDITED)
TRAIN_SEED, TEST_SEED = 3003, 4004
POOL = {"ladders": 1 << 20, "tables": 1 << 17}  # items to train on
STEPS = {"ladders": 10_000, "tables": 3_000}
# A guess among the candidates: seven facts for one hop, six lines of a block for more.
FLOORS = {"ladders": lambda depth: 1 / 7 if depth == 1 else 1 / 6, "tables": lambda depth: 1 / 2}
ABOUT = """Trains a small transformer on ladders (n-hop) and on tables (identifying variables),
with the shortcut of the original design and without it, and tests it on both. Four units of work;
those that the folder already holds are not run again. Needs trivium[agents]; about ten minutes
on a large GPU. --quick is a small version that shows nothing but that it runs.
Example: python -m studies.shortcuts --out runs/shortcuts"""


@dataclass(frozen=True)
class Flags:
    """What is run, and where."""

    out: Path = HERE  # the folder of data, table and figures
    seeds: int = 8  # networks on every kind of items
    quick: bool = False  # few items and steps
    report_only: bool = False  # write table and figures of the data that are there


def train(task: str, design: str, flags: Flags) -> dict[str, Any]:
    """The accuracy of networks trained on one design, over steps and on both designs."""
    from studies.shortcuts.network import Training  # noqa: PLC0415 - needs jax

    steps, size, tests = (20, 512, 64) if flags.quick else (STEPS[task], POOL[task], 8192)
    test = {name: items(task, name, TEST_SEED, tests) for name in DESIGNS}
    began = time.monotonic()
    training = Training(task, steps, flags.seeds, items(task, design, TRAIN_SEED, size))
    points: list[dict[str, Any]] = []
    while training.step < steps:
        training.advance(steps // 20)
        shares = {name: np.asarray(training.accuracy(test[name]), float) for name in DESIGNS}
        rounded = {name: found.round(4).tolist() for name, found in shares.items()}
        points.append({"step": training.step, **rounded})
        print(f"{task}, {design}: step {training.step} of {steps}", flush=True)
    seconds = round(time.monotonic() - began)
    return {"items": size, "seconds": seconds, "points": points}


def read(task: str, out: Path) -> Iterator[dict[str, Any]]:
    """Rows of accuracy with its interval over seeds, for every step, depth and test."""
    for trained in DESIGNS:
        unit = orjson.loads((out / "data" / f"{task}_{trained}.json").read_bytes())
        for point, tested in product(unit["points"], DESIGNS):
            for depth, shares in enumerate(np.array(point[tested]).T.tolist(), 1):
                row = {"trained": trained, "tested": f"tested on {tested} items", "depth": depth}
                found = over_seeds(shares, 0.0, 1.0).to_dict()
                yield row | {"step": point["step"], "seeds": len(shares)} | found


def figure(task: str, rows: Sequence[dict[str, Any]], depths: Sequence[int]) -> Figure:
    """Accuracy over steps: a panel for each depth and each design that was trained on."""
    styles = {f"tested on {name} items": MARKED[at] for at, name in enumerate(DESIGNS)}
    steps = sorted({row["step"] for row in rows})
    panels = []
    for depth, trained in product(depths, DESIGNS):
        own = [row for row in rows if (row["trained"], row["depth"]) == (trained, depth)]
        floor = level("floor", FLOOR, FLOORS[task](depth), steps)
        lines = [*series(own, "step", "tested", styles), floor, level("ceiling", CEILING, 1, steps)]
        hops = "" if task == "tables" else f", {depth} hop{'s' if depth > 1 else ''}"
        title = f"trained on {trained} items{hops}"
        panels.append(Panel(lines, "training steps", "accuracy", title, ticks=steps[3::4]))
    what = "ladders" if task == "ladders" else "tables: is the hypothesis valid?"
    about = f"{rows[0]['seeds']} networks each, means and 95% intervals"
    return Figure(f"The same network on {what}", about, panels, styles)


def write_report(out: Path) -> None:
    """Write the figures, and the table of the last step."""
    table = [
        "| items | hops | trained on | tested on leaky | tested on audited |",
        "|" + "---|" * 5,
    ]
    for task in POOL:
        rows = list(read(task, out))
        depths = sorted({row["depth"] for row in rows})
        figure(task, rows, depths[-1:]).save(out / "figures" / f"{task}.svg")
        if depths[:-1]:
            figure(task, rows, depths[:-1]).save(out / "figures" / f"{task}_fewer_hops.svg")
        last = [row for row in rows if row["step"] == max(row["step"] for row in rows)]
        for depth, trained in product(depths, DESIGNS):
            own = [row for row in last if (row["trained"], row["depth"]) == (trained, depth)]
            cells = [f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]" for row in own]
            hops = str(depth) if task == "ladders" else ""
            table.append(f"| {task} | {hops} | {trained} | {' | '.join(cells)} |")
    with atomic_write(out / "table.md") as file:
        file.write(("\n".join(table) + "\n").encode())
    print(f"report: {out / 'table.md'}")


def run(flags: Flags) -> None:
    """Run the units that the folder does not hold, and write the report."""
    for task, design in () if flags.report_only else product(POOL, DESIGNS):
        path = flags.out / "data" / f"{task}_{design}.json"
        if not path.exists():
            import_extra("jax", "agents")
            path.parent.mkdir(parents=True, exist_ok=True)
            write_json(path, train(task, design, flags))
    write_report(flags.out)


def main(args: Sequence[str] | None = None) -> int:
    """Run the study; 0 is success, 2 bad input, 130 an interrupt."""
    return run_command("shortcuts", Flags(), ABOUT, run, args)


if __name__ == "__main__":
    sys.exit(main())
