"""The screens of a game, and the steps that become replies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from trivium.benchmarks.blicket.game.answer import write_answer, write_test
from trivium.benchmarks.blicket.game.generate import (
    EXAMPLE_OBJECTS,
    ExampleTest,
    GameAnswer,
    GameItem,
)
from trivium.benchmarks.blicket.game.spec import EXAMPLES, UNSURE
from trivium.benchmarks.blicket.game.world import Game, replay
from trivium.benchmarks.blicket.inference.hypotheses import INHIBITOR
from trivium.benchmarks.blicket.people.drawing import (
    THINGS,
    like_examples,
    machine_view,
    rule_text,
    rule_texts,
    test_views,
    thing_view,
)
from trivium.core.errors import require
from trivium.core.task import PresentedItem
from trivium.people.pages import Activity, Round, ScreenData, button
from trivium.people.steps import Handlers, RefusedError, Step, one_of
from trivium.people.texts import Texts

PRACTICE_THINGS = {"A": "moon", "B": "hexagon"}


class Practice(Activity):
    """A machine to practise with, which always lights up: it shows nothing about blickets."""

    stage = "practice"

    def __init__(self) -> None:
        self.placed = ""
        self.lit: bool | None = None
        self.practised = False

    def _toggle(self, step: Step) -> None:
        self.placed = _toggled(self.placed, one_of(step.value, PRACTICE_THINGS))
        self.lit = None

    def _press(self, step: Step) -> None:
        self.lit = True
        self.practised = self.practised or bool(self.placed)

    def _next(self, step: Step) -> None:
        if not self.practised:
            raise RefusedError("nothing was tried yet")
        self.over = True

    handlers: ClassVar[Handlers] = {
        ("practice", "toggle"): _toggle,
        ("practice", "press"): _press,
        ("practice", "next"): _next,
    }

    def view(self, texts: Texts) -> ScreenData:
        """The machine, and a button to continue after a first test."""
        buttons = [button(texts, "press", "check", main=not self.practised)]
        if self.practised:
            buttons.append(button(texts, "next", "next", main=True))
        return {
            "title": texts["practice.title"],
            "paragraphs": [texts["practice.done" if self.practised else "practice.text"]],
            "machine": machine_view("practice", PRACTICE_THINGS, self.placed, self.lit, texts),
            "movable": True,
            "buttons": buttons,
        }

    def next_step(self, reply: Callable[[], str]) -> Step:
        """Put a thing on the machine, press, and continue."""
        if self.practised:
            return Step("next", None)
        return Step("press", None) if self.placed else Step("toggle", "A")


class GameRound(Round):
    """A game in progress: examples, tests made or watched, and questions."""

    def __init__(self, item: PresentedItem, shown: Sequence[str] | None, first: bool) -> None:
        super().__init__(item)
        self.shown = shown  # the moves of another player to watch, if any
        self.placed = ""  # the objects on the machine
        self.lit: bool | None = None  # the light of the last test, until an object is moved
        self.slide = 0  # of the example machines
        self.said: dict[str, str] = {}  # the answer about each object
        self._examples = item.content.example_machines
        # Each example machine alone, then its tests.
        self._slides = [(one.name, test) for one in self._examples for test in (None, *one.tests)]
        self.stage = "example" if self._slides and first else "new"

    @property
    def content(self) -> GameItem:
        """The item itself."""
        content: GameItem = self.item.content
        return content

    @property
    def game(self) -> Game:
        """The state of the game."""
        return replay(self.content, self.dialogue.replies)[0]

    @property
    def asked(self) -> str:
        """The object of the next question; empty after the last."""
        return next((one for one in self.content.listing if one not in self.said), "")

    @property
    def options(self) -> dict[str, str]:
        """The possible answers about an object, with the keys of their texts."""
        if INHIBITOR in self.content.spec.possible_rules:
            names = {"yes": "blicket", INHIBITOR: "inhibitor", "no": "neither"}
            return {option: f"object.is_{name}" for option, name in names.items()}
        known = ("yes", "no", UNSURE) if self._slides else ("yes", "no")
        return {option: f"button.{option}" for option in known}

    def _next_example(self, step: Step) -> None:
        self.slide += 1
        if self.slide == len(self._slides):
            self.stage = "new"

    def _begin(self, step: Step) -> None:
        self.stage = "explore" if self.shown is None else "watch"

    def _toggle(self, step: Step) -> None:
        self.placed = _toggled(self.placed, one_of(step.value, self.content.objects))
        self.lit = None

    def _press(self, step: Step) -> None:
        if self.game.left == 0:
            raise RefusedError("no tests are left")
        self._move(write_test(self.placed))

    def _watch(self, step: Step) -> None:
        assert self.shown is not None
        seen = len(self.dialogue.replies)
        if seen < len(self.shown):
            self._move(self.shown[seen])
        else:
            self.stage = "object"

    def _move(self, reply: str) -> None:
        self.dialogue.send(reply)
        self.placed, self.lit = self.game.tests[-1]

    def _finish(self, step: Step) -> None:
        self.stage = "object"

    def _object(self, step: Step) -> None:
        self.said[self.asked] = one_of(step.value, self.options)
        if not self.asked:
            self.stage = "form"

    def _form(self, step: Step) -> None:
        form = one_of(step.value, self.content.spec.form_answers)
        blickets, inhibitors, unsure = (
            "".join(sorted(letter for letter, reply in self.said.items() if reply == word))
            for word in ("yes", INHIBITOR, UNSURE)
        )
        self.dialogue.send(write_answer(GameAnswer(blickets, form, inhibitors, unsure=unsure)))

    handlers: ClassVar[Handlers] = {
        ("example", "next"): _next_example,
        ("new", "next"): _begin,
        ("explore", "toggle"): _toggle,
        ("explore", "press"): _press,
        ("explore", "finish"): _finish,
        ("watch", "next"): _watch,
        ("object", "object"): _object,
        ("form", "form"): _form,
    }

    def next_step(self, reply: Callable[[], str]) -> Step:
        """Make the test of a solver's reply step by step, or give its answer."""
        if self.stage in ("example", "new", "watch"):
            return Step("next", None)
        game = replay(self.content, [*self.dialogue.replies, reply()])[0]
        # A solver that would rather make more tests is unsure.
        answer = game.given or GameAnswer("", self.content.spec.form_answers[-1])
        if self.stage == "explore":
            if game.given is not None:
                return Step("finish", None)
            require(len(game.tests) > len(self.game.tests), "the solver made no move")
            moved = sorted(set(self.placed) ^ set(game.tests[-1][0]))
            return Step("toggle", moved[0]) if moved else Step("press", None)
        if self.stage == "form":
            return Step("form", answer.form)
        said = {"yes": answer.blickets, INHIBITOR: answer.inhibitors, UNSURE: answer.unsure}
        replies = (reply for reply, letters in said.items() if self.asked in letters)
        return Step("object", next(replies, "no"))

    def view(self, texts: Texts) -> ScreenData:
        """The screen of the stage."""
        screen: Callable[[Texts], ScreenData] = getattr(self, f"_view_{self.stage}")
        history = {} if self.stage == "example" else self._history(texts)
        return {"title": texts[f"{self.stage}.title"]} | screen(texts) | history

    @property
    def _things(self) -> dict[str, str]:
        return {letter: THINGS[letter] for letter in self.content.listing}

    def _machine(self, texts: Texts) -> ScreenData:
        return machine_view("new", self._things, self.placed, self.lit, texts)

    def _history(self, texts: Texts) -> ScreenData:
        """The tests so far, and those of the example machines, which models can reread too."""
        title = "explore.history" if self.shown is None else "watch.history"
        examples = [
            {
                "title": texts["example.history"].format(machine=texts[f"machine.{one.name}"]),
                "tests": test_views(_by_shape(one.tests), _shapes(one.name), texts),
            }
            for one in self._examples
        ]
        return {
            "history": test_views(self.game.tests, self._things, texts),
            "history_title": texts[title],
            "examples": examples,
        }

    def _rules(self, texts: Texts) -> list[str]:
        return [] if self._slides else rule_texts(self.content.spec, texts)

    def _view_example(self, texts: Texts) -> ScreenData:
        name, test = self._slides[self.slide]
        on, lit = ([], None) if test is None else _by_shape([test])[0]
        words = texts["example.first" if name == EXAMPLES[0] else "example.new"]
        if on:
            objects = texts["example.and"].join(texts[f"thing.{shape}"] for shape in on)
            words = texts["example.placed"].format(objects=objects)
        tests = len(self._slides) // len(EXAMPLES) - 1
        number = self.slide % (tests + 1)
        return {
            "title": texts["example.title"].format(machine=texts[f"machine.{name}"]),
            "paragraphs": [words],
            "page": [number, tests],
            "picture": machine_view(name, _shapes(name), on, lit, texts),
            "buttons": [button(texts, "next", "more" if number < tests else "next", main=True)],
        }

    def _view_new(self, texts: Texts) -> ScreenData:
        view: ScreenData = {
            "paragraphs": [like_examples("new.text", texts)],
            "picture": self._machine(texts),
            "buttons": [button(texts, "next", "start", main=True)],
        }
        if not self._slides:
            noise = [texts["rules.noise"]] if self.content.spec.noise else []
            view["title"], view["rules"] = texts["rules.title"], self._rules(texts)
            view["paragraphs"] = [texts["rules.text"], *noise]
        return view

    def _view_explore(self, texts: Texts) -> ScreenData:
        left, words = self.game.left, [texts["explore.text"]]
        key = "left_none" if left == 0 else "left_one" if left == 1 else "left"
        words.append(texts[f"explore.{key}"].format(count=left))
        buttons = [button(texts, "press", "check", main=True)] if left else []
        return {
            "paragraphs": words,
            "machine": self._machine(texts),
            "movable": left > 0,
            "buttons": [*buttons, button(texts, "finish", "finish")],
            "rules": self._rules(texts),
        }

    def _view_watch(self, texts: Texts) -> ScreenData:
        left = len(self.shown or ()) - len(self.dialogue.replies)
        return {
            "paragraphs": [texts["watch.text"]],
            "machine": self._machine(texts),
            "buttons": [button(texts, "next", "more" if left else "next", main=True)],
        }

    def _view_object(self, texts: Texts) -> ScreenData:
        thing = thing_view(THINGS[self.asked], texts)
        key = "object.inhibitor" if INHIBITOR in self.options else "object.question"
        return {
            "paragraphs": [texts[key].format(object=thing["label"])],
            "thing": thing,
            "buttons": [
                _choice("object", option, texts[label]) for option, label in self.options.items()
            ],
        }

    def _view_form(self, texts: Texts) -> ScreenData:
        machines = {form: texts[f"machine.{form}"] for form in EXAMPLES}
        labels = machines | {UNSURE: texts["button.unsure"]}
        buttons = [
            _choice("form", form, labels.get(form) or rule_text(form, texts))
            | ({"pattern": form} if form in machines else {})
            for form in self.content.spec.form_answers
        ]
        words = like_examples("form.like", texts) if self._slides else texts["form.rule"]
        return {"paragraphs": [words], "buttons": buttons}


def _choice(kind: str, value: str, label: str) -> ScreenData:
    """A button for one of several answers."""
    return {"kind": kind, "value": value, "label": label, "choice": True, "icon": value}


def _toggled(placed: str, letter: str) -> str:
    return "".join(sorted(set(placed) ^ {letter}))


def _shapes(name: str) -> dict[str, str]:
    """The things of an example machine, by their shapes."""
    shapes = [thing.split()[-1] for thing in EXAMPLE_OBJECTS[name]]
    return dict(zip(shapes, shapes, strict=True))


def _by_shape(tests: Sequence[ExampleTest]) -> list[tuple[list[str], bool]]:
    """The tests of an example machine, with the shapes of the things."""
    return [([thing.split()[-1] for thing in placed], light) for placed, light in tests]
