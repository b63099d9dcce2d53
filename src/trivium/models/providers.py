"""URLs and keys of providers, and the removal of keys from everything that is written."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from trivium.core.errors import UserError, require
from trivium.models.settings import Model

HIDDEN = "[key]"
MIN_SECRET = 8  # characters; local servers have keys such as EMPTY, which replies may contain
MAX_ERROR = 500  # characters of an error that are kept
# Where a URL may hold a secret: before an @, or in a parameter (versions are public).
_IN_URL = re.compile(r"(https?://)([^\s/@]{1,500}@)?([^\s?#'\"]{0,2000})(\?[^\s'\"]{0,2000})?")
_PUBLIC = re.compile(r"([?&](?:api-)?version=)([\w.-]+)")


# The default URLs of well-known OpenAI-compatible endpoints; those that use https need a key.
PROVIDERS = {
    "openai": "https://api.openai.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "vllm": "http://localhost:8000/v1",
    "ollama": "http://localhost:11434/v1",
    "lmstudio": "http://localhost:1234/v1",
    "llamacpp": "http://localhost:8080/v1",
}


@dataclass(frozen=True)
class Address:
    """An endpoint with its key, which the repr hides."""

    base_url: str = field(repr=False)  # its parameters may be secret
    key: str = field(repr=False)
    key_name: str

    def url(self, path: str) -> str:
        """The URL of a path below the base."""
        scheme, host, base, query, _ = urlsplit(self.base_url)
        return urlunsplit((scheme, host, base.rstrip("/") + path, query, ""))

    @property
    def query(self) -> dict[str, str]:
        """The parameters of the URL, which every request needs."""
        return dict(parse_qsl(urlsplit(self.base_url).query))

    @property
    def shown_url(self) -> str:
        """The URL without secrets."""
        return scrub_urls(self.base_url)

    def hide_key(self, text: str) -> str:
        """The text without the key."""
        for secret in {self.key, *_url_secrets(self.base_url)}:
            if len(secret) >= MIN_SECRET and secret in text:
                text = text.replace(secret, HIDDEN)
        return text

    def error_line(self, text: str) -> str:
        """An error as one printable line of bounded length, without the key."""
        return one_line(scrub_urls(self.hide_key(text)))


def one_line(text: str) -> str:
    """A text as one printable line of bounded length."""
    line = re.sub(r"[\x00-\x1f\x7f-\x9f\s]+", " ", text).strip()
    return line if len(line) <= MAX_ERROR else line[:MAX_ERROR] + "..."


def scrub_urls(text: str) -> str:
    """The text without the user names and parameters of URLs, which may be secret."""

    def scrubbed(found: re.Match[str]) -> str:
        start, user, rest, query = found.groups()
        kept = "".join(f"{name}{value}" for name, value in _PUBLIC.findall(query or ""))
        kept = kept.replace("&", "?", 1) if kept.startswith("&") else kept
        hidden = "" if not query or kept == query else f"{'&' if kept else '?'}{HIDDEN}"
        return f"{start}{f'{HIDDEN}@' if user else ''}{rest}{kept}{hidden}"

    return _IN_URL.sub(scrubbed, text)


def scrub(text: str) -> str:
    """The text without keys and without secrets in URLs, safe to write to a file."""
    return scrub_urls(key_hider()(text))


def _url_secrets(url: str) -> set[str]:
    return {value for name, value in parse_qsl(urlsplit(url).query) if "version" not in name}


# The secrets in base URLs that are in use; Inspect writes these URLs into its logs.
_secrets_of_urls: set[str] = set()


def key_hider() -> Callable[[str], str]:
    """A function that removes every key of the environment and of .env from a text."""
    variables = (_dotenv() | dict(os.environ)).items()
    raw = [value for name, value in variables if name.endswith("_API_KEY") and value]
    found = {key for key in (*raw, *map(str.strip, raw)) if len(key.strip()) >= MIN_SECRET}
    # The longest first: a key with a line break contains the key without it.
    keys = sorted(found | _secrets_of_urls, key=len, reverse=True)

    def hide(text: str) -> str:
        for key in keys:
            text = text.replace(key, HIDDEN)
        return text

    return hide


def is_compatible(model: Model) -> bool:
    """Whether the model has an OpenAI-compatible endpoint with a known URL."""
    return model.provider in PROVIDERS or model.options.base_url is not None


def find_address(model: Model) -> Address:
    """The endpoint of a model, from its options, the environment and .env."""
    name = model.provider
    known = PROVIDERS.get(name)
    base_url = model.options.base_url
    if base_url is None and known is not None:
        base_url = _variable(f"{_upper(name)}_BASE_URL") or known
    require(
        base_url is not None,
        f"provider {name!r} has no known URL; give --base_url, use one of "
        f"{', '.join(PROVIDERS)}, or --backend inspect",
    )
    assert base_url is not None
    _check_url(base_url)
    _secrets_of_urls.update(part for part in _url_secrets(base_url) if len(part) >= MIN_SECRET)
    key_name, key = find_key(name)
    needs_key = known is not None and known.startswith("https") and model.options.base_url is None
    require(
        bool(key) or not needs_key,
        f"{key_name} is not set: put it into the environment or into a .env file here",
    )
    return Address(base_url.rstrip("/"), key or "none-needed", key_name)


def find_key(provider: str) -> tuple[str, str | None]:
    """The name of the variable with a provider's key, and the key, stripped."""
    name = f"{_upper(provider)}_API_KEY"
    key = (_variable(name) or "").strip()
    odd = next((character for character in key if not "!" <= character <= "~"), None)
    if odd is None and key[:1] in "\"'":
        odd = key[:1] or None
    if odd is not None:
        raise UserError(
            f"{name} is not a key: it holds the character U+{ord(odd):04X}; was it copied with "
            "quotes or a line break?"
        )
    return name, key or None


def _check_url(url: str) -> None:
    """Refuse an invalid base URL, without printing it: it may hold a secret."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        (parts.hostname or "").encode("idna").decode("idna")
    except ValueError:  # an invalid port, brackets, or a label that is too long
        valid = False
    require(
        valid and parts.username is None and not re.search(r"\s", url),
        "base_url must be an http or https URL such as http://localhost:8000/v1, without a user "
        "name in it",
    )


def _upper(provider: str) -> str:
    return re.sub(r"[^A-Z0-9]", "_", provider.upper())


def _variable(name: str) -> str | None:
    """A variable of the environment or of .env in the working folder."""
    return os.environ.get(name) or _dotenv().get(name)


def _dotenv() -> dict[str, str | None]:
    if find_spec("dotenv") is None:  # not installed: it is in the extra of the models
        return {}
    return dict(import_module("dotenv").dotenv_values(".env"))
