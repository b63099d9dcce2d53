"""Inspect models from our settings."""

from __future__ import annotations

from typing import Any

from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.model import Model as InspectModel
from rich.text import Text

from trivium.core.errors import UserError, require
from trivium.core.text import one_line
from trivium.models.inspect.client import ReadingClient
from trivium.models.providers import find_address, find_key, is_compatible
from trivium.models.secrets import hide_fields, hider
from trivium.models.settings import Model, read_extra_body

# OpenAI-compatible providers whose own Inspect provider is used. The others use `openai-api`:
# Inspect's provider for vLLM would start servers and set environment variables.
OWN_PROVIDER = {"openai", "openrouter"}


def inspect_model(model: Model) -> InspectModel:
    """The Inspect model; UserError if a key, a URL or a package is missing."""
    options, settings = model.options, model.settings
    body = read_extra_body(settings.extra_body)
    shown = hide_fields(body)  # Inspect writes it into its log
    secrets = {name: value for name, value in body.items() if value != shown[name]}
    require(
        not secrets or is_compatible(model),
        f"extra_body can hold a secret at OpenAI-compatible endpoints only ({', '.join(secrets)})",
    )
    config = GenerateConfig(
        temperature=settings.temp,
        max_tokens=settings.max_output_tokens,
        reasoning_effort=settings.reasoning_effort,
        extra_body=shown or None,
        attempt_timeout=max(1, round(options.timeout)),
        max_retries=options.max_retries,
        max_connections=options.concurrency,
    )
    completions = settings.api == "completions"
    require(
        not completions or is_compatible(model),
        f"api completions needs an OpenAI-compatible endpoint: give --base_url for {model.name}",
    )
    name, url, key = model.name, None, find_key(model.provider)[1]
    more: dict[str, Any] = {}
    if is_compatible(model):
        address = find_address(model)
        name = model.name if model.provider in OWN_PROVIDER else f"openai-api/{model.name}"
        url, key = address.base_url.partition("?")[0], address.key
        more = {
            "default_query": address.query,
            "max_retries": 0,  # of the client, since they would multiply Inspect's
            "http_client": ReadingClient(secrets, settings if completions else None),
        }
        if settings.api != "auto":
            more["responses_api"] = settings.api == "responses"
    try:
        made = get_model(name, config=config, base_url=url, api_key=key, memoize=False, **more)
    except ValueError as problem:  # an unknown provider
        raise UserError(
            f"{problem} For an OpenAI-compatible endpoint, give its URL with --base_url"
        ) from None
    except Exception as problem:  # a package or a key is missing
        text = Text.from_markup(str(getattr(problem, "message", problem))).plain
        raise UserError(one_line(hider()(text)).removeprefix("ERROR: ")) from None
    made.model_args = {}  # they would be written to the log
    return made
