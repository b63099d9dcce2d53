"""Names of objects and machines: colours, shapes and patterns."""

from __future__ import annotations

import re

_COLOURS = """blue green orange yellow purple red teal pink brown black white grey silver golden
violet crimson turquoise maroon beige olive navy coral bronze amber"""
_SHAPES = """pyramid cube sphere cylinder cone dome prism frustum torus disc star heart cross wedge
tube arch bowl spiral crescent bell ring button pillar anchor"""
# Words of one length, so that the length of a line says no more than how many objects it has.
_THINGS = """ball bead bell bolt boot bowl coin comb cone cork cube disc doll dome drum fork horn
knob lamp leaf lens ring star vase"""
_PATTERNS = "striped dotted checkerboard zigzag speckled wavy marbled tartan starry plain"
COLOURS, THINGS, PATTERNS = _COLOURS.split(), _THINGS.split(), _PATTERNS.split()
SHAPES = sorted({*_SHAPES.split(), *THINGS})
MENTION = re.compile(
    rf"\b(?:({'|'.join(COLOURS)}) (?:half )?)?({'|'.join(SHAPES)})\b", re.IGNORECASE
)


def mentions(text: str) -> list[str]:
    """The objects that a text names, in order; the paper once says half dome for dome."""
    return [mentioned(found) for found in MENTION.finditer(text)]


def mentioned(found: re.Match[str]) -> str:
    """The name of an object in a match of MENTION: a shape, or a colour and a shape."""
    return " ".join(filter(None, found.groups())).lower()


def article(name: str) -> str:
    """A name with "a" or "an" before it."""
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
