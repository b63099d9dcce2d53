"""Installs every extra alone, from the wheel, in a fresh environment, and uses what it is for.

`python .ci/extras.py` tries the light ones, `python .ci/extras.py NAME ...` those named, and
`python .ci/extras.py all` every one (local builds llama.cpp; simulate needs Chromium).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIGHT = ("core", "exchange", "notebook", "polars", "gym", "models", "serve", "docs")
CONSTRAINTS = {
    "verifiers": "constraints-verifiers.txt",
    "reasoning-gym": "constraints-verifiers.txt",
    "openenv": "constraints-openenv.txt",
}
ENDPOINT = """
import http.server, json, threading, trivium

class Endpoint(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        message = {"role": "assistant", "content": "E_0001"}
        body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *words):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_address[1]}/v1"
for backend in ("direct", "inspect"):
    done = trivium.evaluate("nhop_implicit", "myhost/x", items=3, base_url=url, backend=backend)
    assert done.summary.items == 3, done
"""
KERNEL = """
from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel()
shown = []
code = "import trivium; trivium.evaluate('nhop_implicit', 'oracle', items=3).to_pandas().shape[0]"
client.execute_interactive(code, timeout=60, output_hook=shown.append)
manager.shutdown_kernel(now=True)
assert any(one["content"].get("data", {}).get("text/plain") == "3" for one in shown), shown
"""
PEOPLE = """
import threading, time, urllib.request, trivium

threading.Thread(target=trivium.serve, kwargs={"port": 8719}, daemon=True).start()
page = b""
for _ in range(100):
    try:
        page = urllib.request.urlopen("http://127.0.0.1:8719/").read()
        break
    except OSError:
        time.sleep(0.2)
assert b"<html" in page
"""
# What each extra is for: commands, or Python where the text has several lines.
USES = {
    "core": "trivium run --benchmarks nhop_implicit --items 5 --out runs/core",
    "exchange": "trivium export nhop_implicit --items 5 --format parquet --out items.parquet",
    "models": ENDPOINT,
    "local": "trivium eval nhop_implicit --model local/smollm2-135m --items 2"
    " --max_output_tokens 16 --out runs/local",
    "gym": "trivium record --policy information_gain --episodes 5 --out data",
    "agents": "trivium train ppo-lstm --preset large --width 8 --steps 8192 --out runs/agent",
    "notebook": KERNEL,
    "polars": "import trivium\ntrivium.evaluate('nhop_implicit', 'oracle', items=3).to_polars()",
    "ray": "trivium eval nhop_implicit --solver oracle --items 20 --executor ray --out runs/ray",
    "verifiers": "import verifiers.v1 as vf\n"
    "taskset = {'id': 'trivium-verifiers', 'benchmark': 'nhop_explicit'}\n"
    "environment = vf.load_environment(vf.resolve_env_config({'taskset': taskset}))\n"
    "assert len(list(environment.taskset.take(3))) == 3",
    "reasoning-gym": "import reasoning_gym, trivium.adapters.reasoning_gym\n"
    "data = reasoning_gym.create_dataset('trivium_nhop_explicit', size=3, seed=1)\n"
    "assert data.score_answer(data[0]['answer'], data[0]) == 1.0",
    "openenv": "from trivium.adapters.openenv import TriviumAction, TriviumEnvironment\n"
    "environment = TriviumEnvironment('blicket_game', preset='three-objects')\n"
    "environment.reset(seed=7)\n"
    "assert environment.step(TriviumAction(reply='TEST A')).text",
    "serve": PEOPLE,
    "simulate": "trivium serve demo.toml --simulate 1 --port 0",
    "docs": f"python -m mkdocs build --strict -f {ROOT / 'mkdocs.yml'} -d site",
}


def check(extra: str, wheel: Path) -> str:
    """How the extra was installed and used; an error is raised."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        venv.create(Path(folder) / "env", with_pip=True)
        programs = Path(folder) / "env" / "bin"
        what = str(wheel) if extra == "core" else f"{wheel}[{extra}]"
        limits = ROOT / CONSTRAINTS.get(extra, "constraints.txt")
        _run([programs / "python", "-m", "pip", "install", "-q", "-c", limits, what], folder)
        _run([programs / "python", "-m", "pip", "check"], folder)
        packages = len(list(programs.parent.glob("lib/*/site-packages/*.dist-info")))
        if extra == "simulate":
            name = "src/trivium/benchmarks/blicket/people/paper.toml"
            (Path(folder) / "demo.toml").write_bytes((ROOT / name).read_bytes())
        use = USES[extra]
        if "\n" in use:
            _run([programs / "python", "-c", use], folder)
        else:
            program, *words = use.split()
            _run([programs / program, *words], folder)
    return f"{extra}: {packages} packages, works ({time.monotonic() - started:.0f} s)"


def _run(command: list[str | Path], folder: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def main(names: list[str]) -> None:
    """Build the wheel and check these extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    known = {"core", *project["optional-dependencies"]} - {"dev"}
    assert known == set(USES), f"without a use: {known ^ set(USES)}"
    chosen = list(USES) if names == ["all"] else names or LIGHT
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, str(ROOT)]
        subprocess.run(command, check=True)
        wheel = next(Path(folder).glob("*.whl"))
        for extra in chosen:
            print(check(extra, wheel), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
