"""The blicket game: find out how a machine works by experimenting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from trivium.benchmarks.blicket.game import (
    answer,
    arms,
    audit,
    generate,
    render,
    report,
    rows,
    score,
    solvers,
    spec,
    world,
)
from trivium.benchmarks.blicket.game.generate import GameAnswer, GameItem
from trivium.benchmarks.blicket.game.spec import GameSpec, GameView
from trivium.core.benchmark import Benchmark, ChartAxis, Floor


class BlicketGame(Benchmark[GameSpec, GameView, GameItem, GameAnswer]):
    """A dialogue in which the player tests a machine, then says how it works."""

    name = "blicket_game"
    version = "2.0"
    title = "find blickets and the form of a machine by choosing tests"
    spec_type = GameSpec
    view_type = GameView
    presets = spec.PRESETS
    default_preset = "mixed"
    leaky_presets = frozenset(spec.PRESETS) - {"mixed"}
    why_leaky = (
        "these games have one fixed space, so a table of recorded games wins them; use the preset"
        " mixed for scores"
    )
    diagnostics = spec.DIAGNOSTICS
    metrics = score.METRICS
    solvers = solvers.SOLVERS
    default_items = 200
    multi_turn = True
    experiment_page = "trivium.benchmarks.blicket.people.page:PAGE"
    chart_axes = (
        ChartAxis("N", "objects", "object"),
        ChartAxis("tests", "tests made", "test", metric=True),
    )
    kinds = score.KINDS
    headline_rule = report.RULE
    easier_with_more = frozenset({"tests"})

    to_row = staticmethod(rows.to_row)
    from_row = staticmethod(rows.from_row)
    gold = staticmethod(generate.gold)
    reshuffle = staticmethod(generate.reshuffle)
    rename = staticmethod(generate.rename)
    generate = staticmethod(generate.generate)
    strict = staticmethod(answer.strict)
    kind = staticmethod(score.kind)
    limits_vary = True
    floor = staticmethod(arms.floor)
    ceiling = staticmethod(arms.ceiling)
    item_ceiling = staticmethod(arms.item_ceiling)
    loss_split = arms.SPLIT
    groups = staticmethod(score.groups)
    headline_sentence = staticmethod(report.headline_sentence)
    explain = staticmethod(report.explain)
    score = staticmethod(score.score)
    information = staticmethod(world.information)
    canonical = staticmethod(audit.canonical)
    item_space = staticmethod(audit.item_space)
    probes = staticmethod(audit.probes)

    def item_floor(self, item: GameItem, view: GameView) -> Floor:
        return arms.floor(item.spec, view)

    def render(self, item: GameItem, view: GameView) -> str:
        return render.render(item, view, arms.shown_tests(item, view))

    def respond(self, item: GameItem, replies: Sequence[str], view: GameView) -> str | None:
        game, message = world.replay(item, replies, arms.shown_tests(item, view))
        return None if game.over else message

    def parse(self, item: GameItem, replies: Sequence[str], view: GameView) -> GameAnswer | None:
        return world.replay(item, replies, arms.shown_tests(item, view))[0].given

    def write(self, item: GameItem, answer_: GameAnswer, view: GameView) -> str:
        return answer.write_answer(answer_)

    def names(self, item: GameItem) -> Sequence[Sequence[str]]:
        return (item.objects,)

    def tools(self, spec: GameSpec) -> Sequence[Callable[..., str]]:
        return answer.TOOLS if spec.demonstrations == "none" else answer.TOOLS_AFTER_EXAMPLES

    def max_turns(self, item: GameItem) -> int:
        return item.spec.tests + world.MAX_MISTAKES

    def output_tokens(self, view: GameView) -> int:
        return 256

    def gallery_examples(self) -> Iterator[tuple[str, GameSpec, GameView]]:
        yield from super().gallery_examples()
        noisy = GameSpec(tests=8, noise=0.1)
        yield "a light that is sometimes wrong, without the story", noisy, GameView(story=False)


GAME = BlicketGame()
