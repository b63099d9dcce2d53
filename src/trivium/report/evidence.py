"""What leads to an answer: the parts of a prompt to highlight, and beliefs during a game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from trivium.benchmarks.blicket.game.score import trials_of
from trivium.benchmarks.blicket.inference import observer
from trivium.benchmarks.nhop.item import true_chain
from trivium.core.benchmark import AnyBenchmark


def highlights(benchmark: AnyBenchmark, item: Any) -> list[str]:
    """The texts to highlight in a prompt: lines of the true path, or the names in the answer."""
    if benchmark.name.startswith("nhop"):
        return _path_lines(item)
    gold = benchmark.gold(item)
    if benchmark.name == "identifying_variables":
        named = [gold.independent, gold.dependent, *(gold.control or ())]
        return [name for name in named if name]
    return list(gold.blickets) if benchmark.name == "blicket_prompts" else []


def _path_lines(item: Any) -> list[str]:
    """The printed lines that lead from the start to the answer."""
    chain = true_chain(item)
    hops = {(head, f"f{hop}") for hop, head in enumerate(chain, start=1)}
    lines = [(head, f, tail) for head, f, tail in item.facts if (head, f) in hops]
    named = []
    for block in item.blocks:
        for head, function, tail in block.lines:
            token = block.aliases.get(head, head)
            if (token, function) in hops:
                lines.append((head, function, tail))
                named += [f"{head} = {token}"] * (head in block.aliases)
    return [f"{head} ->{function}-> {tail}" for head, function, tail in lines] + named


def beliefs(benchmark: AnyBenchmark, item: Any, answer: Any) -> list[str]:
    """What the ideal observer knows after every test of a game, in words."""
    if benchmark.name != "blicket_game" or answer is None:
        return []
    trials = trials_of(answer.tests)
    return [_belief(item, trials[:count]) for count in range(1, len(trials) + 1)]


def _belief(item: Any, trials: Sequence[observer.Trial]) -> str:
    space = item.space
    belief = observer.posterior(space, trials)
    possible = int((belief > observer.TINY).sum())
    if possible == 1:
        return f"Only one machine is left: {space.hypotheses[int(np.argmax(belief))]}."
    forms = observer.family_probability(space, belief).items()
    likely = sorted((form for form in forms if form[1] > observer.TINY), key=lambda form: -form[1])
    blickets = dict(zip(item.objects, observer.blicket_probability(space, belief), strict=True))
    text = f"{possible} machines are left, {observer.entropy(belief):.1f} bits: "
    text += ", ".join(f"{form} {share:.0%}" for form, share in likely)
    sure = [name for name, share in blickets.items() if share >= observer.CERTAIN]
    never = [name for name, share in blickets.items() if share <= observer.TINY]
    text += f"; certainly blickets: {' '.join(sure)}" if sure else ""
    return text + (f"; certainly not: {' '.join(never)}" if never else "") + "."
