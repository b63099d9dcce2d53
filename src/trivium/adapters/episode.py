"""Attempts at items turn by turn, with rewards: the basis of every adapter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trivium.auditing.overlap import Overlap, held_out, repeats
from trivium.benchmarks import load_task
from trivium.core.errors import UserError, require
from trivium.core.reading import visible_replies
from trivium.core.spec import spec_to_dict
from trivium.core.streams import DEFAULT_SEED, stream_key
from trivium.core.task import PresentedItem, Task

SEEDS = 2**32  # evaluations have seeds below this, training those above it
MAX_TRIES = 2000  # items that are drawn for one of a split
# Below 1, the score of a right answer, so that testing is never worth more than answering.
INFORMATION_WEIGHT = 0.5


def origin_of(item: PresentedItem) -> dict[str, Any]:
    """What regenerates an item, as JSON values."""
    origin, task = item.original.origin, item.task
    return {
        "benchmark": task.benchmark.name,
        "spec": origin.spec,
        "view": spec_to_dict(task.view),
        "seed": origin.seed,
        "index": origin.index,
    }


def check_split(split: str, seed: int) -> None:
    """Refuse an unknown split or a seed beyond 32 bits."""
    require(split in ("train", "test"), f"split must be train or test, got {split!r}")
    require(0 <= seed < SEEDS, f"seed must be in 0..{SEEDS - 1}, got {seed}")


def split_item(task: Task, split: str, seed: int, index: int) -> PresentedItem:
    """The item with this index in a split: drawn again until its structures are of that split.

    "test" starts with the item that an evaluation with this seed has, "train" with one that no
    evaluation has; four fifths of all structures belong to "train".
    """
    check_split(split, seed)
    for number in range(MAX_TRIES):
        item_seed = stream_key("split", seed, number) % SEEDS if number else seed
        item = task.item(index, item_seed + SEEDS * (split == "train"))
        if held_out(task.benchmark, item.original) is (split == "test"):
            return item
    raise UserError(
        f"{task.benchmark.name} with this spec has too few structures for a {split} split: none of "
        f"{MAX_TRIES} items belongs to it"
    )


def certificate(task: Task, seed: int, items: int) -> dict[str, Any]:
    """The overlap of a seed's two splits: equal items, exactly and up to names, and equal parts."""
    train, test = (
        [split_item(task, split, seed, index).original for index in range(items)]
        for split in ("train", "test")
    )
    space = task.benchmark.item_space(task.spec)
    found = Overlap(items, (seed + SEEDS, seed), repeats(task.benchmark, train, test), space)
    # The number of items may have a hundred digits, too many for MessagePack.
    return found.to_dict() | {"space": None if found.space is None else str(found.space)}


def score_of(item: PresentedItem, replies: Sequence[str]) -> float:
    """The headline metric of these replies; UserError if it is not defined."""
    require(bool(replies), f"{item.id} has no reply: a call that failed is not a wrong answer")
    headline = item.task.benchmark.metrics[0].name
    value = item.task.score(item, replies).get(headline)
    if value is None:
        raise UserError(f"{headline} is not defined for the reply to {item.id}")
    return value


def information_of(item: PresentedItem, replies: Sequence[str]) -> Sequence[float] | None:
    """The information gained by each move of a game, as a share of all; None if not measured."""
    return item.task.benchmark.information(item.content, visible_replies(replies))


@dataclass(frozen=True)
class Outcome:
    """The response to a reply, and what the reply earns."""

    text: str  # the response; empty when the attempt is over
    reward: float
    done: bool
    scores: Mapping[str, float | None]  # every metric, when the attempt is over


class Episode:
    """An attempt at an item, turn by turn.

    The last turn earns the score; in a game each test also earns its information, so that the
    rewards add up to the score plus the weighted information.
    """

    def __init__(self, item: PresentedItem, information_weight: float = INFORMATION_WEIGHT) -> None:
        self.item = item
        self.dialogue = item.task.start(item)
        self._weight = information_weight
        self._found = 0.0  # the weighted information so far

    def step(self, reply: str) -> Outcome:
        """Send a reply; returns its outcome."""
        require(isinstance(reply, str), f"a reply is text, got {reply!r}")
        response = self.dialogue.send(reply)
        replies, done = self.dialogue.replies, self.dialogue.done
        reward = score_of(self.item, replies) if done else 0.0
        before, self._found = self._found, self._information()
        reward += self._found - before
        return Outcome(response or "", reward, done, self.dialogue.scores if done else {})

    def _information(self) -> float:
        """The weighted information of all tests so far."""
        if not self._weight:
            return 0.0
        return self._weight * sum(information_of(self.item, self.dialogue.replies) or ())


class Episodes:
    """Attempts at the items of a task, one after the other."""

    def __init__(
        self, benchmark: str, preset: str | None, weight: float, fields: Mapping[str, Any]
    ) -> None:
        self.task = load_task(benchmark, preset, fields)
        self._weight = weight
        self._seed, self._next = DEFAULT_SEED, 0
        self._current: Episode | None = None

    @property
    def current(self) -> Episode:
        """The attempt that was started last."""
        if self._current is None:
            raise UserError("call reset first")
        return self._current

    def start(self, split: str, seed: int | None = None, index: int | None = None) -> Episode:
        """An attempt at the next item, at a seed's first item, or at the one with this index."""
        if seed is not None:
            self._seed, self._next = seed, 0
        at = self._next if index is None else index
        self._current = Episode(split_item(self.task, split, self._seed, at), self._weight)
        self._next = at + 1
        return self._current
