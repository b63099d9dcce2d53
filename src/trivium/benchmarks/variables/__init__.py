"""Identifying variables: what to change, what to measure, what to hold fixed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from trivium.benchmarks.variables import answer, audit, item, render, rows, score, solvers
from trivium.benchmarks.variables.answer import VariablesAnswer
from trivium.benchmarks.variables.item import VariablesItem
from trivium.benchmarks.variables.spec import (
    DIAGNOSTICS,
    PRESETS,
    RENDERERS,
    VariablesSpec,
    VariablesView,
)
from trivium.core.benchmark import Benchmark
from trivium.core.errors import require
from trivium.core.probes import Audit
from trivium.core.records import Groups, Scores
from trivium.core.spec import spec_from_dict
from trivium.core.streams import Stream, stream_key

# A sentence or two and the answer; a prompt that shows the trees invites their steps.
OUTPUT_TOKENS = {"none": 128, "pseudocode": 256, "language": 256}


def told_by(renderer: str) -> VariablesView:
    """The view of one renderer."""
    return spec_from_dict(VariablesView, {"renderer": renderer})


class IdentifyingVariables(Benchmark[VariablesSpec, VariablesView, VariablesItem, VariablesAnswer]):
    """Independent, dependent and control variables of an experiment."""

    name = "identifying_variables"
    title = "design an experiment: independent, dependent and control variables"
    spec_type = VariablesSpec
    view_type = VariablesView
    presets = PRESETS
    metrics = score.METRICS
    solvers = solvers.SOLVERS
    crossed_groups: ClassVar[bool] = False
    diagnostics = DIAGNOSTICS

    def variant(self, parts: Sequence[str]) -> tuple[VariablesSpec, VariablesView]:
        """The parts of NAME.<renderer>.<dataset>; either may be left out."""
        spec, view = VariablesSpec(), VariablesView()
        renderers = [part for part in parts if part in RENDERERS]
        datasets = [part for part in parts if part in PRESETS]
        ok = list(parts) == [*renderers, *datasets] and len(renderers) <= 1 and len(datasets) <= 1
        require(
            ok,
            f"{self.name} takes .<renderer>.<dataset> with a renderer of {', '.join(RENDERERS)} "
            f"and a dataset of {', '.join(PRESETS)}, got {'.'.join(parts)!r}",
        )
        if renderers:
            view = told_by(renderers[0])
        return PRESETS[datasets[0]] if datasets else spec, view

    def generate(
        self, spec: VariablesSpec, seed: int, start: int = 0, count: int = 1
    ) -> Iterator[VariablesItem]:
        return item.generate(spec, seed, start, count)

    def to_row(self, item_: VariablesItem) -> dict[str, Any]:
        return rows.to_row(item_)

    def from_row(self, row: Mapping[str, Any], number: int) -> VariablesItem:
        return rows.from_row(row, number)

    def render(self, item_: VariablesItem, view: VariablesView) -> str:
        return render.render(item_, view)

    def parse(
        self, item_: VariablesItem, replies: Sequence[str], view: VariablesView
    ) -> VariablesAnswer | None:
        return answer.parse(replies[-1], view)

    def write(self, item_: VariablesItem, answer_: VariablesAnswer, view: VariablesView) -> str:
        return answer.write(answer_)

    def gold(self, item_: VariablesItem) -> VariablesAnswer:
        return score.gold(item_)

    def score(self, item_: VariablesItem, answer_: VariablesAnswer | None) -> Scores:
        return score.score(item_, answer_)

    def kind(self, item_: VariablesItem, answer_: VariablesAnswer | None) -> str:
        return score.kind(item_, answer_)

    def floor(self, item_: VariablesItem) -> float:
        return score.chance(item_)

    def groups(self, item_: VariablesItem) -> Groups:
        return score.groups(item_)

    def reshuffle(self, item_: VariablesItem, trial: int) -> VariablesItem:
        if trial == 0:
            return item_
        stream = Stream(stream_key("reshuffle", item_.names, item_.target, trial))
        order = stream.shuffled(range(len(item_.names)))
        told = stream.shuffled(range(len(item_.hypotheses)))
        return item.reordered(item_, order, told)

    def audit(self, spec: VariablesSpec, seed: int, items: int | None = None) -> Audit:
        return audit.audit(spec, seed, items)

    def gallery_examples(self) -> Iterator[tuple[str, VariablesSpec, VariablesView]]:
        for renderer in RENDERERS:
            yield renderer, VariablesSpec(), told_by(renderer)
        yield "balanced-hypotheses", PRESETS["balanced-hypotheses"], VariablesView()
        yield "several parents (dag)", VariablesSpec(graph="dag"), VariablesView()
        yield "show_tree pseudocode", VariablesSpec(), VariablesView("corrset", "pseudocode")
        yield "show_tree language", VariablesSpec(), VariablesView("corrset", "language")

    def dataset_size(self, spec: VariablesSpec) -> int:
        return spec.size

    def output_tokens(self, view: VariablesView) -> int:
        return OUTPUT_TOKENS[view.show_tree]


VARIABLES = IdentifyingVariables()
