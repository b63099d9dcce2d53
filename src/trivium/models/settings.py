"""Settings of language models: those that shape replies, and those that control calls."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from itertools import cycle
from pathlib import Path
from typing import Any, Literal, get_args

import orjson

from trivium.core.dialogue import Dialogue, play
from trivium.core.errors import located, require, require_range
from trivium.core.files import read_text
from trivium.core.records import Groups
from trivium.core.task import PresentedItem, Task
from trivium.models.providers import hide_fields

MAX_CONCURRENCY = 1000
MAX_SHOTS = 100
SHOTS_SEED = 4_611_686_018_427_387_904  # of worked examples; no command uses it for items
PROMPT = "{prompt}"  # what a template holds in the place of the prompt
RESERVED_FIELDS = ("model", "messages", "input", "prompt", "stream", "n")  # of requests

# Settings that are files on the command line; in Python, a Path is a file and a str the text.
TEXTS = ("system", "template", "preamble")

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Api = Literal["auto", "chat", "responses", "completions"]


@dataclass(frozen=True)
class Shaping:
    """The settings that shape a model's replies, apart from texts."""

    temp: float | None = None  # the temperature (default: the provider's own)
    # where a reply is cut off, reasoning included (default: no limit but the provider's own, so
    # that reasoning models can finish)
    max_output_tokens: int | None = None
    reasoning_effort: Effort | None = None  # how much a model reasons (default: the provider's own)
    # a JSON object with additional fields of every request; a field whose name ends in key, token,
    # secret, password or authorization is hidden wherever it is written
    extra_body: str | None = None
    # the protocol (auto: responses at OpenAI, chat elsewhere, the other where a server lacks it);
    # completions is for base models: the prompt is one text that ends where the reply begins
    api: Api = "auto"
    # completions: texts that end a reply (default: the next turn of the user, without a template)
    stop: tuple[str, ...] = ()
    structured: bool = False  # force replies into the benchmark's JSON schema, if it has one
    restate: bool = False  # ask once more, in the same conversation, if a reply has no answer
    shots: int = 0  # worked examples before every item, as messages

    def __post_init__(self) -> None:
        require_range(self, 0, None, "temp")
        require_range(self, 1, None, "max_output_tokens")
        require_range(self, 0, MAX_SHOTS, "shots")
        for name, allowed in (("reasoning_effort", get_args(Effort)), ("api", get_args(Api))):
            value = getattr(self, name)
            require(
                value is None or value in allowed,
                f"{name} must be one of {', '.join(allowed)}, got {value!r}",
            )
        if self.api == "completions":
            require(not self.structured, "structured does not go with api completions")
        else:
            for name in ("preamble", "stop"):
                require(not getattr(self, name), f"{name} goes with api completions")
        object.__setattr__(self, "stop", tuple(self.stop))
        if self.extra_body is not None:
            body = read_extra_body(self.extra_body)
            hide_fields(body)  # from now on
            extra = json.dumps(body, sort_keys=True) if body else None
            object.__setattr__(self, "extra_body", extra)


@dataclass(frozen=True)
class Settings(Shaping):
    """The settings that shape a model's replies; they are part of an evaluation's identity."""

    system: str | None = None  # replaces the benchmark's system message
    template: str | None = None  # a text around every prompt, with {prompt} in its place
    preamble: str | None = None  # a text before everything else, for completions

    def __post_init__(self) -> None:
        super().__post_init__()
        template = self.template
        require(template is None or PROMPT in template, f"template must hold {PROMPT} once or more")

    def to_dict(self) -> dict[str, Any]:
        """Every field, with the secrets of `extra_body` hidden."""
        body = hide_fields(read_extra_body(self.extra_body))
        return asdict(self) | {"extra_body": json.dumps(body, sort_keys=True) if body else None}


@dataclass(frozen=True)
class ModelOptions(Shaping):
    """The options of a command that calls models; built-in solvers ignore them."""

    system: Path | str | None = None  # a file with a system message for the task
    # a file with a text around every prompt, {prompt} in its place
    template: Path | str | None = None
    preamble: Path | str | None = None  # completions: a file with a text before everything else
    # auto: direct for single-turn tasks on OpenAI-compatible endpoints, Inspect otherwise
    backend: Literal["auto", "direct", "inspect"] = "auto"
    base_url: str | None = None  # the URL of an OpenAI-compatible endpoint, up to /v1
    concurrency: int = 32  # how many attempts run at once
    max_retries: int = 8  # how often a failed call is retried
    retry_backoff: float = 0.5  # seconds before the first retry, doubled for each further one
    timeout: float = 600.0  # seconds that a call may take
    log_every: int | None = None  # attempts between lines of progress (default: by time)
    save_prompt: bool = False  # keep the prompt in every record
    retry_errors: bool = True  # repeat attempts that failed in an earlier run
    confirm_above: int = 1000  # ask before sending more requests than this
    yes: bool = False  # send without asking

    def __post_init__(self) -> None:
        super().__post_init__()
        require_range(self, 1, MAX_CONCURRENCY, "concurrency")
        require_range(self, 0, None, "max_retries", "retry_backoff", "confirm_above")
        require_range(self, 1, None, "log_every")
        require(self.timeout > 0, f"timeout must be above 0, got {self.timeout}")

    def settings(self) -> Settings:
        """The settings among the options, with texts read from files."""
        given = {one.name: getattr(self, one.name) for one in fields(Shaping)}
        for key in TEXTS:
            text = getattr(self, key)
            with located(key):
                given[key] = read_text(text).strip() if isinstance(text, Path) else text
        return Settings(**given)


def is_model(solver: str) -> bool:
    """Whether a solver is a language model, named PROVIDER/MODEL."""
    return "/" in solver.partition(":")[0]


def read_extra_body(given: str | Mapping[str, Any] | None) -> dict[str, Any]:
    """The additional fields of every request."""
    if given is None:
        return {}
    body: Any = None
    try:
        body = json.loads(given) if isinstance(given, str) else given
        orjson.dumps(body)  # as in a request, which is not nested too deeply
    except (ValueError, TypeError, RecursionError):
        body = None
    # What was given is not repeated: it may hold a key.
    require(isinstance(body, Mapping), """extra_body must be a JSON object such as {"top_k": 20}""")
    for name in RESERVED_FIELDS:
        require(name not in body, f"extra_body must not set {name}, which Trivium sets itself")
    return dict(body)


def opening(item: PresentedItem, settings: Settings) -> list[str]:
    """The first messages, of the user and the assistant in turn; the last one is the prompt."""
    examples = _examples(item.task, settings.shots, settings.template) if settings.shots else ()
    return [*examples, _in_template(item.prompt, settings.template)]


def as_turns(messages: Sequence[str]) -> list[dict[str, str]]:
    """Messages of the user and the assistant in turn, as those of a chat."""
    roles = cycle(("user", "assistant"))
    return [{"role": role, "content": text} for text, role in zip(messages, roles, strict=False)]


def _in_template(prompt: str, template: str | None) -> str:
    return prompt if template is None else template.replace(PROMPT, prompt)


@lru_cache(maxsize=64)
def _examples(task: Task, shots: int, template: str | None) -> tuple[str, ...]:
    """Items of another seed with right replies; games are played by the benchmark's ceiling."""
    solvers = task.benchmark.solvers.values()
    best = next(solver for solver in solvers if solver.role == "ceiling")
    messages: list[str] = []
    for item in task.items(shots, SHOTS_SEED):
        dialogue = Dialogue(item)
        if task.benchmark.multi_turn:
            play(dialogue, best)
        else:
            dialogue.send(item.gold)
        messages += [_in_template(dialogue.prompt, template), *dialogue.messages[1:]]
    return tuple(messages)


def framing_groups(settings: Settings) -> Groups:
    """The groups of results by which runs with other framings are distinguished."""
    groups: Groups = {"shots": settings.shots} if settings.shots else {}
    for name in ("template", "preamble"):
        if (text := getattr(settings, name)) is not None:
            groups[name] = hashlib.blake2b(text.encode(), digest_size=3).hexdigest()
    return groups
