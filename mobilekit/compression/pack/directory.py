"""The header and the directory of a pack, as bytes and as values (docs/pack-format.md)."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.entropy import DamagedError
from mobilekit.compression.pack.book import WIDTHS, Book, nibbles
from mobilekit.compression.pack.codings import DEFLATE, HUFFMAN, RAW, deflated, inflated
from mobilekit.compression.pack.names import first_fault
from mobilekit.compression.pack.segments import WINDOW

MAGIC = b"\x89MKP\r\n\x1a\n"
VERSION = 1
LANE_BITS = 10
# A reader takes memory for what is declared, so there are limits: all far beyond what a model for a phone needs.
MOST_FILES, MOST_BOOKS, MOST_SEGMENTS = 4096, 16384, 65536
LARGEST_DIRECTORY = 16 * 2**20
LARGEST_SEGMENT = 4 * 2**20
assert WINDOW <= LARGEST_SEGMENT
_PLANES = (1, 2, 4)
_HEADER = struct.Struct("<8sHBxIIIQ32s")
HEADER_SIZE = _HEADER.size + 4


class ForeignError(DamagedError):
    """A file is no pack, or one of a later version; the message says what to do."""


class TooLargeError(ValueError):
    """Files are more than a pack can hold."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A coded stream: coding, bytes, their CRC-32; of HUFFMAN the book's number, and its escapes if it has any."""

    coding: int
    size: int
    crc: int
    book: int = -1
    escapes: int = 0
    escaped: Stream | None = None


@dataclass(frozen=True, slots=True)
class PackedSegment:
    """`length` bytes of a file, a stream for each plane."""

    length: int
    streams: tuple[Stream, ...]

    def plane_sizes(self) -> list[int]:
        """Bytes of each plane: plane k has those at k, k + planes, ..."""
        planes = len(self.streams)
        return [-(-(self.length - k) // planes) for k in range(planes)]


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file in a pack."""

    name: str
    size: int
    sha256: bytes
    segments: tuple[PackedSegment, ...]


@dataclass(frozen=True)
class Directory:
    """What is in a pack. lane: symbols a lane."""

    lane: int
    books: tuple[Book, ...]
    files: tuple[PackedFile, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def data_size(self) -> int:
        """Bytes of all coded streams."""
        return sum(stream.size for stream in self.streams())

    def streams(self) -> Iterator[Stream]:
        """All streams, in the order of their data."""
        for file in self.files:
            for segment in file.segments:
                for stream in segment.streams:
                    yield stream
                    if stream.escaped is not None:
                        yield stream.escaped

    def sha256(self) -> bytes:
        """sha256 over the lines `hex  name`: what the manifest has for a folder."""
        lines = "".join(f"{file.sha256.hex()}  {file.name}\n" for file in self.files)
        return hashlib.sha256(lines.encode()).digest()


def written(directory: Directory) -> bytes:
    """Header and directory as bytes; raises TooLargeError when it is beyond the limits."""
    body = directory_bytes(directory)
    segments = sum(len(file.segments) for file in directory.files)
    if (
        len(body) > LARGEST_DIRECTORY
        or len(directory.files) > MOST_FILES
        or len(directory.books) > MOST_BOOKS
        or segments > MOST_SEGMENTS
    ):
        raise TooLargeError("its directory would be too large")
    coded = deflated(body)
    lane, size, sha256 = directory.lane.bit_length() - 1, directory.size, directory.sha256()
    return header_bytes(Header(lane, len(body), len(coded), zlib.crc32(coded), size, sha256)) + coded


def directory_bytes(directory: Directory) -> bytes:
    """A directory before it is deflated."""
    head = struct.pack("<HI", len(directory.books), len(directory.files))
    files = [_file_bytes(file) for file in directory.files]
    return b"".join([head, *map(_book_bytes, directory.books), *files])


@dataclass(frozen=True)
class Header:
    """lane_bits: logarithm of the symbols a lane. body, coded, crc: bytes of the directory, those when deflated, and
    the CRC-32 of that. size, sha256: of all files."""

    lane_bits: int
    body: int
    coded: int
    crc: int
    size: int
    sha256: bytes


def header_bytes(header: Header) -> bytes:
    """The first HEADER_SIZE bytes of a pack."""
    sizes = (header.body, header.coded, header.crc, header.size)
    packed = _HEADER.pack(MAGIC, VERSION, header.lane_bits, *sizes, header.sha256)
    return packed + struct.pack("<I", zlib.crc32(packed))


def read_header(data: bytes) -> Header:
    """The header in the first HEADER_SIZE bytes of a pack; raises DamagedError."""
    if not MAGIC.startswith(data[: len(MAGIC)]) or not data:
        raise ForeignError("not a pack; give a file that `mobilekit pack` wrote")
    if len(data) < HEADER_SIZE:
        raise DamagedError("it is cut off in its header")
    _, version, lane, body, coded, crc, size, sha256 = _HEADER.unpack(data[: _HEADER.size])
    if zlib.crc32(data[: _HEADER.size]) != int.from_bytes(data[_HEADER.size : HEADER_SIZE], "little"):
        raise DamagedError("its header is altered")
    if version != VERSION:
        raise ForeignError(f"a pack of version {version}; this mobilekit reads version {VERSION}: upgrade it")
    if not 6 <= lane <= 12 or data[11] or body > LARGEST_DIRECTORY:
        raise DamagedError("its header has values beyond the limits")
    return Header(lane, body, coded, crc, size, sha256)


def read_directory(header: Header, coded: bytes) -> Directory:
    """The directory of its deflated bytes, with everything it declares checked; raises DamagedError."""
    if len(coded) != header.coded:
        raise DamagedError("it is cut off in its directory")
    if zlib.crc32(coded) != header.crc:
        raise DamagedError("its directory is altered")
    reader = _Reader(inflated(coded, header.body))
    books, files = reader.take("<HI")
    if books > MOST_BOOKS or not 0 < files <= MOST_FILES:
        raise DamagedError(f"it declares {books} books and {files} files")
    found = tuple(_read_book(reader) for _ in range(books))
    left = [MOST_SEGMENTS]
    directory = Directory(1 << header.lane_bits, found, tuple(_read_file(reader, found, left) for _ in range(files)))
    if reader.rest:
        raise DamagedError("its directory has more bytes than it says")
    fault = first_fault(file.name for file in directory.files)
    if fault is not None:
        raise DamagedError(fault)
    if directory.size != header.size or directory.sha256() != header.sha256:
        raise DamagedError("its directory does not fit its header")
    return directory


class _Reader:
    """Bytes that are read from the front."""

    def __init__(self, data: bytes) -> None:
        self._data, self._place = data, 0

    @property
    def rest(self) -> int:
        """Bytes that are left."""
        return len(self._data) - self._place

    def bytes(self, size: int) -> bytes:
        """The next `size` bytes."""
        if size > self.rest:
            raise DamagedError("its directory ends too early")
        self._place += size
        return self._data[self._place - size : self._place]

    def take(self, form: str) -> tuple[int, ...]:
        """The next numbers, as `struct` has them."""
        return struct.unpack(form, self.bytes(struct.calcsize(form)))


def _book_bytes(book: Book) -> bytes:
    bitmap = np.zeros(1 << book.width, np.uint8)
    bitmap[book.values] = 1
    head = struct.pack("<BBB", book.width, book.group, book.escape)
    return head + np.packbits(bitmap, bitorder="little").tobytes() + nibbles(book.lengths)


def _read_book(reader: _Reader) -> Book:
    width, group, escape = reader.take("<BBB")
    if width not in WIDTHS or escape > 1:
        raise DamagedError("a book has an unknown width")
    bitmap = np.frombuffer(reader.bytes((1 << width) // 8), np.uint8)
    values = np.flatnonzero(np.unpackbits(bitmap, bitorder="little")).astype(np.uint8)
    symbols = (values.size + escape) ** group if group <= 8 else 0
    lengths: NDArray[np.uint8] = np.zeros(1, np.uint8)
    if symbols > 1:
        coded = np.frombuffer(reader.bytes(-(-symbols // 2)), np.uint8)
        lengths = np.stack([coded & 15, coded >> 4], axis=1).ravel()[:symbols]
    book = Book(width, group, values, bool(escape), lengths)
    if book.fault is not None:
        raise DamagedError(f"a book is broken: {book.fault}")
    return book


def _file_bytes(file: PackedFile) -> bytes:
    name = file.name.encode()
    head = struct.pack("<H", len(name)) + name + struct.pack("<Q", file.size) + file.sha256
    parts = [head, struct.pack("<I", len(file.segments))]
    for segment in file.segments:
        parts.append(struct.pack("<IB", segment.length, len(segment.streams)))
        parts += map(_stream_bytes, segment.streams)
    return b"".join(parts)


def _stream_bytes(stream: Stream) -> bytes:
    head = struct.pack("<BII", stream.coding, stream.size, stream.crc)
    if stream.coding == HUFFMAN:
        head += struct.pack("<H", stream.book)
    if stream.escaped is not None:
        head += struct.pack("<I", stream.escapes) + _stream_bytes(stream.escaped)
    return head


def _read_file(reader: _Reader, books: tuple[Book, ...], left: list[int]) -> PackedFile:
    (length,) = reader.take("<H")
    try:
        name = reader.bytes(length).decode()
    except UnicodeDecodeError as error:
        raise DamagedError("a name is not UTF-8") from error
    (size,) = reader.take("<Q")
    sha256 = reader.bytes(32)
    (number,) = reader.take("<I")
    left[0] -= number
    if left[0] < 0:
        raise DamagedError("it declares too many segments")
    segments = tuple(_read_segment(reader, books) for _ in range(number))
    if sum(segment.length for segment in segments) != size:
        raise DamagedError("segments do not fill their file")
    return PackedFile(name, size, sha256, segments)


def _read_segment(reader: _Reader, books: tuple[Book, ...]) -> PackedSegment:
    length, planes = reader.take("<IB")
    if planes not in _PLANES or not planes <= length <= LARGEST_SEGMENT:
        raise DamagedError(f"it declares a segment of {length} bytes in {planes} planes")
    sizes = [-(-(length - k) // planes) for k in range(planes)]
    return PackedSegment(length, tuple(_read_stream(reader, books, size) for size in sizes))


def _read_stream(reader: _Reader, books: tuple[Book, ...], length: int, inner: bool = False) -> Stream:
    coding, size, crc = reader.take("<BII")
    # Neither more memory nor more time than `length` bytes as they are would take.
    if coding not in (RAW, DEFLATE, HUFFMAN) or size > length or (coding == RAW and size != length):
        raise DamagedError(f"it declares a stream of coding {coding} with {size} bytes for {length}")
    if coding != HUFFMAN:
        return Stream(coding, size, crc)
    (number,) = reader.take("<H")
    if number >= len(books) or (inner and books[number].escape):
        raise DamagedError(f"it has no book {number} for a stream")
    if not books[number].escape:
        return Stream(coding, size, crc, number)
    (escapes,) = reader.take("<I")
    if escapes > -(-8 * length // books[number].width):
        raise DamagedError(f"it declares {escapes} escapes of {length} bytes")
    return Stream(coding, size, crc, number, escapes, _read_stream(reader, books, escapes, inner=True))
