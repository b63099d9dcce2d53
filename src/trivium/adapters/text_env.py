"""A benchmark as a Gymnasium environment of text: `gymnasium.make("trivium/Text-v0", ...)`."""

from __future__ import annotations

import string
from typing import Any

import gymnasium
from gymnasium import spaces

from trivium.adapters.episode import INFORMATION_WEIGHT, Episodes, origin_of
from trivium.core.errors import require

MAX_PROMPT, MAX_REPLY = 1 << 20, 1 << 12  # characters, by the spaces; longer replies work


class TextEnv(gymnasium.Env[str, str]):
    """Replies in, responses out; `fields` are those of the spec and the view.

    `reset(seed=S)` starts with the first item of a seed; later resets take the next ones.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        benchmark: str,
        *,
        preset: str | None = None,
        split: str = "train",
        information_weight: float = INFORMATION_WEIGHT,
        render_mode: str | None = None,
        **fields: Any,
    ) -> None:
        require(render_mode in (None, "ansi"), f"render_mode must be ansi, got {render_mode!r}")
        self.render_mode = render_mode
        self.observation_space, self.action_space = _texts(MAX_PROMPT), _texts(MAX_REPLY)
        self._split = split
        self._episodes = Episodes(benchmark, preset, information_weight, fields)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """The prompt of the next item, or of the one that `options["index"]` names."""
        super().reset(seed=seed)
        unknown = sorted(set(options or {}) - {"index"})
        require(not unknown, f"options may hold index, got {', '.join(map(repr, unknown))}")
        item = self._episodes.start(self._split, seed, (options or {}).get("index")).item
        return item.prompt, {"id": item.id, **origin_of(item)}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """The response to a reply, and its reward; after the last reply `info` has the scores."""
        outcome = self._episodes.current.step(action)
        return outcome.text, outcome.reward, outcome.done, False, {"scores": dict(outcome.scores)}

    def render(self) -> str | None:
        """The conversation so far."""
        return "\n\n".join(self._episodes.current.dialogue.messages) if self.render_mode else None


def _texts(longest: int) -> spaces.Text:
    return spaces.Text(longest, min_length=0, charset=string.printable)
