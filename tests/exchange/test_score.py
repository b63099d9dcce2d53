"""Scoring replies from elsewhere: the shapes that people have, and what is refused."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests.command_line import run, write
from trivium.core.dialogue import Reply
from trivium.core.errors import UserError
from trivium.core.files import read_rows
from trivium.exchange.export import export_id
from trivium.exchange.replies import Replies, read_reply

TASK = trivium.load("nhop_implicit")
ITEMS = TASK.items(6, seed=3)
IDS = [export_id(item) for item in ITEMS]
GOLDS = [item.gold for item in ITEMS]


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    return write(path, "".join(json.dumps(row) + "\n" for row in rows))


def kinds(folder: Path) -> list[str]:
    return [row["kind"] for _, row in read_rows(folder / "records.jsonl")]


def score(replies: Path, *words: str) -> int:
    """Score replies to the six items into a folder beside them."""
    out = str(replies.parent / "run")
    given = ["--replies", str(replies), "--out", out, *words]
    return run("score nhop_implicit --items 6 --seed 3", *given)


def chat(text: str | None, **choice: Any) -> dict[str, Any]:
    """A chat completion."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}],
        "usage": {"prompt_tokens": 40, "completion_tokens": 3},
    }


def batch(name: str, body: dict[str, Any], status: int = 200) -> dict[str, Any]:
    """A line of the output of an OpenAI batch."""
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": "batch_req_1", "custom_id": name, "response": response, "error": None}


SHAPES: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "reply": lambda name, gold: {"id": name, "reply": gold},
    "completion": lambda name, gold: {"id": name, "completion": gold},
    "response": lambda name, gold: {"custom_id": name, "response": gold},
    "chat completion": lambda name, gold: {"id": name, "response": chat(gold)},
    "choices": lambda name, gold: {**chat(gold), "id": name},
    "batch output": lambda name, gold: batch(name, chat(gold)),
    "messages": lambda name, gold: {
        "id": name,
        "messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": gold}],
    },
    "content parts": lambda name, gold: {
        "id": name,
        "response": chat([{"type": "text", "text": gold}]),  # type: ignore[arg-type]
    },
    "responses": lambda name, gold: batch(
        name,
        {
            "status": "completed",
            "output": [
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "E_0000"}]},
                {"type": "message", "content": [{"type": "output_text", "text": gold}]},
            ],
        },
    ),
    "anthropic batch": lambda name, gold: {
        "custom_id": name,
        "result": {
            "type": "succeeded",
            "message": {
                "content": [
                    {"type": "thinking", "thinking": "E_0000"},
                    {"type": "text", "text": gold},
                ],
                "stop_reason": "end_turn",
            },
        },
    },
    "gemini": lambda name, gold: {
        "id": name,
        "response": {
            "candidates": [{"content": {"parts": [{"text": gold}]}, "finishReason": "STOP"}]
        },
    },
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_read(shape: str, tmp_path: Path) -> None:
    rows = [SHAPES[shape](name, gold) for name, gold in zip(IDS, GOLDS, strict=True)]
    assert score(lines(tmp_path / "replies.jsonl", rows)) == 0
    assert kinds(tmp_path / "run") == ["right"] * 6
    assert not any("prompt" in row for _, row in read_rows(tmp_path / "run/records.jsonl"))


def test_tables_are_read(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    with (tmp_path / "replies.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "response", "note"])
        table.writerows(
            [name, f"so,\nANSWER: {gold}", ""] for name, gold in zip(IDS, GOLDS, strict=True)
        )
    columns = pyarrow.table({"custom_id": IDS, "output": GOLDS})
    parquet.write_table(columns, tmp_path / "replies.parquet")
    write(tmp_path / "replies.json", json.dumps(dict(zip(IDS, GOLDS, strict=True))))
    for kind in ("csv", "parquet", "json"):
        out = tmp_path / kind
        words = ["--replies", str(tmp_path / f"replies.{kind}"), "--out", str(out)]
        free = run("score nhop_implicit --items 6 --seed 3 --mode free", *words)
        assert free == 2, "the ids are of another view"
        assert run("score nhop_implicit --items 6 --seed 3", *words) == 0
        assert kinds(out) == ["right"] * 6


def test_an_exported_table_with_a_column_of_replies_is_enough(tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.csv"
    words = "export nhop_implicit --items 3 --order_trials 2 --seed 3 --format csv --out"
    assert run(words, str(prompts)) == 0
    rows = list(csv.DictReader(prompts.read_text().splitlines(keepends=True)))
    with (tmp_path / "answered.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, [*rows[0], "reply"])
        table.writeheader()
        table.writerows({**row, "reply": row["gold"]} for row in rows)
    out = tmp_path / "run"
    assert run(f"score nhop_implicit --replies {tmp_path / 'answered.csv'} --out {out}") == 0
    records = [row for _, row in read_rows(out / "records.jsonl")]
    assert [(row["index"], row["trial"], row["kind"]) for row in records] == [
        (index, trial, "right") for index in range(3) for trial in range(2)
    ]


def test_a_null_reply_is_no_answer_and_a_missing_one_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: list[dict[str, Any]] = [{"id": IDS[0], "reply": GOLDS[0]}, {"id": IDS[1], "reply": None}]
    rows += [{"id": IDS[2], "reply": ""}, batch(IDS[3], {"error": {"message": "boom"}}, 500)]
    rows += [{"id": IDS[4], "response": chat(None, finish_reason="length")}]
    replies = lines(tmp_path / "replies.jsonl", rows)
    assert score(replies) == 1, "calls that failed and missing replies are in the exit status"
    said = capsys.readouterr().out.splitlines()
    assert said[-2:] == [
        "2 prompts have no reply or a failed one, and count as failed",
        f"records in {tmp_path / 'run' / 'records.jsonl'}",
    ]
    assert kinds(tmp_path / "run") == [
        "right", "no-answer", "no-answer", "failed", "cut-off", "failed",
    ]  # fmt: skip
    records = [row for _, row in read_rows(tmp_path / "run" / "records.jsonl")]
    assert [row["error"] for row in records] == [None, None, None, "boom", None, "no reply"]
    assert [row["reply"] for row in records] == [GOLDS[0], None, None, None, None, None]
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["items"], summary["no_answers"], summary["failed"]) == (6, 2, 2)


def test_what_the_provider_declined_is_counted_apart(tmp_path: Path) -> None:
    refused = chat(None)
    refused["choices"][0]["message"]["refusal"] = "I cannot help with that."
    rows = [{"id": IDS[0], "response": refused}]
    rows += [{"id": IDS[1], "response": chat("", finish_reason="content_filter")}]
    rows += [{"id": n, "reply": g} for n, g in zip(IDS[2:], GOLDS[2:], strict=True)]
    assert score(lines(tmp_path / "replies.jsonl", rows)) == 0
    assert kinds(tmp_path / "run") == ["declined"] * 2 + ["right"] * 4


def test_several_seeds_and_plain_ids(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = []
    for seed in (7, 8):
        files.append(str(tmp_path / f"{seed}.jsonl"))
        assert run(f"generate nhop_implicit --items 3 --seed {seed} --out {files[-1]}") == 0
    golds = {seed: [item.gold for item in TASK.items(3, seed=seed)] for seed in (7, 8)}
    rows = [
        {"id": f"IMP-{index:06d}", "seed": seed, "reply": golds[seed][index]}
        for seed in (7, 8)
        for index in range(3)
    ]
    words = ["score", "nhop_implicit", "--in", *files, "--replies"]
    replies = lines(tmp_path / "replies.jsonl", rows)
    assert run(" ".join([*words, str(replies), "--out", str(tmp_path / "run")])) == 0
    assert kinds(tmp_path / "run") == ["right"] * 6
    bare = lines(
        tmp_path / "bare.jsonl", [{k: row[k] for k in ("id", "reply")} for row in rows[:3]]
    )
    assert run(" ".join([*words, str(bare), "--out", str(tmp_path / "bare")])) == 2
    assert "'IMP-000000' names several items; add a column seed" in capsys.readouterr().err
    assert not (tmp_path / "bare" / "records.jsonl").exists()


@pytest.mark.parametrize("key", ["trial", "sample", "epoch"])
def test_several_replies_to_one_item_are_trials(key: str, tmp_path: Path) -> None:
    rows = [
        {"id": name, key: trial, "reply": gold if trial else "E_9999"}
        for trial in range(3)
        for name, gold in zip(IDS, GOLDS, strict=True)
    ]
    assert score(lines(tmp_path / "replies.jsonl", rows)) == 0
    records = [row for _, row in read_rows(tmp_path / "run" / "records.jsonl")]
    assert [(row["index"], row["trial"]) for row in records] == [
        (index, trial) for index in range(6) for trial in range(3)
    ]
    assert {row["order"] for row in records} == {0}, "replies to one prompt repeat its order"
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["items"] == 6
    assert summary["metrics"]["correct"]["value"] == pytest.approx(2 / 3)
    assert summary["metrics"]["majority_correct"]["value"] == 1


def test_choices_of_one_completion_are_trials(tmp_path: Path) -> None:
    rows = []
    for name, gold in zip(IDS, GOLDS, strict=True):
        body = chat(gold)
        body["choices"] += chat("E_9999")["choices"]
        rows.append(batch(name, body))
    assert score(lines(tmp_path / "replies.jsonl", rows)) == 0
    assert sorted(kinds(tmp_path / "run")) == ["no-answer"] * 6 + ["right"] * 6
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert summary["tokens"] == {}, "their tokens are those of both together"


def test_replies_without_ids_go_by_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompts = tmp_path / "prompts.jsonl"
    assert run(f"export nhop_implicit --items 6 --seed 3 --out {prompts}") == 0
    replies = lines(tmp_path / "replies.jsonl", [chat(gold) for gold in GOLDS])
    words = f"score nhop_implicit --in {prompts} --replies {replies} --out {tmp_path / 'run'}"
    assert run(words) == 2, "every completion has an id of its own that names no item"
    assert run(f"{words} --by_order") == 0
    assert kinds(tmp_path / "run") == ["right"] * 6
    lines(replies, [chat(gold) for gold in GOLDS[1:]])
    assert run(f"{words}2 --by_order") == 2
    assert "got 5 for 6" in capsys.readouterr().err


def test_a_game_is_scored_by_the_list_of_its_moves(tmp_path: Path) -> None:
    task = trivium.load("blicket_game")
    item = task.item(0, seed=5)
    moves = ["TEST A", item.gold]
    rows: tuple[dict[str, Any], ...] = (
        {"id": item.id, "reply": moves},
        {"id": item.id, "reply": json.dumps(moves)},
        {
            "id": export_id(item),
            "messages": [
                {"role": role, "content": text}
                for role, text in zip(
                    ("user", "assistant", "user", "assistant"),
                    (item.prompt, moves[0], "Test 1: ...", moves[1]),
                    strict=True,
                )
            ],
        },
    )
    for number, row in enumerate(rows):
        replies = lines(tmp_path / f"{number}.jsonl", [row])
        out = tmp_path / str(number)
        words = f"score blicket_game --items 1 --seed 5 --replies {replies} --out {out}"
        assert run(words) == 0
        (record,) = [found for _, found in read_rows(out / "records.jsonl")]
        assert record["reply"] == moves
        assert record["kind"] == "right"


def test_the_results_of_other_replies_are_never_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"id": n, "reply": g} for n, g in zip(IDS, GOLDS, strict=True)]
    replies = lines(tmp_path / "replies.jsonl", rows)
    assert score(replies) == 0
    before = (tmp_path / "run" / "summary.json").read_bytes()
    assert score(replies) == 0, "the same replies may be scored again"
    lines(replies, [{**row, "reply": "E_9999"} for row in rows])
    assert score(replies) == 2
    assert "holds the results of other replies" in capsys.readouterr().err
    assert (tmp_path / "run" / "summary.json").read_bytes() == before
    evaluated = tmp_path / "eval"
    assert run(f"eval nhop_implicit --items 2 --solver oracle --out {evaluated}") == 0
    swept = tmp_path / "sweep"
    assert run(f"sweep nhop_implicit --items 2 --solver oracle --out {swept}") == 0
    for folder in (evaluated, swept):
        words = f"score nhop_implicit --items 6 --seed 3 --replies {replies} --out {folder}"
        assert run(words) == 2


def test_scores_say_which_version_of_the_items_they_are_of(tmp_path: Path) -> None:
    rows = [{"id": n, "reply": g} for n, g in zip(IDS, GOLDS, strict=True)]
    assert score(lines(tmp_path / "replies.jsonl", rows)) == 0
    held = json.loads((tmp_path / "run" / "run.json").read_text())
    assert held["trivium"] == trivium.__version__
    assert held["versions"] == {"nhop_implicit": TASK.benchmark.version}


def test_a_pipe_is_refused_as_it_is_read_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert score(tmp_path / "pipe") == 2
    assert "a pipe can be read only once; write it to a file first" in capsys.readouterr().err


def test_replies_that_cannot_be_scored_do_not_claim_the_folder(tmp_path: Path) -> None:
    rows = [{"id": n, "reply": g} for n, g in zip(IDS, GOLDS, strict=True)]
    replies = lines(tmp_path / "replies.jsonl", [*rows, {"id": "unknown", "reply": "x"}])
    assert score(replies) == 2
    assert score(lines(replies, rows)) == 0


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "there are no replies"),
        ([{"reply": "x"}], "line 1: id (or custom_id) must be text, got None"),
        ([{"id": 7, "reply": "x"}], "must be text, got 7"),
        ([{"id": IDS[0]}], "line 1: there is no reply; its column is one of reply"),
        ([{"id": IDS[0], "reply": 5}], "reply must be text, null or a chat completion, got 5"),
        ([{"id": IDS[0], "reply": ["a"]}], "reply must be text"),
        ([{"id": IDS[0], "reply": "x", "trial": "one"}], "trial must be a whole number"),
        ([{"id": IDS[0], "reply": "x", "trial": -1}], "trial is out of range"),
        ([{"id": IDS[0], "reply": "x", "seed": 3.5}], "seed must be a whole number"),
        ([{"id": IDS[0], "response": {}}], "not a response of a known provider"),
        ([{"id": IDS[0], "reply": "x"}] * 3, "was replied to before, as were 1 others"),
        (
            [{"id": "unknown", "reply": "x"}],
            "there is no item 'unknown' (1 of 1 replies fit no item",
        ),
        ([{"id": IDS[0], "seed": 4, "reply": "x"}], "there is no item"),
    ],
)
def test_bad_replies_are_one_sentence(
    rows: list[dict[str, Any]], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert score(lines(tmp_path / "replies.jsonl", rows)) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "run" / "records.jsonl").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"benchmark": "nhop_explicit"}, "this is an item of nhop_explicit, not of nhop_implicit"),
        ({"prompt": "Say E_0001."}, "the prompt is not the one that spec, seed and index make"),
        ({"seed": "x"}, "seed must be a whole number"),
        ({"index": -1}, "index must be at least 0"),
        ({"spec": {"hops": 2}}, "hops must be in"),
        ({"spec": None}, "spec and source are missing"),
        ({"view": {"mode": "song"}}, "mode must be one of"),
        ({"spec": "{"}, "not JSON"),
    ],
)
def test_bad_prompts_are_one_sentence(
    change: dict[str, Any], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompts = tmp_path / "prompts.jsonl"
    assert run(f"export nhop_implicit --items 1 --seed 3 --out {prompts}") == 0
    row = json.loads(prompts.read_text())
    lines(prompts, [row | change])
    replies = lines(tmp_path / "replies.jsonl", [{"id": IDS[0], "reply": GOLDS[0]}])
    out = tmp_path / "run"
    assert run(f"score nhop_implicit --in {prompts} --replies {replies} --out {out}") == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--replies r.jsonl --out o", "which items were replied to"),
        ("--items 6 --out o", "--replies is missing"),
        ("--items 6 --replies r.jsonl", "--out is missing"),
        ("--items 6 --replies r.jsonl --out o.jsonl", "--out is a folder: say --out o"),
        ("--in r.jsonl --items 6 --replies r.jsonl --out o", "--items goes with generated items"),
        ("--in batch.jsonl --replies r.jsonl --out o", "requests do not say how their items"),
        ("--in prompts.jsonl --mode free --replies r.jsonl --out o", "omit that flag"),
        ("--items 6 --replies nowhere.csv --out o", "nowhere.csv: No such file"),
        ("--items 6 --replies r.parquet --out o", "r.parquet: not a Parquet file"),
        ("--items 6 --replies bad.csv --out o", "bad.csv line 2: more cells than the header"),
    ],
)
def test_bad_flags_are_one_sentence(
    words: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    lines(Path("r.jsonl"), [{"id": IDS[0], "reply": GOLDS[0]}])
    lines(Path("batch.jsonl"), [{"custom_id": IDS[0], "body": {}}])
    write(Path("r.parquet"), "no table")
    write(Path("bad.csv"), "id,reply\na,b,c\n")
    assert run("export nhop_implicit --items 1 --out prompts.jsonl") == 0
    assert run(f"score nhop_implicit {words}") == 2
    assert said in capsys.readouterr().err


def test_names_of_models_are_those_of_evaluations(tmp_path: Path) -> None:
    rows = [{"id": n, "reply": g} for n, g in zip(IDS, GOLDS, strict=True)]
    assert score(lines(tmp_path / "replies.jsonl", rows), "--model", "gpt-4.1-mini") == 0
    (_, record), *_ = read_rows(tmp_path / "run" / "records.jsonl")
    assert record["solver"] == "openai/gpt-4.1-mini"


def test_reasoning_is_kept_and_not_read(tmp_path: Path) -> None:
    body = chat(GOLDS[0])
    body["choices"][0]["message"]["reasoning_content"] = "E_9999 it is"
    rows = [{"id": IDS[0], "response": body}]
    rows += [{"id": IDS[1], "reply": f"<think>E_9999</think>{GOLDS[1]}"}]
    rows += [{"id": IDS[2], "reply": "<think>E_9999 and then"}]
    rows += [{"id": IDS[3], "response": chat(GOLDS[3], finish_reason="error")}]
    assert score(lines(tmp_path / "replies.jsonl", rows)) == 1
    assert kinds(tmp_path / "run") == ["right", "right", "cut-off", "failed", "failed", "failed"]
    (_, first), *_ = read_rows(tmp_path / "run" / "records.jsonl")
    assert (first["reasoning"], first["stop_reason"]) == ("E_9999 it is", "stop")


def test_a_reply_is_taken_once() -> None:
    replies = Replies([("line 1", {"id": "a", "reply": "x"})], lists=False)
    assert replies.take({"a": 0}, 7, 1) is None, "a plain id means the first trial"
    assert replies.take({"a": 0}, 7, 0) == (Reply("x"),)
    with pytest.raises(UserError, match="names several items"):
        replies.take({"a": 0}, 8, 0)


def test_tokens_are_kept_where_they_are_numbers() -> None:
    ((reply,),) = read_reply({"id": "a", "response": chat("x")}, lists=False)
    assert reply.usage == {"input_tokens": 40, "output_tokens": 3}
    reasoned = chat("x")
    reasoned["usage"]["completion_tokens_details"] = {"reasoning_tokens": 2}
    ((reply,),) = read_reply({"id": "a", "response": reasoned}, lists=False)
    assert reply.usage == {"input_tokens": 40, "output_tokens": 3, "reasoning_tokens": 2}
    odd = chat("x") | {"usage": {"prompt_tokens": "many", "completion_tokens": True}}
    ((reply,),) = read_reply({"id": "a", "response": odd}, lists=False)
    assert reply.usage == {}
