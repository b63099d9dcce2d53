"""What tyro prints, in our words: errors as one sentence, help without noise."""

from __future__ import annotations

import re
from collections.abc import Callable

_FRAME = "|\u2502 "


def plain_help(text: str) -> str:
    """The help without defaults that say nothing."""
    text = re.sub(r"\s*\(default:\s*(None\s*)?\)", "", text)
    text = re.sub(r"^ (?:\w+\.)?(\w+) options$", r" \1", text, flags=re.MULTILINE)
    text = text.replace("{None,", "{")
    text = re.sub(r"\{None\}\|(\w+)", rf"\1{' ' * len('{None}|')}", text)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def spaced_examples(about: str) -> str:
    """A description with its examples in paragraphs of their own."""
    return about.replace("\nExample:", "\n\nExample:")


def error_sentence(box: str) -> str:
    """An error box as one line that names the flag, the value and what is allowed."""
    parts: list[str] = []
    for line in re.sub(r"\x1b\[[0-9;]*m", "", box).splitlines():
        if re.search(r"[-\u2500]{4}", line):  # a frame or a rule, its title aside
            parts.append("")
        elif parts:
            parts[-1] = f"{parts[-1]} {line.strip(_FRAME)}".strip()
    text = re.sub(r"\s+", " ", parts[0] if parts else box).strip()
    for pattern, sentence in _ERRORS:
        if (found := re.fullmatch(pattern, text)) is not None:
            return sentence(found) + _suggestion(parts[1:])
    return text


def _suggestion(parts: list[str]) -> str:
    """The known flag that is most like the unknown one, in brackets."""
    near = (re.search(r"--[\w-]+", part) for part in parts if part.startswith("Perhaps"))
    similar = (re.search(r":\s+(--[\w-]+)", part) for part in parts if "similar to" in part)
    flags = [found[0] for found in near if found] + [found[1] for found in similar if found]
    return f" (did you mean {flags[0]}?)" if flags else ""


def _choices(found: re.Match[str]) -> str:
    return f"{found[2]} must be one of {found[3].replace(chr(39), '')}, got {found[1]}"


# tyro's errors, and the same as our sentences.
_ERRORS: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
    (
        r"Error parsing (--\S+): .*invalid literal for int\(\).*?: (['\"].*)",
        lambda found: f"{found[1]} must be a whole number, got {found[2]}",
    ),
    (
        r"Error parsing (--\S+): .*could not convert string to float: (['\"].*)",
        lambda found: f"{found[1]} must be a number, got {found[2]}",
    ),
    (r"invalid choice (.*) for argument '(--\S+)'\. Expected one of \((.*?),? ?\) ?\.?", _choices),
    (r"Missing value for argument '(--\S+)'\..*", lambda found: f"{found[1]} needs a value"),
    (
        r"Missing from trivium \S+: (\S+) (.*) \(required\)",
        lambda found: f"{found[1]} is missing: {found[2]}",
    ),
    (
        r"Unrecognized options: (.*)",
        lambda found: f"not understood: {found[1].replace(', ', ' ')}",
    ),
)
