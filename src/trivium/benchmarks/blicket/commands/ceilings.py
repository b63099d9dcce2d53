"""trivium ceilings"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trivium.benchmarks.blicket.game.adaptivity import Adaptivity, adaptivity
from trivium.benchmarks.blicket.game.spec import PAPER_RULES, PRESETS, GameSpec
from trivium.benchmarks.blicket.inference.ceilings import (
    EXPLAINED,
    PAPER_SPACES,
    Ceiling,
    ceilings,
    exact_text,
)
from trivium.benchmarks.blicket.inference.hypotheses import Space, make_space, space_of
from trivium.benchmarks.blicket.inference.observer import TINY
from trivium.commands.flags import read_flags
from trivium.core.errors import require
from trivium.report.tables import Table, terminal

ABOUT = """What an ideal observer can reach on blicket machines, exactly: the paper's spaces, or the
one that the flags describe. With --game, how often each player of blicket_game is right: in every
preset, or in the games that the flags describe.
Example: trivium ceilings --objects 4 --rules conjunctive disjunctive parity
Example: trivium ceilings --game"""
MAX_TESTS = 8
GAME_EXPLAINED = """constant_answer makes no test. posterior makes random tests, one_at_a_time each
object alone; best_fixed_script makes the best tests that can be chosen beforehand,
information_gain the best next test, optimal the tests that win most games; all five then name the
likeliest machine. The adaptivity gap is optimal less best_fixed_script: where it is none, a lookup
table wins as often as any player. "x to y": proven bounds; "about": 4,000 random scripts."""


@dataclass(frozen=True)
class Flags:
    """Which machines are thought possible."""

    objects: int = 3  # how many objects there are
    rules: tuple[str, ...] = ()  # all machines of these: conjunctive, threshold-2, parity, ...
    hypotheses: tuple[str, ...] = ()  # these machines: conjunctive:AB, inhibitor:A-C~0.1, ...
    noise: float = 0.0  # how often the light of the rules' machines is wrong
    tests: int = 4  # up to how many tests rewards are printed, or how many a game allows
    game: bool = False  # the players of blicket_game and what choosing tests as one goes is worth


def main(args: Sequence[str]) -> int:
    """Print one table for each space."""
    flags = read_flags("ceilings", Flags(), args, ABOUT)
    if flags.game:
        return _show_games(flags)
    require(0 <= flags.tests <= MAX_TESTS, f"tests must be in 0..{MAX_TESTS}, got {flags.tests}")
    console = terminal()
    for name, space in chosen_spaces(flags).items():
        found = ceilings(space, flags.tests)
        ceiling_table(name, space, found, flags.tests).show(console)
        for ceiling in found:
            if ceiling.refused:
                print(f"{ceiling.explorer} is left out: {ceiling.refused}")
    print(EXPLAINED)
    return 0


def _show_games(flags: Flags) -> int:
    """Print one table of all games."""
    require(not flags.noise, "noise must be 0: players are compared on machines without noise")
    games = PRESETS
    if flags != Flags(game=True):
        rules = flags.rules or PAPER_RULES
        asked = GameSpec(flags.objects, rules, flags.hypotheses, flags.tests)
        games = {"this game": asked}
    game_table({name: adaptivity(spec) for name, spec in games.items()}).show(terminal())
    print(GAME_EXPLAINED)
    return 0


def game_table(found: Mapping[str, Adaptivity]) -> Table:
    """One line for each preset: its size, every player and the adaptivity gap."""
    rows = [
        (
            name,
            str(len(each.spec.space)),
            str(each.spec.tests),
            *map(str, each.players.values()),
            f"{each.gap}: none" if each.gap.high <= TINY else str(each.gap),
        )
        for name, each in found.items()
    ]
    players = next(iter(found.values())).players
    columns = ("preset", "machines", "tests", *players, "adaptivity gap")
    return Table("blicket_game: expected `correct` of each player", columns, tuple(rows))


def chosen_spaces(flags: Flags) -> dict[str, Space]:
    """The spaces that the flags ask for, by name."""
    require(not (flags.rules and flags.hypotheses), "give rules or hypotheses, not both")
    if flags.hypotheses:
        require(not flags.noise, "noise goes with rules; a hypothesis has its own: A-C~0.1")
        return {"the hypotheses given": space_of(flags.hypotheses, flags.objects)}
    if flags.rules or flags.objects != 3 or flags.noise:
        rules = flags.rules or ("conjunctive", "disjunctive")
        return {" and ".join(rules): make_space(flags.objects, rules, flags.noise)}
    return PAPER_SPACES


def ceiling_table(name: str, space: Space, found: Sequence[Ceiling], tests: int) -> Table:
    """One line for each way of exploring."""
    rows = [
        (ceiling.explorer, exact_text(ceiling.tests), *map(exact_text, ceiling.rewards))
        for ceiling in found
        if not ceiling.refused
    ]
    columns = ("explorer", "tests", *(f"after {made}" for made in range(tests + 1)))
    title = (
        f"{name}: {len(space)} machines, {space.objects} objects; tests until the machine is known,"
        " and the reward after so many tests"
    )
    return Table(title, columns, tuple(rows))
