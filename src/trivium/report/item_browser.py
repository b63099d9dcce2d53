"""The attempts in the page's item browser: prompt, replies and the expected answer."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import orjson

from trivium.benchmarks import benchmark_names, get_benchmark, recorded_item
from trivium.core.benchmark import AnyBenchmark
from trivium.core.dialogue import RESTATE
from trivium.core.reading import visible_replies
from trivium.core.records import UNSCORED, Row
from trivium.report.results import MAX_ATTEMPTS, BenchmarkResults, replies_of

MAX_CHARACTERS = 12_000_000  # of all their texts, which are compressed to a third or less
PART = 150_000  # characters of texts, about, that the page unpacks at once
MAX_TEXT = 20_000  # characters of one prompt or reply
NO_PROMPT = "(this item came from a file; its prompt is not in the records)"


def browser_items(
    all_results: Sequence[BenchmarkResults], max_characters: int = MAX_CHARACTERS
) -> dict[str, Any]:
    """Attempts as a short list, and compressed parts that hold everything else about them."""
    names: dict[str, int] = {}
    listed, parts = [], []
    attempts: list[dict[str, Any]] = []
    texts: dict[str, int] = {}  # each is stored once in a part

    def place(text: str) -> int:
        return texts.setdefault(text, len(texts))

    def close() -> None:
        content = {"texts": list(texts), "attempts": attempts}
        parts.append(b64encode(gzip.compress(orjson.dumps(content), mtime=0)).decode())
        texts.clear()
        attempts.clear()

    for attempt in browser_attempts(all_results, max_characters):
        fields = (attempt[key] for key in ("benchmark", "setting", "solver", "id", "kind"))
        shown = [names.setdefault(field, len(names)) for field in fields]
        listed.append([*shown, attempt["seed"], attempt["trial"], len(parts), len(attempts)])
        turns = [[side, place(text)] for side, text in attempt["turns"]]
        marks = [place(text) for text in attempt["marks"]]
        attempts.append(attempt | {"turns": turns, "marks": marks})
        if sum(map(len, texts)) + 300 * len(attempts) > PART:
            close()
    if attempts:
        close()
    benchmarks = [results.benchmark for results in all_results]
    return {
        "names": list(names),
        "list": listed,
        "parts": parts,
        "kinds": {one.name: dict(one.kinds) for one in benchmarks},
        "metrics": {one.name: {m.name: m.about for m in one.metrics} for one in benchmarks},
    }


def browser_attempts(
    all_results: Sequence[BenchmarkResults], max_characters: int = MAX_CHARACTERS
) -> list[dict[str, Any]]:
    """A sample over solvers, settings and kinds of answers, errors of models first."""
    attempts: list[dict[str, Any]] = []
    texts: set[str] = set()
    characters = 0
    for results, setting, row in _examples(all_results):
        shown = conversation(results.benchmark, row)
        new = {text for _, text in shown.turns} - texts
        texts |= new
        characters += sum(map(len, new)) + len(shown.expected) + len(shown.read)
        if len(attempts) >= MAX_ATTEMPTS or characters > max_characters:
            break
        attempts.append(
            {
                "benchmark": results.benchmark.name,
                "setting": setting,
                **{key: row.get(key) for key in ("solver", "seed", "id", "trial", "kind", "error")},
                "scores": {key: value for key, value in row["scores"].items() if value is not None},
                "tokens": (row.get("usage") or {}).get("output_tokens"),
                **vars(shown),
            }
        )
    return sorted(attempts, key=_errors_first)


def _errors_first(attempt: Row) -> tuple[bool, int, int, str]:
    """A sorting key: models before programs, and wrong answers first."""
    kind = attempt["kind"].partition(":")[0]
    rank = 2 if kind == "right" else int(kind in UNSCORED)
    program = attempt["solver"] in get_benchmark(attempt["benchmark"]).solvers
    return program, benchmark_names().index(attempt["benchmark"]), rank, kind


def _examples(
    all_results: Sequence[BenchmarkResults],
) -> Iterator[tuple[BenchmarkResults, str, Row]]:
    """The first example of every solver, setting and kind, then the second of each, and so on."""
    lists = [
        [(results, setting, row) for row in rows]
        for results in all_results
        for (setting, _, _), rows in results.examples.items()
    ]
    for places in zip_longest(*lists):
        yield from filter(None, places)


@dataclass(frozen=True)
class Conversation:
    """The turns of an attempt and its answer, as the item browser shows them."""

    turns: Sequence[tuple[str, str]]  # (side, text)
    expected: str
    read: str  # the answer as it was read
    marks: Sequence[str]  # what to highlight in the prompt


def conversation(benchmark: AnyBenchmark, row: Row) -> Conversation:
    """The turns of an attempt, the expected answer and the answer that was read."""
    replies, system = replies_of(row), row.get("system")
    turns = [("system", system)] if system else []
    expected, read = row.get("gold") or "-", "-"
    marks: Sequence[str] = ()
    if row.get("spec") is None or row.get("index") is None:
        turns.append(("environment", row.get("prompt") or NO_PROMPT))
        turns += [("solver", reply) for reply in replies]
    else:
        presented = recorded_item(row)
        item, view, visible = presented.content, presented.task.view, visible_replies(replies)
        expected, marks = presented.gold, benchmark.highlights(item, view)
        if row["answer"] is not None:  # a reply that was cut off has none, whatever it says
            answer = benchmark.parse(item, visible, view)
            read = "-" if answer is None else benchmark.write(item, answer, view)
        known = {step.replies: step.text for step in benchmark.explain(item, visible, view)}
        turns.append(("environment", presented.prompt))
        for count, reply in enumerate(replies, start=1):
            turns.append(("solver", reply))
            if count < len(replies):
                response = benchmark.respond(item, visible[:count], view)
                if response is None and not benchmark.multi_turn:
                    response = RESTATE
                turns += [("environment", response)] if response is not None else []
                turns += [("observer", known[count])] if count in known else []
    shown = [(side, _cut(text)) for side, text in turns]
    return Conversation(shown, _cut(expected), _cut(read), marks)


def _cut(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}\n[cut: {len(text) - MAX_TEXT:,} more characters]"
