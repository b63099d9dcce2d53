"""The words of generated prompts, in three voices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Voice:
    """One way to tell the same story."""

    opening: str
    machines: tuple[str, str, str]  # the introduction of each machine and its objects
    first: str  # the first test of a machine
    then: str  # the later tests
    lit: str
    dark: str
    question: str


VOICES = (
    Voice(
        opening="A blicket detector is a machine that lights up because of blickets. Some objects "
        "are blickets and others are not, and nobody can see which. Some detectors light up when "
        "at least one of their blickets is on them; others light up only when all of their "
        "blickets, two or more, are on them together.",
        machines=(
            "First I have a {pattern} pattern blicket detector and {count} objects: {objects}.",
            "Then I have a {pattern} pattern blicket detector and {count} different objects: "
            "{objects}.",
            "Now I have a {pattern} pattern blicket detector and {count} new objects: {objects}. "
            "It could work like either of the other two.",
        ),
        first="First I put {objects} on the {pattern} pattern blicket detector and {light}",
        then="Then I put {objects} on the {pattern} pattern blicket detector and {light}",
        lit="it lights up!",
        dark="it does not light up.",
        question="Can you tell me which of the new objects are blickets? And does the {pattern} "
        "pattern blicket detector behave like the {first} one or like the {second} one? Say so if "
        "there is no way to know.",
    ),
    Voice(
        opening="Let us play with some machines. Each machine has its own objects, and some of "
        "those objects are blickets. A machine may need just one of its blickets to light up, or "
        "it may need all of its blickets at once, and then it has at least two.",
        machines=(
            "Here is a {pattern} machine with {count} objects: {objects}.",
            "Here is another machine, a {pattern} one. It has {count} objects of its own: "
            "{objects}.",
            "Here is a last machine, a {pattern} one. It has {count} objects: {objects}.",
        ),
        first="We try {objects} on the machine: {light}",
        then="We try {objects}: {light}",
        lit="it lights up.",
        dark="it stays dark.",
        question="Does the {pattern} machine work like the {first} machine or like the {second} "
        "machine, or can one not tell? And which of its objects are blickets?",
    ),
    Voice(
        opening="Below are notes from experiments with blicket machines. What lights a machine up "
        "are the blickets among its objects. Machines are of two kinds: for one kind a single "
        "blicket is enough, and the other kind has two or more blickets and needs every one of "
        "them at the same time.",
        machines=(
            "Notes on the {pattern} machine. Objects: {objects}.",
            "Notes on the {pattern} machine. Objects: {objects}.",
            "Notes on the {pattern} machine. Objects: {objects}.",
        ),
        first="With {objects} on it, {light}",
        then="With {objects} on it, {light}",
        lit="the machine turned on.",
        dark="the machine did not turn on.",
        question="Which objects of the {pattern} machine are blickets, and is it a machine like "
        "the {first} one or like the {second} one? It is fine to be unsure about what the notes "
        "leave open.",
    ),
)
# The openings of the three voices if hypotheses are not given: no kinds are named.
OPENINGS_NOT_GIVEN = (
    "A blicket detector is a machine that lights up because of blickets. Some objects are "
    "blickets and others are not, and nobody can see which.",
    "Let us play with some machines. Each machine has its own objects, and some of those objects "
    "are blickets. Blickets are what makes a machine light up.",
    "Below are notes from experiments with blicket machines. What lights a machine up are the "
    "blickets among its objects.",
)
SURE_OR_MAYBE = (
    "The evidence may leave some objects open: say which objects must be blickets, and which ones "
    "may be blickets or not."
)
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


def listed(names: Sequence[str]) -> str:
    """A list of names for a sentence, such as "a, b and c"."""
    if len(names) <= 2:
        return " and ".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
