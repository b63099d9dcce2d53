"""GALLERY.md: what the items of every benchmark look like, generated from the code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.core.benchmark import AnyBenchmark
from trivium.core.streams import DEFAULT_SEED


def gallery() -> str:
    """The text of GALLERY.md."""
    parts = [
        "# Gallery",
        "Generated from the code by `make gallery`; a test checks that it is current. Every entry "
        f"is item 0 of seed {DEFAULT_SEED}, the default of all commands, and begins with the "
        "command that prints it.",
    ]
    for name in benchmark_names():
        parts += _entries(get_benchmark(name))
    return "\n\n".join(parts) + "\n"


def _entries(benchmark: AnyBenchmark) -> list[str]:
    parts = [f"## {benchmark.name}", benchmark.title.capitalize() + "."]
    for heading, spec, view in benchmark.gallery_examples():
        item = next(iter(benchmark.generate(spec, DEFAULT_SEED)))
        floor = benchmark.floor(spec, view).value
        answer = benchmark.write(item, benchmark.gold(item), view)
        parts += [
            f"### {heading}",
            f"```bash\n{show_command(benchmark, spec, view)}\n```",
            _code_block(benchmark.render(item, view)),
            f"Answer ({benchmark.metrics[0].name} without reading: {floor:.3f}):",
            _code_block(answer),
        ]
    return parts


def show_command(benchmark: AnyBenchmark, spec: Any, view: Any) -> str:
    """The command that shows an item of this spec and view."""
    words = ["trivium", "show", benchmark.name]
    base = benchmark.default_spec
    for name, preset in benchmark.presets.items():
        if preset == spec != base:
            words += ["--preset", name]
            base = preset
    flags = [*_flags(spec, base), *_flags(view, benchmark.view_type())]
    return " ".join([*words, *flags])


def _flags(changed: Any, base: Any) -> Iterator[str]:
    """The flags that turn one spec or view into another."""
    for field in fields(changed):
        value = getattr(changed, field.name)
        if value == getattr(base, field.name):
            continue
        if isinstance(value, bool):
            yield f"--{field.name}" if value else f"--no_{field.name}"
        else:
            values = value if isinstance(value, tuple) else (value,)
            yield " ".join([f"--{field.name}", *map(str, values)])


def _code_block(text: str) -> str:
    fence = "```" if "```" not in text else "````"
    return f"{fence}text\n{text}\n{fence}"
