"""Recruiting, pay, preregistration, preview and pictures, from the command line."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
from starlette.testclient import TestClient

from tests.people.client import BASELINE, GAME, PAPER, Client, make_study, right_check, take_part
from tests.people.test_study import ARMS
from trivium.cli import main
from trivium.people import preview
from trivium.people.app import make_app
from trivium.people.experiment import Exclude, read_experiment
from trivium.people.preregistration import preregistration
from trivium.people.preview import make_preview
from trivium.people.store import Contact
from trivium.people.walkthrough import all_screens

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PAID = """
title = "paid"
practice = false
[completion]
done = "https://recruit.example/done"
failed = "https://recruit.example/failed"
full = "https://recruit.example/full"
declined = "https://recruit.example/declined"
[pay]
done = 2.5
failed = 0.5
bonus = 1.0
currency = "GBP"
"""


@pytest.mark.skipif(CHROMIUM is None, reason="NO CHROMIUM: participants cannot be simulated")
def test_it_says_how_many_simulated_participants_found_a_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """There are two places for three of them."""
    pytest.importorskip("playwright")
    path = tmp_path / "short.toml"
    condition = "name = 'a'\nbenchmark = 'nhop_explicit'\npreset = 'explicit-easy'\ncap = 2"
    path.write_text(f"title = 'x'\ntap_guard = 0\npractice = false\n[[conditions]]\n{condition}\n")
    words = ["--port", "0", "--simulate", "3", "--solver", "oracle"]
    assert main(["serve", str(path), *words]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("2 of 3 simulated participants have completed, 1 found no place left; ")


def test_who_is_paid_what_and_where_they_return_to(tmp_path: Path) -> None:
    study = make_study(tmp_path, f"{PAID}{GAME}preset = 'paper'\ncap = 1\n")
    app = make_app(study, "token")
    views = {}
    done = Client(TestClient(app), "?PROLIFIC_PID=p1&STUDY_ID=s1&SESSION_ID=x1")
    views["done"] = take_part(done, study, "optimal")
    for name, steps in {
        "declined": [("consent", False)],
        "full": [("consent", True)],
    }.items():
        client = Client(TestClient(app), f"?PROLIFIC_PID={name}")
        for step in steps:
            client.post(*step)
        views[name] = client.view
    study.store.delete(1)  # frees the only place
    failing = Client(TestClient(app), "?PROLIFIC_PID=second-person&STUDY_ID=s1&SESSION_ID=x2")
    failing.post("consent", True)
    right = right_check(study.experiment, study.experiment.conditions[0])
    while failing.view["screen"] != "failed":
        check = failing.view["screen"] == "check"
        failing.post(*(("check", [1 - one for one in right]) if check else ("next",)))
    views["failed"] = failing.view
    for name, view in views.items():
        assert view["screen"] == name
        assert view["link"]["url"] == f"https://recruit.example/{name}"
    again = Client(TestClient(app), "?PROLIFIC_PID=third-person&STUDY_ID=s1&SESSION_ID=x3")
    take_part(again, study, "optimal")
    folder, out = str(study.store.folder), tmp_path / "pay.csv"
    assert main(["serve", "payments", folder, "--out", str(out)]) == 0
    with out.open(newline="") as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert set(rows) == {"second-person", "third-person"}
    assert (rows["second-person"]["pay"], rows["second-person"]["bonus"]) == ("0.5", "0.0")
    third = rows["third-person"]
    assert (third["pay"], third["bonus"], third["session"]) == ("2.5", "1.0", "x3")
    assert main(["serve", "forget", folder]) == 0
    assert study.store.contacts() == {}
    assert b"third-person" not in b"".join(
        one.read_bytes() for one in study.store.folder.glob("study.db*")
    )
    assert len(study.store.participants()) == 4


def test_deleting_a_participant_deletes_the_name_in_the_link(tmp_path: Path) -> None:
    study = make_study(tmp_path, f"title = 'x'\n{GAME}")
    client = Client(TestClient(make_app(study, "token")), "?PROLIFIC_PID=p1")
    client.post("consent", True)
    assert study.store.contacts() == {1: Contact("p1")}
    study.delete("p1")
    assert study.store.contacts() == {}


def test_signed_links_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = make_study(tmp_path, f"title = 'x'\nlinks = 'signed'\n{GAME}")
    words = ["serve", "links", str(study.store.folder), "--url", "https://x.example/", "--count"]
    assert main([*words, "12"]) == 0
    links = capsys.readouterr().out.split()
    assert len(links) == 12
    for link in links:
        client = Client(
            TestClient(make_app(study, "token")), link.removeprefix("https://x.example/")
        )
        assert client.view["screen"] == "consent"


def test_the_preregistration_states_what_is_adaptive(tmp_path: Path) -> None:
    path = tmp_path / "climb.toml"
    plain = "[[conditions]]\nname = 'plain'\nbenchmark = 'nhop_implicit'\n"
    path.write_text(
        f"title = 'x'\n{plain}{plain.replace('plain', 'climb')}vary = 'hops'\nvalues = [3, 5]"
    )
    page = preregistration(path)
    assert "adaptive: before each item, hops is chosen among 3, 5 by the participant" in page
    assert "- adaptive conditions: items of seed 0, as the search goes\n- items 0 to 23 of" in page
    assert "also the threshold of each participant" in page
    path.write_text(f"title = 'x'\n{plain}")
    assert "adaptive" not in preregistration(path)


def test_the_preregistration_states_design_sample_rules_and_contrasts(tmp_path: Path) -> None:
    rules = "".join(f"{name} = {number}\n" for number, name in enumerate(vars(Exclude())))
    text = PAPER.read_text() + f"[exclude]\n{rules}"
    path = tmp_path / "paper.toml"
    path.write_text(text)
    assert main(["serve", "preregister", str(path), "--out", str(tmp_path / "pre.md")]) == 0
    page = (tmp_path / "pre.md").read_text()
    assert page == preregistration(path)  # the same every time
    for words in (
        "| given, disjunctive | given | disjunctive | active | 1 | 25 |",
        "N = 100 completed participants.",
        "machine, listing, swapped",
        "- age: How old are you? (under 7 / 7 to 10 / 11 to 17 / 18 or older)",
        "interaction hypotheses x structure",
        "participants with more than 4 are excluded",
        "- failed_attention (the number of attention checks that were answered wrong): part",
    ):
        assert words in page, words


@pytest.mark.parametrize("example", [PAPER, BASELINE, ARMS])
def test_a_preview_shows_every_screen_and_stores_nothing(tmp_path: Path, example: Any) -> None:
    path = tmp_path / "x.toml"
    path.write_text(example if isinstance(example, str) else example.read_text())
    experiment = read_experiment(path)
    views = all_screens(experiment)
    names = {view["screen"] for view in views}
    assert names >= {"consent", "instructions", "check", "done", "full", "uninvited", "expired"}
    if example == ARMS:
        assert {"explore", "watch", "object", "form"} <= names
    leading_on = ("consent", "instructions", "practice", "example", "new", "explore")
    for view in views:
        if view["screen"] in leading_on:
            assert [one.get("main") for one in view["buttons"]].count(True) == 1, view["title"]
    http = TestClient(make_preview(experiment))
    http.get("/?screen=3")
    shown = http.get("/api/state").json()["view"]
    assert shown["number"] == 3
    for number in range(3, len(views) - 1):
        shown = http.post("/api/step", json={"number": number, "kind": "next"}).json()["view"]
        assert (shown["number"], shown["screen"]) == (number + 1, views[number + 1]["screen"])
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(shutil.which("chromium") is None, reason="NO CHROMIUM")
def test_pictures_of_every_screen_are_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("playwright")
    monkeypatch.setattr(preview, "SIZES", {"phone": (390, 844)})
    path = tmp_path / "x.toml"
    path.write_text(BASELINE.read_text())
    assert main(["serve", str(path), "--screens", str(tmp_path / "out")]) == 0
    count = len(all_screens(read_experiment(path)))
    assert len(list((tmp_path / "out/phone").glob("*.png"))) == count
    assert (tmp_path / "out/index.html").read_text().count("<img") == count


CLOSE = "You can close this page now."


@pytest.mark.parametrize("completion", [False, True])
def test_endings_say_each_sentence_once_and_where_to_go(tmp_path: Path, completion: bool) -> None:
    path = tmp_path / "a.toml"
    links = "completion = { done = 'https://a.org/', failed = 'https://a.org/f' }\n"
    asked = "[[questions]]\nid = 'sex'\ntext = 'Your sex?'\nkind = 'text'\noptional = true\n"
    path.write_text(
        (links if completion else "") + BASELINE.read_text().replace("[[cond", asked + "[[cond")
    )
    views = all_screens(read_experiment(path))
    for view in views:
        sentences = view.get("paragraphs", [])
        assert len(set(sentences)) == len(sentences), view["screen"]
    closing = {view["screen"] for view in views if CLOSE in view.get("paragraphs", ())}
    assert closing == {"declined", "expired"} | (set() if completion else {"failed"})
    assert [v["link"]["url"] for v in views if "link" in v] == (
        ["https://a.org/", "https://a.org/f"] if completion else []
    )
    (question,) = (view["questions"] for view in views if view["screen"] == "questions")
    assert question[0]["text"] == "Your sex? (optional)"
    again = [view for view in views if "Not quite." in str(view.get("paragraphs"))]
    assert [view["screen"] for view in again] == ["instructions"]
