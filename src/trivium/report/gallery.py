"""GALLERY.md: what the items of every benchmark look like, generated from the code."""

from __future__ import annotations

from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.core.benchmark import AnyBenchmark

SEED = 7


def gallery() -> str:
    """The text of GALLERY.md."""
    parts = [
        "# Gallery",
        "Generated from the code by `make gallery`; a test checks that it is current. "
        "Every entry is item 0 of seed 7.",
    ]
    for name in benchmark_names():
        parts += _entries(get_benchmark(name))
    return "\n\n".join(parts) + "\n"


def _entries(benchmark: AnyBenchmark) -> list[str]:
    parts = [f"## {benchmark.name}", benchmark.title.capitalize() + "."]
    for heading, spec, view in benchmark.gallery_examples():
        item = next(iter(benchmark.generate(spec, SEED)))
        floor = benchmark.floor(spec, view).value
        answer = benchmark.write(item, benchmark.gold(item), view)
        parts += [
            f"### {heading}",
            _code_block(benchmark.render(item, view)),
            f"Answer ({benchmark.metrics[0].name} without reading: {floor:.3f}):",
            _code_block(answer),
        ]
    return parts


def _code_block(text: str) -> str:
    fence = "```" if "```" not in text else "````"
    return f"{fence}text\n{text}\n{fence}"
