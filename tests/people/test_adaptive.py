"""Items that are chosen for a person, to find a threshold."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.people.client import GAME
from trivium.core.errors import UserError
from trivium.people.adaptive import fit_of
from trivium.people.experiment import read_experiment
from trivium.people.export import _threshold_columns
from trivium.people.session import Session
from trivium.people.steps import Step

FILE = """
title = "How far do people go?"
check = false
[[conditions]]
name = "hops"
benchmark = "nhop_implicit"
items = 30
vary = "hops"
values = [3, 4, 5, 6, 8]
"""


def take_part(path: Path, slot: int, last: int) -> Session:
    """A participant who answers up to this number of hops, and nothing with more."""
    path.write_text(FILE)
    session = Session(read_experiment(path))
    session.take(Step("consent", True, {"condition": "hops", "slot": slot}))
    while session.stage == "instructions":
        session.take(Step("next", None))
    while session.stage == "text":
        item = session.now.item
        knows = item.task.spec.hops <= last
        session.take(Step("reply", item.gold if knows else "I do not know", server_time=1.0))
    assert session.stage == "done"
    return session


def test_items_are_chosen_where_they_tell_most(tmp_path: Path) -> None:
    session = take_part(tmp_path / "hops.toml", slot=2, last=5)
    hops = [one.item.task.spec.hops for one in session.rounds]
    assert len(hops) == 30
    assert sum(4 < value < 8 for value in hops[10:]) >= 10, "around the threshold"
    assert min(map(hops.count, (3, 4, 5))) >= 4, "and at easier values, to see a dip"
    indexes = [one.item.original.origin.index for one in session.rounds]
    assert indexes == list(range(60, 90)), "new items, different for each participant"
    condition = session.condition
    assert condition is not None
    assert condition.plan is not None
    done = [one.dialogue for one in session.finished]
    found = fit_of(condition.plan, done).threshold()
    assert (found.low, found.high) == (5, 6)


def test_a_drawn_game_is_as_large_as_tells_most(tmp_path: Path) -> None:
    path = tmp_path / "objects.toml"
    game = '"blicket_game"\npreset = "three-objects"\nfields = { tests = 5 }'
    fields = {'"nhop_implicit"': game, '"hops"': '"objects"', "items = 30": "items = 16"}
    text = FILE.replace("[3, 4, 5, 6, 8]", "[3, 4]")
    for before, after in fields.items():
        text = text.replace(before, after)
    path.write_text(text.replace("check = false", "check = false\npractice = false"))
    session = Session(read_experiment(path))
    session.take(Step("consent", True, {"condition": "objects", "slot": 0}))
    while session.stage != "done":
        if session.stage == "explore":
            session.take(Step("finish", None))
        elif session.stage == "object":
            session.take(Step("object", "no"))
        elif session.stage == "form":
            session.take(Step("form", "disjunctive"))
        else:
            session.take(Step("next", None))
    objects = [len(one.item.content.objects) for one in session.rounds]
    assert objects[0] == 4
    assert 3 in objects, "nothing was right, so that fewer objects tell more"


def test_the_threshold_is_in_the_table_of_participants(tmp_path: Path) -> None:
    session = take_part(tmp_path / "hops.toml", slot=0, last=2)
    row = _threshold_columns(session)
    assert row["threshold"] is None
    assert row["threshold_high"] == 3, "not even three hops"


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ('vary = "hops"', 'vary = "ablate_inner"', "vary must name a field of numbers"),
        ("[3, 4, 5, 6, 8]", "[3, 500]", "hops must be in"),
        ("[3, 4, 5, 6, 8]", "[3, 5, 4]", "go from easy to hard"),
        ("[3, 4, 5, 6, 8]", "[]", "needs values"),
        ('"nhop_implicit"', '"blicket_game"\narm = "passive"', "vary goes with arm 'active'"),
        (
            "[3, 4, 5, 6, 8]",
            f"[3, 4]\n{GAME}arm = 'yoked'\nyoked_to = 'hops'",
            "must name an active condition without vary",
        ),
        ("items = 30", "items = 30\nwhere = { steps = 4 }", "where does not go with vary"),
    ],
)
def test_what_cannot_be_varied_is_refused(
    before: str, after: str, sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(FILE.replace(before, after))
    with pytest.raises(UserError, match=sentence):
        read_experiment(path)
