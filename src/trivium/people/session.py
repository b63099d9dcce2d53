"""The session of a participant: a pure function of the stored steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from trivium.core.dialogue import Dialogue
from trivium.core.streams import Stream, stream_key
from trivium.core.task import PresentedItem
from trivium.people.adaptive import next_item
from trivium.people.experiment import Condition, Experiment, Question
from trivium.people.pages import TEXT, Activity, Page, Round
from trivium.people.steps import (
    Handlers,
    RefusedError,
    Step,
    StepHandler,
    TimedStep,
    checked_text,
    one_of,
)
from trivium.people.texts import numbered

MAX_STEPS = 500  # per item, and before the first item; far more than any participant needs
ENDED = ("declined", "full", "failed", "done")  # stages without an instruction, question or item


class Session(StepHandler):
    """The state of a participant after the steps so far."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.stage = "consent"
        self.steps = 0
        self.instruction = 0  # the page of the instructions, from 0
        self.condition: Condition | None = None
        self.answers: dict[str, str] = {}
        self.failed_checks = 0
        self.rounds: list[Round] = []
        self.assigned: Mapping[str, Any] = {}  # the place: condition, slot and maybe moves to watch
        self.activity: Activity | None = None  # the practice or item on the screen, if any
        self.timeline: list[TimedStep] = []
        self._practised = not experiment.practice
        self._time = 0.0  # the server time of the last step

    @property
    def now(self) -> Round:
        """The attempt in progress, or the last one."""
        return self.rounds[-1]

    @property
    def page(self) -> Page:
        """How items are shown."""
        return TEXT if self.condition is None else self.condition.page

    @property
    def finished(self) -> list[Round]:
        """The answered items."""
        return [one for one in self.rounds if one.over]

    def steps_of(self, number: int) -> list[TimedStep]:
        """The steps at the item of this number, from 1."""
        return [step for step in self.timeline if step.item == number]

    def take(self, step: Step) -> None:
        """Apply a step; raises RefusedError if it is not valid at this stage."""
        if self.steps >= MAX_STEPS * (1 + len(self.rounds)):
            raise RefusedError("too many steps")
        screen, item = self.stage, 0 if self.activity is None else len(self.rounds)
        if self.activity is None:
            super().take(step)
        else:
            self.activity.take(step)
            self.stage = self.activity.stage
            if self.activity.over:
                self._end_activity()
        self.steps += 1
        last = self.timeline[-1] if self.timeline else None
        waited = step.server_time - (self._time or step.server_time)
        self._time = step.server_time
        self.timeline.append(
            TimedStep(
                screen,
                item,
                step.kind,
                step.value,
                onset=round(last.onset + last.seconds, 3) if last else 0.0,
                seconds=round(waited if step.seconds is None else step.seconds, 3),
                replies=len(self.rounds[item - 1].dialogue.replies) if item else 0,
            )
        )

    def _consent(self, step: Step) -> None:
        if not one_of(step.value, (True, False)):
            self.stage = "declined"
        elif self.asked:
            self.stage = "questions"
        else:
            self.assign(step.outcome)

    @property
    def count(self) -> int:
        """The number of items for this participant; 0 before a place is assigned."""
        return self.experiment.source(self.condition).items if self.condition else 0

    @property
    def part(self) -> str:
        """The part of the experiment, as in `Question.at`."""
        if self.condition is None:
            return "start"
        return "middle" if len(self.rounds) < self.count else "end"

    @property
    def asked(self) -> list[Question]:
        """The questions of this part of the experiment."""
        return self.experiment.asked(self.part)

    def _questions(self, step: Step) -> None:
        self.answers |= _checked_answers(self.asked, step.value)
        match self.part:
            case "start":
                self.assign(step.outcome)
            case "middle":
                self._start_item()
            case _:
                self.stage = "done"

    def _retry(self, step: Step) -> None:
        self.assign(step.outcome)

    def assign(self, place: Mapping[str, Any]) -> None:
        """Take a place in a condition; the stage is "full" without one."""
        if not place:
            self.stage = "full"
            return
        self.assigned = place
        self.condition = self.experiment.condition(place["condition"])
        self.stage = "instructions"

    def _reconsider(self, step: Step) -> None:
        self.stage = "consent"

    @property
    def failed_attention(self) -> int:
        """The number of attention checks that were answered wrong."""
        checks = (question for question in self.experiment.questions if question.right)
        return sum(self.answers.get(check.id, check.right) != check.right for check in checks)

    @property
    def instructions(self) -> list[str]:
        """The pages of the instructions."""
        return numbered(self.experiment.texts, f"instructions.{self.page.kind}")

    def _next_instruction(self, step: Step) -> None:
        self.instruction += 1
        if self.instruction < len(self.instructions):
            return
        practice = None if self._practised else self.page.practice()
        if practice is None:
            self._start_check()
        else:
            self.activity, self.stage = practice, practice.stage

    def _start_check(self) -> None:
        self.stage = "check"
        if not self.experiment.check:
            self._start_round()

    @property
    def check_questions(self) -> list[tuple[str, list[str], int]]:
        """The questions about the instructions: text, options, and the index of the right one."""
        texts, prefix = self.experiment.texts, f"check.{self.page.kind}"
        questions = []
        for number, question in enumerate(numbered(texts, prefix, ".question"), start=1):
            key = f"{prefix}.{number}"
            right = Stream(stream_key("check", self.experiment.seed, key)).below(2)  # its position
            options = [texts[f"{key}.right"], texts[f"{key}.wrong"]]
            questions.append((question, options[:: -1 if right else 1], right))
        return questions

    def _check(self, step: Step) -> None:
        questions = self.check_questions
        if not isinstance(step.value, list) or len(step.value) != len(questions):
            raise RefusedError("not all questions are answered")
        chosen = [one_of(value, (0, 1)) for value in step.value]
        if chosen == [right for _, _, right in questions]:
            self._start_round()
            return
        self.failed_checks += 1
        if self.failed_checks == 1:
            self.stage, self.instruction = "instructions", 0
        elif self.experiment.after_failed_check == "end":
            self.stage = "failed"
        else:
            self._start_round()

    def _start_round(self) -> None:
        """Ask the questions that are due, start the next item, or end."""
        finished, self.activity = len(self.rounds), None
        if finished in (self.count // 2, self.count) and self.asked:
            self.stage = "questions"
        elif finished == self.count:
            self.stage = "done"
        else:
            self._start_item()

    def _start_item(self) -> None:
        number = len(self.rounds)
        shown = self.assigned["shown"][number] if "shown" in self.assigned else None
        self.rounds.append(self.page.start(self._item(number), shown, number == 0))
        self.activity, self.stage = self.now, self.now.stage

    def _item(self, number: int) -> PresentedItem:
        """The item of this number; along an axis, the one most informative about the threshold."""
        condition, slot = self.condition, self.assigned["slot"]
        assert condition is not None
        if condition.plan is None:
            return self.experiment.items(condition, slot)[number]
        done = [attempt.dialogue for attempt in self.rounds]
        index, seed = slot * condition.items + number, self.experiment.seed
        return next_item(condition.plan, done, index, seed)

    def _end_activity(self) -> None:
        if self.rounds:
            self._start_round()
        else:
            self.activity, self._practised = None, True
            self._start_check()

    def next_step(self, reply: Callable[[Dialogue], str]) -> Step:
        """The step of a simulated participant, who answers all questions right."""
        if self.activity is not None:
            return self.activity.next_step(lambda: reply(self.now.dialogue))
        if self.stage == "questions":
            answers = {one.id: one.right or (*one.options, "simulated")[0] for one in self.asked}
            return Step("questions", answers)
        match self.stage:
            case "consent":
                return Step("consent", True)
            case "check":
                return Step("check", [right for _, _, right in self.check_questions])
        return Step("next", None)

    handlers: ClassVar[Handlers] = {
        ("consent", "consent"): _consent,
        ("questions", "questions"): _questions,
        ("instructions", "next"): _next_instruction,
        ("check", "check"): _check,
        ("full", "retry"): _retry,
        ("declined", "retry"): _reconsider,
    }


def _checked_answers(questions: Sequence[Question], values: Any) -> dict[str, str]:
    """The answers by question id; raises RefusedError if one is missing or not allowed."""
    if not isinstance(values, dict) or not set(values) <= {one.id for one in questions}:
        raise RefusedError("the answers do not fit the questions")
    for question in questions:
        value = checked_text(values.get(question.id, ""), 500).strip()
        if not value and question.optional:
            continue
        if question.kind == "choice":
            one_of(value, question.options)
        if not value:
            raise RefusedError(f"{question.id} is not answered")
    return {key: str(value).strip() for key, value in values.items()}


def session_after(experiment: Experiment, steps: Iterable[Step]) -> Session:
    """The session after these steps."""
    session = Session(experiment)
    for step in steps:
        session.take(step)
    return session
