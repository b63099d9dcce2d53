"""Text from outside: limited, and safe for terminals, file names, pages, SVG and CSV."""

from __future__ import annotations

import csv
import hashlib
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TextIO

MAX_TEXT = 1_000_000  # characters of a reply, about 250,000 tokens; the rest is cut off
MAX_LINE = 500  # characters of an error or of a name
MAX_WORD = 300  # characters without a space in a sentence on the terminal
MAX_FILE_NAME = 120
LETTERS_PER_TOKEN = 8  # common words up to about this length are one token
_PIECES = re.compile(r"[A-Za-z]+|[0-9]{1,3}|[^\sA-Za-z0-9]|\n+")
_JOINERS = "\u200c\u200d"  # of letters in some scripts, and of emoji
_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}  # controls, directions, surrogates, separators


class _Safe(dict[int, str]):
    """The characters that take the place of others, filled as they come up."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        unsafe = unicodedata.category(sign) in _UNSAFE and sign not in f"\n\t{_JOINERS}"
        self[code] = "?" if unsafe else sign
        return self[code]


_SAFE = _Safe()


def listed(names: Sequence[str], word: str = "and") -> str:
    """Names as a list in a sentence: "a", "a and b", "a, b and c"."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def clean(text: str) -> str:
    """The text without characters that control a terminal, change directions or break XML."""
    return text if text.isascii() and text.isprintable() else text.translate(_SAFE)


def one_line(text: str, limit: int = MAX_LINE) -> str:
    """A text as one clean line of bounded length."""
    line = clean(" ".join(text[: 20 * limit].split()))
    return line if len(line) <= limit else f"{line[:limit]}..."


def excerpt(text: str, limit: int = 20, how: str = "print() shows them") -> str:
    """A text for a notebook: at most so many lines, the last three among them, none too long."""
    lines = text.split("\n")
    if len(lines) > limit:
        left = f"... {len(lines) - limit + 1:,} lines more; {how} ..."
        lines = [*lines[: limit - 4], left, *lines[-3:]]
    return "\n".join(line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}..." for line in lines)


def sentence(text: str) -> str:
    """A clean text with long words cut off, such as a file's whole content as an argument."""
    shorter = re.sub(rf"(\S{{{MAX_WORD // 4}}})\S{{{MAX_WORD},}}", r"\1...", text)
    return clean(shorter if len(shorter) <= 4 * MAX_LINE else f"{shorter[: 4 * MAX_LINE]}...")


def file_name(text: str, also: str = "_") -> str:
    """The text as a valid name of a file or folder; `also` are further characters that are kept."""
    name = re.sub(rf"[^A-Za-z0-9.{re.escape(also)}-]+", "_", text).strip(".")
    if len(name) <= MAX_FILE_NAME:
        return name or "_"
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return f"{name[:MAX_FILE_NAME]}-{digest}"


def csv_cell(value: Any) -> Any:
    """The value, clean, and quoted if a spreadsheet would take it for a formula."""
    if not isinstance(value, str):
        return value
    text = clean(value)
    return (
        f"'{text}" if text.lstrip()[:1] in ("=", "+", "-", "@") and not _is_number(text) else text
    )


def csv_text(rows: Iterable[Iterable[Any]]) -> bytes:
    """Rows as CSV, in which no cell is a formula."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(csv_cell, row) for row in rows)
    return text.getvalue().encode("utf-8", "replace")


def csv_table(rows: Sequence[Mapping[str, Any]], columns: Iterable[str] = ()) -> bytes:
    """Rows as CSV under the names of `columns`, by default of all that they have."""
    names = [*columns] or list(dict.fromkeys(name for row in rows for name in row))
    return csv_text([names, *([row.get(name) for name in names] for row in rows)])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def encodable(text: str) -> str:
    """The text without lone surrogates, which UTF-8 cannot encode."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A value of JSON with every text in it changed, keys included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(str(key)): map_texts(part, change) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [map_texts(part, change) for part in value]
    return value


def approximate_tokens(text: str) -> int:
    """The number of words, groups of three digits and signs, long words counted several times.

    No model's own vocabulary is needed for an estimate.
    """
    return sum(
        1 + (len(piece) - 1) // LETTERS_PER_TOKEN if piece[0].isalpha() else 1
        for piece in _PIECES.findall(text)
    )


class CleanStream:
    """A stream that cleans what is printed; rich, whose styles need controls, bypasses it."""

    def __init__(self, stream: TextIO) -> None:
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        return self.rich_proxied_file.write(clean(text))

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)
