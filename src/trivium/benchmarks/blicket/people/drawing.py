"""The data that the browser draws: machines, things and tests; and rules in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trivium.benchmarks.blicket.game.spec import EXAMPLES, GameSpec
from trivium.people.pages import ScreenData
from trivium.people.texts import Texts

# The shape of each object; texts and pictures have the same names.
_SHAPES = ["prism", "frustum", "torus", "star", "hexagon", "drop", "heart", "moon"]
THINGS = dict(zip("ABCDEFGH", _SHAPES, strict=True))


def rule_texts(spec: GameSpec, texts: Texts) -> list[str]:
    """The possible rules of a machine, in plain words."""
    lines = []
    for rule in spec.possible_rules:
        matching = [machine for machine in spec.space if machine.rule == rule]
        line = [rule_text(rule, texts)]
        line.append(_count("rules.count", (each.blickets for each in matching), texts))
        if matching[0].inhibitors:
            line.append(_count("rules.stoppers", (each.inhibitors for each in matching), texts))
        lines.append(" ".join(line))
    return lines


def _count(key: str, sets: Iterable[int], texts: Texts) -> str:
    """A sentence on the possible sizes of these sets of objects."""
    sizes = sorted({each.bit_count() for each in sets})
    least, most = sizes[0], sizes[-1]
    if least == most:
        return texts[f"{key}_one" if least == 1 else key].format(least=least)
    every = len(sizes) == most - least + 1
    some = ", ".join(map(str, sizes[:-1]))
    return texts[f"{key}_range" if every else f"{key}_either"].format(
        least=least, most=most, some=some
    )


def rule_text(rule: str, texts: Texts) -> str:
    """A rule in plain words."""
    form, _, number = rule.partition("-")
    return texts[f"rule.{form}"].format(number=number)


def like_examples(key: str, texts: Texts) -> str:
    """A sentence that names the two example machines."""
    first, second = (texts[f"machine.{name}"] for name in EXAMPLES)
    return texts[key].format(first=first, second=second)


def thing_view(shape: str, texts: Texts) -> ScreenData:
    """The data of a thing."""
    return {"shape": shape, "label": texts[f"thing.{shape}"]}


def machine_view(
    name: str, things: Mapping[str, str], placed: Any, lit: bool | None, texts: Texts
) -> ScreenData:
    """The data of a machine, its things and its light."""
    return {
        "pattern": name,
        "name": texts[f"machine.{name}"],
        "things": [
            {"id": key, "on": key in placed, **thing_view(shape, texts)}
            for key, shape in things.items()
        ],
        "lit": lit,
        "words": "" if lit is None else _light(lit, texts),
    }


def _light(lit: bool, texts: Texts) -> str:
    return texts["light.on" if lit else "light.off"]


def test_views(
    tests: Iterable[tuple[Iterable[str], bool]], things: Mapping[str, str], texts: Texts
) -> list[ScreenData]:
    """The data of tests: the things on the machine, by their ids, and the light."""
    return [
        {
            "things": [thing_view(shape, texts) for key, shape in things.items() if key in placed],
            "lit": light,
            "words": _light(light, texts),
            "empty": texts["light.empty"],
        }
        for placed, light in tests
    ]
