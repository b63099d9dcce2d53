"""Draw the two decision trees as SVG, from the questions that decide the gold labels.

python -m studies.decision_trees
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from textwrap import wrap

from trivium.benchmarks.variables.decision import CONTROL_TREE, VALIDITY_TREE, Tree

FIGURES = {
    "control_tree.svg": ("Figure A1: is a variable V to be controlled?", CONTROL_TREE),
    "validity_tree.svg": (
        "Figure A2: is the hypothesis valid, and what are its variables?",
        VALIDITY_TREE,
    ),
}
WIDE, HIGH = 300, 64  # of a box
STEP, LINE = 110, 18  # from one row of boxes, or one line of text, to the next
LEFT, RIGHT, TOP = 20, 400, 50
LETTERS = 36  # in a line of text
FOLDER = Path("docs/variables")


def draw(title: str, tree: Tree) -> str:
    """The SVG of a tree, with questions below each other and "yes" branches beside them."""
    parts = [_text(LEFT, 28, [title], "font-weight='bold' text-anchor='start'")]
    for row, (question, _, answer) in enumerate(tree.questions):
        y = TOP + row * STEP
        middle = LEFT + WIDE / 2
        parts += [
            _box(LEFT, y, f"{question}?", "#e8f0fa"),
            _arrow(LEFT + WIDE, y + HIGH / 2, RIGHT, y + HIGH / 2, "yes"),
            _box(RIGHT, y, answer, "#f3f3f3"),
            _arrow(middle, y + HIGH, middle, y + STEP, "no"),
        ]
    last = TOP + len(tree.questions) * STEP
    parts.append(_box(LEFT, last, tree.otherwise, "#f3f3f3"))
    width, height = RIGHT + WIDE + LEFT, last + HIGH + 20
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' "
        f"height='{height}' font-family='sans-serif' font-size='14'>\n"
        "<defs><marker id='tip' markerWidth='8' markerHeight='8' refX='8' refY='4' orient='auto'>"
        "<path d='M0,0 L8,4 L0,8 z'/></marker></defs>\n"
        f"<rect width='{width}' height='{height}' fill='white'/>\n"
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _box(x: float, y: float, text: str, colour: str) -> str:
    lines = wrap(text, LETTERS)
    top = y + HIGH / 2 - (len(lines) - 1) * LINE / 2 + 5
    at = f"x='{x}' y='{y}' width='{WIDE}' height='{HIGH}' rx='6'"
    return f"<rect {at} fill='{colour}' stroke='#555'/>" + _text(
        x + WIDE / 2, top, lines, "text-anchor='middle'"
    )


def _text(x: float, y: float, lines: list[str], style: str) -> str:
    spans = "".join(
        f"<tspan x='{x:g}' y='{y + number * LINE:g}'>{escape(line)}</tspan>"
        for number, line in enumerate(lines)
    )
    return f"<text {style}>{spans}</text>"


def _arrow(x: float, y: float, to_x: float, to_y: float, label: str) -> str:
    ends = f"x1='{x:g}' y1='{y:g}' x2='{to_x:g}' y2='{to_y:g}'"
    line = f"<line {ends} stroke='#333' marker-end='url(#tip)'/>"
    return line + _text((x + to_x) / 2 + 16, (y + to_y) / 2 - 6, [label], "text-anchor='middle'")


if __name__ == "__main__":
    for name, (title, tree) in FIGURES.items():
        (FOLDER / name).write_text(draw(title, tree), encoding="utf-8")
