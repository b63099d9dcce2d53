"""Pictures and text of a machine: the objects, the light, and what the quiz asks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.blicket.inference.hypotheses import LETTERS
from trivium.benchmarks.blicket.world.dynamics import BlicketSpec

RENDER_MODES = ("rgb_array", "ansi")
Field = NDArray[np.float64]  # distances to a shape, for every pixel
Picture = NDArray[np.float64]
HEIGHT, TABLE_Y, MACHINE_Y = 300, 238.0, 138.0
SLOT = 84  # pixels for each object
WALL, TABLE = (0.93, 0.95, 0.98), (0.85, 0.80, 0.73)
INK, BODY, BODY_DARK = (0.16, 0.19, 0.26), (0.42, 0.50, 0.64), (0.31, 0.38, 0.51)
LIT, DARK, GLOW = (1.0, 0.86, 0.25), (0.24, 0.27, 0.34), (1.0, 0.88, 0.45)
COLOURS = (
    *((0.89, 0.29, 0.27), (0.20, 0.52, 0.85), (0.25, 0.66, 0.40), (0.95, 0.60, 0.15)),
    *((0.58, 0.36, 0.72), (0.15, 0.65, 0.68), (0.87, 0.42, 0.63), (0.55, 0.45, 0.35)),
)
# Letters and the question mark as strokes on a grid of 4 by 6, y downwards.
STROKES = {
    "A": ["06 20 46", "14 34"],
    "B": ["00 06 36 45 44 33 03", "33 42 41 30 00"],
    "C": ["41 30 10 01 05 16 36 45"],
    "D": ["00 06 26 44 42 20 00"],
    "E": ["40 00 06 46", "03 33"],
    "F": ["40 00 06", "03 33"],
    "G": ["41 30 10 01 05 16 36 45 43 23"],
    "H": ["00 06", "40 46", "03 43"],
    "?": ["01 10 30 41 42 23 24", "26 26"],
}


@dataclass(frozen=True)
class Scene:
    """What there is to see."""

    objects: int
    placed: int  # the set on the machine
    light: bool
    count: int | None  # steps taken while exploring; none in the quiz
    asked: int | None = None  # the object that the quiz asks about
    asks_type: bool = False
    over: bool = False

    @staticmethod
    def of(spec: BlicketSpec, state: int, seen: int) -> Scene:
        """The scene of an environment's state and of what it showed last."""
        phase = state % spec.phases
        over = state // spec.phases >= len(spec.hypotheses)
        question = phase - spec.counts * spec.positions
        if over or question >= 0:
            about_object = not over and question < spec.asks_objects
            asked = question if about_object else None
            shown = 0 if spec.has_quiz else seen
            placed = shown & (1 << spec.objects) - 1
            lit = bool(shown >> spec.objects & 1)
            asks_type = not over and not about_object
            return Scene(spec.objects, placed, lit, None, asked, asks_type, over)
        placed, lit = seen & (1 << spec.objects) - 1, bool(seen >> spec.objects & 1)
        return Scene(spec.objects, placed, lit, phase // spec.positions)

    @property
    def caption(self) -> str:
        """What is going on, in a few words."""
        if self.over:
            return "the episode is over"
        if self.asked is not None:
            return f"quiz: is {LETTERS[self.asked]} a blicket?"
        if self.asks_type:
            return "quiz: which form has the machine?"
        return f"exploring, {self.count} step{'' if self.count == 1 else 's'} taken"


def write(scene: Scene) -> str:
    """The scene as text."""
    names = LETTERS[: scene.objects]
    on = [f"({name})" if scene.placed >> place & 1 else "   " for place, name in enumerate(names)]
    off = ["   " if scene.placed >> place & 1 else f"({name})" for place, name in enumerate(names)]
    inside = max(5 * scene.objects, 11)
    lamp = "* LIGHT *" if scene.light else ". dark ."
    lines = [
        scene.caption,
        "  " + " ".join(f"{each:^4}" for each in on).center(inside),
        " ┏" + "━" * inside + "┓",
        " ┃" + lamp.center(inside) + "┃",
        " ┗" + "━" * inside + "┛",
        "  " + " ".join(f"{each:^4}" for each in off).center(inside),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def draw(scene: Scene) -> NDArray[np.uint8]:
    """The scene as a picture: height by width by red, green and blue."""
    width = max(SLOT * scene.objects + 60, 300)
    x, y = _grid(width)
    picture = np.empty((HEIGHT, width, 3))
    picture[:] = WALL
    _paint(picture, 204 - y, TABLE)
    if scene.light:
        reach = np.hypot(x - width / 2, (y - 176) * 1.3)
        _blend(picture, 0.85 * np.exp(-((reach / 105) ** 2)), GLOW)
    _draw_machine(picture, scene.light, scene.asks_type)
    left = (width - SLOT * scene.objects) / 2 + SLOT / 2
    for place in range(scene.objects):
        on = bool(scene.placed >> place & 1)
        centre = (left + SLOT * place, MACHINE_Y - 30 if on else TABLE_Y + 18)
        _draw_object(picture, place, centre, asked=scene.asked == place)
    if scene.over:
        _blend(picture, np.full(x.shape, 0.45), WALL)
    return np.asarray((picture.clip(0, 1) * 255).round(), dtype=np.uint8)


@lru_cache(maxsize=8)
def _grid(width: int) -> tuple[Field, Field]:
    y, x = np.mgrid[:HEIGHT, :width] + 0.5
    return x, y


def _blend(picture: Picture, share: Field, colour: tuple[float, ...]) -> None:
    picture += share[..., None] * (np.array(colour) - picture)


def _paint(picture: Picture, distance: Field, colour: tuple[float, ...]) -> None:
    """Fill a shape, its edge softened over one pixel."""
    _blend(picture, np.clip(0.5 - distance, 0.0, 1.0), colour)


def _box(x: Field, y: Field, half: tuple[float, float], rounding: float) -> Field:
    dx, dy = np.abs(x) - half[0] + rounding, np.abs(y) - half[1] + rounding
    outside = np.hypot(np.maximum(dx, 0), np.maximum(dy, 0))
    return np.asarray(outside + np.minimum(np.maximum(dx, dy), 0) - rounding)


def _segment(x: Field, y: Field, start: Field, end: Field) -> Field:
    along = end - start
    length = float(along @ along) or 1.0
    share = np.clip(((x - start[0]) * along[0] + (y - start[1]) * along[1]) / length, 0, 1)
    return np.asarray(np.hypot(x - start[0] - share * along[0], y - start[1] - share * along[1]))


def _letter(x: Field, y: Field, letter: str, size: float) -> Field:
    """The distance to a letter of this height around the origin."""
    unit = size / 6
    found = np.full(x.shape, np.inf)
    for stroke in STROKES[letter]:
        points = [np.array([int(p[0]) - 2, int(p[1]) - 3]) * unit for p in stroke.split()]
        for start, end in pairwise(points):
            found = np.minimum(found, _segment(x, y, start, end))
    return found - unit * 0.55


def _shape(place: int, x: Field, y: Field) -> Field:
    """Cube, ball, pyramid or lozenge, in turn."""
    kind = place % 4
    if kind == 0:
        return _box(x, y, (25, 25), 6)
    if kind == 1:
        return np.hypot(x, y) - 27
    if kind == 2:
        sides = np.abs(x) * 0.88 - (y + 31) * 0.475
        return np.maximum(sides, y - 25)
    return _box((x + y) * 0.7071, (x - y) * 0.7071, (21, 21), 5)


def _draw_object(picture: Picture, place: int, centre: tuple[float, float], *, asked: bool) -> None:
    x, y = _grid(picture.shape[1])
    x, y = x - centre[0], y - centre[1]
    colour = np.array(COLOURS[place])
    shadow = np.hypot(x, (y - 27) * 4.0) - 26
    _blend(picture, 0.25 * np.clip(0.5 - shadow / 6, 0, 1), INK)
    shape = _shape(place, x, y)
    if asked:
        _paint(picture, shape - 9, LIT)
    _paint(picture, shape - 2, tuple(colour * 0.55))
    _paint(picture, shape, tuple(colour))
    _blend(picture, 0.22 * np.clip(0.5 - np.maximum(shape, y + 4), 0, 1), (1.0, 1.0, 1.0))
    drop = 6 if place % 4 == 2 else 0
    _paint(picture, _letter(x, y - drop, LETTERS[place], 20), (1.0, 1.0, 1.0))
    if asked:
        _paint(picture, _letter(x - 42, y + 12, "?", 22), INK)


def _draw_machine(picture: Picture, light: bool, asks_type: bool) -> None:
    width = picture.shape[1]
    x, y = _grid(width)
    x = x - width / 2
    half = width / 2 - 22
    _blend(
        picture, 0.3 * np.clip(0.5 - (np.hypot(x / half * 30, (y - 214) * 2.2) - 30) / 8, 0, 1), INK
    )
    _paint(picture, _box(x, y - 176, (half, 38), 12), INK)
    _paint(picture, _box(x, y - 176, (half - 3, 35), 10), BODY)
    _paint(picture, np.maximum(_box(x, y - 176, (half - 3, 35), 10), 190 - y), BODY_DARK)
    _paint(picture, _box(x, y - 140, (half - 10, 5), 4), INK)
    _paint(picture, np.hypot(x, y - 178) - 24, INK)
    _paint(picture, np.hypot(x, y - 178) - 20, LIT if light else DARK)
    _blend(picture, 0.5 * np.clip(0.5 - (np.hypot(x + 7, y - 171) - 5), 0, 1), (1.0, 1.0, 1.0))
    if asks_type:
        _paint(picture, _letter(x, y - 178, "?", 24), LIT)
