"""Model names as users type them: a well-known model needs no provider."""

from __future__ import annotations

import re

from trivium.core.errors import UserError

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
