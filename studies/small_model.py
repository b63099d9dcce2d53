"""A real small model's replies, kept in a file, so that pages can be made again without it.

`python -m studies.example_reports docs/examples --ask` asks the model itself (the extra [local])
and writes the file anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aiohttp

MODEL = "smollm2-135m"
REPLIES = Path(__file__).parent.parent / "docs" / "examples" / f"{MODEL}.jsonl"


class SmallModel:
    """Answers chat requests from the file, or with a URL from the model that is served there."""

    def __init__(self, url: str | None = None) -> None:
        self.url = url
        lines = [] if url else REPLIES.read_text(encoding="utf-8").splitlines()
        self.kept = {row["asked"]: row["reply"] for row in map(json.loads, lines)}

    async def reply(self, body: dict[str, Any], messages: Sequence[str]) -> dict[str, Any]:
        """The response to a request; KeyError where the file has none."""
        asked = hashlib.sha256("\0".join(messages).encode()).hexdigest()[:16]
        if self.url and asked not in self.kept:
            async with aiohttp.ClientSession() as client:
                target = f"{self.url}/chat/completions"
                async with client.post(target, json=body, raise_for_status=True) as answer:
                    self.kept[asked] = _essential(await answer.json())
        return dict(self.kept[asked])

    def save(self) -> None:
        """Write what was asked and replied, in an order that does not depend on time."""
        rows = [{"asked": asked, "reply": reply} for asked, reply in sorted(self.kept.items())]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        REPLIES.write_text(text, encoding="utf-8")


def _essential(response: dict[str, Any]) -> dict[str, Any]:
    """A response without its date and ids."""
    (choice,) = response["choices"]
    message = {"role": "assistant", "content": choice["message"]["content"]}
    kept = {"index": 0, "message": message, "finish_reason": choice["finish_reason"]}
    return {"id": "x", "choices": [kept], "usage": response["usage"]}
