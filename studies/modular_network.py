"""Whether a modular network learns the paper's task: PPO with it, beside PPO with an LSTM.

    python -m studies.modular_network train OUT     # an accelerator: minutes; resumes OUT
    python -m studies.modular_network draw OUT      # OUT/curves.svg from OUT/*.json

All seeds of an agent are one vmapped run. Training needs jax, numpy, equinox, optax and orjson.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jax

from trivium.agents.config import LengthConfig, TaskConfig, large_batch
from trivium.agents.learners import Learners, curve_record
from trivium.agents.training import run_key
from trivium.agents.worlds import task_setting, task_world

AGENTS = {"ppo-lstm": "LSTM", "ppo-rim": "modular network"}
PLATEAUS = {"1 test": 5 / 3, "2 tests": 7 / 3, "3 tests": 3.0}  # of the ideal observer


def train(out: Path, options: argparse.Namespace) -> None:
    """Train every agent to the end, or until the time is up, and write its learning curves."""
    task = TaskConfig()
    # Runs go on after they have converged, so that all curves have the same steps.
    length = LengthConfig(options.steps, options.points, streak=10**9)
    out.mkdir(parents=True, exist_ok=True)
    for name in AGENTS:
        training = Learners(
            task_world(task),
            large_batch(name, options.width),
            length,
            [task_setting(task)] * options.seeds,
            [run_key("modular network", name, seed) for seed in range(options.seeds)],
        )
        finished = training.complete(
            checkpoint=out / f"{name}.eqx",
            seconds=options.seconds,
            tell=partial(print, f"{name}:", flush=True),
        )
        record: dict[str, Any] = {
            "agent": name,
            "finished": finished,
            "seeds": options.seeds,
            "seconds": round(training.seconds, 1),
            "device": jax.devices()[0].device_kind,
            "weights": sum(leaf[0].size for leaf in jax.tree.leaves(training.runs.policy)),
            **curve_record(task, training.curve, slice(0, options.seeds)),
        }
        (out / f"{name}.json").write_text(json.dumps(record) + "\n", encoding="utf-8")


def draw(out: Path) -> None:
    """Draw the mean greedy reward of each agent with its interval over seeds, and the plateaus."""
    # Imported here, since they need more packages than training does.
    from studies.theme import FLOOR, LINES, Figure, level, series  # noqa: PLC0415
    from trivium.core.statistics import mean_interval  # noqa: PLC0415
    from trivium.report.plot import Panel, nice_ticks  # noqa: PLC0415

    rows: list[dict[str, Any]] = []
    styles = {**dict(zip(AGENTS.values(), LINES, strict=False)), "ideal observer": FLOOR}
    for name, label in AGENTS.items():
        record = json.loads((out / f"{name}.json").read_text(encoding="utf-8"))
        curves = record["greedy_reward"]["train"]  # [seed][point]
        for steps, *rewards in zip(record["steps"], *curves, strict=True):
            found = mean_interval(rewards)
            row = {"steps": steps / 1000, "agent": label, "value": found.value}
            rows.append(row | {"low": found.low, "high": found.high})
        ends = [curve[-1] for curve in curves]
        print(f"{label}: {sum(ends) / len(ends):.2f} after {record['steps'][-1]:,} steps, {ends}")
    drawn = series(rows, "steps", "agent", styles)
    last = rows[-1]["steps"]
    drawn += [level("ideal observer", FLOOR, at, (0, last), name) for name, at in PLATEAUS.items()]
    ticks = [tick for tick in nice_ticks(0, last) if tick <= last]
    panel = Panel(drawn, "thousand steps", "quiz reward", y_range=(0.0, 3.0), ticks=ticks)
    about = "The exact reward of the greedy policy, seeds with 95% intervals."
    Figure("PPO on the paper's six machines", about, [panel], styles).save(out / "curves.svg")


def main(args: Sequence[str] | None = None) -> None:
    """Train or draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("do", choices=("train", "draw"))
    parser.add_argument("out", type=Path)
    for name, default in (("seeds", 8), ("steps", 1_000_000), ("points", 40), ("width", 256)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--seconds", type=float, help="the time limit of each agent")
    options = parser.parse_args(args)
    train(options.out, options) if options.do == "train" else draw(options.out)


if __name__ == "__main__":
    main()
