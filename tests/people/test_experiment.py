"""The experiment file and the texts."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from tests.people.client import BASELINE, GAME, PAPER, SOURCE
from trivium.core.errors import UserError
from trivium.people.experiment import (
    Completion,
    Condition,
    Exclude,
    Experiment,
    Pay,
    Question,
    read_experiment,
)
from trivium.people.texts import read_texts


def test_the_shipped_examples_are_experiments() -> None:
    paper = read_experiment(PAPER)
    assert [one.name for one in paper.conditions] == [
        "given, disjunctive",
        "given, conjunctive",
        "not given, disjunctive",
        "not given, conjunctive",
    ]
    for one in paper.conditions:
        forms = {item.groups["form"] for slot in range(5) for item in paper.items(one, slot)}
        assert forms == {one.name.split(", ")[1]}
    assert read_experiment(BASELINE).conditions[0].items == 3


def test_items_are_those_of_every_other_solver() -> None:
    paper = read_experiment(PAPER)
    condition = paper.conditions[0]
    item = paper.items(condition, 3)[0]
    index = paper.indexes(condition)[3]
    assert item.prompt == condition.task.item(index, 7).prompt
    assert item.original.origin.index == index


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("seed = 1", "title is missing"),
        ("title = 'x'\n[[conditions]]\nname = 'a'", "benchmark of a condition is missing"),
        ("title = 'x'", "conditions must hold at least one condition, got none"),
        (
            "title = 'x'\nconditions = 3",
            "conditions must be a list",
        ),
        (f"title = 'x'\nlanguage = 'fr'\n{GAME}", "language must be one of en"),
        (f"title = 'x'\nsede = 1\n{GAME}", "unknown key 'sede'"),
        (f"title = 'x'\n{GAME}preset = 'b'", "unknown preset 'b'"),
        (f"title = 'x'\n{GAME}items = 0", "items must be in 1..100, got 0"),
        (f"title = 'x'\npool = 3\n{GAME}items = 4", "items is 4, but the pool has 3"),
        (f"title = 'x'\n{GAME}arm = 'yoked'", "yoked_to goes with arm"),
        (
            f"title = 'x'\n{GAME}arm = 'yoked'\nyoked_to = 'b'",
            "yoked_to must name an active condition",
        ),
        (
            f"title = 'x'\n{GAME}where = {{ form = 'pink' }}",
            "none of the 24 items has form = 'pink'",
        ),
        (
            f"title = 'x'\n{GAME}{GAME}",
            "names of conditions must differ",
        ),
        (
            f"title = 'x'\n{GAME}[[questions]]\nid = 'A b'\ntext = 't'",
            "id must be lower-case",
        ),
    ],
)
def test_errors_are_one_sentence(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "experiment.toml"
    path.write_text(text)
    with pytest.raises(UserError, match=problem) as raised:
        read_experiment(path)
    assert str(raised.value).startswith(str(path))


def test_languages_have_the_same_texts_and_no_jargon() -> None:
    english, german = read_texts("en"), read_texts("de")
    assert english.keys() == german.keys()
    for key, text in english.items():
        fields = {part.split("}")[0] for part in text.split("{")[1:]}
        assert fields == {part.split("}")[0] for part in german[key].split("{")[1:]}, key
        for word in ("conjunctive", "disjunctive", "hypothes", "condition", "detector", "stimul"):
            assert word not in text.lower(), key


def test_a_translation_must_be_complete(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[button]\nnext = 'Suivant'")
    path = tmp_path / "experiment.toml"
    path.write_text(f"title = 'x'\nlanguage = 'mine.toml'\n{GAME}")
    with pytest.raises(UserError, match=r"these texts are missing: button\.agree"):
        read_experiment(path)
    both = (SOURCE / "people", SOURCE / "benchmarks/blicket/people")
    text = "".join((one / "texts/de.toml").read_text() for one in both)
    (tmp_path / "mine.toml").write_text(text)
    assert read_experiment(path).texts == {**read_texts("de")}, "one file after the other"


def test_every_key_of_the_file_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs/people.md").read_text()
    for kind in (Experiment, Condition, Question, Completion, Pay, Exclude):
        for field in dataclasses.fields(kind):
            if field.name != "texts":  # no key
                names = (f"`{field.name}`", f"`[{field.name}]`", f"`[[{field.name}]]`")
                assert any(name in page for name in names), (kind.__name__, field.name)
