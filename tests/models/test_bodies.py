"""Bodies of responses of every provider are read by one function."""

from __future__ import annotations

import math
from typing import Any

import pytest

from trivium.core.dialogue import Reply
from trivium.models.bodies import MALFORMED, read_body

TOKENS = {"input_tokens": 3, "output_tokens": 2}
CHAT = {"prompt_tokens": 3, "completion_tokens": 2}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            {
                "choices": [{"message": {"content": "x"}, "finish_reason": "stop"}],
                "usage": CHAT | {"completion_tokens_details": {"reasoning_tokens": 1}},
            },
            Reply("x", TOKENS | {"reasoning_tokens": 1}, "stop"),
        ),
        (
            {"choices": [{"message": {"content": "x", "reasoning_content": "y"}}], "usage": CHAT},
            Reply("x", TOKENS, None, "y"),
        ),
        (
            {"choices": [{"message": {"content": None, "refusal": "No."}}]},
            Reply("No.", {}, "refusal"),
        ),
        (
            {"choices": [{"message": {"content": "x"}, "finish_reason": "error"}]},
            Reply("x", {}, "error", None, "the reply ended with 'error'"),
        ),
        ({"choices": [{"text": "x", "finish_reason": "length"}]}, Reply("x", {}, "length")),
        (
            {
                "status": "incomplete",
                "incomplete_details": {"reason": "max_output_tokens"},
                "output": [
                    {"type": "reasoning", "summary": [{"text": "y"}, {"text": "z"}]},
                    {"type": "message", "content": [{"type": "output_text", "text": "x"}]},
                ],
                "usage": TOKENS,
            },
            Reply("x", TOKENS, "length", "y\n\nz"),
        ),
        (
            {
                "status": "completed",
                "output": [{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}],
            },
            Reply("No.", {}, "refusal"),
        ),
        (
            {"status": "failed", "output": [], "error": {"message": "gone"}},
            Reply("", {}, "failed", None, "the reply ended with 'failed': gone"),
        ),
        (
            {
                "content": [{"type": "thinking", "thinking": "y"}, {"type": "text", "text": "x"}],
                "stop_reason": "max_tokens",
                "usage": TOKENS,
            },
            Reply("x", TOKENS, "length", "y"),
        ),
        (
            {"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "SAFETY"}]},
            Reply("x", {}, "content_filter"),
        ),
    ],
)
def test_a_body_is_read(body: dict[str, Any], expected: Reply) -> None:
    assert read_body(body) == [expected]


@pytest.mark.parametrize(
    ("count", "read"),
    [
        *((0, [0]), (1_000_000, [1_000_000]), (3.0, [3])),
        *((2.5, []), (-1, []), (2**64, []), (math.inf, []), (True, []), ("3", [])),
    ],
)
def test_only_a_whole_number_is_a_count_of_tokens(count: Any, read: list[int]) -> None:
    body = {"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": count}}
    assert [*read_body(body)[0].usage.values()] == read


def test_several_choices_share_no_usage() -> None:
    choices = [{"message": {"content": text}} for text in ("a", "b")]
    assert read_body({"choices": choices, "usage": CHAT}) == [Reply("a"), Reply("b")]


@pytest.mark.parametrize(
    "body",
    [{}, {"detail": "no"}, {"choices": [{}]}, {"choices": 3}, {"content": 3}, {"choices": ["x"]}],
)
def test_what_is_no_response_is_not_read(body: dict[str, Any]) -> None:
    with pytest.raises(MALFORMED):
        read_body(body)
