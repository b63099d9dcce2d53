"""The built-in solvers as Inspect models: `--model trivium/oracle` needs no network and no key."""

from __future__ import annotations

from typing import Any

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.solver import TaskState

# Not exported, and the only way for a model to know which sample it is asked about.
from inspect_ai.solver._task_state import sample_state
from inspect_ai.tool import ToolChoice, ToolInfo

from trivium.core.errors import require
from trivium.core.tokens import approximate_tokens
from trivium.models.inspect.game import act
from trivium.models.inspect.samples import REPLIES, read_sample
from trivium.models.inspect.solvers import builtin_reply


@modelapi(name="trivium")
class BuiltIn(ModelAPI):
    """Speaks as a built-in solver of the benchmark that it is asked about."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        state = sample_state()
        require(state is not None, f"{self.model_name} only speaks about samples of Trivium tasks")
        assert state is not None
        name = self.model_name.rpartition("/")[2]
        text = builtin_reply(state, name, _told_so_far(state))
        if any(tool.name == act.__name__ for tool in tools):
            output = ModelOutput.for_tool_call(self.model_name, act.__name__, {"move": text})
        else:
            output = ModelOutput.from_content(self.model_name, text)
        # Given here, since counting them elsewhere needs a download.
        sent = sum(approximate_tokens(message.text) for message in input)
        said = approximate_tokens(text)
        output.usage = ModelUsage(input_tokens=sent, output_tokens=said, total_tokens=sent + said)
        return output


def _told_so_far(state: TaskState) -> list[str]:
    """The conversation as solvers know it: the opening, then replies and what they led to."""
    known = read_sample(state.metadata)
    replies: list[str] = state.store.get(REPLIES, [])
    told = [known.benchmark.render(known.told, known.view)]
    for place, reply in enumerate(replies):
        answer = known.benchmark.respond(known.told, replies[: place + 1], known.view)
        told += [reply, answer or ""]
    return told
