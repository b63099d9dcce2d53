"""What arrives with status 200 and holds a text is a reply, on both backends: it is paid for."""

from __future__ import annotations

import asyncio
import gzip
import json
import math
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.common import NHOP, SEED, prompts, records
from tests.models.raw import RawServer, Request, Sent, completion
from trivium.cli import main
from trivium.core.dialogue import Reply
from trivium.core.reading import split_reasoning
from trivium.models.bodies import MALFORMED, MAX_BODY, BodyTooLargeError, collect, read_body

BACKENDS = pytest.mark.parametrize("backend", ["direct", "inspect"])
# Inspect waits for seconds before it asks again.
WAITING = pytest.mark.parametrize(
    "backend", ["direct", pytest.param("inspect", marks=pytest.mark.slow)]
)
TEXT = "E_0001"


def dumped(**changes: Any) -> bytes:
    return json.dumps(completion(TEXT, **changes)).encode()


def without(*names: str) -> dict[str, Any]:
    return {key: value for key, value in completion(TEXT).items() if key not in names}


def odd_usage(**counts: Any) -> Sent:
    return Sent(completion(TEXT, usage={"total_tokens": 8} | counts))


ODD: dict[str, Sent] = {
    "counts of null": odd_usage(prompt_tokens=None, completion_tokens=None),
    "one count of null": odd_usage(prompt_tokens=5, completion_tokens=None),
    "counts as text": odd_usage(prompt_tokens="5", completion_tokens="3"),
    "negative counts": odd_usage(prompt_tokens=-5, completion_tokens=3),
    "counts of NaN": odd_usage(prompt_tokens=math.nan, completion_tokens=math.inf),
    "details of null": odd_usage(
        prompt_tokens=5, completion_tokens=3, completion_tokens_details={"reasoning_tokens": "x"}
    ),
    "usage as text": Sent(completion(TEXT, usage="many")),
    "no usage": Sent(without("usage")),
    "no model": Sent(without("model")),
    "model of null": Sent(completion(TEXT, model=None)),
    "nothing but choices": Sent(without("id", "object", "created", "model", "usage")),
    "odd kinds": Sent(completion(TEXT, id=5, created="yesterday", object=None, model=["m"])),
    "bytes that are not UTF-8": Sent(dumped().replace(TEXT.encode(), TEXT.encode() + b"\xff\xfe")),
    "another charset": Sent(
        dumped(message={"content": f"{TEXT} é"}).decode("unicode-escape").encode("latin-1"),
        headers={"content-type": "application/json; charset=latin-1"},
    ),
    "an unknown charset": Sent(
        dumped() + b"\n", headers={"content-type": "application/json; charset=klingon"}
    ),
    "UTF-16": Sent(dumped().decode().encode("utf-16")),
    "a byte order mark": Sent(b"\xef\xbb\xbf" + dumped()),
    "gzip": Sent(gzip.compress(dumped()), headers={"content-encoding": "gzip"}),
    "deflate": Sent(zlib.compress(dumped()), headers={"content-encoding": "deflate"}),
    # Without the header of two bytes and the checksum of four.
    "raw deflate": Sent(zlib.compress(dumped())[2:-4], headers={"content-encoding": "deflate"}),
    "gzip that is none": Sent(dumped(), headers={"content-encoding": "gzip"}),
    "gzip twice": Sent(gzip.compress(gzip.compress(dumped()))),
    "as HTML": Sent(dumped(), headers={"content-type": "text/html"}),
    "a line break in a text": Sent(dumped().replace(TEXT.encode(), TEXT.encode() + b"\n")),
    "a lone surrogate": Sent(completion(f"{TEXT} \ud800")),
    "a surrogate in a key": Sent(completion(TEXT, **{"\ud800": 1})),
    "content in parts": Sent(completion([{"type": "text", "text": TEXT}])),
    "a part that is a number": Sent(completion([5, {"type": "text", "text": TEXT}, None])),
    "content as an object": Sent(completion({"text": TEXT})),
    "a message as text": Sent(completion(TEXT, choice={"message": TEXT})),
    "a choice as text": Sent(completion(TEXT, choice={"message": None, "text": TEXT})),
    "no index": Sent(completion(TEXT, choice={"index": None})),
    "an odd finish": Sent(completion(TEXT, choice={"finish_reason": 7})),
    "an unknown finish": Sent(completion(TEXT, choice={"finish_reason": "eos"})),
    "odd calls of tools": Sent(completion(TEXT, message={"tool_calls": [5, {"function": 3}, {}]})),
    "calls as text": Sent(completion(TEXT, message={"tool_calls": "none"})),
    "odd reasoning": Sent(completion(TEXT, message={"reasoning_content": 5, "reasoning": [1]})),
    "odd probabilities": Sent(completion(TEXT, choice={"logprobs": {"content": 5}})),
    "a refusal of null": Sent(completion(TEXT, message={"refusal": None, "annotations": 4})),
}


def evaluate(server: RawServer, out: Path, backend: str, items: int, *flags: str) -> int:
    words = f"eval nhop_implicit --model vllm/m --backend {backend} --seed {SEED} --items {items}"
    quick = ["--max_retries", "1", "--retry_backoff", "0.01", "--base_url", server.url]
    return main([*words.split(), *quick, "--out", str(out), *flags])


@BACKENDS
def test_an_odd_body_with_a_text_is_a_reply_and_is_paid_for_once(
    backend: str, tmp_path: Path
) -> None:
    by_prompt = dict(zip(prompts(len(ODD)), ODD.items(), strict=True))
    with RawServer(lambda asked: by_prompt[asked.prompt][1]) as server:
        assert evaluate(server, tmp_path, backend, len(ODD), "--api", "chat") == 0
    for row, (name, _) in zip(records(tmp_path), by_prompt.values(), strict=True):
        assert row["error"] is None, name
        assert row["reply"].startswith(TEXT), name
        assert all(count >= 0 for count in row["usage"].values()), name
    assert set(server.asked.values()) == {1}, "paid for twice"


@BACKENDS
def test_odd_bodies_of_the_other_protocol_are_replies_too(backend: str, tmp_path: Path) -> None:
    message = {"type": "message", "role": "assistant", "content": [{"text": TEXT}]}
    bodies: list[dict[str, Any]] = [
        {"output": [message]},
        {"output": TEXT, "status": "completed", "usage": {"input_tokens": None}},
        {"output": [message, 5], "model": None, "incomplete_details": "none", "tools": 3},
        {"output": [message | {"content": TEXT}], "usage": {"input_tokens": 3, "output_tokens": 2}},
    ]
    by_prompt = dict(zip(prompts(len(bodies)), bodies, strict=True))
    with RawServer(lambda asked: Sent(by_prompt[asked.prompt])) as server:
        assert evaluate(server, tmp_path, backend, len(bodies), "--api", "responses") == 0
    assert [row["reply"] for row in records(tmp_path)] == [TEXT] * len(bodies)
    assert set(server.asked.values()) == {1}


@WAITING
def test_what_holds_no_reply_is_asked_for_again_in_both_protocols(
    backend: str, tmp_path: Path
) -> None:
    for api, key in (("chat", "choices"), ("responses", "output")):
        empty: dict[str, Any] = {key: []}
        full = completion(TEXT) if api == "chat" else {"output": TEXT}
        with RawServer(lambda asked, e=empty, f=full: Sent(e if asked.nth == 1 else f)) as server:  # type: ignore[misc]
            assert evaluate(server, tmp_path / api, backend, 1, "--api", api) == 0
        assert [*server.asked.values()] == [2]


def test_a_bad_reply_in_a_game_touches_no_other_game(tmp_path: Path) -> None:
    call = {"id": "1", "type": "function"}
    function = {"name": "place", "arguments": '{"objects": ["\\ud800"]}'}

    def respond(asked: Request) -> Sent:
        calls = {"tool_calls": [call | {"function": function}]}
        return Sent(completion("\ud800", message=calls if asked.nth % 2 else {}))

    with RawServer(respond) as server:
        words = "eval blicket_game --model vllm/m --backend inspect --items 4 --concurrency 4"
        more = ["--base_url", server.url, "--max_retries", "1", "--out", str(tmp_path)]
        assert main([*words.split(), *more]) == 0
    assert [row["error"] for row in records(tmp_path)] == [None] * 4


@BACKENDS
def test_a_packed_gigabyte_is_one_failed_attempt(backend: str, tmp_path: Path) -> None:
    bomb = gzip.compress(b" " * (MAX_BODY + 1))
    first = prompts(1)[0]

    def respond(asked: Request) -> Sent:
        if asked.prompt == first:
            return Sent(bomb, headers={"content-encoding": "gzip"})
        return Sent(completion(TEXT))

    with RawServer(respond) as server:
        assert evaluate(server, tmp_path, backend, 2, "--api", "chat") == 1
    assert server.asked[first] == 1, "paid for twice"
    failed = records(tmp_path)[0]
    assert failed["kind"] == "failed"
    assert "the body has more than 16 MiB" in failed["error"]


def test_a_body_is_unpacked_no_further_than_its_limit() -> None:
    async def chunks(content: bytes) -> AsyncIterator[bytes]:
        for start in range(0, len(content), 1000):
            yield content[start : start + 1000]

    plain = b"[1]" * 1000
    packed = gzip.compress(plain)
    parts = gzip.compress(plain[:9]) + gzip.compress(plain[9:]) + bytes(20)
    deflated = zlib.compress(plain)
    for content in (plain, packed, gzip.compress(packed), deflated, deflated[2:-4], parts):
        assert asyncio.run(collect(chunks(content))) == plain
    for content in (packed[:-1], b"\x1f\x8b"):
        with pytest.raises(zlib.error):
            asyncio.run(collect(chunks(content)))
    for content in (b"", deflated[:-5], "{}".encode("utf-16"), b"<p>busy"):
        assert asyncio.run(collect(chunks(content))) == content
    for large in (gzip.compress(bytes(MAX_BODY + 1)), bytes(MAX_BODY + 1)):
        with pytest.raises(BodyTooLargeError):
            asyncio.run(collect(chunks(large)))


@BACKENDS
def test_a_long_reply_ends_at_the_limit_and_repeated_tags_cost_no_time(
    backend: str, tmp_path: Path
) -> None:
    texts = ["x" * 5_000_000, "<think>" * 16_000]
    by_prompt = dict(zip(prompts(2), texts, strict=True))
    with RawServer(lambda asked: Sent(completion(by_prompt[asked.prompt]))) as server:
        assert evaluate(server, tmp_path, backend, 2, "--api", "chat") == 0
    long, tags = records(tmp_path)
    assert (len(long["reply"]), long["kind"]) == (1_000_000, "cut-off")
    assert tags["reply"] == texts[1]
    assert set(server.asked.values()) == {1}


def test_texts_of_a_reply_are_limited() -> None:
    reply = Reply("a" * 2_000_000, {}, "s" * 2_000_000, "r" * 2_000_000, "e" * 2_000_000)
    assert len(reply.text) == len(reply.reasoning or "") == 1_000_000
    assert reply.stop_reason == "length"
    assert len(reply.error or "") < 600
    assert len(Reply("a", {}, "s" * 2_000_000).stop_reason or "") < 60
    assert len(split_reasoning("a" * 900_000).visible) == 100_000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "text", "output", "usage", "type"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(["choices", "output", "content", "usage"]), JSON))
def test_any_body_is_a_reply_or_malformed(body: dict[str, Any]) -> None:
    try:
        replies = read_body(body)
    except MALFORMED:
        return
    assert replies
    assert all(isinstance(reply.text, str) for reply in replies)


def test_the_items_are_those_of_the_seed() -> None:
    assert prompts(2) == [item.prompt for item in NHOP.items(2, SEED)]
