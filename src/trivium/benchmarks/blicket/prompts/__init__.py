"""Blicket prompts: which objects are blickets, and which machine is the new one like?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trivium.benchmarks.blicket.prompts import (
    answer,
    audit,
    generate,
    render,
    rows,
    score,
    solvers,
)
from trivium.benchmarks.blicket.prompts.evidence import PromptAnswer
from trivium.benchmarks.blicket.prompts.generate import PromptItem
from trivium.benchmarks.blicket.prompts.spec import (
    DIAGNOSTICS,
    PRESETS,
    PromptSpec,
    PromptView,
)
from trivium.core.benchmark import Benchmark, ChartAxis, Lifts
from trivium.core.errors import require_known

VIEWS = {"freeform": PromptView("freeform"), "two_shot": PromptView("two_shot")}


class BlicketPrompts(Benchmark[PromptSpec, PromptView, PromptItem, PromptAnswer]):
    """The paper's experiment with language models: its own prompts, and generated ones."""

    name = "blicket_prompts"
    version = "5.0"
    title = "find blickets and the form of a machine from evidence in a prompt"
    spec_type = PromptSpec
    view_type = PromptView
    presets = PRESETS
    default_preset = "four-conditions"
    leaky_presets = frozenset({"three-objects", "five-objects"})
    why_leaky = (
        "there are few machines with so few objects, and counts of the objects beside each one "
        "tell the answer"
    )
    diagnostics = DIAGNOSTICS
    metrics = score.METRICS
    solvers = solvers.SOLVERS
    default_items = 200
    answer_field = "blickets"
    chart_axes = (ChartAxis("condition", groups=("form", "hypotheses")),)
    kinds = score.KINDS

    to_row = staticmethod(rows.to_row)
    from_row = staticmethod(rows.from_row)
    reshuffle = staticmethod(generate.reshuffle)
    generate = staticmethod(generate.generate)
    render = staticmethod(render.render)
    parse = staticmethod(answer.parse)
    write = staticmethod(answer.write)
    schema = staticmethod(answer.schema)
    kind = staticmethod(score.kind)
    floor = staticmethod(score.floor)
    item_floor = staticmethod(score.item_floor)
    groups = staticmethod(score.groups)
    score = staticmethod(score.score)
    probes = staticmethod(audit.probes)
    surface = staticmethod(audit.surface)
    canonical = staticmethod(audit.canonical)
    parts = staticmethod(audit.parts)

    def gold(self, item: PromptItem) -> PromptAnswer:
        return item.answer

    def strict(self, item: PromptItem, replies: Sequence[str], view: PromptView) -> bool | None:
        if not render.asks_for_lines(item, view):
            return None
        said = answer.parse(item, replies, view)
        return said is not None and answer.in_asked_form(item, replies[-1], said, view)

    def names(self, item: PromptItem) -> Sequence[Sequence[str]]:
        # The paper's own prompts are fixed texts.
        return () if item.paper else (item.objects, [machine.pattern for machine in item.machines])

    def variant(self, parts: Sequence[str]) -> tuple[PromptSpec, PromptView]:
        spec, view = self.default_spec, PromptView()
        for part in parts:
            require_known(part, ["paper", *VIEWS], f"variant {part!r} of {self.name}")
            view = VIEWS.get(part, view)
        if "paper" in parts:
            spec = PromptSpec(stimuli="paper_two_shot" if "two_shot" in parts else "paper")
        return spec, view

    def gallery_examples(self) -> Iterator[tuple[str, PromptSpec, PromptView]]:
        two_shot, free = PromptView("two_shot"), PromptView(reply="free")
        yield "three-objects", PRESETS["three-objects"], PromptView()
        yield "four-conditions", PRESETS["four-conditions"], PromptView()
        yield "four-conditions, two-shot", PRESETS["four-conditions"], two_shot
        yield "four-conditions, free", PRESETS["four-conditions"], free
        paper = PromptSpec("given", "conjunctive", stimuli="paper")
        yield "the paper's prompt: given, conjunctive", paper, PromptView()
        paper = PromptSpec("not_given", "disjunctive", stimuli="paper_two_shot")
        yield "the paper's prompt: not given, disjunctive, two-shot", paper, two_shot

    def audit_views(self) -> Sequence[PromptView]:
        return tuple(VIEWS.values())

    def headline_sentence(self, lifts: Lifts) -> str:
        return f"infers causes {lifts.grade}"

    def highlights(self, item: PromptItem, view: PromptView) -> Sequence[str]:
        return item.answer.blickets

    def output_tokens(self, view: PromptView) -> int:
        return 256


PROMPTS = BlicketPrompts()
