"""A participant without a browser: the requests that the page makes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from trivium.benchmarks.blicket.game.answer import read_command
from trivium.core.benchmark import Solver
from trivium.core.dialogue import Dialogue, next_reply
from trivium.people.experiment import Condition, Experiment
from trivium.people.study import Study, open_study

SOURCE = Path(__file__).parents[2] / "src/trivium"
PAPER = SOURCE / "benchmarks/blicket/people/paper.toml"
BASELINE = SOURCE / "people/examples/baseline.toml"
GAME = "[[conditions]]\nname = 'a'\nbenchmark = 'blicket_game'\n"
Answer = Callable[[dict[str, Any]], tuple[str, Any]]


OPENED: list[Study] = []  # closed after every test


def make_study(folder: Path, text: str | Path = PAPER) -> Study:
    """A study of an experiment file, or of the text of one."""
    path = folder / "experiment.toml"
    path.write_text(text.read_text() if isinstance(text, Path) else text)
    OPENED.append(open_study(path))
    return OPENED[-1]


class Client:
    """A session of requests; `http` is a test client of Starlette or one of httpx."""

    def __init__(self, http: Any, query: str = "") -> None:
        self.http = http
        http.get(f"/{query}", follow_redirects=True)
        self.load()

    def load(self) -> dict[str, Any]:
        """Reload the page."""
        state = self.http.get("/api/state").json()
        self.token: str = state["token"]
        self.view: dict[str, Any] = dict(state["view"])
        return self.view

    def post(self, kind: str, value: Any = None, number: int | None = None) -> Any:
        """Send a step; the view follows."""
        number = self.view["number"] if number is None else number
        body = {"number": number, "kind": kind, "value": value, "time": 1.0}
        response = self.http.post("/api/step", json=body, headers={"X-Token": self.token})
        if response.status_code < 500 and "view" in response.json():
            self.view = response.json()["view"]
        return response


def right_check(experiment: Experiment, condition: Condition) -> list[int]:
    """The right answers to the questions about the instructions."""
    from trivium.people.session import Session

    session = Session(experiment)
    session.condition = condition
    return [right for _, _, right in session.check_questions]


class Player:
    """Decides the next step of a participant as a solver would, by what the page shows."""

    def __init__(self, study: Study, solver: Solver) -> None:
        self.study, self.solver = study, solver
        self.dialogue: Dialogue | None = None
        self.rounds = 0
        self.command: Any = None
        self.reply = ""

    def step(  # noqa: PLR0911 - one for each kind of screen
        self, view: dict[str, Any], condition: Condition, slot: int
    ) -> tuple[str, Any]:
        """The kind and value of the next step on this screen."""
        screen = view["screen"]
        if screen == "consent":
            return "consent", True
        if screen == "questions":
            first = {one["id"]: (one["options"] or ["x"])[0] for one in view["questions"]}
            return "questions", first
        if screen == "check":
            return "check", right_check(self.study.experiment, condition)
        if screen == "practice":
            return self._practice(view)
        if screen in ("instructions", "example", "new", "watch"):
            if screen == "new":
                self._open(condition, slot)
            return "next", None
        if screen == "text":
            self._open(condition, slot)
            assert self.dialogue is not None
            return "reply", next_reply(self.dialogue, self.solver)
        if screen == "explore":
            return self._explore(view)
        return self._answer(view)

    def _open(self, condition: Condition, slot: int) -> None:
        items = self.study.experiment.items(condition, slot)
        self.dialogue = Dialogue(items[self.rounds])
        self.rounds += 1
        self.command = None

    @staticmethod
    def _practice(view: dict[str, Any]) -> tuple[str, Any]:
        if any(button["kind"] == "next" for button in view["buttons"]):
            return "next", None
        things = view["machine"]["things"]
        return ("press", None) if any(one["on"] for one in things) else ("toggle", things[0]["id"])

    def _explore(self, view: dict[str, Any]) -> tuple[str, Any]:
        assert self.dialogue is not None
        while len(self.dialogue.replies) < len(view["history"]):
            self.dialogue.send(self.reply)
        if self.command is None or len(view["history"]) == self.made:
            self.made = len(view["history"]) + 1
            self.reply = next_reply(self.dialogue, self.solver)
            item = self.dialogue.item.content
            self.command = read_command(self.reply, item.objects, item.spec.form_answers)
        if self.command.form is not None:
            return "finish", None
        for thing in view["machine"]["things"]:
            if thing["on"] != (thing["id"] in self.command.objects):
                return "toggle", thing["id"]
        return "press", None

    made = 0

    def _answer(self, view: dict[str, Any]) -> tuple[str, Any]:
        assert self.dialogue is not None
        if view["screen"] == "form":
            return "form", self.command.form
        listing = self.dialogue.item.content.listing
        asked = next(letter for letter in listing if THINGS[letter] == view["thing"]["shape"])
        if asked in self.command.objects:
            return "object", "yes"
        return "object", "inhibitor" if asked in self.command.inhibitors else "no"


THINGS = dict(
    zip(
        "ABCDEFGH",
        ("prism", "frustum", "torus", "star", "hexagon", "drop", "heart", "moon"),
        strict=True,
    )
)


def take_part(client: Client, study: Study, solver: str, limit: int = 400) -> dict[str, Any]:
    """Go from consent to the end as a solver does; returns the last view."""
    player: Player | None = None
    key = client.http.cookies["trivium_session"].partition("~")[0]
    for _ in range(limit):
        if client.view["screen"] in ("done", "declined", "full", "failed"):
            return client.view
        found = study.store.find("key", key)
        condition = study.experiment.conditions[0]
        if found is not None and found.condition is not None:
            condition = study.experiment.condition(found.condition)
        if player is None or player.solver.name not in condition.task.benchmark.solvers:
            player = Player(study, condition.task.benchmark.solvers[solver])
        slot = 0 if found is None else found.slot or 0
        kind, value = player.step(client.view, condition, slot)
        response = client.post(kind, value)
        assert response.status_code == 200, (client.view["screen"], response.text)
    raise AssertionError("the experiment does not end")
