"""One-file benchmarks: questions with a short answer, and defaults for everything else."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic

from trivium.core.benchmark import Benchmark, Floor, Origin, Solver, SpecT, Turn, answer_line, ask
from trivium.core.errors import UserError, require
from trivium.core.files import dump_line
from trivium.core.probes import Probe
from trivium.core.reading import find_answer, plain
from trivium.core.records import Groups
from trivium.core.spec import spec_from_dict, spec_to_dict
from trivium.core.streams import Stream, item_stream


@dataclass(frozen=True)
class PlainView:
    """A benchmark that presents its items in one way only."""


@dataclass(frozen=True)
class Question:
    """An item: a text, the possible answers, and the right one."""

    prompt: str
    options: tuple[str, ...]
    answer: str
    groups: Groups = field(default_factory=dict)
    id: str = ""
    origin: Origin | None = None


class QuestionBenchmark(Benchmark[SpecT, PlainView, Question, str], Generic[SpecT]):
    """Questions whose answer is one of their options; a subclass must define only `question`."""

    view_type = PlainView

    @abstractmethod
    def question(self, spec: SpecT, stream: Stream) -> Question:
        """A fresh question; everything random is drawn from the stream."""

    def generate(
        self, spec: SpecT, seed: int, start: int = 0, count: int = 1
    ) -> Iterator[Question]:
        for index in range(start, start + count):
            question = self.question(spec, item_stream(spec, seed, index))
            origin = Origin(spec_to_dict(spec), seed, index)
            yield replace(question, id=f"Q-{index:06d}", origin=origin)

    def to_row(self, item: Question) -> dict[str, Any]:
        assert item.origin is not None
        return {
            "id": item.id,
            "prompt": item.prompt,
            "options": list(item.options),
            "answer": item.answer,
            "groups": item.groups,
            "spec": item.origin.spec,
            "seed": item.origin.seed,
            "index": item.origin.index,
        }

    def from_row(self, row: Mapping[str, Any], number: int) -> Question:
        """The item regenerated from its spec, seed and index; the row must be the same."""
        origin = Origin.from_row(row)
        if origin is None:
            raise UserError("a row needs spec, seed and index")
        spec = spec_from_dict(self.spec_type, origin.spec)
        item = next(self.generate(spec, origin.seed, origin.index))
        same = dump_line(self.to_row(item)) == dump_line(dict(row))
        require(same, "the row is not what its spec, seed and index generate")
        return item

    def render(self, item: Question, view: PlainView) -> str:
        return f"{item.prompt}\n\n{ask('<answer>')}"

    def parse(self, item: Question, replies: Sequence[str], view: PlainView) -> str | None:
        """The option that the reply gives."""
        options = {plain(option).strip().casefold(): option for option in item.options}
        values = (value.casefold() for value in find_answer(replies[-1]).values)
        return next((options[value] for value in values if value in options), None)

    def write(self, item: Question, answer: str, view: PlainView) -> str:
        return answer_line(answer)

    def gold(self, item: Question) -> str:
        return item.answer

    def floor(self, spec: SpecT, view: PlainView) -> Floor:
        """A random guess; override it where the number of options varies or another is better."""
        return Floor("random", 1 / len(next(self.generate(spec, 0)).options))

    def groups(self, item: Question) -> Groups:
        return item.groups

    def probes(self, item: Question, view: PlainView) -> Sequence[Probe]:
        """Which option is right."""
        right = [option == item.answer for option in item.options]
        return [Probe("answer", item.options, right)]


def oracle() -> Solver:
    """A ceiling that knows the answer."""

    def reply(turn: Turn) -> str:
        return answer_line(turn.item.answer)

    return Solver("oracle", "knows the answer", reply, "ceiling", omniscient=True)


def random_option() -> Solver:
    """A floor that guesses among the options."""

    def reply(turn: Turn) -> str:
        return answer_line(turn.stream.choice(turn.item.options))

    return Solver("random", "guesses among the options", reply, "floor", omniscient=True)
