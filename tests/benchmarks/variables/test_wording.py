"""The original's structure, and prompts from a file of the user's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import run, write
from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.render import read_prompt, render
from trivium.benchmarks.variables.spec import PRESETS, RENDERERS, VariablesView
from trivium.core.dialogue import attempt
from trivium.core.errors import UserError
from trivium.core.files import read_rows

PYTHON = '''
import os  # nothing here is executed
TASK_DESCRIPTION = """\\
Plan an experiment. {optional_decision_tree_section}
"""
DECISION_TREE_SECTION = "Follow the tree {here}."
SAMPLE_MESSAGE = """\\
Seen so far:
{observations}
Guesses: {hypotheses}
Test this: {target_hypothesis}
"""
hypothesis_templates = ["{ind} moves {dep}", "{dep} follows {ind}"]
raise SystemExit(os.getcwd())
'''
TEXTS = {"sample_message": "{observations}\n===\n{hypotheses}\n===\n{target_hypothesis}"}


def items(count: int = 12) -> list[Any]:
    return [item for spec in PRESETS.values() for item in VARIABLES.generate(spec, 41, 0, count)]


@pytest.mark.parametrize("renderer", RENDERERS)
def test_the_original_wording_has_its_structure_and_is_read_back(renderer: Any) -> None:
    view = VariablesView(renderer, show_tree="pseudocode", wording="original")
    for item in items():
        prompt = render(item, view)
        order = ["[@ANSWER valid_hyp:", "decision trees", "Observations:", "Hypotheses:\n\n['"]
        places = [prompt.index(text) for text in [*order, "Target hypothesis:"]]
        assert places == sorted(places)
        standard = VariablesView(renderer)
        shown, same = read_prompt(prompt, view), read_prompt(render(item, standard), standard)
        assert (shown.hypotheses, shown.target) == (same.hypotheses, same.target)
        assert shown.observations.names == same.observations.names
        for solver in ("oracle", "statistician"):
            replied = attempt(VARIABLES, item, VARIABLES.solvers[solver], view)
            assert str(replied.reply).startswith("[@ANSWER valid_hyp: ")
            assert solver != "oracle" or replied.scores["correct"] == 1
        assert VARIABLES.schema(item, view) is None, "brackets are not JSON"


@pytest.mark.parametrize("suffix", ["py", "json", "toml"])
def test_a_prompt_file_gives_the_whole_prompt(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"prompts.{suffix}"
    sentences = json.dumps(["{ind} moves {dep}", "{dep} follows {ind}"])
    sample = json.dumps("Seen so far:\n{observations}\nGuesses: {hypotheses}\nTest this: "
                        "{target_hypothesis}\n")  # fmt: skip
    if suffix == "py":
        path.write_text(PYTHON)
    elif suffix == "toml":
        path.write_text(f"sample_message = {sample}\nhypothesis_templates = {sentences}\n"
                        'task_description = "Plan an experiment."\n')  # fmt: skip
    else:
        path.write_text(f'{{"sample_message": {sample}, "hypothesis_templates": {sentences}, '
                        '"task_description": "Plan an experiment."}')  # fmt: skip
    view = VariablesView("csv", prompt_file=str(path))
    assert view.wording == "original"
    for item in items(4):
        prompt = render(item, view)
        assert prompt.startswith("Plan an experiment.\n\nSeen so far:\nx_")
        cause, effect = (item.names[variable] for variable in item.target)
        target = prompt.rpartition("Test this: ")[2]
        assert target in (f"{cause} moves {effect}", f"{effect} follows {cause}")
        assert "\nGuesses: ['" in prompt
        assert read_prompt(prompt, view).target == (cause, effect)
        assert attempt(VARIABLES, item, VARIABLES.solvers["oracle"], view).scores["correct"] == 1
    if suffix == "py":
        shown = VariablesView("csv", show_tree="pseudocode", prompt_file=str(path))
        assert render(item, shown).startswith("Plan an experiment. Follow the tree {here}.\n\nSeen")
    path.unlink()
    assert VariablesView("csv", prompt_file=view.prompt_file) == view, "the view holds the texts"


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"sample_message": "{observations} {hypotheses}"}, "must hold {target_hypothesis} once"),
        ({**TEXTS, "task_description": 3}, "task_description must be text"),
        ({**TEXTS, "hypothesis_templates": ["{ind}"]}, "a list of sentences with {ind} and {dep}"),
        ({**TEXTS, "tasks": "x"}, "unknown key 'tasks'"),
        ([], "expected a table"),
    ],
)
def test_a_wrong_prompt_file_is_refused_in_a_sentence(
    texts: Any, message: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "prompts.json", json.dumps(texts))
    with pytest.raises(UserError, match=message):
        VariablesView(prompt_file=str(path))


@pytest.mark.parametrize(
    ("name", "text"),
    [("gone.py", None), ("gone.toml", None), ("a.py", "x ="), ("a.py", "SAMPLE_MESSAGE = f()"),
     ("a.txt", "x"), ("a.py", "\0"), ("a.py", "(" * 10_000)],
)  # fmt: skip
def test_an_unreadable_prompt_file_is_refused(name: str, text: str | None, tmp_path: Path) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(UserError):
        VariablesView(prompt_file=str(path))
    with pytest.raises(UserError, match="prompt_file"):
        VariablesView(prompt_file="{")


def test_a_prompt_file_goes_all_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exported prompts are scored where the file does not exist."""
    file = write(tmp_path / "prompts.json", json.dumps(TEXTS))
    prompts, replies, out = (tmp_path / name for name in ("p.jsonl", "r.jsonl", "run"))
    words = "export identifying_variables --preset original-ctrl --items 3"
    assert run(f"{words} --prompt_file {file} --out {prompts}") == 0
    file.unlink()
    rows = [row for _, row in read_rows(prompts)]
    lines = (json.dumps({"id": row["id"], "reply": row["gold"]}) for row in rows)
    replies.write_text("\n".join(lines))
    assert run(f"score identifying_variables --in {prompts} --replies {replies} --out {out}") == 0
    assert json.loads((out / "summary.json").read_text())["metrics"]["correct"]["value"] == 1
    assert run(f"report {out}") == 0
    (record, *_) = [row for _, row in read_rows(out / "records.jsonl")]
    capsys.readouterr()
    assert run(f"show identifying_variables --prompt_file {file}") == 2
    assert "prompts.json" in capsys.readouterr().err
    assert json.loads(record["view"]["prompt_file"]) == TEXTS
