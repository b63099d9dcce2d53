"""Local models: their files, a server that ends with its parent process, and (opt-in) a real model.

`make test-local` runs the tests that need the extra `local`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path

import pytest

from tests.models.common import records, summary
from trivium.benchmarks import benchmark_names
from trivium.cli import main
from trivium.models import local
from trivium.models.providers import Model
from trivium.models.settings import ModelOptions, Settings

REAL = pytest.mark.skipif(
    not os.environ.get("TRIVIUM_TEST_LOCAL"), reason="make test-local runs it"
)
# A server of nothing, which says that it is there: the part of a module llama_cpp.server.
FAKE = """
import sys, http.server
port = int(sys.argv[sys.argv.index("--port") + 1])
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(" ".join(sys.argv).encode())
    def log_message(self, *words): pass
if "broken" in sys.argv[sys.argv.index("--model") + 1]:
    sys.exit("this is no model")
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which llama_cpp.server is a stub."""
    package = tmp_path / "llama_cpp" / "server"
    package.mkdir(parents=True)
    for folder in (package.parent, package):
        (folder / "__init__.py").touch()
    (package / "__main__.py").write_text(FAKE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path)
    return tmp_path


def model(name: str) -> Model:
    return Model(name, Settings(), ModelOptions())


def is_served(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/models", timeout=5):
            return True
    except OSError:
        return False


def test_a_server_lives_as_long_as_the_block(fake: Path) -> None:
    Path("one.gguf").touch()
    asked = [model("local/one.gguf"), model("vllm/m"), model("local/one.gguf")]
    with local.served_locally(asked) as served:
        assert list(served) == [asked[0]]
        url = served[asked[0]].options.base_url
        assert url is not None
        with urllib.request.urlopen(f"{url}/models", timeout=5) as reply:
            # Its default is that a new call ends the one before it.
            assert "--interrupt_requests false" in reply.read().decode()
    assert not is_served(url)


def test_a_server_ends_with_a_process_that_is_killed(fake: Path) -> None:
    Path("one.gguf").touch()
    script = """
import time
from trivium.models.local import served_locally
from trivium.models.providers import Model
from trivium.models.settings import ModelOptions, Settings
one = Model("local/one.gguf", Settings(), ModelOptions())
with served_locally([one]) as served:
    print(served[one].options.base_url, flush=True)
    time.sleep(60)
"""
    run = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    url = run.stdout.readline().strip()
    assert is_served(url)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    deadline = time.monotonic() + 20
    while is_served(url):
        assert time.monotonic() < deadline, "the server outlives the process that started it"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("local/none.gguf", "none.gguf: no such file"),
        ("local/gpt", "must be local/smollm2-135m or local/FILE.gguf"),
        ("local/broken.gguf", "broken.gguf: llama.cpp cannot serve it: this is no model"),
    ],
)
def test_what_cannot_be_served_is_said_in_a_sentence(
    name: str, sentence: str, fake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("broken.gguf").touch()
    words = ["eval", "nhop_implicit", "--items", "1", "--model", name, "--out", "o"]
    assert main(words) == (1 if "broken" in name else 2)  # that it is broken shows when it is asked
    assert sentence in capsys.readouterr().err


@REAL
@pytest.mark.parametrize("backend", ["direct", "inspect"])
@pytest.mark.parametrize("name", benchmark_names())
def test_a_real_model_replies_to_every_benchmark(name: str, backend: str, tmp_path: Path) -> None:
    flags = ["--items", "2", "--seed", "7", "--max_output_tokens", "400", "--backend", backend]
    words = ["eval", name, "--model", "local/smollm2-135m", "--out", str(tmp_path), *flags]
    assert main(words) == 0
    found = records(tmp_path)
    assert len(found) == 2
    assert all(row["reply"] for row in found)
    assert Counter(row["kind"] for row in found)["failed"] == 0
    tokens = summary(tmp_path)["tokens"]
    assert tokens["input_tokens"]["reported"] == tokens["output_tokens"]["reported"] == 2
