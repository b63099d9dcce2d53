"""Where models are served, and the key that opens the door; the key is never written anywhere."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from trivium.core.errors import import_extra, require
from trivium.models.settings import Model

HIDDEN = "[key]"
MIN_SECRET = 8  # local servers are given keys such as EMPTY, which replies may well contain
MAX_ERROR = 500  # characters of an error that are kept: bodies of replies can be any length


@dataclass(frozen=True)
class Provider:
    """An OpenAI-compatible endpoint that many people have."""

    base_url: str
    needs_key: bool = False


PROVIDERS = {
    "openai": Provider("https://api.openai.com/v1", needs_key=True),
    "openrouter": Provider("https://openrouter.ai/api/v1", needs_key=True),
    "vllm": Provider("http://localhost:8000/v1"),
    "ollama": Provider("http://localhost:11434/v1"),
    "lmstudio": Provider("http://localhost:1234/v1"),
    "llamacpp": Provider("http://localhost:8080/v1"),
}


@dataclass(frozen=True)
class Address:
    """An endpoint with its key, which no text of this object shows."""

    base_url: str
    key: str = field(repr=False)
    key_name: str

    def scrub(self, text: str) -> str:
        """The text without the key."""
        secret = len(self.key) >= MIN_SECRET and self.key in text
        return text.replace(self.key, HIDDEN) if secret else text

    def sentence(self, problem: object) -> str:
        """An error as one printable line of bounded length, without the key."""
        line = re.sub(r"[\x00-\x1f\x7f-\x9f\s]+", " ", self.scrub(str(problem))).strip()
        return line if len(line) <= MAX_ERROR else line[:MAX_ERROR] + "..."


def api_keys() -> set[str]:
    """Every key in the environment and in .env."""
    return {
        value
        for name, value in (_dotenv() | dict(os.environ)).items()
        if name.endswith("_API_KEY") and value and len(value) >= MIN_SECRET
    }


def key_hider() -> Callable[[str], str]:
    """A function that removes every key from a text."""
    keys = api_keys()

    def hide(text: str) -> str:
        for key in keys:
            text = text.replace(key, HIDDEN)
        return text

    return hide


@contextmanager
def keys_hidden_in_logs() -> Iterator[None]:
    """No message of any logger holds a key, whoever writes it and wherever it goes."""
    hide, made = key_hider(), logging.getLogRecordFactory()

    def factory(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = made(*args, **kwargs)
        message = record.getMessage()
        if (clean := hide(message)) != message:
            record.msg, record.args = clean, ()
        return record

    logging.setLogRecordFactory(factory)
    try:
        yield
    finally:
        logging.setLogRecordFactory(made)


def is_compatible(model: Model) -> bool:
    """Whether the model is behind an OpenAI-compatible endpoint that we know the address of."""
    return model.provider in PROVIDERS or model.options.base_url is not None


def find_address(model: Model) -> Address:
    """Where the model is and its key, from flags, the environment and .env."""
    name = model.provider
    known = PROVIDERS.get(name)
    base_url = model.options.base_url
    if base_url is None and known is not None:
        base_url = _variable(f"{_upper(name)}_BASE_URL") or known.base_url
    require(
        base_url is not None,
        f"provider {name!r} has no address here; give --base_url, or use one of "
        f"{', '.join(PROVIDERS)}, or --engine inspect",
    )
    assert base_url is not None
    require(
        bool(re.match(r"https?://[^\s@]+$", base_url)),
        "base_url must be an http or https address without a user name in it",
    )
    key_name = f"{_upper(name)}_API_KEY"
    key = _variable(key_name)
    require(
        bool(key) or not (known and known.needs_key and model.options.base_url is None),
        f"{key_name} is not set: put it into the environment or into a .env file here",
    )
    return Address(base_url.rstrip("/"), key or "none-needed", key_name)


def _upper(provider: str) -> str:
    return re.sub(r"[^A-Z0-9]", "_", provider.upper())


def _variable(name: str) -> str | None:
    """A variable of the environment, or of the .env file of the working folder."""
    return os.environ.get(name) or _dotenv().get(name)


def _dotenv() -> dict[str, str | None]:
    values: dict[str, str | None] = import_extra("dotenv", "models").dotenv_values(".env")
    return dict(values)
