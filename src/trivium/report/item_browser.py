"""The attempts in the page's item browser: prompt, replies and the expected answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import orjson

from trivium.core.benchmark import AnyBenchmark
from trivium.core.reading import visible_replies
from trivium.core.records import Row
from trivium.core.spec import spec_from_dict, stored_spec
from trivium.report.results import BenchmarkResults

MAX_ATTEMPTS = 400  # in one page
MAX_CHARACTERS = 3_000_000  # of all their texts
MAX_TEXT = 20_000  # characters of one prompt or reply
NO_PROMPT = "(this item came from a file; its prompt is not in the records)"


def browser_items(all_results: Sequence[BenchmarkResults]) -> dict[str, Any]:
    """A sample over solvers, settings and kinds: each text once, and attempts that refer to it."""
    texts: dict[str, int] = {}
    attempts: list[dict[str, Any]] = []
    characters = 0
    for results, setting, row in _examples(all_results):
        turns, expected = conversation(results.benchmark, row)
        new = {text for _, text in turns if text not in texts}
        characters += sum(map(len, new)) + len(expected)
        if len(attempts) >= MAX_ATTEMPTS or characters > MAX_CHARACTERS:
            break
        attempts.append(
            {
                "benchmark": results.benchmark.name,
                "setting": setting,
                "solver": row["solver"],
                "seed": row.get("seed"),
                "id": row["id"],
                "trial": row["trial"],
                "kind": row["kind"],
                "scores": {key: value for key, value in row["scores"].items() if value is not None},
                "error": row.get("error"),
                "expected": expected,
                "turns": [[side, texts.setdefault(text, len(texts))] for side, text in turns],
            }
        )
    return {"texts": list(texts), "attempts": sorted(attempts, key=_errors_first)}


def _errors_first(attempt: Row) -> tuple[str, bool, str]:
    """A sorting key by benchmark and kind; errors come first, since readers look for them."""
    kind = attempt["kind"].partition(":")[0]
    return attempt["benchmark"], kind == "right", kind


def _examples(
    all_results: Sequence[BenchmarkResults],
) -> Iterator[tuple[BenchmarkResults, str, Row]]:
    """The first example of every solver, setting and kind, then the second of each, and so on."""
    for number in range(max((results.max_examples for results in all_results), default=0)):
        for results in all_results:
            for (setting, _, _), rows in results.examples.items():
                if number < len(rows):
                    yield results, setting, rows[number]


def conversation(benchmark: AnyBenchmark, row: Row) -> tuple[list[tuple[str, str]], str]:
    """The turns of an attempt as (side, text) and the expected answer, from its item."""
    replies, system = replies_of(row), row.get("system")
    turns: list[tuple[str, str]] = []
    if row.get("spec") is None or row.get("index") is None:
        turns = [("environment", row.get("prompt") or NO_PROMPT)]
        turns += [("solver", reply) for reply in replies]
        expected = row.get("gold") or "-"
    else:
        item, view = presented_item(benchmark, row)
        system = benchmark.system(view) if system is None else system
        turns = [("environment", benchmark.render(item, view))]
        for count, reply in enumerate(replies, start=1):
            turns.append(("solver", reply))
            if count < len(replies):
                response = benchmark.respond(item, visible_replies(replies[:count]), view)
                turns += [("environment", response)] if response is not None else []
        expected = benchmark.write(item, benchmark.gold(item), view)
    turns = [("system", system), *turns] if system else turns
    return [(side, _shortened(text)) for side, text in turns], _shortened(expected)


def replies_of(row: Row) -> list[str]:
    """The replies of a record, one for each turn."""
    reply = row.get("reply")
    return [reply] if isinstance(reply, str) else [str(part) for part in reply or []]


def presented_item(benchmark: AnyBenchmark, row: Row) -> tuple[Any, Any]:
    """The item of a record in the order of its trial, and its view."""
    item = _item(benchmark, orjson.dumps(row["spec"]), row["seed"], row["index"])
    view = spec_from_dict(benchmark.view_type, row.get("view") or {})
    return benchmark.reshuffle(item, row["trial"]), view


@lru_cache(maxsize=1024)
def _item(benchmark: AnyBenchmark, spec: bytes, seed: int, index: int) -> Any:
    fields = stored_spec(benchmark.spec_type, orjson.loads(spec))
    return next(iter(benchmark.generate(fields, seed, index, 1)))


def _shortened(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}\n[cut: {len(text) - MAX_TEXT:,} more characters]"
