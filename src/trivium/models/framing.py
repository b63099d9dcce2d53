"""What a model is sent first: worked examples, then the prompt in a template of the user's."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from itertools import cycle

from trivium.core.dialogue import Dialogue, next_reply
from trivium.core.records import Groups
from trivium.core.task import PresentedItem, Task
from trivium.models.settings import PROMPT, Settings

SHOTS_SEED = 4_611_686_018_427_387_904  # of worked examples; no command uses it for items


def opening(item: PresentedItem, settings: Settings) -> list[str]:
    """The first messages, of the user and the assistant in turn; the last one is the prompt."""
    examples = _examples(item.task, settings.shots, settings.template) if settings.shots else ()
    return [*examples, _in_template(item.prompt, settings.template)]


def as_turns(messages: Sequence[str]) -> list[dict[str, str]]:
    """Messages of the user and the assistant in turn, as those of a chat."""
    roles = cycle(("user", "assistant"))
    return [{"role": role, "content": text} for text, role in zip(messages, roles, strict=False)]


def _in_template(prompt: str, template: str | None) -> str:
    return prompt if template is None else template.replace(PROMPT, prompt)


@lru_cache(maxsize=64)
def _examples(task: Task, shots: int, template: str | None) -> tuple[str, ...]:
    """Items of another seed with right replies; games are played by the benchmark's ceiling."""
    solvers = task.benchmark.solvers.values()
    best = next(solver for solver in solvers if solver.role == "ceiling")
    messages: list[str] = []
    for item in task.items(shots, SHOTS_SEED):
        dialogue = Dialogue(item)
        if task.benchmark.multi_turn:
            while not dialogue.done:
                dialogue.send(next_reply(dialogue, best))
        else:
            dialogue.send(item.gold)
        messages += [_in_template(dialogue.prompt, template), *dialogue.messages[1:]]
    return tuple(messages)


def framing_groups(settings: Settings) -> Groups:
    """The groups of results by which runs with other framings are distinguished."""
    groups: Groups = {"shots": settings.shots} if settings.shots else {}
    for name in ("template", "preamble"):
        if (text := getattr(settings, name)) is not None:
            groups[name] = hashlib.blake2b(text.encode(), digest_size=3).hexdigest()
    return groups
