"""The documentation: every command in it is run as printed, or checked where it says what it needs.

A block that begins with ```bash is run line by line, page by page, in an empty folder; blocks of
Python too. A block or file that begins with "# NAME.toml" or "# NAME.py" is written to that file.
Of ```bash needs SOMETHING the flags are checked, plans and prices are made, and nothing is sent; of
```python needs SOMETHING the syntax and the imports are checked. Blocks of ```python with LIBRARY
are run by tests/adapters where that library is installed.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from trivium.benchmarks import benchmark_names
from trivium.cli import command_module, main

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "src/**/*.md", "studies/**/*.md")
    for path in ROOT.glob(pattern)
    if path.name not in ("GALLERY.md", "CHANGELOG.md")  # the gallery has a test of its own
)
# What prepares a shell or a server, which no test can do.
ELSEWHERE = {
    "vf-eval",
    "uvicorn",
    "export",
    "source",
    "ollama",
    "vllm",
    "llama-server",
    "mlcroissant",
    "python3",
}


class Block(NamedTuple):
    """A fenced block of a page."""

    info: str
    text: str

    @property
    def commands(self) -> list[str]:
        """Its lines, without comments that stand alone, continued lines joined."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [line for line in lines if line.strip() and not line.startswith("#")]


def blocks(path: Path) -> list[Block]:
    """The fenced blocks of a page."""
    fenced = re.findall(r"^```([^\n`]*)\n(.*?)^```$", path.read_text(), re.M | re.S)
    return [Block(info.strip(), text) for info, text in fenced]


def is_run(block: Block) -> bool:
    return block.info == "bash"


def is_checked(block: Block) -> bool:
    """Whether only the flags are checked: so marked, or commands on a page that marks nothing."""
    plain = block.info == "" and block.text.startswith(("trivium ", "python "))
    return block.info.startswith("bash needs ") or plain


class ParsedError(Exception):
    """Raised in place of a command's work."""


@pytest.fixture
def _one_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In an empty folder, with neither keys nor more processes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)


@pytest.mark.usefixtures("_one_process")
@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_works_as_printed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks(path):
        file = re.match(r"# ([\w.]+\.(?:toml|py))\n", block.text)
        if file is not None:
            Path(file[1]).write_text(block.text)
        elif block.info == "python" and "gymnasium" in block.text:
            # In a process that has not imported trivium before.
            assert _python(["-c", block.text]) == 0, block.text
        elif block.info == "python":
            exec(compile(block.text, str(path), "exec"), names)
        elif block.info.startswith("python needs "):
            tree = ast.parse(block.text)
            tree.body = [one for one in tree.body if isinstance(one, ast.Import | ast.ImportFrom)]
            exec(compile(tree, str(path), "exec"), names)
        elif is_run(block):
            for line in block.commands:
                _run(line)
        elif is_checked(block):
            for line in block.commands:
                _check(line, monkeypatch)


def _run(line: str) -> None:
    """Run one line as it is."""
    program, *words = shlex.split(line, comments=True)
    expected = 1 if "exit status 1" in line else 0
    if program == "trivium":
        assert main(words) == expected, line
    else:
        assert program == "python", f"{line}: mark its block, as in ```bash needs a key"
        assert _python(words) == expected, line


def _python(words: list[str]) -> int:
    """The exit status of Python with these arguments."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}"}
    return subprocess.run([sys.executable, *words], env=environment, check=False).returncode


def _check(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check what can be checked of a line that cannot be run here."""
    program, *words = shlex.split(line, comments=True)
    if program == "trivium":
        _parse(words, monkeypatch)
    elif program == "make":
        subprocess.run(["make", "-n", *words], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    elif program == "pip":
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        extras = re.findall(r"\.\[(\w+)\]", line)
        assert extras or "-e ." in line, line
        assert set(extras) <= set(project["optional-dependencies"]), line
    elif program == "inspect":
        assert set(re.findall(r"eval trivium/(\w+)", line)) <= set(benchmark_names()), line
    elif program == "python":
        target = words[1].replace(".", "/") if words[0] == "-m" else words[0]
        assert words[0] == "-c" or (ROOT / target).exists(), line
    else:
        assert program in ELSEWHERE, line


def _parse(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the flags of a command and stop; plans and prices are made, since they cost nothing."""
    if words[0] in ("sweep", "diagnose"):
        assert main([*words, "--dry_run"]) == 0
        return
    if words[0] == "estimate":
        assert main(words) == 0
        return
    module = command_module(words[0])

    def stopping(read: Callable[..., Any]) -> Callable[..., Any]:
        def stop(*args: Any, **options: Any) -> Any:
            read(*args, **options)
            raise ParsedError

        return stop

    with monkeypatch.context() as patch:
        for name in ("ask", "read_flags", "read_benchmark_flags"):
            if hasattr(module, name):
                patch.setattr(module, name, stopping(getattr(module, name)))
        with pytest.raises(ParsedError):
            main(words)


def test_there_are_commands_to_run() -> None:
    found = [block for path in PAGES for block in blocks(path)]
    assert sum(len(block.commands) for block in found if is_run(block)) >= 40
    assert sum(len(block.commands) for block in found if is_checked(block)) >= 30
    assert sum(block.info == "python" for block in found) >= 6


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(path: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.M | re.S)
    for target, anchor in re.findall(r"\]\((?!https?://)([^)#\s]*)(#[^)\s]*)?\)", text):
        found = path.parent / target if target else path
        assert found.exists(), f"{path.name}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", found.read_text(), re.M)
            plain = (re.sub(r"[^\w\- ]", "", line) for line in headings)
            slugs = {line.strip().lower().replace(" ", "-") for line in plain}
            assert anchor[1:] in slugs, f"{path.name}: {target}{anchor}"
