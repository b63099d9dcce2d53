"""Symbolic n-hop composition, open book: candidate ladders and bags of facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

from trivium.benchmarks.nhop import (
    answer,
    audit,
    generate,
    render,
    report,
    solvers,
)
from trivium.benchmarks.nhop.answer import NhopAnswer
from trivium.benchmarks.nhop.item import NhopItem, from_row, to_row
from trivium.benchmarks.nhop.spec import (
    EXPLICIT_DIAGNOSTICS,
    EXPLICIT_PRESETS,
    IMPLICIT_DIAGNOSTICS,
    IMPLICIT_PRESETS,
    ExplicitSpec,
    ImplicitSpec,
    NhopView,
)
from trivium.core.benchmark import Benchmark, ChartAxis, Lifts

SpecT = TypeVar("SpecT", ImplicitSpec, ExplicitSpec)


class _Nhop(Benchmark[SpecT, NhopView, NhopItem, NhopAnswer]):
    """What both n-hop benchmarks share: all but the spec, the solvers and the file format."""

    view_type = NhopView
    answer_field = "answer_id"
    metrics = answer.METRICS
    kinds = answer.KINDS
    headline_rule = report.RULE
    explicit: ClassVar[bool]
    source: ClassVar[str]  # of the facts, as in "composes 4 steps from a bag of facts"

    # A function with its module's name comes last, since it shadows the module from there on.
    reshuffle = staticmethod(generate.reshuffle)
    item_space = staticmethod(generate.item_space)
    generate = staticmethod(generate.generate)
    to_row = staticmethod(to_row)
    render = staticmethod(render.render)
    parse = staticmethod(answer.parse)
    schema = staticmethod(answer.schema)
    write = staticmethod(answer.write)
    gold = staticmethod(answer.gold)
    kind = staticmethod(answer.kind)
    floor = staticmethod(answer.floor)
    item_floor = staticmethod(answer.item_floor)
    ceiling = staticmethod(answer.ceiling)
    item_ceiling = staticmethod(answer.item_ceiling)
    probes = staticmethod(audit.probes)
    canonical = staticmethod(audit.canonical)
    parts = staticmethod(audit.parts)
    groups = staticmethod(answer.groups)
    highlights = staticmethod(report.highlights)
    score = staticmethod(answer.score)

    def from_row(self, row: Mapping[str, Any], number: int) -> NhopItem:
        return from_row(row, self.explicit)

    def headline_sentence(self, lifts: Lifts) -> str:
        return report.headline_sentence(lifts, self.source)

    def names(self, item: NhopItem) -> Sequence[Sequence[str]]:
        """The tokens of every layer."""
        return item.layers()

    def gallery_examples(self) -> Iterator[tuple[str, SpecT, NhopView]]:
        for name, spec in self.presets.items():
            yield name, spec, NhopView()
        yield "steps mode", self.default_spec, NhopView("steps")
        yield "in plain English", self.default_spec, NhopView(surface="relations")

    def output_tokens(self, view: NhopView) -> int:
        return {"direct": 16, "steps": 256, "free": 1024}[view.mode]

    def audit_views(self) -> Sequence[NhopView]:
        """Both surfaces; modes differ only in the words after the question."""
        return NhopView(), NhopView(surface="relations")


class NhopExplicit(_Nhop[ExplicitSpec]):
    """Candidate ladders."""

    name = "nhop_explicit"
    field_aliases = MappingProxyType({"Ls": "L", "n": "hops", "contexts": "context_chains"})
    title = "compose facts over several steps through ladders of candidates"
    source = "through ladders"
    explicit = True
    chart_axes = (ChartAxis("steps", "steps", "step"), ChartAxis("L"))
    default_preset = "explicit-hard"
    leaky_presets = frozenset({"explicit-easy"})
    spec_type = ExplicitSpec
    presets = EXPLICIT_PRESETS
    solvers = solvers.EXPLICIT_SOLVERS
    diagnostics = EXPLICIT_DIAGNOSTICS
    published = answer.EXPLICIT_PUBLISHED


class NhopImplicit(_Nhop[ImplicitSpec]):
    """Bags of facts."""

    name = "nhop_implicit"
    field_aliases = MappingProxyType({"m_list": "m", "n": "hops"})
    title = "compose facts over several steps from a shuffled bag of facts"
    source = "from a bag of facts"
    explicit = False
    chart_axes = (
        ChartAxis("steps", "steps (hops - 1)", "step"),
        ChartAxis("m"),
        ChartAxis("hops", "hops (steps + 1)"),
    )
    spec_type = ImplicitSpec
    presets = IMPLICIT_PRESETS
    solvers = solvers.IMPLICIT_SOLVERS
    diagnostics = IMPLICIT_DIAGNOSTICS
    published = answer.IMPLICIT_PUBLISHED


EXPLICIT = NhopExplicit()
IMPLICIT = NhopImplicit()
