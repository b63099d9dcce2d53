"""The words of answers in other languages, so that the grammars have to know English only."""

from __future__ import annotations

import re
from importlib import resources

_LINES = resources.files("trivium.core").joinpath("languages.txt").read_text("utf-8").split("\n")
_WORDS = dict(line.split(": ", 1) for line in _LINES if line and not line.startswith("#"))
_ALTERNATIVE = re.compile(r"(?:[^|()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))+")


def _is_wide(word: str) -> bool:
    """Whether a word is of a writing without spaces between words."""
    return max(map(ord, word)) >= 0x2E80


def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The words of writings with spaces between words, and those of writings without."""
    spaced: list[str] = []
    joined: list[str] = []
    for number, words in enumerate(_WORDS.values()):
        parts = _ALTERNATIVE.findall(words)
        for patterns, wide in ((spaced, False), (joined, True)):
            own = [part for part in parts if _is_wide(part) == wide]
            if own:
                patterns.append(f"(?P<w{number}>{'|'.join(own)})")
    return (
        re.compile(rf"(?<!\w)(?=\w)(?:{'|'.join(spaced)})(?:(?<=')|(?!\w))", re.IGNORECASE),
        re.compile("|".join(joined)),
    )


_SPACED, _JOINED = _patterns()
_ENGLISH = list(_WORDS)
ANSWER_WORDS = "|".join(
    word if _is_wide(word) else rf"(?<!\w){word}(?!\w)"
    for word in _ALTERNATIVE.findall(_WORDS["answer"])
)


def in_english(text: str) -> str:
    """The text with the words of an answer in English."""

    def english(found: re.Match[str]) -> str:
        return f" {_ENGLISH[int(str(found.lastgroup)[1:])]} "

    if not text.isascii():
        text = _JOINED.sub(english, text)
    return _SPACED.sub(english, text)
