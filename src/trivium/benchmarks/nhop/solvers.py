"""Programs that answer from the prompt: the oracle and shortcuts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from trivium.benchmarks.nhop.answer import gold
from trivium.benchmarks.nhop.item import UNKNOWN, NhopItem, derive, possible_answers
from trivium.benchmarks.nhop.render import read_prompt
from trivium.core.benchmark import Role, Solver, Turn, answer_line, by_name
from trivium.core.streams import Stream


def oracle(shown: NhopItem, stream: Stream) -> str:
    """Composes the printed facts; where one is missing, says unknown if it may, or else guesses."""
    if shown.may_be_unknown:
        return next(iter(derive(shown)), UNKNOWN)
    return stream.choice(possible_answers(shown))


def random_candidate(shown: NhopItem, stream: Stream) -> str:
    """Guesses one of the possible answers."""
    return stream.choice(shown.candidates)


def pointer_f_n1(shown: NhopItem, stream: Stream) -> str:
    """The tail of the first printed f_{n-1} line."""
    function = f"f{shown.depth - 1 if shown.blocks else shown.depth}"
    return next(tail for _, line_function, tail in shown.triples() if line_function == function)


def last_line(shown: NhopItem, stream: Stream) -> str:
    """The tail of the last printed line."""
    return shown.triples()[-1][2]


def most_frequent_token(shown: NhopItem, stream: Stream) -> str:
    """The possible answer that is printed most often, the first on ties."""
    counts = shown.token_counts(len(shown.blocks))
    return max(shown.candidates, key=lambda token: counts[token])


def first_rank_head(shown: NhopItem, stream: Stream) -> str:
    """The last block's candidate whose head is printed most often above it, first on ties."""
    counts = shown.token_counts(len(shown.blocks) - 1)
    return max(shown.last_lines, key=lambda line: counts[line[0]])[1]


def elimination(shown: NhopItem, stream: Stream) -> str:
    """Rules out candidates whose head appears nowhere else; guesses among the rest."""
    counts = shown.token_counts(len(shown.blocks) - 1)
    left = [tail for head, tail in shown.last_lines if counts[head]]
    return stream.choice(left or shown.candidates)


def _solver(guess: Callable[[NhopItem, Stream], str], role: Role = "shortcut") -> Solver:
    """The solver that states this guess in the mode of the view."""

    def say(turn: Turn) -> str:
        shown = read_prompt(turn.messages[0])
        steps = gold(shown).steps if guess is oracle and turn.view.mode == "steps" else ()
        return _reply(turn, guess(shown, turn.stream), steps)

    return Solver(guess.__name__, guess.__doc__ or "", say, role)


def literal_chain(turn: Turn) -> str:
    """Follows facts in the question's own words without reading aliases; guesses otherwise."""
    derived = derive(read_prompt(turn.messages[0], literal=True))
    return _reply(
        turn,
        derived[0] if derived else random_candidate(read_prompt(turn.messages[0]), turn.stream),
    )


_SLOT = re.compile(r"^(.+): <.+>$", re.MULTILINE)


def _reply(turn: Turn, token: str, steps: Sequence[str | None] = ()) -> str:
    """The answer in the mode of the view, with the slots that the prompt shows."""
    if turn.view.mode == "direct":
        return token
    slots = zip(_SLOT.findall(turn.messages[0]), steps, strict=False)
    lines = [f"{slot}: {value}" for slot, value in slots if value is not None]
    return "\n".join([*lines, answer_line(token)])


_ORACLE = _solver(oracle, "ceiling")
_RANDOM = _solver(random_candidate, "floor")
_LITERAL = Solver("literal_chain", literal_chain.__doc__ or "", literal_chain)
IMPLICIT_SOLVERS = by_name(
    [_ORACLE, *map(_solver, (pointer_f_n1, last_line, most_frequent_token)), _LITERAL, _RANDOM]
)
_SHORTCUTS = (first_rank_head, elimination, pointer_f_n1, most_frequent_token, last_line)
EXPLICIT_SOLVERS = by_name([_ORACLE, *map(_solver, _SHORTCUTS), _LITERAL, _RANDOM])
