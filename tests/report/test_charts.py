"""Pictures: which there are for which records, and the lines that every one must have."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("altair")
converter = pytest.importorskip("vl_convert")

from tests.report.test_digest import made, written  # noqa: E402
from trivium.benchmarks.blicket.game import GAME  # noqa: E402
from trivium.benchmarks.blicket.game.spec import GameView  # noqa: E402
from trivium.benchmarks.nhop import EXPLICIT  # noqa: E402
from trivium.benchmarks.nhop.spec import ExplicitSpec, ImplicitSpec, NhopView  # noqa: E402
from trivium.benchmarks.variables import VARIABLES  # noqa: E402
from trivium.benchmarks.variables.spec import VariablesSpec, VariablesView  # noqa: E402
from trivium.core.dialogue import attempt  # noqa: E402
from trivium.report.pictures import pictures, save  # noqa: E402
from trivium.report.results import Digest, digest  # noqa: E402
from trivium.report.sections import Picture  # noqa: E402


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Digest:
    rows = [
        row
        for hops in (4, 6)
        for m in (6, 8)
        for solver in ("oracle", "last_line", "random_candidate")
        for row in made(ImplicitSpec(hops=hops, m=m), solver)
    ]
    return digest([written(tmp_path_factory.mktemp("grid"), rows)])["nhop_implicit"]


def drawn(found: Digest, **options: Any) -> dict[str, Picture]:
    return {picture.name.partition("plicit_")[2]: picture for picture in pictures(found, **options)}


def values(picture: Picture) -> list[dict[str, Any]]:
    return (
        [row for rows in picture.spec["datasets"].values() for row in rows]
        if ("datasets" in picture.spec)
        else _inline(picture.spec)
    )


def _inline(spec: Any) -> list[dict[str, Any]]:
    if isinstance(spec, dict):
        own = spec.get("data", {}).get("values", []) if isinstance(spec.get("data"), dict) else []
        return own + [row for part in spec.values() for row in _inline(part)]
    return [row for part in spec for row in _inline(part)] if isinstance(spec, list) else []


def test_a_grid_has_heatmaps_curves_and_kinds(grid: Digest) -> None:
    found = drawn(grid)
    assert set(found) == {"standing", "em_n_m", "lift_n_m", "em_by_n", "kinds"}


def test_lines_of_chance_shortcut_and_ceiling_are_drawn(grid: Digest) -> None:
    found = drawn(grid)
    for name in ("standing", "em_by_n"):
        lines = {row["line"] for row in values(found[name]) if "line" in row}
        assert lines == {"chance", "best shortcut", "ceiling"}, name
    assert "chance" in {row["solver"] for row in values(found["em_n_m"])}


def test_published_figures_stand_where_they_apply(grid: Digest, tmp_path: Path) -> None:
    shown = [row for row in values(drawn(grid)["em_by_n"]) if row.get("published")]
    assert {(row["group_n"], row["group_m"], row["value"]) for row in shown} >= {
        (4, 6, 0.833),
        (6, 8, 0.083),
    }
    easy = [
        asdict(attempt(EXPLICIT, item, EXPLICIT.solvers["oracle"], NhopView()))
        for hops in (4, 6)
        for L in (2, 3)
        for item in EXPLICIT.generate(ExplicitSpec(hops=hops, L=L), 1, 0, 5)
    ]
    other = drawn(digest([written(tmp_path, easy)])["nhop_explicit"])
    # The published ladders had all three controls; these have none.
    assert not [row for row in values(other["em_by_n"]) if row.get("published")]
    assert {row["metric"] for row in values(other["metrics"]) if "metric" in row} == {
        "em",
        "fn_correct",
        "fn_1_coherent",
        "fn_2_from_chain",
    }


def test_a_label_stands_in_every_title(grid: Digest) -> None:
    for picture in pictures(grid, label="my label"):
        assert picture.spec["title"]["text"].startswith("my label: ")


def test_variants_have_bars_of_the_headline_and_of_lift(grid: Digest) -> None:
    assert {"variants_em", "variants_lift"} <= set(drawn(grid, variants=True))


def test_order_trials_are_shown_when_there_are_some(tmp_path: Path) -> None:
    rows = [
        asdict(attempt(EXPLICIT, item, EXPLICIT.solvers["random_candidate"], NhopView(), trial))
        for item in EXPLICIT.generate(ExplicitSpec(), 1, 0, 8)
        for trial in range(3)
    ]
    found = drawn(digest([written(tmp_path, rows)])["nhop_explicit"])
    shares = {row["agreed"] for row in values(found["order_trials"]) if "agreed" in row}
    assert shares <= {0.333, 0.667, 1.0}


def test_pictures_become_files(grid: Digest, tmp_path: Path) -> None:
    chosen = [drawn(grid)["kinds"]]
    paths = save(chosen, tmp_path)
    assert [path.suffix for path in paths] == [".png", ".svg"]
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    assert "other-chain-end" in paths[1].read_text()


def test_group_names_cannot_collide_with_figures(tmp_path: Path) -> None:
    rows = [
        {**row, "groups": {"value": number % 3, "items": number % 2}}
        for number, row in enumerate(made(ImplicitSpec(), "oracle"))
    ]
    found = pictures(digest([written(tmp_path, rows)])["nhop_implicit"])
    text = json.dumps([picture.spec for picture in found])
    assert '"group_value"' in text


def test_exploration_is_followed_step_by_step(tmp_path: Path) -> None:
    rows = [
        asdict(attempt(GAME, item, GAME.solvers[name], GameView()))
        for item in GAME.generate(GAME.presets["paper"], 3, 0, 30)
        for name in ("optimal", "one_cause", "random")
    ]
    found = digest([written(tmp_path, rows)])["blicket_game"]
    picture = next(one for one in pictures(found) if one.name == "blicket_game_exploration")
    drawn_rows = values(picture)
    ideal = {row["step"]: row["value"] for row in drawn_rows if row.get("line") == "ceiling"}
    # Six machines are log2(6) bits; the optimal explorer knows the machine after three tests.
    assert ideal[0] == pytest.approx(2.585, abs=0.001)
    assert ideal[3] == pytest.approx(0, abs=1e-9)
    last = [row for row in drawn_rows if row.get("solver") == "random" and row["step"] == 3]
    assert last[0]["value"] > 0.5


def test_swept_numbers_that_no_group_tells_have_a_curve(tmp_path: Path) -> None:
    rows = [
        asdict(attempt(VARIABLES, item, VARIABLES.solvers["noctrl"], VariablesView()))
        for snr in (0.0, 20.0)
        for item in VARIABLES.generate(VariablesSpec(snr=snr), 1, 0, 9)
    ]
    found = digest([written(tmp_path, rows)])["identifying_variables"]
    names = [picture.name for picture in pictures(found)]
    assert "identifying_variables_ctrl_nDCG_by_snr" in names
    assert "identifying_variables_ctrl_nDCG_by_n_ctrl_vars" in names
    assert found.crossings == [[name] for name in found.keys]


def test_what_a_group_tells_is_not_drawn_twice(grid: Digest) -> None:
    assert grid.swept() == {}


def test_lines_do_not_pass_from_name_to_name(tmp_path: Path) -> None:
    rows = [
        {**row, "groups": {"form": ("one", "other")[number % 2]}}
        for number, row in enumerate(made(ImplicitSpec(), "oracle"))
    ]
    found = drawn(digest([written(tmp_path, rows)])["nhop_implicit"])
    kinds = [layer["mark"]["type"] for layer in found["em_by_form"].spec["layer"]]
    assert "line" not in kinds


def test_ticks_stand_at_the_values_and_say_them(tmp_path: Path) -> None:
    rows = [
        {**row, "groups": {"machines": (6, 11)[number % 2]}}
        for number, row in enumerate(made(ImplicitSpec(), "oracle"))
    ]
    found = drawn(digest([written(tmp_path, rows)])["nhop_implicit"])
    svg = converter.vegalite_to_svg(found["em_by_machines"].spec)
    assert ">6</text>" in svg
    assert ">11</text>" in svg


def test_every_panel_has_an_axis_of_its_own(grid: Digest) -> None:
    found = drawn(grid)
    for name in ("standing", "em_n_m", "em_by_n"):
        assert found[name].spec["resolve"]["axis"]["x"] == "independent", name
