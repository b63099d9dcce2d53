"""Transfer units: does an agent that knows some forms work out unseen ones, and more objects?"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np

from studies.blicket_learners.learners import Tell, rounded, run_key, train_unit
from studies.blicket_learners.plan import TRAINED_OBJECTS, TransferUnit
from trivium.agents.evaluation import greedy
from trivium.agents.slot_world import SlotWorld, slot_world
from trivium.agents.training import Setting

SLOTS = 5
TESTED_OBJECTS = (3, 4, 5)
TESTED_FORMS = ("disjunctive", "conjunctive", "threshold-2", "parity", "inhibitor")


def run_transfer(
    unit: TransferUnit, out: Path, seconds: float | None, tell: Tell
) -> dict[str, Any]:
    """Train on three objects and some forms; play every machine of every form and number."""
    world, tables = slot_world(TRAINED_OBJECTS, SLOTS, unit.forms)
    setting = Setting(tables, jax.tree.map(lambda leaf: leaf[None], tables))
    runs = [(setting, run_key(unit.name, seed)) for seed in range(unit.seeds)]
    training = train_unit(unit, world, runs, out=out, seconds=seconds, tell=tell)
    curve = [point.greedy.reward.mean(axis=(1, 2)) for point in training.curve]
    return {
        "kind": "transfer",
        "name": unit.name,
        "agent": asdict(unit.agent),
        "forms": list(unit.forms),
        "finished": training.finished,
        "seeds": unit.seeds,
        "steps": [int(point.steps.max()) for point in training.curve],
        "reward": rounded(np.stack(curve, axis=1)),
        "converged": training.curve[-1].converged.tolist(),
        "seconds": round(training.seconds, 1),
        "tested": [
            _tested(training.runs.policy, form, objects)
            for form in TESTED_FORMS
            for objects in TESTED_OBJECTS
        ],
    }


def _tested(policies: Any, form: str, objects: int) -> dict[str, Any]:
    """Every machine of one form and number of objects, played greedily by every seed."""
    world, tables = slot_world(objects, SLOTS, (form,))
    played = _play(world, policies, tables)
    return {
        "form": form,
        "objects": objects,
        "machines": int(tables.arranged.shape[0]),
        "accuracy": rounded((played.reward.mean(axis=1) / objects + 1) / 2),
        "tests": rounded(played.tests.mean(axis=1)),
        "perfect": rounded((played.reward > objects - 1e-4).mean(axis=1)),
    }


@partial(jax.jit, static_argnums=0)
def _play(world: SlotWorld, policies: Any, tables: Any) -> Any:
    return jax.vmap(lambda policy: greedy(world, policy, tables))(policies)
