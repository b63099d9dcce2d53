"""Repeats up to names and order, counted on hand-made and generated items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from tests.audit.leaks import Constant, LeakSpec
from trivium.auditing.overlap import in_order_of_appearance, line_structure, overlap
from trivium.core.benchmark import rename_text
from trivium.core.question import Question

NAMES = ["ann", "ben", "cy dee", "eve"]
LINES = ["ann likes ben", "ben likes cy dee", "eve likes ben and ann", "it rains"]


@given(st.permutations(NAMES), st.permutations(LINES))
def test_names_and_order_do_not_matter(names: list[str], lines: list[str]) -> None:
    renamed = rename_text("\n".join(lines), dict(zip(NAMES, names, strict=True)))
    assert line_structure(renamed, [NAMES]) == line_structure("\n".join(LINES), [NAMES])
    in_place = rename_text("\n".join(LINES), dict(zip(NAMES, names, strict=True)))
    same = in_order_of_appearance("\n".join(LINES), [NAMES])
    assert in_order_of_appearance(in_place, [NAMES]) == same


def test_what_is_said_matters() -> None:
    whole = line_structure("\n".join(LINES), [NAMES])
    assert line_structure("\n".join(LINES[:-1]), [NAMES]) != whole
    turned = "\n".join(["ben likes ann", *LINES[1:]])
    assert line_structure(turned, [NAMES]) != whole
    # Names of different groups are no names for each other.
    assert line_structure("ann\nben", [["ann"], ["ben"]]) != line_structure(
        "ann\nann", [["ann"], ["ben"]]
    )
    # A ring goes round or to and fro: every name is on two lines, and only their places differ.
    ring = ["ann likes ben", "ben likes cy dee", "cy dee likes eve", "eve likes ann"]
    to_and_fro = ["ann likes ben", "cy dee likes ben", "cy dee likes eve", "ann likes eve"]
    assert line_structure("\n".join(ring), [NAMES]) != line_structure(
        "\n".join(to_and_fro), [NAMES]
    )
    swapped = "\n".join([LINES[1], LINES[0], *LINES[2:]])
    assert in_order_of_appearance(swapped, [NAMES]) != in_order_of_appearance(
        "\n".join(LINES), [NAMES]
    )


class Cards(Constant):
    """Four prompts in turn, of which two are the same up to names."""

    def generate(
        self, spec: LeakSpec, seed: int, start: int = 0, count: int = 1
    ) -> Iterator[Question]:
        for index in range(start, start + count):
            text = ("x is big", "y is big", "x is small", f"x is small {seed}")[index % 4]
            yield Question(text, ("heads", "tails"), "heads", id=str(index))

    def names(self, item: Question) -> Sequence[Sequence[str]]:
        return [["x", "y"]]

    def item_space(self, spec: LeakSpec) -> int:
        return 4


def test_repeats_are_counted_within_and_between_seeds() -> None:
    found = overlap(Cards(), LeakSpec(), 7, 8)
    assert found.space == 4
    assert [(each.way, each.distinct, each.within, each.between) for each in found.repeats] == [
        ("exact", 4, 4, 6),
        ("renamed", 3, 5, 6),
        ("renamed and reordered", 3, 5, 6),
    ]
    # Of 8 * 7 ordered pairs, 4 * 2 are the same; with renaming, 4 * 3 + 2 + 2.
    assert [round(each.space, 3) for each in found.repeats] == [7.0, 3.5, 3.5]


def test_where_nothing_repeats_the_space_is_bounded() -> None:
    """At least n (n - 1) / 6: with fewer, 3 pairs would be expected to repeat, and 0 did."""
    found = overlap(Cards(), LeakSpec(), 7, 3).repeats[0]
    assert (found.within, found.at_least, found.space) == (0, True, 1.0)
