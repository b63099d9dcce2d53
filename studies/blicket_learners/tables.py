"""The study's tables as Markdown: our values with intervals, the paper's and the ideal observer's.

What they mean is written by hand in findings.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from studies.blicket_learners import paper
from studies.blicket_learners.beyond_tables import equal_exposures, machines, transfer
from studies.blicket_learners.cells import NONE, Row, millions
from studies.blicket_learners.charts import FIGURES
from studies.blicket_learners.imitator_tables import (
    imitator_pairs,
    imitators,
    printed_table,
    qlearning,
)
from studies.blicket_learners.learner_tables import (
    forced_exploration,
    held_out,
    learning,
    naming_the_form,
    pairs,
)
from studies.blicket_learners.plan import Unit
from studies.blicket_learners.results import FIRST_COMMIT, Record, Results, read_results
from trivium.core.files import atomic_write

OPENING = f"""# The paper's study of learners: tables and figures

Written by `python -m studies.blicket_learners --report_only`; findings.md in the study's own folder
says what was seen and how to read the columns. Values are means over seeds with Student's 95%
intervals. An interval of equal seeds has width zero and proves nothing: whether values differ is
decided by exact permutation tests over seeds, corrected by Holm's method over the rows that answer
one question. Greedy rewards are exact over the machines. The ideal observer needs
{paper.IDEAL_TESTS:.2f} tests on average for the paper's six machines; its best reward after 0, 1, 2
and 3 tests is 0, 5/3, 7/3 and 3. The paper prints Figure 3 without numbers."""
QUICK_OPENING = (
    "**This study is too short to judge anything by: it only shows that the program runs.**"
)


Table = Callable[[Results], Iterator[Row]]
SECTIONS: Mapping[str, tuple[str, Sequence[Table]]] = {
    "fig3a": ("Figure 3a: learning curves", [learning, pairs]),
    "fig3b": ("Figure 3b: forced exploration", [forced_exploration]),
    "fig3c": ("Figure 3c: held-out machines", [held_out]),
    "fig3d": ("Figure 3d: naming the form", [naming_the_form]),
    "table1": ("Table 1: imitators", [imitators, imitator_pairs]),
    "table2": ("Table 2: a check of the reader of replies", [printed_table]),
    "qlearning": ("Tabular Q-learning", [qlearning]),
    "overhypotheses": ("Beyond the paper: unseen forms, more objects", [transfer]),
    "machines": ("Beyond the paper: how many machines must be seen?", [machines, equal_exposures]),
}


# What a reader of a section must know before its tables.
NOTES = {
    "table1": """Ours is one network for all rows: an embedding for every pattern of an
observation's bits, 300,000 episodes of random data and 50,000 of agents. As the authors have it:
bits are added up, logits are bounded by a tanh, 10,000 episodes, a target return of 3, and the
likelier value of every bit instead of a draw. Cloning reads 30 observations, as the authors have
it, or the current one. `ideal` is data of the ideal observer, which the paper does not have. An
agent's data have no forced steps, so both columns are the same there.""",
    "table2": """This checks our reader of replies, not any model: the twelve replies that the paper
prints are scored again. A model itself is asked, with the paper's own prompts, by
`trivium eval blicket_prompts.paper --items 4 --model openai/gpt-4.1-mini --out runs/table2`
(and `blicket_prompts.paper.two_shot`).""",
    "machines": """Shares of machines about which every answer is right, greedy policies. Eight
objects, all always there; disjunctive and parity machines with up to two inhibitors are shown. No
set of blickets that is tested belongs to a machine shown, so the memoriser, which takes a machine
for the most similar of those shown, is never right as a whole. Blind is the best that is possible
without a test to one who knows the test set. Second table: at points of training where each machine
was seen equally often, mean over seeds; a dash where no point is near.""",
}


def write_report(
    folder: Path, parts: Sequence[str], units: Sequence[Unit], *, judged: bool = True
) -> Path:
    """Write tables.md, and a figure for every part that has one and has data."""
    results = read_results(folder, units, judged=judged)
    text = [OPENING] if judged else [OPENING, QUICK_OPENING]
    for part in parts:
        title, tables = SECTIONS[part]
        written = [_markdown(rows) for table in tables if (rows := list(table(results)))]
        text += [f"## {title}", *([NOTES[part]] if part in NOTES else [])]
        if written and part in FIGURES:
            FIGURES[part](results).save(folder / "figures" / f"{part}.svg")
            text += [f"![{title}](figures/{part}.svg)"]
        text += written or ["Not run."]
        text += _unfinished(part, units, results)
    if results.records:
        text += ["## Units", _markdown(list(_units(results)))]
    path = folder / "tables.md"
    with atomic_write(path) as file:
        file.write(("\n\n".join(text) + "\n").encode())
    return path


def _markdown(rows: Sequence[Row]) -> str:
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _units(results: Results) -> Iterator[Row]:
    """How long every unit was trained and where; seconds are among others on the device."""
    for record in sorted(results.records, key=lambda record: str(record["name"])):
        yield {
            "unit": f"`{record['name']}`",
            "length": _length(record),
            "seeds": str(record.get("seeds", NONE)),
            "commit": record.get("commit") or FIRST_COMMIT,
            "device": record.get("device") or NONE,
            # Of a unit that was resumed, `seconds` has the training of all goes.
            "seconds": f"{max(record['seconds_here'], record.get('seconds') or 0):.0f}",
        }


def _length(record: Record) -> str:
    """Steps trained, of the longest task; epochs of imitators, trials of Q-learning."""
    if "epochs" in record:
        return f"{record['epochs']} epochs"
    if "trials" in record:
        return f"{record['trials']} trials"
    curves = record.get("tasks", [record])
    steps = [curve["steps"][-1] for curve in curves if "steps" in curve]
    return millions(max(steps)) if steps else NONE


def _unfinished(part: str, units: Sequence[Unit], results: Results) -> list[str]:
    """Which planned units of a part are missing or were stopped early."""
    finished = {record["name"] for record in results.records}
    planned = [unit.name for unit in units if part in unit.parts]
    left = [f"`{name}`" for name in planned if name not in finished]
    return [f"Not finished, of {len(planned)} planned units: {', '.join(left)}."] if left else []
