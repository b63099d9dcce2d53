"""Inspect models; OpenAI-compatible endpoints are called as on the direct backend."""

from __future__ import annotations

from typing import Any, Literal

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    StopReason,
    get_model,
    messages_to_openai,
    modelapi,
)
from inspect_ai.model import Model as InspectModel
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo
from rich.text import Text

from trivium.core.dialogue import Reply
from trivium.core.errors import UserError, require
from trivium.core.records import DECLINING, LENGTH
from trivium.core.text import one_line
from trivium.models import bodies
from trivium.models.backends import CallError, retry_seconds
from trivium.models.endpoint import Endpoint
from trivium.models.providers import (
    PROVIDERS,
    Model,
    find_address,
    find_key,
    hide_fields,
    hider,
    is_compatible,
)
from trivium.models.settings import read_extra_body

# At their default URL, these use Inspect's own client and not our endpoint: it sends a model's
# reasoning back between the moves of a game.
NATIVE_PROVIDERS = {"openai", "openrouter"}
FUNCTION = {"name", "description", "parameters"}  # the fields of a tool
STOP_REASONS: dict[str, StopReason] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    LENGTH: "max_tokens",
    **dict.fromkeys(DECLINING, "content_filter"),
}


def inspect_model(model: Model) -> InspectModel:
    """The Inspect model; UserError if a key, a URL or a package is missing."""
    options, settings = model.options, model.settings
    config = GenerateConfig(
        temperature=settings.temp,
        max_tokens=settings.max_output_tokens,
        reasoning_effort=settings.reasoning_effort,
        max_retries=options.max_retries,
        max_connections=options.concurrency,
    )
    if is_compatible(model):
        base_url = find_address(model).base_url
        native = model.provider in NATIVE_PROVIDERS and settings.api != "completions"
        if not native or base_url != PROVIDERS[model.provider]:
            return InspectModel(EndpointAPI(model), config)
    require(
        settings.api != "completions",
        f"api completions needs an OpenAI-compatible endpoint: give --base_url for {model.name}",
    )
    body = read_extra_body(settings.extra_body)
    require(
        hide_fields(body) == body,  # Inspect writes it into its log
        f"extra_body can hold no secret for {model.name} on Inspect: give --base_url",
    )
    config.extra_body = body or None
    config.attempt_timeout = max(1, round(options.timeout))
    more: dict[str, Any] = {}
    if model.provider in NATIVE_PROVIDERS:
        more["max_retries"] = 0  # of the client, since they would multiply Inspect's
        if settings.api != "auto":
            more["responses_api"] = settings.api == "responses"
    key = find_key(model.provider)[1]
    try:
        made = get_model(model.name, config=config, api_key=key, memoize=False, **more)
    except ValueError as problem:  # an unknown provider
        raise UserError(
            f"{problem} For an OpenAI-compatible endpoint, give its URL with --base_url"
        ) from None
    except Exception as problem:  # a package or a key is missing
        text = Text.from_markup(str(getattr(problem, "message", problem))).plain
        raise UserError(one_line(hider()(text)).removeprefix("ERROR: ")) from None
    made.model_args = {}  # they would be written to the log
    return made


@modelapi(name="endpoint")
class EndpointAPI(ModelAPI):
    """An OpenAI-compatible endpoint; Inspect retries what the direct backend would."""

    def __init__(self, model: Model) -> None:
        super().__init__(model.name)
        self._model = model
        self._endpoint: Endpoint | None = None

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        if self._endpoint is None:
            self._endpoint = Endpoint(self._model)
        turns = await messages_to_openai([one for one in input if one.role != "system"])
        form = config.response_schema
        schema = form and form.json_schema.model_dump(exclude_none=True)
        functions = [tool.model_dump(include=FUNCTION, exclude_none=True) for tool in tools]
        try:
            reply = await self._endpoint.ask(turns, schema or None, functions)
        except CallError as problem:
            # Without its cause, which Inspect would log with all secrets.
            raise problem.with_traceback(None) from None
        return _output(reply, self.model_name)

    def should_retry(self, ex: Exception) -> bool:
        return isinstance(ex, CallError) and ex.retryable

    def retry_wait(self) -> Any:
        """The seconds before the next try, as on the direct backend."""
        first = self._model.options.retry_backoff
        return lambda state: retry_seconds(
            state.outcome.exception(), state.attempt_number - 1, first
        )

    def auto_reasoning_history(self) -> Literal["none"]:
        """Reasoning is not sent back, as on the direct backend."""
        return "none"

    def connection_key(self) -> str:
        return self.model_name

    async def aclose(self) -> None:
        """Close the connections."""
        if self._endpoint is not None:
            await self._endpoint.close()


def _output(reply: Reply, model: str) -> ModelOutput:
    """The reply for Inspect; its metadata hold what Inspect has no place for."""
    thoughts = [] if reply.reasoning is None else [ContentReasoning(reasoning=reply.reasoning)]
    calls = [
        ToolCall(call.id, call.name, call.arguments)
        if isinstance(call.arguments, dict)
        else ToolCall(call.id, call.name, {}, parse_error="the arguments are not an object")
        for call in reply.calls
    ]
    message = ChatMessageAssistant(
        content=[*thoughts, ContentText(text=reply.text)],
        tool_calls=calls or None,
        model=model,
        source="generate",
    )
    output = ModelOutput.from_message(message, STOP_REASONS.get(reply.stop_reason or "", "unknown"))
    if usage := dict(reply.usage):
        total = usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
        output.usage = ModelUsage(total_tokens=total, **usage)
    output.metadata = {"usage": usage, "stop_reason": reply.stop_reason}
    return output


def read_output(output: ModelOutput) -> Reply:
    """The reply in an output of any provider."""
    text = output.message.text  # not `completion`, which replaces an empty text
    parts = [] if isinstance(output.message.content, str) else output.message.content
    thoughts = [part.reasoning for part in parts if isinstance(part, ContentReasoning)]
    reasoning = "\n\n".join(thought for thought in thoughts if thought.strip()) or None
    if output.metadata and "stop_reason" in output.metadata:  # from an endpoint
        return Reply(text, reasoning=reasoning, **output.metadata)
    choice, tokens = output.choices[0], {}
    stop: str = choice.stop_reason
    if choice.stop_details is not None and choice.stop_details.type == "refusal":
        stop = "refusal"
    if (usage := output.usage) is not None:
        cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
        tokens = {
            "input_tokens": usage.input_tokens + cached,
            "output_tokens": usage.output_tokens,
            "reasoning_tokens": usage.reasoning_tokens,
        }
    known = {name: count for name, count in tokens.items() if count is not None}
    stop_reason = None if stop == "unknown" else bodies.STOP_REASONS.get(stop, stop)
    return Reply(text, known, stop_reason, reasoning)
