"""Simulated participants: built-in solvers that use the page in a real browser."""

from __future__ import annotations

import shutil
from collections import Counter
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from trivium.benchmarks.blicket.game.answer import Command, read_command
from trivium.benchmarks.blicket.inference.hypotheses import INHIBITOR
from trivium.core.benchmark import Solver
from trivium.core.dialogue import Dialogue, next_reply
from trivium.core.errors import UserError, require
from trivium.evaluation.solvers import find_solver
from trivium.people.drawing import THINGS
from trivium.people.session import ENDED, Session
from trivium.people.store import Participant
from trivium.people.study import Study

MAX_SCREENS = 2000
WAIT_MS = 30_000


def open_browser(playwright: Any) -> Browser:
    """The system's Chromium, or the one that playwright has installed."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        browser: Browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
    except Exception as problem:
        raise UserError(f"no browser could be started ({str(problem).splitlines()[0]})") from None
    return browser


def simulate(study: Study, url: str, solver: str, count: int) -> Counter[str]:
    """Let as many participants take part, one after the other, each in a fresh browser window.

    Returns how many came to which last screen: done, or full where there was no place left.
    """
    ends: Counter[str] = Counter()
    for condition in study.experiment.conditions:
        find_solver(condition.task.benchmark, solver)  # refuses before anything is started
    with sync_playwright() as playwright:
        browser = open_browser(playwright)
        for _ in range(count):
            context = browser.new_context()
            page = context.new_page()
            page.goto(url)
            ends[Hands(page, study, solver).take_part()] += 1
            context.close()
        browser.close()
    return ends


class Hands:
    """A participant at the page, who sees what it shows and decides as a solver does."""

    def __init__(self, page: Page, study: Study, solver: str) -> None:
        self.page, self.study, self.solver = page, study, solver
        self.dialogue: Dialogue | None = None
        self.rounds = 0
        self.answer: Command | None = None

    def take_part(self) -> str:
        """Go on to the end; returns the last screen."""
        for _ in range(MAX_SCREENS):
            self.page.wait_for_selector("h1", timeout=WAIT_MS)
            screen = str(self.page.evaluate("view.screen"))
            if screen in ENDED:
                return screen
            number = self.page.evaluate("view.number")
            self.act(screen)
            self.page.wait_for_function(
                "number => !busy && !waiting.length && view.number !== number",
                arg=number,
                timeout=WAIT_MS,
            )
        raise UserError(f"the simulated participant did not finish in {MAX_SCREENS} screens")

    def act(self, screen: str) -> None:
        """Do what a screen asks for."""
        if screen in ("questions", "check"):
            self._fill(screen)
        elif screen == "practice":
            self._practise()
        elif screen == "explore":
            self._explore()
        elif screen == "object":
            self.press_choice(self._said_of_object())
        elif screen == "form":
            assert self.answer is not None
            self.press_choice(str(self.answer.form))
        elif screen == "text":
            self.write("textarea", next_reply(self._open(), self._solver()))
            self.click("button.main")
        else:
            if screen == "new":
                self._open()
            self.click("button.main")

    def press_choice(self, value: str) -> None:
        """Press the button of an answer."""
        self.click(f'button.choice[data-value="{value}"]')

    def click(self, selector: str) -> None:
        """Press something."""
        self.page.click(selector)

    def write(self, selector: str, text: str) -> None:
        """Write into a box."""
        self.page.fill(selector, text)

    def _participant(self) -> Participant:
        """Whose page it is: the store knows, the page does not say."""
        cookies = self.page.context.cookies()
        value = next(one["value"] for one in cookies if one["name"] == "trivium_session")
        found = self.study.store.find("key", value.partition("~")[0])
        assert found is not None
        return found

    def _session(self) -> Session:
        return self.study.session(self._participant())

    def _solver(self) -> Solver:
        condition = self._session().condition
        assert condition is not None
        return find_solver(condition.task.benchmark, self.solver)

    def _open(self) -> Dialogue:
        """The dialogue about the next item, as the solver would lead it by itself."""
        if self.rounds < len(self._session().rounds):
            self.rounds += 1
            self.dialogue = Dialogue(self._session().now.item)
            self.answer = None
        assert self.dialogue is not None
        return self.dialogue

    def _fill(self, screen: str) -> None:
        right = [one[2] for one in self._session().check_questions] if screen == "check" else []
        for number in range(self.page.locator("fieldset").count()):
            option = right[number] if right else 0
            self.click(f"fieldset >> nth={number} >> input >> nth={option}")
        for number in range(self.page.locator("input[type=text]").count()):
            self.write(f"input[type=text] >> nth={number}", "simulated")
        self.click("button.main")

    def _practise(self) -> None:
        if self.page.query_selector("[data-focus=button-next]"):
            self.click("[data-focus=button-next]")
        elif self.page.query_selector(".plate .thing"):
            self.click("[data-focus=button-press]")
        else:
            self.click(".tray .thing >> nth=0")

    def _explore(self) -> None:
        """One test as the solver chooses it, or the end of the exploration."""
        dialogue = self._open()
        item, reply = dialogue.item.content, next_reply(dialogue, self._solver())
        command = read_command(reply, item.objects, item.spec.form_answers)
        require(command is not None, f"{self.solver} made no move: {reply!r:.80}")
        assert command is not None
        if command.form is not None:
            self.answer = command
            self.click("[data-focus=button-finish]")
            return
        for letter in item.listing:
            pressed = self.page.get_attribute(f"[data-thing={letter}]", "aria-pressed") == "true"
            if pressed != (letter in command.objects):
                self.click(f"[data-thing={letter}]")
        self.page.wait_for_function("() => !busy && !waiting.length", timeout=WAIT_MS)
        self.click("[data-focus=button-press]")
        seen = len(dialogue.replies)
        self.page.wait_for_function("seen => view.history.length > seen", arg=seen, timeout=WAIT_MS)
        response = dialogue.send(reply) or ""
        lit = self.page.evaluate("view.history.at(-1).lit")
        require(lit == ("lights up" in response), "the page shows another light than the game")

    def _said_of_object(self) -> str:
        if self.answer is None:  # the tests were shown: answer as after the same conversation
            self.answer = self._after_watching()
        shape = self.page.evaluate("view.thing.shape")
        letter = next(key for key, own in THINGS.items() if own == shape)
        if letter in self.answer.objects:
            return "yes"
        return INHIBITOR if letter in self.answer.inhibitors else "no"

    def _after_watching(self) -> Command:
        """The answer of a solver that saw the tests that were shown."""
        now, dialogue = self._session().now, Dialogue(self._session().now.item)
        for reply in now.dialogue.replies:
            dialogue.send(reply)
        item = dialogue.item.content
        reply = next_reply(dialogue, self._solver())
        command = read_command(reply, item.objects, item.spec.form_answers)
        unclear = Command("", item.spec.form_answers[-1])  # it would rather go on testing
        return command if command is not None and command.form is not None else unclear
