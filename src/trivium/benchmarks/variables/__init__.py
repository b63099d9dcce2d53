"""Identifying variables: what to change, what to measure, what to hold fixed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from trivium.benchmarks.variables import (
    answer,
    audit,
    generate,
    limits,
    render,
    rows,
    score,
    solvers,
)
from trivium.benchmarks.variables.answer import VariablesAnswer
from trivium.benchmarks.variables.item import VariablesItem
from trivium.benchmarks.variables.spec import (
    DATASET,
    DIAGNOSTICS,
    PRESETS,
    RENDERERS,
    VariablesSpec,
    VariablesView,
    view_of,
)
from trivium.core.benchmark import Benchmark, ChartAxis, Lifts
from trivium.core.errors import require


class IdentifyingVariables(Benchmark[VariablesSpec, VariablesView, VariablesItem, VariablesAnswer]):
    """Independent, dependent and control variables of an experiment."""

    name = "identifying_variables"
    version = "2.1"
    title = "design an experiment: independent, dependent and control variables"
    spec_type = VariablesSpec
    view_type = VariablesView
    presets = PRESETS
    leaky_presets = frozenset(name for name in PRESETS if name.startswith("original"))
    metrics = score.METRICS
    solvers = solvers.SOLVERS
    answer_field = "gold_label"
    chart_axes = (
        ChartAxis("n_vars", "variables", "variable"),
        ChartAxis("snr", "signal to noise (dB)"),
    )
    kinds = score.KINDS
    easier_with_more = frozenset({"observations", "snr"})
    default_preset = "balanced-ctrl"
    diagnostics = DIAGNOSTICS

    # A function with its module's name comes last, since it shadows the module from there on.
    reshuffle = staticmethod(generate.reshuffle)
    generate = staticmethod(generate.generate)
    to_row = staticmethod(rows.to_row)
    content = staticmethod(rows.content)
    from_row = staticmethod(rows.from_row)
    render = staticmethod(render.render)
    parse = staticmethod(answer.parse)
    schema = staticmethod(answer.schema)
    write = staticmethod(answer.write)
    gold = staticmethod(score.gold)
    kind = staticmethod(score.kind)
    item_floor = staticmethod(limits.item_floor)
    file_floor = staticmethod(limits.file_floor)
    floor = staticmethod(limits.floor)
    ceiling = staticmethod(limits.ceiling)
    item_ceiling = staticmethod(limits.item_ceiling)
    groups = staticmethod(score.groups)
    score = staticmethod(score.score)
    surface = staticmethod(audit.surface)
    probes = staticmethod(audit.probes)
    canonical = staticmethod(audit.canonical)

    def variant(self, parts: Sequence[str]) -> tuple[VariablesSpec, VariablesView]:
        """The spec and view of NAME.<renderer>.<dataset>; either part may be left out."""
        renderers = [part for part in parts if part in RENDERERS]
        datasets = [part for part in parts if part in PRESETS]
        ok = list(parts) == [*renderers, *datasets] and len(renderers) <= 1 and len(datasets) <= 1
        require(
            ok,
            f"{self.name} takes .<renderer>.<dataset> with a renderer of {', '.join(RENDERERS)} "
            f"and a dataset of {', '.join(PRESETS)}, got {'.'.join(parts)!r}",
        )
        spec = PRESETS[datasets[0]] if datasets else self.default_spec
        return spec, view_of(renderers[0]) if renderers else VariablesView()

    def names(self, item: VariablesItem) -> Sequence[Sequence[str]]:
        return (item.names,)

    def gallery_examples(self) -> Iterator[tuple[str, VariablesSpec, VariablesView]]:
        spec = self.default_spec
        for renderer in RENDERERS:
            yield renderer, spec, view_of(renderer)
        yield "balanced-hypotheses", PRESETS["balanced-hypotheses"], VariablesView()
        yield "original-ctrl", PRESETS["original-ctrl"], VariablesView()
        yield "several parents (dag)", replace(spec, graph="dag"), VariablesView()
        yield "show_tree pseudocode", spec, VariablesView("corrset", "pseudocode")
        yield "show_tree language", spec, VariablesView("corrset", "language")
        yield "direct", spec, VariablesView("corrset", reasoning="direct")
        yield "chain of thought", spec, VariablesView("corrset", reasoning="chain_of_thought")

    def audit_views(self) -> Sequence[VariablesView]:
        """One view for each renderer."""
        return tuple(map(view_of, RENDERERS))

    def headline_sentence(self, lifts: Lifts) -> str:
        return f"designs experiments {lifts.grade}"

    def highlights(self, item: VariablesItem, view: VariablesView) -> Sequence[str]:
        """The variables in the answer."""
        answer = self.gold(item)
        named = [answer.independent, answer.dependent, *(answer.control or ())]
        return [name for name in named if name]

    def dataset_size(self, spec: VariablesSpec) -> int:
        return DATASET

    def output_tokens(self, view: VariablesView) -> int:
        if view.reasoning == "free":  # a prompt that shows the trees invites their steps
            return 128 if view.show_tree == "none" else 256
        return 64 if view.reasoning == "direct" else 768


VARIABLES = IdentifyingVariables()
