"""GALLERY.md: what every benchmark looks like, made from the code."""

from __future__ import annotations

from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.core.benchmark import AnyBenchmark

SEED = 7


def gallery() -> str:
    """The whole page."""
    parts = [
        "# Gallery",
        "Made from the code by `make gallery`; a test holds it current. "
        "Every entry is item 0 of seed 7.",
    ]
    for name in benchmark_names():
        parts += _entries(get_benchmark(name))
    return "\n\n".join(parts) + "\n"


def _entries(benchmark: AnyBenchmark) -> list[str]:
    parts = [f"## {benchmark.name}", benchmark.title.capitalize() + "."]
    for heading, spec, view in benchmark.gallery_examples():
        item = next(iter(benchmark.generate(spec, SEED)))
        answer = benchmark.write(item, benchmark.gold(item), view)
        parts += [
            f"### {heading}",
            fenced(benchmark.render(item, view)),
            f"Answer (chance {benchmark.floor(item):.3f} on {benchmark.metrics[0].name}):",
            fenced(answer),
        ]
    return parts


def fenced(text: str) -> str:
    """A block of plain text."""
    fence = "```" if "```" not in text else "````"
    return f"{fence}text\n{text}\n{fence}"
