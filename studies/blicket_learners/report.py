"""The study's report: pictures, tables with the paper's values, and what agrees, in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from studies.blicket_learners.paper_values import IDEAL_TESTS, Results, read_results
from studies.blicket_learners.plan import Unit
from studies.blicket_learners.report_held_out import section_3c, section_3d
from studies.blicket_learners.report_imitators import section_table1
from studies.blicket_learners.report_learners import section_3a, section_3b
from studies.blicket_learners.report_others import section_q, section_table2
from studies.blicket_learners.report_transfer import section_transfer
from trivium import __version__
from trivium.core.errors import import_extra
from trivium.core.files import open_output

TITLES = {
    "fig3a": "Figure 3a: learning curves",
    "fig3b": "Figure 3b: forced exploration",
    "fig3c": "Figure 3c: machines held out",
    "fig3d": "Figure 3d: telling the forms apart",
    "table1": "Table 1: imitators",
    "table2": "Table 2: replies of language models",
    "qlearning": "Tabular Q-learning",
    "overhypotheses": "Beyond the paper: unseen forms, more objects",
}
SECTIONS: dict[str, Callable[[Results], list[str]]] = {
    "fig3a": section_3a,
    "fig3b": section_3b,
    "fig3c": section_3c,
    "fig3d": section_3d,
    "table1": section_table1,
    "table2": section_table2,
    "qlearning": section_q,
    "overhypotheses": section_transfer,
}
PNG_PPI = 80
ENOUGH_SEEDS = 8


def write_report(folder: Path, parts: Sequence[str], command: str, units: Sequence[Unit]) -> Path:
    """report.md with its pictures beside it, and which of the planned units are not there."""
    import_extra("vl_convert", "plots")
    charts = import_extra("studies.blicket_learners.charts", "plots")
    results = read_results(folder)
    notes = folder / "notes.md"  # what else should be known of how the data were made
    text = ["# The paper's study of learners", *_opening(folder, results, command)]
    if notes.exists():
        text += [notes.read_text(encoding="utf-8").strip()]
    for part in parts:
        text += [f"## {TITLES[part]}"]
        draw = charts.FIGURES.get(part)
        chart = None if draw is None else draw(results)
        if chart is not None:
            chart.save(str(folder / f"{part}.svg"))
            chart.save(str(folder / f"{part}.png"), ppi=PNG_PPI)
            text += [f"![{TITLES[part]}]({part}.png)"]
        text += SECTIONS[part](results)
        text += _missing(part, units, results)
    path = folder / "report.md"
    with open_output(path) as file:
        file.write(("\n\n".join(text) + "\n").encode())
    return path


def _opening(folder: Path, results: Results, command: str) -> list[str]:
    made_by = folder / "command.txt"  # what computed the data, where that was another command
    if made_by.exists():
        command = f"{made_by.read_text(encoding='utf-8').strip()}`, then `{command}"
    trained = (*results.learners, *results.imitators, *results.transfers)
    seeds = sorted({unit["seeds"] for unit in trained})
    devices = sorted({unit["device"] for unit in results.learners})
    ran = f" Seeds: {', '.join(map(str, seeds))}." if seeds else ""
    if seeds and seeds[0] < ENOUGH_SEEDS:
        ran += f" With fewer than {ENOUGH_SEEDS} the intervals are too narrow: no verdict holds."
    ran += f" Trained on: {', '.join(devices)}." if devices else ""
    return [
        f"Made by `{command}` with Trivium {__version__}.{ran} Values are means over seeds with "
        f"95% intervals (bootstrap); greedy rewards are exact over the machines. The ideal "
        f"observer needs {IDEAL_TESTS:.2f} tests on average for the paper's six machines; the "
        f"best reward after 0, 1, 2 and 3 tests is 0, 5/3, 7/3 and 3. The paper prints Figure 3 "
        f"without numbers, so its findings are compared as it words them."
    ]


def _missing(part: str, units: Sequence[Unit], results: Results) -> list[str]:
    """What was planned for the part and is not there, or not to the end."""
    planned = [unit.name for unit in units if part in unit.parts]
    left = [name for name in planned if name not in results.finished]
    if not left:
        return []
    names = ", ".join(f"`{name}`" for name in left)
    return [f"Missing: {len(left)} of the {len(planned)} planned units were not finished: {names}."]
