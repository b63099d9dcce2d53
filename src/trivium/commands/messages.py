"""What tyro prints, in our words: errors as one sentence, help without noise."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator
from typing import NamedTuple

_FRAME = "|\u2502 "
WIDTH = 80
COLUMN = 26  # where the help of a flag begins
# What stands for the value of a flag, where its type says too little.
METAVARS = {
    "--approach": "NAME",
    "--base_url": "URL",
    "--benchmarks": "NAME ...",
    "--config": "FILE",
    "--dataset": "NAME",
    "--extra_body": "JSON",
    "--hypotheses": "MACHINE ...",
    "--model": "PROVIDER/MODEL",
    "--preset": "PRESET",
    "--prices": "FILE",
    "--ray_address": "HOST:PORT",
    "--rules": "RULE ...",
    "--solver": "SOLVER",
    "--system": "FILE",
}


class Flag(NamedTuple):
    """A flag or an argument in tyro's help."""

    names: tuple[str, ...]  # other spellings first; empty for an argument
    metavar: str
    about: str

    @property
    def name(self) -> str:
        """The spelling that help shows; `--[no_]data` for what is on unless it is turned off."""
        name = [one for one in ("", *self.names) if not one.startswith("--no_")][-1]
        return f"--[no_]{name[2:]}" if "(default: True)" in self.about else name

    def lines(self) -> list[str]:
        """The flag and its help, wrapped."""
        metavar = METAVARS.get(self.name)
        name = "  " + f"{self.name} {metavar or self.metavar}".strip()
        about = self.about.replace("(default: False)", "").replace("default: True", "default: on")
        wrapped = textwrap.wrap(about, WIDTH - COLUMN, break_on_hyphens=False)
        if len(name) >= COLUMN - 1:
            return [name, *(" " * COLUMN + line for line in wrapped)]
        first, *rest = wrapped or [""]
        return [f"{name:<{COLUMN}}{first}".rstrip(), *(" " * COLUMN + line for line in rest)]


def help_page(program: str, about: str, text: str) -> str:
    """The help of a command: how it is called, what it does, examples, and tyro's list of flags."""
    groups = list(read_help(text))
    arguments = [flag.metavar for _, flags in groups for flag in flags if not flag.names]
    lines = [" ".join(["usage:", program, *arguments, "[flags]"]), "", *about_lines(about)]
    for heading, flags in groups:
        if shown := [flag for flag in flags if "--help" not in flag.names]:
            lines += ["", *textwrap.wrap(f"{heading}:", WIDTH)]
            lines += [line for flag in shown for line in flag.lines()]
    return "\n".join(lines) + "\n"


def about_lines(about: str) -> list[str]:
    """A description, wrapped, and its examples, each on a line that can be copied."""
    said, *examples = re.split(r"\s*Example: ", about)
    paragraphs = [textwrap.wrap(part, WIDTH, break_on_hyphens=False) for part in said.split("\n\n")]
    lines = [line for part in paragraphs for line in (*part, "")]
    title = "example:" if len(examples) == 1 else "examples:"
    return [*lines, title, *(f"  {one}" for one in examples)]


def read_help(text: str) -> Iterator[tuple[str, list[Flag]]]:
    """The groups of tyro's help, each with its heading and its flags."""
    plain = "\n".join(line.rstrip() for line in text.splitlines())
    for title, block in re.findall(r"^ (\S.*)\n -+\n((?: {2}.*\n?)*)", plain, re.MULTILINE):
        about, _, listed = f"\n{block}".rpartition(f"\n  {'-' * 20}")
        heading = "arguments" if title.startswith("positional") else "flags"
        entries = re.split(r"\n(?=  [^\s-]|  --?\w)", f"\n{listed.lstrip('-')}")[1:]
        yield " ".join(about.split()).removesuffix(".") or heading, [*map(_flag, entries)]


def _flag(entry: str) -> Flag:
    head, *rest = re.split(r"\s{2,}", entry.strip(), maxsplit=1)
    words = head.split(", ") if head.startswith("-") else []
    metavar = (words[-1].partition(" ")[2] if words else head).removeprefix("{None}|")
    metavar = metavar.replace("{None,", "{").replace("STR", "TEXT")
    metavar = re.sub(r"^\[+(\w+) \[\w+ \.\.\.\]+$", r"\1 ...", metavar)
    about = " ".join(" ".join(rest).split())
    about = re.sub(r"\s*\((?:default: (?:None|'')?|required)\)", "", about)
    return Flag(tuple(word.split()[0] for word in words), metavar, about)


def error_sentence(box: str) -> str:
    """An error box as one line that names the flag, the value and what is allowed."""
    parts: list[str] = []
    for line in re.sub(r"\x1b\[[0-9;]*m", "", box).splitlines():
        if re.search(r"[-\u2500]{4}", line):  # a frame or a rule, its title aside
            parts.append("")
        elif parts:
            parts[-1] = f"{parts[-1]} {line.strip(_FRAME)}".strip()
    text = re.sub(r"\s+", " ", parts[0] if parts else box).strip()
    text = re.sub(r"(?:--\w+/)+(?=--)", "", text)  # other spellings of the same flag
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
    allowed = found[3].replace("'", "").split(", ")
    if "None" in allowed:  # then tyro lists them in the order of a set
        allowed = sorted(set(allowed) - {"None"})
    return f"{found[2]} must be one of {', '.join(allowed)}, got {found[1]}"


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
