"""What a core install says when an extra is needed: its name, in one sentence."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from trivium.core.errors import MissingExtraError, import_extra

ROOT = Path(__file__).parent.parent
# A command, what is missing, and the extra that has it.
NEEDS = [
    ("record --out data", "minari", "gym"),
    ("train ppo-lstm --out runs/ppo", "jax", "agents"),
    ("rollout runs/ppo --out data", "jax", "agents"),
    ("eval blicket_game --solver agent:runs/ppo --items 2 --out runs/a", "jax", "agents"),
    ("serve --demo", "starlette", "serve"),
    ("import logs --out runs/i", "inspect_ai", "models"),
    ("eval nhop_implicit --model openai/gpt-4.1-mini --out runs/m", "aiohttp", "models"),
    ("eval blicket_game --model openai/gpt-4.1-mini --out runs/m", "inspect_ai", "models"),
    ("eval nhop_implicit --model anthropic/claude --out runs/m", "inspect_ai", "models"),
    ("eval nhop_implicit --model local/smollm2-135m --out runs/m", "llama_cpp", "local"),
    ("eval nhop_implicit --solver oracle --executor ray --out runs/r", "ray", "ray"),
    ("export nhop_implicit --items 2 --format parquet --out x.parquet", "pyarrow", "exchange"),
    ("export nhop_implicit --items 2 --format huggingface --out hf", "pyarrow", "exchange"),
    ("score nhop_implicit --items 2 --replies r.parquet --out runs/s", "pyarrow", "exchange"),
]


def test_every_command_names_the_extra_that_it_needs(tmp_path: Path) -> None:
    (tmp_path / "r.parquet").touch()
    (tmp_path / "logs").mkdir()
    commands = ["eval nhop_implicit --solver oracle --items 3 --out run", "report run"]
    commands += [command for command, _, _ in NEEDS]
    done = subprocess.run(
        [sys.executable, "-m", "tests.core_install"],
        input="\n".join(commands),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PATH": "", "OPENAI_API_KEY": "sk-none"},
        check=True,
    )
    (made, reported, *refused) = json.loads(done.stdout)
    assert made[0] == reported[0] == 0
    sentences = [
        [2, f"trivium: {package} is missing: pip install 'trivium[{extra}]'\n"]
        for _, package, extra in NEEDS
    ]
    assert refused == sentences


def test_every_extra_is_tried() -> None:
    """But `dev`, `docs`, `notebook` and `polars` (which no command needs), `simulate` (which needs
    `serve` first), and those of libraries that load us; `.ci/extras.py` uses them all.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    unneeded = {"dev", "docs", "notebook", "polars", "simulate"}
    extras = set(project["optional-dependencies"]) - unneeded
    extras -= {"verifiers", "reasoning-gym", "openenv"}
    assert {extra for _, _, extra in NEEDS} >= extras


def test_a_broken_module_is_not_reported_as_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_package.py").write_text("import no_such_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        import_extra("broken_package", "gym")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        import_extra("trivium.no_such_module", "gym")
    with pytest.raises(MissingExtraError, match="absent_package is missing"):
        import_extra("absent_package.part", "gym")
