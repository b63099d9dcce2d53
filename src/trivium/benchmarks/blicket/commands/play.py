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
from trivium.benchmarks.blicket.game.answer import read_move, write_answer, write_test
from trivium.benchmarks.blicket.game.debrief import ideal_game, verdict
from trivium.benchmarks.blicket.game.generate import GameAnswer, GameItem
from trivium.benchmarks.blicket.game.score import is_right, trajectory
from trivium.benchmarks.blicket.game.spec import EXAMPLES, UNSURE
from trivium.benchmarks.blicket.game.world import Game, replay
from trivium.benchmarks.blicket.inference.hypotheses import INHIBITOR, letters
from trivium.benchmarks.blicket.inference.observer import entropy
from trivium.benchmarks.blicket.people.drawing import like_examples, rule_text, rule_texts
from trivium.commands.flags import read_benchmark_flags
from trivium.core.dialogue import Dialogue
from trivium.core.errors import require, require_range
from trivium.core.task import PresentedItem
from trivium.people.played import Played
from trivium.people.texts import Texts, read_texts
from trivium.report.tables import terminal

ABOUT = """Play games in the terminal against the ideal observer, in the words of the web page.
With --out every game is saved as a record, and the same command resumes it.
Example: trivium play blicket_game --preset paper --out runs/me"""


@dataclass(frozen=True)
class Flags:
    """Which games to play."""

    seed: int | None = None  # the seed of the games (default: random)
    index: int = 0  # the index of the first game
    out: Path | None = None  # the folder of the records
    name: str = "me"  # the player; records call it person:NAME
    language: str = "en"  # en, de, or a file of texts


@dataclass(frozen=True)
class Screen:
    """The terminal, and the texts in the player's language."""

    console: Console
    texts: Texts

    def say(self, text: str, style: str = "") -> None:
        """Print a text."""
        self.console.print(Text(text, style=style))

    def ask(self, question: str) -> str:
        """One line of input; raises EOFError if the player quits, as at the end of input."""
        try:
            line = self.console.input(Text(question, style="bold cyan")).strip()
        except UnicodeDecodeError:
            return "?"  # no question accepts this, so it is asked again
        if line.lower() in ("quit", "exit", "q"):
            raise EOFError
        return line

    def ask_objects(self, question: str, objects: str) -> str:
        """Some of these objects, or none."""
        while True:
            placed = read_move(f"TEST {self.ask(question)}", objects)
            if isinstance(placed, str):
                return placed
            self.say(self.texts["play.letters"].format(objects=" ".join(objects)))


def main(args: Sequence[str]) -> int:
    """Play games until the player stops; quitting is not an error."""
    asked = read_benchmark_flags("play", Flags, args, ABOUT, (GAME.name,))
    name, flags = asked.task.benchmark.name, asked.flags
    require(name == GAME.name, f"{name} cannot be played; trivium play {GAME.name} can")
    require_range(flags, 0, None, "index")
    require(
        re.fullmatch(r"[\w.-]{1,60}", flags.name) is not None,
        f"name must be letters, digits, dots and dashes, got {flags.name!r}",
    )
    screen = Screen(terminal(), read_texts(flags.language))
    played = None if flags.out is None else Played(flags.out, asked.task, flags.name)
    seed, index = flags.seed, flags.index
    if seed is None and played is not None:
        seed = played.seed
    if seed is None:
        seed = secrets.randbelow(1_000_000)
    if played is not None:
        index = played.next_index(seed, index)
    while _play(asked.task.item(index, seed), played, screen):
        index += 1
    return 0


def _play(item: PresentedItem, played: Played | None, screen: Screen) -> bool:
    """Play one game; returns whether the player wants another."""
    dialogue, texts = Dialogue(item), screen.texts
    if played is not None:
        played.resume(dialogue)
    game = _state(dialogue)
    _introduce(game.item, screen)
    for placed, light in game.tests:
        _show_test(game.item, placed, light, screen)
    try:
        while not dialogue.done:
            _turn(dialogue, screen)
            if played is not None:
                played.save(dialogue)
    except (EOFError, KeyboardInterrupt):
        rest = texts["play.kept"] if played is not None else _truth(game.item, texts)
        screen.say(f"\n{texts['play.left']} {rest}")
        return False
    game = _state(dialogue)
    assert game.given is not None
    _show_result(game.item, game.given, screen)
    saved = "" if played is None else f" It is saved in {played.path}."
    origin = item.original.origin
    screen.say(f"This was seed {origin.seed}, index {origin.index}.{saved}", "dim")
    try:
        word = screen.ask(texts["play.again"]).lower()
    except (EOFError, KeyboardInterrupt):
        return False
    return bool(word) and not texts["play.no"].startswith(word)


def _state(dialogue: Dialogue) -> Game:
    return replay(dialogue.item.content, dialogue.replies)[0]


def _introduce(item: GameItem, screen: Screen) -> None:
    spec, texts, lines = item.spec, screen.texts, [" ".join(item.listing)]
    if spec.demonstrations == "none":
        lines += [texts["rules.text"], *(f"- {line}" for line in rule_texts(spec, texts))]
        lines += [texts["rules.noise"]] * bool(spec.noise)
    else:
        for example in item.example_machines:
            lines.append(f"{texts[f'machine.{example.name}']}:")
            for placed, light in example.tests:
                things = " + ".join(texts[f"thing.{thing.split()[-1]}"] for thing in placed)
                lines.append(f"- {things}: {texts['light.on' if light else 'light.off']}")
        lines.append(like_examples("new.text", texts))
    lines += [texts["play.count"].format(count=spec.tests), "", texts["play.help"]]
    screen.console.print(Panel(Text("\n".join(lines)), title=texts["explore.title"], width=90))


def _turn(dialogue: Dialogue, screen: Screen) -> None:
    """Read one line and make its move, or explain what can be typed."""
    game, texts = _state(dialogue), screen.texts
    item, number = game.item, len(game.tests) + 1
    question = texts["play.check"].format(number=number, count=item.spec.tests)
    line = screen.ask(question if game.left else texts["play.answer"])
    word = line.lower()
    if word.startswith("answer") or (not line and not game.left):
        dialogue.send(write_answer(_answer(item, line, screen)))
    elif word in ("help", "?", ""):
        screen.say(texts["play.help"])
    elif game.left == 0:
        screen.say(texts["play.none_left"])
    else:
        test = "TEST " + re.sub(r"^test\b:?", "", line, flags=re.IGNORECASE)
        placed = read_move(test, item.objects)
        if isinstance(placed, str):
            dialogue.send(write_test(placed))
            _show_test(item, *_state(dialogue).tests[-1], screen)
        else:
            known = texts["play.unknown"].format(objects=" ".join(item.objects))
            screen.say(f"{known} {texts['play.help']}")


def _show_test(item: GameItem, placed: str, light: bool, screen: Screen) -> None:
    shelf = "  ".join(f"[{each}]" if each in placed else f" {each} " for each in item.objects)
    bulb = (
        Text(f"\u25cf {screen.texts['light.on']}", style="bold yellow")
        if light
        else Text(f"\u25cb {screen.texts['light.off']}", style="dim")
    )
    screen.console.print(Text(f"  {shelf}   "), bulb, sep="")


def _answer(item: GameItem, line: str, screen: Screen) -> GameAnswer:
    """The answer in a whole line, or from a question about each part."""
    objects, forms, texts = item.objects, item.spec.form_answers, screen.texts
    said = read_move(line, objects, forms)
    if isinstance(said, GameAnswer) and said.form in forms:
        return said
    form = forms[0] if len(forms) == 1 else _choose_form(forms, screen)
    blickets = screen.ask_objects(texts["play.blickets"], objects)
    inhibitors = unsure = ""
    if form == INHIBITOR:
        inhibitors = screen.ask_objects(texts["play.inhibitors"], objects)
    if item.spec.demonstrations != "none":
        unsure = screen.ask_objects(texts["play.unsure"], objects)
        unsure = "".join(letter for letter in unsure if letter not in blickets)
    return GameAnswer(blickets, form, inhibitors, unsure=unsure)


def _choose_form(forms: Sequence[str], screen: Screen) -> str:
    """One of these forms, chosen by its number or the start of its name."""
    texts = screen.texts
    shown = {UNSURE: texts["button.unsure"]} | {name: texts[f"machine.{name}"] for name in EXAMPLES}
    screen.say(like_examples("form.like", texts) if UNSURE in forms else texts["form.rule"])
    for number, form in enumerate(forms, start=1):
        screen.say(f"  {number}  {shown[form] if form in shown else rule_text(form, texts)}")
    while True:
        word = screen.ask(texts["play.form"]).lower()
        if word.isdigit() and 1 <= int(word) <= len(forms):
            return forms[int(word) - 1]
        close = [form for form in forms if word and form.startswith(word)]
        if word in forms or len(close) == 1:
            return word if word in forms else close[0]
        options = ", ".join(map(str, range(1, len(forms) + 1)))
        screen.say(texts["play.choose"].format(options=options))


def _truth(item: GameItem, texts: Texts) -> str:
    """How the machine works, in the words of the web page."""
    true = GameAnswer.of(item.machine)
    sets = {"blickets": true.blickets} | ({"stoppers": true.inhibitors} if true.inhibitors else {})
    lists = [texts[f"play.{key}_were"].format(objects=" ".join(each)) for key, each in sets.items()]
    return " ".join([*lists, rule_text(true.form, texts)])


def _show_result(item: GameItem, answer: GameAnswer, screen: Screen) -> None:
    path = trajectory(item.spec, answer.tests)
    style = "bold green" if is_right(item, answer) else "bold red"
    screen.say(f"\n{verdict(item, answer)} {_truth(item, screen.texts)}", style)
    table = Table(title=Text("your tests"), title_justify="left")
    noisy = bool(item.spec.noise)  # then no test rules a machine out
    last = "bits unknown" if noisy else "machines left"
    for column in ("test", "light", "bits gained", "best expected", last):
        table.add_column(column, justify="right")
    for step in path.steps:
        table.add_row(
            letters(step.placed) or "none",
            "on" if step.light else "off",
            f"{step.bits:z.2f}",
            f"{step.best_gain:.2f}",
            f"{step.entropy:.2f}" if noisy else str(step.left),
        )
    if path.steps:
        screen.console.print(table)
    screen.say(
        f"You made {len(path.steps)} test{'' if len(path.steps) == 1 else 's'} "
        f"({path.redundant} of them were uninformative) "
        f"and learned {path.bits:z.2f} of {entropy(item.space.belief):.2f} bits."
    )
    screen.say(ideal_game(item))
