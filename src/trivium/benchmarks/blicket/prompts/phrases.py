"""The words of generated prompts, in three voices."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Voice:
    """One way to say the same."""

    opening: str
    machines: tuple[str, str, str]  # the line above the tests of each machine
    lit: str
    dark: str
    question: str


VOICES = (
    Voice(
        opening="A blicket machine lights up because of blickets. Some objects are blickets and "
        "others are not. Some machines light up when at least one of their blickets is on them; "
        "others only when all of their blickets, two or more, are on them together.",
        machines=(
            "First a {pattern} machine. Its objects: {objects}.",
            "Then a {pattern} machine. Its objects: {objects}.",
            "Now a {pattern} machine. Its objects: {objects}.",
        ),
        lit="lights up",
        dark="stays dark",
        question="Which objects of the {pattern} machine are blickets? And does it work like the "
        "{first} machine or like the {second} machine? Say so if there is no way to know.",
    ),
    Voice(
        opening="Each of these machines has its own objects, and some of them are blickets. A "
        "machine may need just one of its blickets to light up, or it may need all of its blickets "
        "at once, and then it has at least two.",
        machines=(
            "Here is a {pattern} machine with {objects}:",
            "Here is another machine, a {pattern} one, with {objects}:",
            "Here is a last machine, a {pattern} one, with {objects}:",
        ),
        lit="light on",
        dark="light off",
        question="Does the {pattern} machine work like the {first} machine or like the {second} "
        "machine, or can one not tell? And which of its objects are blickets?",
    ),
    Voice(
        opening="Below are notes on blicket machines. What lights a machine up are the blickets "
        "among its objects. For one kind of machine a single blicket is enough; the other kind has "
        "two or more blickets and needs every one of them at the same time.",
        machines=("Notes on the {pattern} machine ({objects}):",) * 3,
        lit="turned on",
        dark="stayed off",
        question="Which objects of the {pattern} machine are blickets, and is it a machine like "
        "the {first} one or like the {second} one? It is fine to be unsure about what the notes "
        "leave open.",
    ),
)
# The openings of the three voices if hypotheses are not given: no kinds are named.
OPENINGS_NOT_GIVEN = (
    "A blicket machine lights up because of blickets. Some objects are blickets and others are "
    "not.",
    "Each of these machines has its own objects, and some of them are blickets. Blickets are what "
    "makes a machine light up.",
    "Below are notes on blicket machines. What lights a machine up are the blickets among its "
    "objects.",
)
SURE_OR_MAYBE = "Say which objects must be blickets, and which ones may be blickets or not."
TWO_SHOT_OPENING = (
    "If we put objects on a machine, it either lights up or does not. Some objects are blickets, "
    "and others are not. {kinds} Please say which objects are blickets, and whether the last "
    "machine behaves like the {first} machine or like the {second} machine, if that can be known."
)
KINDS_GIVEN = (
    "A {conjunctive} machine needs all of its blickets, two or more, to light up, and a "
    "{disjunctive} machine needs one blicket."
)
KINDS_NOT_GIVEN = "There are {first} machines and {second} machines."
