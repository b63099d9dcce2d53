"""trivium play blicket_game"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.answer import read_command
from trivium.benchmarks.blicket.game.debrief import Debrief, debrief
from trivium.benchmarks.blicket.game.render import rule_lines
from trivium.benchmarks.blicket.game.world import Game
from trivium.benchmarks.blicket.inference.hypotheses import INHIBITOR, letters
from trivium.commands.flags import read_benchmark_flags
from trivium.core.errors import UserError, require
from trivium.report.tables import terminal

ABOUT = """Play a game in the terminal against the ideal observer.
Example: trivium play blicket_game --preset paper"""
HELP = "Type the objects of a test, such as A C; or answer, help or quit."


@dataclass(frozen=True)
class Flags:
    """Which game is played."""

    seed: int | None = None  # the seed of the game (default: another one each time)
    index: int = 0  # which game of that seed


def main(args: Sequence[str]) -> int:
    """Play one game; leaving early is no error."""
    asked = read_benchmark_flags("play", Flags, args, ABOUT, (GAME.name,))
    require(
        asked.benchmark.name == GAME.name,
        f"{asked.benchmark.name} cannot be played; trivium play {GAME.name} can",
    )
    flags = asked.flags
    require(flags.index >= 0, f"index must be at least 0, got {flags.index}")
    seed = secrets.randbelow(1_000_000) if flags.seed is None else flags.seed
    game = Game(next(iter(GAME.generate(asked.spec, seed, flags.index, 1))))
    console = terminal()
    _open(game, console)
    try:
        while not game.over:
            _turn(game, console)
    except (EOFError, KeyboardInterrupt):
        console.print(Text(f"\nYou left the game. The machine was {game.item.truth}."))
        return 0
    _close(game, debrief(game), console)
    console.print(Text(f"This was seed {seed}, index {flags.index}.", style="dim"))
    return 0


def _open(game: Game, console: Console) -> None:
    spec = game.item.spec
    lines = [
        f"A machine and the objects {' '.join(game.item.listing)}. Some of them are blickets.",
        "How does the machine work? It is one of these, each machine equally likely:",
        *rule_lines(spec),
        f"You may make up to {spec.tests} tests.",
    ]
    if spec.noise:
        lines.append(f"Beware: the light is wrong in {spec.noise:.0%} of all tests.")
    panel = Panel(Text("\n".join([*lines, "", HELP])), title="blicket game", width=90)
    console.print(panel)


def _turn(game: Game, console: Console) -> None:
    """Read one line and do what it says; what cannot be done gets a hint."""
    count = f"test {len(game.tests) + 1} of {game.item.spec.tests}" if game.left else "answer"
    line = _ask(console, f"{count}> ")
    word = line.lower()
    if word.startswith("answer") or (not line and not game.left):
        _answer(game, line, console)
    elif word in ("help", "?", ""):
        console.print(Text(HELP))
    elif game.left == 0:
        console.print(Text("No tests are left: type answer, and say how the machine works."))
    else:
        objects = re.sub(r"^test\b:?", "", line, flags=re.IGNORECASE)
        command = read_command(f"TEST {objects}", game.item.objects)
        if command is None:
            console.print(Text(f"The objects are {' '.join(game.item.objects)}. {HELP}"))
        else:
            _show(game, command.objects, game.place(command.objects), console)


def _show(game: Game, placed: str, light: bool, console: Console) -> None:
    shelf = "  ".join(f"[{each}]" if each in placed else f" {each} " for each in game.item.objects)
    bulb = (
        Text("\u25cf lights up", style="bold yellow")
        if light
        else Text("\u25cb stays dark", style="dim")
    )
    console.print(Text(f"  {shelf}   "), bulb, sep="")


def _answer(game: Game, line: str, console: Console) -> None:
    """Take a whole answer line, or ask for its parts one by one."""
    objects, forms = game.item.objects, game.item.spec.possible_rules
    command = read_command(line, objects)
    if command is None or command.form not in forms:
        form = forms[0]
        if len(forms) > 1:
            form = _choose(console, f"how does it work ({', '.join(forms)})> ", forms)
        blickets = _name(console, "which objects are blickets> ", objects)
        inhibitors = ""
        if form == INHIBITOR:
            inhibitors = _name(console, "which objects are inhibitors> ", objects)
    else:
        blickets, form, inhibitors = command.objects, command.form, command.inhibitors
    try:
        game.answer(blickets, form, inhibitors)
    except UserError as problem:
        console.print(Text(f"{problem}."))


def _choose(console: Console, question: str, options: Sequence[str]) -> str:
    """One of the options; its first letters are enough."""
    while True:
        said = _ask(console, question).lower()
        near = [option for option in options if said and option.startswith(said)]
        if said in options or len(near) == 1:
            return said if said in options else near[0]
        console.print(Text(f"Please type one of {', '.join(options)}."))


def _name(console: Console, question: str, objects: str) -> str:
    while True:
        command = read_command(f"TEST {_ask(console, question)}", objects)
        if command is not None:
            return command.objects
        console.print(Text(f"Please type some of {' '.join(objects)}, or none."))


def _ask(console: Console, question: str) -> str:
    """One line of what the player types; wanting to leave reads like the end of input."""
    try:
        line = console.input(Text(question, style="bold cyan")).strip()
    except UnicodeDecodeError:
        return "?"
    if line.lower() in ("quit", "exit", "q"):
        raise EOFError
    return line


def _close(game: Game, result: Debrief, console: Console) -> None:
    style = "bold green" if result.right else "bold red"
    console.print(Text(f"\n{result.verdict} The machine was {game.item.truth}.", style=style))
    table = Table(title=Text("your tests"), title_justify="left")
    noisy = bool(game.item.spec.noise)  # then no test rules a machine out
    last = "bits unknown" if noisy else "machines left"
    for column in ("test", "light", "bits told", "best expected", last):
        table.add_column(column, justify="right")
    for step in result.steps:
        table.add_row(
            letters(step.placed) or "none",
            "on" if step.light else "off",
            f"{step.bits:.2f}",
            f"{step.best_gain:.2f}",
            f"{step.entropy:.2f}" if noisy else str(step.left),
        )
    if result.steps:
        console.print(table)
    console.print(
        Text(
            f"You made {result.tests} test{'' if result.tests == 1 else 's'} "
            f"({result.redundant} of them could not tell anything) "
            f"and learned {result.bits:.2f} of {result.unknown_bits:.2f} bits."
        )
    )
    average = ""
    if result.expected_tests is not None:
        average = f", and {result.expected_tests:.2f} on average over all machines"
    name = result.ideal.replace("_", " ")
    tests = f"{result.ideal_tests} {'test' if result.ideal_tests == 1 else 'tests'}"
    line = f"The ideal observer ({name}) makes {tests} on this machine{average}."
    console.print(Text(line))
