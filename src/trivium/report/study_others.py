"""Tables 1 and 2, Q-learning and unseen forms in tables and words, worked out from the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log
from typing import Any

import numpy as np

from trivium.blicket.hypotheses import machines
from trivium.blicket.prompts import PROMPTS
from trivium.blicket.prompts.score import TableLine, table_line
from trivium.blicket.prompts.spec import PromptSpec, PromptView
from trivium.blicket.prompts.stimuli import PrintedReply, printed_replies
from trivium.core.statistics import Estimate, bootstrap_mean
from trivium.report.study_text import (
    NOT_RUN,
    above,
    covers,
    listed,
    markdown,
    middle,
    short,
    verdict,
)
from trivium.report.study_values import (
    MODEL_NAMES,
    PAPER_Q,
    PAPER_TABLE,
    POLICY_NAMES,
    Results,
    data_name,
)

RANDOM = ("random", "random+5", "random+10", "random+15")
LEARNED = 0.9  # the share of objects told rightly from which on machines count as learned
GUESSED_BITS = 4 * log(2)  # the loss of who knows nothing of an action's four bits


def section_table1(results: Results) -> list[str]:
    """The imitators beside the paper's."""
    order = list(PAPER_TABLE["cloning"])
    units = sorted(
        results.imitators,
        key=lambda unit: (
            unit["config"]["model"] == "cloning",
            order.index(data_name(unit["data"])),
        ),
    )
    rows = []
    for unit in units:
        data, model = data_name(unit["data"]), unit["config"]["model"]
        played = unit["played"]["as collected"]
        paper = PAPER_TABLE[model][data]
        freed = unit["played"].get("no forced steps")
        rows.append(
            (
                MODEL_NAMES[model],
                data,
                f"{short(bootstrap_mean(played['reward']))} ± {np.mean(played['sd']):.2f}",
                f"{paper[0]:.2f} ± {paper[1]:.2f}",
                short(bootstrap_mean(played["form"])),
                f"{paper[2]:.2f}",
                f"{unit['data_reward']:.2f}",
                "-" if freed is None else short(bootstrap_mean(freed["reward"])),
            )
        )
    if not rows:
        return NOT_RUN
    columns = (
        "model",
        "data",
        "reward ± sd",
        "paper's",
        "FCA",
        "paper's",
        "reward in the data",
        "reward, no forced steps",
    )
    about = "FCA is the share of forms told rightly; sd is over the episodes of a seed."
    return [markdown(columns, rows), about, *_table1_words(units)]


def _table1_words(units: Sequence[Mapping[str, Any]]) -> list[str]:
    rewards = {
        (unit["config"]["model"], data_name(unit["data"])): bootstrap_mean(
            unit["played"]["as collected"]["reward"]
        )
        for unit in units
    }
    transformers = {data: one for (model, data), one in rewards.items() if model != "cloning"}
    clones = [one for (model, _), one in rewards.items() if model == "cloning"]
    texts = []
    if all(data in transformers for data in RANDOM):
        texts.append(_forced_trend([transformers[data] for data in RANDOM], units))
    copies = [
        (data, one, data_reward)
        for data, one in transformers.items()
        if data not in RANDOM
        for data_reward in [_data_reward(units, data)]
    ]
    if copies:
        as_data = sum(covers(one, reward) for _, one, reward in copies)
        higher = sum(
            (one.low or 0) > PAPER_TABLE["decision-transformer"][d][0] for d, one, _ in copies
        )
        texts.append(
            f"Agents' trajectories: {higher} of {len(copies)} rows are above the paper's value. "
            f"In {as_data} of {len(copies)} the interval holds the mean reward of the data "
            f"themselves: asked for the highest return, the transformer copies the agent and does "
            f"not surpass it. The likely reason for the distance to the paper is the data: ours "
            f"are of agents that keep their memory while they play, and of the whole quiz; the "
            f"original dropped the memory at every step and collected `quiz-typeonly`."
        )
    if clones:
        near = sum(covers(one, 0.0) or abs(middle(one)) < 0.3 for one in clones)
        texts.append(
            f"{verdict(near / len(clones))}: behaviour cloning learns nothing. {near} of "
            f"{len(clones)} rows are within 0.3 of zero; it sees one observation, and a question "
            f"carries no history. The spread differs: three guesses of ±1 have a standard "
            f"deviation of 1.73, as ours do, and most of the paper's rows print about 0.99, the "
            f"spread of a single ±1."
        )
    return texts


def _data_reward(units: Sequence[Mapping[str, Any]], data: str) -> float:
    found = [unit["data_reward"] for unit in units if data_name(unit["data"]) == data]
    return float(found[0])


def _forced_trend(steps: Sequence[Estimate], units: Sequence[Mapping[str, Any]]) -> str:
    rises = sum(above(later, earlier) for earlier, later in pairwise(steps))
    whole = above(steps[-1], steps[0])
    values = ", ".join(short(one) for one in steps)
    flat = [
        unit
        for unit in units
        if unit["config"]["model"] != "cloning"
        and data_name(unit["data"]) in RANDOM
        and np.mean(np.array(unit["validation_loss"])[:, -1]) > 0.99 * GUESSED_BITS
    ]
    paper = PAPER_TABLE["decision-transformer"]["random+15"][0]
    found = "show" if rises == len(steps) - 1 else "do not show"
    text = (
        f"More forced exploration, more reward? With random data of 0, 5, 10 and 15 forced steps "
        f"the decision transformer earns {values}. The data {found} the paper's rise from step to "
        f"step; from 0 to 15 the intervals are {'apart' if whole else 'not apart'}. "
    )
    if covers(steps[-1], paper) or middle(steps[-1]) > paper:
        return verdict(1.0) + ". " + text
    text = f"{verdict(0.5 if whole else 0.0)}. {text}"
    if flat:
        text += (
            f"On {len(flat)} of 4 random datasets the transformer stays flat: its loss on held-out "
            f"episodes ends within 1% of {GUESSED_BITS:.3f}, four bits guessed, so it has learned "
            f"next to nothing of the actions. The likely reason: in random data an action "
            f"tells nothing but through the return, which is known only at the end and sums up "
            f"four guesses; the only thing to learn is the product of return, tests and answer, "
            f"and {flat[0]['epochs']} epochs at the paper's step size do not find it. We play by "
            f"sampling, which hides a faint lean that the most likely action would show. The "
            f"paper's 2.06 to 2.37 we cannot explain: its code collects `quiz-typeonly`, and its "
            f"head confines every probability to (0.27, 0.73)."
        )
    return text


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
            words.append(
                f"{what} {'reproduces' if hit else 'does not reproduce'} the paper's figures"
                + ("." if hit else f": it takes {times:,.1f} times as many episodes.")
            )
    return [
        markdown(columns, rows),
        f"{' '.join(words)} The paper's cannot be those of the task as it is told: four steps an "
        f"episode are too few to find out which machine it is and to answer three questions. The "
        f"first definition was found by looking for one that gives them.",
    ]


def single_word_accuracy(form: str, objects: int) -> float:
    """The accuracy of the better of "yes" and "no" to every object of a form's machines."""
    own = machines(objects, form)
    share = sum(one.blickets.bit_count() for one in own) / (objects * len(own))
    return max(share, 1 - share)


def _accuracy(tested: Sequence[Mapping[str, Any]], objects: Sequence[int]) -> Estimate:
    """Over forms, seed by seed; then the interval over seeds."""
    own = [one["accuracy"] for one in tested if one["objects"] in objects]
    return bootstrap_mean(np.mean(own, axis=0))


def _floor(tested: Sequence[Mapping[str, Any]], objects: Sequence[int]) -> float:
    own = [
        single_word_accuracy(one["form"], one["objects"])
        for one in tested
        if one["objects"] in objects
    ]
    return float(np.mean(own))


def section_transfer(results: Results) -> list[str]:
    """Unseen forms and more objects."""
    groups = (("known", (3,)), ("known", (4, 5)), ("unseen", (3,)), ("unseen", (4, 5)))
    rows, beyond = [], dict.fromkeys(groups, 0)
    units = sorted(
        results.transfers, key=lambda unit: (unit["agent"]["policy"], len(unit["forms"]))
    )
    for unit in units:
        cells = []
        for group, objects in groups:
            tested = [
                one
                for one in unit["tested"]
                if (one["form"] in unit["forms"]) == (group == "known")
            ]
            accuracy, floor = _accuracy(tested, objects), _floor(tested, objects)
            beyond[group, objects] += (accuracy.low or 0.0) > floor
            cells.append(f"{short(accuracy)} ({floor:.2f})")
        policy = POLICY_NAMES[unit["agent"]["policy"]]
        rows.append((f"PPO {policy}", ", ".join(unit["forms"]), *cells))
    if not rows:
        return NOT_RUN
    columns = (
        "agent",
        "trained forms",
        "known forms, 3 objects",
        "known forms, 4-5 objects",
        "unseen forms, 3 objects",
        "unseen forms, 4-5 objects",
    )
    said = [
        f"{beyond[group, objects]} on {group} forms of {listed(list(map(str, objects)))} objects"
        for group, objects in groups
    ]
    words = (
        f"Share of objects told rightly; in brackets what the better of yes and no to every object "
        f"gives, averaged over the same forms. Of {len(rows)} agents these are above that with "
        f"their whole interval: {listed(said)}. {_overhypothesis_words(units)}"
    )
    return [markdown(columns, rows), words]


def _overhypothesis_words(units: Sequence[Mapping[str, Any]]) -> str:
    """What the figures say of overhypotheses, agent by agent."""
    unlearned, fallen = [], 0
    single = set()
    for unit in units:
        known = [one for one in unit["tested"] if one["form"] in unit["forms"]]
        own, more = _accuracy(known, (3,)), _accuracy(known, (4, 5))
        fallen += above(own, more)
        if middle(own) < LEARNED:
            policy = POLICY_NAMES[unit["agent"]["policy"]]
            unlearned.append(f"{policy}, {len(unit['forms'])} forms ({short(own)})")
        single |= {
            f"{one['form']} of {one['objects']} objects"
            for one in unit["tested"]
            if one["machines"] == 1
        }
    text = (
        f"An agent with an overhypothesis would keep its accuracy on more objects of a form that "
        f"it knows, and would find out an unseen form by testing: {fallen} of {len(units)} fall "
        f"with more objects (intervals apart). "
    )
    if unlearned:
        text += (
            f"Below {LEARNED} on the very machines trained on, so that they say little of "
            f"transfer: {listed(unlearned)}. "
        )
    if single:
        text += (
            f"There is one machine only for {listed(sorted(single))}, all of whose objects are "
            f"blickets: there yes to all is right, and the figure says little. "
        )
    return text.strip()
