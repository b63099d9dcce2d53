"""A participant's way through an experiment: a pure function of the steps that are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from trivium.core.streams import Stream, stream_key
from trivium.core.task import PresentedItem
from trivium.people.adaptive import next_item
from trivium.people.experiment import Condition, Experiment
from trivium.people.rounds import RefusedError, Round, Step
from trivium.people.texts import numbered

MAX_STEPS = 1000  # of one participant; nobody who takes part in earnest needs as many
MAX_REPLY = 10_000  # characters of a text
PRACTICE = "AB"  # the objects of the practice machine; the first one lights it up
ENDED = ("declined", "full", "failed", "done")  # stages in which nothing more is asked


class Session:
    """Where a participant is, after the steps taken so far."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.stage = "consent"
        self.steps = 0
        self.page = 0  # of the instructions
        self.condition: Condition | None = None
        self.answers: dict[str, str] = {}
        self.placed, self.practised = "", False  # on the practice machine
        self.lit: bool | None = None
        self.failed_checks = 0
        self.rounds: list[Round] = []
        self.assigned: Mapping[str, Any] = {}
        self._time = 0.0

    @property
    def now(self) -> Round:
        """The item in progress."""
        return self.rounds[-1]

    @property
    def drawn(self) -> bool:
        """Whether the task is a machine on the page."""
        return self.condition is not None and self.condition.drawn

    @property
    def finished(self) -> list[Round]:
        """The items that were answered."""
        return [one for one in self.rounds if one.ended]

    def take(self, step: Step) -> None:
        """Go one step further; RefusedError where it is not possible here."""
        if self.steps >= MAX_STEPS:
            raise RefusedError("too many steps")
        handler = _HANDLERS.get((self.stage, step.kind))
        if handler is None:
            raise RefusedError(f"{step.kind!r:.40} is no step of {self.stage}")
        self._time = step.server_time
        handler(self, step)
        self.steps += 1

    # Every handler checks its value, which comes from a browser, before it changes anything.

    def _consent(self, step: Step) -> None:
        agreed = _one_of(step.value, (True, False))
        if not agreed:
            self.stage = "declined"
        elif not step.outcome:
            self.stage = "full"
        else:
            self.assigned = step.outcome
            self.condition = self.experiment.condition(step.outcome["condition"])
            self.stage = "questions" if self.experiment.questions else "instructions"

    def _questions(self, step: Step) -> None:
        values = _table(step.value, {one.id for one in self.experiment.questions})
        for one in self.experiment.questions:
            value = _text(values.get(one.id, ""), 500).strip()
            if not value and one.optional:
                continue
            if one.kind == "choice":
                _one_of(value, one.options)
            if not value:
                raise RefusedError(f"{one.id} is not answered")
        self.answers = {key: str(value).strip() for key, value in values.items()}
        self.stage = "instructions"

    @property
    def instructions(self) -> list[str]:
        """The pages of the instructions."""
        kind = "game" if self.drawn else "text"
        return numbered(self.experiment.texts, f"instructions.{kind}")

    def _next_instruction(self, step: Step) -> None:
        self.page += 1
        if self.page >= len(self.instructions):
            practice = self.experiment.practice and self.drawn and not self.practised
            self.stage = "practice" if practice else "check"
            if self.stage == "check" and not self.experiment.check:
                self._start_round()

    def _toggle_practice(self, step: Step) -> None:
        self.placed = _toggled(self.placed, _one_of(step.value, PRACTICE))
        self.lit = None

    def _press_practice(self, step: Step) -> None:
        self.lit = PRACTICE[0] in self.placed
        self.practised = self.practised or bool(self.placed)

    def _end_practice(self, step: Step) -> None:
        if not self.practised:
            raise RefusedError("nothing was tried yet")
        self.stage = "check"
        if not self.experiment.check:
            self._start_round()

    @property
    def check_questions(self) -> list[tuple[str, list[str], int]]:
        """The questions about the instructions: text, options, and which of them is right."""
        texts, kind = self.experiment.texts, "game" if self.drawn else "text"
        found = []
        for number in range(1, 100):
            key = f"check.{kind}.{number}"
            if f"{key}.question" not in texts:
                break
            # Where the right answer stands must not follow from its number.
            first = Stream(stream_key("check", self.experiment.seed, key)).below(2)
            options = [texts[f"{key}.right"], texts[f"{key}.wrong"]]
            found.append((texts[f"{key}.question"], options[:: -1 if first else 1], first))
        return found

    def _check(self, step: Step) -> None:
        asked = self.check_questions
        valid = isinstance(step.value, list) and len(step.value) == len(asked)
        if not valid:
            raise RefusedError("not all questions are answered")
        chosen = [_one_of(value, (0, 1)) for value in step.value]
        if chosen == [right for _, _, right in asked]:
            self._start_round()
            return
        self.failed_checks += 1
        if self.failed_checks == 1:
            self.stage, self.page = "instructions", 0
        elif self.experiment.after_failed_check == "end":
            self.stage = "failed"
        else:
            self._start_round()

    def _start_round(self) -> None:
        """The next item, or the end."""
        assert self.condition is not None
        number = len(self.rounds)
        if number == self.experiment.source(self.condition).items:
            self.stage = "done"
            return
        shown = self.assigned.get("shown")
        self.rounds.append(Round(self._item(number), shown[number] if shown else None, self._time))
        if not self.drawn:
            self.stage = "text"
        elif self.now.slides and number == 0:
            self.stage = "example"
        else:
            self.stage = "new"

    def _item(self, number: int) -> PresentedItem:
        """The item of this number, or one that tells most where a threshold is looked for."""
        condition, slot = self.condition, self.assigned["slot"]
        assert condition is not None
        if condition.axis is None:
            return self.experiment.items(condition, slot)[number]
        done = [one.dialogue for one in self.rounds]
        index, seed = slot * condition.items + number, self.experiment.seed
        return next_item(condition.task, condition.axis, done, index, seed)

    def _next_example(self, step: Step) -> None:
        self.now.slide += 1
        if self.now.slide == len(self.now.slides):
            self.stage = "new"

    def _begin(self, step: Step) -> None:
        self.stage = "explore" if self.now.shown is None else "watch"

    def _toggle(self, step: Step) -> None:
        letter = _one_of(step.value, self.now.item.content.objects)
        self.now.placed = _toggled(self.now.placed, letter)
        self.now.lit = None

    def _press(self, step: Step) -> None:
        if self.now.game.left == 0:
            raise RefusedError("no tests are left")
        self.now.press(self.now.placed)

    def _watch(self, step: Step) -> None:
        assert self.now.shown is not None
        seen = len(self.now.game.tests)
        if seen < len(self.now.shown):
            self.now.placed = self.now.shown[seen]
            self.now.press(self.now.placed)
        else:
            self.stage = "object"

    def _finish(self, step: Step) -> None:
        self.stage = "object"

    def _object(self, step: Step) -> None:
        letter = self.now.asked
        assert letter is not None
        self.now.said[letter] = _one_of(step.value, self.now.options)
        if self.now.asked is None:
            self.stage = "form"

    def _form(self, step: Step) -> None:
        self.now.answer(_one_of(step.value, self.now.item.content.spec.form_answers))
        self._end_round()

    def _reply(self, step: Step) -> None:
        text = _text(step.value, MAX_REPLY)
        if not text.strip():
            raise RefusedError("the reply is empty")
        self.now.dialogue.send(text)
        if self.now.dialogue.done:
            self._end_round()

    def _end_round(self) -> None:
        self.now.ended = self._time
        self._start_round()


_HANDLERS: dict[tuple[str, str], Callable[[Session, Step], None]] = {
    ("consent", "consent"): Session._consent,
    ("questions", "questions"): Session._questions,
    ("instructions", "next"): Session._next_instruction,
    ("practice", "toggle"): Session._toggle_practice,
    ("practice", "press"): Session._press_practice,
    ("practice", "next"): Session._end_practice,
    ("check", "check"): Session._check,
    ("example", "next"): Session._next_example,
    ("new", "next"): Session._begin,
    ("explore", "toggle"): Session._toggle,
    ("explore", "press"): Session._press,
    ("explore", "finish"): Session._finish,
    ("watch", "next"): Session._watch,
    ("object", "object"): Session._object,
    ("form", "form"): Session._form,
    ("text", "reply"): Session._reply,
}


def session_after(experiment: Experiment, steps: Iterable[Step]) -> Session:
    """Where a participant is after these steps."""
    session = Session(experiment)
    for step in steps:
        session.take(step)
    return session


def _one_of(value: Any, allowed: Iterable[Any]) -> Any:
    for option in allowed:
        if type(value) is type(option) and value == option:
            return value
    raise RefusedError(f"{value!r:.40} is not allowed here")


def _text(value: Any, limit: int) -> str:
    if not isinstance(value, str) or len(value) > limit:
        raise RefusedError(f"a text of at most {limit} characters is needed")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise RefusedError("the text is not valid Unicode") from None
    return value


def _table(value: Any, keys: set[str]) -> dict[str, Any]:
    if not isinstance(value, dict) or not set(value) <= keys:
        raise RefusedError("the answers do not fit the questions")
    return value


def _toggled(placed: str, letter: str) -> str:
    return "".join(sorted(set(placed) ^ {letter}))
