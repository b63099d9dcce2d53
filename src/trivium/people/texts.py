"""The texts for participants, one file for each language."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from string import Formatter
from typing import Any

from trivium.benchmarks import EXTENSIONS
from trivium.core.errors import UserError, located, require
from trivium.core.spec import read_mapping

LANGUAGES = ("en", "de")
Texts = Mapping[str, str]


def read_texts(language: str) -> Texts:
    """The texts of a shipped language, or of a complete translation in a file."""
    if language in LANGUAGES:
        return _shipped(language)
    require(
        language.endswith(".toml"),
        f"language must be one of {', '.join(LANGUAGES)} or a file of texts, got {language!r}",
    )
    table, needed = read_mapping(Path(language)), _shipped("en")
    with located(language):
        texts = _flat(table)
        missing = sorted(set(needed) - set(texts))
        require(not missing, f"these texts are missing: {', '.join(missing)}")
        for key in needed:
            allowed = _placeholders(needed[key])
            try:
                unknown = ", ".join(sorted(_placeholders(texts[key]) - allowed))
            except ValueError:
                raise UserError(f"{key} has a brace without its partner") from None
            names = ", ".join(sorted(allowed)) or "nothing"
            require(not unknown, f"{key} may have {names} in braces, got {unknown}")
    return texts


def _placeholders(text: str) -> set[str]:
    """The names in braces; raises ValueError if a brace has no partner."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@cache
def _shipped(language: str) -> Texts:
    """The texts in this package and those of drawn pages."""
    texts: dict[str, str] = {}
    for package in ("trivium.people", *(f"{extension}.people" for extension in EXTENSIONS)):
        path = resources.files(package).joinpath("texts", f"{language}.toml")
        texts |= _flat(tomllib.loads(path.read_text(encoding="utf-8")))
    return texts


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested tables as one table with dotted keys."""
    texts: dict[str, str] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            texts |= _flat(value, f"{prefix}{key}.")
        elif isinstance(value, str):
            texts[prefix + key] = value
        else:
            raise UserError(f"{prefix}{key} must be text, got {value!r}")
    return texts


def numbered(texts: Texts, prefix: str, suffix: str = "") -> list[str]:
    """The texts with the keys prefix.1, prefix.2, ..., each with the suffix, in order."""
    values: list[str] = []
    while (key := f"{prefix}.{len(values) + 1}{suffix}") in texts:
        values.append(texts[key])
    return values
