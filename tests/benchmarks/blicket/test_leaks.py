"""Leaks planted into blicket prompts and games: the audit catches each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.audit.planted import Leak, caught, first_quick, planted
from trivium.auditing import engine as audit
from trivium.auditing.engine import audit as run_audit
from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.generate import GameItem
from trivium.benchmarks.blicket.inference.hypotheses import letters
from trivium.benchmarks.blicket.prompts import PROMPTS
from trivium.benchmarks.blicket.prompts.generate import PromptItem
from trivium.benchmarks.blicket.prompts.spec import PromptView


@pytest.fixture(autouse=True)
def _small_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Big leaks need few items."""
    monkeypatch.setattr(audit, "PEEK", 20)


def listed_first(item: PromptItem, index: int) -> PromptItem | None:
    """Of the two objects that the audit asks about, the one that is listed first must be one."""
    asked = [one for one in PROMPTS.probes(item, PromptView()) if one.name == "blicket"]
    return item if not asked or asked[0].right[0] else None


def most_often_lit(item: PromptItem, index: int) -> PromptItem:
    """Of the objects that the audit asks about, blickets were once more on a lit machine."""
    asked = [one for one in PROMPTS.probes(item, PromptView()) if one.name == "blicket"]
    worth: dict[str, int] = {}
    for one in asked:
        worth |= {n: 1 if yes else -1 for n, yes in zip(one.candidates, one.right, strict=True)}
    lit = [placed for placed, light in item.new.tests if light]
    again = max(lit, key=lambda placed: sum(worth.get(name, 0) for name in placed))
    tests = list(item.new.tests)
    tests.insert(index % len(tests), (again, True))  # anywhere, so that its place says nothing
    new = item.new._replace(tests=tuple(tests))
    return item._replace(machines=(*item.machines[:-1], new))


def like_the_first(item: PromptItem, index: int) -> PromptItem | None:
    """The new machine is always like the first one."""
    return item if item.answer.like not in item.known[1:] else None


def like_the_longer_name(item: PromptItem, index: int) -> PromptItem | None:
    """The machine that the new one is like has the longer pattern."""
    longest = max(item.known, key=len)
    return item if item.answer.like in (longest, "unsure") else None


def named_first(item: PromptItem, index: int) -> PromptItem:
    """What must be a blicket is named before what may be one, in every test."""
    sure = item.answer.blickets
    tests = tuple(
        (tuple(sorted(placed, key=lambda name: name not in sure)), light)
        for placed, light in item.new.tests
    )
    return item._replace(machines=(*item.machines[:-1], item.new._replace(tests=tests)))


OF_PROMPTS: dict[str, tuple[Leak, str]] = {  # first one that takes no redrawing
    "named first": (named_first, "blicket: mean place within its sentences"),
    "listed first": (listed_first, "blicket: place"),
    "most often lit": (most_often_lit, "blicket: lit_tests"),
    "like the first": (like_the_first, "structure: place"),
    "like the longer name": (like_the_longer_name, "structure: rank by length of its name"),
}


@pytest.mark.parametrize("name", first_quick(OF_PROMPTS))
def test_leaks_of_prompts_are_caught(name: str) -> None:
    leak, cue = OF_PROMPTS[name]
    found = run_audit(planted(PROMPTS, leak), PROMPTS.default_spec, 0, 150, trees=12)
    assert cue in caught(found)


def test_evidence_about_an_object_is_counted_without_names() -> None:
    """Lit: xy and zyx; dark: yz. Only x and y are open, so an xy counts two that may be one."""
    item = next(iter(PROMPTS.generate(PROMPTS.default_spec, 1)))
    x, y, z = item.new.objects[:3]
    new = item.new._replace(tests=(((x, y), True), ((y, z), False), ((z, y, x), True)))
    answer = replace(item.answer, blickets=(x,), maybe=(y,))
    changed = item._replace(machines=(*item.machines[:-1], new), answer=answer)
    (probe,) = [one for one in PROMPTS.probes(changed, PromptView()) if one.name == "blicket"]
    assert (probe.candidates, probe.right) == ([x, y], [True, False])
    assert probe.candidate_features == {
        "lit_tests": [2, 2], "dark_tests": [0, 1],
        "lit_alone": [0, 0], "dark_alone": [0, 0],
        "lit_credit": [1 / 2 + 1 / 3, 1 / 2 + 1 / 3], "dark_credit": [0, 1 / 2],
        "lit_smallest": [2, 2], "dark_smallest": [0, 2],
        "lit_largest": [3, 3], "dark_largest": [0, 2],
        "lit_beside": [4, 4], "dark_beside": [0, 1],
        "lit_named_first": [1, 0], "dark_named_first": [0, 1],
        "lit_named_last": [1, 1], "dark_named_last": [0, 0],
    }  # fmt: skip


def first_listed(item: GameItem, index: int) -> GameItem | None:
    """The object that is listed first is a blicket."""
    return item if item.listing[0] in letters(item.machine.blickets) else None


def letter_a(item: GameItem, index: int) -> GameItem | None:
    """The object A is a blicket."""
    return item if "A" in letters(item.machine.blickets) else None


def form_by_index(item: GameItem, index: int) -> GameItem | None:
    """How the machine works follows from the number of the game."""
    rules = item.spec.possible_rules
    return item if item.machine.rule == rules[index % len(rules)] else None


def wording_by_form(item: GameItem, text: str) -> str:
    """The list of objects has another heading, of the same length, for one kind of machine."""
    return text.replace("Objects:", "Objects;") if item.machine.rule == "disjunctive" else text


@pytest.mark.parametrize("preset", first_quick(["three-objects", "mixed"]))
def test_a_wording_that_follows_the_form_is_caught(preset: str) -> None:
    """Also where the kinds of machines differ between games."""
    benchmark = planted(GAME, lambda item, index: item, wording_by_form)
    found = run_audit(benchmark, GAME.presets[preset], 0, 200, trees=12)
    names = [cue.name for cue in found.cues if cue.caught]
    assert any(name.startswith("form: ") and "item's text piece" in name for name in names)


OF_GAMES: dict[str, tuple[Leak, str]] = {
    "listed first": (first_listed, "objects: place"),
    "letter A": (letter_a, "objects: alphabetical rank"),
    "form by index": (form_by_index, "form: "),
}


@pytest.mark.parametrize("name", first_quick(OF_GAMES))
def test_leaks_of_games_are_caught(name: str) -> None:
    leak, cue = OF_GAMES[name]
    found = run_audit(planted(GAME, leak), GAME.default_spec, 0, 200, trees=12)
    assert cue in caught(found)
