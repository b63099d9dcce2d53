"""The study of the modular network: its curves are trained, resumed and drawn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from studies.modular_network import AGENTS, main


def test_curves_are_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, name in enumerate(AGENTS):
        curves = [[0.0, 1.0 + number, 2.0], [0.5, 2.0, 2.0 + number]]  # [seed][point]
        record = {"steps": [1000, 2000, 3000], "greedy_reward": {"train": curves}}
        (tmp_path / f"{name}.json").write_text(json.dumps(record), encoding="utf-8")
    main(["draw", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "LSTM: 2.00 after 3,000 steps, [2.0, 2.0]" in printed
    assert "modular network: 2.50 after 3,000 steps, [2.0, 3.0]" in printed
    drawn = (tmp_path / "curves.svg").read_text(encoding="utf-8")
    for text in (*AGENTS.values(), "3 tests", "thousand steps"):
        assert text in drawn


@pytest.mark.slow
def test_both_agents_are_trained_and_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train", str(tmp_path), "--seeds", "2", "--steps", "16384", "--points", "2"]
    words += ["--width", "8"]
    main([*words, "--seconds", "0"])  # one point of each agent
    assert capsys.readouterr().out.count(" 8,192 steps") == 2
    main(words)
    assert capsys.readouterr().out.count(" 16,384 steps") == 2
    for name in AGENTS:
        record = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
        assert record["finished"]
        assert record["steps"] == [8192, 16384]
        assert len(record["greedy_reward"]["train"]) == 2
    main([*words])
    assert "steps/s" not in capsys.readouterr().out  # nothing is trained again
