"""trivium gallery"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.commands.flags import read_flags
from trivium.core.files import atomic_write
from trivium.report.gallery import gallery

ABOUT = """Write the gallery page from the code.
Example: trivium gallery --out GALLERY.md"""


@dataclass(frozen=True)
class Flags:
    """The file to write."""

    out: Path = Path("GALLERY.md")  # the file


def main(args: Sequence[str]) -> int:
    """Write the page."""
    flags = read_flags("gallery", Flags(), args, ABOUT)
    with atomic_write(flags.out) as file:
        file.write(gallery().encode())
    print(f"gallery written to {flags.out}")
    return 0
