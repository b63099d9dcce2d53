"""Pictures and text of a machine: the objects, the light, and the question of the quiz."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.blicket.inference.hypotheses import LETTERS
from trivium.benchmarks.blicket.world.dynamics import decode
from trivium.benchmarks.blicket.world.spec import BlicketSpec
from trivium.core.errors import import_extra, require

RENDER_MODES = ("rgb_array", "ansi")
HEIGHT, SLOT = 300, 84  # pixels of the picture, and from one object to the next
SCALE = 3  # drawn at this scale and then reduced, for smooth edges
WALL, TABLE, INK = "#edf2fa", "#d9ccba", "#293042"
BODY, LIT, DARK, GLOW = "#6b80a3", "#ffdb40", "#3d4557", "#ffe073"
COLOURS = ("#e34a45", "#3385d9", "#40a866", "#f29926", "#945cb8", "#26a6ad", "#de6ba1", "#8c7359")
SHAPES = ((4, 0, 35), (60, 0, 28), (3, 0, 36), (4, 45, 32))  # sides, rotation, radius


@dataclass(frozen=True)
class Scene:
    """What a picture or a text shows."""

    objects: int
    placed: int = 0  # the set on the machine
    light: bool = False
    caption: str = ""  # the phase of the episode in a few words
    asked: int | None = None  # the object that the quiz asks about
    asks_type: bool = False
    over: bool = False

    @staticmethod
    def of(spec: BlicketSpec, state: int, seen: int) -> Scene:
        """The scene of an environment's state and of its last observation."""
        at = decode(spec, state)
        placed, light = seen & (1 << spec.objects) - 1, bool(seen >> spec.objects & 1)
        if at.machine >= len(spec.hypotheses):
            return Scene(spec.objects, placed, light, "the episode is over", over=True)
        if at.question >= spec.asks_objects:
            question = "quiz: what is the form of the machine?"
            return Scene(spec.objects, caption=question, asks_type=True)
        if at.question >= 0:
            asked = int(at.question)
            return Scene(spec.objects, caption=f"quiz: is {LETTERS[asked]} a blicket?", asked=asked)
        caption = f"exploring, {at.count} step{'' if at.count == 1 else 's'} taken"
        if spec.has_examples and (example := seen >> spec.objects + 1 & 3):
            caption = f"example machine {example}"
        return Scene(spec.objects, placed, light, caption)


def check_render_mode(mode: str | None) -> None:
    """Refuse an unknown render mode."""
    known = mode is None or mode in RENDER_MODES
    require(known, f"render_mode must be one of {', '.join(RENDER_MODES)}, got {mode!r}")


def show(mode: str | None, spec: BlicketSpec, state: int, seen: int) -> Any:
    """A state in this render mode: a picture, a text or None."""
    if mode is None:
        return None
    scene = Scene.of(spec, state, seen)
    return draw(scene) if mode == "rgb_array" else write(scene)


def write(scene: Scene) -> str:
    """The scene as text."""
    rows: dict[bool, list[str]] = {True: [], False: []}  # on the machine, beside it
    for number, name in enumerate(LETTERS[: scene.objects]):
        for on, row in rows.items():
            row.append(f"({name}) " if on == bool(scene.placed >> number & 1) else "    ")
    inside = max(5 * scene.objects, 11)
    lamp = "* LIGHT *" if scene.light else ". dark ."
    lines = [
        scene.caption,
        "  " + " ".join(rows[True]).center(inside),
        " ┏" + "━" * inside + "┓",
        " ┃" + lamp.center(inside) + "┃",
        " ┗" + "━" * inside + "┛",
        "  " + " ".join(rows[False]).center(inside),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def draw(scene: Scene) -> NDArray[np.uint8]:
    """The scene as a picture: [height, width, (red, green, blue)]."""
    images, drawing, fonts = (
        import_extra(f"PIL.{name}", "gym") for name in ("Image", "ImageDraw", "ImageFont")
    )
    width = max(SLOT * scene.objects + 60, 300)
    picture = images.new("RGB", (width * SCALE, HEIGHT * SCALE), WALL)
    pen, font = drawing.Draw(picture), fonts.load_default(24 * SCALE)
    middle = width / 2

    def box(y: float, half: tuple[float, float], radius: float, fill: str) -> None:
        corners = [middle - half[0], y - half[1], middle + half[0], y + half[1]]
        pen.rounded_rectangle([corner * SCALE for corner in corners], radius * SCALE, fill)

    def polygon(x: float, y: float, shape: tuple[int, int, float], fill: str) -> None:
        sides, rotation, radius = shape
        pen.regular_polygon((x * SCALE, y * SCALE, radius * SCALE), sides, rotation, fill)

    def text(x: float, y: float, letter: str, fill: str) -> None:
        pen.text((x * SCALE, y * SCALE), letter, fill, font, anchor="mm")

    box(254, (middle, 50), 0, TABLE)
    if scene.light:
        fading = images.radial_gradient("L").point(lambda value: max(0, 255 - 1.42 * value))
        left, top, across = int(middle) - 150, 26, 300
        fading = fading.resize((across * SCALE, across * SCALE))
        picture.paste(GLOW, (left * SCALE, top * SCALE), fading)
    box(176, (middle - 22, 38), 12, INK)
    box(176, (middle - 25, 35), 10, BODY)
    box(139, (middle - 32, 4), 4, INK)
    polygon(middle, 178, (60, 0, 24), INK)
    polygon(middle, 178, (60, 0, 20), LIT if scene.light else DARK)
    if scene.asks_type:
        text(middle, 178, "?", LIT)
    for number in range(scene.objects):
        x = middle + SLOT * (number - (scene.objects - 1) / 2)
        y = 108 if scene.placed >> number & 1 else 256
        sides, rotation, radius = SHAPES[number % len(SHAPES)]
        if scene.asked == number:
            polygon(x, y, (sides, rotation, 1.35 * radius), LIT)
            text(x + 42, y - 16, "?", INK)
        polygon(x, y, (sides, rotation, 1.08 * radius), INK)
        polygon(x, y, (sides, rotation, radius), COLOURS[number])
        text(x, y, LETTERS[number], "white")
    if scene.over:
        picture = images.blend(picture, images.new("RGB", picture.size, WALL), 0.5)
    return np.array(picture.resize((width, HEIGHT), images.Resampling.LANCZOS))
