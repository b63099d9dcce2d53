"""Attempts for the browser of items: what was asked, what was said, what would have been right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import orjson

from trivium.core.benchmark import AnyBenchmark
from trivium.core.spec import spec_from_dict
from trivium.report.results import Digest, Row

MAX_ATTEMPTS = 400  # in one page
MAX_CHARACTERS = 3_000_000  # of their texts together
MAX_TEXT = 20_000  # of a single prompt or reply
NO_PROMPT = "(this item came from a file; its prompt is not in the records)"


def examples(digests: Iterable[Digest]) -> dict[str, Any]:
    """A sample over solvers, settings and kinds: prompts once, and the attempts at them."""
    prompts: dict[str, int] = {}
    attempts: list[dict[str, Any]] = []
    characters = 0
    for digest, setting, row in _in_turn(list(digests)):
        made = _attempt(digest.benchmark, setting, row)
        new = [text for text in made.pop("texts") if text not in prompts]
        characters += sum(map(len, new)) + len(made["right"])
        if len(attempts) >= MAX_ATTEMPTS or characters > MAX_CHARACTERS:
            break
        for text in new:
            prompts[text] = len(prompts)
        made["turns"] = [[side, prompts[text]] for side, text in made["turns"]]
        attempts.append(made)
    order = {kind: place for place, kind in enumerate(dict.fromkeys(_kinds(attempts)))}
    attempts.sort(key=lambda made: (made["benchmark"], order[made["kind"].partition(":")[0]]))
    return {"texts": list(prompts), "attempts": attempts}


def _kinds(attempts: Sequence[dict[str, Any]]) -> list[str]:
    """Kinds of error before right answers: those are what a reader comes for."""
    kinds = sorted({made["kind"].partition(":")[0] for made in attempts})
    return sorted(kinds, key=lambda kind: kind == "right")


def _in_turn(digests: Sequence[Digest]) -> Iterable[tuple[Digest, str, Row]]:
    """First the first example of every solver, setting and kind, then the second, and so on."""
    deepest = max((digest.most_examples for digest in digests), default=0)
    for depth in range(deepest):
        for digest in digests:
            for (setting, _, _), rows in digest.examples.items():
                if depth < len(rows):
                    yield digest, setting, rows[depth]


def _attempt(benchmark: AnyBenchmark, setting: str, row: Row) -> dict[str, Any]:
    turns, right = _told(benchmark, row)
    cut = [(side, _cut(text)) for side, text in turns]
    return {
        "benchmark": benchmark.name,
        "setting": setting,
        "solver": row["solver"],
        "seed": row.get("seed"),
        "id": row["id"],
        "trial": row["trial"],
        "kind": row["kind"],
        "scores": {name: value for name, value in row["scores"].items() if value is not None},
        "error": row.get("error"),
        "right": _cut(right),
        "turns": cut,
        "texts": [text for _, text in cut],
    }


def _told(benchmark: AnyBenchmark, row: Row) -> tuple[list[tuple[str, str]], str]:
    """The conversation in turns, made again from where the item came from, and the answer."""
    replies, system = replies_of(row), row.get("system")
    if row.get("spec") is None or row.get("index") is None:
        turns = [("world", row.get("prompt") or NO_PROMPT)]
        turns += [("solver", reply) for reply in replies]
        return [("system", system), *turns] if system else turns, "-"
    told, view = told_item(benchmark, row)
    turns = [("world", benchmark.render(told, view))]
    system = benchmark.system(view) if system is None else system
    if system:
        turns.insert(0, ("system", system))
    for place, reply in enumerate(replies, start=1):
        turns.append(("solver", reply))
        response = benchmark.respond(told, replies[:place], view) if place < len(replies) else None
        if response is not None:
            turns.append(("world", response))
    return turns, benchmark.write(told, benchmark.gold(told), view)


def replies_of(row: Row) -> list[str]:
    """What was said, turn by turn."""
    said = row.get("reply")
    return [said] if isinstance(said, str) else [str(part) for part in said or []]


def told_item(benchmark: AnyBenchmark, row: Row) -> tuple[Any, Any]:
    """The item of a record as it was told, and the view of it."""
    item = _item(benchmark, orjson.dumps(row["spec"]), row["seed"], row["index"])
    view = spec_from_dict(benchmark.view_type, row.get("view") or {})
    return benchmark.reshuffle(item, row["trial"]), view


@lru_cache(maxsize=1024)
def _item(benchmark: AnyBenchmark, spec: bytes, seed: int, index: int) -> Any:
    made = spec_from_dict(benchmark.spec_type, orjson.loads(spec))
    return next(iter(benchmark.generate(made, seed, index, 1)))


def _cut(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}\n[cut: {len(text) - MAX_TEXT:,} more characters]"
