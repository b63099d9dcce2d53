"""The attempts in the page's item browser: prompt, replies and the expected answer."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.core.benchmark import AnyBenchmark
from trivium.core.dialogue import RESTATE
from trivium.core.reading import visible_replies
from trivium.core.records import UNSCORED, Row
from trivium.report.replay import presented_item, replies_of
from trivium.report.results import MAX_ATTEMPTS, BenchmarkResults

MAX_CHARACTERS = 12_000_000  # of all their texts, which are compressed to a third or less
PART = 150_000  # characters of texts, about, that the page unpacks at once
MAX_TEXT = 20_000  # characters of one prompt or reply
NO_PROMPT = "(this item came from a file; its prompt is not in the records)"


def browser_items(
    all_results: Sequence[BenchmarkResults], max_characters: int = MAX_CHARACTERS
) -> dict[str, Any]:
    """A sample over solvers, settings and kinds: each text once, and attempts that refer to it."""
    texts: dict[str, int] = {}
    attempts: list[dict[str, Any]] = []
    characters = 0
    for results, setting, row in _examples(all_results):
        shown = conversation(results.benchmark, row)
        new = {text for _, text in shown.turns if text not in texts}
        characters += sum(map(len, new)) + len(shown.expected) + len(shown.read)
        if len(attempts) >= MAX_ATTEMPTS or characters > max_characters:
            break
        usage = row.get("usage") or {}
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
                "tokens": usage.get("output_tokens"),
                "error": row.get("error"),
                "expected": shown.expected,
                "read": shown.read,
                "marks": [texts.setdefault(text, len(texts)) for text in shown.marks],
                "turns": [[side, texts.setdefault(text, len(texts))] for side, text in shown.turns],
            }
        )
    benchmarks = {results.benchmark.name: results.benchmark for results in all_results}
    return {
        "texts": list(texts),
        "attempts": sorted(attempts, key=_errors_first),
        "kinds": {name: dict(own.kinds) for name, own in benchmarks.items()},
        "metrics": {
            name: {m.name: m.about for m in own.metrics} for name, own in benchmarks.items()
        },
    }


def packed(items: Mapping[str, Any]) -> dict[str, Any]:
    """The same attempts as a short list, and compressed parts that hold everything else."""
    texts, names = items["texts"], dict[str, int]()
    listed, parts = [], []
    own: list[dict[str, Any]] = []
    known: dict[int, int] = {}

    def place(number: int) -> int:
        return known.setdefault(number, len(known))

    def close() -> None:
        content = {"texts": [texts[number] for number in known], "attempts": own}
        parts.append(b64encode(gzip.compress(orjson.dumps(content), mtime=0)).decode())
        known.clear()
        own.clear()

    for attempt in items["attempts"]:
        fields = (attempt[key] for key in ("benchmark", "setting", "solver", "id", "kind"))
        shown = [names.setdefault(field, len(names)) for field in fields]
        listed.append([*shown, attempt["seed"], attempt["trial"], len(parts), len(own)])
        turns = [[side, place(text)] for side, text in attempt["turns"]]
        own.append(attempt | {"turns": turns, "marks": list(map(place, attempt["marks"]))})
        if sum(len(texts[number]) for number in known) + 300 * len(own) > PART:
            close()
    if own:
        close()
    meanings = {name: items[name] for name in ("kinds", "metrics")}
    return {"names": list(names), "list": listed, "parts": parts, **meanings}


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
        (results, setting, rows)
        for results in all_results
        for (setting, _, _), rows in results.examples.items()
    ]
    for number in range(max((len(rows) for *_, rows in lists), default=0)):
        for results, setting, rows in lists:
            if number < len(rows):
                yield results, setting, rows[number]


@dataclass(frozen=True)
class Conversation:
    """The texts of an attempt."""

    turns: Sequence[tuple[str, str]]  # (side, text)
    expected: str
    read: str  # the answer as it was read
    marks: Sequence[str]  # what to highlight in the prompt


def conversation(benchmark: AnyBenchmark, row: Row) -> Conversation:
    """The turns of an attempt, the expected answer and the answer that was read."""
    replies, system = replies_of(row), row.get("system")
    if row.get("spec") is None or row.get("index") is None:
        turns = [("environment", row.get("prompt") or NO_PROMPT)]
        turns += [("solver", reply) for reply in replies]
        return _shortened(turns, system, row.get("gold") or "-")
    item, view = presented_item(benchmark, row)
    visible = visible_replies(replies)
    answer = None
    if row["answer"] is not None:  # a reply that was cut off has none, whatever it says
        answer = benchmark.parse(item, visible, view)
    known = {step.replies: step.text for step in benchmark.explain(item, visible, view)}
    turns = [("environment", benchmark.render(item, view))]
    for count, reply in enumerate(replies, start=1):
        turns.append(("solver", reply))
        if count < len(replies):
            response = benchmark.respond(item, visible[:count], view)
            if response is None and not benchmark.multi_turn:
                response = RESTATE
            turns += [("environment", response)] if response is not None else []
            turns += [("observer", known[count])] if count in known else []
    return _shortened(
        turns,
        system,
        benchmark.write(item, benchmark.gold(item), view),
        "-" if answer is None else benchmark.write(item, answer, view),
        benchmark.highlights(item, view),
    )


def _shortened(
    turns: Sequence[tuple[str, str]],
    system: str | None,
    expected: str,
    read: str = "-",
    marks: Sequence[str] = (),
) -> Conversation:
    """A conversation after its system message, with long texts cut."""
    every = [("system", system), *turns] if system else turns
    return Conversation(
        [(side, _cut(text)) for side, text in every], _cut(expected), _cut(read), marks
    )


def _cut(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}\n[cut: {len(text) - MAX_TEXT:,} more characters]"
