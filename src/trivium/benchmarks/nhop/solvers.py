"""Programs that answer from the page alone: the oracle, and the shortcuts it must stay above."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from trivium.benchmarks.nhop.answer import NhopAnswer, write
from trivium.benchmarks.nhop.item import NhopItem, derive
from trivium.benchmarks.nhop.render import read_page
from trivium.benchmarks.nhop.score import gold
from trivium.core.benchmark import Solver, Turn, by_name
from trivium.core.streams import Stream

Guess = Callable[[NhopItem, Stream], str]


def oracle(page: NhopItem, stream: Stream) -> str:
    """Composes the printed facts; guesses where an ablation left nothing to compose."""
    derived = derive(page)
    return derived[0] if derived else stream.choice(page.candidates)


def random_candidate(page: NhopItem, stream: Stream) -> str:
    """One of the tokens that stand where the answer must stand."""
    return stream.choice(page.candidates)


def pointer_f_n1(page: NhopItem, stream: Stream) -> str:
    """The tail of the first printed f_{n-1} line."""
    if not page.blocks:
        return page.candidates[0]
    function = f"f{page.depth - 1}"
    shown = [*page.facts, *(line for block in page.blocks for line in block.lines)]
    return next(line[2] for line in shown if line[1] == function)


def last_line(page: NhopItem, stream: Stream) -> str:
    """The tail of the last printed line."""
    return page.blocks[-1].lines[-1][2] if page.blocks else page.facts[-1][2]


def most_frequent_token(page: NhopItem, stream: Stream) -> str:
    """The possible answer that is printed most often, the first on ties."""
    counts = printed(page, len(page.blocks))
    return max(page.candidates, key=lambda token: counts[token])


def first_rank_head(page: NhopItem, stream: Stream) -> str:
    """The last block's candidate whose head is printed most often above it, first on ties."""
    counts = printed(page, len(page.blocks) - 1)
    return max(page.blocks[-1].resolved(), key=lambda line: counts[line[0]])[1]


def elimination(page: NhopItem, stream: Stream) -> str:
    """Rules out candidates whose head appears nowhere else; guesses among the rest."""
    counts = printed(page, len(page.blocks) - 1)
    lines = page.blocks[-1].resolved()
    left = [tail for head, tail in lines if counts[head]] or [tail for _, tail in lines]
    return stream.choice(left)


def literal_chain(page: NhopItem, stream: Stream) -> str:
    """Follows equal strings from line to line and never reads an alias map; else it guesses.

    The surface habit that aliases are there to stop: copying what stands after the last
    place where the same string stood.
    """
    plain = page._replace(blocks=[block._replace(aliases={}) for block in page.blocks])
    return oracle(plain, stream)


def printed(page: NhopItem, blocks: int) -> Counter[str]:
    """How often each token stands in the facts and the first so many blocks.

    Alias maps name every head of their block once, so they are left out.
    """
    counts: Counter[str] = Counter()
    for head, _, tail in page.facts:
        counts[head] += 1
        counts[tail] += 1
    for block in page.blocks[:blocks]:
        for head, tail in block.resolved():
            counts[head] += 1
            counts[tail] += 1
    return counts


def _speak(guess: Guess) -> Callable[[Turn], str]:
    """The guess as a reply in the mode that is asked for."""

    def say(turn: Turn) -> str:
        page = read_page(turn.messages[0])
        token = guess(page, turn.stream)
        steps: tuple[str | None, ...] = ()
        if turn.view.mode == "steps" and guess is oracle:
            steps = gold(page).steps
        return write(NhopAnswer(token, steps), turn.view)

    return say


def _solver(guess: Guess, role: str = "shortcut", name: str | None = None) -> Solver:
    about = (guess.__doc__ or "").split("\n")[0]
    return Solver(name or guess.__name__, about, _speak(guess), role=role)  # type: ignore[arg-type]


_ORACLE = _solver(oracle, "ceiling")
_RANDOM = _solver(random_candidate, "floor")
IMPLICIT_SOLVERS = by_name(
    [
        _ORACLE,
        _solver(pointer_f_n1),
        _solver(last_line),
        _solver(most_frequent_token),
        _RANDOM,
    ]
)
EXPLICIT_SOLVERS = by_name(
    [
        _ORACLE,
        _solver(first_rank_head),
        _solver(elimination),
        _solver(pointer_f_n1),
        _solver(most_frequent_token),
        _solver(last_line),
        _solver(literal_chain, "program"),
        _RANDOM,
    ]
)
