"""Keys and other secrets, which are hidden in everything that is written or printed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

HIDDEN = "[key]"
MIN_SECRET = 8  # characters; local servers have keys such as EMPTY, which replies may contain
# Where a URL may hold a secret: before an @, or in a parameter.
_USER = re.compile(r"(https?://)[^\s/@]{1,500}@")
_PARAMETERS = re.compile(r"(https?://[^\s?#'\"]{0,2000}\?)[^\s'\"]{1,2000}")
# Names of fields with secrets, such as api_key or accessToken; max_tokens is none.
_NAMES = r"(?:key|token|secret|password|authorization)"
_SECRET_NAME = re.compile(rf"{_NAMES}$", re.IGNORECASE)
_SECRET_FIELD = re.compile(rf"({_NAMES}\\*\"\s*:\s*\\*\")[^\"\\]+", re.IGNORECASE)

_remembered: set[str] = set()  # the secrets of URLs and requests of this process


def hider() -> Callable[[str], str]:
    """A function that hides every secret in a text, whether it is written plainly or encoded.

    Secrets are the keys of the environment and of .env, and those of URLs and requests. Text is
    hidden before it is cut, so that no part of a secret is left.
    """
    variables = (dotenv() | dict(os.environ)).items()
    keys = [value for name, value in variables if name.endswith("_API_KEY") and value]
    forms = {form for key in (*keys, *_remembered) for form in (key, key.strip(), unquote(key))}
    # The longest first: a key with a line break contains the key without it.
    secrets = sorted((form for form in forms if len(form.strip()) >= MIN_SECRET), key=len)[::-1]
    encoded = [re.compile("".join(map(_spellings, secret))) for secret in secrets]

    def hide(text: str) -> str:
        for secret in secrets:
            text = text.replace(secret, HIDDEN)
            if secret[:MIN_SECRET] in text[-len(secret) :]:  # a text that was cut within a secret
                text = _without_end(text, secret)
        if any(sign in text for sign in "%\\&"):
            for pattern in encoded:
                text = pattern.sub(HIDDEN, text)
        return text

    return hide


def _spellings(sign: str) -> str:
    """A pattern of the ways in which URLs, JSON and HTML write a character."""
    code = ord(sign)
    percent = "".join(f"%{byte:02x}" for byte in sign.encode("utf-8", "replace"))
    ways = (percent, rf"\\u{code:04x}", f"&#x0*{code:x};")
    return rf"(?:{re.escape(sign)}|\\{re.escape(sign)}|(?i:{'|'.join(ways)})|&#0*{code};)"


def _without_end(text: str, secret: str) -> str:
    lengths = range(len(secret) - 1, MIN_SECRET - 1, -1)
    end = next((length for length in lengths if text.endswith(secret[:length])), 0)
    return f"{text[: len(text) - end]}{HIDDEN}" if end else text


def scrub(text: str) -> str:
    """The text without keys and without secrets in URLs and JSON, safe to write to a file."""
    return scrub_urls(_SECRET_FIELD.sub(rf"\1{HIDDEN}", hider()(text)))


def scrub_urls(text: str) -> str:
    """The text with the secrets in its URLs hidden."""
    return _PARAMETERS.sub(rf"\1{HIDDEN}", _USER.sub(rf"\1{HIDDEN}@", text))


def remember_url(url: str) -> None:
    """Hide the parameters of a URL from now on."""
    query = parse_qsl(urlsplit(url).query)
    _remember(value for name, value in query if "version" not in name)  # which is public


def hide_fields(value: Any, *, secret: bool = False) -> Any:
    """A value of JSON with the texts of secret fields hidden, which are hidden from now on."""
    if isinstance(value, Mapping):
        return {
            name: hide_fields(part, secret=secret or _SECRET_NAME.search(name) is not None)
            for name, part in value.items()
        }
    if isinstance(value, list):
        return [hide_fields(part, secret=secret) for part in value]
    if not (secret and isinstance(value, str)):
        return value
    _remember([value, *value.split()])  # also the token of "Bearer TOKEN"
    return HIDDEN


def _remember(secrets: Iterable[str]) -> None:
    _remembered.update(secret for secret in secrets if len(secret) >= MIN_SECRET)


def variable(name: str) -> str | None:
    """A variable of the environment or of .env in the working folder."""
    return os.environ.get(name) or dotenv().get(name)


def dotenv() -> dict[str, str | None]:
    """The variables of .env in the working folder."""
    if find_spec("dotenv") is None:  # not installed: it is in the extra of the models
        return {}
    return dict(import_module("dotenv").dotenv_values(".env"))
