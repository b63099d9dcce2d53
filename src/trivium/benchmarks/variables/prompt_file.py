"""The texts of a prompt from a file of the user's, such as the original evaluation's own."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

from trivium.core.errors import UserError, require, require_known
from trivium.core.spec import read_mapping

PLACES = ("{observations}", "{hypotheses}", "{target_hypothesis}")
TREE = "{optional_decision_tree_section}"
SAMPLE, TEMPLATES = "sample_message", "hypothesis_templates"
TEXTS = (SAMPLE, "task_description", "decision_tree_section")


def read_prompt_file(given: str) -> str:
    """The texts in a file as JSON; JSON of this kind is returned as it is.

    So a view holds the texts themselves, and prompts can be regenerated without the file.
    """
    if given.lstrip().startswith("{"):
        try:
            texts: Any = json.loads(given)
        except ValueError as problem:
            raise UserError(f"prompt_file: {problem}") from None
    else:
        path = Path(given)
        texts = _python_texts(path) if path.suffix == ".py" else read_mapping(path)
        texts = {key.lower(): text for key, text in texts.items()}
    _check(texts)
    return json.dumps(texts, sort_keys=True)


def _python_texts(path: Path) -> dict[str, Any]:
    """The texts that a Python file assigns to the known names; nothing in it is executed."""
    found = {}
    try:
        for statement in ast.parse(path.read_bytes()).body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                name = statement.targets[0].id
                if name.lower() in (*TEXTS, TEMPLATES):
                    found[name] = ast.literal_eval(statement.value)
    except OSError as problem:
        raise UserError(f"{path}: {problem.strerror}") from None
    except (ValueError, SyntaxError, RecursionError, MemoryError) as problem:
        raise UserError(f"{path}: not a Python file with plain texts ({problem})") from None
    return found


def _check(texts: dict[str, Any]) -> None:
    for key in texts:
        require_known(key, (*TEXTS, TEMPLATES), f"key {key!r}", "prompt_file")
    for key in TEXTS:
        text = texts.get(key, "")
        require(isinstance(text, str), f"prompt_file: {key} must be text, got {text!r:.80}")
    for place in PLACES:
        once = texts.get(SAMPLE, "").count(place) == 1
        require(once, f"prompt_file: {SAMPLE} must hold {place} once")
    templates = texts.get(TEMPLATES)
    require(
        templates is None
        or (isinstance(templates, list) and bool(templates) and all(map(_is_template, templates))),
        f"prompt_file: {TEMPLATES} must be a list of sentences with {{ind}} and {{dep}}",
    )


def _is_template(text: Any) -> bool:
    return isinstance(text, str) and text.count("{ind}") == text.count("{dep}") == 1
