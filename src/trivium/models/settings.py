"""How a language model is asked: the flags of every command that puts one to work."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from trivium.core.errors import UserError, require

MAX_CONCURRENCY = 1000  # as many connections as the client keeps


@dataclass(frozen=True)
class ModelFlags:
    """How models are asked; nothing here matters to a built-in solver."""

    # auto: direct for single-turn tasks on OpenAI-compatible endpoints, Inspect otherwise
    engine: Literal["auto", "direct", "inspect"] = "auto"
    base_url: str | None = None  # the address of an OpenAI-compatible endpoint, up to /v1
    concurrency: int = 32  # how many attempts are under way at once
    max_retries: int = 8  # how often a failed call is tried again
    # seconds before the first retry, doubled for each one after it (Inspect has its own rule)
    retry_backoff: float = 0.5
    timeout: float = 120.0  # seconds that a call may take
    temp: float | None = None  # the temperature (default: the provider's own)
    max_output_tokens: int = 4096  # where a reply is cut off, reasoning included
    log_every: int | None = None  # say how far it is after so many attempts (default: by time)
    save_prompt: bool = False  # keep the prompt in every record
    system: Path | None = None  # a file whose text goes before the task as the system message
    retry_errors: bool = False  # ask again where calls had failed for good
    confirm_above: int = 1000  # ask before sending more requests than this
    yes: bool = False  # send without asking

    def __post_init__(self) -> None:
        require(
            1 <= self.concurrency <= MAX_CONCURRENCY,
            f"concurrency must be in 1..{MAX_CONCURRENCY}, got {self.concurrency}",
        )
        require(self.max_retries >= 0, f"max_retries must be at least 0, got {self.max_retries}")
        require(
            self.retry_backoff >= 0, f"retry_backoff must be at least 0, got {self.retry_backoff}"
        )
        require(self.timeout > 0, f"timeout must be above 0, got {self.timeout}")
        require(self.temp is None or self.temp >= 0, f"temp must be at least 0, got {self.temp}")
        require(
            self.max_output_tokens >= 1,
            f"max_output_tokens must be at least 1, got {self.max_output_tokens}",
        )
        require(
            self.log_every is None or self.log_every >= 1,
            f"log_every must be at least 1, got {self.log_every}",
        )
        require(
            self.confirm_above >= 0, f"confirm_above must be at least 0, got {self.confirm_above}"
        )


@dataclass(frozen=True)
class ModelSettings:
    """One model and how it is asked, with the system message read from its file."""

    model: str  # PROVIDER/MODEL
    flags: ModelFlags
    system: str | None = None

    @property
    def provider(self) -> str:
        """Who serves the model."""
        return self.model.partition("/")[0]

    @property
    def served_name(self) -> str:
        """What its provider calls the model."""
        return self.model.partition("/")[2]

    def shaping(self) -> dict[str, Any]:
        """What shapes the replies: it must stay the same when a folder is gone on with."""
        return {
            "temp": self.flags.temp,
            "max_output_tokens": self.flags.max_output_tokens,
            "system": self.system,
        }


def model_settings(model: str, flags: ModelFlags) -> ModelSettings:
    """The settings of one model, checked."""
    provider, _, name = model.partition("/")
    require(
        bool(provider and name),
        f"model must be PROVIDER/MODEL such as openai/gpt-4.1-mini, got {model!r}",
    )
    return ModelSettings(model, flags, None if flags.system is None else read_system(flags.system))


def folder_name(model: str) -> str:
    """A model's name as the name of one folder."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", model)


def read_system(path: Path) -> str:
    """The text of a file that goes before the task as the system message."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError as problem:
        raise UserError(f"system: {path}: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"system: {path}: not UTF-8 text") from None
