"""Wrong calls of everything that runs and reports: one sentence, status 2, nothing left behind."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from trivium.cli import main

CONFIGS = {
    "nobench.json": '{"items": 5}',
    "number.json": '{"approach": 5}',
    "list.json": "[1, 2]",
    "broken.json": "{",
    "unknown.json": '{"approach": "sideways"}',
    "hopps.json": '{"approach": "implicit", "hopps": [4]}',
    "noaxis.json": '{"approach": "implicit", "hops": []}',
    "twice.json": '{"approach": "implicit", "hops": [4, 4]}',
    "both.json": '{"approach": "implicit", "m": 8, "m_list": [4]}',
    "noseeds.json": '{"approach": "implicit", "seeds": []}',
    "half.json": '{"approach": "implicit", "seeds": [1.5]}',
    "fly.json": '{"approach": "implicit", "switches": ["fly"]}',
    "unknown_one.json": '{"approach": "implicit", "baseline": "unknown_one"}',
    "small.json": '{"approach": "implicit", "items": 2, "solvers": ["oracle"]}',
    "cold.json": '{"approach": "implicit", "items": 2, "model": "a/b", "temp": -1}',
    "gpt.json": '{"approach": "implicit", "items": 2, "model": "gpt-4.1-mini"}',
    "deep.json": "[" * 100_000,
    "digits.json": "1" * 5_000,
    "notes.txt": "hello",
}
WRONG_CALLS = [
    ("sweep", "CONFIG is missing: name one of blicket_conditions"),
    ("sweep nothing", "no file and no config 'nothing'; there are blicket_conditions"),
    ("sweep missing.toml", "missing.toml: No such file"),
    ("sweep empty", "empty: a config file ends in .toml or .json"),
    ("sweep nobench.json", "nobench.json: benchmark is missing"),
    ("sweep number.json", "number.json: benchmark must be text, got 5"),
    ("sweep list.json", "list.json: expected a table of keys"),
    ("sweep deep.json", "deep.json: nested too deeply"),
    ("sweep digits.json", "digits.json: Exceeds the limit"),
    ("sweep broken.json", "broken.json: Expecting"),
    ("sweep unknown.json", "unknown.json: unknown benchmark 'sideways'"),
    ("sweep hopps.json", "unknown key 'hopps'; did you mean hops?"),
    ("sweep noaxis.json", "hops is empty"),
    ("sweep twice.json", "would be run 2 times"),
    ("sweep both.json", "m_list repeats m"),
    ("sweep noseeds.json", "seeds is empty"),
    ("sweep half.json", "seeds must be a whole number, got 1.5"),
    ("sweep fly.json", "unknown switch 'fly'"),
    ("sweep unknown_one.json", "unknown solver 'unknown_one'"),
    ("sweep small.json --items 0", "items must be at least 1, got 0"),
    ("sweep small.json --processes 0", "processes must be at least 1, got 0"),
    ("sweep small.json --ray_address here:1", "ray_address needs --executor ray"),
    ("sweep small.json --executor moon", "--executor: invalid choice: 'moon'"),
    ("sweep small.json --out notes.txt", "notes.txt: cannot be written"),
    ("sweep small.json --out notes.txt/below", "cannot be written"),
    ("sweep small.json --out /proc/nowhere", "/proc/nowhere: cannot be written"),
    ("sweep small.json --out o --new", "--new begins a new folder: give it or --out"),
    ("sweep small.json --temp 1", "--temp goes with --model, and none is named"),
    ("diagnose nhop_explicit --backend direct", "--backend goes with --model, and none is named"),
    ("sweep cold.json", "temp must be at least 0, got -1.0"),
    ("diagnose nothing", "unknown benchmark 'nothing'"),
    ("diagnose --approach sideways", "unknown benchmark 'sideways'"),
    ("diagnose nhop_explicit --variants nope", "unknown variant 'nope'; there are control, path"),
    ("diagnose nhop_explicit --variants all,all", "would be run 2 times"),
    ("diagnose nhop_explicit --solvers unknown_one", "unknown solver 'unknown_one'"),
    ("diagnose nhop_explicit --order_trials 0", "order_trials must be at least 1, got 0"),
    ("diagnose nhop_explicit --n 2", "hops must be in 3..200, got 2"),
    ("diagnose nhop_explicit --model foo", "model must be PROVIDER/MODEL"),
    ("diagnose nhop_explicit --out notes.txt", "notes.txt: cannot be written"),
    ("plot nothing", "nothing: no such folder"),
    ("report nothing", "nothing: no such folder"),
    ("report empty", "no records.jsonl in this folder"),
    ("report hollow", "hollow: there are no records"),
    ("compare", "RUN is missing"),
    ("compare empty", "no records.jsonl in this folder"),
    ("compare hollow", "hollow: there are no records to compare"),
    ("compare loop", "loop: Too many levels of symbolic links"),
    ("compare notes.txt", "notes.txt line 1: not JSON"),
    ("analyze nothing", "nothing: No such file"),
    ("analyze hollow", "hollow: there are no records"),
    ("import", "FILE, --out are missing"),
    ("import logs", "--out is missing"),
    ("run --model gpt", "model must be PROVIDER/MODEL"),
    ("run --items many", "--items: must be a whole number, got 'many'"),
    ("run --processes 0", "processes must be at least 1, got 0"),
    ("run --items 1 --benchmarks nhop_implicit --out notes.txt", "cannot be written"),
]
# What is missing is said before any work, whatever else there is to do.
WRONG_MODELS = [
    ("sweep gpt.json", "OPENAI_API_KEY is not set"),
    ("sweep small.json --model a/b --backend direct", "provider 'a' has no known URL"),
    ("sweep small.json --model nowhere/x", "Model API nowhere of model 'nowhere/x' not recog"),
    ("diagnose nhop_explicit --model nowhere/x", "Model API nowhere of model 'nowhere/x' not"),
    ("run --items 2 --model openai/x", "OPENAI_API_KEY is not set"),
    ("run --items 2 --model nowhere/x", "Model API nowhere of model 'nowhere/x' not recognized"),
    (
        "eval nhop_implicit --model nowhere/x --out o",
        "not recognized. For an OpenAI-compatible endpoint",
    ),
    ("eval nhop_implicit --model vllm/x --base_url ftp://x --out o", "base_url must be an http"),
    ("eval nhop_implicit --model vllm/x --items 5000 --out o", "Add --yes to send them"),
    ("sweep implicit_small --model vllm/x", "This would send 1,200 requests"),
    ("import nothing --out o", "nothing: no such file or folder"),
    ("import notes.txt --out o", "an Inspect log ends in .eval or .json"),
    ("import empty --out o", "empty: no Inspect logs in this folder"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for name, text in CONFIGS.items():
        Path(name).write_text(text)
    Path("empty").mkdir()
    Path("hollow").mkdir()
    Path("loop").symlink_to("loop")
    Path("hollow/records.jsonl").touch()
    return tmp_path


def refused(call: str, says: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(folder.rglob("*"))
    assert main(call.split()) == 2
    said = capsys.readouterr()
    assert said.err.startswith("trivium: "), said.err
    assert said.err.count("\n") == 1, said.err
    assert says in said.err
    assert not said.out
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(("call", "says"), WRONG_CALLS)
def test_a_wrong_call_is_refused(
    call: str, says: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(call, says, folder, capsys)


@pytest.mark.skipif(find_spec("inspect_ai") is None, reason="needs the extra [models]")
@pytest.mark.parametrize(("call", "says"), WRONG_MODELS)
def test_a_model_that_cannot_be_asked_is_refused_before_any_work(
    call: str, says: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(call, says, folder, capsys)
