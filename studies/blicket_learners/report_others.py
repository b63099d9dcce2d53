"""Table 2 and Q-learning in tables and words, worked out from the data."""

from __future__ import annotations

import numpy as np

from studies.blicket_learners.paper_values import PAPER_Q, Results
from studies.blicket_learners.report_text import (
    NOT_RUN,
    covers,
    listed,
    markdown,
    short,
    verdict,
)
from trivium.benchmarks.blicket.prompts import PROMPTS
from trivium.benchmarks.blicket.prompts.score import TableLine, table_line
from trivium.benchmarks.blicket.prompts.spec import PromptSpec, PromptView
from trivium.benchmarks.blicket.prompts.stimuli import PrintedReply, printed_replies
from trivium.core.statistics import bootstrap_mean


def view_of(printed: PrintedReply) -> PromptView:
    """Of PaLM's freeform replies, only the first two sentences count."""
    two = (printed.model, printed.prompt) == ("PaLM", "freeform")
    return PromptView(sentences=2 if two else None)


def section_table2(results: Results) -> list[str]:
    """The printed replies, scored again; the same whatever was run."""
    items = {
        (item.hypotheses, item.form): item
        for item in PROMPTS.generate(PromptSpec(stimuli="paper"), 0, 0, 4)
    }
    rows, same = [], 0
    printed = printed_replies()
    for one in printed:
        item = items[one.hypotheses, one.form]
        ours = table_line(item, PROMPTS.parse(item, [one.reply], view_of(one)))
        theirs = TableLine(one.right, one.printed_of or one.of, one.wrong, one.structure)
        same += ours == theirs
        rows.append(
            (
                one.model,
                one.prompt.replace("_", "-"),
                one.hypotheses.replace("_", " "),
                one.form,
                _line(ours),
                _line(theirs),
            )
        )
    columns = ("model", "prompt", "hypotheses", "form", "scored again", "printed")
    best = sum(row[4].startswith(("1/1, 0", "2/2, 0")) for row in rows)
    other = [row for row in rows if row[4] != row[5]]
    differs = listed([f"{row[0]}, {row[1]}, {row[2]}, {row[3]}" for row in other])
    words = (
        f"{verdict(same / len(printed))}: {same} of {len(printed)} replies of its Appendix C, read "
        f"by the program, score as its Table 2 prints. "
        + (
            f"The exception is {differs}: the table counts two blickets where the machine has one, "
            f"which must be a misprint. "
            if other
            else ""
        )
        + f"{best} of {len(printed)} name exactly the blickets. One reply a cell is too few for a "
        f"finding; `trivium eval blicket_prompts` asks hundreds."
    )
    return [markdown(columns, rows), words]


def _line(line: TableLine) -> str:
    return f"{line.right}/{line.of}, {line.wrong} wrong, structure {line.structure or '-'}"


DEFINITIONS = {
    "fixed": "one conjunctive machine a trial, both bonuses, checked every 20 episodes "
    "(found after the fact)",
    "drawn": "a machine drawn every episode from the six, perfect on all of them",
}


def section_q(results: Results) -> list[str]:
    """Tabular Q-learning under both definitions."""
    found = {unit["config"]["definition"]: unit for unit in results.trials}
    if not found:
        return NOT_RUN
    rows = [
        (
            about,
            short(bootstrap_mean(found[name]["episodes"]), 0),
            short(bootstrap_mean(found[name]["steps"]), 0),
            f"{found[name]['converged']}/{found[name]['trials']}",
        )
        for name, about in DEFINITIONS.items()
        if name in found
    ]
    rows.append(("the paper", f"{PAPER_Q['episodes']:.0f}", f"{PAPER_Q['steps']:.0f}", "-"))
    columns = ("definition", "episodes to the maximum", "steps", "trials converged")
    words = []
    for name, what in (("fixed", "The first definition"), ("drawn", "The task itself")):
        if name in found:
            hit = all(covers(bootstrap_mean(found[name][key]), PAPER_Q[key]) for key in PAPER_Q)
            times = np.mean(found[name]["episodes"]) / PAPER_Q["episodes"]
            all_there = found[name]["converged"] == found[name]["trials"]
            amount = f"{'' if all_there else 'at least '}{times:,.{0 if times >= 10 else 1}f} times"
            words.append(
                f"{what} {'reproduces' if hit else 'does not reproduce'} the paper's figures"
                + ("." if hit else f": it takes {amount} as many episodes.")
            )
    return [
        markdown(columns, rows),
        f"{' '.join(words)} The paper's cannot be those of the task as it is told: four steps an "
        f"episode are too few to find out which machine it is and to answer three questions. The "
        f"first definition was found by looking for one that gives them.",
    ]
