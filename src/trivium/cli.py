"""The command line: finds the command and turns bad input into one sentence."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from typing import TextIO

from trivium import __version__
from trivium.benchmarks import declared
from trivium.commands import command_module
from trivium.core.errors import FailedCallsError, UserError, require

# name: what it does; the work is in command_module(name).main
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
    "threshold": "how far a solver goes: the value of a field where its lift falls to a target",
    "sweep": "a grid of parameters, seeds, solvers and models from a config; one report",
    "diagnose": "one parameter set in several variants, in one folder",
    "plot": "redraw the charts of a run",
    "report": "write the page of any folder that holds records",
    "compare": "paired differences between solvers and runs on common items",
    "serve": "an experiment with people on a web page, on the same items",
    "new": "write a new benchmark, one file that works as it is",
    "gallery": "write the gallery page from the code",
    "completion": "what a shell needs to complete commands and flags",
    **declared("COMMANDS"),
}

# How the commands are grouped in the help; others come last.
GROUPS = {
    "look at items": "list show play ceilings audit",
    "make items": "generate export new",
    "evaluate": "run eval sweep diagnose threshold score import estimate",
    "read results": "analyze report plot compare",
    "learning agents": "train rollout record",
}
RESUMABLE = ("run", "generate", "eval", "sweep", "diagnose", "threshold", "train")


def main(args: Sequence[str] | None = None) -> int:
    """Run a command; 0 is success, 1 a check or calls that failed, 2 bad input, 130 Ctrl-C."""
    words = list(sys.argv[1:] if args is None else args)
    _open_closed_streams()
    with _termination_as_interrupt() as terminated:
        try:
            return _run(words)
        except UserError as problem:
            _say(str(problem))
            return 1 if isinstance(problem, FailedCallsError) else 2
        except KeyboardInterrupt:
            resumable = words[0] in RESUMABLE and "-" not in words
            what = "terminated" if terminated else "interrupted"
            _say(f"{what}; the same command resumes from here" if resumable else what)
            return 143 if terminated else 130
        except BrokenPipeError:
            # The reader went away (`| head`), which is not an error.
            _drop_output(sys.stdout)
            return 0
        except OSError as problem:
            # Our own files are named where they are written; this is standard output, or a file
            # that another package writes.
            reason = " ".join(str(problem.strerror or problem).split())
            _say(f"{problem.filename or 'standard output'}: {reason}")
            _drop_output(sys.stdout)
            return 2
        except RuntimeError as problem:
            if not str(problem).startswith("Symlink loop"):  # of pathlib, before Python 3.13
                raise
            _say(str(problem))
            return 2


def _run(words: list[str]) -> int:
    """The exit status of a command, everything that it printed written."""
    try:
        code = _dispatch(words)
    except SystemExit:  # of --help
        sys.stdout.flush()
        raise
    sys.stdout.flush()
    return code


def _say(text: str) -> None:
    """One sentence on standard error, if anybody reads it."""
    try:
        print(f"trivium: {text}", file=sys.stderr, flush=True)
    except OSError:
        _drop_output(sys.stderr)


def _drop_output(stream: TextIO) -> None:
    """Keep Python from flushing a stream again when the process ends."""
    with suppress(io.UnsupportedOperation):  # not a real file, as in tests
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _open_closed_streams() -> None:
    """Give closed standard streams a file, lest the first file that is opened takes their place."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            with suppress(OSError):
                os.fstat(number)
                continue  # open after all
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115 - for the process


@contextmanager
def _termination_as_interrupt() -> Iterator[list[int]]:
    """SIGTERM ends the work as Ctrl-C does; the list holds it once it came."""
    received: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        received.append(number)
        signal.raise_signal(signal.SIGINT)

    main_thread = threading.current_thread() is threading.main_thread()
    # Background jobs of a shell ignore SIGINT; then SIGTERM ends the process as it stands.
    if not main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield received
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield received
    finally:
        signal.signal(signal.SIGTERM, before)


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
    module = command_module(name)
    more = [COMMANDS] if name == "completion" else []
    code: int = module.main(rest, *more)
    return code


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = ["usage: trivium COMMAND [flags]", ""]
    listed = {name for names in GROUPS.values() for name in names.split()}
    groups = {**GROUPS, "more": " ".join(name for name in COMMANDS if name not in listed)}
    for heading, names in groups.items():
        lines.append(f"{heading}:")
        lines += [f"  {name:<{width}}  {COMMANDS[name]}" for name in names.split()]
    return "\n".join(
        [
            *lines,
            "",
            "trivium COMMAND --help says more. A first look:",
            "  trivium show nhop_explicit",
            "  trivium eval nhop_explicit --solver elimination --items 50 --out runs/first",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
