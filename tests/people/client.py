"""A participant without a browser: the requests that the page makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trivium.core.dialogue import Dialogue, next_reply
from trivium.people.experiment import Condition, Experiment
from trivium.people.steps import Step
from trivium.people.study import Study, open_study

SOURCE = Path(__file__).parents[2] / "src/trivium"
PAPER = SOURCE / "benchmarks/blicket/people/paper.toml"
BASELINE = SOURCE / "people/examples/baseline.toml"
GAME = "[[conditions]]\nname = 'a'\nbenchmark = 'blicket_game'\n"


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


def next_step(study: Study, key: str, solver: str) -> Step:
    """The next step of the participant with a key who replies as a solver does."""
    session = study.session(study.store.find("key", key))

    def reply(dialogue: Dialogue) -> str:
        return next_reply(dialogue, dialogue.item.task.benchmark.solvers[solver])

    return session.next_step(reply)


def take_part(client: Client, study: Study, solver: str, limit: int = 400) -> dict[str, Any]:
    """Go from consent to the end as a solver does; returns the last view."""
    key = client.http.cookies["trivium_session"].partition("~")[0]
    for _ in range(limit):
        if client.view["screen"] in ("done", "declined", "full", "failed"):
            return client.view
        step = next_step(study, key, solver)
        response = client.post(step.kind, step.value)
        assert response.status_code == 200, (client.view["screen"], response.text)
    raise AssertionError("the experiment does not end")
