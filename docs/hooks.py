"""What the site adds to the pages in docs: pages from the code, from notebooks and from READMEs.

mkdocs calls `on_files` and `on_page_markdown`. Pages are written for readers of the repository, so
links to files outside docs become links to pages of the site, or to the repository.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tomllib
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import griffe
from mkdocs.structure.files import File

from trivium.auditing.stored import audit_sentence, audit_verdict
from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.cli import GROUPS, command_module
from trivium.commands.flags import Parser
from trivium.core.benchmark import KINDS, AnyBenchmark
from trivium.core.task import Task
from trivium.evaluation.cost import Prices
from trivium.evaluation.executors import Workers
from trivium.models.settings import ModelOptions
from trivium.report.tables import markdown_text

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY = PROJECT["urls"]["Repository"]
# Pages of the site that are kept elsewhere.
ELSEWHERE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "GALLERY.md": "gallery.md",
    "README.md": "README.md",  # the home page of the site says the same
    "src/trivium/agents/README.md": "agents.md",
    "src/trivium/benchmarks/blicket/README.md": "benchmarks/blicket.md",
    "src/trivium/benchmarks/nhop/README.md": "benchmarks/nhop.md",
    "src/trivium/benchmarks/variables/README.md": "benchmarks/variables.md",
    "studies/blicket_learners/findings.md": "studies/findings.md",
    "studies/blicket_learners/tables.md": "studies/tables.md",
}
FENCE = re.compile(r"^(?:```|````)[^\n]*\n.*?^(?:```|````)$", re.M | re.S)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:)([^)#\s]*)(#[^)\s]*)?\)")
EXAMPLE = re.compile(r"^(>>> .*(?:\n.+)*)", re.M)
PROMPT_LINES = 24  # of the example item on a benchmark's page


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are not in docs."""
    sources = {path: uri for path, uri in ELSEWHERE.items() if path != "README.md"}
    for path, uri in sources.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        files.append(File.generated(config, uri, content=text))
        for image, _, target, _ in LINK.findall(FENCE.sub("", text)):
            found = (ROOT / path).parent / target
            if image and not found.resolve().is_relative_to(ROOT / "docs"):
                place = f"{Path(uri).parent}/{target}"
                files.append(File.generated(config, place, abs_src_path=str(found)))
    for notebook in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        page = notebook_page(notebook)
        files.append(File.generated(config, f"notebooks/{notebook.stem}.md", content=page))
    files.append(File.generated(config, "reference/commands.md", content=commands_page()))
    files.append(File.generated(config, "reference/glossary.md", content=glossary_page()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """The text of a page with links of the site, and with what the code knows about a benchmark."""
    uri = page.file.src_uri
    source = next((ROOT / path for path, own in ELSEWHERE.items() if own == uri), None)
    if uri == "README.md" or source is None:
        source = ROOT / "docs" / uri
    if Path(uri).parent.name == "benchmarks" and Path(uri).stem in benchmark_names():
        markdown += benchmark_facts(get_benchmark(Path(uri).stem))

    def site_link(found: re.Match[str]) -> str:
        image, text, target, anchor = found.groups()
        if not target:
            return found[0]
        path = Path(os.path.normpath(source.parent / target))
        place = _site_uri(path, bool(image), source, uri)
        if place is None:
            require_file(path, uri)
            kind = "tree" if path.is_dir() else "blob"
            return f"[{text}]({REPOSITORY}/{kind}/main/{path.relative_to(ROOT)})"
        return f"{image}[{text}]({os.path.relpath(place, Path(uri).parent)}{anchor or ''})"

    parts, end = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [LINK.sub(site_link, markdown[end : fence.start()]), _with_title(fence[0])]
        end = fence.end()
    return "".join([*parts, LINK.sub(site_link, markdown[end:])])


def _site_uri(path: Path, image: bool, source: Path, uri: str) -> str | None:
    """Where a file is on the site; None if it is in the repository only."""
    path = path / "README.md" if (path / "README.md").exists() else path
    if path.suffix == ".ipynb" and not uri.startswith("notebooks/"):
        path = path.with_suffix(".md")  # the page of a notebook
    if path.is_relative_to(ROOT / "docs"):
        return str(path.relative_to(ROOT / "docs"))
    outside = str(path.relative_to(ROOT))
    if image:
        return str(Path(uri).parent / path.relative_to(source.parent))
    return ELSEWHERE.get(outside)


def require_file(path: Path, uri: str) -> None:
    """Refuse a link to a file of the repository that does not exist."""
    if not path.exists():
        raise FileNotFoundError(f"{uri} links to {path.relative_to(ROOT)}, which does not exist")


def _with_title(fence: str) -> str:
    """A fenced block whose condition, as in "bash needs a key", is its title."""
    return re.sub(r"\A(`+\w+) ((?:needs|with) [^\n]*)", r'\1 title="\2"', fence)


def notebook_page(path: Path) -> str:
    """A notebook as Markdown: text, code and what the code showed."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            html, text = ("".join(data.get(f"text/{kind}", "")) for kind in ("html", "plain"))
            text = "".join(output.get("text", "")) or text
            if html:
                parts.append(f'<div class="output">{" ".join(html.split())}</div>')
            elif text:
                parts.append(f"```text\n{text.rstrip()}\n```")
    title, *rest = parts
    return "\n\n".join([title, f"[This page as a notebook]({path.name})", *rest]) + "\n"


class Doctests(griffe.Extension):
    """Examples in docstrings as blocks of code."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring is not None:
            shown = EXAMPLE.sub(r"```pycon\n\1\n```", obj.docstring.value)
            obj.docstring.value = shown


class _FoundError(Exception):
    """Raised with a parser in place of parsing."""


def parser_of(command: str, *args: str) -> Parser:
    """The parser that a command reads its arguments with."""

    def found(parser: Parser, words: Any) -> Any:
        raise _FoundError(parser)

    with mock.patch.object(Parser, "parse", found):
        try:
            command_module(command).main(list(args))
        except _FoundError as problem:
            parser: Parser = problem.args[0]
            parser.format_help()  # gives every flag its text
            return parser
    raise RuntimeError(f"{command} reads no arguments")


def commands_page() -> str:
    """The reference of the command line."""
    parts = [
        "# Commands",
        "Written from the parsers of the command line; `trivium COMMAND --help` prints the same. "
        "Commands that take the NAME of a benchmark also take every field of its spec and view as "
        "a flag: the page of each benchmark lists them. Boolean flags are turned off by "
        "`--no_FLAG`.",
    ]
    for heading, group in GROUPS.items():
        parts.append(f"## {heading[0].upper()}{heading[1:]}")
        for name in group:
            parts += [f"### trivium {name}", *_command(name)]
    shared = parser_of("eval", benchmark_names()[0])
    parts += ["## Flags of runs", "Of `eval`, `run`, `sweep`, `diagnose` and `threshold`."]
    parts += _flag_tables(shared, SHARED, wanted=True)
    return "\n\n".join(parts) + "\n"


def _command(name: str) -> Iterator[str]:
    """Usage, description, examples and flags of a command."""
    parser = parser_of(name)
    yield f"```text\n{parser.usage}\n```"
    yield " ".join(str(parser.description).split())
    if parser.epilog:
        examples = "\n".join(line.strip() for line in parser.epilog.splitlines()[1:])
        yield f"```bash\n{examples}\n```"
    others = getattr(command_module(name), "OTHERS", ())  # subcommands
    choices = _choices(parser)
    # Of the benchmarks one is enough, since what belongs to a benchmark is on its page, and of
    # other choices one of each kind: they differ in the defaults of some flags.
    kinds: dict[str, list[str]] = {}
    for choice, about in choices.items():
        if choice not in benchmark_names()[1:]:
            kinds.setdefault(about, []).append(choice)
    parsers = {
        ", ".join(f"`{choice}`" for choice in same): parser_of(name, same[0])
        for same in [*kinds.values(), *([other] for other in others)]
    }
    if not choices:
        parsers = {"": parser} | parsers
    own = {_heading(part) for key in benchmark_names() for part in _parts(get_benchmark(key))}
    if any(" ".join(str(group.title).split()) in SHARED for group in parser_groups(parsers)):
        yield "All [flags of runs](#flags-of-runs), and:"
        own |= SHARED
    tables: dict[tuple[str, ...], list[str]] = {}  # choices with the same flags
    for choice, found in parsers.items():
        tables.setdefault(tuple(_flag_tables(found, own, wanted=False)), []).append(choice)
    for table, which in tables.items():
        if len(tables) > 1 and which != [""]:
            yield f"With {', '.join(which)}:"
        yield from table


def parser_groups(parsers: dict[str, Parser]) -> list[Any]:
    """The groups of flags of some parsers."""
    return [group for parser in parsers.values() for group in parser._action_groups]


def _choices(parser: Parser) -> dict[str, str]:
    """What the first argument of a command may be."""
    return {
        str(action.metavar): str(action.help)
        for action in parser._actions
        if action.dest == "choice"
    }


def _parts(benchmark: AnyBenchmark) -> tuple[Any, Any]:
    return benchmark.default_spec, benchmark.view_type()


def _heading(part: Any) -> str:
    return " ".join(str(part.__doc__).strip(".").split())


# Groups of flags that all commands have that evaluate.
SHARED = {_heading(part) for part in (ModelOptions, Prices, Workers)}


def _flag_tables(parser: Parser, titles: Container[str], *, wanted: bool) -> Iterator[str]:
    """A table of flags for each group of a parser whose title is, or is not, one of these."""
    for group in parser._action_groups:
        title = " ".join(str(group.title).split())
        actions = [one for one in group._group_actions if one.dest not in ("help", "choice")]
        if not actions or (title in titles) != wanted:
            continue
        rows = [(_flag(action), text(str(action.help or ""))) for action in actions]
        if title not in ("options", "positional arguments"):
            yield f"{title[0].upper()}{title[1:]}:"
        yield table(("flag", "meaning"), rows)


def _flag(action: argparse.Action) -> str:
    """A flag with the values that it takes."""
    values = "|".join(map(str, action.choices)) if action.choices else str(action.metavar or "")
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`"
    values = values or ("" if action.nargs == 0 else action.dest.upper())
    many = " ..." if action.nargs == "+" else ""
    return f"`{', '.join(action.option_strings)} {values}{many}`".replace(" `", "`")


def glossary_page() -> str:
    """What every metric and every kind of answer means, as the benchmarks say."""
    metrics: dict[tuple[str, str], list[str]] = {}
    kinds: dict[tuple[str, str], list[str]] = {}
    for name in benchmark_names():
        benchmark = get_benchmark(name)
        link = f"[{name}](../benchmarks/{name}.md)"
        for metric in benchmark.metrics:
            best = "" if metric.best == 1 else f" (best: {metric.best:g})"
            metrics.setdefault((metric.name, metric.about + best), []).append(link)
        for kind, about in benchmark.kinds.items():
            if KINDS.get(kind) != about:
                kinds.setdefault((kind, about), []).append(link)
    shared = {key: ["all"] for key in KINDS.items()}
    parts = [
        "# Metrics and kinds of answers",
        "Written from the benchmarks' own definitions; reports and `trivium analyze` use the same "
        "words. The first metric of a benchmark, `correct`, is its headline: floor, ceiling and "
        "[lift](../concepts.md#lift) are about it. Every attempt has exactly one kind; "
        "[how an attempt ends](../concepts.md#how-an-attempt-ends) says what the kinds mean for "
        "the score.",
        "## Metrics",
        _glossary("metric", sorted(metrics.items())),
        "## Kinds of answers",
        _glossary("kind", [*shared.items(), *sorted(kinds.items())]),
        "## Words",
        table(("word", "meaning"), WORDS),
    ]
    return "\n\n".join(parts) + "\n"


WORDS = (
    ("spec", "which items there are: the fields of a benchmark"),
    ("preset", "a named spec"),
    ("view", "how an item is presented; it never changes the item"),
    ("floor", "the best score without reasoning about the item"),
    ("ceiling", "the score of the best solver that sees the same text"),
    ("lift", "(score - floor) / (ceiling - floor)"),
    ("shortcut", "a solver that reads the surface of a prompt and does not reason"),
    ("audit", "a search for shortcuts on the surface of prompts"),
    ("threshold", "the value of a field at which lift first falls to a target"),
    ("attempt", "one solver at one item in one order; a line of records.jsonl"),
)


def _glossary(heading: str, entries: Iterable[tuple[tuple[str, str], list[str]]]) -> str:
    rows = [(f"`{name}`", text(about), ", ".join(who)) for (name, about), who in entries]
    return table((heading, "meaning", "benchmarks"), rows)


def text(words: str) -> str:
    """A cell of a table; what looks like markup is escaped."""
    return markdown_text(words.replace("%%", "%"))


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells are Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def benchmark_facts(benchmark: AnyBenchmark) -> str:
    """The sections of a benchmark's page that follow from its code."""
    task = Task(benchmark, *_parts(benchmark))
    item = task.item(0, 1729)
    lines = item.prompt.split("\n")
    left = len(lines) - PROMPT_LINES
    if left > 1:
        half = PROMPT_LINES // 2
        lines = [*lines[:half], f"... {left} lines more ...", *lines[-half:]]
    prompt = "\n".join(lines)
    gold = f"`{item.gold}`" if "\n" not in item.gold else f"\n\n```text\n{item.gold}\n```"
    parts = [
        "## Reference",
        f"Written from the code; the items have version {benchmark.version}. More of them are in "
        f"the [gallery](../../GALLERY.md#{benchmark.name}).",
        "### Presets",
        table(("preset", "floor", "ceiling", "audit"), _presets(benchmark)),
        audit_sentence(task),
        "### An item",
        f"````text\n{prompt}\n````",
        f"Answer: {gold}",
        "### Metrics",
        table(("metric", "meaning"), [(f"`{m.name}`", text(m.about)) for m in benchmark.metrics]),
        "### Kinds of answers",
        table(
            ("kind", "meaning"), [(f"`{k}`", text(about)) for k, about in benchmark.kinds.items()]
        ),
        "### Built-in solvers",
        table(
            ("solver", "role", "what it does"),
            [(f"`{s.name}`", s.role, text(s.about)) for s in benchmark.solvers.values()],
        ),
        "### Fields",
        "Flags of commands, keywords of `trivium.load` and keys of config files.",
    ]
    titles = {_heading(part) for part in _parts(benchmark)}
    parts += _flag_tables(parser_of("show", benchmark.name), titles, wanted=True)
    return "\n\n" + "\n\n".join(parts) + "\n"


def _presets(benchmark: AnyBenchmark) -> Iterator[tuple[str, ...]]:
    view = benchmark.view_type()
    for name, spec in benchmark.presets.items():
        floor, ceiling = benchmark.floor(spec, view), benchmark.ceiling(spec, view)
        verdict = audit_verdict(Task(benchmark, spec, view))
        default = " (default)" if spec == benchmark.default_spec else ""
        yield (
            f"`{name}`{default}",
            f"{floor.value:.3f} ({floor.name})",
            f"{'' if ceiling.exact else 'at most '}{ceiling.value:.3f} ({ceiling.name})",
            verdict,
        )
