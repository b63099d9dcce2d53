"""The page in a real browser: by mouse, by touch on a small screen, by keyboard alone.

Every screen is checked with axe-core; without Chromium these tests are skipped. Screenshots are
kept where SCREENSHOTS names a folder.
"""

from __future__ import annotations

import csv
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

pytest.importorskip("playwright")
pytest.importorskip("uvicorn")
from playwright.sync_api import sync_playwright

from tests.audit.planted import first_quick
from tests.people.client import BASELINE, GAME, PAPER, make_study
from tests.people.test_study import Direct, game_of
from trivium.cli import main
from trivium.core.dialogue import Dialogue, solve
from trivium.people.app import make_app
from trivium.people.export import export_study
from trivium.people.server import Server
from trivium.people.session import ENDED, Session
from trivium.people.simulate import BrowserParticipant, open_browser
from trivium.people.steps import Step
from trivium.people.study import Study

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="NO CHROMIUM: the page is not tested in a browser"
)
axe = pytest.importorskip("axe_playwright_python")
AXE = Path(axe.__file__).with_name("axe.min.js")
SCREENSHOTS = os.environ.get("SCREENSHOTS")
# What a browser leaves of the screen.
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 664},
    "has_touch": True,
    "is_mobile": True,
}
TABLET: Any = {"width": 1180, "height": 746}
# Simulated participants are fast; a test of its own taps twice.
ONE_CONDITION = ("tap_guard = 0\n" + PAPER.read_text()).split("[[conditions]]")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_playwright() as running:
        opened = open_browser(running)
        yield opened
        opened.close()


class Watched(BrowserParticipant):
    """A participant whose every screen is looked at."""

    problems: list[str]
    seen: list[str]
    page_text: str  # of the last screen

    def act(self, screen: str, step: Step) -> None:
        self.seen.append(screen)
        if screen not in self.seen[:-1]:
            self.problems += accessibility(self.page, screen)
        if SCREENSHOTS:
            name = f"{type(self).__name__}-{len(self.seen):02d}-{screen}.png"
            self.page.screenshot(path=str(Path(SCREENSHOTS) / name), full_page=True)
        super().act(screen, step)


class Finger(Watched):
    """Taps instead of clicking."""

    def click(self, selector: str) -> None:
        self.page.wait_for_function("() => !busy && !waiting.length")
        box = self.page.locator(selector).bounding_box()
        assert box is not None
        if "input" not in selector:
            assert min(box["width"], box["height"]) >= 44, selector  # large enough for a finger
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        self.page.tap(selector)


class Keys(Watched):
    """Uses nothing but the keyboard."""

    def click(self, selector: str) -> None:
        wanted = self.page.locator(selector)
        radio = wanted.get_attribute("type") == "radio"
        there = "node => node === document.activeElement"
        if radio:
            there = "node => node.name === document.activeElement.name"
        for _ in range(60):
            if wanted.evaluate(there):
                break
            self.page.keyboard.press("Tab")
        else:
            raise AssertionError(f"{selector} cannot be reached with the keyboard")
        self.page.keyboard.press("Space")
        for _ in range(10):
            if not radio or wanted.is_checked():
                return
            self.page.keyboard.press("ArrowDown")

    def write(self, selector: str, text: str) -> None:
        for _ in range(60):
            if self.page.locator(selector).evaluate("node => node === document.activeElement"):
                break
            self.page.keyboard.press("Tab")
        self.page.keyboard.insert_text(text)


def accessibility(page: Any, screen: str) -> list[str]:
    """The violations that axe-core finds."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("() => axe.run()")
    return [f"{screen}: {one['id']} {one['nodes'][0]['html']}" for one in found["violations"]]


def go_through(
    browser: Any, study: Study, kind: type[Watched], solver: str, **context: Any
) -> Watched:
    """A whole session; the browser must have nothing to complain about."""
    server = Server(make_app(study, "token"))
    with server.in_background():
        opened = browser.new_context(**context)
        page = opened.new_page()
        complaints: list[str] = []
        page.on("console", lambda line: complaints.append(line.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        outside: list[str] = []
        page.on(
            "request",
            lambda sent: outside.append(sent.url) if not sent.url.startswith(server.url) else None,
        )
        page.goto(server.url)
        hands = kind(page, study, solver)
        hands.problems, hands.seen = [], []
        assert hands.take_part() == "done"
        assert page.locator(".code-text").count() == 1
        hands.page_text = page.inner_text("main")
        hands.problems += accessibility(page, "done")
        if SCREENSHOTS:
            page.screenshot(path=str(Path(SCREENSHOTS) / f"{kind.__name__}-99-done.png"))
        opened.close()
    assert (hands.problems, complaints, outside) == ([], [], [])
    return hands


def records(study: Study, folder: Path) -> list[dict[str, Any]]:
    export_study(study, folder)
    lines = (folder / "records.jsonl").read_bytes().splitlines()
    return [orjson.loads(line) for line in lines]


def check_scores(study: Study, folder: Path, solver: str) -> None:
    """Every record has the reply and the scores of the solver itself, to the last digit."""
    for row in records(study, folder):
        condition = study.experiment.condition(row["groups"]["condition"])
        alone = solve(
            condition.task.item(row["index"], row["seed"]),
            condition.task.benchmark.solvers[solver],
        )
        assert (row["reply"], row["scores"]) == (alone.reply, alone.scores)


def test_a_condition_of_the_paper_by_mouse(browser: Any, tmp_path: Path) -> None:
    study = make_study(tmp_path, f"{ONE_CONDITION[0]}[[conditions]]{ONE_CONDITION[4]}")
    hands = go_through(browser, study, Watched, "information_gain")
    assert {"consent", "questions", "practice", "check", "example", "explore"} <= set(hands.seen)
    check_scores(study, tmp_path / "out", "information_gain")


@pytest.mark.parametrize(("kind", "context"), [(Finger, PHONE), (Keys, {})])
def test_by_touch_and_by_keyboard(
    browser: Any, tmp_path: Path, kind: type[Watched], context: dict[str, Any]
) -> None:
    study = make_study(tmp_path, f"{ONE_CONDITION[0]}[[conditions]]{ONE_CONDITION[1]}")
    go_through(browser, study, kind, "one_at_a_time", **context)
    check_scores(study, tmp_path / "out", "one_at_a_time")


def test_a_text_benchmark_by_keyboard(browser: Any, tmp_path: Path) -> None:
    study = make_study(tmp_path, "tap_guard = 0\n" + BASELINE.read_text())
    go_through(browser, study, Keys, "oracle")
    assert [row["scores"]["correct"] for row in records(study, tmp_path / "out")] == [1, 1, 1]
    check_scores(study, tmp_path / "out", "oracle")


class Limited(Watched):
    """A participant who follows at most four hops."""

    def reply(self, dialogue: Dialogue) -> str:
        item = dialogue.item
        return item.gold if item.task.spec.hops <= 4 else "I do not know"


def test_items_for_a_threshold_are_chosen_as_answers_come(browser: Any, tmp_path: Path) -> None:
    study = make_study(
        tmp_path,
        "title = 'How far?'\ntap_guard = 0\ncheck = false\n[[conditions]]\nname = 'hops'\n"
        "benchmark = 'nhop_implicit'\nitems = 12\nvary = 'hops'\nvalues = [3, 4, 5, 6, 8]",
    )
    hands = go_through(browser, study, Limited, "oracle")
    assert "blicket" not in hands.page_text
    rows = records(study, tmp_path / "out")
    assert all(row["scores"]["correct"] == (row["spec"]["hops"] <= 4) for row in rows)
    assert {row["spec"]["hops"] for row in rows[6:]} <= {3, 4, 5, 6}, "around the threshold"
    table = (tmp_path / "out" / "participants.csv").read_text().splitlines()
    (person,) = csv.DictReader(table)
    assert 3 < float(person["threshold_low"] or 3.1) < float(person["threshold"]) < 6
    assert main(["report", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out" / "report.html").read_text()
    section = page[page.index('<div id="thresholds">') :]
    assert person["participant"] in section
    assert f"{float(person['threshold']):.3g} [" in section


ANSWERS = {
    **dict.fromkeys(("instructions", "example", "new"), ("next", None)),
    "explore": ("finish", None),
    "object": ("object", "no"),
    "form": ("form", "unsure"),
}


def go_on(study: Study, key: str, *, right: bool) -> None:
    """Take part to the end, with right or wrong answers to the questions about the instructions."""
    found = study.store.find("key", key)
    assert found is not None
    study.store.update(found.id, browser="")
    session, person = study.session(found), Direct(study, key)
    person.number = session.steps
    while session.stage not in ENDED:
        if session.stage == "check":
            chosen = [one[2] if right else 1 - one[2] for one in session.check_questions]
            session = person.take("check", chosen)
        else:
            session = person.take(*ANSWERS[session.stage])


def to_ending(ending: str, study: Study, page: Any, url: str) -> None:
    """Bring a participant to one of the final screens."""
    if ending == "full":
        Direct(study, "other").complete()
    study.set_paused(ending == "paused")
    page.goto(f"{url}?participant=one")
    page.wait_for_selector("h1")
    if ending == "paused":
        return
    page.click("text=No, thank you" if ending == "declined" else "button.main")
    page.wait_for_function("() => view.screen !== 'consent'")
    key = page.context.cookies()[0]["value"].partition("~")[0]
    if ending in ("failed", "done"):
        go_on(study, key, right=ending == "done")
    elif ending == "expired":
        study.store._db.execute("UPDATE participants SET seen = 0 WHERE key = ?", (key,))
        Direct(study, "other").complete()
    elif ending == "elsewhere":
        page.context.clear_cookies()
        page.goto(f"{url}?participant=one")


ENDINGS = ("declined", "full", "failed", "done", "paused", "expired", "elsewhere")
LARGE = {"viewport": {"width": 1440, "height": 900}}


@pytest.mark.parametrize("ending", ENDINGS)
def test_screens_without_a_next_step(browser: Any, tmp_path: Path, ending: str) -> None:
    text = ONE_CONDITION[1].replace("cap = 25", "cap = 1")
    study = make_study(
        tmp_path, f"title = 'x'\ntap_guard = 0\npractice = false\n[[conditions]]{text}"
    )
    server = Server(make_app(study, "token"))
    with server.in_background():
        opened = browser.new_context(**LARGE)
        page = opened.new_page()
        complaints: list[str] = []
        page.on("console", lambda line: complaints.append(line.text))
        to_ending(ending, study, page, server.url)
        for name, options in (("1440", LARGE), ("390", PHONE), ("dark", LARGE)):
            page.set_viewport_size(options["viewport"])
            page.emulate_media(color_scheme="dark" if name == "dark" else "light")
            page.reload()
            page.wait_for_selector("h1")
            assert page.evaluate("view.screen") == ending
            assert page.locator("main button").count() == (ending in ("full", "declined"))
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            if name != "390":  # which differs from the large screen in size alone
                assert accessibility(page, ending) == []
            if SCREENSHOTS:
                page.screenshot(path=str(Path(SCREENSHOTS) / f"end-{ending}-{name}.png"))
        opened.close()
    assert complaints == []


# Four presses before the first of them is answered.
FAST = """() => {
  for (const name of ["thing-A", "thing-B", "thing-C", "button-press"])
    document.querySelector(`[data-focus=${name}]`).click();
}"""


def test_dragging_reloading_two_tabs_and_fast_fingers(browser: Any, tmp_path: Path) -> None:
    study = make_study(
        tmp_path,
        f"title = 'x'\ntap_guard = 0\npractice = false\ncheck = false\n{GAME}preset = 'paper'",
    )
    server = Server(make_app(study, "token"))
    with server.in_background():
        context = browser.new_context()
        page = context.new_page()
        page.goto(server.url)
        while page.evaluate("() => view ? view.screen : ''") != "explore":
            number = page.evaluate("() => view ? view.number : -1")
            page.click("button.main")
            page.wait_for_function("number => view.number !== number", arg=number)
        page.locator("[data-thing=B]").drag_to(page.locator(".machine"))
        page.wait_for_function("() => !busy && view.machine.things.some(one => one.on)")
        other = context.new_page()
        other.goto(server.url)
        other.wait_for_selector(".plate [data-thing=B]")  # the same step in another tab
        other.click("[data-focus=button-press]")
        other.wait_for_function("() => view.history.length === 1")
        page.click("[data-focus=button-press]")  # a step that the other tab has taken
        page.wait_for_function("() => !busy && view.history.length === 1")
        page.go_back()
        page.goto(server.url)
        page.wait_for_selector(".history li")
        page.evaluate(FAST)
        page.wait_for_function("() => !busy && !waiting.length && view.history.length === 2")
        context.close()
    session = study.session(study.store.participants()[0])
    assert [placed for placed, _ in game_of(session).game.tests] == ["B", "AC"]


class Twice(Watched):
    """Taps everything twice, as a child does, sooner or later after the first tap."""

    delays = (30, 120, 250)  # milliseconds between the taps
    taps = 0

    def click(self, selector: str) -> None:
        target = self.page.locator(selector)
        target.scroll_into_view_if_needed()
        box = target.bounding_box()
        assert box is not None
        # Not in the middle: another thing may move to where the first tap was.
        x, y = box["x"] + 0.8 * box["width"], box["y"] + 0.5 * box["height"]
        self.page.touchscreen.tap(x, y)
        self.page.wait_for_timeout(self.delays[self.taps % 3])
        self.page.touchscreen.tap(x, y)
        self.taps += 1
        self.page.wait_for_timeout(50)


TWO_PARTS = """
[[questions]]
id = "name"
text = "What is your favourite colour?"
kind = "text"
optional = true
[[questions]]
id = "attention"
text = "Choose blue."
options = ["red", "blue"]
right = "blue"
at = "middle"
[[questions]]
id = "end"
text = "Was it fun?"
options = ["yes", "no"]
at = "end"
[[conditions]]
name = "a"
benchmark = "blicket_game"
"""
TEXTS = TWO_PARTS.replace("blicket_game", "nhop_explicit") + "preset = 'explicit-easy'\nitems = 2"
ALL_SCREENS = {
    "text": {"check", "text"},
    "watching": {"practice", "check", "new", "watch", "object", "form"},
    "children": {"practice", "check", "example", "new", "explore", "object", "form"},
}


@pytest.mark.parametrize("kind", first_quick(ALL_SCREENS))
def test_a_double_tap_counts_once_on_every_screen(browser: Any, tmp_path: Path, kind: str) -> None:
    given = f"{TWO_PARTS}preset = 'demonstrations-given'"
    study = make_study(
        tmp_path,
        {
            "children": f"title = 'x'\ntap_guard = 300\naudience = 'children'\n{given}",
            "watching": f"title = 'x'\n{TWO_PARTS}preset = 'paper'\narm = 'passive'",
            "text": f"title = 'x'\n{TEXTS}",
        }[kind],
    )
    solver = "oracle" if kind == "text" else "one_at_a_time"
    hands = go_through(browser, study, Twice, solver, **PHONE)
    screens = {"consent", "questions", "instructions"} | ALL_SCREENS[kind]
    assert set(hands.seen) == screens
    (person,) = study.store.participants()
    steps, session = study.store.steps(person.id), study.session(person)
    alone = Session(study.experiment)  # the steps of a participant who taps once
    for step in steps:
        wanted = alone.next_step(hands.reply)
        assert (step.kind, step.value) == (wanted.kind, wanted.value)
        alone.take(step)
    assert session.answers == {"name": "simulated", "attention": "blue", "end": "yes"}
    early = [one for one in study.store.events(person.id) if one.kind == "early_tap"]
    assert len(early) >= len(hands.seen) / 4
    if kind != "watching":
        check_scores(study, tmp_path / "out", solver)


def test_double_taps_at_the_end(browser: Any, tmp_path: Path) -> None:
    text = ONE_CONDITION[1].replace("cap = 25", "cap = 1")
    study = make_study(
        tmp_path,
        f"title = 'x'\naudience = 'children'\npractice = false\n[[conditions]]{text}",
    )
    Direct(study, "other").complete()
    server = Server(make_app(study, "token"))
    with server.in_background():
        opened = browser.new_context(**PHONE)
        page = opened.new_page()
        page.goto(server.url)
        hands = Twice(page, study, "one_at_a_time")
        steps = []
        for selector, screen in (
            ("text=No, thank you", "declined"),
            ("text=I have changed my mind", "consent"),
            ("button.main", "full"),
            ("text=Try again", "full"),
        ):
            hands.wait_for("() => view && !busy && performance.now() - shownAt >= view.guard")
            hands.click(selector)
            hands.wait_for("screen => !busy && view.screen === screen", screen)
            steps.append(page.evaluate("view.number"))
        assert steps == [1, 2, 3, 4]
        hands.wait_for("() => performance.now() - shownAt >= view.guard")
        hands.click("text=Next child")
        hands.wait_for("() => !busy && view.screen === 'consent'")
        page.wait_for_timeout(300)
        assert page.evaluate("[view.screen, view.number]") == ["consent", 0]
        opened.close()
    assert len(study.store.participants()) == 2, "the next child has not agreed yet"


def test_the_sound_and_two_things_close_together(browser: Any, tmp_path: Path) -> None:
    study = make_study(tmp_path, f"title = 'x'\npractice = false\ncheck = false\n{GAME}")
    server = Server(make_app(study, "token"))
    with server.in_background():
        opened = browser.new_context(**PHONE)
        page = opened.new_page()
        page.goto(server.url)
        hands = Twice(page, study, "one_at_a_time")
        ready = "() => view && !busy && performance.now() - shownAt >= view.guard"
        while page.evaluate("() => view ? view.screen : ''") != "explore":
            hands.wait_for(ready)
            page.click("button.main")
            hands.wait_for("() => !busy")
        assert page.inner_text("#sound") == "Sound: off"
        hands.click("#sound")
        assert page.inner_text("#sound") == "Sound: on"
        hands.wait_for(ready)
        for thing in "ABC":
            page.evaluate("thing => document.querySelector(`[data-thing=${thing}]`).click()", thing)
        hands.wait_for("() => !busy && !waiting.length")
        assert page.locator(".plate .thing").count() == 3, "fast taps on other things all count"
        page.wait_for_timeout(500)
        hands.click("[data-thing=A]")
        hands.wait_for("() => !busy && !waiting.length")
        assert page.locator(".plate .thing").count() == 2, "the thing that moved up stays"
        opened.close()


# A voice that is done at once and remembers what it said.
VOICE = """
window.said = [], window.marked = [];
Object.defineProperty(window, "speechSynthesis", { value: {
  speaking: false, cancel() {},
  speak(one) {
    said.push(one.text);
    marked.push(document.querySelector(".spoken")?.textContent);
    setTimeout(() => one.onend(), 0);
  },
} });
"""


LOWEST = """() => Math.max(...Array.from(document.querySelectorAll("main button, .option"),
  (one) => one.getBoundingClientRect().bottom + scrollY))"""


class Child(Finger):
    """A child to whom everything is read, and who sees pictures instead of words."""

    def act(self, screen: str, step: Step) -> None:
        self.page.wait_for_function("() => view.speak.every((one) => said.includes(one.text))")
        for size in (TABLET, PHONE["viewport"]):
            self.page.set_viewport_size(size)
            assert self.page.evaluate(LOWEST) <= size["height"], f"{screen} needs scrolling"
        words = self.page.evaluate(
            "[view.title, ...(view.paragraphs || []), ...(view.rules || []),"
            " (view.machine || view.picture || {}).words].filter(Boolean)"
        )
        heard = self.page.evaluate("view.speak.map((one) => one.text)")
        assert set(words) <= set(heard)
        if screen in ("practice", "explore", "object", "form", "check"):
            assert self.page.locator("main svg").count() > 0, screen
        if screen in ("questions", "check", "form"):
            said, marked = self.page.evaluate("[said, marked]")
            asked = self.page.evaluate("(view.questions || []).flatMap((one) => one.options)")
            assert set(asked) <= {one for one in marked if one in said}
        if screen == "check":
            assert self.page.locator(".check-picture").count() == 4
        if screen in ("practice", "explore"):
            self.page.wait_for_timeout(20)
            assert self.page.locator(".thing.spoken").count() == 0, "a thing is no sentence"
        super().act(screen, step)


def test_a_child_hears_every_sentence_and_the_next_child_follows(
    browser: Any, tmp_path: Path
) -> None:
    children = ONE_CONDITION[0].replace("seed = 7", "seed = 7\naudience = 'children'")
    study = make_study(tmp_path, f"{children}[[conditions]]{ONE_CONDITION[1]}")
    server = Server(make_app(study, "token"))
    with server.in_background():
        opened = browser.new_context(**PHONE)
        opened.add_init_script(VOICE)
        page = opened.new_page()
        page.goto(server.url)
        child = Child(page, study, "one_at_a_time")
        child.problems, child.seen = [], []
        assert child.take_part() == "done"
        assert child.problems == []
        page.click("text=Next child")
        page.wait_for_function("() => view.screen === 'consent'")
        page.click("button.main")
        page.wait_for_function("() => view.screen === 'questions'")
        opened.close()
    first, second = study.store.participants()
    assert first.browser == second.browser
    assert first.stage == "done"
    events = {(one.kind, one.detail) for one in study.store.events(first.id)}
    assert {("sound", "on"), ("read_aloud", "voice")} <= events
