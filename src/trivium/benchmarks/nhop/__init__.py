"""Symbolic n-hop composition, open book: candidate ladders and bags of facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from trivium.benchmarks.nhop import answer, audit, item, reference, render, score, solvers
from trivium.benchmarks.nhop import fast_writer as lines
from trivium.benchmarks.nhop.answer import NhopAnswer
from trivium.benchmarks.nhop.item import NhopItem
from trivium.benchmarks.nhop.spec import (
    EXPLICIT_DIAGNOSTICS,
    EXPLICIT_PRESETS,
    IMPLICIT_DIAGNOSTICS,
    IMPLICIT_PRESETS,
    ExplicitSpec,
    ImplicitSpec,
    NhopView,
)
from trivium.core.benchmark import Benchmark
from trivium.core.probes import Audit
from trivium.core.records import Groups, Scores
from trivium.core.streams import Stream, stream_key

SpecT = TypeVar("SpecT", ImplicitSpec, ExplicitSpec)
OUTPUT_TOKENS = {"direct": 16, "steps": 256, "free": 1024}


class _Nhop(Benchmark[SpecT, NhopView, NhopItem, NhopAnswer]):
    """What both n-hop benchmarks share: all but the spec, the solvers and the file's shape."""

    view_type = NhopView
    explicit: ClassVar[bool]

    def generate(
        self, spec: SpecT, seed: int, start: int = 0, count: int = 1
    ) -> Iterator[NhopItem]:
        return item.generate(spec, seed, start, count)

    def generate_lines(self, spec: SpecT, seed: int, start: int, count: int) -> Iterator[bytes]:
        return lines.lines(spec, seed, start, count)

    def to_row(self, item_: NhopItem) -> dict[str, Any]:
        return item.to_row(item_)

    def from_row(self, row: Mapping[str, Any], number: int) -> NhopItem:
        return item.from_row(row, self.explicit)

    def render(self, item_: NhopItem, view: NhopView) -> str:
        return render.render(item_, view)

    def parse(self, item_: NhopItem, replies: Sequence[str], view: NhopView) -> NhopAnswer | None:
        return answer.parse(item_, replies[-1], view)

    def write(self, item_: NhopItem, answer_: NhopAnswer, view: NhopView) -> str:
        return answer.write(answer_, view)

    def gold(self, item_: NhopItem) -> NhopAnswer:
        return score.gold(item_)

    def score(self, item_: NhopItem, answer_: NhopAnswer | None) -> Scores:
        return score.score(item_, answer_)

    def kind(self, item_: NhopItem, answer_: NhopAnswer | None) -> str:
        return score.kind(item_, answer_)

    def floor(self, item_: NhopItem) -> float:
        return score.chance(item_)

    def groups(self, item_: NhopItem) -> Groups:
        return score.groups(item_)

    def reshuffle(self, item_: NhopItem, trial: int) -> NhopItem:
        if trial == 0:
            return item_
        stream = Stream(stream_key("reshuffle", item_.facts, item_.start, trial))
        blocks = [block._replace(lines=stream.shuffled(block.lines)) for block in item_.blocks]
        return item_._replace(facts=stream.shuffled(item_.facts), blocks=blocks)

    def audit(self, spec: SpecT, seed: int, items: int | None = None) -> Audit:
        return audit.audit(spec, seed, self.solvers, items)

    def gallery_examples(self) -> Iterator[tuple[str, SpecT, NhopView]]:
        for name, spec in self.presets.items():
            yield name, spec, NhopView()
        yield "steps mode", self.spec_type(), NhopView("steps")

    def output_tokens(self, view: NhopView) -> int:
        return OUTPUT_TOKENS[view.mode]


class NhopExplicit(_Nhop[ExplicitSpec]):
    """Candidate ladders."""

    name = "nhop_explicit"
    title = "compose facts over n hops through ladders of candidates"
    metrics_heading = "Block by block: where answers go wrong"
    explicit = True
    spec_type = ExplicitSpec
    presets = EXPLICIT_PRESETS
    metrics = score.EXPLICIT_METRICS
    solvers = solvers.EXPLICIT_SOLVERS
    diagnostics = EXPLICIT_DIAGNOSTICS
    published = reference.EXPLICIT


class NhopImplicit(_Nhop[ImplicitSpec]):
    """Bags of facts."""

    name = "nhop_implicit"
    title = "compose facts over n hops from a shuffled bag of facts"
    explicit = False
    spec_type = ImplicitSpec
    presets = IMPLICIT_PRESETS
    metrics = score.IMPLICIT_METRICS
    solvers = solvers.IMPLICIT_SOLVERS
    diagnostics = IMPLICIT_DIAGNOSTICS
    published = reference.IMPLICIT


EXPLICIT = NhopExplicit()
IMPLICIT = NhopImplicit()
