"""Packs built by hand, sound or not. What is deflated in them is stored, so they do not depend on zlib's version."""

from __future__ import annotations

import hashlib
import struct
import zlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.entropy import code_lengths, encode
from mobilekit.compression.pack.book import Book
from mobilekit.compression.pack.codings import HUFFMAN, RAW, Encoded, huffman
from mobilekit.compression.pack.directory import (
    Directory,
    Header,
    PackedFile,
    PackedSegment,
    directory_bytes,
    header_bytes,
)
from mobilekit.compression.pack.writer import Books, stream_of

LANE_BITS = 6
LANE = 1 << LANE_BITS
Values = NDArray[np.uint8]


@dataclass(frozen=True)
class Content:
    """A file to pack: its segments, each a list of planes, and what they decode to."""

    name: str
    data: bytes
    segments: list[list[Encoded]]


@dataclass(frozen=True)
class Pack:
    """A pack as bytes and what it was made of, so that parts can be spoiled."""

    directory: Directory
    data: bytes

    def to_bytes(self, inflated: bytes | None = None, **header: Any) -> bytes:
        """The file; inflated: another directory; header: other values in the header."""
        coded = stored(directory_bytes(self.directory) if inflated is None else inflated)
        sizes = (len(coded) - 5, len(coded), zlib.crc32(coded))
        made = Header(LANE_BITS, *sizes, self.directory.size, self.directory.sha256())
        return header_bytes(replace(made, **header)) + coded + self.data


def stored(data: bytes) -> bytes:
    """A deflate stream of one block that is not compressed: the same for every version of zlib."""
    assert len(data) < 65536
    return struct.pack("<BHH", 1, len(data), len(data) ^ 65535) + data


def pack_of(*contents: Content) -> Pack:
    """A pack of files, in their order, however they are named."""
    books, data, files = Books(), [], []
    for content in contents:
        segments = []
        at = 0
        for planes in content.segments:
            streams = tuple(stream_of(plane, books, data.append) for plane in planes)
            length = _length(planes, content.data[at:])
            segments.append(PackedSegment(length, streams))
            at += length
        assert at == len(content.data)
        sha256 = hashlib.sha256(content.data).digest()
        files.append(PackedFile(content.name, len(content.data), sha256, tuple(segments)))
    return Pack(Directory(LANE, tuple(books.books), tuple(files)), b"".join(data))


def _length(planes: list[Encoded], rest: bytes) -> int:
    # Only the last segment of a file here may be anything but raw.
    return len(planes[0].data) if len(planes) == 1 and planes[0].coding == RAW else len(rest)


def raw(data: bytes) -> Encoded:
    return Encoded(RAW, data)


def one(data: bytes, *planes: Encoded, name: str = "file") -> Pack:
    """A pack of one file of one segment."""
    return pack_of(Content(name, data, [list(planes)]))


def coded(data: Values, width: int = 8, escapes: bool = True) -> Pack:
    """A pack of one file of one Huffman stream."""
    return one(data.tobytes(), huffman(data, width, LANE, escapes))


def weights(size: int, spread: float, seed: int = 0) -> Values:
    """Codes as quantized weights have them, around 128."""
    # A generator of our own: numpy's may differ from version to version.
    state, sums = seed * 2 + 1, np.zeros(size)
    for i in range(size):
        for _ in range(4):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            sums[i] += state >> 40
    return np.clip(np.rint((sums / 2**24 - 2) * spread) + 128, 0, 255).astype(np.uint8)


def levels(size: int, number: int, seed: int = 0) -> Values:
    """Values on so many levels, as clustered weights have them; those in the middle are frequent."""
    drawn = weights(size, number / 2.2, seed).astype(int) - 128 + number // 2
    return (np.clip(drawn, 0, number - 1) * (200 // number) + 20).astype(np.uint8)


def by_hand(data: Values, book: Book, escaped: Encoded | None = None) -> Encoded:
    """Bytes, a value each, in a given book."""
    index_of = np.full(256, book.values.size)
    index_of[book.values] = np.arange(book.values.size)
    indices = index_of[data]
    groups = np.append(indices, np.zeros(-data.size % book.group, int)).reshape(-1, book.group)
    symbols = (groups * book.radix ** np.arange(book.group)).sum(1).astype(np.uint16)
    if not book.lengths.size:
        book = replace(book, lengths=code_lengths(np.bincount(symbols, minlength=book.radix**book.group)))
    escapes = int((indices == book.values.size).sum())
    return Encoded(HUFFMAN, encode(symbols, book.lengths, LANE), book, escapes, escaped)


def book(values: list[int], lengths: list[int], escape: bool = False, width: int = 8, group: int = 1) -> Book:
    """lengths: none for the best ones (`by_hand` finds them)."""
    return Book(width, group, np.array(values, np.uint8), escape, np.array(lengths, np.uint8))
