"""The words of answers in other languages, so that the grammars have to know English only."""

from __future__ import annotations

import re

from trivium.core.files import packaged_pairs

_WORDS = dict(packaged_pairs("trivium.core", "languages.txt"))
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
        re.compile(rf"(?<!\w)(?=\w)(?:{'|'.join(spaced)})(?:(?<=')|(?!\w))"),
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
    if not text.isascii():
        text = _translated(text, text, _JOINED)
    # Small letters are matched several times as fast as letters of any case.
    small = text.lower()
    if len(small) != len(text):
        small = "".join(letter.lower()[:1] for letter in text)
    return _translated(text, small, _SPACED)


def _translated(text: str, small: str, words: re.Pattern[str]) -> str:
    """The text with English in the place of all words that are found in its small letters."""
    parts: list[str] = []
    end = 0
    for found in words.finditer(small):
        parts += [text[end : found.start()], f" {_ENGLISH[int(str(found.lastgroup)[1:])]} "]
        end = found.end()
    return "".join([*parts, text[end:]])
