"""Code books: which values a Huffman code has symbols for, alone or in groups, and which values escape it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.entropy import Symbols, code_lengths, entropy_bits, is_complete

WIDTHS = (8, 6)
GROUPS = (1, 2, 4, 8)
MOST_SYMBOLS = 4096
# A code of single values that comes this near to the entropy is not worth a larger one.
_NEAR = 1.01
# Decoders go over the values once more where some escape: only for so much less.
_WORTH = 1.0075
# How many of the most frequent values have symbols where not all can.
_KEPT = (1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 31, 63)
# Short codes have small tables, which decode faster; for at most this much more.
_SHORT_BITS, _SHORT_COST = 12, 1.003


@dataclass(frozen=True, eq=False)
class Book:
    """A Huffman code of groups of values.

    width: bits a value. group: values a symbol. values: uint8, those that have an index of their own, ascending.
    escape: whether one more index stands for all others. lengths: uint8, bits of each symbol's code; a symbol is
    i0 + radix * i1 + ... of the indices in a group.
    """

    width: int
    group: int
    values: NDArray[np.uint8]
    escape: bool
    lengths: NDArray[np.uint8]

    @property
    def radix(self) -> int:
        """Number of indices."""
        return self.values.size + self.escape

    @cached_property
    def items(self) -> Symbols:
        """For each symbol its values, a byte each, first lowest; indices where some values escape."""
        symbols = np.arange(self.radix**self.group)
        bytes_of = np.empty((symbols.size, self.group), np.uint8)
        for k in range(self.group):
            index = symbols // self.radix**k % self.radix
            bytes_of[:, k] = index if self.escape else self.values[index]
        return bytes_of.view(f"<u{self.group}").ravel().astype(f"u{self.group}")

    @property
    def fault(self) -> str | None:
        """What is wrong with a book that was read, or None."""
        if self.width not in WIDTHS or self.group not in GROUPS:
            return "its width or group is unknown"
        symbols = self.radix**self.group
        if not self.values.size or self.values[-1] >> self.width or symbols > MOST_SYMBOLS:
            return "its values are none, or too many, or too large"
        if self.lengths.size != symbols or not (is_complete(self.lengths) or (symbols == 1 and not self.lengths[0])):
            return "its code is not complete"
        return None


@dataclass(frozen=True)
class Indexed:
    """Values as symbols of a book, and those that escape it, in order."""

    book: Book
    symbols: Symbols
    escapes: NDArray[np.uint8]

    @cached_property
    def bits(self) -> float:
        """Bits of the symbols and the escapes."""
        size = int(self.book.lengths[self.symbols].sum(dtype=np.int64))
        return size + _escape_bits(np.bincount(self.escapes, minlength=1))

    @property
    def cost(self) -> float:
        """Bits with those of the code; escapes have to be worth it."""
        return (self.bits + table_bits(self.book.lengths)) * (_WORTH if self.book.escape else 1)


def best_book(values: NDArray[np.uint8], width: int, escapes: bool = True) -> Indexed:
    """Values (at least one, below 2**width) in the book that makes them smallest. escapes: whether any may escape."""
    counts = np.bincount(values, minlength=1 << width)
    least = _NEAR * entropy_bits(counts)
    best = _indexed(values, width, 1, np.flatnonzero(counts), counts)
    order = np.argsort(-counts, kind="stable")
    for escaping in (False, True) if escapes else (False,):
        if best.bits <= least:
            break
        for group, kept in _candidates(counts[order], escaping):
            tried = _indexed(values, width, group, np.sort(order[:kept]), counts)
            best = min(best, tried, key=lambda indexed: indexed.cost)
    return best


def _candidates(counts: NDArray[np.int64], escaping: bool, most: int = 3) -> list[tuple[int, int]]:
    """The most promising groups, and how many of the most frequent values they keep. counts: descending."""
    distinct = int((counts > 0).sum())
    found = []
    for group in GROUPS[1:]:
        radix = int(MOST_SYMBOLS ** (1 / group) + 1e-9)
        tried = [k for k in _KEPT if k < min(radix, distinct)] if escaping else [distinct][: distinct <= radix]
        found += [(_expected_bits(counts, group, kept), group, kept) for kept in tried]
    return [(group, kept) for _, group, kept in sorted(found)[:most]]


def _expected_bits(counts: NDArray[np.int64], group: int, kept: int) -> float:
    """Bits a value that a book would take if values did not depend on each other; escapes have to be worth it."""
    total = int(counts.sum())
    rest = counts[kept:]
    shares: NDArray[np.float64] = np.append(counts[:kept], rest.sum() if rest.any() else []) / total
    joint = shares
    for _ in range(group - 1):
        joint = (joint[:, None] * shares).ravel()
    expected = np.rint(joint * 2.0**40).astype(np.int64)
    lengths = code_lengths(expected)
    table = 4.0 * int((joint * total / group > 0.5).sum())
    bits = float((joint * lengths).sum() / group) + (_escape_bits(rest) + table) / total
    return bits * (_WORTH if rest.any() else 1)


def _escape_bits(counts: NDArray[np.int64]) -> float:
    if not counts.any():
        return 0.0
    # They have a code of single values, without escapes.
    return float((code_lengths(counts) * counts).sum() + 6 * np.count_nonzero(counts))


def table_bits(lengths: NDArray[np.uint8]) -> float:
    """About what a table of lengths takes when it is deflated (never asked of zlib: its versions differ)."""
    return 64 + entropy_bits(np.bincount(lengths))


def _indexed(
    values: NDArray[np.uint8], width: int, group: int, kept: NDArray[np.int64], counts: NDArray[np.int64]
) -> Indexed:
    escape = bool(counts.sum() > counts[kept].sum())
    radix = kept.size + escape
    index_of = np.full(1 << width, kept.size % 256, np.uint8)
    index_of[kept] = np.arange(kept.size)
    indices = index_of[values]
    escapes = values[indices == kept.size] if escape else values[:0]
    padded = np.append(indices, np.zeros(-indices.size % group, np.uint8)).reshape(-1, group)
    symbols = padded[:, 0].astype(np.uint16)
    for k in range(1, group):
        symbols += padded[:, k] * np.uint16(radix**k)
    lengths = _lengths(np.bincount(symbols, minlength=radix**group))
    return Indexed(Book(width, group, kept.astype(np.uint8), escape, lengths), symbols, escapes)


def _lengths(counts: NDArray[np.int64]) -> NDArray[np.uint8]:
    best = code_lengths(counts)
    for limit in range(_SHORT_BITS, int(best.max())):
        if np.count_nonzero(counts) <= 2**limit:
            short = code_lengths(counts, limit)
            if (short * counts).sum() <= _SHORT_COST * (best * counts).sum():
                return short
    return best


def nibbles(lengths: NDArray[np.uint8]) -> bytes:
    """Lengths of codes, two a byte, the first one low; none where there is one symbol only."""
    if lengths.size == 1:
        return b""
    padded = np.append(lengths, np.zeros(lengths.size % 2, np.uint8)).reshape(-1, 2)
    return bytes((padded[:, 0] | padded[:, 1] << 4).tobytes())
