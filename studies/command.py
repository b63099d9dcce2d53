"""The command line of a study: flags from a dataclass, errors as one sentence."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

from trivium.commands.flags import read_flags
from trivium.core.errors import UserError

FlagsT = TypeVar("FlagsT")


def run_command(
    name: str, flags: FlagsT, about: str, run: Callable[[FlagsT], None], args: Sequence[str] | None
) -> int:
    """Read the flags and run the study; 0 is success, 2 bad input, 130 an interrupt."""
    words = sys.argv[1:] if args is None else args
    try:
        run(read_flags(f"python -m studies.{name}", flags, words, about).flags)
    except UserError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; the same command resumes", file=sys.stderr)
        return 130
    return 0
