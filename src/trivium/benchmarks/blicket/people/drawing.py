"""The data that the browser draws: machines, things and tests; and rules in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trivium.benchmarks.blicket.game.spec import EXAMPLES, GameSpec
from trivium.people.pages import View
from trivium.people.texts import Texts

# The shape of each object; texts and pictures have the same names.
_SHAPES = ["prism", "frustum", "torus", "star", "hexagon", "drop", "heart", "moon"]
THINGS = dict(zip("ABCDEFGH", _SHAPES, strict=True))


def rule_texts(spec: GameSpec, texts: Texts) -> list[str]:
    """The possible rules of a machine, in plain words."""
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


def like_examples(key: str, texts: Texts) -> str:
    """A sentence that names the two example machines."""
    first, second = (texts[f"machine.{name}"] for name in EXAMPLES)
    return texts[key].format(first=first, second=second)


def thing_view(shape: str, texts: Texts) -> View:
    """The data of a thing."""
    return {"shape": shape, "label": texts[f"thing.{shape}"]}


def machine_view(
    name: str, things: Mapping[str, str], placed: Any, lit: bool | None, texts: Texts
) -> View:
    """The data of a machine, its things and its light."""
    return {
        "pattern": name,
        "name": texts[f"machine.{name}"],
        "things": [
            {"id": key, "on": key in placed, **thing_view(shape, texts)}
            for key, shape in things.items()
        ],
        "lit": lit,
        "empty": texts["light.empty"],
    }


def history_view(tests: Iterable[tuple[str, bool]], listing: str, title: str, texts: Texts) -> View:
    """The data of the tests so far."""
    rows = [
        {
            "things": [thing_view(THINGS[one], texts) for one in listing if one in placed],
            "lit": light,
            "words": texts["light.on" if light else "light.off"],
            "empty": texts["light.empty"],
        }
        for placed, light in tests
    ]
    return {"history": rows, "history_title": texts[title]}
