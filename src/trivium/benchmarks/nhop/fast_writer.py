"""Items straight from numbers to the bytes of a file, without the objects in between.

Every item of a spec has the same layout, so a batch is a matrix of bytes: constant
columns, and columns of digits. `item.to_row` says what the bytes must be, and a test
holds the two together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import orjson
from numpy.typing import NDArray

from trivium.benchmarks.nhop.generate import Block, Ints, Sheet, Spec, plan, sheets
from trivium.benchmarks.nhop.item import SEED_NAMES, item_id, layer_letters, question_text
from trivium.benchmarks.nhop.spec import ImplicitSpec
from trivium.core.spec import spec_to_dict

Bytes = NDArray[np.uint8]
Piece = bytes | Bytes
# Names of one kind can differ in length (f9 and f10); the shorter are filled up with this.
FILL = b"\0"


def lines(spec: Spec, seed: int, start: int, count: int) -> Iterator[bytes]:
    """The items start .. start + count - 1 as JSON Lines, a batch at a time."""
    writer = _Writer(spec, seed)
    end = start + count
    while start < end:
        # Within a batch every index has the same number of digits.
        stop = min(end, 10 ** len(str(start)))
        for sheet in sheets(spec, seed, start, stop - start):
            yield writer.bytes_of(sheet)
        start = stop


class _Writer:
    """The layout of a spec's lines."""

    def __init__(self, spec: Spec, seed: int) -> None:
        self._spec = spec
        self._seed = seed
        self._depth = plan(spec).depth
        self._prefix = "" if isinstance(spec, ImplicitSpec) else spec.alias_prefix
        width = spec.id_width
        numbers = np.arange(spec.M)[:, None] // 10 ** np.arange(width)[::-1] % 10
        self._digits = (numbers + ord("0")).astype(np.uint8)
        names = [layer_letters(layer).encode() for layer in range(self._depth + 1)]
        self._names = [name.ljust(len(names[-1]), FILL) for name in names]
        self._functions = [
            f"f{hop}".encode().ljust(len(str(self._depth)) + 1, FILL)
            for hop in range(self._depth + 1)
        ]
        self._filled = FILL in b"".join(self._names + self._functions[1:])

    def bytes_of(self, sheet: Sheet) -> bytes:
        """The lines of one batch."""
        pieces = [*self._opening(sheet), *self._facts(sheet)]
        named: dict[int, list[Piece]] = {}
        for block in sheet.blocks:
            named[block.hop] = self._candidates(block)
            pieces += [b',"candidates_f%d":' % block.hop, *named[block.hop]]
            if block.aliases is not None:
                pieces += self._alias_map(block)
        for back, name in list(enumerate(reversed(SEED_NAMES)))[: len(named)]:
            pieces += [b',"%s":' % name.encode(), *named[self._depth - back]]
        pieces += self._closing(sheet)
        text = _join(pieces, len(sheet))
        return text.translate(None, FILL) if self._filled else text

    def _opening(self, sheet: Sheet) -> list[Piece]:
        depth = self._depth
        first = item_id(self._spec, sheet.start)
        kind = (
            b'"type":"implicit","n":%d,"m":%d,"facts_bag":' % (depth + 1, self._spec.m)
            if isinstance(self._spec, ImplicitSpec)
            else b'"type":"synthetic","n":%d,"L":%d,"facts_chain":' % (depth, self._spec.L)
        )
        number = _decimals(sheet, len(first) - 4)
        return [b'{"id":"' + first[:4].encode(), number, b'",' + kind]

    def _facts(self, sheet: Sheet) -> list[Piece]:
        """All facts at once: a template for each hop, and the digits laid over it."""
        templates = [b"".join(self._triple(hop, b"0")) for hop in range(1, self._depth + 1)]
        table = np.frombuffer(b"".join(templates), dtype=np.uint8).reshape(self._depth, -1)
        made = table[sheet.hops - 1]
        width, name = self._spec.id_width, len(self._names[0])
        head = 2 + name + 1
        tail = head + width + 3 + len(self._functions[0]) + 3 + name + 1
        made[:, :, head : head + width] = self._digits[sheet.heads]
        made[:, :, tail : tail + width] = self._digits[sheet.tails]
        made[:, -1, -1] = ord("]")
        return [b"[", made.reshape(len(sheet), -1)]

    def _triple(self, hop: int, digit: bytes) -> list[bytes]:
        number = digit * self._spec.id_width
        return [
            b'["', self._names[hop - 1], b"_", number, b'","', self._functions[hop], b'","',
            self._names[hop], b"_", number, b'"],',
        ]  # fmt: skip

    def _candidates(self, block: Block) -> list[Piece]:
        pieces: list[Piece] = []
        before, head, bar, _, middle, function, after, tail, _, _, close = self._triple(
            block.hop, b""
        )
        for place in range(block.heads.shape[1]):
            pieces.append(b"[" + before if place == 0 else close + before)
            if block.aliases is None:
                pieces += [head + bar, self._digits[block.heads[:, place]]]
            else:
                pieces.append(self._alias(block, place))
            pieces += [middle + function + after + tail + bar]
            pieces.append(self._digits[block.tails[:, place]])
        return [*pieces, b'"]]']

    def _alias(self, block: Block, place: int) -> Bytes:
        assert block.aliases is not None
        names = [f"{self._prefix}{k + 1}".encode() for k in range(block.heads.shape[1])]
        width = len(names[-1])
        self._filled |= len(names[0]) < width
        table = np.frombuffer(b"".join(name.ljust(width, FILL) for name in names), dtype=np.uint8)
        return table.reshape(-1, width)[block.aliases[:, place] - 1]

    def _alias_map(self, block: Block) -> list[Piece]:
        assert block.aliases is not None
        by_alias: Ints = np.take_along_axis(block.heads, np.argsort(block.aliases, axis=1), axis=1)
        pieces: list[Piece] = [b',"alias_map_f%d":{' % block.hop]
        for place in range(by_alias.shape[1]):
            alias = f"{self._prefix}{place + 1}".encode()
            before = b'"' if place == 0 else b'","'
            pieces.append(before + alias + b'":"' + self._names[block.hop - 1] + b"_")
            pieces.append(self._digits[by_alias[:, place]])
        return [*pieces, b'"}']

    def _closing(self, sheet: Sheet) -> list[Piece]:
        question = question_text(self._depth, f"{layer_letters(0)}_").encode()
        answer = self._digits[sheet.answers]
        name = self._names[-1] + b"_"
        spec = orjson.dumps(spec_to_dict(self._spec))
        return [
            b',"question":"' + question[:-1],
            self._digits[sheet.questions],
            b'?","answer_id":"' + name,
            answer,
            b'","answer_aliases":["' + name,
            answer,
            b'"],"spec":' + spec + b',"seed":%d,"index":' % self._seed,
            _decimals(sheet, len(str(sheet.start))),
            b"}\n",
        ]


def _decimals(sheet: Sheet, width: int) -> Bytes:
    """The indexes of a batch as columns of digits."""
    indexes = np.arange(sheet.start, sheet.start + len(sheet))[:, None]
    return (indexes // 10 ** np.arange(width)[::-1] % 10 + ord("0")).astype(np.uint8)


def _join(pieces: list[Piece], rows: int) -> bytes:
    """The pieces side by side, constants repeated in every row."""
    widths = [len(piece) if isinstance(piece, bytes) else piece.shape[1] for piece in pieces]
    made = np.empty((rows, sum(widths)), dtype=np.uint8)
    at = 0
    for piece, width in zip(pieces, widths, strict=True):
        made[:, at : at + width] = (
            np.frombuffer(piece, dtype=np.uint8) if isinstance(piece, bytes) else piece
        )
        at += width
    return made.tobytes()
