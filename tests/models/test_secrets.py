"""Secrets are hidden in every form, before anything is cut, and reach no file and no terminal."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.models.common import prompts, records
from tests.models.raw import RawServer, Request, Sent, completion
from trivium.cli import main
from trivium.core.errors import UserError
from trivium.models.bodies import read_error
from trivium.models.endpoint import read_reply
from trivium.models.providers import hide_fields, hider, scrub
from trivium.models.settings import ModelOptions

BACKENDS = pytest.mark.parametrize("backend", ["direct", "inspect"])
KEY = "sk-planted/0123456789+ABCDEFGHIJKLMNOP="
PARTS = [KEY[start : start + 12] for start in range(len(KEY) - 11)]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", KEY)
    monkeypatch.setattr("trivium.models.providers._remembered", set())


def written(folder: Path) -> str:
    """All files of a folder, and what is inside Inspect's logs."""
    texts = []
    for path in (path for path in folder.rglob("*") if path.is_file()):
        texts.append(path.read_bytes())
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as log:
                texts += [log.read(name) for name in log.namelist()]
    return b"\n".join(texts).decode("utf-8", "replace")


def leaks(text: str) -> list[str]:
    return [part for part in PARTS if part in text]


@pytest.mark.parametrize(
    ("kept", "left"), [(7, KEY[:7]), (8, "[key]"), (9, "[key]"), (38, "[key]")]
)
def test_the_beginning_of_a_key_at_the_end_of_a_text_is_hidden(kept: int, left: str) -> None:
    """A text that was cut there; seven characters are too few to tell a key from a word."""
    assert scrub(f"no such key: {KEY[:kept]}") == f"no such key: {left}"


def spellings() -> dict[str, str]:
    return {
        "plain": KEY,
        "percent": quote(KEY, safe=""),
        "lower percent": quote(KEY, safe="").lower().replace(KEY.lower(), KEY),
        "every character": "".join(f"%{ord(sign):02X}" for sign in KEY),
        "JSON": "".join(f"\\u{ord(sign):04x}" for sign in KEY),
        "slashes": KEY.replace("/", "\\/"),
        "HTML": "".join(f"&#{ord(sign)};" for sign in KEY),
        "in capitals of HTML": "".join(f"&#X{ord(sign):X};" for sign in KEY),
    }


@pytest.mark.parametrize("how", spellings())
def test_a_secret_is_hidden_however_it_is_written(how: str) -> None:
    spelled = spellings()[how]
    if how == "lower percent":
        spelled = quote(KEY, safe="").replace("%2F", "%2f").replace("%2B", "%2b")
    assert hider()(f"before {spelled} after") == "before [key] after"


@pytest.mark.parametrize("length", [600, 601])
def test_a_key_at_every_byte_of_a_body_is_found_nowhere(length: int) -> None:
    hide = hider()
    for place in range(length + 1):
        body = f"{'x' * place}{KEY}{'y' * (length - place)}"
        for cut in (body, body[:length]):  # also where the server itself cuts it off
            assert not leaks(hide(cut))
            assert not leaks(read_error(cut.encode(), None, hide)[0][:500])


def test_a_reply_that_cannot_be_read_is_cut_after_its_key_is_hidden() -> None:
    for place in range(140):
        with pytest.raises(Exception, match="not a reply") as problem:
            read_reply(f"{'x' * place}{KEY}".encode(), None, hider())
        assert not leaks(str(problem.value))


@pytest.mark.parametrize(
    ("backend", "step"),
    [
        # No step is a multiple of 5, so that all five responses come up.
        ("direct", 24),
        ("inspect", 24),
        pytest.param("direct", 1, marks=pytest.mark.slow),
        # A part of the key that counts as a leak begins at 26 places in a row before a cut.
        pytest.param("inspect", 4, marks=pytest.mark.slow),
    ],
)
def test_keys_across_every_cut_are_written_and_printed_nowhere(
    backend: str, step: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    places = range(0, 600, step)
    by_prompt: dict[str, int | None] = dict(
        zip(prompts(len(places) + 1), [None, *places], strict=True)
    )

    def respond(asked: Request) -> Sent:
        place = by_prompt[asked.prompt]
        if place is None:
            return Sent(completion(f"E_0001 {KEY}", choice={"finish_reason": f"stop {KEY}"}))
        text = f"{'x' * place}{KEY}{'y' * (600 - place)}"
        ways: list[Sent] = [
            Sent({"error": {"message": text, "code": KEY, "type": KEY}}, status=400),
            Sent(text.encode(), status=500),
            Sent(text.encode()),
            Sent(completion(text, choice={"finish_reason": text}, id=text, model=text)),
            Sent(completion("x", message={"reasoning_content": text, "tool_calls": text})),
        ]
        return ways[place % len(ways)]

    with RawServer(respond) as server:
        words = f"eval nhop_implicit --model vllm/m --backend {backend} --seed 3 --api chat"
        more = ["--items", str(len(by_prompt)), "--base_url", server.url, "--out", str(tmp_path)]
        more += ["--concurrency", "1", "--max_retries", "0"]
        assert main([*words.split(), *more]) == 1
    assert main(["report", str(tmp_path)]) == 0
    assert len(records(tmp_path)) == len(by_prompt)
    assert not leaks(written(tmp_path))
    captured = capfd.readouterr()
    assert not leaks(captured.out + captured.err)


@BACKENDS
def test_secret_fields_of_requests_reach_the_server_alone(
    backend: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bodies: list[dict[str, Any]] = []

    def respond(asked: Request) -> Sent:
        bodies.append(asked.body)
        return Sent(completion(f"E_0001 {asked.body['apiKey']}"))

    extra = '{"apiKey": "hunter2-hunter2", "top_k": 3, "auth": {"token": "abc"}, "max_tokens": 9}'
    with RawServer(respond) as server:
        words = f"eval nhop_implicit --model vllm/m --backend {backend} --items 1 --api chat"
        more = ["--base_url", server.url, "--out", str(tmp_path), "--extra_body", extra]
        for _ in range(2):  # the second time resumes
            assert main([*words.split(), *more]) == 0
    assert [body["apiKey"] for body in bodies] == ["hunter2-hunter2"]
    assert bodies[0]["auth"] == {"token": "abc"}
    assert bodies[0]["top_k"] == 3
    captured = capfd.readouterr()
    everything = written(tmp_path) + captured.out + captured.err
    assert "hunter2" not in everything
    assert '"abc"' not in everything.replace("\\", "")
    assert records(tmp_path)[0]["reply"] == "E_0001 [key]"


def test_what_is_secret_by_name() -> None:
    fields = {"api_key": "a", "max_tokens": 5, "stop_token_ids": [1], "headers": [{"Token": "t"}]}
    shown = {"api_key": "[key]", "max_tokens": 5, "stop_token_ids": [1]}
    assert hide_fields(fields) == shown | {"headers": [{"Token": "[key]"}]}
    settings = ModelOptions(extra_body='{"client_secret": "abcdefgh1"}').settings()
    assert settings.to_dict()["extra_body"] == '{"client_secret": "[key]"}'
    assert scrub('--extra_body \'{"client_secret": "abcdefgh1"}\'').count("abcdefgh1") == 0


@pytest.mark.parametrize("given", ["{", '{"a": ' * 3000 + "1" + "}" * 3000, "[" * 99999])
def test_a_request_that_cannot_be_is_not_repeated(given: str) -> None:
    with pytest.raises(UserError) as problem:
        ModelOptions(extra_body=given)
    assert str(problem.value) == 'extra_body must be a JSON object such as {"top_k": 20}'


@BACKENDS
def test_a_redirect_is_not_followed(backend: str, tmp_path: Path) -> None:
    with RawServer(lambda asked: Sent(completion("E_0001"))) as other:
        to = {"location": f"{other.url}/chat/completions?key=12345678"}
        with RawServer(lambda asked: Sent(b"", status=307, headers=to)) as server:
            words = f"eval nhop_implicit --model vllm/m --backend {backend} --items 2 --api chat"
            more = ["--base_url", server.url, "--max_retries", "1", "--out", str(tmp_path)]
            assert main([*words.split(), *more]) == 1
    assert not other.asked, "the prompt was sent along"
    assert "12345678" not in written(tmp_path)


def test_a_cookie_is_not_sent_back(tmp_path: Path) -> None:
    """A cookie of a named host: those of an address would not be kept anyway."""
    cookies: list[str | None] = []

    def respond(asked: Request) -> Sent:
        cookies.append(asked.headers.get("Cookie"))
        return Sent(completion("E_0001"), headers={"set-cookie": "session=1; Path=/"})

    with RawServer(respond) as server:
        words = "eval nhop_implicit --model vllm/m --backend direct --items 3 --api chat"
        url = server.url.replace("127.0.0.1", "localhost")
        more = ["--concurrency", "1", "--base_url", url, "--out", str(tmp_path)]
        assert main([*words.split(), *more]) == 0
    assert cookies == [None] * 3
