"""Can a shortcut beat chance? Every shortcut solver, and probes of what is printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from trivium.benchmarks.nhop.answer import normalise
from trivium.benchmarks.nhop.generate import generate
from trivium.benchmarks.nhop.item import NhopItem, true_chain
from trivium.benchmarks.nhop.render import read_prompt, render
from trivium.benchmarks.nhop.score import floor
from trivium.benchmarks.nhop.solvers import token_counts
from trivium.benchmarks.nhop.spec import NhopView, Spec
from trivium.core.benchmark import Solver, Turn
from trivium.core.dialogue import solver_stream
from trivium.core.probes import (
    Audit,
    Cue,
    Floats,
    cue_level,
    cue_of_hits,
    feature_cues,
    items_needed,
)

FEATURES = {
    "position": "position among the candidates",
    "head_count_above": "how often its head is printed above",
    "tail_count_above": "how often its tail is printed above",
    "head_in_block_above": "whether its head is a tail of the block above",
    "tail_in_block_below": "whether its tail is a head of the block below",
    "head_count": "how often its head is printed anywhere",
    "tail_count": "how often its tail is printed anywhere",
    "head_number": "the number in its head's name",
    "tail_number": "the number in its tail's name",
    "alias_number": "the number of its alias",
    "distance_to_question": "lines from its head's first printing to the question",
}
VIEW = NhopView()


def audit(spec: Spec, seed: int, solvers: Mapping[str, Solver], items: int | None) -> Audit:
    """Every cue with its interval, on fresh items."""
    example = next(generate(spec, seed))
    chance = floor(spec, VIEW).value
    shortcuts = [
        solver
        for solver in solvers.values()
        if solver.role in ("shortcut", "program")
        # In a ladder it names a token one hop short of the answer, which is never right.
        and not (example.blocks and solver.name == "pointer_f_n1")
    ]
    blocks = range(max(1, len(example.blocks)))
    tried = len(shortcuts) + len(blocks) * (len(FEATURES) + 1)
    level, needed = cue_level(tried), items_needed(chance, tried)
    fresh = list(generate(spec, seed, 0, needed if items is None else items))
    prompts = [render(item, VIEW) for item in fresh]
    shown = [read_prompt(prompt) for prompt in prompts]
    cues = [_solver_cue(solver, fresh, prompts, chance, level) for solver in shortcuts]
    constant = []
    for block in blocks:
        where = example.blocks[block].function if example.blocks else f"f{example.depth}"
        about = FEATURES | {"linear_probe": f"all of these together, for the lines of {where}"}
        features = np.array([_features(item, block) for item in shown])
        gold = np.array([_gold_position(item, block) for item in fresh])
        found, silent = feature_cues(about, features, gold, level, f"{{}}@{where}")
        cues += found
        constant += silent
    notes = (f"equal for all candidates of every item: {', '.join(constant)}",) if constant else ()
    return Audit(tuple(cues), len(fresh), level, notes, needed)


def _solver_cue(
    solver: Solver, items: Sequence[NhopItem], prompts: Sequence[str], chance: float, level: float
) -> Cue:
    hits = [
        normalise(solver.reply(Turn([prompt], solver_stream(solver.name, item, 0, 0), VIEW)))
        == normalise(item.answer)
        for item, prompt in zip(items, prompts, strict=True)
    ]
    return cue_of_hits(solver.name, solver.about, hits, chance, level)


def _lines(item: NhopItem, block: int) -> list[tuple[str, str]]:
    """The lines that are probed: those of a block, or of a bag's last function."""
    return item.blocks[block].resolved() if item.blocks else item.last_lines


def _gold_position(item: NhopItem, block: int) -> int:
    if not item.blocks:
        return item.candidates.index(item.answer)
    hop = int(item.blocks[block].function[1:])
    chain = true_chain(item)
    return _lines(item, block).index((chain[hop - 1], chain[hop]))


def _features(item: NhopItem, block: int) -> Floats:
    """The surface features of each candidate, one row each."""
    above, anywhere = token_counts(item, block), token_counts(item, len(item.blocks))
    before = {tail for _, tail in item.blocks[block - 1].resolved()} if block else set()
    below = item.blocks[block + 1].resolved() if block + 1 < len(item.blocks) else []
    after = {head for head, _ in below}
    printed = [*item.facts, *(line for part in item.blocks[:block] for line in part.lines)]
    first = {token: at for at, line in reversed(list(enumerate(printed))) for token in line[::2]}
    aliases = item.blocks[block].aliases if item.blocks else {}
    alias_of = {token: alias for alias, token in aliases.items()}
    rows = [
        [
            position,
            above[head],
            above[tail],
            head in before,
            tail in after,
            anywhere[head],
            anywhere[tail],
            _number(head),
            _number(tail),
            _number(alias_of.get(head, "")),
            len(printed) - first.get(head, len(printed)),
        ]
        for position, (head, tail) in enumerate(_lines(item, block))
    ]
    return np.array(rows, dtype=np.float64)


def _number(name: str) -> int:
    digits = "".join(character for character in name if character.isdigit())
    return int(digits) if digits else 0
