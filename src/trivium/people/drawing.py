"""Machines, things and tests as the page draws them, and rules in plain words."""

from __future__ import annotations

from typing import Any

from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.people.rounds import Round
from trivium.people.session import PRACTICE
from trivium.people.texts import Texts

# Which shape an object is drawn as; the shape also names its text.
THINGS = dict(
    zip(
        "ABCDEFGH",
        ["prism", "frustum", "torus", "star", "hexagon", "drop", "heart", "moon"],
        strict=True,
    )
)
PRACTICE_THINGS = dict(zip(PRACTICE, ("moon", "hexagon"), strict=True))


def rule_texts(spec: GameSpec, texts: Texts) -> list[str]:
    """How a machine may work, in plain words."""
    lines = []
    for rule in spec.possible_rules:
        sizes = [one.blickets.bit_count() for one in spec.space if one.rule == rule]
        least, most = min(sizes), max(sizes)
        key = "count_range" if least < most else "count_one" if least == 1 else "count"
        count = texts[f"rules.{key}"].format(least=least, most=most)
        lines.append(f"{rule_text(rule, texts)} {count}")
    return lines


def rule_text(rule: str, texts: Texts) -> str:
    """A rule in plain words."""
    form, _, number = rule.partition("-")
    return texts[f"rule.{form}"].format(number=number)


def things_of(now: Round) -> dict[str, str]:
    """The shapes of the objects in the one order in which they are listed and drawn."""
    return {letter: THINGS[letter] for letter in now.item.content.listing}


def machine_view(
    texts: Texts, name: str, things: dict[str, str], placed: Any, lit: bool | None
) -> dict[str, Any]:
    """A machine, its objects, and what it shows."""
    return {
        "pattern": name,
        "name": texts[f"machine.{name}"],
        "things": [
            {"id": key, "shape": shape, "label": texts[f"thing.{shape}"], "on": key in placed}
            for key, shape in things.items()
        ],
        "lit": lit,
        "empty": texts["light.empty"],
    }


def history_view(now: Round, texts: Texts) -> dict[str, Any]:
    """The tests made or seen so far."""
    order = now.item.content.listing
    rows = [
        {
            "things": [
                {"shape": THINGS[letter], "label": texts[f"thing.{THINGS[letter]}"]}
                for letter in sorted(placed, key=order.index)
            ],
            "lit": light,
            "words": texts["light.on" if light else "light.off"],
            "empty": texts["light.empty"],
        }
        for placed, light in now.game.tests
    ]
    title = texts["explore.history" if now.shown is None else "watch.history"]
    return {"history": rows, "history_title": title}
