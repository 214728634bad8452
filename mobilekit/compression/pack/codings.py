"""How a run of bytes is coded: as it is, deflated, or as symbols of a book; the smallest one is taken."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.entropy import Coded, DamagedError, decode, encode, entropy_bits
from mobilekit.compression.pack.book import Book, best_book, table_bits
from mobilekit.compression.pack.values import from_values, to_values

RAW, DEFLATE, HUFFMAN = 0, 1, 2
# Of fewer bytes a code of their own never pays.
_FEWEST = 64
# Bytes that are deflated first, and how near to the smallest coding they have to come for all to be.
_SAMPLE, _PROMISING = 2**16, 1.05


@dataclass(frozen=True)
class Encoded:
    """Coded bytes.

    book: of HUFFMAN, else None. escapes, escaped: how many values escape the book, and these coded. entropy: bits that
    the values need at least, each for itself.
    """

    coding: int
    data: bytes
    book: Book | None = None
    escapes: int = 0
    escaped: Encoded | None = None
    entropy: float = 0.0

    @property
    def name(self) -> str:
        """What a table calls it."""
        if self.book is None:
            return ("raw", "deflate")[self.coding]
        values = "bytes" if self.book.width == 8 else f"values of {self.book.width} bits"
        group = {1: "", 2: "pairs of ", 4: "fours of ", 8: "eights of "}[self.book.group]
        return f"huffman, {group}{values}{', some escaping' if self.book.escape else ''}"

    @property
    def cost(self) -> float:
        """Bytes in all, with about what the book takes."""
        book = 0.0 if self.book is None else 12 + table_bits(self.book.lengths) / 8
        return len(self.data) + book + (self.escaped.cost + 13 if self.escaped else 0)


def smallest(data: NDArray[np.uint8], width: int, lane: int, escapes: bool = True) -> Encoded:
    """Bytes in their smallest coding. width: bits of the values to look for. escapes: whether a book may have them."""
    raw = Encoded(RAW, data.tobytes(), entropy=entropy_bits(np.bincount(data, minlength=1)))
    found = [raw]
    if data.size >= _FEWEST:
        found.append(huffman(data, width, lane, escapes))
    least = min(coded.cost for coded in found)
    # Deflate sees 32 KiB back and no farther, so a part says how it does; the whole takes long where values are few.
    if data.size <= _SAMPLE or len(deflated(raw.data[:_SAMPLE])) / _SAMPLE < _PROMISING * least / data.size:
        found.append(Encoded(DEFLATE, deflated(raw.data), entropy=raw.entropy))
    # What is coded may not be larger than what is not: a reader counts on it.
    return min((coded for coded in found if coded is raw or len(coded.data) <= data.size), key=lambda c: c.cost)


def huffman(data: NDArray[np.uint8], width: int, lane: int, escapes: bool = True) -> Encoded:
    """Bytes (at least one) as symbols of the best book."""
    values = to_values(data, width)
    indexed = best_book(values, width, escapes)
    coded = encode(indexed.symbols, indexed.book.lengths, lane)
    escaped = smallest(indexed.escapes, 8, lane, escapes=False) if indexed.book.escape else None
    least = entropy_bits(np.bincount(values))
    return Encoded(HUFFMAN, coded, indexed.book, indexed.escapes.size, escaped, least)


def deflated(data: bytes) -> bytes:
    """A raw deflate stream (RFC 1951)."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15, 9)
    return deflate.compress(data) + deflate.flush()


def inflated(data: bytes, size: int) -> bytes:
    """The `size` bytes of a raw deflate stream; raises DamagedError when it does not have exactly these."""
    inflate = zlib.decompressobj(-15)
    try:
        # One byte more than there may be: never all that it might swell to.
        found = inflate.decompress(data, size + 1)
    except zlib.error as error:
        raise DamagedError(f"a deflated stream cannot be inflated ({error})") from error
    if len(found) != size or not inflate.eof or inflate.unused_data:
        raise DamagedError("a deflated stream does not have the size that is declared")
    return found


@dataclass(frozen=True)
class Part:
    """A stream to decode: `size` bytes of it, from coded `data` (its escapes, `escaped` coded, are `escapes` many)."""

    size: int
    coding: int
    data: bytes
    book: Book | None = None
    escapes: int = 0
    escaped: Part | None = None


def decoded(parts: Sequence[Part], lane: int) -> list[NDArray[np.uint8]]:
    """The bytes of each part; those of HUFFMAN are decoded in step. Raises DamagedError."""
    coded = [part for part in parts if part.book is not None]
    escaped = [part.escaped for part in coded if part.escaped is not None]
    # Escapes have no escapes themselves, so this goes one step deeper and no more.
    values_of = iter(decoded(escaped, lane) if escaped else [])
    items = iter(decode([_coded(part) for part in coded], lane))
    found = []
    for part in parts:
        if part.book is not None:
            escapes = next(values_of) if part.escaped is not None else None
            found.append(_bytes_of(part, next(items).view(np.uint8), escapes))
        else:
            raw = part.data if part.coding == RAW else inflated(part.data, part.size)
            found.append(np.frombuffer(raw, np.uint8))
    return found


def _coded(part: Part) -> Coded:
    assert part.book is not None
    values = -(-8 * part.size // part.book.width)
    return Coded(np.frombuffer(part.data, np.uint8), part.book.lengths, part.book.items, -(-values // part.book.group))


def _bytes_of(part: Part, values: NDArray[np.uint8], escapes: NDArray[np.uint8] | None) -> NDArray[np.uint8]:
    """Bytes of what a book's items say, a value or index each."""
    assert part.book is not None
    values = values[: -(-8 * part.size // part.book.width)]
    if escapes is not None:
        places = np.flatnonzero(values == part.book.values.size)
        if places.size != escapes.size or (escapes >> part.book.width).any():
            raise DamagedError("escapes are not as many, or not as small, as declared")
        values = np.append(part.book.values, np.uint8(0))[values]
        values[places] = escapes
    return from_values(values, part.book.width, part.size)
