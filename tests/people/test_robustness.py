"""What would spoil a real study: restarts, shared tablets, clocks, slow clients, wrong data."""

from __future__ import annotations

import csv
import logging
import socket
import sqlite3
import stat
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
from starlette.testclient import TestClient

from tests.people.client import BASELINE, GAME, PAPER, Client, make_study
from tests.people.test_study import Direct
from trivium.cli import main
from trivium.core.errors import UserError
from trivium.core.records import solver_group
from trivium.people import server
from trivium.people.app import make_app
from trivium.people.experiment import read_experiment
from trivium.people.export import export_study
from trivium.people.screens import screen
from trivium.people.steps import RefusedError, Step
from trivium.people.store import Clock
from trivium.people.study import Study, events_from, open_study, reopen_study
from trivium.people.texts import read_texts
from trivium.people.walkthrough import sentences

SHORT = f"title = 'x'\npractice = false\ncheck = false\n{GAME}preset = 'paper'\n"
AGE = "[[questions]]\nid = 'age'\ntext = 'How old?'\noptions = ['child', 'adult']\n"


def app_of(study: Study) -> TestClient:
    return TestClient(make_app(study, "token"))


def own_texts(folder: Path, **changes: str) -> Path:
    """The English texts with changes, as a file of one's own."""
    lines = {**read_texts("en"), **changes}.items()
    path = folder / "fr.toml"
    path.write_text("".join(f"{key} = {orjson.dumps(text).decode()}\n" for key, text in lines))
    return path


def test_a_study_with_its_own_texts_is_restarted_exported_and_deleted_from(tmp_path: Path) -> None:
    file = own_texts(tmp_path, **{"consent.title": "Voulez-vous participer ?"})
    study = make_study(tmp_path, "language = 'fr.toml'\n" + SHORT)
    assert Client(app_of(study)).view["title"] == "Voulez-vous participer ?"
    Direct(study, "one").complete()
    open_study(tmp_path / "experiment.toml")
    file.unlink()
    kept = reopen_study(study.store.folder)
    assert kept.experiment == study.experiment
    assert export_study(kept, tmp_path / "out") == 1
    kept.delete(kept.store.participants()[0].code)
    assert kept.store.participants() == []


@pytest.mark.parametrize(
    ("key", "text", "problem"),
    [
        ("text.title", "Puzzle {number", "text.title has a brace without its partner"),
        (
            "text.title",
            "Puzzle {nummer}",
            "text.title may have count, number in braces, got nummer",
        ),
        ("consent.text", "Hello {you}", "consent.text may have nothing in braces, got you"),
    ],
)
def test_wrong_braces_in_a_translation_are_refused_at_the_start(
    tmp_path: Path, key: str, text: str, problem: str
) -> None:
    own_texts(tmp_path, **{key: text})
    (tmp_path / "x.toml").write_text("language = 'fr.toml'\n" + SHORT)
    with pytest.raises(UserError, match=problem):
        read_experiment(tmp_path / "x.toml")


def test_a_shared_tablet_serves_one_child_after_the_other(tmp_path: Path) -> None:
    study = make_study(tmp_path, SHORT)
    tablet = app_of(study)
    for name in ("kid-07", "kid-08"):
        child = Client(tablet, f"?participant={name}")
        child.post("consent", True)
        assert child.view["screen"] == "instructions"
    again = Client(tablet, "?participant=kid-07")
    assert again.view["screen"] == "instructions"
    assert again.post("next").status_code == 200
    assert Client(app_of(study), "?participant=kid-07").view["screen"] == "elsewhere"
    assert len(study.store.participants()) == 2


def test_items_are_balanced_within_conditions_and_matched_across_them() -> None:
    paper = read_experiment(PAPER)
    orders = set()
    for condition in paper.conditions:
        items = [paper.items(condition, slot)[0].content for slot in range(condition.cap)]
        for value in ("truth", "listing", "swapped"):
            counts = Counter(getattr(item, value) for item in items)
            levels = {"truth": 3, "listing": 6, "swapped": 1 + ("not" not in condition.name)}
            assert len(counts) == levels[value]
            assert max(counts.values()) - min(counts.values()) <= 1, (condition.name, value)
        machines = sorted({item.truth for item in items})
        orders.add(tuple((machines.index(item.truth), item.listing) for item in items))
    assert len(orders) == 1


def test_a_dropout_s_item_is_given_to_the_next_participant(tmp_path: Path) -> None:
    study = make_study(tmp_path, SHORT)
    Direct(study, "leaves").to_the_machine()
    Direct(study, "stays").to_the_machine()
    now = study.store.clock()
    study.store.clock = lambda: now + 3600
    Direct(study, "stays").study.store.update(2, seen=now + 3600)
    Direct(study, "comes").to_the_machine()
    assert [one.slot for one in study.store.participants()] == [0, 1, 0]


def test_simulated_and_pilot_participants_are_marked_and_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_study(tmp_path, SHORT)
    path = tmp_path / "experiment.toml"
    for kind, name in (("simulated", "simulated participants"), ("pilot", "people of the pilot")):
        with pytest.raises(UserError, match="holds a study with people; choose another folder"):
            open_study(path, tmp_path / "experiment.study", kind)
        study = open_study(path, tmp_path / kind, kind)
        Direct(study, "one").complete()
        export_study(reopen_study(tmp_path / kind), tmp_path / "out" / kind)
        row = orjson.loads((tmp_path / "out" / kind / "records.jsonl").read_bytes())
        assert row["solver"].startswith(f"{kind}:")
        assert solver_group(row["solver"]) == name
    assert main(["report", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out/report.html").read_text()
    assert "simulated participants" in page
    assert ">people<" not in page


def test_answers_to_questions_reach_records_and_report(tmp_path: Path) -> None:
    study = make_study(tmp_path, SHORT + AGE)
    for name in ("one", "two"):
        Direct(study, name).complete()
    export_study(study, tmp_path / "out")
    rows = [
        orjson.loads(line) for line in (tmp_path / "out/records.jsonl").read_bytes().splitlines()
    ]
    assert [row["groups"]["age"] for row in rows] == ["child", "child"]


def test_steps_without_a_value_refuse_one(tmp_path: Path) -> None:
    study = make_study(tmp_path, SHORT)
    Direct(study, "one").take("consent", True)
    with pytest.raises(RefusedError, match="next has no value"):
        study.take_step("one", 1, Step("next", "x" * 60_000))
    assert len(study.store.steps(1)) == 1


def test_who_declined_can_change_their_mind(tmp_path: Path) -> None:
    client = Client(app_of(make_study(tmp_path, SHORT)))
    client.post("consent", False)
    assert client.load()["screen"] == "declined"
    client.post("retry")
    assert client.view["screen"] == "consent"
    client.post("consent", True)
    assert client.view["screen"] == "instructions"


def test_only_the_owner_can_read_a_study(tmp_path: Path) -> None:
    folder = make_study(tmp_path, SHORT).store.folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_clock_jumps_neither_free_places_nor_give_negative_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study(tmp_path, SHORT + "cap = 1\n")
    first, now = Direct(study, "one"), time.time()
    first.to_the_machine()
    monkeypatch.setattr(time, "time", lambda: now + 7200)  # the system's clock is set forward
    assert Direct(study, "two").to_the_machine().stage == "full"
    monkeypatch.setattr(time, "time", lambda: now - 7200)  # and back, also over a restart
    study.store.clock = Clock(study.store.steps(1)[-1].server_time)
    session = first.answer(first.take("finish"), "A", "disjunctive")
    assert session.stage == "done"
    assert all(one.seconds >= 0 for one in session.timeline)
    assert [one.completed for one in study.progress()] == [1]


def test_a_second_server_names_a_flag_that_exists(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from trivium.core.files import locked

    study = make_study(tmp_path, SHORT)
    with locked(study.store.folder):
        assert main(["serve", str(tmp_path / "experiment.toml")]) == 2
    assert "choose another folder with --study" in capsys.readouterr().err


def test_a_failed_commit_is_rolled_back(tmp_path: Path) -> None:
    store = make_study(tmp_path, SHORT).store
    column = "participant REFERENCES participants (id) DEFERRABLE INITIALLY DEFERRED"
    store._db.executescript(f"PRAGMA foreign_keys = ON; CREATE TABLE others ({column})")

    def add_refused() -> None:
        with store.transaction():
            store.add("lost", "")
            store._db.execute("INSERT INTO others VALUES (99)")  # which only the commit refuses

    with pytest.raises(sqlite3.IntegrityError):
        add_refused()
    with store.transaction():
        store.add("kept", "")
    assert [one.key for one in store.participants()] == ["kept"]


def test_templates_are_not_public_and_a_sub_path_works(tmp_path: Path) -> None:
    http = app_of(make_study(tmp_path, SHORT))
    for path in ("/static/admin.html.j2", "/static/../templates/admin.html.j2", "/audio/x.mp3"):
        assert http.get(path).status_code == 404
    moved = http.get("/?participant=a", follow_redirects=False)
    assert moved.headers["location"] == "./"
    for page in (http.get("/").text, http.get("/admin").text):
        assert 'src="/' not in page
        assert 'href="/' not in page
        assert 'action="/' not in page


def test_an_old_browser_behind_a_bare_proxy_can_take_part(tmp_path: Path) -> None:
    """It sends an Origin with another scheme and host than the server sees, and nothing else."""
    client = Client(app_of(make_study(tmp_path, SHORT)))
    client.http.headers["Origin"] = "https://study.example.org"
    assert client.post("consent", True).status_code == 200
    client.http.headers["Sec-Fetch-Site"] = "cross-site"
    assert client.post("next").status_code == 403


@pytest.mark.parametrize(
    ("links", "query", "screen"),
    [
        ("named", "", "uninvited"),
        ("named", "?participant=a", "consent"),
        ("signed", "?participant=a", "uninvited"),
        ("signed", "?participant=a&signature=0123", "uninvited"),
        ("signed", "?participant=a&signature={}", "consent"),
        ("signed", "?participant=b&signature={}", "uninvited"),
    ],
)
def test_links_may_need_a_name_and_a_signature(
    tmp_path: Path, links: str, query: str, screen: str
) -> None:
    study = make_study(tmp_path, f"links = '{links}'\n" + SHORT)
    client = Client(app_of(study), query.format(study.signature("a")))
    assert client.view["screen"] == screen
    assert client.post("consent", True).status_code == (200 if screen == "consent" else 409)
    assert len(study.store.participants()) == (screen == "consent")


def test_german_participants_are_told_that_a_puzzle_is_in_english(tmp_path: Path) -> None:
    study = make_study(tmp_path, "language = 'de'\ncheck = false\n" + BASELINE.read_text())
    client = Client(app_of(study))
    client.post("consent", True)
    while client.view["screen"] != "text":
        client.post("next")
    assert "auf Englisch" in client.view["paragraphs"][0]


def test_the_practice_and_the_instructions_show_no_kind_of_machine(tmp_path: Path) -> None:
    study = make_study(tmp_path, f"title = 'x'\n{GAME}preset = 'demonstrations-not-given'")
    client = Client(app_of(study))
    client.post("consent", True)
    said = []
    while client.view["screen"] == "instructions":
        said += client.view["paragraphs"]
        picture = client.view["picture"]
        on = [one["id"] for one in picture["things"] if one["on"]]
        assert picture["lit"] is None or len(on) == 2  # one or both of them may be needed
        client.post("next")
    assert "one, two or three blickets" in " ".join(said)
    for thing in "AAB":  # A, nothing, B: it always lights up, and the text says so
        client.post("toggle", thing)
        client.post("press")
        assert client.view["machine"]["lit"]
    assert "always lights up" in study.experiment.texts["practice.text"]


def test_people_can_reread_demonstrations_and_know_the_budget(tmp_path: Path) -> None:
    study = make_study(
        tmp_path,
        f"title = 'x'\npractice = false\ncheck = false\n{GAME}preset = 'demonstrations-given'",
    )
    client = Client(app_of(study))
    client.post("consent", True)
    shown = []
    while client.view["screen"] != "explore":
        if client.view["screen"] == "example":
            shown.append(client.view["picture"]["lit"])
        client.post("next")
    lights = [one["lit"] for example in client.view["examples"] for one in example["tests"]]
    assert lights == [light for light in shown if light is not None]
    assert "You can check 20 more times." in client.view["paragraphs"]


def test_slow_headers_do_not_block_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "REQUEST_SECONDS", 1.0)
    monkeypatch.setattr(server, "MAX_WAITING", 20)
    running = server.Server(make_app(make_study(tmp_path, SHORT), "token"))
    port = int(running.url.rstrip("/").rpartition(":")[2])
    with running.in_background():
        slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(60)]
        for one in slow:
            with suppress(OSError):  # the oldest are closed
                one.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        with socket.create_connection(("127.0.0.1", port)) as quick:
            for _ in range(3):  # one connection for several requests, at once and later
                quick.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                time.sleep(0.6)
                assert quick.recv(10_000).startswith(b"HTTP/1.1 200")
        for one in slow:
            one.settimeout(5)
            with suppress(ConnectionResetError):
                assert one.recv(100) == b""  # closed
            one.close()


@pytest.mark.parametrize("answered_before", [False, True])
def test_a_broken_body_leaves_no_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, answered_before: bool
) -> None:
    running = server.Server(make_app(make_study(tmp_path, SHORT), "token"))
    logger = logging.getLogger("uvicorn.error")
    logger.addHandler(caplog.handler)  # uvicorn's loggers pass nothing on
    port = int(running.url.rstrip("/").rpartition(":")[2])
    with running.in_background(), socket.create_connection(("127.0.0.1", port)) as client:
        head = b"POST /api/step HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        if answered_before:
            client.sendall(head)
            response = b""
            while not response.endswith(b"}"):
                response += client.recv(1000)
            assert response.startswith(b"HTTP/1.1 403")
            client.sendall(b"no number\r\n")
            assert client.recv(1000) == b""
        else:
            client.sendall(head + b"no number\r\n")
            assert client.recv(1000).startswith(b"HTTP/1.1 400")
            time.sleep(0.2)
    logger.removeHandler(caplog.handler)
    assert [one.levelname for one in caplog.records] == ["WARNING"]


def test_sentences_for_children_can_be_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "voice").mkdir()
    text = "audience = 'children'\naudio = 'voice'\n" + SHORT
    (tmp_path / "experiment.toml").write_text(text)
    words = ["serve", "sentences", str(tmp_path / "experiment.toml"), "--out"]
    assert main([*words, str(tmp_path / "sentences.csv")]) == 0
    lines = (tmp_path / "sentences.csv").read_text().splitlines()
    said = {text: name for name, text in csv.reader(lines)}
    light = {"It lights up!", "It stays dark."}
    left = {"You can check 2 more times.", "You can check one more time."}
    assert light | left | {"You cannot check again. Press the white button."} <= set(said)
    name = said["Do you want to play?"]
    (tmp_path / "voice" / name).write_bytes(b"a recording")
    client = Client(app_of(make_study(tmp_path, text)))
    assert client.view["recorded"]
    assert client.view["speak"][0] == {"text": "Do you want to play?", "file": name}
    assert client.http.get(f"/audio/{name}").content == b"a recording"
    assert client.http.get("/audio/..%2fsecret.key").status_code == 404
    assert client.view["guard"] == 2 * 400


def test_sentences_are_listed_for_both_orders_of_the_example_machines(tmp_path: Path) -> None:
    """Every child hears a recording, whichever example machine comes first."""
    text = SHORT.replace("'paper'", "'demonstrations-given'")
    study = make_study(tmp_path, f"audience = 'children'\nbalance = ['swapped']\n{text}")
    listed, orders = sentences(study.experiment), set()
    for name in ("one", "two"):
        person, heard = Direct(study, name), set[str]()
        session = person.take("consent", True)
        while session.stage != "explore":
            session = person.take("next")
            heard |= {one["text"] for one in screen(session, "")["speak"]}
        orders.add(session.now.item.content.swapped)
        assert heard <= set(listed)
    assert orders == {False, True}


def test_a_backup_made_while_the_server_runs_can_be_restored(tmp_path: Path) -> None:
    study = make_study(tmp_path, SHORT)
    client = Client(app_of(study), "?participant=a")
    client.post("consent", True)
    restored = tmp_path / "restored"
    restored.mkdir()
    with sqlite3.connect(restored / "study.db") as copy:
        study.store._db.backup(copy)
    copy.close()
    for name in ("experiment.toml", "kind", "secret.key"):
        (restored / name).write_bytes((study.store.folder / name).read_bytes())
    again = Client.__new__(Client)
    again.http = app_of(reopen_study(restored))
    again.http.cookies = client.http.cookies
    assert again.load() == client.load()
    assert again.post("next").status_code == 200


def test_events_of_a_browser_are_bounded_and_invalid_ones_are_left_out() -> None:
    valid = {"page": "p" * 150, "number": 3, "kind": "k" * 150, "detail": "d" * 150}
    invalid: list[Any] = [None, "x", {}, valid | {"number": "3"}, valid | {"number": -1}]
    (event,) = events_from([*invalid, valid])
    assert (event.page, event.kind, event.detail) == ("p" * 100, "k" * 100, "d" * 100)
    assert (event.number, event.client_time) == (3, None)
    assert len(events_from([valid] * 300)) == 200
    assert events_from({"0": valid}) == []
