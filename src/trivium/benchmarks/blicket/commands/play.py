"""trivium play blicket_game"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.answer import read_command, write_answer, write_test
from trivium.benchmarks.blicket.game.debrief import Debrief, debrief
from trivium.benchmarks.blicket.game.demonstrations import examples_of
from trivium.benchmarks.blicket.game.generate import GameAnswer, GameItem
from trivium.benchmarks.blicket.game.spec import EXAMPLES, UNSURE
from trivium.benchmarks.blicket.game.world import Game, replay
from trivium.benchmarks.blicket.inference.hypotheses import INHIBITOR, letters
from trivium.benchmarks.blicket.people.drawing import like_examples, rule_text, rule_texts
from trivium.commands.flags import read_benchmark_flags
from trivium.core.dialogue import Dialogue
from trivium.core.errors import require
from trivium.core.task import PresentedItem
from trivium.people.played import Played
from trivium.people.texts import Texts, read_texts
from trivium.report.tables import terminal

ABOUT = """Play games in the terminal against the ideal observer, in the words of the web page.
With --out every game is saved as a record, and the same command resumes it.
Example: trivium play blicket_game --preset paper --out runs/me"""


@dataclass(frozen=True)
class Flags:
    """Which games are played."""

    seed: int | None = None  # the seed of the games (default: another one each time)
    index: int = 0  # which game of that seed is the first
    out: Path | None = None  # the folder of the records
    name: str = "me"  # who plays: records call it person:NAME
    language: str = "en"  # en, de, or a file of texts


def main(args: Sequence[str]) -> int:
    """Play games until there is enough of it; leaving early is no error."""
    asked = read_benchmark_flags("play", Flags, args, ABOUT, (GAME.name,))
    name, flags = asked.task.benchmark.name, asked.flags
    require(name == GAME.name, f"{name} cannot be played; trivium play {GAME.name} can")
    require(flags.index >= 0, f"index must be at least 0, got {flags.index}")
    require(
        re.fullmatch(r"[\w.-]{1,60}", flags.name) is not None,
        f"name must be letters, digits, dots and dashes, got {flags.name!r}",
    )
    texts, console = read_texts(flags.language), terminal()
    played = None if flags.out is None else Played(flags.out, asked.task, flags.name)
    seed = flags.seed
    if seed is None:
        seed = played.seed if played else None
    if seed is None:
        seed = secrets.randbelow(1_000_000)
    index = flags.index if played is None else played.next_index(seed, flags.index)
    while _play(asked.task.item(index, seed), played, texts, console):
        index += 1
    return 0


def _play(item: PresentedItem, played: Played | None, texts: Texts, console: Console) -> bool:
    """One game; returns whether another one is wanted."""
    dialogue = Dialogue(item)
    if played is not None:
        played.resume(dialogue)
    _open(_state(dialogue), texts, console)
    for placed, light in _state(dialogue).tests:
        _show(_state(dialogue), placed, light, texts, console)
    try:
        while not dialogue.done:
            _turn(dialogue, texts, console)
            if played is not None:
                played.save(dialogue)
    except (EOFError, KeyboardInterrupt):
        kept = played is not None
        truth = _truth(dialogue.item.content, texts)
        console.print(Text(f"\n{texts['play.left']} {texts['play.kept'] if kept else truth}"))
        return False
    game = _state(dialogue)
    _close(game, debrief(game), texts, console)
    saved = "" if played is None else f" It is saved in {played.path}."
    origin = item.original.origin
    console.print(Text(f"This was seed {origin.seed}, index {origin.index}.{saved}", style="dim"))
    try:
        word = _ask(console, texts["play.again"]).lower()
    except (EOFError, KeyboardInterrupt):
        return False
    return bool(word) and not texts["play.no"].startswith(word)


def _state(dialogue: Dialogue) -> Game:
    """The game as it is now."""
    return replay(dialogue.item.content, dialogue.replies)[0]


def _open(game: Game, texts: Texts, console: Console) -> None:
    spec, lines = game.item.spec, [f"{' '.join(game.item.listing)}"]
    if spec.demonstrations == "none":
        lines += [texts["rules.text"], *(f"- {line}" for line in rule_texts(spec, texts))]
        lines += [texts["rules.noise"]] * bool(spec.noise)
    else:
        for example in examples_of(game.item):
            lines.append(f"{texts[f'machine.{example.name}']}:")
            for placed, light in example.tests:
                things = " + ".join(texts[f"thing.{thing.split()[-1]}"] for thing in placed)
                lines.append(f"- {things}: {texts['light.on' if light else 'light.off']}")
        lines.append(like_examples("new.text", texts))
    lines += [texts["play.count"].format(count=spec.tests), "", texts["play.help"]]
    console.print(Panel(Text("\n".join(lines)), title=texts["explore.title"], width=90))


def _turn(dialogue: Dialogue, texts: Texts, console: Console) -> None:
    """Read one line and send what it means; what cannot be read gets a hint."""
    game = _state(dialogue)
    made, tests = len(game.tests), game.item.spec.tests
    question = texts["play.check"].format(number=made + 1, count=tests)
    line = _ask(console, question if game.left else texts["play.answer"])
    word = line.lower()
    if word.startswith("answer") or (not line and not game.left):
        dialogue.send(write_answer(_answer(game, line, texts, console)))
    elif word in ("help", "?", ""):
        console.print(Text(texts["play.help"]))
    elif game.left == 0:
        console.print(Text(texts["play.none_left"]))
    else:
        test = "TEST " + re.sub(r"^test\b:?", "", line, flags=re.IGNORECASE)
        command = read_command(test, game.item.objects)
        if command is None:
            known = texts["play.unknown"].format(objects=" ".join(game.item.objects))
            console.print(Text(f"{known} {texts['play.help']}"))
        else:
            dialogue.send(write_test(command.objects))
            placed, light = _state(dialogue).tests[-1]
            _show(game, placed, light, texts, console)


def _show(game: Game, placed: str, light: bool, texts: Texts, console: Console) -> None:
    shelf = "  ".join(f"[{each}]" if each in placed else f" {each} " for each in game.item.objects)
    bulb = (
        Text(f"\u25cf {texts['light.on']}", style="bold yellow")
        if light
        else Text(f"\u25cb {texts['light.off']}", style="dim")
    )
    console.print(Text(f"  {shelf}   "), bulb, sep="")


def _answer(game: Game, line: str, texts: Texts, console: Console) -> GameAnswer:
    """A whole answer line, or its parts asked for one by one."""
    objects, spec = game.item.objects, game.item.spec
    forms = spec.form_answers
    command = read_command(line, objects, forms)
    if command is not None and command.form in forms:
        return GameAnswer(
            command.objects, str(command.form), command.inhibitors, unsure=command.unsure
        )
    form = forms[0] if len(forms) == 1 else _choose(forms, texts, console)
    blickets = _name(texts["play.blickets"], objects, texts, console)
    inhibitors = unsure = ""
    if form == INHIBITOR:
        inhibitors = _name(texts["play.inhibitors"], objects, texts, console)
    if spec.demonstrations != "none":
        unsure = _name(texts["play.unsure"], objects, texts, console)
        unsure = "".join(letter for letter in unsure if letter not in blickets)
    return GameAnswer(blickets, form, inhibitors, unsure=unsure)


def _choose(forms: Sequence[str], texts: Texts, console: Console) -> str:
    """One of the ways in which the machine may work, by its number or the start of its name."""
    shown = {UNSURE: texts["button.unsure"]} | {name: texts[f"machine.{name}"] for name in EXAMPLES}
    question = like_examples("form.like", texts) if UNSURE in forms else texts["form.rule"]
    console.print(Text(question))
    for number, form in enumerate(forms, start=1):
        console.print(
            Text(f"  {number}  {shown[form] if form in shown else rule_text(form, texts)}")
        )
    while True:
        word = _ask(console, texts["play.form"]).lower()
        if word.isdigit() and 1 <= int(word) <= len(forms):
            return forms[int(word) - 1]
        close = [form for form in forms if word and form.startswith(word)]
        if word in forms or len(close) == 1:
            return word if word in forms else close[0]
        options = ", ".join(map(str, range(1, len(forms) + 1)))
        console.print(Text(texts["play.choose"].format(options=options)))


def _name(question: str, objects: str, texts: Texts, console: Console) -> str:
    while True:
        command = read_command(f"TEST {_ask(console, question)}", objects)
        if command is not None:
            return command.objects
        console.print(Text(texts["play.letters"].format(objects=" ".join(objects))))


def _ask(console: Console, question: str) -> str:
    """One line of what the player types; wanting to leave reads like the end of input."""
    try:
        line = console.input(Text(question, style="bold cyan")).strip()
    except UnicodeDecodeError:
        return "?"
    if line.lower() in ("quit", "exit", "q"):
        raise EOFError
    return line


def _truth(item: GameItem, texts: Texts) -> str:
    """How the machine works, in the words of the page."""
    true = GameAnswer.of(item.machine)
    named = {"blickets": true.blickets} | ({"stoppers": true.inhibitors} if true.inhibitors else {})
    lists = [texts[f"play.{key}_were"].format(objects=" ".join(own)) for key, own in named.items()]
    return " ".join([*lists, rule_text(true.form, texts)])


def _close(game: Game, result: Debrief, texts: Texts, console: Console) -> None:
    style = "bold green" if result.right else "bold red"
    console.print(Text(f"\n{result.verdict} {_truth(game.item, texts)}", style=style))
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
