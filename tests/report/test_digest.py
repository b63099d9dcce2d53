"""Records read once: what is counted, under which names, and what is refused."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson
import pytest

from trivium.benchmarks.nhop import EXPLICIT, IMPLICIT
from trivium.benchmarks.nhop.spec import ExplicitSpec, ImplicitSpec, NhopView
from trivium.cli import main
from trivium.core.dialogue import attempt
from trivium.core.errors import UserError
from trivium.core.files import dump_line
from trivium.core.results import summarise
from trivium.core.spec import read_mapping
from trivium.report.compare import contestants
from trivium.report.examples import examples
from trivium.report.results import EXAMPLES, digest, record_files, setting_name
from trivium.report.tables import analysis_tables


def made(
    spec: ImplicitSpec, solver: str, *, seed: int = 1, items: int = 12
) -> list[dict[str, Any]]:
    view = NhopView()
    return [
        asdict(attempt(IMPLICIT, item, IMPLICIT.solvers[solver], view))
        for item in IMPLICIT.generate(spec, seed, 0, items)
    ]


def written(folder: Path, rows: list[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "records.jsonl").write_bytes(b"".join(map(dump_line, rows)))
    return folder


def test_parts_add_up_to_what_a_plain_summary_says(tmp_path: Path) -> None:
    rows = [
        row
        for hops in (10, 4)
        for seed in (1, 2)
        for row in made(ImplicitSpec(hops=hops), "random_candidate", seed=seed)
    ]
    found = digest([written(tmp_path, rows)])["nhop_implicit"]
    whole = summarise(rows, IMPLICIT.metrics)
    assert found.split(lambda key: key.solver)["random_candidate"].metrics == whole.metrics
    assert found.records == len(rows) == whole.items
    assert (found.seeds, found.varying, found.group_values("n")) == ([1, 2], ["n"], [4, 10])
    table = next(table for table in analysis_tables(found) if "by n, m" in table.title)
    assert [row[0] for row in table.rows] == ["4", "10"]


def test_settings_are_named_by_preset_or_by_what_differs() -> None:
    hard = {"spec": asdict(EXPLICIT.presets["explicit-hard"]), "view": {"mode": "steps"}}
    assert setting_name(EXPLICIT, hard) == "explicit-hard mode=steps"
    other = {"spec": asdict(ExplicitSpec(hops=6, L=2)), "view": {}}
    assert setting_name(EXPLICIT, other) == "hops=6 L=2"
    assert setting_name(EXPLICIT, {"spec": None}) == "items from a file"


def test_a_given_setting_goes_before_a_derived_one(tmp_path: Path) -> None:
    written(tmp_path / "a", made(ImplicitSpec(), "oracle"))
    (tmp_path / "a" / "run.json").write_text('{"setting": "baseline"}')
    written(tmp_path / "b", made(ImplicitSpec(), "oracle"))
    found = digest([tmp_path])["nhop_implicit"]
    assert found.settings == ["implicit", "baseline"] or set(found.settings) == {
        "implicit",
        "baseline",
    }
    assert found.records == 24


def test_the_browser_shows_the_system_message_that_the_run_sent(tmp_path: Path) -> None:
    sent = {"benchmark": "nhop_implicit", "shaping": {"temp": None, "system": "Be brief."}}
    for name, manifest in (("sent", sent), ("own", sent | {"shaping": None})):
        rows = made(ImplicitSpec(), "oracle", items=1)
        written(tmp_path / name, [{**row, "solver": name} for row in rows])
        (tmp_path / name / "run.json").write_bytes(orjson.dumps(manifest))
    foreign = {**rows[0], "solver": "foreign", "spec": None, "system": 5}
    written(tmp_path / "foreign", [foreign])
    (tmp_path / "foreign" / "run.json").write_bytes(orjson.dumps(sent))
    found = examples(digest([tmp_path]).values())
    shown = {
        attempt["solver"]: [
            found["texts"][text] for side, text in attempt["turns"] if side == "system"
        ]
        for attempt in found["attempts"]
    }
    assert shown == {"sent": ["Be brief."], "own": [], "foreign": ["Be brief."]}


def test_files_come_in_the_order_of_the_numbers_in_their_names(tmp_path: Path) -> None:
    for name in ("hops10", "hops4", "hops9"):
        written(tmp_path / name, made(ImplicitSpec(), "oracle", items=1))
    assert [path.parent.name for path in record_files([tmp_path])] == ["hops4", "hops9", "hops10"]


@pytest.mark.parametrize("key", ["benchmark", "scores", "groups", "trial"])
def test_what_is_no_record_is_named_by_line(tmp_path: Path, key: str) -> None:
    rows = made(ImplicitSpec(), "oracle", items=2)
    del rows[1][key]
    with pytest.raises(UserError, match=rf"records\.jsonl line 2: not a record \({key} is missing"):
        digest([written(tmp_path, rows)])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("scores", []), ("scores", {"em": "1"}), ("groups", None), ("trial", "0"), ("kind", 3)),
        *(("groups", {"n": [1]}), ("spec", 5), ("view", "x"), ("seed", "7")),
    ],
)
def test_a_record_with_a_wrong_value_is_named_by_line(
    tmp_path: Path, key: str, value: object
) -> None:
    rows = made(ImplicitSpec(), "oracle", items=2)
    rows[1][key] = value
    path = written(tmp_path, rows)
    for read in (digest, contestants):
        with pytest.raises(UserError, match=rf"records\.jsonl line 2: not a record \({key}"):
            read([path])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"spec": {"hops": 1}}, r"line 2: hops must be in 3\.\.200, got 1"),
        ({"view": {"mode": "loud"}}, "line 2: mode must be one of direct, steps, free, got 'loud'"),
        ({"benchmark": "nothing"}, "line 2: unknown benchmark 'nothing'"),
    ],
)
def test_a_record_that_cannot_have_been_made_is_named_by_line(
    tmp_path: Path, change: dict[str, object], sentence: str
) -> None:
    rows = made(ImplicitSpec(), "oracle", items=2)
    with pytest.raises(UserError, match=sentence):
        digest([written(tmp_path, [rows[0], rows[1] | change])])


def test_a_file_that_is_named_twice_counts_once(tmp_path: Path) -> None:
    path = written(tmp_path / "one", made(ImplicitSpec(), "oracle", items=2))
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    assert digest([tmp_path / "one", path, link])["nhop_implicit"].records == 2


def test_tables_of_several_settings_say_so(tmp_path: Path) -> None:
    rows = made(ImplicitSpec(), "oracle", items=2)
    own = digest([written(tmp_path, rows)])["nhop_implicit"]
    assert not any("together" in table.title for table in analysis_tables(own))
    rows += made(ImplicitSpec(M=600), "oracle", items=2)
    own = digest([written(tmp_path, rows)])["nhop_implicit"]
    for table in analysis_tables(own):
        assert ("by setting" in table.title) != ("(2 settings together)" in table.title)


def test_empty_folders_and_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no records\.jsonl in this folder"):
        digest([tmp_path])
    with pytest.raises(UserError, match="there are no records"):
        digest([written(tmp_path, [])])


def test_prompts_are_made_again_as_they_were_told(tmp_path: Path) -> None:
    view = NhopView("steps")
    items = list(IMPLICIT.generate(ImplicitSpec(), 5, 0, 3))
    rows = [
        asdict(attempt(IMPLICIT, item, IMPLICIT.solvers["last_line"], view, trial))
        for item in items
        for trial in (0, 2)
    ]
    shown = examples(digest([written(tmp_path, rows)]).values())
    told = {
        IMPLICIT.render(IMPLICIT.reshuffle(item, trial), view) for item in items for trial in (0, 2)
    }
    prompts = [shown["texts"][turns["turns"][0][1]] for turns in shown["attempts"]]
    assert set(prompts) <= told
    assert all(made["right"].startswith("f1: ") for made in shown["attempts"])


def test_examples_are_a_few_of_every_kind(tmp_path: Path) -> None:
    rows = made(ImplicitSpec(), "last_line", items=200) + made(ImplicitSpec(), "oracle", items=200)
    shown = examples(digest([written(tmp_path, rows)]).values())["attempts"]
    counts: dict[tuple[str, str], int] = {}
    for one in shown:
        key = (one["solver"], one["kind"].partition(":")[0])
        counts[key] = counts.get(key, 0) + 1
    assert set(counts) == {(row["solver"], row["kind"].partition(":")[0]) for row in rows}
    assert max(counts.values()) == EXAMPLES
    assert shown[-1]["kind"] == "right", "errors come first"


def test_foreign_items_have_no_prompt_and_say_so(tmp_path: Path) -> None:
    rows = [
        {**row, "spec": None, "seed": None, "index": None} for row in made(ImplicitSpec(), "oracle")
    ]
    shown = examples(digest([written(tmp_path, rows)]).values())
    assert "came from a file" in shown["texts"][0]


def test_analyze_prints_examples_as_plain_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = made(ImplicitSpec(), "last_line")
    rows[0] |= {"reply": "\x1b[31m[bold]red\u202e", "kind": "violation"}
    assert main(["analyze", str(written(tmp_path, rows)), "--examples", "1"]) == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "'\\x1b[31m[bold]red\\u202e'" in said
    assert orjson.loads(dump_line(rows[0]))["kind"] == "violation"


def test_a_prompt_that_was_kept_is_shown(tmp_path: Path) -> None:
    foreign = {"spec": None, "seed": None, "index": None, "prompt": "as it was asked"}
    rows = [{**row, **foreign} for row in made(ImplicitSpec(), "oracle")]
    assert examples(digest([written(tmp_path, rows)]).values())["texts"][0] == "as it was asked"


def test_the_page_of_an_evaluation_says_how_to_make_it_again(tmp_path: Path) -> None:
    words = f"eval nhop_implicit --solver oracle --items 3 --out {tmp_path}"
    assert main(words.split()) == 0
    assert read_mapping(tmp_path / "run.json")["command"] == f"trivium {words}"
    assert main(f"{words} --seed 0".split()) == 0
    assert read_mapping(tmp_path / "run.json")["command"] == f"trivium {words} --seed 0"
