"""Keys that must not leak, and replies that must not do harm."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from tests.models.server import Server
from trivium.benchmarks import get_benchmark
from trivium.cli import main
from trivium.models.endpoint import Endpoint

KEY = "sk-planted-0123456789abcdef"
HOSTILE = {
    "html": "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "control": "\x00\x1b[31mred\x07\r\n\x85\u2028\u202e",
    "long": "A_0001 " * 150_000,
    "surrogate": "half \ud83d and \udc00",
    "empty": "",
}


@pytest.fixture(autouse=True)
def _no_memory_of_other_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Endpoint, "_spoken", {})


def ask(server: Server, out: Path, backend: str, *flags: str, items: int = 3) -> int:
    words = ["eval", "nhop_implicit", "--model", "vllm/m", "--backend", backend]
    words += ["--base_url", server.url, "--items", str(items), "--out", str(out)]
    return main([*words, "--retry_backoff", "0.01", "--max_retries", "1", *flags])


def everything_written(folder: Path) -> bytes:
    """All bytes of all files, logs unpacked."""
    from inspect_ai.log import read_eval_log

    found = b""
    for path in folder.rglob("*"):
        if path.suffix == ".eval":
            found += read_eval_log(str(path)).model_dump_json().encode()
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
@pytest.mark.parametrize("place", ["environment", "file"])
def test_the_key_reaches_the_server_and_no_file(
    backend: str,
    place: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    captures: tuple[pytest.CaptureFixture[str], pytest.LogCaptureFixture],
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("VLLM_API_KEY", raising=False)
    if place == "environment":
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
        assert ask(server, tmp_path / "out", backend) == 0
    assert server.keys == {f"Bearer {KEY}"}
    written = everything_written(tmp_path / "out")
    assert b"no: 400 for Bearer [key]" in written
    assert b"my key is [key]" in written
    assert KEY.encode() not in written
    captured = capfd.readouterr()
    assert KEY not in captured.out + captured.err + caplog.text


@pytest.mark.parametrize("backend", ["direct", "inspect"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_replies_are_kept_and_shown_safely(
    backend: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reply = HOSTILE[kind]
    with Server(lambda messages: reply) as server:
        assert ask(server, tmp_path, backend) == 0
    lines = (tmp_path / "records.jsonl").read_bytes().splitlines()
    rows = [orjson.loads(line) for line in lines]
    assert [row["kind"] == "error" for row in rows] == [False] * 3
    expected = reply.encode("utf-8", "replace").decode()
    assert {row["reply"] for row in rows} == {expected}
    capsys.readouterr()
    assert main(["analyze", str(tmp_path), "--examples", "3"]) == 0
    shown = capsys.readouterr().out
    assert not any(character in shown for character in "\x00\x1b\x07\u202e")
    assert len(shown) < 20_000


def test_a_report_with_a_hostile_model_holds_no_markup_of_its_making(tmp_path: Path) -> None:
    benchmark = get_benchmark("nhop_implicit")
    with Server(lambda messages: HOSTILE["html"]) as server:
        words = ["run", "--benchmarks", benchmark.name, "--items", "3", "--processes", "1"]
        words += ["--model", "vllm/<b>m</b>", "--base_url", server.url, "--out", str(tmp_path)]
        assert main(words) == 0
    page = (tmp_path / "report.html").read_text()
    assert "<b>m</b>" not in page
    # The item browser holds the reply as data: no bracket of it may open a tag or close a script.
    assert "<script>alert(1)" not in page
    assert "<img src=x" not in page
    assert "vllm/&lt;b&gt;m&lt;/b&gt;" in page
