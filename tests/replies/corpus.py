"""The corpus of replies: written in the styles of current models, with what each of them means.

items.json holds the items, one JSON Lines file for each benchmark the replies: the item, the view,
a style, the reply, its meaning (null where it has no answer) and its outcome. Replies of the styles
"held-out", "blind" and "held-back" were written without a look at the grammars; those of the styles
"fresh", "unseen" and "doubtful" before they were read for the first time (see docs/replies.md).
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from trivium.benchmarks.blicket.game.parse_moves import read_command

from trivium.benchmarks import get_benchmark
from trivium.core.benchmark import AnyBenchmark
from trivium.core.reading import is_refusal, split_reasoning
from trivium.core.spec import spec_from_dict

FOLDER = Path(__file__).parent
FILES = ("nhop", "identifying_variables", "blicket_prompts", "blicket_game")
Case = dict[str, Any]


@cache
def item_of(name: str) -> tuple[AnyBenchmark, Any]:
    """A benchmark and the stored item of this name."""
    stored = json.loads((FOLDER / "items.json").read_text(encoding="utf-8"))[name]
    benchmark = get_benchmark(stored["benchmark"])
    return benchmark, benchmark.from_row(stored["row"], 0)


def cases(file: str) -> list[Case]:
    """The replies of one file."""
    text = (FOLDER / f"{file}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def read(case: Case, reply: str | None = None) -> Any:
    """What is read in the reply of a case, or in another one, as the corpus writes meanings."""
    benchmark, item = item_of(case["item"])
    visible = split_reasoning(case["reply"] if reply is None else reply).visible
    if benchmark.multi_turn:
        command = read_command(visible, item.objects, item.spec.possible_rules)
        if command is None:
            return None
        if command.form is None:
            return {"test": command.objects}
        answer = {"blickets": command.objects, "form": command.form}
        return answer | {"inhibitors": command.inhibitors}
    view = spec_from_dict(benchmark.view_type, case["view"])
    found = benchmark.parse(item, [visible], view)
    if found is None:
        return None
    return found.token if case["benchmark"].startswith("nhop") else _plain(asdict(found))


def _plain(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer as JSON has it; the order of names is not part of its meaning."""
    lists = {name: sorted(value) for name, value in answer.items() if isinstance(value, tuple)}
    return answer | lists


def outcome(case: Case) -> str:
    """What becomes of the reply: right, wrong, a move, cut off, refused or no answer."""
    benchmark, item = item_of(case["item"])
    split = split_reasoning(case["reply"])
    if benchmark.multi_turn:
        command = read_command(split.visible, item.objects, item.spec.possible_rules)
        if command is not None and command.form is None:
            return "move"
    view = spec_from_dict(benchmark.view_type, case["view"])
    answer = benchmark.parse(item, [split.visible], view)
    if answer is not None:
        return "right" if benchmark.kind(item, answer) == "right" else "wrong"
    if not split.finished:
        return "cut off"
    return "refused" if is_refusal(split.visible) else "no answer"
