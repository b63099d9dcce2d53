"""Can a shortcut beat chance? Every shortcut solver, and probes on what is printed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from trivium.benchmarks.nhop.answer import normal
from trivium.benchmarks.nhop.generate import Spec
from trivium.benchmarks.nhop.item import NhopItem, generate
from trivium.benchmarks.nhop.render import read_page, render
from trivium.benchmarks.nhop.score import chance, true_chain
from trivium.benchmarks.nhop.solvers import printed
from trivium.benchmarks.nhop.spec import NhopView
from trivium.core.benchmark import Solver, Turn
from trivium.core.dialogue import solver_stream
from trivium.core.probes import (
    Audit,
    Cue,
    Floats,
    cue_level,
    cue_of_hits,
    items_needed,
    probe_choice,
)

FEATURES = {
    "position": "place among the candidates",
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
    floor = chance(example)
    shortcuts = [
        solver
        for solver in solvers.values()
        if solver.role in ("shortcut", "program")
        # In a ladder it names a token one hop short of the answer, which can never hit.
        and not (example.blocks and solver.name == "pointer_f_n1")
    ]
    levels = max(1, len(example.blocks))
    tried = len(shortcuts) + levels * (len(FEATURES) + 1)
    level = cue_level(tried)
    needed = items_needed(floor, tried)
    count = needed if items is None else items
    fresh = list(generate(spec, seed, 0, count))
    prompts = [render(item, VIEW) for item in fresh]
    pages = [read_page(prompt) for prompt in prompts]
    cues = [_solver_cue(solver, fresh, prompts, floor, level) for solver in shortcuts]
    silent: list[str] = []
    for block in range(levels):
        cues += _probe_cues(fresh, pages, block, level, silent)
    notes = (f"equal for all candidates of every item: {', '.join(silent)}",) if silent else ()
    return Audit(tuple(cues), count, level, notes, needed)


def _solver_cue(
    solver: Solver, items: list[NhopItem], prompts: list[str], floor: float, level: float
) -> Cue:
    hits = [
        normal(solver.reply(Turn([prompt], solver_stream(solver.name, item, 0, 0), VIEW)))
        == normal(item.answer)
        for item, prompt in zip(items, prompts, strict=True)
    ]
    return cue_of_hits(solver.name, solver.about, hits, floor, level)


def _probe_cues(
    items: list[NhopItem], pages: list[NhopItem], block: int, level: float, silent: list[str]
) -> list[Cue]:
    """Each feature alone and all together, as rules that pick the right line of a block."""
    features = np.array([_features(page, block) for page in pages])
    gold = np.array([_gold_place(item, block) for item in items])
    floor = 1 / features.shape[1]
    where = items[0].blocks[block].function if items[0].blocks else f"f{items[0].depth}"
    cues = []
    for number, (name, about) in enumerate(FEATURES.items()):
        column = features[:, :, number : number + 1]
        if (column == column[:, :1]).all():
            silent.append(f"{name}@{where}")
            continue
        hits = probe_choice(column, gold)
        cues.append(cue_of_hits(f"{name}@{where}", about, list(hits), floor, level))
    hits = probe_choice(features, gold)
    about = f"all of these together, for the lines of {where}"
    return [*cues, cue_of_hits(f"linear_probe@{where}", about, list(hits), floor, level)]


def _lines(page: NhopItem, block: int) -> list[tuple[str, str]]:
    """The candidates that are probed: a block's lines, or all lines of the last relation."""
    if page.blocks:
        return page.blocks[block].resolved()
    last = f"f{page.depth}"
    return [(head, tail) for head, function, tail in page.facts if function == last]


def _gold_place(item: NhopItem, block: int) -> int:
    if not item.blocks:
        return item.candidates.index(item.answer)
    hop = int(item.blocks[block].function[1:])
    chain = true_chain(item)
    return _lines(item, block).index((chain[hop - 1], chain[hop]))


def _features(page: NhopItem, block: int) -> Floats:
    """What stands on the surface of each candidate, one row each."""
    lines = _lines(page, block)
    above = printed(page, block)
    anywhere = printed(page, len(page.blocks))
    before = {tail for _, tail in page.blocks[block - 1].resolved()} if block else set()
    below = page.blocks[block + 1].resolved() if block + 1 < len(page.blocks) else []
    after = {head for head, _ in below}
    told = [*page.facts, *(line for part in page.blocks[:block] for line in part.lines)]
    first = {token: place for place, line in reversed(list(enumerate(told))) for token in line[::2]}
    aliases = (
        {token: alias for alias, token in page.blocks[block].aliases.items()} if page.blocks else {}
    )
    return np.array(
        [
            [
                place,
                above[head],
                above[tail],
                head in before,
                tail in after,
                anywhere[head],
                anywhere[tail],
                _number(head),
                _number(tail),
                _number(aliases.get(head, "")),
                len(told) - first.get(head, len(told)),
            ]
            for place, (head, tail) in enumerate(lines)
        ],
        dtype=np.float64,
    )


def _number(name: str) -> int:
    digits = "".join(character for character in name if character.isdigit())
    return int(digits) if digits else 0
