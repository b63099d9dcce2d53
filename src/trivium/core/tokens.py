"""About how many tokens a text takes, without any model's vocabulary."""

from __future__ import annotations

import re

_PIECES = re.compile(r"[A-Za-z]+|[0-9]{1,3}|[^\sA-Za-z0-9]|\n+")
LETTERS_PER_TOKEN = 8  # common words are one token up to about this length


def approximate_tokens(text: str) -> int:
    """Words, groups of three digits and signs, as byte-pair vocabularies cut them."""
    return sum(
        1 + (len(piece) - 1) // LETTERS_PER_TOKEN if piece[0].isalpha() else 1
        for piece in _PIECES.findall(text)
    )
