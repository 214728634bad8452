"""Canonical Huffman coding in lanes (Han et al. 2016, section 4: codes of weights after quantization).

A stream of symbols is cut into lanes of equally many symbols. Each lane is a bit stream of its own, so numpy decodes
one symbol of every lane in a step, and a phone decodes lanes in parallel. docs/pack-format.md has every detail.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_BITS = 15
# Lanes that are encoded, or decoded, at once: their state stays in the processor's cache.
_ENCODED_LANES, _DECODED_LANES = 256, 4096
_ROWS = 20

Symbols = NDArray[np.unsignedinteger[Any]]


class DamagedError(ValueError):
    """Coded bytes are not what an encoder writes."""


@dataclass(frozen=True)
class Coded:
    """A coded stream and what is needed to decode it.

    data: uint8, the table of lanes and the lanes. lengths: the code's bits a symbol, complete (see `is_complete`), or
    of one symbol, which then takes no bits. items: what to give for each symbol. count: how many.
    """

    data: NDArray[np.uint8]
    lengths: NDArray[np.uint8]
    items: Symbols
    count: int


def entropy_bits(counts: NDArray[np.integer[Any]]) -> float:
    """Bits that symbols of these counts (any shape; the last axis is one distribution) need at least, in all."""
    seen = counts.astype(np.float64)
    totals = seen.sum(-1)
    own = (seen * np.log2(seen, where=seen > 0, out=np.zeros_like(seen))).sum(-1)
    return float((totals * np.log2(np.maximum(totals, 1)) - own).sum())


def code_lengths(counts: NDArray[np.int64], limit: int = MAX_BITS) -> NDArray[np.uint8]:
    """Bits of each symbol's code, 0 where it does not occur: the best code of at most `limit` bits.

    counts: int64 [alphabet]. By package-merge (Larmore and Hirschberg 1990). The code is complete: where a single
    symbol occurs, another one has a code too (an alphabet of one symbol needs none: its length is 0).
    """
    if counts.size == 1:
        return np.zeros(1, np.uint8)
    used = np.flatnonzero(counts)
    if used.size < 2:
        used = np.array([0, max([1, *used.tolist()])])
    if used.size > 2**limit:
        raise ValueError(f"{used.size} symbols need more than {limit} bits")
    order = used[np.argsort(counts[used], kind="stable")]
    lengths = np.zeros(counts.size, np.uint8)
    lengths[order] = _package_merge(counts[order], limit)
    return lengths


def _package_merge(weights: NDArray[np.int64], limit: int) -> NDArray[np.uint8]:
    # At each level: the symbols and the pairs of the level before, ascending. A symbol's length is the number of levels
    # at which it is among the cheapest ones that are taken.
    levels: list[NDArray[np.bool_]] = []
    packages = np.zeros(0, np.int64)
    for _ in range(limit):
        merged = np.concatenate([weights, packages])
        order = np.argsort(merged, kind="stable")
        levels.append(order < weights.size)
        paired = merged[order][: merged.size // 2 * 2]
        packages = paired.reshape(-1, 2).sum(1)
    lengths = np.zeros(weights.size, np.uint8)
    taken = 2 * weights.size - 2
    for is_symbol in reversed(levels):
        symbols = int(is_symbol[:taken].sum())
        lengths[:symbols] += 1
        taken = 2 * (taken - symbols)
    return lengths


def is_complete(lengths: NDArray[np.uint8]) -> bool:
    """Whether codes of these lengths exist and every bit string starts with one of them."""
    used = lengths[lengths > 0].astype(np.int64)
    return bool(used.size and used.max() <= MAX_BITS and (1 << (MAX_BITS - used)).sum() == 1 << MAX_BITS)


def canonical_codes(lengths: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Codes by length, then by symbol; int64, the first bit of each lowest, as they stand in the stream."""
    order = _canonical_order(lengths)
    steps = 1 << (MAX_BITS - lengths[order].astype(np.int64))
    codes = np.zeros(lengths.size, np.int64)
    codes[order] = _turned(np.cumsum(steps) - steps, MAX_BITS)
    return codes


def _canonical_order(lengths: NDArray[np.uint8]) -> NDArray[np.int64]:
    order = np.argsort(lengths, kind="stable")
    return order[lengths[order] > 0]


def _turned(numbers: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """The bits of numbers, first to last."""
    return _all_turned()[numbers] >> (MAX_BITS - bits)


@functools.cache
def _all_turned() -> NDArray[np.int64]:
    numbers, turned = np.arange(1 << MAX_BITS), np.zeros(1 << MAX_BITS, np.int64)
    for bit in range(MAX_BITS):
        turned |= ((numbers >> bit) & 1) << (MAX_BITS - 1 - bit)
    return turned


def encode(symbols: Symbols, lengths: NDArray[np.uint8], lane: int) -> bytes:
    """The table of lanes (bytes of each, 16 bits) and the lanes: what `decode` takes as `data`.

    symbols: below lengths.size, each with a length (or all 0 in an alphabet of one). lane: symbols a lane.
    """
    codes = canonical_codes(lengths)
    sizes, parts = [], []
    for start in range(0, symbols.size, lane * _ENCODED_LANES):
        some = symbols[start : start + lane * _ENCODED_LANES]
        size, data = _encode_lanes(codes[some], lengths[some].astype(np.int64), lane)
        sizes.append(size)
        parts.append(data)
    return b"".join([np.concatenate(sizes).astype("<u2").tobytes(), *parts]) if sizes else b""


def _encode_lanes(codes: NDArray[np.int64], lengths: NDArray[np.int64], lane: int) -> tuple[NDArray[np.int64], bytes]:
    """Bytes of each lane, and the bytes of all of them."""
    ends = np.cumsum(lengths)
    starts = np.arange(0, lengths.size, lane)
    before = ends[starts] - lengths[starts]
    bits = np.append(before[1:], ends[-1]) - before
    sizes = (bits + 7) // 8
    # Where lanes begin at whole bytes, each is moved by what was filled up before it.
    shift = (np.cumsum(sizes) - sizes) * 8 - before
    position = ends - lengths + np.repeat(shift, lane)[: lengths.size]
    value, byte = codes << (position & 7), position >> 3
    total = int(sizes.sum())
    data = np.zeros(total + 2)
    for k in range(3):
        # Bits do not overlap, so sums are what or would be.
        data[k:] += np.bincount(byte, weights=(value >> (8 * k)) & 255, minlength=total + 2)[: total + 2 - k]
    return sizes, data[:total].astype(np.uint8).tobytes()


def decode(streams: Sequence[Coded], lane: int) -> list[Symbols]:
    """The items of each stream. All lanes of all streams go in step, so many streams at once are faster than few.

    lane: symbols a lane. Memory: the coded bytes, twice, and the items, twice. Raises DamagedError when lanes do not
    end where they should.
    """
    done: dict[int, Symbols] = {}
    for dtype in {stream.items.dtype for stream in streams}:
        chosen = [i for i, stream in enumerate(streams) if stream.items.dtype == dtype]
        done.update(zip(chosen, _decode_alike([streams[i] for i in chosen], lane), strict=True))
    return [done[i] for i in range(len(streams))]


@dataclass(frozen=True)
class _Lanes:
    """Some lanes: bits at which they begin, bytes at which they end, number of symbols, and where their code is in the
    tables."""

    position: NDArray[np.int64]
    end: NDArray[np.int64]
    count: NDArray[np.int64]
    table: NDArray[np.int64]

    def take(self, chosen: NDArray[np.int64] | slice) -> _Lanes:
        """Those of some indices."""
        return _Lanes(self.position[chosen], self.end[chosen], self.count[chosen], self.table[chosen])


@dataclass(frozen=True)
class _Tables:
    """For every string of `bits` bits, one code after the other: the length of what it starts with, and the item."""

    bits: int
    lengths: NDArray[np.uint64]
    items: Symbols


def _decode_alike(streams: Sequence[Coded], lane: int) -> list[Symbols]:
    """The same for items of one type."""
    tables, places = _tables(streams)
    words, lanes = _gathered(streams, places, lane)
    # Those with the most symbols first: the lanes that are still going are always the first ones.
    order = np.argsort(-lanes.count, kind="stable")
    out = np.empty((order.size, lane), tables.items.dtype)
    # Evenly, since a step takes its time even for few lanes.
    number = -(-order.size // max(1, round(order.size / _DECODED_LANES)))
    for first in range(0, order.size, max(1, number)):
        some = slice(first, first + number)
        _decode_lanes(lanes.take(order[some]), words, tables, out[some])
    # The full lanes of a stream follow each other, and its last one is somewhere behind.
    row_of = np.argsort(order)
    found, lane_number = [], 0
    for stream in streams:
        full, rest = divmod(stream.count, lane)
        rows = out[int(row_of[lane_number]) :][:full] if full else out[:0]
        last = out[int(row_of[lane_number + full]), :rest] if rest else out[:0].ravel()
        found.append(np.concatenate([rows.ravel(), last]))
        lane_number += full + bool(rest)
    return found


def _gathered(streams: Sequence[Coded], tables: Sequence[int], lane: int) -> tuple[NDArray[np.uint64], _Lanes]:
    """All bytes as 64-bit words, and the lanes in them."""
    parts, start = [], 0
    for stream, table in zip(streams, tables, strict=True):
        number = -(-stream.count // lane)
        if stream.data.size < 2 * number:
            raise DamagedError("a table of lanes is cut off")
        sizes = stream.data[: 2 * number].view("<u2").astype(np.int64)
        if stream.data.size != 2 * number + int(sizes.sum()):
            raise DamagedError("lanes do not fill their stream")
        ends = start + 2 * number + np.cumsum(sizes)
        counts = np.minimum(stream.count - np.arange(number) * lane, lane)
        parts.append(((ends - sizes) * 8, ends, counts, np.full(number, table)))
        start += stream.data.size
    words = np.concatenate([stream.data for stream in streams] + [np.zeros(-start % 8 + 16, np.uint8)]).view("<u8")
    return words.astype(np.uint64, copy=False), _Lanes(*(np.concatenate(c) for c in zip(*parts, strict=True)))


def _tables(streams: Sequence[Coded]) -> tuple[_Tables, list[int]]:
    """The tables of all different codes, and where each stream's begins."""
    bits = max([1, *(int(stream.lengths.max()) for stream in streams)])
    places: dict[bytes, int] = {}
    lengths: list[Symbols] = []
    items: list[Symbols] = []
    found = []
    for stream in streams:
        key = stream.lengths.tobytes() + stream.items.tobytes()
        if key not in places:
            places[key] = len(places) << bits
            for made, values in ((lengths, stream.lengths.astype(np.uint64)), (items, stream.items)):
                made.append(_spread(values, stream.lengths, bits))
        found.append(places[key])
    return _Tables(bits, np.concatenate(lengths), np.concatenate(items)), found


def _spread(values: Symbols, lengths: NDArray[np.uint8], bits: int) -> Symbols:
    """For every string of `bits` bits, first bit lowest: the value of the symbol whose code it starts with."""
    if lengths.size == 1:
        return np.repeat(values, 1 << bits)
    order = _canonical_order(lengths)
    spread = np.empty(1 << bits, values.dtype)
    spread[_turned(np.arange(1 << bits), bits)] = np.repeat(values[order], 1 << (bits - lengths[order].astype(int)))
    return spread


def _decode_lanes(lanes: _Lanes, words: NDArray[np.uint64], tables: _Tables, out: Symbols) -> None:
    """Decode some lanes, most symbols first, in step, into the rows of `out`."""
    rows = np.empty((_ROWS, lanes.count.size), out.dtype)
    first = 0
    for end in np.unique(lanes.count).tolist():
        active = slice(0, int((lanes.count >= end).sum()))
        for start in range(first, end, _ROWS):
            some = rows[: min(_ROWS, end - start), active]
            _decode_rows(lanes.position[active].view(np.uint64), lanes.table[active], words, tables, some)
            out[active, start : start + len(some)] = some.T
        first = end
    if not np.array_equal((lanes.position + 7) >> 3, lanes.end):
        raise DamagedError("a lane does not end where its symbols do")


def _decode_rows(
    position: NDArray[np.uint64],
    table: NDArray[np.int64],
    words: NDArray[np.uint64],
    tables: _Tables,
    rows: Symbols,
) -> None:
    """Decode a symbol of each lane into each row; position, in bits, is moved on."""
    buffer, other, length = (np.empty_like(position) for _ in range(3))
    index = np.empty(position.size, np.int64)
    window = index.view(np.uint64)
    mask, word = np.uint64((1 << tables.bits) - 1), np.uint64(64)
    for i, row in enumerate(rows):
        if i % (64 // tables.bits) == 0:
            # The next 64 bits of every lane, from the two words that they are in. (A shift by 64 gives 0.)
            np.right_shift(position, 6, out=window)
            words.take(index, out=buffer, mode="clip")
            np.add(index, 1, out=index)
            words.take(index, out=other, mode="clip")
            np.bitwise_and(position, 63, out=length)
            np.right_shift(buffer, length, out=buffer)
            np.subtract(word, length, out=length)
            np.left_shift(other, length, out=other)
            np.bitwise_or(buffer, other, out=buffer)
        np.bitwise_and(buffer, mask, out=window)
        np.add(index, table, out=index)
        tables.lengths.take(index, out=length, mode="clip")
        tables.items.take(index, out=row, mode="clip")
        np.right_shift(buffer, length, out=buffer)
        np.add(position, length, out=position)
