"""The command line: runs a command, and reports bad input in one sentence."""

from __future__ import annotations

import _thread
import importlib
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from types import ModuleType
from typing import Any, TextIO

from trivium import __version__
from trivium.benchmarks import EXTENSIONS, declared, extension
from trivium.commands.flags import Parser
from trivium.core.errors import FailedCallsError, UserError, require_known
from trivium.core.text import CleanStream, sentence

# The commands by heading of the help, each with its summary; command_module(name).main runs it.
GROUPS = {
    "look at items": {
        "list": "benchmarks, presets and solvers",
        "show": "one item as a model sees it, with its answer",
        "audit": "can a shortcut beat chance?",
    },
    "make items": {
        "generate": "generate items, written as JSON Lines",
        "export": "prompts with gold answers for other tools",
        "new": "write a new benchmark, one working file",
    },
    "evaluate": {
        "run": "every benchmark, every built-in solver, one report",
        "eval": "evaluate a solver or a model on items; records and a summary",
        "sweep": "a grid of parameters, seeds, solvers and models; one report",
        "diagnose": "one parameter set in several variants, in one folder",
        "threshold": "the value of a field at which a solver's lift falls to a target",
        "score": "score replies that were collected elsewhere",
        "import": "import Inspect logs as records",
        "estimate": "requests and tokens of an evaluation, before anything is sent",
        "serve": "an experiment with people on a web page, on the same items",
    },
    "read results": {
        "analyze": "tables and kinds of error from records",
        "report": "write the page of any folder that holds records",
        "plot": "redraw the charts of a run",
        "compare": "paired differences between solvers and runs on common items",
    },
    "of one benchmark": declared("commands"),
    "more": {"completion": "print the script for shell completion"},
}
COMMANDS = {name: about for group in GROUPS.values() for name, about in group.items()}
ABOUT = """Benchmarks with exact answers, and every kind of solver on the same items. trivium
COMMAND --help describes a command.
Example: trivium show nhop_explicit
Example: trivium eval nhop_explicit --solver elimination --items 50 --out runs/first"""
RESUMABLE = ("run", "eval", "sweep", "diagnose", "threshold", "train")


def main(args: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit status.

    0 is success, 1 a failed check or failed calls, 2 bad input, 130 Ctrl-C, 143 termination.
    """
    words = list(sys.argv[1:] if args is None else args)
    _open_closed_streams()
    with (
        # Names and replies may be hostile, so everything that is printed is cleaned.
        redirect_stdout(CleanStream(sys.stdout)),
        redirect_stderr(CleanStream(sys.stderr)),
        _termination_as_interrupt(args is None) as terminated,
    ):
        try:
            try:
                return _dispatch(words)
            finally:
                sys.stdout.flush()  # errors of writing are handled below
        except UserError as problem:
            _print_error(str(problem))
            return 1 if isinstance(problem, FailedCallsError) else 2
        except KeyboardInterrupt:
            resumable = bool(words) and words[0] in RESUMABLE
            what = "terminated" if terminated else "interrupted"
            _print_error(f"{what}; the same command resumes from here" if resumable else what)
            code = 143 if terminated else 130
            if args is None:  # not called from Python
                # A learner's threads may still be running, and crash while Python shuts down.
                os._exit(code)
            return code
        except MemoryError:
            _print_error("there is not enough memory")
            return 2
        except BrokenPipeError:
            # The reader has closed the pipe (`| head`), which is not an error.
            _drop_output(sys.stdout)
            return 0
        except OSError as problem:
            # Errors of our own files are handled where they are written; this is standard output,
            # or a file that another package writes.
            reason = " ".join(str(problem.strerror or problem).split())
            _print_error(f"{problem.filename or 'standard output'}: {reason}")
            _drop_output(sys.stdout)
            return 2


def _print_error(text: str) -> None:
    """Print a sentence on standard error, if it is open."""
    try:
        print(f"trivium: {sentence(text)}", file=sys.stderr, flush=True)
    except OSError:
        _drop_output(sys.stderr)


def _drop_output(stream: TextIO) -> None:
    """Keep Python from flushing a stream again when the process ends."""
    with suppress(io.UnsupportedOperation):  # not a real file, as in tests
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _open_closed_streams() -> None:
    """Point closed standard streams to the null device, so that no file gets their numbers."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            with suppress(OSError):
                os.fstat(number)
                continue  # open after all
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115 - for the process


@contextmanager
def _termination_as_interrupt(whole_process: bool) -> Iterator[list[int]]:
    """Handle SIGTERM like Ctrl-C; the list holds the signal once it was received."""
    received: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        received.append(number)
        if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # a background job of a shell
            signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.raise_signal(signal.SIGINT)

    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def raise_later(problem: Any) -> None:
        if isinstance(problem.exc_value, KeyboardInterrupt):
            threading.Timer(0.1, _thread.interrupt_main).start()
        else:
            hook(problem)

    before, hook = signal.signal(signal.SIGTERM, interrupt), sys.unraisablehook
    sys.unraisablehook = raise_later  # an interrupt in a callback is dropped by Python
    try:
        yield received
    finally:
        signal.signal(signal.SIGTERM, before)
        # What another package cannot do at the end of the process is not shown.
        sys.unraisablehook = (lambda problem: None) if whole_process else hook


def command_module(name: str) -> ModuleType:
    """The module of a command, in `trivium.commands` or in the benchmark that declares it."""
    packages = [one for one in EXTENSIONS if name in extension(one)["commands"]]
    return importlib.import_module(f"{next(iter(packages), 'trivium')}.commands.{name}")


def _dispatch(words: list[str]) -> int:
    """Run the command that the first word names."""
    if "_ARGCOMPLETE" in os.environ:  # a shell asks for completions
        from argcomplete.lexers import split_line  # noqa: PLC0415

        words = split_line(os.environ["COMP_LINE"], int(os.environ["COMP_POINT"]))[3][1:]
        words = words[:-1] if words[-1:] and words[-1].startswith("-") else words  # without value
    if words and not words[0].startswith("-"):
        require_known(words[0], COMMANDS, f"command {words[0]!r}")
        code: int = command_module(words[0]).main(words[1:])
        return code
    parser = Parser("trivium", ABOUT)
    parser.list_choices("COMMAND", GROUPS)
    parser.add_argument("--version", action="version", version=__version__)
    parser.parse(words)
    parser.print_help()
    return 0


if __name__ == "__main__":
    sys.exit(main())
