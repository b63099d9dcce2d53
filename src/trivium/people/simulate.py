"""Simulated participants: solvers that take part in a real browser."""

from __future__ import annotations

import shutil
from collections import Counter
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from trivium.core.dialogue import Dialogue, next_reply
from trivium.core.errors import UserError
from trivium.evaluation.evaluation import find_solver
from trivium.people.app import COOKIE
from trivium.people.session import ENDED, Session
from trivium.people.steps import Step
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
    """Run simulated participants one after another, each in a new browser window.

    Returns the number of participants by last screen: done, or full if no place was left.
    """
    ends: Counter[str] = Counter()
    for condition in study.experiment.conditions:
        find_solver(condition.task.benchmark, solver)  # fails early if the solver is unknown
    with sync_playwright() as playwright:
        browser = open_browser(playwright)
        for _ in range(count):
            context = browser.new_context()
            page = context.new_page()
            page.goto(url)
            ends[BrowserParticipant(page, study, solver).take_part()] += 1
            context.close()
        browser.close()
    return ends


class BrowserParticipant:
    """A participant in a browser who replies as a solver does."""

    def __init__(self, page: Page, study: Study, solver: str) -> None:
        self.page, self.study, self.solver = page, study, solver

    def take_part(self) -> str:
        """Take part to the end; returns the last screen."""
        for _ in range(MAX_SCREENS):
            self.page.wait_for_selector("h1", timeout=WAIT_MS)
            screen = str(self.page.evaluate("view.screen"))
            if screen in ENDED:
                return screen
            number = self.page.evaluate("view.number")
            self.wait_for("() => performance.now() - shownAt >= view.guard")
            self.act(screen, self.session().next_step(self.reply))
            self.wait_for("number => !busy && !waiting.length && view.number !== number", number)
        raise UserError(f"the simulated participant did not finish in {MAX_SCREENS} screens")

    def reply(self, dialogue: Dialogue) -> str:
        """The solver's next reply."""
        return next_reply(dialogue, find_solver(dialogue.item.task.benchmark, self.solver))

    def act(self, screen: str, step: Step) -> None:
        """Take a step with the buttons and forms of the screen."""
        if step.kind == "toggle":
            self.click(f'[data-thing="{step.value}"]')
        elif step.kind in ("questions", "check", "reply"):
            self._fill(step)
            self.click("button.main")
        else:
            value = "" if step.value is None else str(step.value).lower()
            self.click(f'[data-focus="button-{step.kind}"][data-value="{value}"]')

    def click(self, selector: str) -> None:
        """Click an element."""
        self.page.click(selector)

    def write(self, selector: str, text: str) -> None:
        """Fill a text box."""
        self.page.fill(selector, text)

    def wait_for(self, condition: str, argument: Any = None) -> None:
        """Wait until a JavaScript function returns true."""
        self.page.wait_for_function(condition, arg=argument, timeout=WAIT_MS)

    def session(self) -> Session:
        """The session in the store; the page does not contain it."""
        cookies = self.page.context.cookies()
        value = next(cookie["value"] for cookie in cookies if cookie["name"] == COOKIE)
        return self.study.session(self.study.store.find("key", value.partition("~")[0]))

    def _fill(self, step: Step) -> None:
        """Fill in the form on the screen.

        The step's value is the text of a reply, a dict of `questions` from id to answer, or a list
        of option numbers of the `check`, whose ids are their positions.
        """
        if step.kind == "reply":
            self.write("textarea", step.value)
            return
        by_id = step.value if isinstance(step.value, dict) else enumerate(step.value)
        answers = {str(name): answer for name, answer in dict(by_id).items()}
        for question in self.page.evaluate("view.questions"):
            answer = answers[question["id"]]
            if question["kind"] == "text":
                self.write(f"#question-{question['id']}", answer)
                continue
            option = answer if step.kind == "check" else question["options"].index(answer)
            self.click(f'input[name="{question["id"]}"] >> nth={option}')
