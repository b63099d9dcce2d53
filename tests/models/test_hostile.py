"""Keys that must not leak, and replies that must not do harm."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.models.common import eval_words, records
from tests.models.server import Server
from trivium.cli import main

KEY = "sk-planted-0123456789abcdef"
HOSTILE = {
    "html": "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "control": "\x00\x1b[31mred\x07\r\n\x85\u2028\u202e",
    "long": "A_0001 " * 150_000,
    "surrogate": "half \ud83d and \udc00",
    "empty": "",
}


def ask(server: Server, out: Path, backend: str) -> int:
    """The exit status, which is 1 where no reply was an answer."""
    flags = ["--retry_backoff", "0.01", "--max_retries", "1"]
    return main(eval_words(server, out, *flags, backend=backend, items=3))


def everything_written(folder: Path) -> bytes:
    """All bytes of all files, logs unpacked."""
    found = b""
    for path in folder.rglob("*"):
        if path.suffix == ".eval":
            with ZipFile(path) as log:
                found += b"".join(map(log.read, log.namelist()))
        elif path.is_file():
            found += path.read_bytes()
    return found


@pytest.fixture
def captures(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> tuple[pytest.CaptureFixture[str], pytest.LogCaptureFixture]:
    """All that is printed and all that is logged."""
    return capfd, caplog


@pytest.mark.parametrize("backend", ["direct", "inspect"])
@pytest.mark.parametrize("source", ["environment", "file"])
def test_the_key_reaches_the_server_and_no_file(
    backend: str,
    source: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    captures: tuple[pytest.CaptureFixture[str], pytest.LogCaptureFixture],
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("VLLM_API_KEY", raising=False)
    if source == "environment":
        monkeypatch.setenv("VLLM_API_KEY", KEY)
    else:
        (folder / ".env").write_text(f"VLLM_API_KEY={KEY}\n")
    capfd, caplog = captures
    caplog.set_level("DEBUG")
    prompt = ""

    def fault(asked: str, nth: int) -> str | None:
        nonlocal prompt
        prompt = prompt or asked
        return "400" if asked == prompt else None  # the error repeats the key

    with Server(lambda messages: f"my key is {KEY}", fault) as server:
        assert ask(server, tmp_path / "out", backend) == 1
    assert server.keys == {f"Bearer {KEY}"}
    written = everything_written(tmp_path / "out")
    assert b"no: 400 for Bearer [key]" in written
    assert b"my key is [key]" in written
    assert KEY.encode() not in written
    captured = capfd.readouterr()
    assert KEY not in captured.out + captured.err + caplog.text


@pytest.mark.parametrize("backend", ["direct"])
def test_a_word_that_local_servers_take_for_a_key_is_not_hidden(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "EMPTY")
    with Server(lambda messages: "EMPTY") as server:
        assert ask(server, tmp_path, backend) == 0
    assert {row["reply"] for row in records(tmp_path)} == {"EMPTY"}


@pytest.mark.parametrize("backend", ["direct", "inspect"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_replies_are_kept_and_shown_safely(
    backend: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reply = HOSTILE[kind]
    with Server(lambda messages: reply) as server:
        assert ask(server, tmp_path, backend) == 0
    found = records(tmp_path)
    assert [row["kind"] == "failed" for row in found] == [False] * 3
    expected = reply.encode("utf-8", "replace").decode()[:1_000_000]
    assert {row["reply"] for row in found} == {expected}
    capsys.readouterr()
    assert main(["analyze", str(tmp_path), "--examples", "3"]) == 0
    shown = capsys.readouterr().out
    assert not any(character in shown for character in "\x00\x1b\x07\u202e")
    assert len(shown) < 20_000


def test_a_report_holds_no_markup_of_a_model(tmp_path: Path) -> None:
    with Server(lambda messages: HOSTILE["html"]) as server:
        words = ["run", "--benchmarks", "nhop_implicit", "--items", "3", "--processes", "1"]
        words += ["--model", "vllm/<b>m</b>", "--base_url", server.url, "--out", str(tmp_path)]
        assert main(words) == 0
    page = (tmp_path / "report.html").read_text()
    assert "<b>m</b>" not in page
    # The item browser holds the reply as data: no bracket of it may open a tag or close a script.
    assert "<script>alert(1)" not in page
    assert "<img src=x" not in page
    assert "vllm/&lt;b&gt;m&lt;/b&gt;" in page


@pytest.mark.parametrize("backend", ["direct", "inspect"])
def test_blanks_around_a_key_are_not_sent(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_API_KEY", f" {KEY}\r\n")
    with Server(lambda messages: f"my key is {KEY}") as server:
        assert ask(server, tmp_path, backend) in (0, 1)
    assert server.keys == {f"Bearer {KEY}"}
    assert KEY.encode() not in everything_written(tmp_path)


@pytest.mark.parametrize("backend", ["direct", "inspect"])
@pytest.mark.parametrize(
    "key",
    [f"\u201c{KEY}\u201d", f'"{KEY}"', f"{KEY[:9]}\r{KEY[9:]}"],
    ids=["curly", "quoted", "cut"],
)
def test_what_is_no_key_is_refused_and_not_repeated(
    key: str,
    backend: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("VLLM_API_KEY", key)
    with Server(lambda messages: "B_0001") as server:
        assert ask(server, tmp_path, backend) == 2
    assert not server.asked
    error = capsys.readouterr().err
    odd = next(f"U+{ord(character):04X}" for character in key if character in '\u201c"\r')
    assert f"VLLM_API_KEY is not a key: it holds the character {odd}" in error
    assert KEY[:9] not in error


@pytest.mark.parametrize("backend", ["direct", "inspect"])
def test_a_key_in_a_url_is_written_nowhere(
    backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Server(lambda messages: "B_0001", lambda prompt, nth: "503") as server:
        words = eval_words(server, tmp_path, "--max_retries", "0", backend=backend, items=3)
        words[words.index("--base_url") + 1] = f"{server.url}?api-version=1&key={KEY}"
        assert main(words) in (0, 1)
    written = everything_written(tmp_path)
    assert KEY.encode() not in written
    assert f"{server.url}?[key]".encode() in written
    shown = capsys.readouterr()
    assert KEY not in shown.out + shown.err


@pytest.mark.parametrize(
    "url", ["http://", "http://[::1", "http://a..b/v1", "http://h:port/v1", "http://h:99999/v1"]
)
def test_a_url_that_cannot_be_is_refused(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["eval", "nhop_implicit", "--model", "vllm/m", "--items", "1", "--base_url", url]
    assert main([*words, "--out", str(tmp_path)]) == 2
    assert "base_url must be an http or https URL" in capsys.readouterr().err
