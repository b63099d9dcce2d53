"""Probes of an audit: questions that the surface of an item may answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Probe:
    """A question about an item that an attacker tries to answer from its surface.

    Candidates are spelled as in the prompt, so that the audit finds their mentions. A question
    about the item itself has one candidate, such as "valid", which is right or wrong.
    """

    name: str  # "answer", "validity", "control", ...: the same for all items
    candidates: Sequence[str]
    right: Sequence[bool]  # which of them belong to the answer
    # names by role, such as the target's: features include their lines and the distance to them,
    # so leave them out where these are evidence (two variables in one correlated set)
    marked: Mapping[str, str] = field(default_factory=dict)
    # surface features in addition to the audit's own, with the same names in all items of a
    # probe; one number for each candidate
    candidate_features: Mapping[str, Sequence[float]] = field(default_factory=dict)
    item_features: Mapping[str, float] = field(default_factory=dict)
    # other names as this view writes them; that two of them are the same may be evidence
    names: Sequence[str] = ()
