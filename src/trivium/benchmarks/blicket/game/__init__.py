"""The blicket game: find out by experimenting how a machine works."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from trivium.benchmarks.blicket.game import (
    answer,
    audit,
    generate,
    item,
    moves,
    render,
    score,
    solvers,
    world,
)
from trivium.benchmarks.blicket.game.item import GameAnswer, GameItem
from trivium.benchmarks.blicket.game.spec import DIAGNOSTICS, PRESETS, GameSpec, GameView
from trivium.benchmarks.blicket.inference.observer import entropy
from trivium.core.benchmark import Benchmark
from trivium.core.probes import Audit
from trivium.core.records import Groups, Scores
from trivium.core.streams import Stream, stream_key


class BlicketGame(Benchmark[GameSpec, GameView, GameItem, GameAnswer]):
    """Place a set, see the light, answer: a conversation with the machine."""

    name = "blicket_game"
    title = "find blickets and the form of a machine by choosing tests"
    spec_type = GameSpec
    view_type = GameView
    presets = PRESETS
    metrics = score.METRICS
    solvers = solvers.SOLVERS
    default_items = 200
    multi_turn = True
    diagnostics = DIAGNOSTICS
    trace_label = "bits still unknown"

    def generate(
        self, spec: GameSpec, seed: int, start: int = 0, count: int = 1
    ) -> Iterator[GameItem]:
        return generate.generate(spec, seed, start, count)

    def to_row(self, item_: GameItem) -> dict[str, Any]:
        return item.to_row(item_)

    def from_row(self, row: Mapping[str, Any], number: int) -> GameItem:
        return item.from_row(row)

    def render(self, item_: GameItem, view: GameView) -> str:
        return render.render(item_, view)

    def respond(self, item_: GameItem, replies: Sequence[str], view: GameView) -> str | None:
        game, said = world.replay(item_, replies)
        return None if game.over else said

    def parse(self, item_: GameItem, replies: Sequence[str], view: GameView) -> GameAnswer | None:
        return world.replay(item_, replies)[0].given

    def write(self, item_: GameItem, answer_: GameAnswer, view: GameView) -> str:
        return answer.write_answer(answer_)

    def gold(self, item_: GameItem) -> GameAnswer:
        return item.gold(item_)

    def score(self, item_: GameItem, answer_: GameAnswer | None) -> Scores:
        return score.score(item_, answer_)

    def kind(self, item_: GameItem, answer_: GameAnswer | None) -> str:
        return score.kind(item_, answer_)

    def floor(self, item_: GameItem) -> float:
        return score.chance(item_)

    def groups(self, item_: GameItem) -> Groups:
        return score.groups(item_)

    def reshuffle(self, item_: GameItem, trial: int) -> GameItem:
        if trial == 0:
            return item_
        stream = Stream(stream_key("reshuffle", item_.listing, item_.truth, trial))
        return item_._replace(listing="".join(stream.shuffled(item_.listing)))

    def audit(self, spec: GameSpec, seed: int, items: int | None = None) -> Audit:
        return audit.audit(spec, seed, items)

    def gallery_examples(self) -> Iterator[tuple[str, GameSpec, GameView]]:
        yield from super().gallery_examples()
        noisy = GameSpec(tests=8, noise=0.1)
        yield "a light that is wrong at times, without the story", noisy, GameView(story=False)

    def tools(self) -> Sequence[Callable[..., str]]:
        return (moves.place, moves.answer)

    def max_turns(self, item_: GameItem) -> int:
        return item_.spec.tests + world.MAX_MISTAKES

    def trace(self, item_: GameItem, answer_: GameAnswer) -> list[float]:
        path = score.trajectory(item_.spec, answer_.tests)
        return [entropy(item_.space.belief), *(step.entropy for step in path.steps)]

    def output_tokens(self, view: GameView) -> int:
        return 256


GAME = BlicketGame()
