"""Providers: the full names of their models, their URLs and keys."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

from trivium.core.errors import UserError, require
from trivium.models.secrets import remember_url, scrub_urls, variable
from trivium.models.settings import Model

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
class Address:
    """An endpoint with its key, which the repr hides."""

    base_url: str = field(repr=False)  # its parameters may be secret
    key: str = field(repr=False)

    def url(self, path: str) -> str:
        """The URL of a path below the base."""
        scheme, host, base, query, _ = urlsplit(self.base_url)
        return urlunsplit((scheme, host, base.rstrip("/") + path, query, ""))

    @property
    def shown_url(self) -> str:
        """The URL without secrets."""
        return scrub_urls(self.base_url)


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
    require(
        base_url is not None,
        f"provider {name!r} has no known URL; give --base_url, use one of "
        f"{', '.join(PROVIDERS)}, or --backend inspect",
    )
    assert base_url is not None
    _check_url(base_url)
    remember_url(base_url)
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
