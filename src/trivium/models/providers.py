"""Models and their providers: names, URLs, and keys, which are hidden in all that is written."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from trivium.core.errors import UserError, require

if TYPE_CHECKING:
    from trivium.models.settings import ModelOptions, Settings

# The default URLs of well-known OpenAI-compatible endpoints; those that use https need a key.
PROVIDERS = {
    "openai": "https://api.openai.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "vllm": "http://localhost:8000/v1",
    "ollama": "http://localhost:11434/v1",
    "lmstudio": "http://localhost:1234/v1",
    "llamacpp": "http://localhost:8080/v1",
}

LOCAL = "local"  # the provider of models that Trivium serves itself
# The beginnings of the names of each provider's models.
FAMILIES = {
    "anthropic": r"claude-",
    "deepseek": r"deepseek-",
    "google": r"gemini-",
    "grok": r"grok-",
    "mistral": r"(?:mistral|ministral|magistral|codestral|devstral|pixtral)-|open-mi[sx]",
    "moonshot": r"(?:kimi|moonshot)-",
    "openai": r"(?:chat)?gpt-|o\d(?:-|$)|codex-|ft:gpt-",
    "perplexity": r"sonar(?:-|$)",
}

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


def full_model_name(name: str) -> str:
    """The name as PROVIDER/MODEL; UserError if the provider is unknown."""
    full = known_model(name)
    if full is None:
        hint = "such as openai/gpt-4.1-mini or ollama/llama3.2"
        if name and "/" not in name:
            hint = (
                f"so that it is known who serves it: type openai/{name}, ollama/{name}, "
                f"openrouter/VENDOR/{name}, or anyname/{name} --base_url URL"
            )
        raise UserError(f"model must be PROVIDER/MODEL, {hint}; got {name!r}")
    return full


def known_model(name: str) -> str | None:
    """The name as PROVIDER/MODEL; None if it is neither that nor a well-known model."""
    provider, slash, served = name.partition("/")
    if slash:
        return name if provider and served else None
    for family, pattern in FAMILIES.items():
        if re.match(pattern, name, re.IGNORECASE):
            return f"{family}/{name}"
    return None


@dataclass(frozen=True)
class Model:
    """A model with its settings and options."""

    name: str  # PROVIDER/MODEL
    settings: Settings
    options: ModelOptions

    def __post_init__(self) -> None:
        require(
            bool(self.provider and self.served_name),
            f"model must be PROVIDER/MODEL such as openai/gpt-4.1-mini, got {self.name!r}",
        )

    @property
    def provider(self) -> str:
        """The PROVIDER of the name."""
        return self.name.partition("/")[0]

    @property
    def served_name(self) -> str:
        """The name that the provider gives the model."""
        return self.name.partition("/")[2]


@dataclass(frozen=True)
class Address:
    """An endpoint with its key, which the repr hides."""

    base_url: str = field(repr=False)  # its parameters may be secret
    key: str = field(repr=False)

    def url(self, path: str) -> str:
        """The URL of a path below the base."""
        scheme, host, base, query, _ = urlsplit(self.base_url)
        return urlunsplit((scheme, host, base.rstrip("/") + path, query, ""))


def is_local(model: Model) -> bool:
    """Whether Trivium serves the model itself: local/smollm2-135m or local/FILE.gguf."""
    return model.provider == LOCAL and model.options.base_url is None


def is_compatible(model: Model) -> bool:
    """Whether the model has an OpenAI-compatible endpoint with a known URL."""
    return model.provider in PROVIDERS or model.options.base_url is not None


def find_address(model: Model) -> Address:
    """The endpoint of a model, from its options, the environment and .env."""
    name = model.provider
    known = PROVIDERS.get(name)
    base_url = model.options.base_url
    if base_url is None and known is not None:
        base_url = variable(f"{_upper(name)}_BASE_URL") or known
    if base_url is None:
        raise UserError(
            f"provider {name!r} has no known URL; give --base_url, use one of "
            f"{', '.join(PROVIDERS)}, or --backend inspect"
        )
    _check_url(base_url)
    # The parameters of the URL are hidden from now on, apart from a version.
    query = parse_qsl(urlsplit(base_url).query)
    _remember(value for name, value in query if "version" not in name)
    key_name, key = find_key(name)
    needs_key = known is not None and known.startswith("https") and model.options.base_url is None
    require(
        bool(key) or not needs_key,
        f"{key_name} is not set: put it into the environment or into a .env file here",
    )
    return Address(base_url.rstrip("/"), key or "none-needed")


def find_key(provider: str) -> tuple[str, str | None]:
    """The name of the variable with a provider's key, and the key, stripped."""
    name = f"{_upper(provider)}_API_KEY"
    key = (variable(name) or "").strip()
    if odd := re.search(r"^[\"']|[^!-~]", key):
        raise UserError(
            f"{name} is not a key: it holds the character U+{ord(odd[0]):04X}; was it copied with "
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
