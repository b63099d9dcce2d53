"""trivium ceilings"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trivium.benchmarks.blicket.game import limits
from trivium.benchmarks.blicket.game.spec import PAPER_RULES, PRESETS, GameSpec, mixed_games
from trivium.benchmarks.blicket.inference.ceilings import (
    PAPER_SPACES,
    Ceiling,
    ceilings,
    exact_text,
)
from trivium.benchmarks.blicket.inference.hypotheses import Space, make_space, space_of
from trivium.benchmarks.blicket.inference.observer import TINY
from trivium.commands.flags import read_flags
from trivium.core.errors import require, require_range
from trivium.report.tables import Table, terminal

ABOUT = """The exact ceilings of an ideal observer on blicket machines: for the paper's spaces, or
for the space of the flags. With --game, how many games of blicket_game can be won: in every
preset, or in the game of the flags.
Example: trivium ceilings --objects 4 --rules conjunctive disjunctive parity
Example: trivium ceilings --game"""
MAX_TESTS = 8
EXPLAINED = """Tests: the expected number until the machine is known, inf if it may never be.
Reward after t: the expected reward of the quiz (+1 or -1 for each object) after t tests, when
each object gets the most likely answer. optimal needs the fewest tests to certainty;
`best for the quiz` chooses its t tests only for the reward after t, so it is the ceiling of the
column. Learning curves have plateaus at these values."""
GAME_EXPLAINED = """constant_answer makes no test, best_fixed_script the best tests that can be
chosen in advance, optimal the tests that win most games. The adaptivity gap is optimal minus
best_fixed_script, the range in which lift is measured: without a gap, tests written in advance win
as often as any player's. "at most": an upper bound. mixed: means over all of its spaces."""


@dataclass(frozen=True)
class Flags:
    """Which machines are possible."""

    objects: int = 3  # the number of objects
    rules: tuple[str, ...] = ()  # all machines of these: conjunctive, threshold-2, parity, ...
    hypotheses: tuple[str, ...] = ()  # these machines: conjunctive:AB, inhibitor:A-C~0.1, ...
    noise: float = 0.0  # how often the light of the rules' machines is wrong
    tests: int = 4  # the number of tests in the table, or of a game
    game: bool = False  # compare adaptive and fixed tests in blicket_game


def main(args: Sequence[str]) -> int:
    """Print one table for each space."""
    flags = read_flags("trivium ceilings", Flags(), args, ABOUT).flags
    if flags.game:
        return _show_games(flags)
    require_range(flags, 0, MAX_TESTS, "tests")
    console = terminal()
    for name, space in chosen_spaces(flags).items():
        found = ceilings(space, flags.tests)
        ceiling_table(name, space, found, flags.tests).show(console)
        for ceiling in found:
            if ceiling.refused:
                print(f"{ceiling.explorer} is omitted: {ceiling.refused}")
    print(EXPLAINED)
    return 0


def _show_games(flags: Flags) -> int:
    """Print one table of all games."""
    games = PRESETS
    if flags != Flags(game=True):
        rules = flags.rules or PAPER_RULES
        spec = GameSpec(flags.objects, rules, flags.hypotheses, flags.tests, flags.noise)
        games = {"this game": spec}
    game_table(games).show(terminal())
    print(GAME_EXPLAINED)
    return 0


def game_table(games: Mapping[str, GameSpec]) -> Table:
    """A table with the size, the limits and the adaptivity gap of each game."""
    rows = []
    for name, spec in games.items():
        test_counts = [game.tests for game in mixed_games()] if spec.mixed else [spec.tests]
        lowest, highest = limits.script_floor(spec), limits.player_ceiling(spec)
        gap = highest.value - lowest.value
        rows.append(
            (
                name,
                f"{len(mixed_games())} spaces" if spec.mixed else str(len(spec.space)),
                " to ".join(map(str, sorted({min(test_counts), max(test_counts)}))),
                f"{lowest.others[limits.BLIND]:.3f}",
                _limit(lowest.value, lowest.exact),
                _limit(highest.value, highest.exact),
                f"{gap:.3f}" if gap > TINY else "none",
            )
        )
    columns = (
        "preset",
        "machines",
        "tests",
        limits.BLIND,
        "best_fixed_script",
        "optimal",
        "adaptivity gap",
    )
    return Table("blicket_game: expected `correct`", columns, tuple(rows))


def _limit(value: float, exact: bool) -> str:
    return f"{'' if exact else 'at most '}{value:.3f}"


def chosen_spaces(flags: Flags) -> dict[str, Space]:
    """The spaces that the flags describe, by name; by default the paper's."""
    require(not (flags.rules and flags.hypotheses), "give rules or hypotheses, not both")
    if flags.hypotheses:
        require(not flags.noise, "noise goes with rules; a hypothesis names its own noise: A-C~0.1")
        return {"the hypotheses given": space_of(flags.hypotheses, flags.objects)}
    if flags.rules or flags.objects != 3 or flags.noise:
        rules = flags.rules or PAPER_RULES
        return {" and ".join(rules): make_space(flags.objects, rules, flags.noise)}
    return PAPER_SPACES


def ceiling_table(name: str, space: Space, found: Sequence[Ceiling], tests: int) -> Table:
    """A table with a row for each explorer."""
    rows = [
        (ceiling.explorer, exact_text(ceiling.tests), *map(exact_text, ceiling.rewards))
        for ceiling in found
        if not ceiling.refused
    ]
    columns = ("explorer", "tests", *(f"after {made}" for made in range(tests + 1)))
    title = (
        f"{name}: {len(space)} machines, {space.objects} objects; tests until the machine is known,"
        " and the reward after each test"
    )
    return Table(title, columns, tuple(rows))
