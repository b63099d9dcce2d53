"""Blicket prompts: which objects are blickets, and which machine the new one is like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trivium.benchmarks.blicket.prompts import answer, audit, generate, item, render, score, solvers
from trivium.benchmarks.blicket.prompts.item import PromptAnswer, PromptItem
from trivium.benchmarks.blicket.prompts.phrases import VOICES
from trivium.benchmarks.blicket.prompts.spec import DIAGNOSTICS, PRESETS, PromptSpec, PromptView
from trivium.core.benchmark import Benchmark
from trivium.core.errors import require
from trivium.core.probes import Audit
from trivium.core.records import Groups, Scores
from trivium.core.streams import Stream, stream_key

VARIANTS = "paper, freeform, two_shot"


class BlicketPrompts(Benchmark[PromptSpec, PromptView, PromptItem, PromptAnswer]):
    """The paper's experiment with language models, as four prompts and as a generator."""

    name = "blicket_prompts"
    title = "find blickets and the form of a machine from evidence that is told"
    spec_type = PromptSpec
    view_type = PromptView
    presets = PRESETS
    metrics = score.METRICS
    solvers = solvers.SOLVERS
    default_items = 200
    diagnostics = DIAGNOSTICS

    def variant(self, parts: Sequence[str]) -> tuple[PromptSpec, PromptView]:
        spec, view = PromptSpec(), PromptView()
        for part in parts:
            known = part in ("paper", "freeform", "two_shot")
            require(known, f"unknown variant {part!r} of {self.name}; there are {VARIANTS}")
            if part == "paper":
                spec = PromptSpec(stimuli="paper")
            else:
                view = PromptView("freeform" if part == "freeform" else "two_shot")
        return spec, view

    def generate(
        self, spec: PromptSpec, seed: int, start: int = 0, count: int = 1
    ) -> Iterator[PromptItem]:
        return generate.generate(spec, seed, start, count)

    def to_row(self, item_: PromptItem) -> dict[str, Any]:
        return item.to_row(item_)

    def from_row(self, row: Mapping[str, Any], number: int) -> PromptItem:
        read = item.from_row(row, len(VOICES))
        own = generate.paper_machines(read.hypotheses, read.form) if read.paper else read.machines
        require(read.machines == own, "a paper item must hold the machines of the paper's prompt")
        return read

    def render(self, item_: PromptItem, view: PromptView) -> str:
        return render.render(item_, view)

    def parse(
        self, item_: PromptItem, replies: Sequence[str], view: PromptView
    ) -> PromptAnswer | None:
        return answer.parse(item_, replies[-1], view)

    def write(self, item_: PromptItem, answer_: PromptAnswer, view: PromptView) -> str:
        return answer.write(answer_, view)

    def gold(self, item_: PromptItem) -> PromptAnswer:
        return item_.answer

    def score(self, item_: PromptItem, answer_: PromptAnswer | None) -> Scores:
        return score.score(item_, answer_)

    def kind(self, item_: PromptItem, answer_: PromptAnswer | None) -> str:
        return score.kind(item_, answer_)

    def floor(self, item_: PromptItem) -> float:
        return score.chance(item_)

    def groups(self, item_: PromptItem) -> Groups:
        return score.groups(item_)

    def reshuffle(self, item_: PromptItem, trial: int) -> PromptItem:
        if trial == 0 or item_.paper:
            return item_  # the paper's prompts are told in one order only
        stream = Stream(stream_key("reshuffle", item_.machines, trial))
        machines = [
            machine._replace(
                objects=tuple(stream.shuffled(machine.objects)),
                tests=tuple(stream.shuffled(machine.tests)),
            )
            for machine in item_.machines
        ]
        return item_._replace(machines=tuple(machines))

    def audit(self, spec: PromptSpec, seed: int, items: int | None = None) -> Audit:
        require(spec.stimuli == "generated", "the paper's four prompts are too few for an audit")
        return audit.audit(spec, seed, items)

    def gallery_examples(self) -> Iterator[tuple[str, PromptSpec, PromptView]]:
        yield "given-disjunctive", PRESETS["given-disjunctive"], PromptView()
        yield (
            "not-given-conjunctive, two-shot",
            PRESETS["not-given-conjunctive"],
            PromptView("two_shot"),
        )
        yield "given-conjunctive, lines", PRESETS["given-conjunctive"], PromptView(reply="lines")
        paper = PromptSpec("given", "conjunctive", stimuli="paper")
        yield "the paper's prompt: given, conjunctive", paper, PromptView()
        paper = PromptSpec("not_given", "disjunctive", stimuli="paper")
        yield "the paper's prompt: not given, disjunctive, two-shot", paper, PromptView("two_shot")

    def output_tokens(self, view: PromptView) -> int:
        return 256


PROMPTS = BlicketPrompts()
