"""The README as the package's description: its links to files become links to the repository."""

import re
import tomllib
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent
PROJECT = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY = PROJECT["urls"]["Repository"]
PICTURES = REPOSITORY.replace("github.com", "raw.githubusercontent.com")


def absolute(text: str) -> str:
    """The text with absolute links."""
    text = re.sub(r"(!\[[^\]]*\]\()(?!https?:|#)", rf"\1{PICTURES}/main/", text)
    return re.sub(r"((?<!!)\[[^\]]*\]\()(?!https?:|#)", rf"\1{REPOSITORY}/blob/main/", text)


readme = (HERE / "README.md").read_text(encoding="utf-8")
setup(long_description=absolute(readme), long_description_content_type="text/markdown")
