"""The pages of providers: every command in them is run, against a server of our own."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import trivium
from tests.models.server import Server
from trivium.benchmarks import benchmark_names
from trivium.cli import main
from trivium.models.providers import PROVIDERS

DOCS = Path(trivium.__file__).parents[2] / "docs"
PAGES = [DOCS / "providers.md", DOCS / "inspect.md"]
COMMANDS = [
    pytest.param(line, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, line in enumerate(
        re.findall(r"^trivium (?:eval|run|sweep) .*$", page.read_text(), re.M)
    )
    if "anthropic/" not in line
    and all(name in benchmark_names() for name in re.findall(r"trivium eval (\w+)", line))
]


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_works(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Server(lambda messages: "A_1") as server:
        for name in PROVIDERS:
            monkeypatch.setenv(f"{name.upper()}_BASE_URL", server.url)
            monkeypatch.setenv(f"{name.upper()}_API_KEY", "sk-for-the-pages")
        words = shlex.split(re.sub(r"http://[\w.:-]+/v1", server.url, line))[1:]
        words[words.index("--items") + 1] = "4"  # as many as the page says would only take longer
        assert main(words) in (0, 1)  # 1: in a game this reply answers nothing
    models = line.count("--model")
    assert sum(server.answered.values()) >= 4 * models
    assert list(tmp_path.rglob("records.jsonl"))


def test_every_provider_has_a_section() -> None:
    headings = re.findall(r"^## (.*)$", PAGES[0].read_text(), re.M)
    names = {re.sub(r"\W", "", heading).lower() for heading in headings}
    assert names >= set(PROVIDERS)
