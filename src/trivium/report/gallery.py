"""GALLERY.md: what the items of every benchmark look like, generated from the code."""

from __future__ import annotations

from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.core.benchmark import AnyBenchmark
from trivium.core.task import Task
from trivium.exchange.dataset_folder import changed_flags, task_flags
from trivium.exchange.export import CANARY_LINE
from trivium.report.tables import Table

SEED = 1729  # no command's default, so that no answer here is that of an item people are scored on


def gallery() -> str:
    """The text of GALLERY.md."""
    parts = [
        "# Gallery",
        "Generated from the code by `make gallery`; a test checks that it is current. Every entry "
        f"is item 0 of seed {SEED}, which no command uses by default, and begins with the command "
        "that prints it.",
        CANARY_LINE,
    ]
    for name in benchmark_names():
        parts += _entries(get_benchmark(name))
    return "\n\n".join(parts) + "\n"


def _entries(benchmark: AnyBenchmark) -> list[str]:
    parts = [f"## {benchmark.name}", benchmark.title.capitalize() + "."]
    metrics = [(metric.name, metric.about) for metric in benchmark.metrics]
    parts.append(Table("", ("metric", "meaning"), tuple(metrics)).markdown())
    parts.append(
        Table("", ("kind of answer", "meaning"), tuple(benchmark.kinds.items())).markdown()
    )
    for heading, spec, view in benchmark.gallery_examples():
        item = next(iter(benchmark.generate(spec, SEED)))
        floor = Task(benchmark, spec, view).item_floor(item).value
        answer = benchmark.write(item, benchmark.gold(item), view)
        parts += [
            f"### {heading}",
            f"```bash\n{show_command(Task(benchmark, spec, view))} --seed {SEED}\n```",
            _code_block(benchmark.render(item, view)),
            f"Answer ({benchmark.metrics[0].name} without reading: {floor:.3f}):",
            _code_block(answer),
        ]
    return parts


def show_command(task: Task) -> str:
    """The command that shows an item of a task."""
    benchmark = task.benchmark
    words = [] if task.spec == benchmark.default_spec else task_flags(task)
    words += changed_flags(task.view, benchmark.view_type())
    return " ".join(["trivium", "show", benchmark.name, *words])


def _code_block(text: str) -> str:
    fence = "```" if "```" not in text else "````"
    return f"{fence}text\n{text}\n{fence}"
