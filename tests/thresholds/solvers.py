"""Solvers whose skill is known."""

from __future__ import annotations

import hashlib
import re


def forgetful(prompt: str) -> str:
    """Follows the facts of nhop_implicit and takes a wrong one in a sixth of the steps."""
    facts: dict[str, str] = dict(re.findall(r"(\w+) ->\w+-> (\w+)", prompt))
    token = str(re.findall(r"\w+(?=\?)", prompt)[0])
    for step, draw in enumerate(hashlib.sha256(prompt.encode()).digest()):
        if token not in facts:
            break
        beside = [value for value in facts.values() if value[0] == facts[token][0]]
        token = facts[token] if draw % 6 else beside[(step + draw) % len(beside)]
    return token
