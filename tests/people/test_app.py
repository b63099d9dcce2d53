"""The server: from consent to the code, and what an attacker gets."""

from __future__ import annotations

import csv
import random
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

pytest.importorskip("starlette")
from starlette.testclient import TestClient

from tests.people.client import BASELINE, GAME, PAPER, Client, make_study, next_step, take_part
from trivium.cli import main
from trivium.core.dialogue import solve
from trivium.core.errors import UserError
from trivium.people.app import make_app
from trivium.people.export import export_study
from trivium.people.security import Rates
from trivium.people.store import Contact
from trivium.people.study import Study

TOKEN = "a token"
FREE = """
title = "free"
practice = false
check = false
[[questions]]
id = "remark"
text = "Anything?"
kind = "text"
[[conditions]]
name = "a"
benchmark = "blicket_game"
preset = "paper"
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return make_study(tmp_path)


def browser(study: Study) -> TestClient:
    return TestClient(make_app(study, TOKEN), raise_server_exceptions=True)


@pytest.mark.parametrize("example", [PAPER, BASELINE])
def test_people_go_from_consent_to_their_code(tmp_path: Path, example: Path) -> None:
    study = make_study(tmp_path, example)
    app = make_app(study, TOKEN)
    solver = "optimal" if example == PAPER else "oracle"
    people = 4 if example == PAPER else 1
    for _ in range(people):
        client = Client(TestClient(app))
        view = take_part(client, study, solver)
        assert len(view["codes"][0]["code"]) == 10
    assert {one.completed for one in study.progress()} == {1}
    export_study(study, tmp_path / "out")
    lines = (tmp_path / "out/records.jsonl").read_bytes().splitlines()
    rows = [orjson.loads(line) for line in lines]
    assert len(rows) == sum(one.items for one in study.experiment.conditions)
    for row in rows:
        condition = study.experiment.condition(row["groups"]["condition"])
        item = condition.task.item(row["index"], row["seed"])
        alone = solve(item, condition.task.benchmark.solvers[solver])
        assert (row["reply"], row["scores"]) == (alone.reply, alone.scores)


def test_every_test_of_the_two_example_machines_is_shown(tmp_path: Path) -> None:
    short = f"title = 'x'\npractice = false\ncheck = false\n{GAME}"
    study = make_study(tmp_path, f"{short}preset = 'demonstrations-given'\n")
    client = Client(TestClient(make_app(study, TOKEN)))
    key = client.http.cookies["trivium_session"].partition("~")[0]
    pages = []
    while client.view["screen"] != "new":
        if client.view["screen"] == "example":
            pages.append(client.view["page"])
        step = next_step(study, key, "optimal")
        assert client.post(step.kind, step.value).status_code == 200
    last = pages[0][1]
    assert last >= 3
    assert pages == 2 * [[number, last] for number in range(last + 1)]


@pytest.mark.parametrize(
    ("benchmark", "preset", "solver"),
    [
        ("identifying_variables", "balanced-ctrl", "oracle"),
        ("nhop_implicit", "", "oracle"),
        ("blicket_prompts", "", "ideal_observer"),
        ("blicket_game", "demonstrations-given", "information_gain"),  # a dialogue of many turns
    ],
)
def test_every_benchmark_can_be_read_as_text(
    tmp_path: Path, benchmark: str, preset: str, solver: str
) -> None:
    text = f"""
title = "x"
check = false
[[conditions]]
name = "a"
benchmark = "{benchmark}"
preset = "{preset}"
as_text = true
"""
    study = make_study(tmp_path, text)
    client = Client(browser(study))
    client.post("consent", True)
    while client.view["screen"] != "text":
        client.post("next")
    condition = study.experiment.conditions[0]
    item = study.experiment.items(condition, 0)[0]
    alone = solve(item, condition.task.benchmark.solvers[solver])
    for reply in alone.reply if isinstance(alone.reply, list) else [alone.reply]:
        assert client.view["messages"][0] == item.prompt
        client.post("reply", reply)
    assert client.view["screen"] == "done"
    export_study(study, tmp_path / "out")
    row = orjson.loads((tmp_path / "out/records.jsonl").read_bytes())
    assert (row["reply"], row["scores"]) == (alone.reply, alone.scores)


LINK = "?PROLIFIC_PID=pid-7&STUDY_ID=s"  # the name is in no hexadecimal number


def test_a_reload_and_the_link_resume_in_the_same_browser(study: Study) -> None:
    first = Client(browser(study), LINK)
    first.post("consent", True)
    first.post("questions", {"age": "7 to 10"})
    before = first.load()
    assert before["screen"] == "instructions"
    first.http.get(f"/{LINK}")
    assert first.load() == before
    assert Client(browser(study), "?PROLIFIC_PID=other").view["screen"] == "consent"
    assert study.store.contacts() == {1: Contact("pid-7", "s", "")}
    export_study(study, study.store.folder / "out")
    everything = b"".join(path.read_bytes() for path in (study.store.folder / "out").iterdir())
    assert b"pid-7" not in everything


def test_whoever_else_has_the_link_is_not_that_person(study: Study) -> None:
    """Also one who opened the link before the first step was taken, and later requests."""
    early = Client(browser(study), LINK)
    first = Client(browser(study), LINK)
    first.post("consent", True)
    for other in (early, Client(browser(study), LINK)):
        other.load()
        assert other.view["screen"] == "elsewhere"
        assert not {"buttons", "codes"} & set(other.view)
        for kind, value in (("consent", True), ("questions", {"age": "7 to 10"})):
            for number in (0, 1):
                assert other.post(kind, value, number).status_code == 409
                assert other.view["screen"] == "elsewhere"
        headers = {"X-Token": other.token}
        event = {"page": "p", "number": 1, "kind": "blur", "detail": ""}
        other.http.post("/api/events", json={"events": [event]}, headers=headers)
    assert len(study.store.steps(1)) == 1
    assert study.store.events(1) == []
    assert len(study.store.participants()) == 1
    take_part(first, study, "constant_answer")
    assert early.load()["screen"] == "elsewhere"  # and sees no code
    assert "codes" not in early.view
    assert main(["serve", "delete", str(study.store.folder), "pid-7"]) == 0  # by its name
    assert study.store.participants() == []


def test_a_participant_can_be_released_to_another_browser(
    study: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    first = Client(browser(study), LINK)
    first.post("consent", True)
    folder = str(study.store.folder)
    assert main(["serve", "release", folder, "unknown"]) == 2
    assert "no participant has the name 'unknown'" in capsys.readouterr().err
    assert main(["serve", "release", folder, "pid-7"]) == 0
    second = Client(browser(study), LINK)
    assert second.view["screen"] == "questions"
    second.post("questions", {"age": "7 to 10"})
    assert second.view["screen"] == "instructions"
    assert first.load()["screen"] == "elsewhere"


def test_who_was_away_goes_on_unless_all_places_are_taken(tmp_path: Path) -> None:
    condition = PAPER.read_text().split("[[conditions]]")[1].replace("cap = 25", "cap = 1")
    top = "title = 'x'\ndropout_minutes = 10\naudience = 'children'\n"
    study = make_study(tmp_path, f"{top}[[conditions]]{condition}")
    first = Client(browser(study))
    first.post("consent", True)

    def next_child() -> int:
        """The status of the request to let another child begin in the first browser."""
        headers = {"X-Token": first.token}
        return int(first.http.post("/api/next-child", json={}, headers=headers).status_code)

    assert next_child() == 403  # this child is still playing
    now = study.store.clock()
    study.store.clock = lambda: now + 11 * 60
    assert first.load()["screen"] == "instructions"  # the place is still free
    second = Client(browser(study))
    assert take_part(second, study, "constant_answer")["screen"] == "done"
    assert first.load()["screen"] == "expired"
    assert first.post("next").status_code == 409
    assert first.view["screen"] == "expired"
    assert first.view["codes"][0]["code"] == study.store.participants()[0].code
    (progress,) = study.progress()
    assert (progress.completed, progress.active, progress.dropped) == (1, 0, 1)
    assert next_child() == 200
    assert first.load()["screen"] == "consent"


@pytest.mark.parametrize(
    ("proxies", "secure"), [((), False), (("10.0.0.0/8",), False), (("127.0.0.0/8",), True)]
)
def test_headers_of_proxies_are_believed_of_named_ones_only(
    study: Study, proxies: tuple[str, ...], secure: bool
) -> None:
    pytest.importorskip("uvicorn")
    from trivium.people.server import Server

    server = Server(make_app(study, TOKEN), proxies=proxies)
    with server.in_background():
        request = urllib.request.Request(server.url, headers={"X-Forwarded-Proto": "https"})
        with urllib.request.urlopen(request, timeout=20) as response:
            assert ("secure" in response.headers["set-cookie"].lower()) == secure


def test_a_proxy_must_be_an_address(study: Study) -> None:
    pytest.importorskip("uvicorn")
    from trivium.people.server import Server

    for text in ("*", "everything", "10.0.0.1/8"):
        with pytest.raises(UserError, match="proxy must be addresses or networks"):
            Server(make_app(study, TOKEN), proxies=(text,))


def test_who_failed_the_questions_twice_gets_a_code_too(study: Study) -> None:
    client = Client(browser(study))
    client.post("consent", True)
    client.post("questions", {"age": "7 to 10"})
    for _ in range(2):
        while client.view["screen"] == "instructions":
            client.post("next")
        if client.view["screen"] == "practice":
            for step in (("toggle", "A"), ("press", None), ("next", None)):
                client.post(*step)
        right = study.session(study.store.participants()[0]).check_questions
        client.post("check", [1 - one[2] for one in right])
    assert client.view["screen"] == "failed"
    assert client.view["codes"][0]["code"] == study.store.participants()[0].code
    assert client.load()["codes"]


def texts_in(value: Any) -> Iterator[str]:
    """Every key and text in a response."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from texts_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts_in(part)
    elif isinstance(value, str):
        yield value


ALIKE = ("conjunctive:AB", "conjunctive:AC", "disjunctive:C")  # dark with A alone, and with B


def test_no_response_tells_the_answer_before_it_is_given(tmp_path: Path) -> None:
    """Machines that have lit alike so far give the same responses, byte for byte."""
    seen = set()
    for machine in ALIKE:
        folder = tmp_path / machine.replace(":", "")
        folder.mkdir()
        text = "title = 'x'\npractice = false\ncheck = false\npool = 200\n"
        study = make_study(
            folder,
            text + f"{GAME}preset = 'paper'",
        )
        items = study.experiment.conditions[0].task.items(200, 0)
        slot = next(
            number
            for number, item in enumerate(items)
            if (item.content.truth, item.content.listing) == (machine, "ABC")
        )
        study._place = lambda condition, slot=slot: {"slot": slot}  # type: ignore[method-assign,misc]
        client = Client(browser(study))
        responses = [client.post("consent", True).content]
        while client.view["screen"] != "explore":
            responses.append(client.post("next").content)
        steps = [("toggle", "A"), ("press", None), ("toggle", "B"), ("toggle", "A")]
        steps += [("press", None), ("finish", None)]
        steps += [("object", answer) for answer in ("yes", "no", "no")]
        responses += [client.post(*step).content for step in steps]
        assert client.view["screen"] == "form"
        seen.add(b"\n".join(responses))
        for word in (items[slot].id, "seed", "index", "slot", "gold", machine):
            assert word.encode() not in b"\n".join(responses)
    assert len(seen) == 1


def test_text_tasks_show_the_prompt_and_nothing_else_of_the_item(tmp_path: Path) -> None:
    study = make_study(tmp_path, BASELINE)
    client = Client(browser(study))
    client.post("consent", True)
    while client.view["screen"] != "text":
        if client.view["screen"] == "check":
            found = study.session(study.store.participants()[0])
            client.post("check", [right for _, _, right in found.check_questions])
        else:
            client.post("next")
    session = study.session(study.store.participants()[0])
    item = session.now.item
    assert client.view["messages"] == [item.prompt]
    shown = set(texts_in(client.view)) - set(client.view["messages"])
    assert item.gold not in shown
    assert item.id not in orjson.dumps(client.view).decode()


MALFORMED = [
    b"",
    b"[]",
    b"nonsense",
    b'{"number": 0}',
    b'{"number": "0", "kind": "next"}',
    b'{"number": -1, "kind": "next"}',
    b'{"number": 1e99, "kind": "next"}',
    b'{"number": true, "kind": "consent", "value": true}',
    b'{"number": 0, "kind": null}',
    b'{"number": 0, "kind": "consent", "value": "yes"}',
    b'{"number": 0, "kind": "consent", "value": 1}',
    b'{"number": 0, "kind": "__class__", "value": {}}',
    b'{"number": 0, "kind": "' + b"x" * 5000 + b'"}',
    b'{"number": 0, "kind": "form", "value": "conjunctive"}',
    b'{"number": 99999999999999999999, "kind": "next"}',
    b'{"number": 0, "kind": "next", "value": ' + b"[" * 900 + b"]" * 900 + b"}",
    b'{"number": 0, "kind": "next", "time": "now", "events": [1, {"page": 1}, null]}',
    b'\xff\xfe{"number": 0}',
]


def test_a_thousand_malformed_requests_change_nothing(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Rates, "check", lambda *_: None)
    client = Client(browser(study))
    client.post("consent", True)
    before, rng = client.load(), random.Random(1)
    headers = {"X-Token": client.token, "Content-Type": "application/json"}
    codes = set()
    for number in range(1000):
        body = bytearray(MALFORMED[number % len(MALFORMED)])
        for _ in range(rng.randrange(3) if number >= len(MALFORMED) else 0):
            body.insert(rng.randrange(len(body) + 1), rng.randrange(256))
        response = client.http.post("/api/step", content=bytes(body), headers=headers)
        codes.add(response.status_code)
        assert "Traceback" not in response.text
    assert codes == {400, 409, 422}
    assert len(study.store.steps(1)) == 1
    assert client.load() == before


def test_requests_of_other_sites_and_forged_cookies_are_refused(study: Study) -> None:
    client = Client(browser(study))
    body = {"number": 0, "kind": "consent", "value": True}
    good = {"X-Token": client.token}
    for headers in (
        {},
        {"X-Token": "0" * 64},
        good | {"Sec-Fetch-Site": "cross-site"},
    ):
        assert client.http.post("/api/step", json=body, headers=headers).status_code == 403
    text = client.http.post(
        "/api/step", content=orjson.dumps(body), headers=good | {"Content-Type": "text/plain"}
    )
    assert text.status_code == 415
    assert study.store.participants() == []
    forged = {"Cookie": "trivium_session=me." + "0" * 64}
    assert browser(study).get("/api/state", headers=forged).status_code == 403
    assert client.http.put("/api/step", json=body).status_code == 405


def test_large_bodies_are_refused(study: Study) -> None:
    client = Client(browser(study))
    headers = {"X-Token": client.token, "Content-Type": "application/json"}
    large = b'{"value": "' + b"x" * 70_000 + b'"}'
    assert client.http.post("/api/step", content=large, headers=headers).status_code == 413
    chunks = (b"x" * 10_000 for _ in range(20))  # without a declared length
    assert client.http.post("/api/step", content=chunks, headers=headers).status_code == 413


def test_every_response_has_safe_headers(study: Study) -> None:
    http = browser(study)
    for path in ("/", "/api/state", "/admin", "/static/app.js", "/nothing"):
        headers = http.get(path).headers
        policy = headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
    cookie = browser(study).get("/").headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    page = http.get("/").text
    assert "<script>" not in page
    assert "style=" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")


@pytest.mark.parametrize(("example", "drawn"), [(PAPER, True), (BASELINE, False)])
def test_a_drawn_page_brings_its_scripts_and_tables(
    tmp_path: Path, example: Path, drawn: bool
) -> None:
    study = make_study(tmp_path, example)
    http = browser(study)
    assert ("static/machine.js" in http.get("/").text) == drawn
    for name in ("machine.js", "shapes.js"):
        assert http.get(f"/static/{name}").status_code == (200 if drawn else 404)
    export_study(study, tmp_path / "out")
    assert (tmp_path / "out/tests.csv").exists() == drawn


def test_requests_are_limited_in_rate(tmp_path: Path) -> None:
    study = make_study(tmp_path, "requests_per_second = 1\n" + PAPER.read_text())
    http = browser(study)
    codes = [http.get("/api/state").status_code for _ in range(20)]
    assert 429 in codes


def test_the_admin_page_needs_its_token(study: Study) -> None:
    http = browser(study)
    assert "Pause" not in http.get("/admin").text
    assert http.get("/admin/export/records.jsonl").status_code == 403
    assert http.post("/admin/pause", data={"paused": "yes"}).status_code == 403
    wrong = http.post("/admin/login", data={"token": "a toke"}, follow_redirects=False)
    assert wrong.status_code == 401
    other = http.post(
        "/admin/login", data={"token": TOKEN}, headers={"Sec-Fetch-Site": "cross-site"}
    )
    assert other.status_code == 403
    page = http.post("/admin/login", data={"token": TOKEN})
    assert "given, disjunctive" in page.text
    cookie = http.post("/admin/login", data={"token": TOKEN}, follow_redirects=False)
    assert "samesite=strict" in cookie.headers["set-cookie"].lower()
    assert http.post("/admin/pause", data={"paused": "yes"}).status_code == 403  # no form token
    token = page.text.split('name="form" value="')[1].split('"')[0]
    http.post("/admin/pause", data={"paused": "yes", "form": token})
    assert study.paused
    assert Client(browser(study)).view["screen"] == "paused"
    http.post("/admin/pause", data={"paused": "no", "form": token})
    assert Client(browser(study)).view["screen"] == "consent"
    assert http.get("/admin/export/..%2f..%2fsecret.key").status_code == 404
    assert "people: 0 came, 0 completed." in page.text
    study.kind = "simulated"
    assert "simulated participants: 0 came" in http.get("/admin").text
    assert http.get("/admin/export/dictionary.csv").text.startswith(
        "file,column,type,meaning,missing"
    )
    guesses = [http.post("/admin/login", data={"token": "x"}).status_code for _ in range(10)]
    assert 429 in guesses


HOSTILE = '=cmd|"/c calc"!A1<script>alert(1)</script><img src=x onerror=alert(1)>'


def test_hostile_text_is_shown_safely_everywhere(tmp_path: Path) -> None:
    study = make_study(tmp_path, FREE)
    client = Client(browser(study))
    client.post("consent", True)
    client.post("questions", {"remark": HOSTILE + "\x1b\u202e"})
    http = browser(study)
    page = http.post("/admin/login", data={"token": TOKEN}).text
    assert "<script>alert" not in page
    assert not {"\x1b", "\u202e"} & {*page}
    assert "&lt;script&gt;alert(1)" in page
    export_study(study, tmp_path / "out")
    with (tmp_path / "out/participants.csv").open(newline="") as file:
        row = next(csv.DictReader(file))
    assert row["remark"].startswith("'" + HOSTILE)
    for path in (tmp_path / "out").glob("*.csv"):
        with path.open(newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@", "\t", "\r")]


def test_a_hostile_reply_is_guarded_in_tables(tmp_path: Path) -> None:
    text = BASELINE.read_text().replace("items = 3", "items = 1")
    study = make_study(tmp_path, "check = false\n" + text)
    client = Client(browser(study))
    client.post("consent", True)
    while client.view["screen"] != "text":
        client.post("next")
    client.post("reply", HOSTILE)
    export_study(study, tmp_path / "out")
    with (tmp_path / "out/trials.csv").open(newline="") as file:
        assert next(csv.DictReader(file))["reply"] == "'" + HOSTILE
    assert main(["report", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out/report.html").read_text()
    assert "<script>alert" not in page
    assert "<img src=x" not in page
