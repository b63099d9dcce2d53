"""The examples in docs/training.md, each run where its library is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.adapters import required
from tests.test_docs import Block, blocks

PAGE = Path(__file__).parent.parent.parent / "docs/training.md"
EXAMPLES = [block for block in blocks(PAGE) if block.info.startswith("python with ")]


def test_there_is_an_example_of_every_library() -> None:
    libraries = ["verifiers", "reasoning_gym", "gymnasium", "openenv"]
    assert [block.info.removeprefix("python with ") for block in EXAMPLES] == libraries


@pytest.mark.parametrize("block", EXAMPLES, ids=lambda block: block.info)
def test_the_example_works_as_printed(block: Block, tmp_path: Path) -> None:
    required(block.info.removeprefix("python with "))
    subprocess.run([sys.executable, "-c", block.text], cwd=tmp_path, check=True)
