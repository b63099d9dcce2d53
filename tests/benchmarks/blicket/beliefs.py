"""What the tests of a prompt allow, by plain enumeration."""

from __future__ import annotations

import itertools

from trivium.benchmarks.blicket.prompts.evidence import Machine


def possible(machine: Machine, *, odd: bool = False) -> list[tuple[str, set[str]]]:
    """Every form and set of blickets that allows the tests, by plain enumeration."""
    found = []
    for size in range(1, len(machine.objects) + 1):
        for blickets in map(set, itertools.combinations(machine.objects, size)):
            lit = [set(placed) for placed, light in machine.tests if light]
            dark = [set(placed) for placed, light in machine.tests if not light]
            if all(blickets & on for on in lit) and not any(blickets & on for on in dark):
                found.append(("disjunctive", blickets))
            if size == 1:
                continue  # with one blicket all forms are the same
            if all(blickets <= on for on in lit) and not any(blickets <= on for on in dark):
                found.append(("conjunctive", blickets))
            uneven = [len(blickets & on) % 2 == 1 for on in lit + dark]
            if odd and uneven == [True] * len(lit) + [False] * len(dark):
                found.append(("parity", blickets))
    return found
