"""The command line: finds the command and turns bad input into one sentence."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches

from trivium import __version__
from trivium.core.errors import UserError, require

# name: what it does; the work is in trivium.commands.NAME.main
COMMANDS = {
    "run": "the main job: every benchmark, every built-in solver, one report",
    "list": "benchmarks, presets and solvers",
    "show": "one item as a model sees it, with its answer",
    "generate": "generate items, written as JSON Lines",
    "export": "prompts with gold answers for other tools; a Hugging Face dataset",
    "eval": "evaluate a solver or a model on items; records and a summary",
    "score": "score replies that were collected elsewhere",
    "import": "import Inspect logs as records",
    "analyze": "tables and kinds of error from records",
    "audit": "can a shortcut beat chance?",
    "estimate": "requests and tokens of an evaluation, before anything is sent",
    "sweep": "a grid of parameters, seeds, solvers and models from a config; one report",
    "diagnose": "one parameter set in several variants, in one folder",
    "plot": "redraw the charts of a run",
    "report": "write the page of any folder that holds records",
    "compare": "paired differences between solvers and runs on common items",
    "play": "play the blicket game in the terminal, against the ideal observer",
    "ceilings": "what an ideal observer can reach on blicket machines",
    "record": "play Blicket-v0 with a program; trajectories as a Minari dataset",
    "train": "train an agent in the blicket world",
    "rollout": "play Blicket-v0 with a trained agent; trajectories as a Minari dataset",
    "new": "write a new benchmark, one file that works as it is",
    "gallery": "write the gallery page from the code",
}


def main(args: Sequence[str] | None = None) -> int:
    """Run a command; 0 is success, 1 a check that failed, 2 bad input, 130 an interrupt."""
    words = list(sys.argv[1:] if args is None else args)
    try:
        code = _dispatch(words)
        sys.stdout.flush()
    except UserError as problem:
        print(f"trivium: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("trivium: interrupted; the same command resumes from here", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader went away (`| head`), which is not an error.
        _drop_output()
        return 0
    except OSError as problem:
        # Our own files are named where they are written; this is standard output, or a file that
        # another package writes.
        reason = " ".join(str(problem.strerror or problem).split())
        print(f"trivium: {problem.filename or 'standard output'}: {reason}", file=sys.stderr)
        _drop_output()
        return 2
    return code


def _drop_output() -> None:
    """Keep Python from flushing standard output again when the process ends."""
    with suppress(io.UnsupportedOperation):  # not a real file, as in tests
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _dispatch(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        print(_help())
        return 0
    if words[0] == "--version":
        print(__version__)
        return 0
    name, rest = words[0], words[1:]
    near = get_close_matches(name, [*COMMANDS, "--help", "--version"], n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(COMMANDS)}"
    require(name in COMMANDS, f"unknown command {name!r}; {hint}")
    module = importlib.import_module(f"trivium.commands.{name}")
    code: int = module.main(rest)
    return code


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {about}" for name, about in COMMANDS.items()]
    return "\n".join(
        [
            "usage: trivium COMMAND [flags]",
            "",
            *lines,
            "",
            "trivium COMMAND --help says more. A first look:",
            "  trivium show nhop_explicit --preset explicit-hard",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
