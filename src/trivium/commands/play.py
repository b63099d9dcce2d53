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
from trivium.benchmarks.blicket.game.answer import write_answer
from trivium.benchmarks.blicket.game.debrief import Debrief, debrief
from trivium.benchmarks.blicket.game.generate import GameAnswer
from trivium.benchmarks.blicket.game.parse_moves import read_command
from trivium.benchmarks.blicket.game.render import rule_lines
from trivium.benchmarks.blicket.game.world import Game, replay
from trivium.benchmarks.blicket.inference.hypotheses import INHIBITOR, letters
from trivium.commands.flags import read_benchmark_flags
from trivium.core.dialogue import Dialogue
from trivium.core.errors import require
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
    name, flags = asked.task.benchmark.name, asked.flags
    require(name == GAME.name, f"{name} cannot be played; trivium play {GAME.name} can")
    require(flags.index >= 0, f"index must be at least 0, got {flags.index}")
    seed = secrets.randbelow(1_000_000) if flags.seed is None else flags.seed
    dialogue = Dialogue(asked.task.item(flags.index, seed))
    console = terminal()
    _open(_state(dialogue), console)
    try:
        while not dialogue.done:
            _turn(dialogue, console)
    except (EOFError, KeyboardInterrupt):
        truth = dialogue.item.content.truth
        console.print(Text(f"\nYou left the game. The machine was {truth}."))
        return 0
    game = _state(dialogue)
    _close(game, debrief(game), console)
    console.print(Text(f"This was seed {seed}, index {flags.index}.", style="dim"))
    return 0


def _state(dialogue: Dialogue) -> Game:
    """The game as it is now."""
    return replay(dialogue.item.content, dialogue.replies)[0]


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
    console.print(Panel(Text("\n".join([*lines, "", HELP])), title="blicket game", width=90))


def _turn(dialogue: Dialogue, console: Console) -> None:
    """Read one line and send what it means; what cannot be read gets a hint."""
    game = _state(dialogue)
    count = f"test {len(game.tests) + 1} of {game.item.spec.tests}" if game.left else "answer"
    line = _ask(console, f"{count}> ")
    word = line.lower()
    if word.startswith("answer") or (not line and not game.left):
        dialogue.send(write_answer(_answer(game, line, console)))
    elif word in ("help", "?", ""):
        console.print(Text(HELP))
    elif game.left == 0:
        console.print(Text("No tests are left: type answer, and say how the machine works."))
    else:
        test = "TEST " + re.sub(r"^test\b:?", "", line, flags=re.IGNORECASE)
        if read_command(test, game.item.objects) is None:
            console.print(Text(f"The objects are {' '.join(game.item.objects)}. {HELP}"))
        else:
            dialogue.send(test)
            placed, light = _state(dialogue).tests[-1]
            _show(game, placed, light, console)


def _show(game: Game, placed: str, light: bool, console: Console) -> None:
    shelf = "  ".join(f"[{each}]" if each in placed else f" {each} " for each in game.item.objects)
    bulb = (
        Text("\u25cf lights up", style="bold yellow")
        if light
        else Text("\u25cb stays dark", style="dim")
    )
    console.print(Text(f"  {shelf}   "), bulb, sep="")


def _answer(game: Game, line: str, console: Console) -> GameAnswer:
    """A whole answer line, or its parts asked for one by one."""
    objects, forms = game.item.objects, game.item.spec.possible_rules
    command = read_command(line, objects)
    if command is not None and command.form in forms:
        return GameAnswer(command.objects, str(command.form), command.inhibitors)
    form = forms[0]
    if len(forms) > 1:
        form = _choose(console, f"how does it work ({', '.join(forms)})> ", forms)
    blickets = _name(console, "which objects are blickets> ", objects)
    inhibitors = ""
    if form == INHIBITOR:
        inhibitors = _name(console, "which objects are inhibitors> ", objects)
    return GameAnswer(blickets, form, inhibitors)


def _choose(console: Console, question: str, options: Sequence[str]) -> str:
    """One of the options; its first letters are enough."""
    while True:
        word = _ask(console, question).lower()
        close = [option for option in options if word and option.startswith(word)]
        if word in options or len(close) == 1:
            return word if word in options else close[0]
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
    for column in ("test", "light", "bits gained", "best expected", last):
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
    console.print(Text(f"{line} {result.budget}".rstrip()))
