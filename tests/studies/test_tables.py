"""Every number of a table follows from the records, recomputed here in another way."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import orjson
import pytest
from studies.blicket_learners import __main__ as entry
from studies.blicket_learners import beyond_tables, charts, imitator_tables, learner_tables
from studies.blicket_learners.paper import (
    FORM_PLATEAUS,
    PAPER_TABLE,
    PLATEAUS,
    constant_accuracy,
    constant_reward,
    ideal_reward,
    untested_reward,
)
from studies.blicket_learners.results import Results
from studies.theme import Figure

from trivium.benchmarks.blicket.inference.ceilings import BEST, PAPER_SPACES, ceilings
from trivium.benchmarks.blicket.inference.hypotheses import Hypothesis, lights, split
from trivium.report.plot import Point, Series

STUDY = Path(__file__).parents[2] / "studies" / "blicket_learners"
SEEDS = 8


STUDENT = 2.364624  # of 7 degrees of freedom, two-sided at 95%


def seeds(usual: float, other: float, others: int) -> list[float]:
    """Eight seeds, some of which have another value."""
    return [usual] * (SEEDS - others) + [other] * others


def ends(usual: float, other: float, others: int) -> tuple[float, float, float]:
    """Low end, mean and high end of Student's interval of such seeds."""
    share = others / SEEDS
    mean = usual + (other - usual) * share
    deviation = abs(other - usual) * (share * (1 - share) * SEEDS / (SEEDS - 1)) ** 0.5
    half = STUDENT * deviation / SEEDS**0.5
    return mean - half, mean, mean + half


def cell(usual: float, other: float, others: int, low: float = -3.0, high: float = 3.0) -> str:
    """Mean and interval of such seeds, cut off where no value can lie."""
    first, mean, last = ends(usual, other, others)
    return f"{mean:.2f} [{max(low, first):.2f}, {min(high, last):.2f}]"


def count_cell(usual: float, other: float, others: int) -> str:
    """The same of numbers of tests."""
    return cell(usual, other, others, 0.0, 21.0)


def figures(reward: Sequence[float], **others: Sequence[float]) -> dict[str, Sequence[float]]:
    """What a record says of the greedy policy, seed by seed."""
    return {"reward": reward, "tests": reward, "bits": reward, "form": reward, **others}


def task(
    train: Mapping[str, Any],
    test: Mapping[str, Any] | None = None,
    *,
    sampled: Sequence[Sequence[float]] | None = None,
    steps: Sequence[int] = (500_000, 1_000_000),
    split: str = "none",
    forced: int = 0,
    structure: str = "quiz",
    freed: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """One task of a learner's record; sampled values are [point][seed]."""
    curve = sampled or [train["reward"]] * len(steps)
    by_seed = [list(values) for values in zip(*curve, strict=True)]
    greedy = {"as trained": {"train": train, "test": test or train}}
    if freed is not None:
        greedy["no forced steps"] = {"train": freed, "test": freed}
    return {
        "task": {"split": split, "forced": forced, "reward_structure": structure},
        "steps": list(steps),
        "converged": [400, *[-1] * (SEEDS - 1)],
        "reward": by_seed,
        "form": by_seed,
        "greedy_reward": {"train": by_seed, "test": by_seed},
        "greedy": greedy,
    }


def learner(
    *tasks: dict[str, Any], agent: str = "ppo-lstm", preset: str = "paper", width: int = 256
) -> dict[str, Any]:
    algorithm, policy = agent.split("-")
    config = {"algorithm": algorithm, "policy": policy, "width": width, "environments": 4}
    record = {"name": agent, "preset": preset, "agent": config}
    return record | {"tasks": list(tasks), "seeds": SEEDS}


def only(rows: Iterable[Mapping[str, str]]) -> Mapping[str, str]:
    (row,) = rows
    return row


def test_learning_is_what_the_seeds_say() -> None:
    own = task(
        figures(seeds(3.0, 1.0, 1), tests=seeds(2.0, 6.0, 4)),
        sampled=[seeds(0.0, 0.0, 0), seeds(5 / 3, 2.9, 7)],
    )
    row = only(learner_tables.learning(Results([learner(own)])))
    assert row == {
        "agent": "PPO LSTM 256",
        "reward, sampled": cell(5 / 3, 2.9, 7),
        "reward, greedy": cell(3.0, 1.0, 1),
        "tests": count_cell(2.0, 6.0, 4),
        "converged": "1/8",
        "within 0.1 of 5/3": "1/8",
        "steps": "1.00 M",
    }
    assert row["reward, greedy"] == "2.75 [2.16, 3.00]"  # low, mean and high are all different


def test_pairs_are_compared_at_the_last_common_step() -> None:
    curve = [seeds(1.0, 1.2, 4), seeds(2.0, 2.2, 4)]
    short = [seeds(0.5, 0.7, 4), seeds(0.9, 1.1, 4)]
    long = task(figures(curve[1]), sampled=curve)
    brief = task(figures(short[1]), sampled=short, steps=(250_000, 600_000))
    units = [learner(long), learner(brief, agent="a2c-lstm"), learner(brief, width=512)]
    units += [learner(long, agent="a2c-mlp"), learner(long, preset="large")]
    rows = list(learner_tables.pairs(Results(units)))
    assert [(row["question"], row["agent"], row["compared with"]) for row in rows] == [
        ("memory", "A2C LSTM 256", "A2C MLP 256"),
        ("PPO or A2C", "PPO LSTM 256", "A2C LSTM 256"),
        ("512 or 256 units", "PPO LSTM 512", "PPO LSTM 256"),
    ]
    assert [row["reward, sampled"] for row in rows[1:]] == [cell(1.0, 1.2, 4), cell(0.9, 1.1, 4)]
    assert [row["its reward"] for row in rows[1:]] == [cell(0.9, 1.1, 4), cell(1.0, 1.2, 4)]
    # All pairs of rewards but four in sixteen are in one order: the chance is 2 * 505 / 12,870.
    assert rows[1]["the first is"] == "no difference shown (p = 0.13)"
    assert {row["at step"] for row in rows} == {"0.60 M"}
    short_study = learner_tables.pairs(Results(units, judged=False))
    assert {row["the first is"] for row in short_study} == {"too short to judge"}


@pytest.mark.parametrize(
    ("reward", "lies"),
    [
        (seeds(1.0, 2.0, 1), "no difference shown (p = 1.00)"),
        (seeds(0.0, 3.0, 4), "no difference shown"),
        (seeds(3.0, 3.0, 0), "above (p < 0.001)"),
        (seeds(0.8, 0.9, 4), "below (p < 0.001)"),
    ],
)
def test_agents_differ_only_when_permutations_say_so(reward: list[float], lies: str) -> None:
    never = seeds(1.0, 2.0, 1)
    forced = task(
        figures(reward), forced=5, freed=figures(seeds(0.0, 0.4, 4), tests=seeds(1.0, 2.0, 1))
    )
    unit = learner(task(figures(never)), forced)
    row = only(learner_tables.forced_exploration(Results([unit])))
    assert row["with forced steps is"].startswith(lies)
    assert row["without them is"] == "below (p < 0.001)"
    assert row["without them"] == cell(0.0, 0.4, 4)
    assert row["tests without them"] == count_cell(1.0, 2.0, 1)
    assert row["reward when never forced"] == cell(1.0, 2.0, 1)
    alone = learner_tables.forced_exploration(Results([learner(forced)]))
    assert list(alone) == []  # nothing to compare with


def test_held_out_machines_and_who_has_seen_all() -> None:
    """Of the seeds that know the machine, some still answer no better than a constant."""
    bits = [2.585, 2.585, 2.585, 2.585, 1.2, 1.2, 1.2, 1.2]
    reward = [3.0, 1.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]
    test = figures(reward, tests=seeds(5.0, 6.0, 1), bits=bits)
    freed = figures(seeds(-1.0, -1.0, 0), bits=seeds(0.0, 0.0, 0))
    trained = figures(seeds(3.0, 2.0, 1))
    own = task(trained, test, split="conjunctive_train", forced=5, freed=freed)
    free = task(figures(seeds(3.0, 2.0, 7)), test, split="both_loo")
    first, second, third = learner_tables.held_out(Results([learner(own, free)]))
    assert (first["split"], first["constant answer"]) == ("both_loo", "0")
    assert [row["forced steps"] for row in (first, second, third)] == [
        "never",
        "5, with them",
        "5, without them",
    ]
    assert second == {
        "agent": "PPO LSTM 256",
        "split": "conjunctive_train",
        "forced steps": "5, with them",
        "reward, trained on": cell(3.0, 2.0, 1),
        "reward, held out": cell(3.0, 1.0, 1),
        "constant answer": "1",
        "above it": "yes (p = 0.008)",  # 2 of 256 ways to turn signs: one difference is 0
        "tests, held out": count_cell(5.0, 6.0, 1),
        "bits gained, held out": cell(1.2, 2.585, 4, 0.0, 2.585),
        "seeds with all bits": "4",
        "of these above constant": "3",
    }
    assert third["reward, held out"] == "-1.00 [-1.00, -1.00]"
    assert (third["above it"], third["seeds with all bits"]) == ("no", "0")


def test_the_step_from_which_the_form_is_named() -> None:
    above, unsure = seeds(0.9, 0.8, 4), seeds(0.4, 0.7, 4)
    own = figures(seeds(0.0, 0.0, 0), form=seeds(0.6, 0.8, 1), tests=seeds(1.0, 2.0, 1))
    for curve, since in (
        ([above, unsure, above], "30"),
        ([unsure, above, above], "20"),
        ([above, above, unsure], "-"),
    ):
        record = task(own, sampled=curve, steps=(10, 20, 30), structure="quiz-typeonly")
        row = only(learner_tables.naming_the_form(Results([learner(record)])))
        assert row["0.6 from step"] == since
        assert row["form, greedy"] == cell(0.6, 0.8, 1, 0.0, 1.0)
        assert row["above chance"] == "yes (p = 0.004)"
        assert row["tests"] == count_cell(1.0, 2.0, 1)
        assert row["form, held out"] == row["held out above chance"] == "-"


def imitator(
    label: str, data: str, reward: list[float], freed: list[float] | None = None
) -> dict[str, Any]:
    own = {"reward": reward, "sd": seeds(1.0, 3.0, 4), "form": seeds(0.5, 0.9, 7)}
    own["tests"] = seeds(1.0, 2.0, 1)
    played = {"as collected": own} | ({"no forced steps": own | {"reward": freed}} if freed else {})
    unit: dict[str, Any] = {"label": label, "data": data, "data_reward": -0.001}
    return unit | {"episodes": 60_000, "played": played}


def test_imitators_stand_beside_the_paper_with_forced_steps_and_without() -> None:
    unit = imitator("decision-transformer", "random+5", seeds(2.0, 3.0, 1), seeds(0.0, 1.0, 4))
    copied = imitator("cloning-30", "paper_a2c-lstm_256_type", seeds(2.0, 3.0, 1))
    extra = imitator("cloning-1", "ideal", seeds(0.0, 0.2, 4))
    first, second, third = imitator_tables.imitators(Results([], [copied, unit, extra]))
    assert first == {
        "model": "decision transformer",
        "data": "random+5",
        "reward ± sd, with forced steps": f"{cell(2.0, 3.0, 1)} ± 2.00",
        "without them": f"{cell(0.0, 1.0, 4)} ± 2.00",
        "paper's reward ± sd": "2.06 ± 1.00",
        "overlap, with": "yes",
        "overlap, without": "no",
        "FCA, with": cell(0.5, 0.9, 7, 0.0, 1.0),
        "FCA, without": cell(0.5, 0.9, 7, 0.0, 1.0),
        "paper's FCA": "0.71",
        "tests, without": count_cell(1.0, 2.0, 1),
        "episodes": "60,000",
        "reward in the data": "0.00",
        "ideal observer": "2.41",
    }
    assert (second["data"], second["paper's FCA"]) == ("a2c-lstm", "0.55")
    assert second["without them"] == second["reward ± sd, with forced steps"]  # none was forced
    assert (third["data"], third["paper's FCA"], third["overlap, with"]) == ("ideal", "-", "-")


def test_imitators_are_compared_by_forced_steps_and_by_window() -> None:
    units = [
        imitator("decision-transformer", "random", seeds(0.0, 0.1, 4)),
        imitator("decision-transformer", "random+5", seeds(2.0, 2.1, 4), seeds(0.0, 0.1, 4)),
        imitator("cloning-30", "ideal", seeds(3.0, 3.0, 0)),
        imitator("cloning-1", "ideal", seeds(0.0, 0.2, 4)),
    ]
    with_them, without, window = imitator_tables.imitator_pairs(Results([], units))
    assert with_them["the first is"] == "above (p < 0.001)"
    assert without["the first is"] == "no difference shown (p = 1.00)"
    assert without["reward"] == without["its reward"] == cell(0.0, 0.1, 4)
    assert (window["model"], window["the first is"]) == ("behaviour cloning", "above (p < 0.001)")


def test_the_printed_replies_score_as_printed_but_for_the_misprint() -> None:
    rows = list(imitator_tables.printed_table(Results()))
    other = [row for row in rows if row["scored again"] != row["printed"]]
    assert len(rows) == 12
    row = only(other)
    assert list(row.values())[:4] == ["PaLM", "two-shot", "not given", "disjunctive"]
    assert row["scored again"] == "1/1, 1 wrong, structure -"
    assert row["printed"] == "1/2, 1 wrong, structure -"


def test_transfer_is_averaged_over_forms_before_seeds() -> None:
    """Accuracies of both unseen forms swing against each other, so their mean does not."""
    swing = {"threshold-2": seeds(0.4, 0.8, 4), "inhibitor": seeds(0.8, 0.4, 4)}
    known = {3: seeds(1.0, 0.6, 1), 4: seeds(0.7, 0.5, 7), 5: seeds(0.7, 0.5, 7)}
    unit = {
        "agent": {"policy": "lstm"},
        "forms": ["disjunctive"],
        "steps": [1_000_000, 2_000_000, 3_000_000],
        "reward": [[0.43, 0.43, 0.9], [0.3, 0.4, 0.43]],
        "tested": [
            {"form": form, "objects": objects, "accuracy": values or known[objects]}
            for form, values in {"disjunctive": None, **swing}.items()
            for objects in (3, 4, 5)
        ],
    }
    row = only(beyond_tables.transfer(Results(transfers=[unit])))
    known_cell = cell(1.0, 0.6, 1, 0.0, 1.0)
    assert row["known forms, 3 objects"] == f"{known_cell}; above 0.57: yes (p = 0.004)"
    assert row["known forms, 4-5 objects"].startswith(cell(0.7, 0.5, 7))
    assert row["unseen forms, 3 objects"].startswith("0.60 [0.60, 0.60]")
    assert (row["best without a test"], row["first above it"]) == ("0.43", "3.00 M")
    idle = unit | {"reward": [[0.43, 0.43, 0.43]]}
    assert only(beyond_tables.transfer(Results(transfers=[idle])))["first above it"] == "never"


def test_q_learning_stands_beside_the_paper() -> None:
    unit: dict[str, Any] = {"config": {"definition": "drawn"}, "episodes": seeds(1000, 2000, 4)}
    unit |= {"steps": seeds(5000, 5000, 0), "converged": 7, "trials": 8}
    own, theirs = imitator_tables.qlearning(Results(trials=[unit]))
    assert list(own.values())[1:] == ["1,500 [1,053, 1,947]", "5,000 [5,000, 5,000]", "7/8"]
    assert list(theirs.values()) == ["the paper", "70", "292", "-"]


def drawn(figure: Figure) -> list[tuple[str, Series, Point]]:
    """The panel, the series and the point of every figure that is drawn."""
    return [
        (panel.title, one, point)
        for panel in figure.panels
        for one in panel.series
        for point in one.points
    ]


def test_figures_draw_what_the_tables_say() -> None:
    never, forced, freed = seeds(1.0, 2.0, 1), seeds(3.0, 2.0, 1), seeds(0.0, 1.0, 1)
    quiz = learner(task(figures(never)), task(figures(forced), forced=5, freed=figures(freed)))
    rows = drawn(charts.figure_3b(Results([quiz])))
    points = {
        (point.x, one.shade): (point.low, point.value, point.high)
        for _, one, point in rows
        if one.name == "LSTM"
    }
    high = (ends(3.0, 2.0, 1)[0], 2.875, 3.0)
    assert points[5, 100] == pytest.approx(high)  # with the forced steps
    assert points[5, 45] == pytest.approx(ends(0.0, 1.0, 1))  # without them
    assert points[0, 100] == points[0, 45]
    assert points[0, 45] == pytest.approx(ends(1.0, 2.0, 1))
    levels = {point.value for _, one, point in rows if one.name == "ideal observer"}
    assert levels == {0, 5 / 3, 7 / 3, 3}


def test_held_out_machines_are_drawn_with_floor_and_ceiling() -> None:
    never, forced, freed = seeds(1.0, 2.0, 1), seeds(3.0, 2.0, 1), seeds(0.0, 1.0, 1)
    test = figures(never, tests=seeds(2.0, 3.6, 4), bits=seeds(1.0, 1.4, 4))
    made = task(figures(forced), figures(forced), split="both_loo", forced=5, freed=figures(freed))
    held_out = learner(task(figures(forced), test, split="both_loo"), made)
    rows = drawn(charts.figure_3c(Results([held_out])))
    values = {one.name: point.value for _, one, point in rows}
    assert values == {
        "trained on": 2.875,
        "held out": 1.125,
        "held out, 5 forced steps in training and test": 2.875,
        "held out, 5 forced steps in training only": 0.125,
        "constant answer": 0.0,
        "ideal observer": 3.0,
    }
    notes = [point.tip for _, _, point in rows if "bits" in point.tip]
    assert [note.partition("; ")[2] for note in notes] == ["2.8 tests, 1.2 bits"]


def test_curves_begin_at_step_0_and_end_where_training_did_or_with_the_longest() -> None:
    low, high = seeds(0.0, 1.0, 1), seeds(1.0, 2.0, 1)
    short = learner(task(figures(high), sampled=[low, high]))
    quick = task(figures(high), sampled=[high], steps=(300_000,)) | {"converged": [300_000] * 8}
    long = task(figures(high), sampled=[low, high, low], steps=(500_000, 1_000_000, 1_500_000))
    units = [short, learner(quick, agent="ppo-lnlstm"), learner(long, agent="a2c-lstm")]
    names = ["short", "quick", "long"]
    units = [unit | {"name": name} for unit, name in zip(units, names, strict=True)]
    untrained = [{"values": {"short": [[0.5] * 8]}}]
    rows = drawn(charts.figure_3a(Results(units, untrained=untrained)))
    curves: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for title, one, point in rows:
        curves.setdefault((title, one.name), []).append((point.x, point.value))
    panel = "{}, 256 units, the paper's batch"
    assert curves[panel.format("PPO"), "LSTM"] == [(0.0, 0.5), (0.5, 0.125), (1.0, 1.125)]
    assert curves[panel.format("A2C"), "LSTM"] == [(0.5, 0.125), (1.0, 1.125), (1.5, 0.125)]
    # All of its seeds converged, so that it goes on as it ended.
    assert curves[panel.format("PPO"), "layer-norm LSTM"] == [(0.3, 1.125), (1.5, 1.125)]


def test_transfer_is_drawn_as_its_distance_from_a_constant_answer() -> None:
    tested = {"form": "disjunctive", "accuracy": seeds(1.0, 0.6, 1)}
    unit: dict[str, Any] = {"agent": {"policy": "lstm"}, "forms": ["disjunctive"]}
    unit |= {"tested": [tested | {"objects": 3}, tested | {"objects": 4}]}
    (panel,) = charts.overhypotheses(Results(transfers=[unit])).panels
    known, more = panel.cells
    assert (known.text, more.text) == ("0.95*", "0.95")
    assert known.value == pytest.approx((0.95 - 12 / 21) / 0.4, abs=0.01)
    assert more.value == pytest.approx((0.95 - 32 / 60) / 0.4, abs=0.01)
    assert known.tip.endswith("0.95*, 0.83 to 1.00")


def test_imitators_are_drawn_beside_the_paper() -> None:
    unit = imitator("cloning-30", "random+10", seeds(2.0, 3.0, 1), seeds(0.0, 1.0, 4))
    rows = drawn(charts.table_1(Results(imitators=[unit])))
    values = {one.name: point.value for _, one, point in rows}
    assert values == {
        "ours, with the forced steps": 2.125,
        "ours, without them": 0.5,
        "paper": 0.14,
        "ideal observer": pytest.approx(2.84, abs=0.005),
    }
    assert rows[0][2].tip.endswith("; sd 2.00, FCA 0.85 (paper 0.99, 0.60)")


def machines_results() -> Results:
    """One agent on two numbers of machines, above the floor with many only; two points each."""

    def curve(*ends: list[float]) -> dict[str, Any]:
        whole = [[[0.0, value] for value in end] for end in ends]
        return {"whole": whole, "tests": [[[0.0, 7.5]] * 8] * 2}

    new = curve(seeds(0.0, 0.1, 4), seeds(0.8, 0.9, 4))
    unit = {
        "label": "lstm",
        "counts": [6, 64],
        "curve": {"machines shown": curve([1.0] * 8, [0.9] * 8), "new machines": new},
        "episodes": [[300.0, 5_280.0], [3_520.0, 5_280.0]],
    }
    memory = {"whole": [[0.0] * 8] * 2}
    observers = {"blind": {"new machines": {"whole": 0.1}}, "counts": [6, 64]}
    observers |= {"ideal": {"new machines": {"whole": 0.99}}}
    return Results(machines=[unit], observers=[observers | {"memoriser": {"new machines": memory}}])


def test_machines_shown_are_compared_with_floor_memory_and_ceiling() -> None:
    few, many = beyond_tables.machines(machines_results())
    assert (few["machines shown"], many["machines shown"]) == ("6", "64")
    assert few["all answers right"] == cell(0.0, 0.1, 4, 0.0, 1.0)
    assert (few["above blind"], many["above blind"]) == ("no", "yes (p = 0.008)")
    assert (many["memoriser"], many["ideal observer"], many["tests"]) == ("0.00", "0.99", "7.5")
    assert many["on the machines shown"] == "0.90"
    found = {
        (one.name, panel.title, point.x): point.value
        for panel in charts.machines(machines_results()).panels
        for one in panel.series
        for point in one.points
    }
    assert found["LSTM", "new machines", 64] == pytest.approx(0.85)
    assert found["memoriser", "new machines", 64] == 0
    assert found["best without a test", "new machines", 6] == 0.1
    assert found["ideal observer", "new machines", 6] == 0.99


def test_equal_exposures_are_points_of_the_curve() -> None:
    """6 machines were seen 880 times each at the last point, 64 of them 55 times at the first."""
    rows = list(beyond_tables.equal_exposures(machines_results()))
    cells = {row["episodes per machine"]: (row["6 shown"], row["64 shown"]) for row in rows}
    assert cells == {
        "55": ("-", "0.00"),
        "220": ("-", "-"),
        "880": ("0.05", "-"),
        "3,520": ("-", "-"),
    }


def test_the_stored_tables_are_those_of_the_stored_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """tables.md is current, and its greedy rewards are the plain means of the records."""
    shutil.copytree(STUDY / "data", tmp_path / "data")
    assert entry.main(["--report_only", "--out", str(tmp_path)]) == 0
    text = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert text == (STUDY / "tables.md").read_text(encoding="utf-8")
    stored = {path.name for path in (STUDY / "figures").iterdir()}
    assert {path.name for path in (tmp_path / "figures").iterdir()} == stored
    names = {"mlp": "MLP", "lstm": "LSTM", "lnlstm": "layer-norm LSTM"}
    for path in (tmp_path / "data").glob("paper_*_quiz.json"):
        unit = orjson.loads(path.read_bytes())
        agent = unit["agent"]
        label = f"{agent['algorithm'].upper()} {names[agent['policy']]} {agent['width']}"
        values = unit["tasks"][0]["greedy"]["as trained"]["train"]["reward"]
        (line,) = (
            line
            for line in text.splitlines()
            if line.startswith(f"| {label} |") and line.count("|") == 8
        )
        assert line.split(" | ")[2].startswith(f"{sum(values) / len(values):.2f} [")


def test_an_empty_study_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "data").mkdir()
    assert entry.main(["--report_only", "--out", str(tmp_path)]) == 0
    text = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert text.count("Not run.") == 8  # all but Table 2, for which nothing is trained
    assert not (tmp_path / "figures").exists()


def test_table_2_needs_no_learners(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.main(["--only", "table2", "--out", str(tmp_path)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["tables.md"]


def test_the_plateaus_are_exact() -> None:
    best = next(
        one.rewards for one in ceilings(PAPER_SPACES["the paper's six"], 3) if one.explorer == BEST
    )
    assert list(best) == pytest.approx(list(PLATEAUS.values()))
    for name, plateaus in FORM_PLATEAUS.items():
        trained = split(name)[0].hypotheses
        found = [best_forms(trained, tests) / len(trained) for tests in range(len(plateaus))]
        assert found == pytest.approx(list(plateaus.values()))


def best_forms(left: tuple[Hypothesis, ...], tests: int) -> int:
    """How many of these machines' forms can be named correctly after so many more tests."""
    if tests == 0 or not left:
        forms = [machine.form for machine in left]
        return max((forms.count(form) for form in forms), default=0)
    return max(
        sum(
            best_forms(tuple(one for one in left if lights(one, placed) == light), tests - 1)
            for light in (0.0, 1.0)
        )
        for placed in range(8)
    )


def test_constant_answers() -> None:
    """Machines of three objects: A, B, C, AB, AC, BC and ABC; conjunctive ones have two or more."""
    assert constant_accuracy("disjunctive", 3) == pytest.approx(12 / 21)
    assert constant_accuracy("conjunctive", 3) == pytest.approx(9 / 12)
    assert [constant_reward(name) for name in ("both_loo", "conjunctive_loo")] == [0, 1]
    assert untested_reward(3, ("disjunctive",)) == pytest.approx(3 / 7)
    assert untested_reward(3, ("disjunctive", "conjunctive")) == pytest.approx(9 / 11)


def test_the_ideal_observer_of_random_data() -> None:
    """More tests earn more, and with no forced step it is what brute force says."""
    numbers = [ideal_reward(data) or 0.0 for data in list(PAPER_TABLE["cloning"])[:4]]
    assert numbers == sorted(numbers)
    assert numbers[-1] < 3
    # All sequences of up to two tests, and at most 3 for the eighth of the episodes that have more.
    after = [reward_after(tests) for tests in range(3)]
    shortest = sum(reward / 2 ** (tests + 1) for tests, reward in enumerate(after))
    assert shortest <= numbers[0] <= shortest + 3 / 8
    assert ideal_reward("ppo-lstm") is None


def reward_after(tests: int) -> float:
    """The best expected reward after so many random tests of the six machines, by brute force."""
    six = split("none")[0].hypotheses
    total = 0.0
    for sets in product(range(8), repeat=tests):
        seen: dict[tuple[float, ...], list[Hypothesis]] = {}
        for one in six:
            seen.setdefault(tuple(lights(one, placed) for placed in sets), []).append(one)
        for alike in seen.values():
            for bit in range(3):
                yes = sum((one.blickets >> bit) & 1 for one in alike)
                total += abs(2 * yes - len(alike))
    return total / len(six) / 8.0**tests
