"""Approximate token counts, without any model's vocabulary."""

from __future__ import annotations

import re

_PIECES = re.compile(r"[A-Za-z]+|[0-9]{1,3}|[^\sA-Za-z0-9]|\n+")
LETTERS_PER_TOKEN = 8  # common words up to about this length are one token


def approximate_tokens(text: str) -> int:
    """The number of words, groups of three digits and signs, long words counted several times."""
    return sum(
        1 + (len(piece) - 1) // LETTERS_PER_TOKEN if piece[0].isalpha() else 1
        for piece in _PIECES.findall(text)
    )
