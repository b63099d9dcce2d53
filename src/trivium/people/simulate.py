"""Simulated participants: solvers that use the page in a real browser."""

from __future__ import annotations

import shutil
from collections import Counter
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from trivium.core.dialogue import Dialogue, next_reply
from trivium.core.errors import UserError
from trivium.evaluation.evaluation import find_solver
from trivium.people.session import ENDED, Session
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
    """Let simulated participants take part, one after the other, each in a new browser window.

    Returns the number of participants by last screen: done, or full if no place was left.
    """
    ends: Counter[str] = Counter()
    for condition in study.experiment.conditions:
        find_solver(condition.task.benchmark, solver)  # refuses an unknown one before the start
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
    """A participant who uses the page and replies as a solver does."""

    def __init__(self, page: Page, study: Study, solver: str) -> None:
        self.page, self.study, self.solver = page, study, solver
        self._replies: dict[tuple[int, int], str] = {}

    def take_part(self) -> str:
        """Take part to the end; returns the last screen."""
        for _ in range(MAX_SCREENS):
            self.page.wait_for_selector("h1", timeout=WAIT_MS)
            screen = str(self.page.evaluate("view.screen"))
            if screen in ENDED:
                return screen
            number = self.page.evaluate("view.number")
            self.wait_for("() => performance.now() - shownAt >= view.guard")
            self.act(screen)
            self.wait_for("number => !busy && !waiting.length && view.number !== number", number)
        raise UserError(f"the simulated participant did not finish in {MAX_SCREENS} screens")

    def act(self, screen: str) -> None:
        """Act on a screen."""
        if screen in ("questions", "check"):
            self._fill(screen)
        elif screen == "text":
            self.write("textarea", self.next_reply()[1])
            self.click("button.main")
        elif screen in ("consent", "instructions"):
            self.click("button.main")
        else:
            self.session().page.act(self, screen)

    def choose(self, value: str) -> None:
        """Click the button of an answer."""
        self.click(f'button.choice[data-value="{value}"]')

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
        value = next(one["value"] for one in cookies if one["name"] == "trivium_session")
        found = self.study.store.find("key", value.partition("~")[0])
        assert found is not None
        return self.study.session(found)

    def next_reply(self) -> tuple[Dialogue, str]:
        """The dialogue of the current item, and the solver's next reply."""
        session = self.session()
        dialogue = session.now.dialogue
        place = len(session.rounds), len(dialogue.replies)
        if place not in self._replies:
            solver = find_solver(dialogue.item.task.benchmark, self.solver)
            self._replies[place] = next_reply(dialogue, solver)
        return dialogue, self._replies[place]

    def _fill(self, screen: str) -> None:
        right = [one[2] for one in self.session().check_questions] if screen == "check" else []
        for number in range(self.page.locator("fieldset").count()):
            option = right[number] if right else 0
            self.click(f"fieldset >> nth={number} >> input >> nth={option}")
        for number in range(self.page.locator("input[type=text]").count()):
            self.write(f"input[type=text] >> nth={number}", "simulated")
        self.click("button.main")
