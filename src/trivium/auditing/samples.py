"""One probe on many items: features, right answers and pieces of text as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium.auditing.features import Group, PromptFeatures, candidate_features, item_features
from trivium.auditing.text import Counts, Pieces, pieces_of_candidates, pieces_of_item
from trivium.core.probes import Probe

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Kind = Literal["choice", "label", "several"]

MAX_FIXED = 6  # candidates that are the same in all items, distinguished by the item's features
RANKED = 32  # items that are ranked at a time


@dataclass(frozen=True)
class Sample:
    """One probe on the items of one seed: arrays of (item, candidate), padded to one width."""

    of_candidate: Mapping[str, Floats]  # the features of candidates
    of_item: Mapping[str, Floats]  # those of items, without the second axis
    right: Bools  # (item, candidate)
    there: Bools  # (item, candidate): False in the padding
    candidates: Ints  # a number for each name, the same in all items
    pieces: tuple[Pieces, Pieces] | None = None  # of candidates (item * width + place), of items

    @cached_property
    def kind(self) -> Kind:
        """The kind of question, by which a guess is judged."""
        if self.right.shape[1] == 1:
            return "label"
        return "choice" if (self.right.sum(axis=1) == 1).all() else "several"

    @cached_property
    def same_names(self) -> bool:
        """Whether all items have the same candidates, so that a constant answer is possible."""
        ordered = np.sort(self.candidates, axis=1)
        return bool((ordered == ordered[:1]).all())

    @cached_property
    def fixed(self) -> bool:
        """Whether each candidate is a class of its own, as in a yes/no question."""
        return self.kind == "choice" and self.same_names and self.right.shape[1] <= MAX_FIXED

    @cached_property
    def classes(self) -> list[Bools]:
        """The candidates of each class; one class of all unless the candidates are fixed."""
        every = range(self.right.shape[1])  # numbers are given in the order of first mention
        return [self.candidates == number for number in every] if self.fixed else [self.there]

    @cached_property
    def groups(self) -> Sequence[Bools]:
        """The candidates that a text could tell apart: by few names, or else by place.

        A fixed sample has one for each name in the order of their numbers.
        """
        names = np.unique(self.candidates[self.there])
        if self.fixed:
            return self.classes
        if self.kind != "label" and len(names) <= 2 * MAX_FIXED:
            return [self.candidates == number for number in names]
        return list(np.eye(self.right.shape[1], dtype=np.bool_))

    @cached_property
    def judged(self) -> Bools:
        """The items that can be judged: with right and wrong candidates, or one candidate."""
        if self.kind == "label":
            return np.full(len(self.right), bool(self.right.any() and not self.right.all()))
        right: Ints = self.right.sum(axis=1)
        wrong: Ints = (self.there & ~self.right).sum(axis=1)
        return np.logical_and(right > 0, wrong > 0)

    @cached_property
    def residual(self) -> Floats:
        """What is left to explain: right or not, less the best guess without features."""
        if self.kind == "label":
            expected = np.full(self.right.shape, self.right.mean())
        elif self.fixed:
            expected = sum(mask * self.right[mask].mean() for mask in self.classes)
        else:
            share = self.right.sum(axis=1) / self.there.sum(axis=1)
            expected = np.where(self.there, share[:, None], 0.0)
        residual: Floats = (self.right - expected).astype(np.float32)
        return residual

    def column(self, name: str) -> Floats:
        """One feature of all candidates."""
        if name in self.of_candidate:
            return self.of_candidate[name]
        return np.broadcast_to(self.of_item[name][:, None], self.right.shape)

    @cached_property
    def telling(self) -> list[str]:
        """The features that are not constant and not equal to an earlier one."""
        seen: set[bytes] = set()
        found = []
        for name, values in (*self.of_candidate.items(), *self.of_item.items()):
            known = values[self.there] if name in self.of_candidate else values
            key = known.tobytes()
            if key not in seen and not (known == known[0]).all() and not np.isnan(known).all():
                found.append(name)
            seen.add(key)
        return found

    def tells_apart(self, name: str) -> bool:
        """Whether a feature differs between the candidates of an item, or each is its own class."""
        if self.kind == "label" or self.fixed:
            return True
        values = self.of_candidate.get(name)
        if values is None:
            return False
        plain = np.where(np.isnan(values), np.float32(-1e30), values)
        return bool((np.where(self.there, plain, plain[:, :1]) != plain[:, :1]).any())

    def part(self, rows: int) -> Sample:
        """The first items, with about as many candidates."""
        n = max(1, rows // self.right.shape[1])
        of_candidate = {name: values[:n] for name, values in self.of_candidate.items()}
        items = {name: values[:n] for name, values in self.of_item.items()}
        rest = self.right[:n], self.there[:n], self.candidates[:n]
        return self if n >= len(self.right) else Sample(of_candidate, items, *rest)


class Row(NamedTuple):
    """One probe of one item."""

    probe: Probe
    of_candidate: Floats  # the features of all candidates, one after the other
    of_item: Floats
    pieces: tuple[Counts, Counts] | None  # of text: of candidates and of the item


def make_rows(prompt: PromptFeatures, probes: Sequence[Probe], with_text: bool) -> Iterator[Row]:
    """The values of the features of every probe."""
    whole = pieces_of_item(prompt) if with_text else None
    for probe in probes:
        groups = chain.from_iterable(candidate_features(prompt, probe))
        pieces = (pieces_of_candidates(prompt, probe.candidates), whole) if whole else None
        yield Row(probe, _values(groups), _values(item_features(prompt, probe)), pieces)


def feature_names(prompt: PromptFeatures, probe: Probe) -> tuple[list[str], list[str]]:
    """The names of the features of a candidate and of an item."""
    groups = next(candidate_features(prompt, probe)), item_features(prompt, probe)
    first, second = ([f"{name}{end}" for end, found in each for name in found] for each in groups)
    return first, second


def _values(groups: Iterable[Group]) -> Floats:
    values = [features.values() for _, features in groups]
    return np.fromiter(chain.from_iterable(values), np.float32)


def collect(rows: Sequence[Row], names: tuple[list[str], list[str]], ids: dict[str, int]) -> Sample:
    """The sample of these rows of one probe.

    Names of candidates that are not in `ids` yet are added to it.
    """
    features, item_names = names
    width = max(len(row.probe.candidates) for row in rows)
    stacked = np.full((len(rows), width, len(features)), np.nan, dtype=np.float32)
    right = np.zeros((len(rows), width), dtype=np.bool_)
    there = np.zeros((len(rows), width), dtype=np.bool_)
    candidates = np.full((len(rows), width), -1)
    for number, (probe, values, _, _) in enumerate(rows):
        size = len(probe.candidates)
        stacked[number, :size] = values.reshape(size, len(features))
        right[number, :size] = probe.right
        there[number, :size] = True
        candidates[number, :size] = [ids.setdefault(name, len(ids)) for name in probe.candidates]
    columns = dict(zip(features, np.moveaxis(stacked, 2, 0).copy(), strict=True))
    if width > 1:
        ranked = np.moveaxis(ranks(stacked), 2, 0).copy()
        columns |= {f"rank by {name}": part for name, part in zip(features, ranked, strict=True)}
        columns |= _before(right, there)
    items = np.stack([row.of_item for row in rows]).T.copy()
    of_item = {f"item's {name}": part for name, part in zip(item_names, items, strict=True)}
    if width == 1:
        of_item |= {name: values[:, 0] for name, values in _before(right, there).items()}
    text = list(zip(*[row.pieces for row in rows if row.pieces], strict=True))
    pieces = (Pieces.of(text[0], width), Pieces.of(text[1], 1)) if text else None
    return Sample(columns, of_item, right, there, candidates, pieces)


def _before(right: Bools, there: Bools) -> dict[str, Floats]:
    """Where the answers of the items before were, relative to each candidate."""
    found: dict[str, Floats] = {}
    width = there.sum(axis=1, keepdims=True)
    one = (right.sum(axis=1) == 1).all() and right.shape[1] > 1
    for lag in (1, 2, 3):
        earlier = np.roll(right, lag, axis=0)
        if one:
            steps = (np.arange(right.shape[1]) - earlier.argmax(axis=1)[:, None]) % width
            found[f"places after the answer {lag} before"] = steps.astype(np.float32)
        else:
            found[f"whether its place was right {lag} before"] = earlier.astype(np.float32)
    return found


def ranks(values: Floats) -> Floats:
    """For each candidate, how many others of its item have a lower value; ties count half."""
    ranked = np.empty_like(values)
    for start in range(0, len(values), RANKED):  # few enough to stay in the cache
        part = values[start : start + RANKED]
        twice = np.zeros(part.shape, dtype=np.int16)
        for other in range(values.shape[1]):
            beside = part[:, other : other + 1]
            twice += beside < part
            twice += beside <= part
        ranked[start : start + RANKED] = twice * np.float32(0.5)
    ranked[np.isnan(values)] = np.nan
    return ranked
