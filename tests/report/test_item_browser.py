"""The item browser's data: prompts as presented, what was replied, and a sample of every kind."""

from __future__ import annotations

import gzip
from base64 import b64decode
from dataclasses import asdict
from pathlib import Path

import orjson
import pytest

from tests.report.records import attempts, results_of, scored, write_records
from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.spec import GameView
from trivium.benchmarks.nhop import EXPLICIT, IMPLICIT
from trivium.benchmarks.nhop.spec import ImplicitSpec, NhopView
from trivium.core.dialogue import attempt
from trivium.report import item_browser
from trivium.report import results as results_module
from trivium.report.item_browser import browser_attempts, browser_items
from trivium.report.results import read_results


def test_prompts_are_those_that_were_presented(tmp_path: Path) -> None:
    view = NhopView("steps")
    items = list(IMPLICIT.generate(ImplicitSpec(), 5, 0, 2))
    rows = [
        asdict(attempt(IMPLICIT, item, IMPLICIT.solvers["last_line"], view, trial))
        for item in items
        for trial in (0, 2)
    ]
    shown = browser_attempts([results_of(tmp_path, [{**row, "kind": "other"} for row in rows])])
    assert len(shown) == 4
    for one, row in zip(shown, rows, strict=True):
        item = IMPLICIT.reshuffle(items[row["index"]], row["trial"])
        prompt = IMPLICIT.render(item, view)
        assert one["turns"] == [("environment", prompt), ("solver", row["reply"])]
        assert one["expected"] == IMPLICIT.write(item, IMPLICIT.gold(item), view)
        assert one["expected"].startswith("f1: ")


def test_the_turns_of_a_game_are_those_that_were_played(tmp_path: Path) -> None:
    view, replies = GameView(), ["TEST A", "TEST B", "TEST A", "TEST A"]
    item = next(iter(GAME.generate(GAME.presets["paper"], 3)))
    solver = GAME.solvers["random"]
    row = {**asdict(attempt(GAME, item, solver, view)), "reply": replies, "kind": "other"}
    shown = browser_attempts([results_of(tmp_path, [row, {**row, "id": "another", "index": 1}])])
    expected = [("environment", GAME.render(item, view)), ("solver", "TEST A")]
    for count in (1, 2, 3):
        response = GAME.respond(item, replies[:count], view)
        assert response is not None
        expected += [("environment", response), ("solver", replies[count])]
    assert shown[0]["turns"] == expected


def test_the_system_message_is_the_one_that_the_run_sent(tmp_path: Path) -> None:
    shaping = {"temp": None, "system": "Be brief."}
    sent = {"benchmark": "nhop_implicit", "solver": "sent", "shaping": shaping}
    for name, manifest in (("sent", sent), ("own", sent | {"solver": "own", "shaping": None})):
        rows = attempts(ImplicitSpec(), "oracle", items=1)
        write_records(tmp_path / name, [{**row, "solver": name} for row in rows])
        (tmp_path / name / "run.json").write_bytes(orjson.dumps(manifest))
    foreign = {**rows[0], "solver": "foreign", "spec": None, "system": 5}
    write_records(tmp_path / "foreign", [foreign])
    (tmp_path / "foreign" / "run.json").write_bytes(orjson.dumps(sent | {"solver": "foreign"}))
    shown = browser_attempts(list(read_results([tmp_path]).values()))
    system = {
        one["solver"]: [text for side, text in one["turns"] if side == "system"] for one in shown
    }
    assert system == {"sent": ["Be brief."], "own": [], "foreign": ["Be brief."]}


def test_a_few_attempts_of_every_kind_errors_of_models_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results_module, "MAX_ATTEMPTS", 0)  # as in a large run
    monkeypatch.setattr(results_module, "EXAMPLES", 4)
    rows = scored("last_line", [0.0] * 9 + [1.0] * 2) + scored("oracle", [1.0] * 7)
    rows += [{**row, "kind": f"chain:{hop}"} for hop, row in enumerate(scored("a/model", [0] * 6))]
    shown = browser_attempts([results_of(tmp_path, rows)])
    assert [(one["solver"], one["kind"].partition(":")[0]) for one in shown] == [
        *[("a/model", "chain")] * 4,
        *[("last_line", "other")] * 4,
        *[("last_line", "right"), ("oracle", "right")] * 2,
        *[("oracle", "right")] * 2,
    ]


def test_the_page_holds_a_bounded_number_of_attempts_and_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {**row, "solver": f"solver-{number}", "reply": "x" * 30_000}
        for number, row in enumerate(scored("", [0.0] * 50))
    ]
    results = results_of(tmp_path, rows)
    monkeypatch.setattr(item_browser, "MAX_ATTEMPTS", 40)
    shown = browser_attempts([results])
    assert len(shown) == 40
    texts = [text for _, text in shown[0]["turns"]]
    assert list(map(len, texts)) == [62, 20_030]
    assert texts[1].endswith("xxx\n[cut: 10,000 more characters]")
    # Texts that come up more than once are stored once.
    (part,) = browser_items([results])["parts"]
    stored = orjson.loads(gzip.decompress(b64decode(part)))
    assert stored["texts"] == texts
    assert [one["turns"] for one in stored["attempts"]] == [
        [["environment", 0], ["solver", 1]]
    ] * 40
    # The two texts take 20,092 characters; the expected answer and the one read take two.
    assert len(browser_attempts([results], 20_120)) == 14


def test_items_from_files_show_the_prompt_that_was_kept_or_say_that_there_is_none(
    tmp_path: Path,
) -> None:
    foreign = {"spec": None, "seed": None, "index": None}
    rows = [{**row, **foreign} for row in attempts(ImplicitSpec(), "oracle", items=1)]
    shown = browser_attempts([results_of(tmp_path, rows)])
    assert (
        shown[0]["turns"][0][1] == "(this item came from a file; its prompt is not in the records)"
    )
    rows = [{**row, "prompt": "as it was presented"} for row in rows]
    shown = browser_attempts([results_of(tmp_path, rows)])
    assert shown[0]["turns"][0][1] == "as it was presented"
    assert shown[0]["expected"] == rows[0]["gold"]
    shown = browser_attempts([results_of(tmp_path, [{**row, "gold": None} for row in rows])])
    assert shown[0]["expected"] == "-"


def test_the_true_path_is_highlighted_as_it_is_printed(tmp_path: Path) -> None:
    spec = EXPLICIT.presets["explicit-hard"]
    (item,) = EXPLICIT.generate(spec, 5, 0, 1)
    row = asdict(attempt(EXPLICIT, item, EXPLICIT.solvers["last_line"], NhopView()))
    shown = browser_attempts([results_of(tmp_path, [row])])
    marks = shown[0]["marks"]
    prompt = EXPLICIT.render(item, NhopView()).split("\n")
    assert set(marks) <= set(prompt)
    steps = [line for line in marks if "->" in line]
    assert len([line for line in steps if "->f1->" in line]) == 1
    assert any(line.endswith(f"-> {item.answer}") for line in steps)
    # Every alias on the path is highlighted where it is explained.
    assert [line for line in marks if " = " in line]


def test_a_transcript_says_what_is_known_after_every_test(tmp_path: Path) -> None:
    item = next(iter(GAME.generate(GAME.presets["paper"], 3)))
    solver = GAME.solvers["optimal"]
    row = asdict(attempt(GAME, item, solver, GameView()))
    shown = browser_attempts([results_of(tmp_path, [row])])
    turns = shown[0]["turns"]
    said = [text for side, text in turns if side == "observer"]
    assert len(said) == sum(reply.startswith("TEST") for reply in row["reply"])
    assert said[-1].startswith("Only one machine is left: ")
    assert "machines are left, " in said[0]
    read = shown[0]["read"]
    assert read == shown[0]["expected"] == row["reply"][-1]
